//! How a wait failed, as data. `wait` finds it out, and `messages` words it.

use k8sconnect_cluster::Error;
use k8sconnect_core::readiness::Reason;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum WaitFailure {
    TimeIsUp(Vec<Reason>),
    /// The time is up, and the object does not exist.
    NotFound,
    /// The same, and it existed when the wait began or came meanwhile.
    Deleted,
    /// The same, and its namespace does not exist either.
    NoNamespace(String),
    /// The time is up, and the server did not answer at the end; what was seen before.
    NoAnswer {
        seen: Vec<Reason>,
        error: Error,
    },
    Never(Vec<Reason>),
}
