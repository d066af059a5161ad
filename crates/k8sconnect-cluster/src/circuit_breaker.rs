//! Circuit breaker: remembers that a server, an API group or a credential plugin failed, so that the
//! requests for other objects fail fast instead of waiting for the same thing again.
//!
//! A circuit opens for as long as the request waited that gave up. While the server's circuit is open,
//! a server that has never answered is not asked; one that has served is asked once, since it may be
//! back. Any answer closes it. A server that serves, but puts off every request for one API group (an
//! aggregated API whose backend is down), opens the circuit of that group alone: each request for the
//! group is then sent once and not repeated. Not here: which requests may be repeated at all (`retry`).

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

use crate::error::Error;

#[derive(Default)]
pub(crate) struct CircuitBreaker(Mutex<State>);

#[derive(Default)]
struct State {
    contact: Contact,
    open: BTreeMap<Part, Open>,
}

/// What can fail on its own.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Part {
    /// The credential plugin.
    Plugin,
    Server,
    /// The path of an API group.
    Group(String),
}

/// What a request gave up with, and until when that holds for others.
struct Open {
    until: Instant,
    error: Error,
}

#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Contact {
    #[default]
    None,
    /// It answered, and put every request off.
    PutOff,
    Served,
}

/// What a server gets that was never reached.
pub(crate) const STRANGER: Duration = Duration::from_secs(5);

impl CircuitBreaker {
    /// The server answered a request for this path, be it with a refusal.
    pub(crate) fn served(&self, path: &str) {
        let mut state = self.state();
        state.contact = Contact::Served;
        state.open.remove(&Part::Server);
        state.open.remove(&Part::group(path));
    }

    /// The server put a request off (429, 502 to 504).
    pub(crate) fn put_off(&self) {
        let mut state = self.state();
        if state.contact == Contact::None {
            state.contact = Contact::PutOff;
        }
    }

    /// A request was given up for lack of time, after it had waited for so long. With a deadline of its
    /// own it proves less: the caller may have set a short one.
    pub(crate) fn gave_up(
        &self,
        path: &str,
        error: &Error,
        waited: Duration,
        deadline: Option<Instant>,
    ) {
        let contact = self.state().contact;
        let part = match (error, deadline) {
            // A server that has too many requests serves other requests all the while.
            (Error::NotReady { status, .. }, None)
                if contact == Contact::Served && status.code != 429 =>
            {
                Part::group(path)
            }
            // One slow path says nothing of a server that serves others.
            (Error::NotReady { .. } | Error::Timeout { .. }, None)
                if contact != Contact::Served =>
            {
                Part::Server
            }
            (Error::Unreachable { .. }, None) => Part::Server,
            // A stranger gets as long from everybody.
            (Error::Unreachable { .. }, Some(deadline))
                if contact == Contact::None && deadline + waited >= Instant::now() + STRANGER =>
            {
                Part::Server
            }
            _ => return,
        };
        self.open(part, waited, error.clone());
    }

    /// Opens a circuit for so long, unless it is open for longer.
    pub(crate) fn open(&self, part: Part, lasts: Duration, error: Error) {
        let (mut state, until) = (self.state(), Instant::now() + lasts);
        if state.open.get(&part).is_none_or(|open| open.until < until) {
            state.open.insert(part, Open { until, error });
        }
    }

    /// What the request ended with that opened this circuit, if the circuit is still open.
    pub(crate) fn error(&self, part: &Part) -> Option<Error> {
        let state = self.state();
        let open = state.open.get(part).filter(|open| Instant::now() < open.until)?;
        Some(open.error.clone())
    }

    /// What a request ends with that is not even sent. Where the caller set a deadline, a server that
    /// has answered is waited for until then.
    pub(crate) fn server_error(&self, deadline: Option<Instant>) -> Option<Error> {
        let error = self.error(&Part::Server)?;
        let contact = self.state().contact;
        let same = match &error {
            Error::Unreachable { .. } => contact == Contact::None,
            _ => deadline.is_none() && contact != Contact::Served,
        };
        same.then_some(error)
    }

    /// What a request ends with that has just been put off.
    pub(crate) fn group_error(&self, path: &str, deadline: Option<Instant>) -> Option<Error> {
        if deadline.is_none() { self.error(&Part::group(path)) } else { None }
    }

    /// For how long after its start a request sits out failures to reach the server; `None`: until its
    /// deadline. A server that was never reached is more likely misspelt than restarting. One that
    /// another request has given up is asked once.
    pub(crate) fn limit(&self, deadline: Option<Instant>) -> Option<Duration> {
        let is_open = self.error(&Part::Server).is_some();
        match self.state().contact {
            Contact::None => Some(STRANGER),
            Contact::Served if is_open && deadline.is_none() => Some(Duration::ZERO),
            _ => None,
        }
    }

    /// Keeps every circuit that was ever opened open for as long as a test may take, and says how many
    /// there are.
    #[cfg(test)]
    pub(crate) fn hold_open(&self) -> usize {
        let (mut state, until) = (self.state(), Instant::now() + Duration::from_secs(3600));
        state.open.values_mut().for_each(|open| open.until = until);
        state.open.len()
    }

    /// Lets the time pass for which circuits are open.
    #[cfg(test)]
    pub(crate) fn close_all(&self) {
        self.state().open.clear();
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Part {
    /// The part of a path that one backend may answer for: `/api/v1`, `/apis/apps`.
    fn group(path: &str) -> Self {
        let parts = if path.starts_with("/apis/") { 3 } else { 2 };
        let end = path.match_indices('/').nth(parts).map_or(path.len(), |(end, _)| end);
        Self::Group(path[..end].to_owned())
    }
}

#[cfg(test)]
mod tests {
    use k8sconnect_core::rejection::Status;

    use super::*;
    use crate::error::NetworkError;

    const PATH: &str = "/api/v1/namespaces/a/secrets/b";
    const WAITED: Duration = Duration::from_secs(5);

    fn dead() -> Error {
        let host = "https://k.example".into();
        Error::Unreachable { host, cause: NetworkError::Refused, attempts: 7 }
    }

    fn late() -> Error {
        let (host, request) = ("https://k.example".into(), "GET /api/v1".into());
        Error::Timeout { host, request, waited: WAITED }
    }

    #[tokio::test]
    async fn whoever_gave_a_stranger_up_did_so_for_all() {
        let breaker = CircuitBreaker::default();
        assert!(breaker.server_error(None).is_none());
        breaker.gave_up(PATH, &dead(), WAITED, None);
        assert!(breaker.server_error(None).is_some());
        let patient = Some(Instant::now() + Duration::from_secs(600));
        assert!(breaker.server_error(patient).is_some(), "no deadline makes a stranger known");
        breaker.served(PATH);
        assert!(breaker.server_error(None).is_none(), "it is there after all");
    }

    #[tokio::test]
    async fn what_was_waited_for_is_remembered_as_long_as_it_was_waited_for() {
        let breaker = CircuitBreaker::default();
        breaker.gave_up(PATH, &dead(), Duration::ZERO, None);
        assert!(breaker.server_error(None).is_none());
        breaker.gave_up(PATH, &dead(), WAITED, Some(Instant::now()));
        assert!(breaker.server_error(None).is_none(), "the hasty have proved nothing");
    }

    #[tokio::test]
    async fn a_server_that_has_served_is_asked_once_more_by_everybody() {
        let breaker = CircuitBreaker::default();
        breaker.served(PATH);
        breaker.gave_up(PATH, &dead(), WAITED, None);
        assert!(breaker.server_error(None).is_none());
        assert_eq!(breaker.limit(None), Some(Duration::ZERO));
        let patient = Some(Instant::now() + Duration::from_secs(600));
        assert_eq!(breaker.limit(patient), None, "a deadline is kept to");
        breaker.served(PATH);
        assert_eq!(breaker.limit(None), None);
    }

    #[tokio::test]
    async fn a_group_that_was_closed_while_the_others_serve_is_waited_for_once() {
        let closed = |code| {
            let status = Box::new(Status { code, ..Status::default() });
            let (host, attempts) = ("https://k.example".into(), 7);
            Error::NotReady { host, status, attempts, waited: WAITED, asked: None }
        };
        let breaker = CircuitBreaker::default();
        let metrics = "/apis/metrics.k8s.io/v1beta1/nodes/a";
        breaker.served(PATH);
        breaker.gave_up(metrics, &closed(429), WAITED, None);
        let other = "/apis/metrics.k8s.io/v1beta1/nodes/b";
        assert!(breaker.group_error(other, None).is_none(), "it has time for others");
        breaker.gave_up(metrics, &closed(503), WAITED, None);
        assert!(breaker.group_error(other, None).is_some());
        assert!(breaker.group_error(PATH, None).is_none());
        assert!(breaker.group_error("/apis/apps/v1", None).is_none());
        let patient = Some(Instant::now() + Duration::from_secs(600));
        assert!(breaker.group_error(other, patient).is_none(), "a deadline is kept to");
        breaker.served(other);
        assert!(breaker.group_error(metrics, None).is_none(), "it is open again");
    }

    #[tokio::test]
    async fn a_slow_path_of_a_server_that_serves_others_says_nothing_of_those() {
        let breaker = CircuitBreaker::default();
        breaker.served(PATH);
        breaker.gave_up(PATH, &late(), WAITED, None);
        assert_eq!(breaker.limit(None), None);
        let breaker = CircuitBreaker::default();
        breaker.put_off();
        breaker.gave_up(PATH, &late(), WAITED, None);
        assert!(breaker.server_error(None).is_some(), "this one has never served any");
    }
}
