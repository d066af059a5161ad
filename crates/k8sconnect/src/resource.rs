//! What objects, patches and waits have in common: private state, refresh, and guarded writes.

pub(crate) mod private_state;
pub(crate) mod refresh;
pub(crate) mod retry;
