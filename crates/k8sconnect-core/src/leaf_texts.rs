//! The texts of our leaves as private state stores them: without those that the projection in state shows.
//!
//! After a write the projection shows all of them. After a refresh it shows the object as it is, so that
//! the leaves that drifted are stored.

use std::collections::BTreeMap;

use crate::field::{FieldPath, FieldSet};
use crate::projection::Texts;

/// Leaves that the projection does not show as they were. `None` stands for a field without a leaf.
pub type Deviations = BTreeMap<FieldPath, Option<String>>;

/// What has to be stored of the texts, beside the fields and the projection.
pub fn deviations(
    texts: &Texts,
    fields: &FieldSet,
    projection: &BTreeMap<String, String>,
) -> Deviations {
    let shown = shown(fields, projection);
    let without_leaf = shown.keys().filter(|path| !texts.contains_key(*path));
    let other = texts.iter().filter(|(path, text)| shown.get(*path) != Some(*text));
    let other = other.map(|(path, text)| (path.clone(), Some(text.clone())));
    without_leaf.map(|path| (path.clone(), None)).chain(other).collect()
}

/// The texts again.
pub fn restored(
    deviations: &Deviations,
    fields: &FieldSet,
    projection: &BTreeMap<String, String>,
) -> Texts {
    let mut texts = shown(fields, projection);
    for (path, text) in deviations {
        match text {
            Some(text) => texts.insert(path.clone(), text.clone()),
            None => texts.remove(path),
        };
    }
    texts
}

/// The leaves of the fields as the projection shows them.
fn shown(fields: &FieldSet, projection: &BTreeMap<String, String>) -> Texts {
    let shown = |path: FieldPath| {
        let text = projection.get(&path.shown())?;
        Some((path, text.clone()))
    };
    fields.leaves().into_iter().filter_map(shown).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn texts(entries: &[(&str, &str)]) -> Texts {
        entries.iter().map(|(path, text)| (path.parse().unwrap(), (*text).to_owned())).collect()
    }

    fn fields(paths: &[&str]) -> FieldSet {
        paths.iter().map(|path| path.parse().unwrap()).collect()
    }

    fn projection(entries: &[(&str, &str)]) -> BTreeMap<String, String> {
        entries.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned())).collect()
    }

    #[test]
    fn only_what_has_drifted_is_stored() {
        let shown = projection(&[("data.a", "x"), ("data.b", "2"), ("data.c", "z")]);
        let fields = fields(&["data.a", "data.b", "data.c"]);
        let applied = texts(&[("data.a", "x"), ("data.b", "1"), ("data.d", "new")]);
        let stored = deviations(&applied, &fields, &shown);
        let paths: Vec<_> = stored.keys().map(ToString::to_string).collect();
        assert_eq!(paths, ["data.b", "data.c", "data.d"]);
        assert_eq!(restored(&stored, &fields, &shown), applied);
    }

    proptest! {
        #[test]
        fn the_texts_come_back_whatever_the_projection_shows(
            applied in proptest::collection::btree_map("[a-d]", "[0-2]", 0..4),
            shown in proptest::collection::btree_map("[a-d]", "[0-2]", 0..4),
            owned in proptest::collection::btree_set("[a-d]", 0..4),
        ) {
            let at = |name: &String| format!("data.{name}").parse::<FieldPath>().unwrap();
            let applied: Texts = applied.iter().map(|(k, v)| (at(k), v.clone())).collect();
            let shown = shown.iter().map(|(k, v)| (at(k).shown(), v.clone())).collect();
            let fields: FieldSet = owned.iter().map(at).collect();
            let stored = deviations(&applied, &fields, &shown);
            prop_assert_eq!(restored(&stored, &fields, &shown), applied);
        }
    }
}
