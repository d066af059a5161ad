//! Repeats a guarded write while other managers write to the object in between. The loop stands where
//! the write is: a future that comes from an async closure cannot be shown to be `Send`.

use k8sconnect_core::identity::ObjectKey;
use tfplugin::Diagnostics;

use crate::messages;

/// An object that changes more often than this is reported.
const TRIES: usize = 50;

/// The outcome of one try.
pub(crate) enum Attempt<T> {
    Done(T),
    /// Another manager wrote in between: read the object again.
    Conflict,
}

/// The tries of one write.
pub(crate) struct Tries<'a> {
    key: &'a ObjectKey,
    made: usize,
}

impl<'a> Tries<'a> {
    pub(crate) fn of(key: &'a ObjectKey) -> Self {
        Self { key, made: 0 }
    }

    /// Begins the next try. An error after too many.
    pub(crate) fn begin(&mut self) -> Result<(), Diagnostics> {
        self.made += 1;
        match self.made > TRIES {
            true => Err(messages::object::never_still(self.key).into()),
            false => Ok(()),
        }
    }
}
