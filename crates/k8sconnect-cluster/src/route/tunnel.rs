//! A way through an HTTP proxy: `CONNECT`, and what the proxy says to it.
//!
//! Written here rather than taken from the client library, which does not tell what a proxy
//! answered: a 503 passes, a 302 leads to somebody's login page, and whoever reads "unsuccessful"
//! cannot know.

use std::io;

use http::{HeaderValue, Uri};
use hyper::rt::{Read, Write};
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tower_service::Service;

use super::BoxError;
use crate::error::NetworkError;

#[derive(Clone)]
pub(super) struct Tunnel<C> {
    pub(super) proxy: Uri,
    pub(super) login: Option<HeaderValue>,
    pub(super) connector: C,
}

/// Far more than a proxy has to say.
const LARGEST_ANSWER: usize = 1 << 16;

impl<C> Tunnel<C>
where
    C: Service<Uri, Response: Read + Write + Unpin + Send, Future: Send>,
    C::Error: Into<BoxError>,
{
    /// Has the proxy connect us with the server.
    pub(super) fn open(
        &mut self,
        server: &Uri,
    ) -> impl Future<Output = Result<C::Response, NetworkError>> + use<C> {
        let connecting = self.connector.call(self.proxy.clone());
        let request = request(server, self.login.as_ref());
        async move {
            let refused = |error: BoxError| NetworkError::of(error.as_ref());
            let stream = connecting.await.map_err(|error| refused(error.into()))?;
            let mut stream = TokioIo::new(stream);
            let lost = |error: io::Error| NetworkError::of(&error);
            stream.write_all(&request).await.map_err(lost)?;
            match status(&mut stream).await? {
                200..300 => Ok(stream.into_inner()),
                status => Err(NetworkError::ProxyStatus(status)),
            }
        }
    }
}

fn request(server: &Uri, login: Option<&HeaderValue>) -> Vec<u8> {
    let host = server.host().unwrap_or_default();
    let usual = if server.scheme_str() == Some("http") { 80 } else { 443 };
    let port = server.port_u16().unwrap_or(usual);
    let mut request =
        format!("CONNECT {host}:{port} HTTP/1.1\r\nHost: {host}:{port}\r\n").into_bytes();
    if let Some(login) = login {
        request.extend_from_slice(b"Proxy-Authorization: ");
        request.extend_from_slice(login.as_bytes());
        request.extend_from_slice(b"\r\n");
    }
    request.extend_from_slice(b"\r\n");
    request
}

/// Reads no further than the end of the head: what follows is the server's, which does not speak
/// before it is spoken to.
async fn status(stream: &mut (impl AsyncReadExt + Unpin)) -> Result<u16, NetworkError> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        // Of a refusal there may be a page to follow.
        let whole = head.windows(4).any(|end| end == b"\r\n\r\n");
        if whole || head.len() > LARGEST_ANSWER {
            break;
        }
        if stream.read_buf(&mut head).await.map_err(|error| NetworkError::of(&error))? == 0 {
            return Err(NetworkError::Closed);
        }
    }
    let line = head.split(|byte| *byte == b'\r').next().unwrap_or_default();
    let line = String::from_utf8_lossy(line);
    let mut words = line.split(' ');
    let is_http = words.next().is_some_and(|version| version.starts_with("HTTP/1."));
    let status = words.next().and_then(|status| status.parse().ok()).filter(|_| is_http);
    status.ok_or(NetworkError::NotHttp)
}
