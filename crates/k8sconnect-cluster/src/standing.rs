//! How much patience a server has left, whoever asks it.
//!
//! Each request has patience of its own; what is kept here is that somebody's was spent in vain. A
//! dead server is not waited for once per object: whoever gave it up did so for all who ask within
//! the time that he waited. A server that has given no answer to go by in this process is then not
//! even asked; one that has is asked once, since it may be back. The first answer to go by clears
//! everything. What a request may be repeated for is not judged here, but in `retry`.

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

impl Standing {
    /// The server answered something to go by, be it a refusal.
    pub(crate) fn served(&self) {
        *self.state() = State { contact: Contact::Served, vain: None };
    }

    /// It answered that it has no time.
    pub(crate) fn put_off(&self) {
        let mut state = self.state();
        if state.contact == Contact::None {
            state.contact = Contact::PutOff;
        }
    }

    /// A request has been given up for lack of time, after it was waited for so long.
    pub(crate) fn gave_up(&self, error: &Error, waited: Duration, patience: Patience) {
        let mut state = self.state();
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
        let until = Instant::now() + waited;
        if counts && state.vain.as_ref().is_none_or(|vain| vain.until < until) {
            state.vain = Some(Vain { until, error: error.clone() });
        }
    }

    /// What asking would end with, by what somebody else has just waited for.
    pub(crate) fn foregone(&self, patience: Patience) -> Option<Error> {
        let state = self.state();
        let vain = state.vain.as_ref().filter(|vain| Instant::now() < vain.until)?;
        let same = match (&vain.error, patience) {
            (Error::Unreachable { .. }, _) => state.contact == Contact::None,
            (_, Patience::Usual) => state.contact != Contact::Served,
            (_, Patience::Until(_)) => false,
        };
        same.then(|| vain.error.clone())
    }

    pub(crate) fn regard(&self, patience: Patience) -> Regard {
        let state = self.state();
        let given_up = state.vain.as_ref().is_some_and(|vain| Instant::now() < vain.until);
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Trouble;

    const WAITED: Duration = Duration::from_secs(5);

    fn dead() -> Error {
        let host = "https://k.example".into();
        Error::Unreachable { host, trouble: Trouble::Refused, attempts: 7 }
    }

    fn late() -> Error {
        let (host, request) = ("https://k.example".into(), "GET /api/v1".into());
        Error::Timeout { host, request, waited: WAITED }
    }

    #[tokio::test]
    async fn whoever_gave_a_stranger_up_did_so_for_all() {
        let standing = Standing::default();
        assert!(standing.foregone(Patience::Usual).is_none());
        standing.gave_up(&dead(), WAITED, Patience::Usual);
        assert!(standing.foregone(Patience::Usual).is_some());
        let patient = Patience::Until(Instant::now() + Duration::from_secs(600));
        assert!(standing.foregone(patient).is_some(), "no deadline makes a stranger known");
        standing.served();
        assert!(standing.foregone(Patience::Usual).is_none(), "it is there after all");
    }

    #[tokio::test]
    async fn what_was_waited_for_is_remembered_as_long_as_it_was_waited_for() {
        let standing = Standing::default();
        standing.gave_up(&dead(), Duration::ZERO, Patience::Usual);
        assert!(standing.foregone(Patience::Usual).is_none());
        standing.gave_up(&dead(), WAITED, Patience::Until(Instant::now()));
        assert!(standing.foregone(Patience::Usual).is_none(), "the hasty have proved nothing");
    }

    #[tokio::test]
    async fn a_server_that_has_served_is_asked_once_more_by_everybody() {
        let standing = Standing::default();
        standing.served();
        standing.gave_up(&dead(), WAITED, Patience::Usual);
        assert!(standing.foregone(Patience::Usual).is_none());
        assert_eq!(standing.regard(Patience::Usual), Regard::GivenUp);
        let patient = Patience::Until(Instant::now() + Duration::from_secs(600));
        assert_eq!(standing.regard(patient), Regard::Known, "a deadline is kept to");
        standing.served();
        assert_eq!(standing.regard(Patience::Usual), Regard::Known);
    }

    #[tokio::test]
    async fn a_slow_path_of_a_server_that_serves_others_says_nothing_of_those() {
        let standing = Standing::default();
        standing.served();
        standing.gave_up(&late(), WAITED, Patience::Usual);
        assert_eq!(standing.regard(Patience::Usual), Regard::Known);
        let standing = Standing::default();
        standing.put_off();
        standing.gave_up(&late(), WAITED, Patience::Usual);
        assert!(standing.foregone(Patience::Usual).is_some(), "this one has never served any");
    }
}
