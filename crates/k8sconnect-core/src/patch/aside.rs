//! What a patch does, or fails to do, beside what its leaves tell.
//!
//! A merge patch that removes a field of a map which is not there leaves an empty map behind. A list
//! that is applied empty, and merged by its items, asks for nothing. And finalizers decide whether
//! the object goes.

use serde_json::Value;

use super::outcome::Written;
use super::{Form, Patch};
use crate::field::fields_v1::FieldsV1Error;
use crate::field::walk::{at, step_written};
use crate::field::{FieldPath, FieldSet, PathElement};
use crate::owners::Owners;
use crate::projection::is_empty_map;

/// Finalizers that come and go with a patch.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Finalizers {
    pub added: Vec<String>,
    pub removed: Vec<String>,
}

impl Finalizers {
    pub fn between(live: &Value, answer: &Value) -> Self {
        let (before, after) = (finalizers(live), finalizers(answer));
        let only = |these: &[String], those: &[String]| {
            these.iter().filter(|it| !those.contains(it)).cloned().collect()
        };
        Self { added: only(&after, &before), removed: only(&before, &after) }
    }
}

/// Lists that are merged by their items, and of which a patch names none.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Unheard {
    /// Those that have items all the same.
    pub full: Vec<FieldPath>,
    pub empty: Vec<FieldPath>,
}

fn finalizers(object: &Value) -> Vec<String> {
    let list = object["metadata"]["finalizers"].as_array().into_iter().flatten();
    list.filter_map(Value::as_str).map(ToOwned::to_owned).collect()
}

impl Patch {
    /// Empty maps where there was nothing, which only came to be because something in them was to
    /// be removed.
    pub fn hollow(&self, live: &Value, answer: &Value) -> Vec<FieldPath> {
        let mut found = Vec::new();
        if let Form::Merge(value) = &self.form {
            hollow(value, (live, answer), &mut FieldPath::default(), &mut found);
        }
        found
    }

    /// Lists that were written empty and that the write does not make ours.
    pub fn unheard(&self, answer: Written<'_>) -> Result<Unheard, FieldsV1Error> {
        let Form::Apply(manifest) = &self.form else {
            return Ok(Unheard::default());
        };
        let ours = Owners::of_object(answer.object)?.applied_by(answer.manager);
        let mut found = Vec::new();
        empty_lists(&manifest.as_applied(), Some(&ours), &mut FieldPath::default(), &mut found);
        let has_items = |path: &FieldPath| {
            at(answer.object, path).and_then(Value::as_array).is_some_and(|it| !it.is_empty())
        };
        let (full, empty) = found.into_iter().partition(has_items);
        Ok(Unheard { full, empty })
    }
}

fn hollow(
    written: &Value,
    (live, answer): (&Value, &Value),
    path: &mut FieldPath,
    found: &mut Vec<FieldPath>,
) {
    let Some(map) = written.as_object().filter(|map| !map.is_empty()) else {
        return;
    };
    if at(live, path).is_none() && at(answer, path).is_some_and(is_empty_map) {
        found.push(path.clone());
        return;
    }
    for (name, below) in map {
        path.push(PathElement::field(name.clone()));
        hollow(below, (live, answer), path, found);
        path.pop();
    }
}

/// The empty lists in what was written of which nothing came to be ours: one that is held as a whole
/// does.
fn empty_lists(
    written: &Value,
    ours: Option<&FieldSet>,
    path: &mut FieldPath,
    found: &mut Vec<FieldPath>,
) {
    match written {
        Value::Object(map) => {
            for (name, below) in map {
                let element = PathElement::field(name.clone());
                let held = ours.and_then(|ours| ours.child(&element));
                path.push(element);
                empty_lists(below, held, path, found);
                path.pop();
            }
        }
        Value::Array(items) if items.is_empty() && ours.is_none() => found.push(path.clone()),
        Value::Array(_) => {
            for (element, held) in ours.into_iter().flat_map(FieldSet::children) {
                if let Some(item) = step_written(written, element) {
                    path.push(element.clone());
                    empty_lists(item, Some(held), path, found);
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
    use super::*;
    use crate::identity::{Gvk, ObjectKey};

    fn read(manner: Manner, text: &str) -> Patch {
        let gvk = Gvk::new("apps/v1", "Deployment");
        let key = ObjectKey { gvk, namespace: Some("shop".into()), name: "web".into() };
        Patch::read(manner, text, key).unwrap()
    }

    fn shown(paths: &[FieldPath]) -> Vec<String> {
        paths.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_map_that_is_only_there_for_a_removal_is_known() {
        let patch = read(Manner::Merge, "spec: {none: {a: null}, some: {a: null}, new: {}}");
        let live = json!({"spec": {"some": {"a": 1}}});
        let answer = json!({"spec": {"some": {}, "none": {}, "new": {}}});
        assert_eq!(shown(&patch.hollow(&live, &answer)), ["spec.none"]);
    }

    #[test]
    fn an_empty_list_that_took_nothing_away_or_asks_for_nothing_is_known() {
        let text = "spec: {tolerations: [], containers: [{name: web, env: [], ports: []}]}";
        let patch = read(Manner::Apply, text);
        let answer = json!({
            "metadata": {"managedFields": [{"manager": "us", "operation": "Apply",
                "apiVersion": "apps/v1", "fieldsV1": {"f:spec": {"f:tolerations": {},
                    "f:containers": {"k:{\"name\":\"web\"}": {".": {}, "f:name": {}}}}}}]},
            "spec": {"tolerations": [], "containers": [{"name": "web", "env": [{"name": "A"}]}]}});
        let unheard = patch.unheard(Written { object: &answer, manager: "us" }).unwrap();
        assert_eq!(shown(&unheard.full), ["spec.containers[name=web].env"]);
        assert_eq!(shown(&unheard.empty), ["spec.containers[name=web].ports"]);
    }

    #[test]
    fn finalizers_are_told_apart() {
        let object = |list: &[&str]| json!({"metadata": {"finalizers": list}});
        let change = Finalizers::between(&object(&["a", "b"]), &object(&["b", "c"]));
        assert_eq!((change.added, change.removed), (vec!["c".into()], vec!["a".into()]));
    }
}
