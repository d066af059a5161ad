//! Private state: what a resource remembers beside the state that users see.
//!
//! The bytes are one compressed JSON object, its values by key. Terraform stores them in the state
//! file, base64-encoded and without encryption, and copies them for every instance that it applies.
//! The form that providers built on the Go framework write is read too, so that a provider can take
//! over the state of its predecessor. Keys that the provider does not know are kept. A delete must
//! work without private state: Terraform does not hand it over when it replaces a tainted object.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use miniz_oxide::deflate::compress_to_vec;
use miniz_oxide::inflate::decompress_to_vec_with_limit;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;

/// The first byte of our form. The Go framework's form begins with `{`.
const COMPRESSED: u8 = 1;

/// Higher levels take longer and save next to nothing.
const LEVEL: u8 = 6;

/// Far more than private state can be, and too little to harm.
const MOST: usize = 64 << 20;

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
    /// The bytes have neither our form nor that of the Go framework.
    #[error("the private state has an unknown form: {0}")]
    Envelope(String),
    /// The value under a key is not what is asked for.
    #[error("the private state under `{key}` cannot be read: {place}")]
    Entry {
        /// The key.
        key: String,
        /// Where the value stops to fit. The value itself may be secret.
        place: String,
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
        let entries = match bytes.split_first() {
            None => return Ok(Self::default()),
            Some((&COMPRESSED, packed)) => decompressed(packed)?,
            Some(_) => of_go_framework(bytes)?,
        };
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
                // Every entry was made by `set` or read as JSON, so that the whole is JSON too.
                fn raw(bytes: &[u8]) -> Option<&RawValue> {
                    serde_json::from_slice(bytes).ok()
                }
                let values: BTreeMap<_, _> =
                    self.entries.iter().filter_map(|(key, it)| Some((key, raw(it)?))).collect();
                let plain = serde_json::to_vec(&values).unwrap_or_default();
                let mut bytes = vec![COMPRESSED];
                bytes.extend(compress_to_vec(&plain, LEVEL));
                bytes
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
            .map_err(|error| PrivateError::Entry { key: key.to_owned(), place: place(&error) })
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

fn decompressed(packed: &[u8]) -> Result<BTreeMap<String, Vec<u8>>, PrivateError> {
    let broken = |problem: &str| PrivateError::Envelope(problem.to_owned());
    let plain = decompress_to_vec_with_limit(packed, MOST)
        .map_err(|_| broken("it cannot be decompressed"))?;
    let values: BTreeMap<String, &RawValue> =
        serde_json::from_slice(&plain).map_err(|error| broken(&place(&error)))?;
    Ok(values.into_iter().map(|(key, value)| (key, value.get().into())).collect())
}

/// A JSON object of base64-encoded JSON by key.
fn of_go_framework(bytes: &[u8]) -> Result<BTreeMap<String, Vec<u8>>, PrivateError> {
    let encoded: BTreeMap<String, String> =
        serde_json::from_slice(bytes).map_err(|error| PrivateError::Envelope(place(&error)))?;
    let decoded = |(key, text): (String, String)| match STANDARD.decode(text) {
        Ok(bytes) => Ok((key, bytes)),
        Err(_) => Err(PrivateError::Envelope(format!("the value under `{key}` is no base64"))),
    };
    encoded.into_iter().map(decoded).collect()
}

/// The parser's message may quote private state, so only the place is passed on.
fn place(error: &serde_json::Error) -> String {
    format!("line {}, column {}", error.line(), error.column())
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
    fn reads_the_form_of_the_go_framework_and_writes_its_own() {
        let stored = br#"{"baseline":"eyJyZXZpc2lvbiI6M30=",".internal":"dHJ1ZQ=="}"#;
        let private = Private::from_bytes(stored).unwrap();
        let baseline: BTreeMap<String, i64> = private.get("baseline").unwrap().unwrap();
        assert_eq!(baseline["revision"], 3);
        assert_eq!(private.to_bytes(), stored, "unchanged");
        let mut again = private.clone();
        again.set("baseline", &baseline).unwrap();
        let bytes = again.to_bytes();
        assert_eq!(bytes[0], COMPRESSED);
        assert_eq!(Private::from_bytes(&bytes).unwrap(), private);
    }

    #[test]
    fn large_values_take_little_room() {
        let mut private = Private::default();
        private.set("kept", &"x".repeat(5000)).unwrap();
        let bytes = private.to_bytes();
        assert!(bytes.len() < 100, "{}", bytes.len());
        assert_eq!(Private::from_bytes(&bytes).unwrap(), private);
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
        assert!(Private::from_bytes(&[COMPRESSED, 7, 7]).is_err());
        let bomb = [vec![COMPRESSED], compress_to_vec(&vec![b' '; MOST + 1], 1)].concat();
        assert!(Private::from_bytes(&bomb).is_err(), "more than private state can be");
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
