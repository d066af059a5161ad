//! FieldsV1, the API server's notation of a field set inside `metadata.managedFields`.
//!
//! `f:name` is a field, `k:{…}` an item by its key fields, `v:…` a member of a set, `i:3` a
//! position; `.` says that the node itself is a member, and so does an empty object. An element
//! that we do not know is an error, never skipped: half an ownership is a wrong one.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use serde_json::{Map, Value, json};

use super::path::PathElement;
use super::set::FieldSet;
use crate::atom::Atom;

/// An element in a notation that is not known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldsV1Error(pub String);

pub fn decode(fields: &Value) -> Result<FieldSet, FieldsV1Error> {
    let map = fields.as_object().ok_or_else(|| FieldsV1Error(fields.to_string()))?;
    let (mut member, mut children) = (false, BTreeMap::new());
    for (key, below) in map {
        if key == "." {
            if below.as_object().is_none_or(|below| !below.is_empty()) {
                return Err(FieldsV1Error(key.clone()));
            }
            member = true;
            continue;
        }
        let mut child = decode(below)?;
        if child.children.is_empty() {
            child.member = true;
        }
        // One element may be spelt in two ways, such as a number with and without a fraction.
        match children.entry(element(key)?) {
            Entry::Vacant(free) => drop(free.insert(child)),
            Entry::Occupied(mut twin) => *twin.get_mut() = FieldSet::union(twin.get(), &child),
        }
    }
    Ok(FieldSet { member, children: children.into() })
}

pub fn encode(set: &FieldSet) -> Value {
    if set.member && set.children.is_empty() {
        return json!({".": {}});
    }
    encode_below(set)
}

/// Below the root, a node that stands alone is a member by that.
fn encode_below(set: &FieldSet) -> Value {
    let mut map = Map::new();
    if set.member && !set.children.is_empty() {
        map.insert(".".into(), Value::Object(Map::new()));
    }
    for (element, child) in set.children.iter() {
        map.insert(notation(element), encode_below(child));
    }
    Value::Object(map)
}

fn element(key: &str) -> Result<PathElement, FieldsV1Error> {
    let unknown = || FieldsV1Error(key.to_owned());
    let (prefix, rest) = key.split_once(':').ok_or_else(unknown)?;
    match prefix {
        "f" => Ok(PathElement::field(rest)),
        "k" => match serde_json::from_str(rest) {
            Ok(Value::Object(fields)) => {
                Ok(PathElement::key(fields.into_iter().map(|(n, v)| (n, Atom(v))).collect()))
            }
            _ => Err(unknown()),
        },
        "v" => serde_json::from_str(rest)
            .map(|value| PathElement::Value(Atom(value)))
            .map_err(|_| unknown()),
        "i" => rest.parse().map(PathElement::Index).map_err(|_| unknown()),
        _ => Err(unknown()),
    }
}

fn notation(element: &PathElement) -> String {
    match element {
        PathElement::Field(name) => format!("f:{name}"),
        PathElement::Key(fields) => {
            let map: Map<_, _> = fields.iter().map(|(n, v)| (n.clone(), v.0.clone())).collect();
            format!("k:{}", Value::Object(map))
        }
        PathElement::Value(value) => format!("v:{}", value.0),
        PathElement::Index(index) => format!("i:{index}"),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::set::tests::any_set;
    use super::*;

    #[test]
    fn reads_what_a_server_wrote() {
        let fields = json!({
            "f:metadata": {"f:finalizers": {".": {}, "v:\"example.com/f\"": {}}},
            "f:spec": {
                "f:replicas": {},
                "f:template": {"f:spec": {"f:containers": {
                    "k:{\"name\":\"app\"}": {".": {}, "f:image": {}, "f:name": {}}
                }}}
            }
        });
        let set = decode(&fields).unwrap();
        let members: Vec<_> = set.members().iter().map(ToString::to_string).collect();
        assert_eq!(
            members,
            [
                "metadata.finalizers",
                "metadata.finalizers[=\"example.com/f\"]",
                "spec.replicas",
                "spec.template.spec.containers[name=app]",
                "spec.template.spec.containers[name=app].image",
                "spec.template.spec.containers[name=app].name",
            ]
        );
        assert_eq!(encode(&set), fields);
    }

    #[test]
    fn an_unknown_element_is_an_error() {
        assert_eq!(decode(&json!({"x:y": {}})), Err(FieldsV1Error("x:y".into())));
        assert!(decode(&json!({"f:a": "b"})).is_err());
        assert!(decode(&json!({"k:name": {}})).is_err());
    }

    #[test]
    fn nothing_that_is_recorded_is_passed_over() {
        assert!(decode(&json!({"f:a": {".": {"f:b": {}}}})).is_err());
        assert!(decode(&json!({"f:a": {".": null}})).is_err());
        let twice = decode(&json!({"v:1": {"f:a": {}}, "v:1.0": {"f:b": {}}})).unwrap();
        assert_eq!(twice.members().len(), 2, "{twice:?}");
        let whole = json!({".": {}});
        assert_eq!(encode(&decode(&whole).unwrap()), whole);
    }

    proptest! {
        #[test]
        fn what_is_written_reads_back(set in any_set()) {
            prop_assert_eq!(decode(&encode(&set)), Ok(set));
        }
    }
}
