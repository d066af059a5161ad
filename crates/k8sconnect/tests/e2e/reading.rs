//! Objects that are only read, by the side of those that are made.

use serde_json::json;
use testkit::Tool;

use crate::workspace::{Workspace, says};

const READING: &str = r#"
locals { cluster = { kubeconfig = file("kubeconfig") } }
resource "k8sconnect_object" "made" {
  cluster   = local.cluster
  yaml_body = <<-YAML
    apiVersion: v1
    kind: Service
    metadata: {name: web, namespace: NS, labels: {app.kubernetes.io/name: web}}
    spec:
      selector: {app: web}
      ports:
      - {name: http, port: 80}
      - {name: https, port: 443, targetPort: tls}
  YAML
}
data "k8sconnect_object" "read" {
  api_version = "v1"
  kind        = "Service"
  name        = k8sconnect_object.made.uid == "" ? "" : "web"
  namespace   = "NS"
  cluster     = local.cluster
}
data "k8sconnect_objects" "services" {
  api_version    = "v1"
  kind           = "Service"
  namespace      = "NS"
  label_selector = "app.kubernetes.io/name in (web)"
  cluster        = { kubeconfig = k8sconnect_object.made.uid == "" ? "" : file("kubeconfig") }
}
resource "k8sconnect_object" "second" {
  cluster   = local.cluster
  yaml_body = <<-YAML
    apiVersion: v1
    kind: ConfigMap
    metadata: {name: second, namespace: NS}
    data: {address: "${data.k8sconnect_object.read.object.spec.clusterIP}"}
  YAML
}
output "ports" {
  value = data.k8sconnect_object.read.object.spec.ports[*].targetPort
}
output "forms" {
  value = [
    jsondecode(data.k8sconnect_object.read.manifest).spec.ports[1].targetPort,
    yamldecode(data.k8sconnect_object.read.yaml_body).kind,
    can(data.k8sconnect_object.read.object.metadata.managedFields),
  ]
}
output "names" {
  value = {
    for it in data.k8sconnect_objects.services.objects :
    it.metadata.name => it.metadata.labels["app.kubernetes.io/name"]
  }
}
"#;

#[tokio::test]
async fn what_is_made_in_a_run_is_read_in_the_same_run_and_stays_calm() {
    for tool in Tool::ALL {
        let at = Workspace::new(tool).await;
        at.runner.write("main.tf", &READING.replace("NS", at.namespace.name())).unwrap();
        at.init().await;
        says(
            &at.plan_changes().await.text,
            "data.k8sconnect_object.read will be read during apply",
        );
        at.apply().await;
        let outputs = at.runner.outputs().await.unwrap();
        assert_eq!(outputs["ports"]["value"], json!([80, "tls"]));
        assert_eq!(outputs["forms"]["value"], json!(["tls", "Service", false]));
        assert_eq!(outputs["names"]["value"], json!({"web": "web"}));
        at.plan_empty().await;
        at.destroy().await;
    }
}

#[tokio::test]
async fn an_object_that_is_missing_is_an_error_and_a_list_without_it_is_none() {
    let at = Workspace::new(Tool::Terraform).await;
    let read = r#"
data "k8sconnect_objects" "all" {
  api_version    = "v1"
  kind           = "ConfigMap"
  namespace      = "NS"
  field_selector = "metadata.name=nothing"
  cluster        = { kubeconfig = file("kubeconfig") }
}
output "count" { value = length(data.k8sconnect_objects.all.objects) }
"#;
    at.runner.write("main.tf", &read.replace("NS", at.namespace.name())).unwrap();
    at.init().await;
    at.apply().await;
    assert_eq!(at.runner.outputs().await.unwrap()["count"]["value"], 0);

    let missing = r#"
data "k8sconnect_object" "none" {
  api_version = "v1"
  kind        = "ConfigMap"
  name        = "nothing"
  cluster     = { kubeconfig = file("kubeconfig") }
}
"#;
    at.runner.write("main.tf", missing).unwrap();
    let plan = at.plan_fails().await;
    says(&plan.text, "ConfigMap `default/nothing` does not exist");
    says(&plan.text, "If it may be missing, use `k8sconnect_objects`");
}
