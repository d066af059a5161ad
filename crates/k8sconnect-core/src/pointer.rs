//! RFC 6901: where in a document an operation works.

use std::fmt;

use serde_json::{Value, json};

/// A place by its tokens; none of them is the whole document.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Pointer(pub Vec<String>);

impl Pointer {
    pub fn parse(text: &str) -> Option<Self> {
        if text.is_empty() {
            return Some(Self(Vec::new()));
        }
        let tokens = text.strip_prefix('/')?.split('/');
        // `~` stands for itself only as `~0`.
        if text.split('~').skip(1).any(|after| !after.starts_with(['0', '1'])) {
            return None;
        }
        Some(Self(tokens.map(|token| token.replace("~1", "/").replace("~0", "~")).collect()))
    }

    /// The place that holds this one, and the last step to it.
    pub fn split(&self) -> Option<(Pointer, &str)> {
        let (last, before) = self.0.split_last()?;
        Some((Pointer(before.to_vec()), last))
    }

    #[must_use]
    pub fn then(&self, token: impl Into<String>) -> Self {
        Self(self.0.iter().cloned().chain([token.into()]).collect())
    }

    /// An object that has nothing but this value at this place.
    pub(super) fn holding(&self, value: Value) -> Value {
        self.0.iter().rev().fold(value, |below, token| json!({ token: below }))
    }

    pub fn find<'a>(&self, root: &'a Value) -> Option<&'a Value> {
        self.0.iter().try_fold(root, |value, token| match value {
            Value::Object(map) => map.get(token),
            Value::Array(items) => items.get(index(token)?),
            _ => None,
        })
    }

    pub fn find_mut<'a>(&self, root: &'a mut Value) -> Option<&'a mut Value> {
        self.0.iter().try_fold(root, |value, token| match value {
            Value::Object(map) => map.get_mut(token),
            Value::Array(items) => items.get_mut(index(token)?),
            _ => None,
        })
    }

    /// Whether this is the map of all annotations.
    pub(super) fn is_all_annotations(&self) -> bool {
        self.0 == ["metadata", "annotations"]
    }

    /// Whether one of the two is, or lies below, the other.
    pub fn overlaps(&self, other: &Pointer) -> bool {
        self.0.starts_with(&other.0) || other.0.starts_with(&self.0)
    }
}

/// A position in a list: digits without a leading zero.
pub(super) fn index(token: &str) -> Option<usize> {
    let plain = token == "0" || !token.starts_with('0');
    (plain && token.bytes().all(|byte| byte.is_ascii_digit())).then(|| token.parse().ok())?
}

impl fmt::Display for Pointer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0
            .iter()
            .try_for_each(|token| write!(f, "/{}", token.replace('~', "~0").replace('/', "~1")))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_slash_in_a_name_is_written_otherwise() {
        let pointer = Pointer::parse("/metadata/annotations/example.com~1a~0b").unwrap();
        assert_eq!(pointer.0[2], "example.com/a~b");
        assert_eq!(pointer.to_string(), "/metadata/annotations/example.com~1a~0b");
        assert_eq!(Pointer::parse("spec"), None);
        for wrong in ["/a~", "/a~2", "/~~0"] {
            assert_eq!(Pointer::parse(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn finds_by_name_and_by_position() {
        let object = json!({"a": [{"b": 1}]});
        assert_eq!(Pointer::parse("/a/0/b").unwrap().find(&object), Some(&json!(1)));
        assert_eq!(Pointer::parse("/a/00/b").unwrap().find(&object), None);
        assert_eq!(Pointer::parse("/a/1").unwrap().find(&object), None);
    }
}
