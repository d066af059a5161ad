//! Large objects, each as its author wrote it and as a server answers with it.

use k8sconnect_core::manifest::Manifest;
use serde_json::{Map, Value, json};

pub(crate) const MANAGER: &str = "k8sconnect";

pub(crate) struct Large {
    pub(crate) text: String,
    pub(crate) manifest: Manifest,
    /// As it would come back: with the fields that our manager holds.
    pub(crate) answer: Value,
}

impl Large {
    pub(crate) fn new(text: String) -> Self {
        let manifest = Manifest::parse(&text).expect("a large object is a good one");
        let mut answer = manifest.value().clone();
        let mut fields = fields_of(&answer);
        for marked in ["f:apiVersion", "f:kind", "f:metadata"] {
            fields.as_object_mut().expect("a map").remove(marked);
        }
        answer["metadata"]["uid"] = json!("1");
        answer["metadata"]["managedFields"] = json!([{
            "manager": MANAGER, "operation": "Apply", "apiVersion": answer["apiVersion"],
            "time": "2026-11-16T00:00:00Z", "fieldsType": "FieldsV1", "fieldsV1": fields,
        }]);
        Self { text, manifest, answer }
    }
}

/// What a server would record: items by name, plain values as sets.
fn fields_of(value: &Value) -> Value {
    let mut fields = Map::new();
    match value {
        Value::Object(map) => {
            for (key, inner) in map {
                fields.insert(format!("f:{key}"), fields_of(inner));
            }
        }
        Value::Array(items) => {
            for item in items {
                match item.get("name") {
                    Some(name) => {
                        let mut inner = fields_of(item);
                        inner["."] = json!({});
                        fields.insert(format!("k:{}", json!({ "name": name })), inner);
                    }
                    None => {
                        fields.insert(format!("v:{item}"), json!({}));
                    }
                }
            }
        }
        _ => {}
    }
    Value::Object(fields)
}
