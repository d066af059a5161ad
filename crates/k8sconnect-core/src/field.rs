//! Fields of an object: how one is named, how a set of them is held, and how the API server
//! writes such sets down.
//!
//! There is one path type ([`FieldPath`]), one set type ([`FieldSet`]), one reader and writer of
//! the server's notation ([`fields_v1`]) and one walker that takes a set through an object
//! ([`walk`]). Whoever needs to know which fields are meant uses these.

pub mod fields_v1;
pub mod path;
pub mod pattern;
pub mod set;
pub mod walk;

pub use crate::atom::Atom;
pub use path::{FieldPath, KeyFields, PathElement};
pub use pattern::Pattern;
pub use set::FieldSet;
