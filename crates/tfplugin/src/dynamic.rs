//! Values as bytes: msgpack on the wire, JSON in the state file.
//!
//! Both directions are led by the type, as the formats are: an object and a map look alike, a
//! number may be an integer, a float or text, and a dynamic value carries its type in front.
//! Nothing here knows schemas or protobuf. What cannot be read is a [`Mismatch`] that names the
//! place and never quotes the value, since it may be a secret.

mod json;
mod msgpack;

use crate::mismatch::Mismatch;
use crate::value::Type;

#[cfg(any(test, feature = "harness"))]
pub(crate) use json::to_json;
pub(crate) use json::{from_json, from_state_json};
pub(crate) use msgpack::{from_msgpack, to_msgpack};

/// How deep values may stand inside one another. Types have an end of their own, but a dynamic value
/// brings its type along and may hold another one: without a bound the stack would be it.
const NESTING_LIMIT: usize = 128;

fn too_deep(ty: &Type) -> Mismatch {
    Mismatch::new(ty.kind(), format!("more than {NESTING_LIMIT} values inside one another"))
}

#[cfg(test)]
mod damaged;
#[cfg(test)]
mod golden;
#[cfg(test)]
mod round_trips;
