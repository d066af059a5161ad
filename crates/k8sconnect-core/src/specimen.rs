//! Random objects for property tests: a value together with the fields that a server would record
//! for whoever applied it.

use std::collections::BTreeMap;

use proptest::prelude::*;
use serde_json::{Map, Value, json};

use crate::field::{Atom, FieldPath, FieldSet, PathElement, fields_v1};
use crate::identity::ID_ANNOTATION;

/// A part of an object, by the way in which the server merges it.
#[derive(Clone, Debug)]
pub(crate) enum Part {
    Scalar(Value),
    /// Owned as a whole.
    Atomic(Value),
    Map(BTreeMap<String, Part>),
    /// Items by `name`.
    Keyed(BTreeMap<String, BTreeMap<String, Part>>),
    Set(std::collections::BTreeSet<String>),
}

impl Part {
    pub(crate) fn value(&self) -> Value {
        match self {
            Part::Scalar(value) | Part::Atomic(value) => value.clone(),
            Part::Map(parts) => values(parts),
            Part::Keyed(items) => items
                .iter()
                .map(|(name, parts)| {
                    let mut item = values(parts);
                    item["name"] = json!(name);
                    item
                })
                .collect(),
            Part::Set(members) => members.iter().cloned().map(Value::String).collect(),
        }
    }

    /// The leaves, as paths; what an empty granular collection records is nothing.
    fn record(&self, at: &mut FieldPath, into: &mut FieldSet) {
        match self {
            Part::Scalar(_) | Part::Atomic(_) => into.insert(at),
            Part::Map(parts) if parts.is_empty() => into.insert(at),
            Part::Map(parts) => record_all(parts, at, into),
            Part::Keyed(items) => {
                for (name, parts) in items {
                    let key = [("name".to_owned(), Atom::text(name.clone()))].into();
                    at.push(PathElement::key(key));
                    into.insert(at);
                    at.push(PathElement::field("name"));
                    into.insert(at);
                    at.pop();
                    record_all(parts, at, into);
                    at.pop();
                }
            }
            Part::Set(members) => {
                for member in members {
                    at.push(PathElement::Value(Atom::text(member.clone())));
                    into.insert(at);
                    at.pop();
                }
            }
        }
    }
}

fn values(parts: &BTreeMap<String, Part>) -> Value {
    Value::Object(parts.iter().map(|(name, part)| (name.clone(), part.value())).collect())
}

fn record_all(parts: &BTreeMap<String, Part>, at: &mut FieldPath, into: &mut FieldSet) {
    for (name, part) in parts {
        at.push(PathElement::field(name.clone()));
        part.record(at, into);
        at.pop();
    }
}

/// An object that one manager applied whole.
#[derive(Clone, Debug)]
pub(crate) struct Specimen {
    pub(crate) spec: BTreeMap<String, Part>,
}

impl Specimen {
    /// What its author wrote, as YAML (JSON is YAML).
    pub(crate) fn written(&self) -> String {
        let mut value = json!({
            "apiVersion": "example.com/v1", "kind": "Thing", "metadata": {"name": "it"},
        });
        value["spec"] = values(&self.spec);
        value.to_string()
    }

    pub(crate) fn fields(&self) -> FieldSet {
        let mut fields = FieldSet::default();
        let spec = Part::Map(self.spec.clone());
        spec.record(&mut FieldPath::fields(["spec"]), &mut fields);
        fields
    }

    /// The object as a server answers, with our mark, a status and a foreign field.
    pub(crate) fn answered(&self, manager: &str) -> Value {
        let mut fields = self.fields();
        fields.insert(&FieldPath::fields(["metadata", "annotations", ID_ANNOTATION]));
        let mut spec = values(&self.spec);
        spec.as_object_mut().unwrap().insert("zz-defaulted".into(), json!(true));
        json!({
            "apiVersion": "example.com/v1", "kind": "Thing",
            "metadata": {
                "name": "it", "uid": "uid-1", "annotations": {ID_ANNOTATION: "id-1"},
                "managedFields": [
                    {"manager": manager, "operation": "Apply", "apiVersion": "example.com/v1",
                     "time": "2026-01-01T00:00:00Z", "fieldsType": "FieldsV1",
                     "fieldsV1": fields_v1::encode(&fields)},
                    {"manager": "other", "operation": "Update", "apiVersion": "example.com/v1",
                     "fieldsType": "FieldsV1", "fieldsV1": {"f:spec": {"f:zz-defaulted": {}}}},
                ],
            },
            "spec": spec,
            "status": {"observed": 1},
        })
    }
}

fn any_scalar() -> impl Strategy<Value = Value> {
    prop_oneof![
        any::<bool>().prop_map(Value::from),
        any::<i32>().prop_map(Value::from),
        "[a-z0-9.=é-]{0,10}".prop_map(Value::from),
    ]
}

fn any_name() -> impl Strategy<Value = String> {
    prop_oneof![3 => "[a-y]{1,4}", 1 => "[a-y]{1,3}\\.[a-z]{1,3}(/[a-z]{1,3})?"]
        .prop_filter("the key field is not among the others", |name| name != "name")
}

fn any_part() -> impl Strategy<Value = Part> {
    let leaf = prop_oneof![
        4 => any_scalar().prop_map(Part::Scalar),
        1 => proptest::collection::vec(any_scalar(), 0..3).prop_map(|v| Part::Atomic(v.into())),
        1 => proptest::collection::btree_map(any_name(), any_scalar(), 1..3)
            .prop_map(|m| Part::Atomic(Value::Object(m.into_iter().collect::<Map<_, _>>()))),
        1 => proptest::collection::btree_set("[a-z./]{1,6}", 0..3).prop_map(Part::Set),
    ];
    leaf.prop_recursive(3, 24, 4, |part| {
        let map = proptest::collection::btree_map(any_name(), part, 0..4).boxed();
        prop_oneof![
            map.clone().prop_map(Part::Map),
            proptest::collection::btree_map("[a-z]{1,4}", map, 0..3).prop_map(Part::Keyed),
        ]
    })
}

pub(crate) fn any_specimen() -> impl Strategy<Value = Specimen> {
    proptest::collection::btree_map(any_name(), any_part(), 1..5).prop_map(|spec| Specimen { spec })
}
