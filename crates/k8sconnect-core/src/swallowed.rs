//! Edits that a server accepts and drops.
//!
//! Some kinds put their fields back in silence when they are changed, and so may a webhook. The
//! answer then holds what the object has already, just as it does after a respelling (`1` for
//! `1000m`), which is no change at all. The two are told apart by what the server makes of the same
//! body where there is nothing yet to keep: what is spelt otherwise there comes out as the object
//! has it, what is swallowed does not. A number or a truth value has no other spelling.

mod emptied;

use serde_json::Value;

use crate::changed::changed;
use crate::field::fields_v1::FieldsV1Error;
use crate::field::walk::{at, at_written};
use crate::field::{FieldPath, FieldSet, PathElement};
use crate::owners::Owners;
use crate::zero::is_zero;

pub use emptied::{Emptied, emptied};

/// What is the server's own to say, whoever writes it down.
const NOT_CONTENT: [&str; 3] = ["apiVersion", "kind", "status"];

/// A changed field that the object does not take.
#[derive(Clone, Debug, PartialEq)]
pub struct Swallowed {
    pub path: FieldPath,
    pub written: Value,
    /// What it keeps, if it has anything there.
    pub kept: Option<Value>,
}

/// What came of the edits that left the object as it was.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Unmoved {
    /// Swallowed for certain.
    pub certain: Vec<Swallowed>,
    /// Swallowed, or spelt otherwise.
    pub perhaps: Vec<Swallowed>,
}

/// The two bodies of an edit.
#[derive(Clone, Copy, Debug)]
pub struct Edit<'a> {
    pub before: &'a Value,
    pub after: &'a Value,
    /// The new body with what is left to others as they have it.
    pub sent: &'a Value,
}

/// What of an edit the object has as it had it before.
pub fn unmoved(
    edit: Edit<'_>,
    live: &Value,
    answer: &Value,
    manager: &str,
) -> Result<Unmoved, FieldsV1Error> {
    let ours = Owners::of_object(answer)?.applied_by(manager);
    let mut paths: Vec<_> = changed(edit.before, edit.after, &ours).iter().map(unplaced).collect();
    paths.dedup();
    let mut found = Unmoved::default();
    for path in paths.into_iter().filter(|path| is_content(path, answer)) {
        let (Some(_), Some(written)) =
            (at_written(edit.after, &path), at_written(edit.sent, &path))
        else {
            continue;
        };
        let kept = at(live, &path);
        let recorded = ours.below(&path);
        let is_one_value = match written {
            // Of what a server puts back it may not even record who wrote it.
            Value::Array(items) => {
                recorded.is_none_or(FieldSet::is_leaf) && !has_same_items(items, kept)
            }
            Value::Object(_) => recorded.is_some_and(FieldSet::is_leaf),
            Value::Null => false,
            _ => true,
        };
        let is_left_out = kept.is_none() && is_zero(written);
        if !is_one_value || is_left_out || kept != at(answer, &path) || kept == Some(written) {
            continue;
        }
        let is_certain = match (written, kept) {
            (Value::Bool(_), Some(Value::Bool(_))) => true,
            (Value::Number(one), Some(Value::Number(other))) => one.as_f64() != other.as_f64(),
            _ => false,
        };
        let found = if is_certain { &mut found.certain } else { &mut found.perhaps };
        found.push(Swallowed { path, written: written.clone(), kept: kept.cloned() });
    }
    Ok(found)
}

impl Unmoved {
    /// Without what others keep something in, which is told with them.
    #[must_use]
    pub fn besides(mut self, emptied: &[Emptied]) -> Self {
        self.perhaps.retain(|it| emptied.iter().all(|other| other.path != it.path));
        self
    }

    /// What no new object would have either.
    pub fn dropped_by(&self, creation: &Value) -> Vec<FieldPath> {
        let is_nowhere = |it: &&Swallowed| it.kept.is_none() && at(creation, &it.path).is_none();
        self.perhaps.iter().filter(is_nowhere).map(|it| it.path.clone()).collect()
    }

    /// What is swallowed, by what the server makes of the body as a creation.
    pub fn told_by(self, creation: &Value) -> Vec<Swallowed> {
        let is_other = |it: &Swallowed| {
            let there = at(creation, &it.path);
            there.is_some() && there != it.kept.as_ref()
        };
        let mut all = self.certain;
        all.extend(self.perhaps.into_iter().filter(is_other));
        all.sort_by(|one, other| one.path.cmp(&other.path));
        all
    }
}

/// Whether a field is one that objects of the kind have: what is written in a place that no object has
/// is kept elsewhere.
fn is_content(path: &FieldPath, answer: &Value) -> bool {
    match path.elements().first() {
        Some(PathElement::Field(first)) => {
            !NOT_CONTENT.contains(&first.as_str()) && answer.get(first.as_str()).is_some()
        }
        _ => false,
    }
}

/// What a body says that is not there in what the server makes of it: fields of a feature that is
/// not enabled, or that do not go with others. Lists are not looked into; their items have no place
/// that would stay.
pub fn dropped(sent: &Value, answer: &Value) -> Vec<FieldPath> {
    let mut found = Vec::new();
    for (name, sent) in sent.as_object().into_iter().flatten() {
        // What is written in a place that no object has is kept elsewhere.
        if let Some(answer) = answer.get(name)
            && !NOT_CONTENT.contains(&name.as_str())
            && name != "metadata"
        {
            look(sent, answer, &mut FieldPath::fields([name.as_str()]), &mut found);
        }
    }
    found
}

fn look(sent: &Value, answer: &Value, at: &mut FieldPath, found: &mut Vec<FieldPath>) {
    let (Value::Object(sent), Value::Object(answer)) = (sent, answer) else {
        return;
    };
    for (name, sent) in sent {
        at.push(PathElement::field(name));
        match answer.get(name) {
            Some(answer) => look(sent, answer, at, found),
            None if says_something(sent) => found.push(at.clone()),
            None => {}
        }
        at.pop();
    }
}

fn says_something(value: &Value) -> bool {
    match value {
        Value::Object(map) => map.values().any(says_something),
        other => !is_zero(other),
    }
}

/// The path as far as it names something: of an item that has no key, the list.
fn unplaced(path: &FieldPath) -> FieldPath {
    let is_named = |it: &&PathElement| !matches!(it, PathElement::Index(_));
    FieldPath::new(path.elements().iter().take_while(is_named).cloned())
}

/// Whether a list differs from another in its order at most, or in more than can be compared.
fn has_same_items(items: &[Value], other: Option<&Value>) -> bool {
    let other = other.and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let is_part = |it: &Value| it.is_object() || it.is_array();
    let sorted = |items: &[Value]| {
        let mut texts: Vec<_> = items.iter().map(Value::to_string).collect();
        texts.sort();
        texts
    };
    items.iter().chain(other).any(is_part) || sorted(items) == sorted(other)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// What is said of an edit of `spec`, by what the server keeps and by what it would make anew.
    fn told(before: &Value, after: &Value, kept: &Value, anew: &Value) -> Vec<String> {
        let object = |spec: &Value| json!({"spec": spec});
        let fields: serde_json::Map<_, _> =
            after.as_object().unwrap().keys().map(|key| (format!("f:{key}"), json!({}))).collect();
        let live = json!({"spec": kept, "metadata": {"managedFields": [{"manager": "us",
            "operation": "Apply", "apiVersion": "v1", "fieldsV1": {"f:spec": fields}}]}});
        let (before, after) = (object(before), object(after));
        let edit = Edit { before: &before, after: &after, sent: &after };
        let found = unmoved(edit, &live, &live, "us").unwrap();
        found.told_by(&object(anew)).iter().map(|it| it.path.shown()).collect()
    }

    #[test]
    fn an_edit_that_the_server_drops_is_told_from_another_spelling() {
        let (old, new) = (json!({"a": "x", "l": ["p"]}), json!({"a": "y", "l": ["p", "q"]}));
        assert_eq!(told(&old, &new, &old, &new), ["spec.a", "spec.l"]);
        // What comes out as the object has it, is what the object has.
        let (old, new) = (json!({"cpu": "1000m"}), json!({"cpu": "1"}));
        assert_eq!(told(&old, &new, &new, &new), [""; 0]);
        let (old, new) = (json!({"cpu": "1"}), json!({"cpu": "1000m"}));
        assert_eq!(told(&old, &new, &old, &old), [""; 0]);
    }

    #[test]
    fn an_order_that_the_server_keeps_is_no_lost_edit() {
        let (old, new) = (json!({"l": ["p", "q"]}), json!({"l": ["q", "p"]}));
        assert_eq!(told(&old, &new, &old, &new), [""; 0]);
    }

    #[test]
    fn a_number_has_no_other_spelling() {
        let (old, new) = (json!({"a": 3, "b": true}), json!({"a": 5, "b": false}));
        assert_eq!(told(&old, &new, &old, &old), ["spec.a", "spec.b"]);
        let (old, new) = (json!({"a": 3}), json!({"a": 3.0}));
        assert_eq!(told(&old, &new, &old, &old), [""; 0]);
    }

    #[test]
    fn what_was_added_and_is_not_there_is_swallowed_too() {
        let (old, new) = (json!({"a": "x"}), json!({"a": "x", "b": "y", "c": false}));
        assert_eq!(told(&old, &new, &old, &new), ["spec.b"]);
    }

    #[test]
    fn what_a_body_says_and_no_object_has_is_dropped() {
        let sent = json!({"metadata": {"x": 1}, "stringData": {"a": "b"}, "spec": {
            "source": {"kind": "a"}, "off": false, "empty": {"a": {}}, "list": [{"a": 1}], "b": 1}});
        let answer = json!({"metadata": {}, "data": {}, "spec": {"b": 1, "list": [{}]}});
        let shown: Vec<_> = dropped(&sent, &answer).iter().map(FieldPath::shown).collect();
        assert_eq!(shown, ["spec.source"]);
    }

    #[test]
    fn what_is_left_to_others_is_no_edit() {
        let before = json!({"spec": {"a": 1}});
        let after = json!({"spec": {"a": 2}, "status": {"b": 1}, "stringData": {"c": "d"}});
        let edit = Edit { before: &before, after: &after, sent: &before };
        let found = unmoved(edit, &before, &before, "us").unwrap();
        assert_eq!(found, Unmoved::default());
    }
}
