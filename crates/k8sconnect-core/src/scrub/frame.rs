//! What stands in the server's words whatever the values are: its own phrases, and the names of the
//! object and of its fields.

use serde_json::Value;

/// What an API server says of values that it does not take.
const PHRASES: &str = "is invalid is forbidden not found already exists Invalid value Required value \
    Unsupported value Duplicate value Too long Too many Forbidden field is immutable must be may not \
    supported values expected string numeric boolean map list true false null unknown field \
    failed to create typed patch object errors apiVersion kind metadata namespace labels annotations \
    spec status data stringData";

/// The words of which a gap would tell what stood in it.
#[derive(Clone, Default)]
pub(super) struct Frame {
    names: Vec<String>,
    words: Vec<String>,
}

impl Frame {
    /// And those of another version of the object.
    pub(super) fn and(mut self, object: &Value) -> Self {
        let metadata = &object["metadata"];
        self.names.extend(metadata["name"].as_str().map(ToOwned::to_owned));
        let identity = [&object["kind"], &object["apiVersion"], &metadata["namespace"]];
        self.words.extend(identity.into_iter().filter_map(Value::as_str).map(ToOwned::to_owned));
        keys(object, &mut self.words);
        self
    }

    pub(super) fn has(&self, text: &str) -> bool {
        PHRASES.contains(text) || self.names.iter().chain(&self.words).any(|word| word == text)
    }

    pub(super) fn has_in_any_case(&self, text: &str) -> bool {
        PHRASES.to_lowercase().contains(&text.to_lowercase())
            || self.names.iter().chain(&self.words).any(|word| word.eq_ignore_ascii_case(text))
    }

    pub(super) fn is_name(&self, text: &str) -> bool {
        self.names.iter().any(|name| name == text)
    }
}

fn keys(value: &Value, into: &mut Vec<String>) {
    match value {
        Value::Object(fields) => {
            for (key, value) in fields {
                into.push(key.clone());
                keys(value, into);
            }
        }
        Value::Array(items) => items.iter().for_each(|item| keys(item, into)),
        _ => {}
    }
}
