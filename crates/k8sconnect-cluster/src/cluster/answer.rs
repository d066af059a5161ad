//! One answer, read to its end within bounds, and what its headers say beside it.
//!
//! The bound holds while the body arrives: a server that never stops sending costs that much memory
//! and no more. How long the reading may take is for the request to judge.

use std::time::{Duration, SystemTime};

use http::header::{DATE, RETRY_AFTER};
use http::{HeaderMap, Response};
use http_body_util::BodyExt;
use hyper::body::Incoming;
use k8sconnect_core::time;

use super::Answered;
use crate::call::Reply;
use crate::error::{Excess, NetworkError};
use crate::retry::Failure;
use crate::warnings::warnings;

pub(super) struct Attempt {
    pub(super) answered: Answered,
    pub(super) retry_after: Option<Duration>,
}

/// The outer error is one that no repeating can help; the inner may pass.
pub(super) async fn read(
    response: Response<Incoming>,
    largest: usize,
) -> Result<Result<Attempt, Failure>, Excess> {
    let (head, mut body) = response.into_parts();
    let mut text = Vec::new();
    while let Some(frame) = body.frame().await {
        let data = match frame.map(hyper::body::Frame::into_data) {
            Ok(Ok(data)) => data,
            Ok(Err(_trailers)) => continue,
            Err(error) => return Ok(Err(Failure::Lost(NetworkError::of(&error)))),
        };
        if text.len() + data.len() > largest {
            return Err(Excess::Answer { limit: largest });
        }
        text.extend_from_slice(&data);
    }
    let retry_after = retry_after(&head.headers, SystemTime::now());
    let warnings = warnings(&head.headers);
    let reply = Reply { status: head.status.as_u16(), warnings, body: text.into() };
    Ok(Ok(Attempt { answered: Answered::Reply(reply), retry_after }))
}

/// For how long to wait before asking again: so many seconds, or until a time. That is the server's
/// own, or that of whoever stands before it, and so is the one to subtract from it.
fn retry_after(headers: &HeaderMap, here: SystemTime) -> Option<Duration> {
    let text = |name| headers.get(name).and_then(|value| value.to_str().ok()).map(str::trim);
    let asked = text(RETRY_AFTER)?;
    match asked.parse() {
        Ok(seconds) => Some(Duration::from_secs(seconds)),
        Err(_) => {
            let now = text(DATE).and_then(time::parse_http).unwrap_or(here);
            Some(time::parse_http(asked)?.duration_since(now).unwrap_or_default())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_says_how_long_to_wait_in_seconds_or_by_the_clock() {
        let here = SystemTime::UNIX_EPOCH + Duration::from_secs(10);
        let asked = |retry: &'static str, date: Option<&'static str>| {
            let mut headers = HeaderMap::new();
            headers.insert(RETRY_AFTER, http::HeaderValue::from_static(retry));
            if let Some(date) = date {
                headers.insert(DATE, http::HeaderValue::from_static(date));
            }
            retry_after(&headers, here).map(|wait| wait.as_secs())
        };
        assert_eq!(asked("7", None), Some(7));
        assert_eq!(asked("Thu, 01 Jan 1970 00:00:15 GMT", None), Some(5));
        let date = "Thu, 01 Jan 1970 00:00:12 GMT";
        assert_eq!(asked("Thu, 01 Jan 1970 00:00:15 GMT", Some(date)), Some(3), "by its own clock");
        assert_eq!(asked("Thu, 01 Jan 1970 00:00:01 GMT", None), Some(0), "past");
        assert_eq!(asked("soon", None), None);
    }
}
