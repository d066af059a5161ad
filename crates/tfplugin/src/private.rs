//! Private state: what a resource remembers beside the state that users see.
//!
//! The bytes have the shape that providers built on the Go framework write, a JSON object of
//! base64-encoded JSON by key, so that a provider can take over the state of its predecessor.
//! It is stored in the state file without encryption and is not shown in plans. Keys this
//! provider does not know are kept. Nothing that a delete needs may live here alone: Terraform
//! deletes a tainted object that it replaces without handing over its private state.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use serde::Serialize;
use serde::de::DeserializeOwned;

/// Keyed private state of one resource instance.
///
/// Keys survive from request to answer unless they are taken out with [`Private::remove`]:
/// an answer that holds none of the old keys loses none of them.
#[derive(Clone, Debug, Default)]
pub struct Private {
    entries: BTreeMap<String, Vec<u8>>,
    /// Told apart from keys that were never there, so that an answer can be laid over the request.
    removed: BTreeSet<String>,
    /// The bytes that it was read from, while they still say what it holds.
    stored: Option<Bytes>,
}

/// Private state that cannot be read or written.
#[derive(Debug, thiserror::Error)]
pub enum PrivateError {
    /// The bytes are not an object of base64 by key.
    #[error("the private state is not a JSON object of base64-encoded values: {0}")]
    Envelope(String),
    /// The value under a key is not what is asked for.
    #[error("the private state under `{key}` cannot be read: {problem}")]
    Entry {
        /// The key.
        key: String,
        /// Why not.
        problem: serde_json::Error,
    },
    /// A value cannot be written as JSON.
    #[error("the private state under `{key}` cannot be written: {problem}")]
    Unwritable {
        /// The key.
        key: String,
        /// Why not.
        problem: serde_json::Error,
    },
}

impl Private {
    /// Reads the stored bytes; none at all is empty private state.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, PrivateError> {
        if bytes.is_empty() {
            return Ok(Self::default());
        }
        // The parser's message may quote what it met, so only the place is passed on.
        let encoded: BTreeMap<String, String> = serde_json::from_slice(bytes).map_err(|err| {
            PrivateError::Envelope(format!("line {}, column {}", err.line(), err.column()))
        })?;
        let mut entries = BTreeMap::new();
        for (key, text) in encoded {
            let bytes = STANDARD.decode(text).map_err(|_| {
                PrivateError::Envelope(format!("the value under `{key}` is no base64"))
            })?;
            entries.insert(key, bytes);
        }
        let stored = Some(Bytes::copy_from_slice(bytes));
        Ok(Self { entries, removed: BTreeSet::new(), stored })
    }

    /// The bytes to store: none at all if there are no keys, those that it was read from if nothing
    /// has changed.
    pub fn to_bytes(&self) -> Vec<u8> {
        match &self.stored {
            _ if self.entries.is_empty() => Vec::new(),
            Some(stored) => stored.to_vec(),
            None => {
                let encoded = |bytes: &Vec<u8>| STANDARD.encode(bytes);
                let texts: BTreeMap<_, _> =
                    self.entries.iter().map(|(key, bytes)| (key, encoded(bytes))).collect();
                // A map of strings always has a JSON form.
                serde_json::to_vec(&texts).unwrap_or_default()
            }
        }
    }

    /// All that is kept, by key.
    pub fn entries(&self) -> impl Iterator<Item = (&str, &[u8])> {
        self.entries.iter().map(|(key, bytes)| (key.as_str(), bytes.as_slice()))
    }

    /// The JSON under a key as it is stored, if there is one.
    pub fn text(&self, key: &str) -> Option<Cow<'_, str>> {
        self.entries.get(key).map(|bytes| String::from_utf8_lossy(bytes))
    }

    /// The value under a key, if there is one.
    pub fn get<T: DeserializeOwned>(&self, key: &str) -> Result<Option<T>, PrivateError> {
        self.entries
            .get(key)
            .map(|bytes| serde_json::from_slice(bytes))
            .transpose()
            .map_err(|problem| PrivateError::Entry { key: key.to_owned(), problem })
    }

    /// Stores a value under a key. Fails only for values without a JSON form.
    pub fn set<T: Serialize>(&mut self, key: &str, value: &T) -> Result<(), PrivateError> {
        let bytes = serde_json::to_vec(value)
            .map_err(|problem| PrivateError::Unwritable { key: key.to_owned(), problem })?;
        self.removed.remove(key);
        self.stored = None;
        self.entries.insert(key.to_owned(), bytes);
        Ok(())
    }

    /// Forgets a key.
    pub fn remove(&mut self, key: &str) {
        self.entries.remove(key);
        self.stored = None;
        self.removed.insert(key.to_owned());
    }

    /// Whether a key is there.
    pub fn contains(&self, key: &str) -> bool {
        self.entries.contains_key(key)
    }

    /// Whether there are no keys.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// This answer laid over what the request held.
    pub(crate) fn over(self, request: Self) -> Self {
        let held = &request.entries;
        let changes = self.removed.iter().any(|key| held.contains_key(key))
            || self.entries.iter().any(|(key, bytes)| held.get(key) != Some(bytes));
        if !changes {
            return request;
        }
        let mut entries = request.entries;
        entries.retain(|key, _| !self.removed.contains(key));
        entries.extend(self.entries);
        Self { entries, ..Self::default() }
    }
}

impl PartialEq for Private {
    fn eq(&self, other: &Self) -> bool {
        self.entries == other.entries
    }
}

impl Eq for Private {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_and_writes_the_envelope_of_the_go_framework() {
        let stored = br#"{"baseline":"eyJyZXZpc2lvbiI6M30=",".internal":"dHJ1ZQ=="}"#;
        let private = Private::from_bytes(stored).unwrap();
        let baseline: BTreeMap<String, i64> = private.get("baseline").unwrap().unwrap();
        assert_eq!(baseline["revision"], 3);
        let mut again = Private::from_bytes(&private.to_bytes()).unwrap();
        assert_eq!(again, private);
        again.set("baseline", &baseline).unwrap();
        assert_eq!(Private::from_bytes(&again.to_bytes()).unwrap(), private);
    }

    #[test]
    fn an_answer_that_changes_nothing_gives_back_the_very_bytes() {
        let stored = br#"{"kept":"MQ=="}"#;
        let request = Private::from_bytes(stored).unwrap();
        let mut answer = Private::default();
        answer.set("kept", &1).unwrap();
        answer.remove("never there");
        assert_eq!(answer.over(request).to_bytes(), stored);
    }

    #[test]
    fn is_empty_for_no_bytes_and_back() {
        assert!(Private::from_bytes(b"").unwrap().is_empty());
        assert!(Private::default().to_bytes().is_empty());
    }

    #[test]
    fn refuses_bytes_it_would_otherwise_lose() {
        assert!(Private::from_bytes(b"not json").is_err());
        assert!(Private::from_bytes(br#"{"key":"***"}"#).is_err());
        assert!(Private::from_bytes(br#"{"key":3}"#).is_err());
    }

    #[test]
    fn keeps_the_keys_of_the_request_that_the_answer_does_not_mention() {
        let mut request = Private::default();
        request.set("kept", &1).unwrap();
        request.set("changed", &1).unwrap();
        request.set("removed", &1).unwrap();
        let mut answer = Private::default();
        answer.set("changed", &2).unwrap();
        answer.remove("removed");
        let stored = answer.over(request);
        assert_eq!(stored.get::<i64>("kept").unwrap(), Some(1));
        assert_eq!(stored.get::<i64>("changed").unwrap(), Some(2));
        assert!(!stored.contains("removed"));
    }
}
