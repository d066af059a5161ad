//! Patches of the Go provider, which knew no former owners.

use base64::Engine;
use base64::engine::general_purpose::STANDARD as BASE64;
use serde_json::{Value, json};
use testkit::Tool;

use super::{ID, state_of};
use crate::patch::{Clinic, owners, traces};
use crate::workspace::{never_says, says};

const PARTIAL: &str = "spec:
  replicas: 5
  template:
    spec:
      containers:
      - name: app
        image: nginx:2
        resources: {limits: {cpu: 1000m}}
";

const OPERATIONS: &str = r#"[
  {"op": "test", "path": "/spec/replicas", "value": 3},
  {"op": "replace", "path": "/spec/replicas", "value": 5},
  {"op": "add", "path": "/spec/template/spec/containers/0/env/-", "value": {"name": "NEW", "value": "1"}}
]"#;

/// A patch that the Go provider made on an object of others.
async fn inherited(tool: Tool, version: u64, attribute: &str, text: &str) -> Clinic {
    let clinic = Clinic::with_tool("Deployment", tool).await;
    let at = &clinic.at;
    let target = json!({"api_version": "apps/v1", "kind": "Deployment", "name": "web",
        "namespace": at.namespace.name()});
    let go = at.cluster.act_as(&format!("k8sconnect-patch-{ID}")).force();
    if attribute == "json_patch" {
        let operations = serde_json::from_str(text).unwrap();
        go.json_patch(&clinic.target, operations).await.unwrap();
    } else {
        let head = format!(
            "apiVersion: apps/v1\nkind: Deployment\nmetadata: {{name: web, namespace: {}}}\n{text}",
            at.namespace.name()
        );
        go.apply(head.as_str()).await.unwrap();
    }
    let cluster = json!({"host": null, "token": null, "exec": null, "context": null,
        "kubeconfig": at.cluster.kubeconfig()});
    let mut attributes = json!({
        "id": ID, "target": target, "patch": null, "json_patch": null, "merge_patch": null,
    });
    attributes[attribute] = json!(format!("{}\n", text.trim_end()));
    if version == 2 {
        attributes["cluster"] = cluster;
        attributes["managed_fields"] = json!({"spec.replicas": "k8sconnect-patch"});
        attributes["managed_state_projection"] = json!({"spec.replicas": "5"});
    } else {
        attributes["cluster_connection"] = cluster;
        attributes["managed_fields"] = json!("{\"f:spec\":{\"f:replicas\":{}}}");
        attributes["field_ownership"] = json!({"spec.replicas": "k8sconnect-patch"});
        attributes["previous_owners"] = json!({"spec.replicas": "helm"});
    }
    clinic.patch(attribute, text);
    let registry = tool.registry();
    let stored = (version, &attributes, BASE64.encode("{}"));
    state_of(at, registry, "k8sconnect_patch", stored).await;
    clinic
}

#[tokio::test]
async fn a_patch_plans_empty_and_its_fields_stay_when_it_is_destroyed() {
    for (tool, version, attribute, text) in
        [(Tool::Terraform, 2, "patch", PARTIAL), (Tool::OpenTofu, 1, "json_patch", OPERATIONS)]
    {
        let clinic = inherited(tool, version, attribute, text).await;
        let at = &clinic.at;
        let patched = clinic.live().await;
        never_says(&at.plan_empty().await.text, "Warning");
        at.apply().await;
        at.plan_empty().await;
        assert_eq!(owners(&clinic.live().await), owners(&patched), "nothing was written");
        let state = clinic.state().await;
        assert_eq!(state["id"], ID);
        assert_eq!(state["managed_state_projection"]["spec.replicas"], "5");
        assert_eq!(state["previous_owners"], json!({}));

        let destroyed = at.destroy().await;
        says(&destroyed.text, "spec.replicas stays as it is, held by nobody");
        let live = clinic.live().await;
        assert_eq!(live["spec"], patched["spec"], "{attribute}");
        assert_eq!(traces(&live), Vec::<String>::new(), "{attribute}");
    }
}

#[tokio::test]
async fn what_others_changed_since_is_told_and_set_right() {
    let clinic = inherited(Tool::Terraform, 2, "patch", PARTIAL).await;
    let at = &clinic.at;
    at.cluster.act_as("autoscaler").scale(&clinic.target, 7).await.unwrap();
    let plan = at.plan_changes().await;
    says(&plan.text, "0 to add, 1 to change, 0 to destroy");
    says(&plan.text, "`autoscaler`");
    says(&plan.text, "who held the patched fields before is not known");
    at.apply().await;
    at.plan_empty().await;
    assert_eq!(clinic.live().await["spec"]["replicas"], 5);
    let former: Value = clinic.state().await["previous_owners"]["spec.replicas"].clone();
    assert_eq!(former[0]["manager"], "autoscaler");
    at.destroy().await;
    assert_eq!(traces(&clinic.live().await), Vec::<String>::new());
}
