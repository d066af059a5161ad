//! What comes of a `null` in a partial object, and of a zero.
//!
//! The server keeps a null where a field may be null or has no schema, and then it is a value like any
//! other. It takes a field away that it has no room for without a value, makes an empty value or a
//! default of it, or takes no notice. The object before and after tells which.
//!
//! A zero (`paused: false`, `minReadySeconds: 0`, `value: ""`) it often does not store, and it is meant
//! all the same: whoever applied it holds the field, which is not there.

use serde_json::Value;

use super::judge::Kept;
use super::outcome::{Outcome, Written, leaf};
use super::{Form, Patch};
use crate::field::fields_v1::FieldsV1Error;
use crate::field::walk::{Items, at};
use crate::field::{FieldPath, FieldSet, PathElement};
use crate::owners::Owners;
use crate::projection::{ABSENT, Leaf, Projection};
use crate::zero;

/// How a null that is there is shown.
const NULL: &str = "null";

impl Patch {
    /// The fields that were written null and that the write took away, now or before; and those that
    /// were written as a zero, which the server does not store.
    pub fn nullified(
        &self,
        live: &Value,
        answer: Written<'_>,
        kept: Option<&Kept>,
    ) -> Result<Vec<FieldPath>, FieldsV1Error> {
        let was_there = |path: &FieldPath| {
            let kept = kept.and_then(|kept| kept.texts.get(path));
            at(live, path).is_some() || kept.is_some_and(|text| text == ABSENT)
        };
        let ours = Owners::of_object(answer.object)?.applied_by(answer.manager);
        let mut found = self.held(Value::is_null, &ours);
        found.retain(was_there);
        found.extend(self.held(is_zero, &ours));
        found.retain(|path| at(answer.object, path).is_none());
        Ok(found)
    }

    /// The fields that were written null and have another value after the write.
    pub fn undaunted(&self, answer: Written<'_>) -> Result<Vec<FieldPath>, FieldsV1Error> {
        let Form::Apply(manifest) = &self.form else {
            return Ok(vec![]);
        };
        let ours = Owners::of_object(answer.object)?.applied_by(answer.manager);
        // There a null in the `stringData` of a Secret is one in `data`, and not yet an empty value.
        let mut found = places(&manifest.to_merge_patch(), Value::is_null, &ours);
        found.retain(|(path, _)| at(answer.object, path).is_some_and(|value| !value.is_null()));
        Ok(found.into_iter().map(|(path, _)| path).collect())
    }

    /// Adds the fields of our entry that are null on an object, as they were written.
    pub(super) fn add_stored_nulls(
        &self,
        ours: &FieldSet,
        object: &Value,
        leaves: &mut Projection,
    ) {
        let mut found = self.held(Value::is_null, ours);
        found.retain(|path| at(object, path).is_some_and(Value::is_null));
        self.fill_in(found.iter(), object, leaves);
    }

    /// What stands now where nulls were kept, or took something away.
    pub(super) fn where_null_was(&self, kept: &Kept, live: &Value, leaves: &mut Projection) {
        if let Form::Apply(_) = self.form {
            let nulls = kept.texts.iter().filter(|(_, text)| *text == ABSENT || *text == NULL);
            self.fill_in(nulls.map(|(path, _)| path), live, leaves);
        }
    }

    /// What stands on an object where the outcome of a write has nothing, or a null.
    pub(super) fn where_null_comes(&self, next: &Outcome, live: &Value, leaves: &mut Projection) {
        let nulls = next.leaves.0.iter().filter(|(_, leaf)| {
            matches!(leaf, Leaf::Absent | Leaf::Shown(Value::Null) | Leaf::Concealed(Value::Null))
        });
        self.fill_in(nulls.map(|(path, _)| path), live, leaves);
    }

    fn fill_in<'a>(
        &self,
        paths: impl Iterator<Item = &'a FieldPath>,
        object: &Value,
        leaves: &mut Projection,
    ) {
        for path in paths {
            let now = || leaf(path, None, object, &self.secrecy);
            leaves.0.entry(path.clone()).or_insert_with(now);
            unname(path, leaves);
        }
    }

    /// The fields of our entry that were written so.
    fn held(&self, is_such: fn(&Value) -> bool, ours: &FieldSet) -> Vec<FieldPath> {
        let Form::Apply(manifest) = &self.form else {
            return vec![];
        };
        let found = places(&manifest.as_applied(), is_such, ours).into_iter();
        found.filter(|(_, whose)| *whose == Whose::Ours).map(|(path, _)| path).collect()
    }
}

/// Of a single value: maps and lists that are empty are leaves anyway.
fn is_zero(value: &Value) -> bool {
    !(value.is_null() || value.is_object() || value.is_array()) && zero::is_zero(value)
}

impl Outcome {
    /// With fields that are not there, because null was written.
    #[must_use]
    pub fn without(mut self, nullified: impl IntoIterator<Item = FieldPath>) -> Self {
        for path in nullified {
            if !self.leaves.0.contains_key(&path) {
                unname(&path, &mut self.leaves);
                self.leaves.0.insert(path, Leaf::Absent);
            }
        }
        self
    }

    /// The fields that are not there, as long as this object lacks them too.
    pub fn missing_in(&self, object: &Value) -> Vec<FieldPath> {
        let absent = self.leaves.0.iter().filter(|(_, leaf)| **leaf == Leaf::Absent);
        absent.map(|(path, _)| path.clone()).filter(|path| at(object, path).is_none()).collect()
    }
}

/// The key of an item stands for it only where there is nothing else to show of it, as this field.
fn unname(path: &FieldPath, leaves: &mut Projection) {
    let mut item = path.clone();
    if path.names_its_item() || item.pop().is_none() {
        return;
    }
    let of_item = leaves.0.range(&item..).take_while(|(leaf, _)| leaf.starts_with(&item));
    let is_its_name =
        |leaf: &FieldPath| leaf.names_its_item() && leaf.elements().len() == path.elements().len();
    let names: Vec<_> =
        of_item.map(|(leaf, _)| leaf).filter(|leaf| is_its_name(leaf)).cloned().collect();
    leaves.0.retain(|leaf, _| !names.contains(leaf));
}

/// Whether our entry names a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Whose {
    Ours,
    Nobodys,
}

/// Every such value in what was written.
fn places(
    written: &Value,
    is_such: fn(&Value) -> bool,
    ours: &FieldSet,
) -> Vec<(FieldPath, Whose)> {
    let mut found = Vec::new();
    collect(written, is_such, Some(ours), &mut FieldPath::default(), &mut found);
    found
}

/// One in a list that is held as a whole is a part of that.
fn collect(
    written: &Value,
    is_such: fn(&Value) -> bool,
    ours: Option<&FieldSet>,
    path: &mut FieldPath,
    found: &mut Vec<(FieldPath, Whose)>,
) {
    match written {
        value if is_such(value) => {
            let whose = if ours.is_some() { Whose::Ours } else { Whose::Nobodys };
            found.push((path.clone(), whose));
        }
        Value::Object(map) => {
            for (name, below) in map {
                let element = PathElement::field(name.clone());
                let held = ours.and_then(|ours| ours.child(&element));
                path.push(element);
                collect(below, is_such, held, path, found);
                path.pop();
            }
        }
        Value::Array(_) => {
            let Some(ours) = ours else {
                return;
            };
            let items = Items::new(written, ours);
            for (element, held) in ours.children() {
                if let Some(item) = items.step_written(element) {
                    path.push(element.clone());
                    collect(item, is_such, Some(held), path, found);
                    path.pop();
                }
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::Manner;
    use super::super::tests::read;
    use super::*;

    fn answer(spec: &Value) -> Value {
        let item = json!({".": {}, "f:name": {}, "f:args": {}, "f:image": {}});
        json!({"spec": spec, "metadata": {"managedFields": [{"manager": "us",
            "operation": "Apply", "apiVersion": "v1", "fieldsV1": {"f:spec": {"f:kept": {},
                "f:dull": {}, "f:c": {"k:{\"name\":\"app\"}": item}}}}]}})
    }

    fn shown(paths: &[FieldPath]) -> Vec<String> {
        paths.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_null_is_kept_or_takes_away_or_changes_nothing() {
        let text = "spec: {kept: null, dull: null, c: [{name: app, args: null, image: null}]}";
        let patch = read(Manner::Apply, text);
        let live = json!({"spec": {"kept": "theirs", "dull": 3,
            "c": [{"name": "app", "args": ["a"]}]}});
        let object = answer(&json!({"kept": null, "dull": 3, "c": [{"name": "app"}]}));
        let written = Written { object: &object, manager: "us" };
        assert_eq!(shown(&patch.undaunted(written).unwrap()), ["spec.dull"]);
        let nullified = patch.nullified(&live, written, None).unwrap();
        assert_eq!(shown(&nullified), ["spec.c[name=app].args"]);
        let ours = Owners::of_object(&object).unwrap().applied_by("us");
        let mut stored = Projection::default();
        patch.add_stored_nulls(&ours, &object, &mut stored);
        assert_eq!(stored.texts(None).into_values().collect::<Vec<_>>(), ["null"]);

        // It stays away for as long as the patch says so.
        let texts = nullified.iter().map(|path| (path.clone(), ABSENT.to_owned())).collect();
        let kept = Kept { texts, ..Kept::default() };
        assert_eq!(patch.nullified(&object, written, Some(&kept)).unwrap(), nullified);
        assert_eq!(patch.nullified(&object, written, None).unwrap(), []);
    }
}
