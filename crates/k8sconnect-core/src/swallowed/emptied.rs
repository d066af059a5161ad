//! Fields that a body says are empty, and in which others hold something.
//!
//! A `null`, `{}` or `[]` empties what is one value, and nothing that parts of belong to others: the
//! server keeps those, without a word.

use serde_json::Value;

use super::{Edit, is_content};
use crate::field::fields_v1::FieldsV1Error;
use crate::field::walk::{at, at_written, step, step_written};
use crate::field::{FieldPath, FieldSet, PathElement};
use crate::ignore::Ignoring;
use crate::owners::{Manager, Owners};

/// A field that was emptied and is not empty.
#[derive(Clone, Debug, PartialEq)]
pub struct Emptied {
    pub path: FieldPath,
    pub written: Value,
    /// What others hold of it.
    pub kept: Value,
    pub holders: Vec<Manager>,
}

/// What an edit empties, and others keep something in. Whatever a new object would have there as
/// well (`anew`, if that is known) is what an empty field asks for, whoever holds it.
pub fn emptied(
    edit: Edit<'_>,
    answer: &Value,
    anew: Option<&Value>,
    manager: &str,
    ignoring: &Ignoring,
) -> Result<Vec<Emptied>, FieldsV1Error> {
    let owners = Owners::of_object(answer)?;
    let ours = owners.applied_by(manager);
    let mut places = Vec::new();
    empties(edit.after, Some(&ours), &mut FieldPath::default(), &mut places);
    places.retain(|(path, written)| {
        is_content(path, answer)
            && at_written(edit.before, path) != Some(*written)
            && at_written(edit.sent, path).is_some()
    });
    if places.is_empty() {
        return Ok(Vec::new());
    }
    // What was written before is told field by field, and so is whatever is written besides.
    let is_news = |leaf: &FieldPath| {
        let kept = at(answer, leaf);
        kept.is_some()
            && !ours.contains(leaf)
            && at_written(edit.before, leaf).is_none()
            && anew.is_none_or(|anew| at(anew, leaf) != kept)
    };
    // Who writes through `status` reports what is, and asks for nothing.
    let others = owners.others(manager).filter(|other| other.manager.subresource != "status");
    let others: Vec<_> = others
        .map(|other| (&other.manager, ignoring.rest(other.fields.clone(), answer).leaves()))
        .collect();
    let found = places.into_iter().filter_map(|(path, written)| {
        let depth = path.elements().len();
        let mut holders = Vec::new();
        let mut parts = Vec::new();
        for (manager, leaves) in &others {
            let inside = leaves.iter().filter(|leaf| leaf.starts_with(&path) && **leaf != path);
            let before = parts.len();
            parts.extend(inside.filter(|leaf| is_news(leaf)).map(|leaf| &leaf.elements()[depth]));
            if parts.len() > before {
                holders.push((*manager).clone());
            }
        }
        let kept = only(at(answer, &path)?, &parts);
        (!holders.is_empty()).then(|| Emptied { path, written: written.clone(), kept, holders })
    });
    Ok(found.collect())
}

/// Where a body has nothing in a place that it names. Items are named by what is recorded of them.
fn empties<'v>(
    written: &'v Value,
    fields: Option<&FieldSet>,
    path: &mut FieldPath,
    found: &mut Vec<(FieldPath, &'v Value)>,
) {
    let mut look = |element: &PathElement, value: &'v Value| {
        path.push(element.clone());
        empties(value, fields.and_then(|fields| fields.child(element)), path, found);
        path.pop();
    };
    match written {
        Value::Object(map) if !map.is_empty() => {
            map.iter().for_each(|(name, value)| look(&PathElement::field(name), value));
        }
        Value::Array(items) if !items.is_empty() => {
            let keys = fields.into_iter().flat_map(FieldSet::children).map(|(element, _)| element);
            for key in keys.filter(|element| matches!(element, PathElement::Key(_))) {
                if let Some(item) = step_written(written, key) {
                    look(key, item);
                }
            }
        }
        Value::Null | Value::Object(_) | Value::Array(_) => found.push((path.clone(), written)),
        _ => {}
    }
}

/// A map or a list with these entries alone.
fn only(value: &Value, entries: &[&PathElement]) -> Value {
    match value {
        Value::Object(map) => {
            let is_meant = |name: &str| entries.contains(&&PathElement::field(name));
            let kept = map.iter().filter(|(name, _)| is_meant(name));
            Value::Object(kept.map(|(name, value)| (name.clone(), value.clone())).collect())
        }
        Value::Array(items) => {
            let meant: Vec<_> = entries.iter().filter_map(|it| step(value, it)).collect();
            let is_meant = |item: &&Value| meant.iter().any(|it| std::ptr::eq(*it, *item));
            Value::Array(items.iter().filter(is_meant).cloned().collect())
        }
        other => other.clone(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// What is kept of a pod by whom, after an edit.
    fn kept(before: Value, after: Value, answer: &Value, anew: Option<Value>) -> Vec<String> {
        let pod = |spec: Value| json!({"spec": spec, "status": {}});
        let (before, after, anew) = (pod(before), pod(after), anew.map(pod));
        let edit = Edit { before: &before, after: &after, sent: &after };
        let found = emptied(edit, answer, anew.as_ref(), "us", &Ignoring::default()).unwrap();
        let told = |it: &Emptied| {
            let holders: Vec<_> = it.holders.iter().map(|it| it.name.as_str()).collect();
            format!("{} {} {}", it.path, it.kept, holders.join(" "))
        };
        found.iter().map(told).collect()
    }

    fn answer() -> Value {
        let entry = |name: &str, subresource: &str, spec: Value| {
            json!({"manager": name, "operation": "Apply", "apiVersion": "v1",
                "subresource": subresource, "fieldsV1": {"f:spec": spec}})
        };
        let theirs = json!({"f:map": {"f:b": {}}, "f:items":
            {"k:{\"name\":\"x\"}": {"f:env": {"k:{\"name\":\"E\"}": {".": {}, "f:name": {}}}}}});
        let ours = json!({"f:map": {}, "f:items": {"k:{\"name\":\"x\"}": {"f:name": {}}}});
        json!({"status": {}, "spec": {"map": {"a": 1, "b": 2, "c": 3}, "default": {"d": 4},
                "items": [{"name": "x", "env": [{"name": "D"}, {"name": "E"}]}]},
            "metadata": {"managedFields": [entry("us", "", ours), entry("rival", "", theirs),
                entry("controller", "status", json!({"f:map": {"f:c": {}}}))]}})
    }

    #[test]
    fn what_others_hold_in_an_emptied_field_is_found_and_no_default() {
        let emptied = json!({"map": null, "default": null, "items": [{"name": "x", "env": []}]});
        let before = json!({"items": [{"name": "x"}]});
        let env = r#"spec.items[name=x].env [{"name":"E"}] rival"#;
        let all = [env, r#"spec.map {"b":2} rival"#];
        assert_eq!(kept(before.clone(), emptied.clone(), &answer(), None), all);
        let anew = Some(json!({"map": {"b": 2}}));
        assert_eq!(kept(before, emptied.clone(), &answer(), anew), [env], "a new one has it too");
        assert_eq!(kept(emptied.clone(), emptied, &answer(), None), [""; 0], "nothing is new");
    }

    #[test]
    fn what_was_written_before_is_left_to_what_is_said_of_removed_fields() {
        let (before, after) = (json!({"map": {"b": 2}}), json!({"map": {}}));
        assert_eq!(kept(before, after, &answer(), None), [""; 0]);
        let (before, after) = (json!({"map": {"a": 1}}), json!({"map": {}}));
        assert_eq!(kept(before, after, &answer(), None), [r#"spec.map {"b":2} rival"#]);
    }
}
