//! State as it stands in the state file, before any schema has been laid over it.
//!
//! The text is kept, because numbers in it may be larger than any type of `serde_json` holds.

use serde::de::DeserializeOwned;

use crate::diagnostic::Diagnostic;
use crate::dynamic;
use crate::value::{Type, Value};

/// The JSON text of stored state.
#[derive(Clone, PartialEq, Eq)]
pub struct RawState(String);

impl RawState {
    /// Takes the JSON text over; it is read later.
    pub fn new(json: impl Into<String>) -> Self {
        Self(json.into())
    }

    /// The JSON text.
    pub fn json(&self) -> &str {
        &self.0
    }

    /// Reads the state as any type that can be read from JSON.
    pub fn deserialize<T: DeserializeOwned>(&self) -> Result<T, Diagnostic> {
        serde_json::from_str(&self.0).map_err(|err| {
            // The parser's message may quote a value, and values may be secret.
            unreadable(&format!("line {}, column {}", err.line(), err.column()))
        })
    }

    /// Reads the state as a value of a type. Attributes that the type does not have are dropped,
    /// missing ones are null.
    pub fn decode(&self, ty: &Type) -> Result<Value, Diagnostic> {
        dynamic::from_state_json(self.0.as_bytes(), ty).map_err(|err| unreadable(&err.to_string()))
    }
}

/// Stored state may hold secrets, so it is not shown.
impl std::fmt::Debug for RawState {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "RawState({} bytes)", self.0.len())
    }
}

fn unreadable(why: &str) -> Diagnostic {
    let detail = format!(
        "It is not of the form that the provider expects: {why}.\n\n\
         If the state was edited by hand, restore it from a backup; otherwise please report \
         this as a bug of the provider."
    );
    Diagnostic::error("The stored state cannot be read", detail)
}
