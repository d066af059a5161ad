//! The way from the proxy to the server and back: headers that belong to one hop are left
//! out, everything else goes through as it came. Bodies of requests are taken whole, because
//! a rule may hold the request back; bodies of answers stream, because a watch never ends.

use std::pin::Pin;
use std::task::{Context, Poll, ready};

use anyhow::Result;
use bytes::Bytes;
use http::header::{
    CONNECTION, CONTENT_LENGTH, CONTENT_TYPE, HOST, HeaderMap, HeaderName, HeaderValue, TE,
    TRAILER, TRANSFER_ENCODING, UPGRADE,
};
use http::request::Parts;
use http::{Request, Response, Uri};
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt, Full};
use hyper::body::{Body as HttpBody, Frame, Incoming};
use hyper_rustls::HttpsConnector;
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use tokio::time::{Sleep, sleep};

use super::rule::{Flood, Reply};
use crate::client::connector;

pub(super) type Body = BoxBody<Bytes, Problem>;
pub(super) type Problem = Box<dyn std::error::Error + Send + Sync>;

/// The keep-alive headers have no constants of their own.
const KEEP_ALIVE: HeaderName = HeaderName::from_static("keep-alive");
const PROXY_CONNECTION: HeaderName = HeaderName::from_static("proxy-connection");
const OF_ONE_HOP: [HeaderName; 7] =
    [CONNECTION, KEEP_ALIVE, PROXY_CONNECTION, TE, TRAILER, TRANSFER_ENCODING, UPGRADE];

/// The real server.
pub(super) struct Upstream {
    url: String,
    http: Client<HttpsConnector<HttpConnector>, Full<Bytes>>,
}

impl Upstream {
    pub(super) fn new(url: &str, ca: &str) -> Result<Self> {
        let http = Client::builder(TokioExecutor::new()).http2_only(true).build(connector(ca)?);
        Ok(Self { url: url.to_owned(), http })
    }

    pub(super) async fn forward(
        &self,
        parts: &Parts,
        body: Bytes,
    ) -> Result<Response<Body>, Problem> {
        let asked = parts.uri.path_and_query().map_or("/", |asked| asked.as_str());
        let mut request = Request::new(Full::new(body));
        *request.method_mut() = parts.method.clone();
        *request.uri_mut() = format!("{}{asked}", self.url).parse::<Uri>()?;
        *request.headers_mut() = without_hop(&parts.headers);
        // The authority is the server's own, and the length is that of the body in hand.
        request.headers_mut().remove(HOST);
        request.headers_mut().remove(CONTENT_LENGTH);
        let (mut head, body) = self.http.request(request).await?.into_parts();
        head.headers = without_hop(&head.headers);
        // Chosen anew for the client's protocol.
        head.version = http::Version::default();
        head.extensions.clear();
        Ok(Response::from_parts(head, boxed(body)))
    }
}

impl Reply {
    pub(super) fn response(&self) -> Response<Body> {
        let body = Full::new(self.body.clone()).map_err(|never| match never {});
        let mut response = Response::new(body.boxed());
        *response.status_mut() = self.status;
        *response.headers_mut() = self.headers.clone();
        response
    }
}

impl Flood {
    pub(super) fn response(&self) -> Response<Body> {
        let mut response = Response::new(BodyExt::boxed(Flooding {
            flood: self.clone(),
            began: false,
            sent: 0,
            pause: None,
        }));
        let json = HeaderValue::from_static("application/json");
        response.headers_mut().insert(CONTENT_TYPE, json);
        response
    }
}

struct Flooding {
    flood: Flood,
    began: bool,
    sent: u64,
    pause: Option<Pin<Box<Sleep>>>,
}

impl HttpBody for Flooding {
    type Data = Bytes;
    type Error = Problem;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Problem>>> {
        if !self.began {
            self.began = true;
            return Poll::Ready(Some(Ok(Frame::data(self.flood.beginning.clone()))));
        }
        if self.flood.pieces == Some(self.sent) {
            return Poll::Ready(None);
        }
        if !self.flood.pause.is_zero() {
            let length = self.flood.pause;
            let pause = self.pause.get_or_insert_with(|| Box::pin(sleep(length)));
            ready!(pause.as_mut().poll(context));
            self.pause = None;
        }
        self.sent += 1;
        Poll::Ready(Some(Ok(Frame::data(self.flood.piece.clone()))))
    }
}

/// The same answer, whose body breaks off. The head still promises the whole.
pub(super) fn truncated(response: Response<Body>, after: usize) -> Response<Body> {
    response.map(|body| BodyExt::boxed(Truncated { body, left: after }))
}

fn without_hop(headers: &HeaderMap) -> HeaderMap {
    let mut headers = headers.clone();
    for name in OF_ONE_HOP {
        headers.remove(name);
    }
    headers
}

fn boxed(body: Incoming) -> Body {
    body.map_err(Into::into).boxed()
}

struct Truncated {
    body: Body,
    left: usize,
}

impl HttpBody for Truncated {
    type Data = Bytes;
    type Error = Problem;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Problem>>> {
        if self.left == 0 {
            return Poll::Ready(Some(Err("cut short by a rule".into())));
        }
        let frame = ready!(Pin::new(&mut self.body).poll_frame(context));
        Poll::Ready(frame.map(|frame| {
            let Ok(mut data) = frame?.into_data() else {
                return Err("cut short by a rule".into());
            };
            data.truncate(self.left);
            self.left -= data.len();
            Ok(Frame::data(data))
        }))
    }
}
