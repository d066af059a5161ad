//! The error of a value that does not have the type that the schema asks for.

use crate::path::{AttributePath, Step};

/// A value is not of the type that is needed at a place.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{path}`: {expected} is required, not {found}")]
pub struct Mismatch {
    /// Where in the value.
    pub path: AttributePath,
    /// What was needed.
    pub expected: String,
    /// What was there. Never the value itself, which may be a secret.
    pub found: String,
}

impl Mismatch {
    pub(crate) fn new(expected: impl Into<String>, found: impl Into<String>) -> Self {
        let path = AttributePath::default();
        Self { path, expected: expected.into(), found: found.into() }
    }

    /// The same mismatch, seen from one level further out.
    pub(crate) fn under(mut self, step: Step) -> Self {
        self.path.prepend(step);
        self
    }
}
