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
