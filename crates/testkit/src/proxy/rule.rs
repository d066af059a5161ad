//! Rules: which request, which time, and what happens to it.
//!
//! Each rule counts the requests that it is about, on its own. All rules that are due for a
//! request act on it, in the order in which they were given: what happens before the request
//! is forwarded, then what happens to the answer. So a delay and a reset go together, and a
//! fault that is not in [`Fate`] yet is one variant more.

use std::fmt::Display;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode};
use serde_json::Value;

use super::record::Recorded;
use crate::audit::Persistence;

/// Which requests are meant. What is not said fits any.
#[derive(Debug, Clone, Default)]
pub struct Which {
    method: Option<Method>,
    place: Place,
    persistence: Option<Persistence>,
    manner: Option<Manner>,
}

#[derive(Debug, Clone, Default)]
enum Place {
    #[default]
    Anywhere,
    At(String),
    Under(String),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Manner {
    Watch,
}

impl Which {
    pub fn any() -> Self {
        Self::default()
    }

    /// The path as a whole, without its query.
    pub fn at(path: &str) -> Self {
        Self { place: Place::At(path.to_owned()), ..Self::default() }
    }

    /// The path and whatever lies below it.
    pub fn under(path: &str) -> Self {
        Self { place: Place::Under(path.trim_end_matches('/').to_owned()), ..Self::default() }
    }

    pub fn method(mut self, method: Method) -> Self {
        self.method = Some(method);
        self
    }

    /// Only dry-runs, or everything but them.
    pub fn persistence(mut self, persistence: Persistence) -> Self {
        self.persistence = Some(persistence);
        self
    }

    pub fn watches(mut self) -> Self {
        self.manner = Some(Manner::Watch);
        self
    }

    fn fits(&self, request: &Recorded) -> bool {
        let place = match &self.place {
            Place::Anywhere => true,
            Place::At(path) => request.path == *path,
            Place::Under(path) => request
                .path
                .strip_prefix(path.as_str())
                .is_some_and(|rest| rest.is_empty() || rest.starts_with('/')),
        };
        place
            && self.method.as_ref().is_none_or(|method| request.method == *method)
            && self.persistence.is_none_or(|wanted| request.persistence() == wanted)
            && self.manner.is_none_or(|Manner::Watch| request.is_watch())
    }
}

/// Which of the requests that fit, counted from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Turn {
    Every,
    Nth(u32),
    /// The first so many.
    First(u32),
    /// That one and all after it.
    From(u32),
}

impl Turn {
    fn is_due(self, count: u32) -> bool {
        match self {
            Self::Every => true,
            Self::Nth(n) => count == n,
            Self::First(n) => count <= n,
            Self::From(n) => count >= n,
        }
    }
}

/// What happens to a request.
#[derive(Clone)]
pub enum Fate {
    /// Nothing: for counting.
    Pass,
    /// It waits before it is forwarded.
    Delay(Duration),
    /// The server never hears of it; the client gets this.
    Answer(Reply),
    /// The server never hears of it; the client gets what this makes of the request.
    Invent(Inventor),
    /// The server never hears of it; the client gets a body that may have no end.
    Flood(Flood),
    /// The server answers, and the client gets this instead: a server whose store took so long that
    /// it gave up on what was carried out.
    AnswerAfter(Reply),
    /// The connection breaks, and all that is under way on it; the server never hears of it.
    ResetBefore,
    /// The server answers, and the connection breaks before the client hears.
    ResetAfter,
    /// The body of the server's answer breaks off after so many bytes.
    Truncate(usize),
    /// The connection takes nothing more after it: GOAWAY over HTTP/2, `Connection: close` before.
    /// It is answered itself, as a server that rolls over answers what is under way.
    GoAway,
    /// The connection takes nothing more, this request included, and says so: GOAWAY over HTTP/2,
    /// the end of the connection before. The server never hears of it.
    TurnAway,
    /// Something happens first.
    Before(Action),
    /// Something happens when the server has answered and the client has not heard yet.
    After(Action),
}

/// An answer in the server's place.
#[derive(Debug, Clone)]
pub struct Reply {
    pub(super) status: StatusCode,
    pub(super) headers: HeaderMap,
    pub(super) body: Bytes,
}

impl Reply {
    pub fn json(status: StatusCode, body: &Value) -> Self {
        let headers = [("content-type", "application/json")];
        Self { status, headers: HeaderMap::new(), body: Bytes::from(body.to_string()) }
            .headers(headers)
    }

    /// A refusal as the API server words it.
    pub fn refusal(status: StatusCode, reason: &str, message: &str) -> Self {
        let body = serde_json::json!({
            "apiVersion": "v1", "kind": "Status", "metadata": {}, "status": "Failure",
            "code": status.as_u16(), "reason": reason, "message": message,
        });
        Self::json(status, &body)
    }

    /// What something answers that knows nothing of the path: a gateway that lost its way, or a server
    /// that does not serve the group.
    pub fn no_such_page() -> Self {
        let body = Bytes::from_static(b"404 page not found\n");
        Self { status: StatusCode::NOT_FOUND, headers: HeaderMap::new(), body }
            .headers([("content-type", "text/plain; charset=utf-8")])
    }

    /// A watch that brings these events and ends, as every watch does after a while.
    pub fn events(events: &[Value]) -> Self {
        let lines: String = events.iter().map(|event| format!("{event}\n")).collect();
        Self { status: StatusCode::OK, headers: HeaderMap::new(), body: Bytes::from(lines) }
            .headers([("content-type", "application/json")])
    }

    /// A watch from a point that the server has forgotten: said within the stream, as it is for a
    /// point that was still known when the watch began.
    pub fn expired_watch() -> Self {
        let status = serde_json::json!({
            "apiVersion": "v1", "kind": "Status", "metadata": {}, "status": "Failure",
            "code": 410, "reason": "Expired", "message": "too old resource version",
        });
        Self::events(&[serde_json::json!({ "type": "ERROR", "object": status })])
    }

    pub fn header(self, name: &'static str, value: &'static str) -> Self {
        self.headers([(name, value)])
    }

    fn headers<const N: usize>(mut self, headers: [(&'static str, &'static str); N]) -> Self {
        for (name, value) in headers {
            let (name, value) = (HeaderName::from_static(name), HeaderValue::from_static(value));
            self.headers.append(name, value);
        }
        self
    }
}

/// Makes an answer of a request.
#[derive(Clone)]
pub struct Inventor(Arc<dyn Fn(&Recorded) -> Reply + Send + Sync>);

impl Inventor {
    pub fn new(invent: impl Fn(&Recorded) -> Reply + Send + Sync + 'static) -> Self {
        Self(Arc::new(invent))
    }

    pub(super) fn answer(&self, request: &Recorded) -> Reply {
        (self.0)(request)
    }
}

/// A successful answer in pieces: the beginning once, then the same piece again and again.
#[derive(Debug, Clone)]
pub struct Flood {
    pub(super) beginning: Bytes,
    pub(super) piece: Bytes,
    pub(super) pieces: Option<u64>,
    pub(super) pause: Duration,
}

impl Flood {
    /// Without an end.
    pub fn endless(beginning: &str, piece: &str) -> Self {
        let [beginning, piece] = [beginning, piece].map(|text| Bytes::from(text.to_owned()));
        Self { beginning, piece, pieces: None, pause: Duration::ZERO }
    }

    /// Ends after so many pieces.
    pub fn times(self, pieces: u64) -> Self {
        Self { pieces: Some(pieces), ..self }
    }

    /// Pauses before each piece.
    pub fn slow(self, pause: Duration) -> Self {
        Self { pause, ..self }
    }
}

/// Something that a test does while a request waits. It runs on the testkit's runtime and must
/// not block. If it fails, the request is answered with 500 and the failure is in the tally.
#[derive(Clone)]
pub struct Action(Arc<dyn Fn(Recorded) -> Work + Send + Sync>);

/// Ends with the words for what went wrong, if anything did.
type Work = Pin<Box<dyn Future<Output = Result<(), String>> + Send>>;

impl Action {
    pub fn new<F, W, E>(work: F) -> Self
    where
        F: Fn(Recorded) -> W + Send + Sync + 'static,
        W: Future<Output = Result<(), E>> + Send + 'static,
        E: Display,
    {
        Self(Arc::new(move |request| {
            let work = work(request);
            Box::pin(async move { work.await.map_err(|error| format!("{error:#}")) })
        }))
    }

    pub(super) async fn run(&self, request: &Recorded) -> Result<(), String> {
        (self.0)(request.clone()).await
    }
}

/// A rule for [`super::Proxy::rule`].
pub struct Rule {
    which: Which,
    turn: Turn,
    fate: Fate,
    met: u32,
    tally: Tally,
}

impl Rule {
    pub fn new(which: Which, turn: Turn, fate: Fate) -> Self {
        Self { which, turn, fate, met: 0, tally: Tally::default() }
    }

    pub(super) fn tally(&self) -> Tally {
        self.tally.clone()
    }

    /// Counts the request if it is meant, and answers with what is due.
    pub(super) fn meet(&mut self, request: &Recorded) -> Option<Due> {
        if !self.which.fits(request) {
            return None;
        }
        self.met += 1;
        if !self.turn.is_due(self.met) {
            return None;
        }
        self.tally.content().fired.push(request.clone());
        Some(Due { fate: self.fate.clone(), tally: self.tally.clone() })
    }
}

/// What is to happen to one request now.
pub(super) struct Due {
    pub(super) fate: Fate,
    pub(super) tally: Tally,
}

/// What became of a rule.
#[derive(Debug, Clone, Default)]
pub struct Tally(Arc<Mutex<Outcome>>);

#[derive(Debug, Default)]
struct Outcome {
    fired: Vec<Recorded>,
    failures: Vec<String>,
}

impl Tally {
    /// The requests that it acted on.
    pub fn fired(&self) -> Vec<Recorded> {
        self.content().fired.clone()
    }

    /// Why its action failed, each time that it did.
    pub fn failures(&self) -> Vec<String> {
        self.content().failures.clone()
    }

    pub(super) fn note(&self, failure: String) {
        self.content().failures.push(failure);
    }

    fn content(&self) -> MutexGuard<'_, Outcome> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(method: Method, path: &str, query: &str) -> Recorded {
        Recorded { sequence: 1, method, path: path.into(), query: query.into() }
    }

    #[test]
    fn a_place_is_its_path_and_not_what_begins_alike() {
        let within = Which::under("/apis/apps");
        assert!(within.fits(&request(Method::GET, "/apis/apps/v1", "")));
        assert!(within.fits(&request(Method::GET, "/apis/apps", "")));
        assert!(!within.fits(&request(Method::GET, "/apis/appsy", "")));
        assert!(!Which::at("/apis/apps").fits(&request(Method::GET, "/apis/apps/v1", "")));
    }

    #[test]
    fn a_dry_run_and_a_watch_are_told_by_their_parameters() {
        let dry = request(Method::PATCH, "/x", "dryRun=All&force=true");
        assert_eq!(dry.in_short(), "patch (dry-run)");
        assert!(Which::any().persistence(Persistence::DryRun).fits(&dry));
        assert!(!Which::any().persistence(Persistence::Real).fits(&dry));
        let watch = request(Method::GET, "/x", "resourceVersion=1&watch=true");
        assert_eq!(watch.in_short(), "watch");
        assert!(Which::any().watches().fits(&watch));
        assert!(!Which::any().watches().fits(&request(Method::GET, "/x", "watch=false")));
    }

    #[test]
    fn a_rule_counts_only_what_it_is_about() {
        let which = Which::at("/x").method(Method::GET);
        let mut rule = Rule::new(which, Turn::Nth(2), Fate::Pass);
        let due: Vec<bool> = [
            (Method::GET, "/x"),
            (Method::PUT, "/x"),
            (Method::GET, "/y"),
            (Method::GET, "/x"),
            (Method::GET, "/x"),
        ]
        .into_iter()
        .map(|(method, path)| rule.meet(&request(method, path, "")).is_some())
        .collect();
        assert_eq!(due, [false, false, false, true, false]);
        assert_eq!(rule.tally().fired().len(), 1);
    }

    #[test]
    fn turns_are_counted_from_one() {
        let due = |turn: Turn| (1..=4).filter(|count| turn.is_due(*count)).collect::<Vec<_>>();
        assert_eq!(due(Turn::Every), [1, 2, 3, 4]);
        assert_eq!(due(Turn::First(2)), [1, 2]);
        assert_eq!(due(Turn::From(3)), [3, 4]);
        assert_eq!(due(Turn::Nth(1)), [1]);
    }
}
