//! What is damaged: manifests of every kind, and objects as a server answers with them.

use std::path::Path;
use std::sync::LazyLock;

use k8sconnect_core::manifest::Manifest;
use serde_json::{Value, json};

pub(crate) const MANAGER: &str = "k8sconnect";

/// The bodies of all kinds that the provider is tried with.
pub(crate) fn bodies() -> Vec<String> {
    static BODIES: LazyLock<Vec<String>> = LazyLock::new(|| {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../k8sconnect/tests/kinds");
        let mut paths: Vec<_> = std::fs::read_dir(folder)
            .expect("the kinds are there")
            .map(|entry| entry.expect("a file").path())
            .collect();
        paths.sort();
        let mut texts: Vec<_> =
            paths.iter().map(|path| std::fs::read_to_string(path).expect("a text")).collect();
        texts.push(
            "a: &a {x: 1, y: [b, 'c']}\n---\nb: &b\n  <<: *a\n  z: \"\\u00e9\"\nc: [*b , |\n  text\n]\n"
                .into(),
        );
        texts.push("apiVersion: v1\nkind: List\nitems:\n- {apiVersion: v1, kind: Pod, metadata: {name: a}}\n".into());
        assert!(texts.len() > 30, "only {} bodies were found", texts.len());
        texts
    });
    BODIES.clone()
}

/// A workload as a server holds it: owners of every kind of field, and a status.
pub(crate) fn object() -> Value {
    json!({
        "apiVersion": "apps/v1", "kind": "Deployment",
        "metadata": {
            "name": "web", "namespace": "shop", "uid": "u-1", "resourceVersion": "7", "generation": 3,
            "creationTimestamp": "2026-01-01T00:00:00Z",
            "finalizers": ["example.com/f"],
            "annotations": {"k8sconnect.terraform.io/terraform-id": "id-1", "a.b/c": "d"},
            "managedFields": [
                {"manager": MANAGER, "operation": "Apply", "apiVersion": "apps/v1",
                 "time": "2026-01-01T00:00:00Z", "fieldsType": "FieldsV1", "fieldsV1": {
                    "f:metadata": {"f:finalizers": {".": {}, "v:\"example.com/f\"": {}},
                                   "f:annotations": {"f:a.b/c": {}}},
                    "f:spec": {"f:replicas": {}, "f:template": {"f:spec": {"f:containers": {
                        "k:{\"name\":\"app\"}": {".": {}, "f:name": {}, "f:image": {}, "f:args": {},
                            "f:ports": {"k:{\"containerPort\":80,\"protocol\":\"TCP\"}":
                                {".": {}, "f:containerPort": {}, "f:protocol": {}}}}}}}}}},
                {"manager": "kube-controller-manager", "operation": "Update", "apiVersion": "apps/v1",
                 "subresource": "status", "fieldsType": "FieldsV1",
                 "fieldsV1": {"f:status": {"f:conditions": {".": {},
                    "k:{\"type\":\"Available\"}": {".": {}, "f:type": {}, "f:status": {}}}}}},
                {"manager": "hpa", "operation": "Update", "apiVersion": "apps/v1",
                 "fieldsType": "FieldsV1", "fieldsV1": {"f:spec": {"f:replicas": {}}}},
            ],
        },
        "spec": {
            "replicas": 3,
            "selector": {"matchLabels": {"app": "web"}},
            "template": {"metadata": {"labels": {"app": "web"}}, "spec": {"containers": [
                {"name": "app", "image": "a:1", "args": ["-v", "--x=1"],
                 "ports": [{"containerPort": 80, "protocol": "TCP"}]},
                {"name": "side", "image": "b:2"},
            ]}},
        },
        "status": {
            "observedGeneration": 3, "replicas": 3, "updatedReplicas": 3, "readyReplicas": 2,
            "conditions": [
                {"type": "Available", "status": "True", "lastTransitionTime": "2026-01-01T00:00:00Z"},
                {"type": "Progressing", "status": "False", "reason": "ProgressDeadlineExceeded"},
            ],
        },
    })
}

/// What its author wrote of it.
pub(crate) fn written() -> Manifest {
    let mut value = object();
    value.as_object_mut().expect("an object").remove("status");
    value["metadata"] = json!({"name": "web", "namespace": "shop", "annotations": {"a.b/c": "d"},
        "finalizers": ["example.com/f"]});
    Manifest::parse(&value.to_string()).expect("a good manifest")
}
