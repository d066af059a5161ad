//! A JSON patch that replaces the changed top-level fields of an object instead of merging them.
//!
//! An apply merges: fields of other managers and defaults of the server stay. The combination may be refused
//! where the body alone is fine, such as `type: Recreate` beside the `rollingUpdate` that the server filled
//! in. A dry-run of this patch shows the difference. Not here: what follows from its answer
//! (`immutability`). The patch is never written.

use serde_json::{Value, json};

use crate::changed::changed;
use crate::field::fields_v1::FieldsV1Error;
use crate::field::walk::{at, at_written};
use crate::field::{FieldPath, FieldSet};
use crate::owners::{Manager, Owners};
use crate::pointer::Pointer;

#[derive(Clone, Debug, PartialEq)]
pub struct Overlay {
    pub operations: Vec<Value>,
    /// The fields that the operations replace.
    parts: Vec<FieldPath>,
}

/// A field that the body does not have, with those who own it.
#[derive(Clone, Debug, PartialEq)]
pub struct OthersField {
    pub path: FieldPath,
    pub managers: Vec<Manager>,
}

impl Overlay {
    /// Replaces what changes between two bodies of an object. `None` if nothing can be replaced.
    pub fn of(live: &Value, before: &Value, body: &Value) -> Option<Self> {
        let mut parts: Vec<_> = changed(before, body, &FieldSet::default())
            .iter()
            .filter_map(top_level)
            .filter(|part| at(body, part).is_some() || at(live, part).is_some())
            .collect();
        parts.sort();
        parts.dedup();
        let operation = |part: &FieldPath| {
            let pointer = Pointer(part.names().map(ToOwned::to_owned).collect()).to_string();
            match at(body, part) {
                Some(value) => json!({"op": "add", "path": pointer, "value": value}),
                None => json!({"op": "remove", "path": pointer}),
            }
        };
        let operations: Vec<_> = parts.iter().map(operation).collect();
        if parts.is_empty() { None } else { Some(Self { operations, parts }) }
    }

    /// The fields of other managers that it removes, because the body does not have them.
    pub fn removed(
        &self,
        live: &Value,
        body: &Value,
        manager: &str,
    ) -> Result<Vec<OthersField>, FieldsV1Error> {
        let owners = Owners::of_object(live)?;
        let is_removed = |path: &FieldPath| {
            self.parts.iter().any(|part| path.starts_with(part))
                && at(live, path).is_some()
                && at_written(body, path).is_none()
        };
        let mut found: Vec<OthersField> = Vec::new();
        for other in owners.others(manager) {
            for path in other.fields.leaves().into_iter().filter(is_removed) {
                match found.iter_mut().find(|it| it.path == path) {
                    Some(known) => known.managers.push(other.manager.clone()),
                    None => found.push(OthersField { path, managers: vec![other.manager.clone()] }),
                }
            }
        }
        found.sort_by(|one, other| one.path.cmp(&other.path));
        Ok(found)
    }
}

/// The top-level field around a change; of `metadata` the field in it, because the server owns others there.
fn top_level(changed: &FieldPath) -> Option<FieldPath> {
    let names: Vec<_> = changed.names().collect();
    match names.as_slice() {
        [] | ["metadata"] | ["apiVersion" | "kind" | "status", ..] => None,
        ["metadata", name, ..] => Some(FieldPath::fields(["metadata", *name])),
        [name, ..] => Some(FieldPath::fields([*name])),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn add(path: &str, value: &Value) -> Value {
        json!({"op": "add", "path": path, "value": value})
    }

    #[test]
    fn a_changed_top_level_field_is_replaced_as_a_whole() {
        let live = json!({"metadata": {"labels": {"a": "b"}, "uid": "1"}, "immutable": true,
            "spec": {"strategy": {"type": "Rolling", "rolling": {}}, "ports": [{"port": 1}]}});
        let before =
            json!({"metadata": {}, "spec": {"strategy": {"type": "Rolling"}}, "immutable": true});
        let recreate = json!({"strategy": {"type": "Recreate"}});
        let body =
            json!({"metadata": {"labels": {"c": "d"}}, "spec": recreate, "status": {"a": 1}});
        let overlay = Overlay::of(&live, &before, &body).unwrap();
        let remove = json!({"op": "remove", "path": "/immutable"});
        let labels = add("/metadata/labels", &json!({"c": "d"}));
        let mut expected = vec![remove, labels, add("/spec", &recreate)];
        let mut operations = overlay.operations;
        for list in [&mut expected, &mut operations] {
            list.sort_by_key(|it| it["path"].to_string());
        }
        assert_eq!(operations, expected);
        assert_eq!(Overlay::of(&live, &before, &before), None);
    }

    #[test]
    fn fields_that_others_own_and_the_body_does_not_have_are_listed_with_their_managers() {
        let entry = |manager: &str, fields: &Value| json!({"manager": manager, "operation": "Apply", "apiVersion": "v1", "fieldsV1": fields});
        let key = r#"k:{"name":"a"}"#;
        let item =
            |field: &str| json!({"f:list": {key: {".": {}, "f:name": {}, field: {}}}, "f:max": {}});
        let live = json!({
            "metadata": {"labels": {"a": "b"}, "managedFields": [
                entry("k8sconnect", &json!({"f:spec": item("f:size")})),
                entry("rival", &json!({"f:spec": item("f:value"), "f:metadata": {"f:labels": {"f:a": {}}}})),
            ]},
            "spec": {"list": [{"name": "a", "value": "v", "size": 1}], "max": 1}});
        let body = json!({"spec": {"list": [{"name": "a", "size": 2}], "min": 1}});
        let overlay = Overlay::of(&live, &json!({}), &body).unwrap();
        let removed = overlay.removed(&live, &body, "k8sconnect").unwrap();
        let shown: Vec<_> = removed.iter().map(|it| (it.path.shown(), it.managers.len())).collect();
        let expected = ["spec.list[name=a].value", "spec.max"];
        assert_eq!(shown, expected.map(|it| (it.to_owned(), 1)));
    }
}
