//! Whether, and when, a request is sent again.
//!
//! Three things decide: what the request does when it happens twice, how the last attempt ended,
//! and how much time there is. A 500 is never repeated, because server-side apply answers a typo
//! with one; save where etcd changed its leader. Whether a write that got one was carried out is
//! checked afterwards, see [`Cluster::read_after_ambiguous_write`](crate::Cluster). A server that was
//! never reached in this process gets a few seconds and no more: it is more likely misspelt than
//! restarting, and nobody should wait half a minute for that message.

use std::time::Duration;

use hyper::body::Incoming;
use tokio::time::Instant;

use crate::call::{Repeat, Reply};
use crate::transport::Failure;

/// What came back.
pub(crate) enum Answered {
    Reply(Reply),
    /// A success that is handed over unread.
    Stream(Incoming),
}

/// The attempts of one request.
pub(crate) struct Attempts {
    pub(crate) repeat: Repeat,
    pub(crate) started: Instant,
    pub(crate) deadline: Instant,
    pub(crate) made: u32,
}

const FIRST_PAUSE: Duration = Duration::from_millis(100);
const LONGEST_PAUSE: Duration = Duration::from_secs(5);

impl Attempts {
    /// How long to pause before the next attempt; `None` ends it. The server's circuit says how long
    /// its failures are sat out; what it answers is waited for until the deadline.
    pub(crate) fn pause(
        &self,
        ended: &Result<Answered, Failure>,
        failures: Option<Duration>,
        now: Instant,
    ) -> Option<Duration> {
        let (asked, deadline) = match ended {
            Ok(Answered::Reply(reply)) => (reply.retry_after, self.deadline),
            _ => (None, failures.map_or(self.deadline, |it| self.deadline.min(self.started + it))),
        };
        let pause = asked.unwrap_or_default().max(self.back_off());
        // A server may ask for more time than a clock can tell.
        let end = now.checked_add(pause).filter(|end| *end < deadline);
        end.filter(|_| self.may_repeat(ended)).map(|_| pause)
    }

    /// Whether another attempt would be made, if there were time.
    pub(crate) fn may_repeat(&self, ended: &Result<Answered, Failure>) -> bool {
        let is_harmless = self.repeat == Repeat::Harmless;
        match ended {
            // The server refused to begin, so that repeating is safe for any verb.
            Ok(Answered::Reply(reply)) if reply.status == 429 => true,
            Ok(Answered::Reply(reply)) => is_harmless && reply.puts_off(),
            Err(Failure::Unsent(cause)) => !cause.is_lasting(),
            Err(Failure::Lost(cause)) => is_harmless && !cause.is_lasting(),
            Err(Failure::Late) => is_harmless,
            Ok(Answered::Stream(_)) | Err(Failure::TooMuch(_)) => false,
        }
    }

    /// Doubling, with the upper half of it left to chance, so that ten resources refused at once
    /// do not come back at once.
    fn back_off(&self) -> Duration {
        let doubled = FIRST_PAUSE.saturating_mul(1 << self.made.saturating_sub(1).min(10));
        doubled.min(LONGEST_PAUSE).mul_f64(0.5 + fastrand::f64() / 2.0)
    }
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;

    use super::*;
    use crate::circuit_breaker::STRANGER;
    use crate::error::{NetworkError, TlsError};

    fn after(repeat: Repeat, ended: Result<Answered, Failure>) -> Option<Duration> {
        let now = Instant::now();
        let deadline = now + Duration::from_secs(30);
        let attempts = Attempts { repeat, started: now, deadline, made: 1 };
        attempts.pause(&ended, None, now)
    }

    fn harmless(now: Instant, time: Duration) -> Attempts {
        Attempts { repeat: Repeat::Harmless, started: now, deadline: now + time, made: 0 }
    }

    fn answered(status: u16) -> Result<Answered, Failure> {
        putting_off(status, None)
    }

    fn putting_off(status: u16, retry_after: Option<Duration>) -> Result<Answered, Failure> {
        let (warnings, body) = (Vec::new(), Bytes::new());
        Ok(Answered::Reply(Reply { status, warnings, body, retry_after }))
    }

    #[test]
    fn a_500_is_never_repeated() {
        assert!(after(Repeat::Harmless, answered(500)).is_none());
        assert!(after(Repeat::OnlyIfUnsent, answered(500)).is_none());
    }

    #[test]
    fn a_leader_change_is_sat_out_only_where_twice_does_no_harm() {
        let changed = || {
            let body = r#"{"kind": "Status", "message": "etcdserver: leader changed"}"#.into();
            Ok(Answered::Reply(Reply { status: 500, warnings: vec![], body, retry_after: None }))
        };
        assert!(after(Repeat::Harmless, changed()).is_some());
        assert!(after(Repeat::OnlyIfUnsent, changed()).is_none());
    }

    #[test]
    fn a_busy_server_is_asked_again_whatever_the_verb() {
        assert!(after(Repeat::Harmless, answered(429)).is_some());
        assert!(after(Repeat::OnlyIfUnsent, answered(429)).is_some());
    }

    #[test]
    fn gateway_errors_are_repeated_only_where_twice_does_no_harm() {
        for status in [502, 503, 504] {
            assert!(after(Repeat::Harmless, answered(status)).is_some(), "{status}");
            assert!(after(Repeat::OnlyIfUnsent, answered(status)).is_none(), "{status}");
        }
    }

    #[test]
    fn answers_and_refusals_end_it() {
        for status in [200, 201, 202, 400, 401, 403, 404, 405, 409, 410, 422] {
            assert!(after(Repeat::Harmless, answered(status)).is_none(), "{status}");
        }
    }

    #[test]
    fn a_lost_answer_is_repeated_only_where_twice_does_no_harm() {
        let lost = || Err(Failure::Lost(NetworkError::Closed));
        assert!(after(Repeat::Harmless, lost()).is_some());
        assert!(after(Repeat::OnlyIfUnsent, lost()).is_none());
        assert!(after(Repeat::Harmless, Err(Failure::Late)).is_some());
        assert!(after(Repeat::OnlyIfUnsent, Err(Failure::Late)).is_none());
        let unsent = Err(Failure::Unsent(NetworkError::Refused));
        assert!(after(Repeat::OnlyIfUnsent, unsent).is_some());
    }

    #[test]
    fn a_certificate_does_not_get_better_by_asking_again() {
        let failure = Err(Failure::Unsent(NetworkError::Tls(TlsError::UnknownAuthority)));
        assert!(after(Repeat::Harmless, failure).is_none());
    }

    #[test]
    fn the_server_is_obeyed_when_it_says_how_long() {
        let three = Duration::from_secs(3);
        let ending = putting_off(429, Some(three));
        assert!(after(Repeat::Harmless, ending).is_some_and(|pause| pause >= three));
    }

    #[test]
    fn no_pause_reaches_past_the_deadline() {
        let hour = Some(Duration::from_secs(3600));
        let ending = putting_off(429, hour);
        assert!(after(Repeat::Harmless, ending).is_none());
    }

    #[test]
    fn a_pause_that_no_clock_can_tell_ends_it() {
        let ending = putting_off(429, Some(Duration::MAX));
        assert!(after(Repeat::Harmless, ending).is_none());
        let ending = putting_off(503, Some(Duration::from_secs(u64::MAX)));
        assert!(after(Repeat::Harmless, ending).is_none());
    }

    #[test]
    fn a_server_never_reached_is_given_up_within_seconds() {
        let now = Instant::now();
        let attempts = harmless(now, Duration::from_secs(30));
        let refused = Err(Failure::Unsent(NetworkError::Refused));
        let later = now + Duration::from_secs(6);
        assert!(attempts.pause(&refused, None, later).is_some());
        assert!(attempts.pause(&refused, Some(STRANGER), later).is_none());
    }

    #[test]
    fn a_server_that_another_request_gave_up_is_asked_once() {
        let now = Instant::now();
        let attempts = harmless(now, Duration::from_secs(30));
        let refused = Err(Failure::Unsent(NetworkError::Refused));
        assert!(attempts.pause(&refused, Some(Duration::ZERO), now).is_none());
    }

    #[test]
    fn pauses_grow_and_stay_bounded() {
        let now = Instant::now();
        let mut attempts = harmless(now, Duration::from_secs(600));
        let mut longest = Duration::ZERO;
        for _ in 0..40 {
            attempts.made += 1;
            longest = longest.max(attempts.pause(&answered(503), None, now).unwrap());
        }
        assert!(longest > FIRST_PAUSE && longest <= LONGEST_PAUSE, "{longest:?}");
    }
}
