//! Large objects, each as its author wrote it and as a server answers with it.

use std::fmt::Write;

use k8sconnect_core::manifest::Manifest;
use serde_json::{Map, Value, json};

pub const MANAGER: &str = "k8sconnect";

pub struct Large {
    pub text: String,
    pub manifest: Manifest,
    /// As it would come back: with the fields that our manager holds.
    pub answer: Value,
}

impl Large {
    fn new(text: String) -> Self {
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

    /// A Deployment with 12 leaves a container, and few more.
    pub fn deployment(containers: usize) -> Self {
        let mut text = String::from(
            "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: large\n  namespace: default\n\
             spec:\n  replicas: 2\n  template:\n    spec:\n      containers:\n",
        );
        for at in 0..containers {
            let _ = write!(
                text,
                "      - name: c{at}\n        image: registry.example/c{at}:1.0\n        env:\n        \
                 - name: MODE\n          value: info\n        - name: ZONE\n          value: a\n        \
                 ports:\n        - name: http\n          containerPort: 8080\n        \
                 imagePullPolicy: Always\n        resources:\n          requests:\n            cpu: \
                 100m\n            memory: 64Mi\n          limits:\n            memory: 128Mi\n"
            );
        }
        Self::new(text)
    }

    /// A CustomResourceDefinition of about so many lines.
    pub fn definition(lines: usize) -> Self {
        let mut text = String::from(
            "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata:\n  name: \
             larges.example.com\nspec:\n  group: example.com\n  scope: Namespaced\n  names:\n    kind: \
             Large\n    plural: larges\n  versions:\n  - name: v1\n    served: true\n    storage: true\n    \
             schema:\n      openAPIV3Schema:\n        type: object\n        properties:\n          spec:\n            \
             type: object\n            properties:\n",
        );
        for at in 0..lines / 8 {
            let _ = write!(
                text,
                "              field{at}:\n                type: object\n                description: \
                 What it is for, told in a sentence of usual length, as authors do.\n                \
                 properties:\n                  inner:\n                    type: string\n                    \
                 maxLength: 253\n                    pattern: ^[a-z]+$\n"
            );
        }
        Self::new(text)
    }

    /// A custom resource with one long list, keyed or of plain values.
    pub fn list(items: usize, kind: Items) -> Self {
        let mut text = String::from(
            "apiVersion: example.com/v1\nkind: Large\nmetadata:\n  name: large\n  namespace: \
             default\nspec:\n  items:\n",
        );
        for at in 0..items {
            let _ = match kind {
                Items::Keyed => write!(text, "  - name: item-{at}\n    value: {at}\n"),
                Items::Set => writeln!(text, "  - item-{at}"),
            };
        }
        Self::new(text)
    }
}

#[derive(Debug, Clone, Copy)]
pub enum Items {
    Keyed,
    Set,
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
