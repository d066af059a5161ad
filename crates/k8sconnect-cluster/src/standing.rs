//! How much patience a server has left, whoever asks it.
//!
//! Each request has patience of its own; what is kept here is that somebody's was spent in vain. A
//! dead server is not waited for once per object: whoever gave it up did so for all who ask within
//! the time that he waited. A server that has given no answer to go by in this process is then not
//! even asked; one that has is asked once, since it may be back. The first answer to go by clears
//! everything. Where a server that serves puts off whoever asks for one of its groups, as it does
//! where another server behind it should answer, that is so for the group alone. What a request may be repeated for is not judged here, but in `retry`.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

use crate::error::Error;
use crate::retry::STRANGER;

/// What a server is to us, as far as repeating a request is concerned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Regard {
    /// It was never reached: more likely misspelt than restarting.
    Stranger,
    /// It has answered before.
    Known,
    /// It has answered before, and was given up a moment ago.
    GivenUp,
}

/// Whose patience a request goes by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Patience {
    /// That which every request has.
    Usual,
    /// That of whoever set a deadline, which ends then.
    Until(Instant),
}

#[derive(Default)]
pub(crate) struct Standing(Mutex<State>);

#[derive(Default)]
struct State {
    contact: Contact,
    vain: Option<Vain>,
    /// The groups of a server that serves, which were closed for as long as somebody waited.
    closed: BTreeMap<String, Vain>,
}

#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Contact {
    #[default]
    None,
    /// It answered, and put us off each time.
    PutOff,
    Served,
}

/// What somebody's patience ended with, and until when that holds for others.
struct Vain {
    until: Instant,
    error: Error,
}

impl Vain {
    fn holds(&self) -> bool {
        Instant::now() < self.until
    }
}

impl Standing {
    /// The server answered something to go by, be it a refusal, to whoever asked for this path.
    pub(crate) fn served(&self, path: &str) {
        let mut state = self.state();
        state.contact = Contact::Served;
        state.vain = None;
        state.closed.remove(group(path));
    }

    /// It answered that it has no time.
    pub(crate) fn put_off(&self) {
        let mut state = self.state();
        if state.contact == Contact::None {
            state.contact = Contact::PutOff;
        }
    }

    /// A request has been given up for lack of time, after it was waited for so long.
    pub(crate) fn gave_up(&self, path: &str, error: &Error, waited: Duration, patience: Patience) {
        let mut state = self.state();
        let until = Instant::now() + waited;
        if state.contact == Contact::Served
            && let (Error::NotReady { status, .. }, Patience::Usual) = (error, patience)
            // One that has too many requests serves others all the while.
            && status.code != 429
        {
            let vain = Vain { until, error: error.clone() };
            state.closed.insert(group(path).to_owned(), vain);
        }
        let counts = match (error, patience) {
            // What became of a write is not known, which is nobody else's trouble.
            (Error::Unreachable { .. }, Patience::Usual) => true,
            // A stranger gets as long from everybody; whoever was hastier has proved nothing.
            (Error::Unreachable { .. }, Patience::Until(deadline)) => {
                state.contact == Contact::None && deadline + waited >= Instant::now() + STRANGER
            }
            // One path of many may be slow or closed: it is the server that has never served any.
            (Error::NotReady { .. } | Error::Timeout { .. }, Patience::Usual) => {
                state.contact != Contact::Served
            }
            _ => false,
        };
        if counts && state.vain.as_ref().is_none_or(|vain| vain.until < until) {
            state.vain = Some(Vain { until, error: error.clone() });
        }
    }

    /// What asking would end with, by what somebody else has just waited for.
    pub(crate) fn foregone(&self, patience: Patience) -> Option<Error> {
        let state = self.state();
        let vain = state.vain.as_ref().filter(|vain| vain.holds())?;
        let same = match (&vain.error, patience) {
            (Error::Unreachable { .. }, _) => state.contact == Contact::None,
            (_, Patience::Usual) => state.contact != Contact::Served,
            (_, Patience::Until(_)) => false,
        };
        same.then(|| vain.error.clone())
    }

    /// What waiting on for an answer that was put off would end with, by what somebody else has just
    /// waited for.
    pub(crate) fn closed(&self, path: &str, patience: Patience) -> Option<Error> {
        let state = self.state();
        let vain = state.closed.get(group(path)).filter(|vain| vain.holds())?;
        (patience == Patience::Usual).then(|| vain.error.clone())
    }

    pub(crate) fn regard(&self, patience: Patience) -> Regard {
        let state = self.state();
        let given_up = state.vain.as_ref().is_some_and(Vain::holds);
        match (state.contact, patience) {
            (Contact::None, _) => Regard::Stranger,
            (Contact::Served, Patience::Usual) if given_up => Regard::GivenUp,
            _ => Regard::Known,
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The part of a path that one server behind the server may answer for.
fn group(path: &str) -> &str {
    let parts = if path.starts_with("/apis/") { 3 } else { 2 };
    path.match_indices('/').nth(parts).map_or(path, |(end, _)| &path[..end])
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
        let standing = Standing::default();
        assert!(standing.foregone(Patience::Usual).is_none());
        standing.gave_up(PATH, &dead(), WAITED, Patience::Usual);
        assert!(standing.foregone(Patience::Usual).is_some());
        let patient = Patience::Until(Instant::now() + Duration::from_secs(600));
        assert!(standing.foregone(patient).is_some(), "no deadline makes a stranger known");
        standing.served(PATH);
        assert!(standing.foregone(Patience::Usual).is_none(), "it is there after all");
    }

    #[tokio::test]
    async fn what_was_waited_for_is_remembered_as_long_as_it_was_waited_for() {
        let standing = Standing::default();
        standing.gave_up(PATH, &dead(), Duration::ZERO, Patience::Usual);
        assert!(standing.foregone(Patience::Usual).is_none());
        standing.gave_up(PATH, &dead(), WAITED, Patience::Until(Instant::now()));
        assert!(standing.foregone(Patience::Usual).is_none(), "the hasty have proved nothing");
    }

    #[tokio::test]
    async fn a_server_that_has_served_is_asked_once_more_by_everybody() {
        let standing = Standing::default();
        standing.served(PATH);
        standing.gave_up(PATH, &dead(), WAITED, Patience::Usual);
        assert!(standing.foregone(Patience::Usual).is_none());
        assert_eq!(standing.regard(Patience::Usual), Regard::GivenUp);
        let patient = Patience::Until(Instant::now() + Duration::from_secs(600));
        assert_eq!(standing.regard(patient), Regard::Known, "a deadline is kept to");
        standing.served(PATH);
        assert_eq!(standing.regard(Patience::Usual), Regard::Known);
    }

    #[tokio::test]
    async fn a_group_that_was_closed_while_the_others_serve_is_waited_for_once() {
        let closed = |code| {
            let status = Box::new(Status { code, ..Status::default() });
            let (host, attempts) = ("https://k.example".into(), 7);
            Error::NotReady { host, status, attempts, waited: WAITED, asked: None }
        };
        let standing = Standing::default();
        let metrics = "/apis/metrics.k8s.io/v1beta1/nodes/a";
        standing.served(PATH);
        standing.gave_up(metrics, &closed(429), WAITED, Patience::Usual);
        let other = "/apis/metrics.k8s.io/v1beta1/nodes/b";
        assert!(standing.closed(other, Patience::Usual).is_none(), "it has time for others");
        standing.gave_up(metrics, &closed(503), WAITED, Patience::Usual);
        assert!(standing.closed(other, Patience::Usual).is_some());
        assert!(standing.closed(PATH, Patience::Usual).is_none());
        assert!(standing.closed("/apis/apps/v1", Patience::Usual).is_none());
        let patient = Patience::Until(Instant::now() + Duration::from_secs(600));
        assert!(standing.closed(other, patient).is_none(), "a deadline is kept to");
        standing.served(other);
        assert!(standing.closed(metrics, Patience::Usual).is_none(), "it is open again");
    }

    #[tokio::test]
    async fn a_slow_path_of_a_server_that_serves_others_says_nothing_of_those() {
        let standing = Standing::default();
        standing.served(PATH);
        standing.gave_up(PATH, &late(), WAITED, Patience::Usual);
        assert_eq!(standing.regard(Patience::Usual), Regard::Known);
        let standing = Standing::default();
        standing.put_off();
        standing.gave_up(PATH, &late(), WAITED, Patience::Usual);
        assert!(standing.foregone(Patience::Usual).is_some(), "this one has never served any");
    }
}
