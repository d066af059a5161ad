//! Where a body differs from another.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::field::walk::written_index;
use crate::field::{FieldPath, FieldSet, PathElement};

/// Where a body differs from the former one. Items are named by their keys where `fields`, which the
/// server recorded for the former one, tell them. A list in which items come or go is named as a
/// whole.
pub fn changed(before: &Value, after: &Value, fields: &FieldSet) -> Vec<FieldPath> {
    let mut found = Vec::new();
    differences(before, after, Some(fields), &mut FieldPath::default(), &mut found);
    found
}

fn differences(
    before: &Value,
    after: &Value,
    fields: Option<&FieldSet>,
    at: &mut FieldPath,
    found: &mut Vec<FieldPath>,
) {
    let mut look = |element: PathElement, before: &Value, after: &Value| {
        let below = fields.and_then(|fields| fields.child(&element));
        at.push(element);
        differences(before, after, below, at, found);
        at.pop();
    };
    match (before, after) {
        (Value::Object(before), Value::Object(after)) => {
            let names: BTreeSet<_> = before.keys().chain(after.keys()).collect();
            for name in names {
                let side = |map: &serde_json::Map<String, Value>| map.get(name).cloned();
                let (before, after) = (side(before), side(after));
                let element = PathElement::field(name);
                look(element, &before.unwrap_or_default(), &after.unwrap_or_default());
            }
        }
        (Value::Array(old), Value::Array(new)) if old.len() == new.len() => {
            for (place, (old, new)) in old.iter().zip(new).enumerate() {
                let is_there = |list: &Value, key: &PathElement| {
                    written_index(list, key).is_some_and(|index| index == place)
                };
                let keys = fields.into_iter().flat_map(FieldSet::children).map(|(key, _)| key);
                let mut keys = keys.filter(|key| matches!(key, PathElement::Key(_)));
                let key = keys.find(|key| is_there(before, key) && is_there(after, key));
                look(key.cloned().unwrap_or(PathElement::Index(place)), old, new);
            }
        }
        (before, after) if before == after => {}
        _ => found.push(at.clone()),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_was_changed_is_named_by_its_leaves_and_items_by_their_keys() {
        let body = |image: &str, port: u16| json!([{"image": image}, {"name": "a", "ports": [{"containerPort": port}, port]}]);
        let before = json!({"spec": {"a": 1, "items": body("x", 1), "list": [1]}});
        let after = json!({"spec": {"b": 2, "items": body("y", 2), "list": [1, 2]}});
        let shown = |fields: &FieldSet| -> Vec<_> {
            changed(&before, &after, fields).iter().map(FieldPath::shown).collect()
        };
        assert_eq!(
            shown(&FieldSet::default())[2..],
            [
                "spec.items[0].image",
                "spec.items[1].ports[0].containerPort",
                "spec.items[1].ports[1]",
                "spec.list"
            ]
        );
        let known: FieldPath = "spec.items[name=a].ports".parse().unwrap();
        assert_eq!(
            shown(&FieldSet::from_iter([known])),
            [
                "spec.a",
                "spec.b",
                "spec.items[0].image",
                "spec.items[name=a].ports[0].containerPort",
                "spec.items[name=a].ports[1]",
                "spec.list"
            ]
        );
        assert_eq!(changed(&after, &after, &FieldSet::default()), []);
    }
}
