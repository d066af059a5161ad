//! What objects, patches and waits have in common: how they remember their last write.

pub(crate) mod private_state;
