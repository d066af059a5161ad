//! The body that an import writes for an object that it found: the chosen fields, as a person
//! would have written them.
//!
//! What only the server writes is left out, and so are the marks that tools leave behind for
//! themselves. Defaults are taken along where all fields are chosen: after the import they are the
//! user's, who may drop them.

use serde_json::{Map, Value};

use crate::field::{FieldSet, PathElement};
use crate::identity::{Gvk, is_reserved};
use crate::import_id::{Chosen, SecretValues};
use crate::manifest::{SERVER_METADATA, written};
use crate::owners::Owners;
use crate::secrecy::LAST_APPLIED;

/// Annotations that a tool or a controller keeps for itself and rewrites at will. The first holds
/// the whole object, values of a Secret included.
const MARKS: [&str; 2] = [LAST_APPLIED, "deployment.kubernetes.io/revision"];

/// Nobody of the name that was asked for holds a field; these do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoSuchManager {
    pub managers: Vec<String>,
}

/// The body for the chosen fields of a live object.
pub fn body(
    live: &Value,
    gvk: &Gvk,
    owners: &Owners,
    chosen: &Chosen,
    values: SecretValues,
) -> Result<String, NoSuchManager> {
    let fields = match chosen {
        Chosen::All => live.clone(),
        Chosen::Unowned => {
            let held =
                owners.0.iter().fold(FieldSet::default(), |all, owner| all.union(&owner.fields));
            without(live, &held).unwrap_or_default()
        }
        Chosen::HeldBy(name) => {
            let theirs: Vec<_> =
                owners.0.iter().filter(|owner| owner.manager.name == *name).collect();
            if theirs.is_empty() {
                let mut managers: Vec<_> =
                    owners.0.iter().map(|owner| owner.manager.name.clone()).collect();
                managers.sort();
                managers.dedup();
                return Err(NoSuchManager { managers });
            }
            let held =
                theirs.iter().fold(FieldSet::default(), |all, owner| all.union(&owner.fields));
            only(live, &held)
        }
    };
    Ok(written(&Value::Object(clean(fields, live, gvk, values))))
}

/// The fields of a set, with the key fields of the items they stand in.
pub(crate) fn only(value: &Value, set: &FieldSet) -> Value {
    if set.is_leaf() && set.is_member() {
        return value.clone();
    }
    match value {
        Value::Object(map) => {
            let kept = map.iter().filter_map(|(name, field)| {
                let below = set.child(&PathElement::field(name.as_str()))?;
                Some((name.clone(), only(field, below)))
            });
            Value::Object(kept.collect())
        }
        Value::Array(items) => {
            let kept = items.iter().enumerate().filter_map(|(n, item)| {
                let (element, below) = item_of(set, value, n)?;
                Some(with_key(only(item, below), element, item))
            });
            Value::Array(kept.collect())
        }
        scalar => scalar.clone(),
    }
}

/// What a set does not hold; `None` if it holds everything.
fn without(value: &Value, set: &FieldSet) -> Option<Value> {
    if set.is_leaf() && set.is_member() {
        return None;
    }
    match value {
        Value::Object(map) if !map.is_empty() => {
            let rest: Map<_, _> = map
                .iter()
                .filter_map(|(name, field)| {
                    let rest = match set.child(&PathElement::field(name.as_str())) {
                        Some(below) => without(field, below)?,
                        None => field.clone(),
                    };
                    Some((name.clone(), rest))
                })
                .collect();
            (!rest.is_empty()).then_some(Value::Object(rest))
        }
        Value::Array(items) if !items.is_empty() => {
            let rest: Vec<_> = items
                .iter()
                .enumerate()
                .filter_map(|(n, item)| match item_of(set, value, n) {
                    Some((element, below)) => {
                        // The key fields alone say nothing that is not held.
                        let rest = without(item, below).filter(|rest| !is_key(rest, element))?;
                        Some(with_key(rest, element, item))
                    }
                    None => Some(item.clone()),
                })
                .collect();
            (!rest.is_empty()).then_some(Value::Array(rest))
        }
        other => Some(other.clone()),
    }
}

/// The element of a set that stands for the item of a list.
fn item_of<'a>(
    set: &'a FieldSet,
    list: &Value,
    n: usize,
) -> Option<(&'a PathElement, &'a FieldSet)> {
    let item = list.get(n)?;
    set.children().find(|(element, _)| match element {
        PathElement::Index(index) => *index == n,
        element => crate::field::walk::step(&Value::Array(vec![item.clone()]), element).is_some(),
    })
}

/// Whether an item holds key fields and nothing else.
fn is_key(item: &Value, element: &PathElement) -> bool {
    match (element, item) {
        (PathElement::Key(fields), Value::Object(map)) => {
            map.keys().all(|name| fields.iter().any(|(key, _)| key == name))
        }
        _ => false,
    }
}

/// An item of a keyed list is nothing without its key.
fn with_key(mut item: Value, element: &PathElement, live: &Value) -> Value {
    if let (PathElement::Key(fields), Value::Object(map)) = (element, &mut item) {
        for (name, _) in fields.iter() {
            if let Some(value) = live.get(name) {
                map.insert(name.clone(), value.clone());
            }
        }
    }
    item
}

fn clean(fields: Value, live: &Value, gvk: &Gvk, values: SecretValues) -> Map<String, Value> {
    let mut object = match fields {
        Value::Object(object) => object,
        _ => Map::new(),
    };
    object.remove("status");
    if gvk.is_secret() && values == SecretValues::LeftOut {
        object.remove("data");
        object.remove("stringData");
    }
    let mut metadata = match object.remove("metadata") {
        Some(Value::Object(metadata)) => metadata,
        _ => Map::new(),
    };
    for name in SERVER_METADATA.into_iter().chain(["generateName"]) {
        metadata.remove(name);
    }
    for map in ["annotations", "labels"] {
        if let Some(Value::Object(keys)) = metadata.get_mut(map) {
            keys.retain(|key, _| !MARKS.contains(&key.as_str()) && !is_reserved(key));
            if keys.is_empty() {
                metadata.remove(map);
            }
        }
    }
    for name in ["name", "namespace"] {
        if let Some(value) = live["metadata"].get(name) {
            metadata.insert(name.to_owned(), value.clone());
        }
    }
    object.insert("metadata".into(), Value::Object(metadata));
    object.insert("apiVersion".into(), gvk.api_version().into());
    object.insert("kind".into(), gvk.kind.as_str().into());
    object.values_mut().for_each(drop_null_creation_timestamps);
    object
}

/// Templates within an object carry the timestamp of an object that was never made.
fn drop_null_creation_timestamps(value: &mut Value) {
    match value {
        Value::Object(map) => {
            if map.get("creationTimestamp").is_some_and(Value::is_null) {
                map.remove("creationTimestamp");
            }
            map.values_mut().for_each(drop_null_creation_timestamps);
        }
        Value::Array(items) => items.iter_mut().for_each(drop_null_creation_timestamps),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::manifest::Manifest;

    fn live() -> Value {
        json!({
            "apiVersion": "apps/v1", "kind": "Deployment",
            "metadata": {
                "name": "web", "namespace": "shop", "uid": "u", "resourceVersion": "7",
                "generation": 2, "creationTimestamp": "2026-01-01T00:00:00Z",
                "annotations": {"kubectl.kubernetes.io/last-applied-configuration": "{}"},
                "managedFields": [
                    {"manager": "kubectl", "operation": "Apply", "apiVersion": "apps/v1",
                     "fieldsV1": {"f:spec": {"f:template": {"f:spec": {"f:containers": {
                        "k:{\"name\":\"web\"}": {".": {}, "f:name": {}, "f:image": {}}}}}}},
                    },
                    {"manager": "hpa", "operation": "Update", "apiVersion": "apps/v1",
                     "fieldsV1": {"f:spec": {"f:replicas": {}}}},
                ],
            },
            "spec": {
                "replicas": 3,
                "template": {
                    "metadata": {"creationTimestamp": null},
                    "spec": {"containers": [
                        {"name": "web", "image": "nginx", "imagePullPolicy": "Always"},
                    ]},
                },
            },
            "status": {"replicas": 3},
        })
    }

    fn imported(chosen: &Chosen) -> Result<String, NoSuchManager> {
        let live = live();
        let owners = Owners::of_object(&live).unwrap();
        let gvk = Gvk::new("apps/v1", "Deployment");
        body(&live, &gvk, &owners, chosen, SecretValues::LeftOut)
    }

    #[test]
    fn all_fields_come_clean_and_in_order() {
        assert_eq!(
            imported(&Chosen::All).unwrap(),
            "apiVersion: apps/v1\n\
             kind: Deployment\n\
             metadata:\n  name: web\n  namespace: shop\n\
             spec:\n  replicas: 3\n  template:\n    metadata: {}\n    spec:\n      containers:\n      \
             - image: nginx\n        imagePullPolicy: Always\n        name: web\n"
        );
    }

    #[test]
    fn reserved_annotations_and_labels_are_left_out() {
        let mut live = live();
        live["metadata"]["annotations"][crate::identity::ID_ANNOTATION] = json!("0f3a");
        live["metadata"]["labels"] = json!({"k8sconnect.terraform.io/team": "a", "app": "web"});
        let gvk = Gvk::new("apps/v1", "Deployment");
        let (owners, values) = (Owners::default(), SecretValues::LeftOut);
        let text = body(&live, &gvk, &owners, &Chosen::All, values).unwrap();
        let manifest = Manifest::parse(&text).unwrap();
        assert_eq!(manifest.value()["metadata"]["labels"], json!({"app": "web"}));
        assert!(manifest.value()["metadata"].get("annotations").is_none());
    }

    #[test]
    fn one_managers_fields_are_its_own_alone() {
        let body = imported(&Chosen::HeldBy("kubectl".into())).unwrap();
        let body = Manifest::parse(&body).unwrap();
        assert_eq!(
            body.value()["spec"],
            json!({"template": {"spec": {"containers": [{"name": "web", "image": "nginx"}]}}})
        );
    }

    #[test]
    fn unowned_fields_come_with_the_keys_of_their_items() {
        let body = Manifest::parse(&imported(&Chosen::Unowned).unwrap()).unwrap();
        let containers = &body.value()["spec"]["template"]["spec"]["containers"];
        assert_eq!(*containers, json!([{"name": "web", "imagePullPolicy": "Always"}]));
        assert!(body.value()["spec"].get("replicas").is_none());
    }

    #[test]
    fn a_manager_that_holds_nothing_is_answered_with_those_that_do() {
        let none = imported(&Chosen::HeldBy("helm".into())).unwrap_err();
        assert_eq!(none.managers, ["hpa", "kubectl"]);
    }

    #[test]
    fn values_of_a_secret_come_only_when_asked_for() {
        let live = json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "keys"},
            "type": "Opaque", "data": {"a": "aHVudGVyMg=="}});
        let gvk = Gvk::new("v1", "Secret");
        let text = |values| body(&live, &gvk, &Owners::default(), &Chosen::All, values).unwrap();
        assert!(!text(SecretValues::LeftOut).contains("aHVudGVyMg"));
        assert!(text(SecretValues::Taken).contains("aHVudGVyMg"));
    }
}
