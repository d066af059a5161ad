//! A string that must not be seen: tokens, passwords, keys, the environment of a plugin.
//!
//! It can be compared and hashed, and it can be handed to the wire by [`Secret::expose`]; it
//! has no `Display` and no `Serialize`, and its `Debug` says nothing, not even its length.

use std::fmt;

use http::HeaderValue;

use crate::error::InvalidValue;

#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Secret(String);

impl Secret {
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// The text itself, for the one place that needs it.
    pub fn expose(&self) -> &str {
        &self.0
    }

    /// A header of this scheme, which stays out of every `Debug` and out of HTTP/2's header tables.
    pub(crate) fn header(&self, scheme: &str) -> Result<HeaderValue, InvalidValue> {
        let value = HeaderValue::from_str(&format!("{scheme} {}", self.0.trim()));
        let mut value = value.map_err(|_| InvalidValue::Header)?;
        value.set_sensitive(true);
        Ok(value)
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("(secret)")
    }
}

impl From<String> for Secret {
    fn from(text: String) -> Self {
        Self(text)
    }
}

impl From<&str> for Secret {
    fn from(text: &str) -> Self {
        Self(text.into())
    }
}
