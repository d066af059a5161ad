//! The texts of our leaves as private state stores them: without those that the body in state gives.
//!
//! Nearly every leaf is as the user wrote it, and the body is in state already. So only the others
//! are stored: values that the server respells, defaults inside an atomic list, keyed hashes.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::field::walk::at_written;
use crate::field::{FieldPath, FieldSet};
use crate::projection::Texts;
use crate::text;

/// Leaves that the body does not give. `None` stands for a field without a leaf.
pub type Deviations = BTreeMap<FieldPath, Option<String>>;

/// What has to be stored of the texts, beside the fields and the body.
pub fn deviations(texts: &Texts, fields: &FieldSet, written: &Value) -> Deviations {
    let given = given(fields, written);
    let without_leaf = given.keys().filter(|path| !texts.contains_key(*path));
    let other = texts.iter().filter(|(path, text)| given.get(*path) != Some(*text));
    let other = other.map(|(path, text)| (path.clone(), Some(text.clone())));
    without_leaf.map(|path| (path.clone(), None)).chain(other).collect()
}

/// The texts again.
pub fn restored(deviations: &Deviations, fields: &FieldSet, written: &Value) -> Texts {
    let mut texts = given(fields, written);
    for (path, text) in deviations {
        match text {
            Some(text) => texts.insert(path.clone(), text.clone()),
            None => texts.remove(path),
        };
    }
    texts
}

/// The leaves of the fields as the user wrote them.
fn given(fields: &FieldSet, written: &Value) -> Texts {
    let given = |path: FieldPath| {
        let value = at_written(written, &path)?;
        Some((path, text::shown(value)))
    };
    fields.leaves().into_iter().filter_map(given).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn texts(entries: &[(&str, &str)]) -> Texts {
        entries.iter().map(|(path, text)| (path.parse().unwrap(), (*text).to_owned())).collect()
    }

    fn fields(paths: &[&str]) -> FieldSet {
        paths.iter().map(|path| path.parse().unwrap()).collect()
    }

    #[test]
    fn only_what_the_server_changed_is_stored() {
        let written = json!({"data": {"a": "x", "b": "1000m", "c": "z"}});
        let fields = fields(&["data.a", "data.b", "data.c"]);
        let answered = texts(&[("data.a", "x"), ("data.b", "1"), ("data.d", "new")]);
        let stored = deviations(&answered, &fields, &written);
        let paths: Vec<_> = stored.keys().map(ToString::to_string).collect();
        assert_eq!(paths, ["data.b", "data.c", "data.d"]);
        assert_eq!(restored(&stored, &fields, &written), answered);
    }

    proptest! {
        #[test]
        fn the_texts_come_back_whatever_the_body_says(
            answered in proptest::collection::btree_map("[a-d]", "[0-2]", 0..4),
            written in proptest::collection::btree_map("[a-d]", "[0-2]", 0..4),
            owned in proptest::collection::btree_set("[a-d]", 0..4),
        ) {
            let at = |name: &String| format!("data.{name}").parse::<FieldPath>().unwrap();
            let answered: Texts = answered.iter().map(|(k, v)| (at(k), v.clone())).collect();
            let fields: FieldSet = owned.iter().map(at).collect();
            let written = json!({ "data": written });
            let stored = deviations(&answered, &fields, &written);
            prop_assert_eq!(restored(&stored, &fields, &written), answered);
        }
    }
}
