//! What the user wrote: one object, read from YAML and checked as far as that is possible without
//! asking the server.
//!
//! Not here: whether the fields exist. Only the server knows that, and says so in the dry-run.

mod check;
mod written;

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use base64::Engine;
use base64::engine::general_purpose::STANDARD as BASE64;
use serde_json::{Map, Value};

use crate::atom::is_scalar;
use crate::field::{FieldPath, Pattern};
use crate::identity::{Gvk, ObjectKey};
pub(crate) use crate::reserved::SERVER_METADATA;
use crate::secrecy::Secrecy;
use crate::yaml::{self, Document, Position, YamlError};

use check::Check;
pub(crate) use check::{identify, may_be_data_of_a_secret};
pub use written::written;

#[derive(Clone, Debug, PartialEq)]
pub struct Manifest {
    value: Arc<Value>,
    key: ObjectKey,
    boolean_keys: Vec<(String, Position)>,
    boolean_words: Vec<Position>,
    secrecy: Secrecy,
    storage: Storage,
}

/// Whether the text of a body is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Storage {
    /// Two bodies are told apart by what they say.
    Kept,
    /// Nobody keeps it: two bodies are told apart by the edition that their author calls them.
    Never { edition: String },
}

/// One reason why a text is not one object that can be applied.
#[derive(Clone, Debug, PartialEq)]
pub struct ManifestError {
    /// Counted from 1. Of a missing field, the line where the object starts.
    pub line: usize,
    pub field: FieldPath,
    pub cause: ManifestCause,
}

#[derive(Clone, Debug, PartialEq)]
pub enum ManifestCause {
    Yaml(YamlError),
    /// The text has no document.
    Empty,
    /// The text has so many documents; the line is that of the second.
    SeveralDocuments(usize),
    NotAMapping,
    NotText,
    Missing,
    /// A list of objects of this kind.
    IsAList(String),
    /// A key is given where it was read as something else than it looks.
    NotBase64 {
        written: Option<String>,
    },
    GenerateName,
    /// Only the API server writes the field.
    ServerOwned,
    /// Only k8sconnect writes the field.
    Reserved,
    /// No object can have this name.
    ObjectName(String),
    /// No namespace can have this name.
    NamespaceName(String),
}

impl ManifestError {
    fn of_text(line: usize, cause: ManifestCause) -> Vec<Self> {
        vec![Self { line, field: FieldPath::default(), cause }]
    }
}

impl Manifest {
    /// Reads one object, or says all that is wrong with it.
    pub fn parse(text: &str) -> Result<Self, Vec<ManifestError>> {
        let mut documents = yaml::parse_stream(text).map_err(|error| {
            ManifestError::of_text(error.position.line, ManifestCause::Yaml(error))
        })?;
        match documents.as_slice() {
            [] => Err(ManifestError::of_text(1, ManifestCause::Empty)),
            [_] => Self::from_document(documents.remove(0)),
            [_, second, ..] => {
                let cause = ManifestCause::SeveralDocuments(documents.len());
                Err(ManifestError::of_text(second.position.line, cause))
            }
        }
    }

    pub fn from_document(document: Document) -> Result<Self, Vec<ManifestError>> {
        let mut check = Check::of(&document, &document.value, &[]);
        let key = check.object_key();
        check.refuse_what_cannot_be_sent();
        match key {
            Some(key) if check.errors.is_empty() => {
                let boolean_keys = yaml::keys_read_as_booleans(&document);
                let boolean_words = yaml::words_read_as_booleans(&document);
                let mut value = document.value;
                drop_null_creation_timestamp(&mut value);
                let secrecy = Secrecy::of(&key.gvk, &[]);
                let storage = Storage::Kept;
                let value = Arc::new(value);
                Ok(Self { value, key, boolean_keys, boolean_words, secrecy, storage })
            }
            _ => Err(check.errors),
        }
    }

    /// The same, with more of it not to be shown.
    #[must_use]
    pub fn hiding(mut self, patterns: &[Pattern]) -> Self {
        if self.storage == Storage::Kept {
            self.secrecy = Secrecy::of(&self.key.gvk, patterns);
        }
        self
    }

    /// The same, of a kind that lives in no namespace: one that is written means nothing.
    #[must_use]
    pub fn of_no_namespace(mut self) -> Self {
        self.key.namespace = None;
        self
    }

    /// The same as a body that is never stored, nor anything in it shown.
    #[must_use]
    pub fn never_stored(mut self, edition: &str) -> Self {
        self.secrecy = Secrecy::everything();
        self.storage = Storage::Never { edition: edition.to_owned() };
        self
    }

    /// What is known of a body that was never stored: whose it was, and whatever traces of its
    /// shape are left.
    pub fn remembered(key: ObjectKey, edition: &str, traces: Value) -> Self {
        Self {
            value: Arc::new(traces),
            key,
            boolean_keys: Vec::new(),
            boolean_words: Vec::new(),
            secrecy: Secrecy::everything(),
            storage: Storage::Never { edition: edition.to_owned() },
        }
    }

    /// Whether the text of the body is kept.
    pub fn is_stored(&self) -> bool {
        self.storage == Storage::Kept
    }

    /// Whether there is a body to send, and not just what is remembered of one.
    pub fn is_whole(&self) -> bool {
        self.value.get("apiVersion").is_some()
    }

    /// Whether the other is the same body, as far as its author says.
    pub fn is_same_body(&self, other: &Manifest) -> bool {
        match (&self.storage, &other.storage) {
            (Storage::Kept, Storage::Kept) => self.value == other.value,
            (ours, theirs) => ours == theirs,
        }
    }

    /// What of it may not be shown.
    pub fn secrecy(&self) -> &Secrecy {
        &self.secrecy
    }

    /// A part of an object that is there: what is written of it, under its identity.
    pub fn of_part(key: ObjectKey, part: Value) -> Self {
        let mut value = part;
        value["apiVersion"] = key.gvk.api_version().into();
        value["kind"] = key.gvk.kind.clone().into();
        value["metadata"]["name"] = key.name.clone().into();
        let secrecy = Secrecy::of(&key.gvk, &[]);
        let (boolean_keys, boolean_words) = (Vec::new(), Vec::new());
        let (value, storage) = (Arc::new(value), Storage::Kept);
        Self { value, key, boolean_keys, boolean_words, secrecy, storage }
    }

    /// The same part as a merge patch says it: without the identity, and what is null goes.
    pub fn to_merge_patch(&self) -> Value {
        let mut value = Value::clone(&self.value);
        if self.key.gvk.is_secret() {
            fold_string_data(&mut value, Nothing::Removes);
        }
        if let Some(object) = value.as_object_mut() {
            object.remove("apiVersion");
            object.remove("kind");
            if let Some(Value::Object(metadata)) = object.get_mut("metadata") {
                metadata.remove("name");
                if metadata.is_empty() {
                    object.remove("metadata");
                }
            }
        }
        value
    }

    pub fn key(&self) -> &ObjectKey {
        &self.key
    }

    pub fn gvk(&self) -> &Gvk {
        &self.key.gvk
    }

    /// Keys that were read as booleans though they do not say so, as written.
    pub fn boolean_keys(&self) -> &[(String, Position)] {
        &self.boolean_keys
    }

    /// Where values stand that were read as booleans though they do not say so.
    pub fn boolean_words(&self) -> &[Position] {
        &self.boolean_words
    }

    /// The object as written.
    pub fn value(&self) -> &Value {
        &self.value
    }

    /// The object as it is sent: `stringData` of a Secret turned into `data`, as the server would
    /// do. Applied as written, a key that is removed later would stay in `data` for ever.
    pub fn as_applied(&self) -> Cow<'_, Value> {
        if !self.key.gvk.is_secret() {
            return Cow::Borrowed(&self.value);
        }
        let mut value = Value::clone(&self.value);
        fold_string_data(&mut value, Nothing::Empties);
        Cow::Owned(value)
    }

    /// Whether the two were written with the same fields, whatever their scalars say. Then a
    /// difference may be one of spelling only (`1000m` and `1`), which the server decides. A
    /// namespace is no field: where it means another object, the two are not compared at all.
    pub fn has_same_shape(&self, other: &Manifest) -> bool {
        fn placeless(value: &Value) -> Value {
            let mut value = value.clone();
            if let Some(Value::Object(metadata)) = value.get_mut("metadata") {
                metadata.remove("namespace");
            }
            value
        }
        same_shape(&placeless(&self.value), &placeless(&other.value))
    }
}

/// Whether two values differ in scalars only. A null is no scalar: it asks for whatever the server
/// makes of it, which may be another value tomorrow.
pub(crate) fn same_shape(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|((k, x), (l, y))| k == l && same_shape(x, y))
        }
        (Value::Array(a), Value::Array(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(x, y)| same_shape(x, y))
        }
        (Value::Null, Value::Null) => true,
        (a, b) => is_scalar(a) && is_scalar(b),
    }
}

/// `creationTimestamp: null` is what `kubectl create --dry-run` prints. It says nothing, and the
/// server records nothing of it.
fn drop_null_creation_timestamp(value: &mut Value) {
    if let Some(Value::Object(metadata)) = value.get_mut("metadata")
        && metadata.get("creationTimestamp").is_some_and(Value::is_null)
    {
        metadata.remove("creationTimestamp");
    }
}

/// What a key of `stringData` without a value means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Nothing {
    /// A value that is empty: so the server reads it where an object is applied.
    Empties,
    /// That the key goes from `data`. The server would find no such key in `stringData`, which it
    /// never keeps, and do nothing.
    Removes,
}

fn fold_string_data(value: &mut Value, nothing: Nothing) {
    let Some(object) = value.as_object_mut() else {
        return;
    };
    let Some(Value::Object(plain)) = object.get("stringData").cloned() else {
        return;
    };
    let encoded = |text: Value| match (text, nothing) {
        (Value::String(text), _) => Some(Value::String(BASE64.encode(text))),
        (Value::Null, Nothing::Empties) => Some(Value::String(String::new())),
        (Value::Null, Nothing::Removes) => Some(Value::Null),
        // A value that is no string is the server's to refuse, in its own words.
        _ => None,
    };
    let encoded: Option<BTreeMap<_, _>> =
        plain.into_iter().map(|(name, text)| Some((name, encoded(text)?))).collect();
    let Some(encoded) = encoded else {
        return;
    };
    object.remove("stringData");
    let data = object.entry("data").or_insert_with(|| Value::Object(Map::new()));
    if data.is_null() {
        *data = Value::Object(Map::new());
    }
    if let Value::Object(data) = data {
        data.extend(encoded);
    }
}

#[cfg(test)]
mod tests;
