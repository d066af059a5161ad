//! Patches as users meet them: several on one object, drift, what is refused.

use serde_json::json;
use testkit::Tool;

use super::{Clinic, owners, traces};
use crate::workspace::says;

const REPLICAS: (&str, &str) = ("patch", "spec: {replicas: 5}");
const TEAM: (&str, &str) = ("merge_patch", "metadata: {annotations: {example.com/team: red}}");
const MODE: (&str, &str) = (
    "json_patch",
    r#"[{"op": "test", "path": "/spec/template/spec/containers/0/name", "value": "app"},
        {"op": "replace", "path": "/spec/template/spec/containers/0/env/0/value", "value": "ours"},
        {"op": "add", "path": "/spec/template/spec/tolerations/-", "value": {"key": "new", "operator": "Exists"}}]"#,
);

async fn three_patches_of_one_object(tool: Tool) {
    let clinic = Clinic::with_tool("Deployment", tool).await;
    let before = clinic.owners().await;
    // Terraform makes them at once.
    clinic.patches(&[("replicas", REPLICAS, ""), ("team", TEAM, ""), ("mode", MODE, "")]);
    clinic.at.init().await;
    let plan = clinic.at.plan_changes().await;
    says(&plan.text, "3 to add");
    says(&plan.text, r#""spec.template.spec.containers[name=app].env[name=MODE].value" = "ours""#);
    says(&plan.text, "held by `kubectl-edit` (Update");
    clinic.at.apply().await;
    clinic.at.plan_empty().await;
    let live = clinic.live().await;
    assert_eq!(live["spec"]["replicas"], 5);
    assert_eq!(live["metadata"]["annotations"]["example.com/team"], "red");
    assert_eq!(live["spec"]["template"]["spec"]["tolerations"].as_array().unwrap().len(), 2);

    let cluster = clinic.at.cluster;
    cluster.act_as("autoscaler").scale(&clinic.target, 4).await.unwrap();
    let edit = json!({"metadata": {"annotations": {"example.com/other": "x"}}});
    cluster.act_as("kubectl-edit").merge_patch(&clinic.target, edit).await.unwrap();
    let plan = clinic.at.plan_changes().await;
    says(&plan.text, "0 to add, 1 to change, 0 to destroy");
    says(&plan.text, "`spec.replicas` changed outside of Terraform");
    says(&plan.text, "held by `autoscaler` (Update, through `scale`) is now 4 will be 5");
    says(&plan.text, r#""spec.replicas" = "4" -> "5""#);
    clinic.at.apply().await;
    clinic.at.plan_empty().await;

    // Two leave, one stays.
    clinic.patches(&[("team", TEAM, "")]);
    let applied = clinic.at.apply().await;
    says(&applied.text, "spec.replicas returns to `autoscaler` (Update, through `scale`)");
    clinic.at.plan_empty().await;
    clinic.at.destroy().await;
    let after = clinic.live().await;
    assert_eq!(traces(&after), [""; 0]);
    // The autoscaler and the editor wrote since, so their own entries are newer.
    let unchanged = |all: &[String]| -> Vec<String> {
        let written = |entry: &&String| entry.contains("helm") || entry.contains("flux");
        all.iter().filter(written).cloned().collect()
    };
    assert_eq!(unchanged(&owners(&after)), unchanged(&before));
}

#[tokio::test]
async fn three_patches_of_one_object_live_side_by_side_with_terraform() {
    three_patches_of_one_object(Tool::Terraform).await;
}

#[tokio::test]
async fn three_patches_of_one_object_live_side_by_side_with_opentofu() {
    three_patches_of_one_object(Tool::OpenTofu).await;
}

#[tokio::test]
async fn an_object_of_this_very_configuration_is_refused() {
    let clinic = Clinic::new(("v1", "ConfigMap", "settings")).await;
    let object = format!(
        "resource \"k8sconnect_object\" \"mine\" {{\n  cluster = {{ kubeconfig = \
         file(\"kubeconfig\") }}\n  yaml_body = <<-YAML\napiVersion: v1\nkind: ConfigMap\nmetadata: \
         {{name: settings, namespace: {}}}\ndata: {{a: b}}\nYAML\n}}\n",
        clinic.at.namespace.name()
    );
    clinic.at.runner.write("object.tf", &object).unwrap();
    let depends = "depends_on = [k8sconnect_object.mine]";
    clinic.patches(&[("it", ("patch", "data: {a: c}"), depends)]).at.init().await;
    let plan = clinic.at.plan_fails().await;
    says(&plan.text, "is made by a `k8sconnect_object` and changed by a `k8sconnect_patch`");
    clinic.patches(&[]).at.apply().await;
    clinic.patches(&[("it", ("patch", "data: {a: c}"), depends)]);
    assert_eq!(clinic.live().await["data"]["a"], "b");
    let plan = clinic.at.plan_fails().await;
    says(&plan.text, "is managed by a `k8sconnect_object` and cannot be patched");
    clinic.patches(&[]).at.destroy().await;
}
