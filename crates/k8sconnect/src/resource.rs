//! What objects, patches and waits have in common: private state, what is known of the last apply,
//! refresh, state of the Go provider, and guarded writes.
//!
//! Nothing here knows what a resource writes: that is the resource's own.

pub(crate) mod ambiguous_write;
pub(crate) mod go_state;
pub(crate) mod live;
pub(crate) mod private_state;
pub(crate) mod refresh;
pub(crate) mod retry;

use tfplugin::Value;

/// What becomes of what another state has: an object without a state of ours, or fields of another
/// patch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Adoption {
    Refuse,
    TakeOver,
}

impl Adoption {
    pub(crate) fn of(adopt: &Value<bool>) -> Self {
        match adopt {
            Value::Known(true) => Self::TakeOver,
            Value::Known(false) | Value::Null | Value::Unknown => Self::Refuse,
        }
    }
}

/// What is known of the last apply of a resource in state.
pub(crate) enum LastApply<T> {
    /// What it left, as private state says.
    Known(T),
    /// There was none: the object was imported.
    Never,
    /// There was one. Private state is lost, because a provider was killed during an update or because
    /// the resource is tainted.
    Lost,
    /// The Go provider applied it, and stored nothing that counts here.
    ByGoProvider,
}
