//! Waits as users write them: beside the objects that they wait for.

mod goals;
mod in_vain;

use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD as BASE64;
use serde_json::{Value, json};
use testkit::{ControlPlane, Target, Tool};

use crate::workspace::{CONFIG_MAP, Workspace, never_says, says};

fn write(at: &Workspace, configuration: &str) {
    at.runner.write("main.tf", &configuration.replace("NS", at.namespace.name())).unwrap();
}

const BALANCED: &str = r#"
locals {
  cluster = { kubeconfig = file("kubeconfig") }
}

resource "k8sconnect_object" "service" {
  cluster   = local.cluster
  yaml_body = <<-YAML
    apiVersion: v1
    kind: Service
    metadata: {name: web, namespace: NS}
    spec:
      type: LoadBalancer
      selector: {app: web}
      ports: [{port: 80}]
  YAML
}

resource "k8sconnect_wait" "address" {
  cluster    = local.cluster
  object_ref = k8sconnect_object.service.object_ref
  wait_for   = { field = "status.loadBalancer.ingress" }
}

resource "k8sconnect_object" "settings" {
  cluster   = local.cluster
  yaml_body = <<-YAML
    apiVersion: v1
    kind: ConfigMap
    metadata: {name: settings, namespace: NS}
    data:
      address: ${k8sconnect_wait.address.result.status.loadBalancer.ingress[0].ip}
      port: "${k8sconnect_wait.address.result.status.loadBalancer.ingress[0].ports[0].port + 1}"
  YAML
}
"#;

/// What a cloud's controller does once a Service is there.
async fn balance(cluster: &ControlPlane, target: &Target, ip: &str) {
    cluster.wait_until(target, Duration::from_secs(60), |seen| seen.is_some()).await.unwrap();
    let ports = json!([{"port": 80, "protocol": "TCP"}]);
    let status = json!({"status": {"loadBalancer": {"ingress": [{"ip": ip, "ports": ports}]}}});
    let cloud = cluster.act_as("cloud").subresource("status");
    cloud.merge_patch(target, status).await.unwrap();
}

async fn what_was_waited_for_is_used(tool: Tool) {
    let at = Workspace::new(tool).await;
    write(&at, BALANCED);
    at.init().await;
    let service = Target::new("v1", "Service", at.namespace.name(), "web");
    let settings = Target::new("v1", "ConfigMap", at.namespace.name(), "settings");
    let (_, ()) = tokio::join!(at.apply(), balance(at.cluster, &service, "10.1.1.1"));
    let live = at.cluster.read(&settings).await.unwrap().unwrap();
    // The port is a number, which can be counted with.
    assert_eq!(live["data"], json!({"address": "10.1.1.1", "port": "81"}));
    at.plan_empty().await;

    // A new address is followed by whoever uses it, and the wait itself has nothing to do.
    balance(at.cluster, &service, "10.2.2.2").await;
    let plan = at.plan_changes().await;
    says(&plan.text, "0 to add, 1 to change, 0 to destroy");
    says(&plan.text, "10.2.2.2");
    at.apply().await;
    at.plan_empty().await;
    at.destroy().await;
}

#[tokio::test]
async fn terraform_uses_what_was_waited_for_and_follows_it() {
    what_was_waited_for_is_used(Tool::Terraform).await;
}

#[tokio::test]
async fn opentofu_uses_what_was_waited_for_and_follows_it() {
    what_was_waited_for_is_used(Tool::OpenTofu).await;
}

fn rollout(how: &str) -> String {
    r#"
resource "k8sconnect_object" "web" {
  cluster   = { kubeconfig = file("kubeconfig") }
  yaml_body = <<-YAML
    apiVersion: apps/v1
    kind: Deployment
    metadata: {name: web, namespace: NS}
    spec:
      replicas: 2
      selector: {matchLabels: {app: web}}
      template:
        metadata: {labels: {app: web}, annotations: {testkit/pod: HOW}}
        spec:
          containers: [{name: app, image: "shop/web:9"}]
  YAML
}

resource "k8sconnect_wait" "web" {
  cluster    = { kubeconfig = file("kubeconfig") }
  object_ref = k8sconnect_object.web.object_ref
  wait_for   = { rollout = true, timeout = "30s" }
  triggers   = k8sconnect_object.web.managed_state_projection
}
"#
    .replace("HOW", how)
}

#[tokio::test]
async fn a_failed_wait_taints_nothing_and_is_made_again() {
    let at = Workspace::new(Tool::Terraform).await;
    write(&at, &rollout("misnamed"));
    at.init().await;
    let run = at.runner.apply().await.unwrap();
    assert!(!run.succeeded(), "{}", run.text);
    says(&run.text, "cannot roll out");
    says(&run.text, "InvalidImageName");
    says(&run.text, "2 wanted, 2 there, 2 updated, 0 ready, 0 available");
    let target = Target::new("apps/v1", "Deployment", at.namespace.name(), "web");
    let before = at.cluster.read(&target).await.unwrap().unwrap();
    let plan = at.plan_changes().await;
    says(&plan.text, "1 to add, 0 to change, 0 to destroy");
    never_says(&plan.text, "tainted");

    write(&at, &rollout("slow"));
    let plan = at.plan_changes().await;
    says(&plan.text, "1 to add, 1 to change, 0 to destroy");
    at.apply().await;
    at.plan_empty().await;
    let after = at.cluster.read(&target).await.unwrap().unwrap();
    assert_eq!(before["metadata"]["uid"], after["metadata"]["uid"]);
    assert_eq!(after["status"]["availableReplicas"], 2);

    // A changed object is waited for again, in place; if that fails, the next apply does it again.
    write(&at, &rollout("misnamed"));
    let plan = at.plan_changes().await;
    says(&plan.text, "0 to add, 2 to change, 0 to destroy");
    let run = at.runner.apply().await.unwrap();
    says(&run.text, "InvalidImageName");
    let plan = at.plan_changes().await;
    says(&plan.text, "0 to add, 1 to change, 0 to destroy");
    // Also where it goes back to what the last good wait was for.
    write(&at, &rollout("slow"));
    let plan = at.plan_changes().await;
    says(&plan.text, "0 to add, 2 to change, 0 to destroy");
    at.apply().await;
    at.plan_empty().await;

    // What somebody else changed is changed back, and the Deployment waited for once more.
    let other =
        json!({"spec": {"template": {"metadata": {"annotations": {"testkit/pod": "unready"}}}}});
    at.cluster.act_as("somebody").merge_patch(&target, other).await.unwrap();
    let plan = at.plan_changes().await;
    says(&plan.text, "0 to add, 2 to change, 0 to destroy");
    at.apply().await;
    let mended = at.cluster.read(&target).await.unwrap().unwrap();
    assert_eq!(mended["status"]["availableReplicas"], 2);
    at.plan_empty().await;
    at.destroy().await;
}

fn replaced(word: &str) -> String {
    r#"
resource "k8sconnect_object" "settings" {
  cluster   = { kubeconfig = file("kubeconfig") }
  yaml_body = <<-YAML
    apiVersion: v1
    kind: ConfigMap
    metadata: {name: settings, namespace: NS}
    immutable: true
    data: {word: WORD}
  YAML
}

resource "k8sconnect_wait" "settings" {
  cluster    = { kubeconfig = file("kubeconfig") }
  object_ref = k8sconnect_object.settings.object_ref
  wait_for   = { ready = true }
}

resource "terraform_data" "next" {
  input            = "WORD"
  triggers_replace = [k8sconnect_wait.settings.result]
}
"#
    .replace("WORD", word)
}

/// Nothing that was written in the wait differs, and it is still the new object that counts.
#[tokio::test]
async fn a_replaced_object_is_waited_for_in_the_same_apply() {
    let at = Workspace::new(Tool::Terraform).await;
    write(&at, &replaced("one"));
    at.init().await;
    at.apply().await;
    at.plan_empty().await;
    write(&at, &replaced("two"));
    let run = at.apply().await;
    says(&run.text, "k8sconnect_wait.settings: Modifications complete");
    at.plan_empty().await;
    at.destroy().await;
}

/// Terraform starts a process for each block, and the waits' knows nothing of what the object's
/// does: only what Terraform hands from one to the other counts.
#[tokio::test]
async fn a_replacement_by_another_provider_block_is_waited_for_where_the_triggers_may_change() {
    let at = Workspace::new(Tool::Terraform).await;
    let configuration = r#"
provider "k8sconnect" {
  cluster = { kubeconfig = file("kubeconfig") }
}

provider "k8sconnect" {
  alias   = "other"
  cluster = { kubeconfig = file("kubeconfig") }
}

resource "k8sconnect_object" "settings" {
  provider  = k8sconnect.other
  yaml_body = <<-YAML
    apiVersion: v1
    kind: ConfigMap
    metadata: {name: settings, namespace: NS}
    data: {word: hello}
  YAML
}

resource "k8sconnect_wait" "all" {
  object_ref = k8sconnect_object.settings.object_ref
  wait_for   = { ready = true }
  triggers   = k8sconnect_object.settings.managed_state_projection
}

resource "k8sconnect_wait" "uid" {
  object_ref = k8sconnect_object.settings.object_ref
  wait_for   = { field = "data.word" }
  triggers   = { uid = k8sconnect_object.settings.uid }
}
"#;
    write(&at, configuration);
    at.init().await;
    at.apply().await;
    at.plan_empty().await;
    let run = at.runner.apply_with(&["-replace=k8sconnect_object.settings"]).await.unwrap();
    says(&run.successful().unwrap().text, "1 added, 2 changed, 1 destroyed");
    at.plan_empty().await;
    at.destroy().await;
}

/// It has nothing in the cluster: nothing comes to it from elsewhere, and nothing keeps it.
#[tokio::test]
async fn a_wait_takes_nothing_over_and_goes_whoever_asks() {
    let at = Workspace::new(Tool::Terraform).await;
    let former = "resource \"terraform_data\" \"former\" {}";
    let wait = r#"
provider "k8sconnect" {
  cluster = { kubeconfig = file("kubeconfig") }
}

resource "k8sconnect_wait" "namespace" {
  object_ref = { api_version = "v1", kind = "Namespace", name = "NS" }
  wait_for   = { field = "metadata.uid" }
}
"#;
    write(&at, &format!("{former}\n{wait}"));
    at.init().await;
    at.apply().await;
    let moved = "moved {\n  from = terraform_data.former\n  to   = k8sconnect_wait.other\n}";
    let other = wait.replace("\"namespace\" {", "\"other\" {");
    let (_, other) = other.split_once("resource").unwrap();
    write(&at, &format!("{wait}\nresource{other}\n{moved}"));
    let refused = at.plan_fails().await.text;
    says(&refused, "`terraform_data` cannot become `k8sconnect_wait`");
    never_says(&refused, "import");

    write(&at, wait);
    at.apply().await;
    let nobody = format!("nobody-of-{}", at.namespace.name());
    at.kubeconfig(&at.cluster.kubeconfig_for(&nobody, None).unwrap());
    // Terraform shows no warning of the refresh that a destroy begins with.
    says(&at.plan_empty().await.text, "could not be refreshed");
    at.destroy().await;
}

/// As the Go provider of this name wrote it.
#[tokio::test]
async fn a_wait_of_the_go_provider_plans_empty() {
    let at = Workspace::new(Tool::Terraform).await;
    let ns = at.namespace.name();
    let map = json!({"apiVersion": "v1", "kind": "ConfigMap", "data": {"word": "hello"},
        "metadata": {"name": "settings", "namespace": ns}});
    at.cluster.act_as("somebody").create(map).await.unwrap();
    let object = json!({"api_version": "v1", "kind": "ConfigMap", "name": "settings",
        "namespace": ns});
    let attributes = json!({
        "id": "0b54d0ab-5ffd-4dbc-a7a0-8a3b1c5f7a11", "object_ref": object,
        "wait_for": {"field": "data.word", "field_value": null, "condition": null,
            "rollout": null, "timeout": "1m"},
        "cluster_connection": {"kubeconfig": at.cluster.kubeconfig(), "host": null, "exec": null},
        "result": {"type": ["object", {"data": ["object", {"word": "string"}]}],
            "value": {"data": {"word": "hello"}}},
    });
    let provider = "provider[\"registry.terraform.io/k8sconnect/k8sconnect\"]";
    let state: Value = json!({
        "version": 4, "terraform_version": "1.9.0", "serial": 3,
        "lineage": "5f0b6a52-95c1-4a5a-8e6d-6c1f7a1f0b12", "check_results": null,
        "outputs": {"word": {"value": "HELLO", "type": "string"}},
        "resources": [{"mode": "managed", "type": "k8sconnect_wait", "name": "word",
            "provider": provider, "instances": [{"schema_version": 0, "attributes": attributes,
                "sensitive_attributes": [], "private": BASE64.encode("{}")}]}],
    });
    at.runner.write("terraform.tfstate", &state.to_string()).unwrap();
    let configuration = r#"
resource "k8sconnect_wait" "word" {
  cluster    = { kubeconfig = file("kubeconfig") }
  object_ref = { api_version = "v1", kind = "ConfigMap", name = "settings", namespace = "NS" }
  wait_for   = { field = "data.word", timeout = "1m" }
}

output "word" {
  value = upper(k8sconnect_wait.word.result.data.word)
}
"#;
    write(&at, configuration);
    at.init().await;
    never_says(&at.plan_empty().await.text, "Warning");
    at.apply().await;
    at.plan_empty().await;
    at.destroy().await;
}

/// Without a trigger: what is handed on is what makes the wait depend on the field.
#[tokio::test]
async fn a_field_that_the_same_apply_changes_is_handed_on_as_it_becomes() {
    let at = Workspace::new(Tool::Terraform).await;
    let versions = |version: &str| {
        let first = CONFIG_MAP.replace("greeting: hello", &format!("v: \"{version}\""));
        let user = CONFIG_MAP
            .replace("name: settings", "name: user")
            .replace("hello", "\"${k8sconnect_wait.v.result.data.v}\"");
        let wait = "resource \"k8sconnect_wait\" \"v\" {\n  \
                    cluster    = { kubeconfig = file(\"kubeconfig\") }\n  \
                    object_ref = k8sconnect_object.settings.object_ref\n  \
                    wait_for   = { field = \"data.v\" }\n}\n";
        let text = [at.resource("settings", &first, ""), at.resource("user", &user, "")];
        at.runner.write("main.tf", &format!("{wait}{}", text.join("\n"))).unwrap();
    };
    versions("1");
    at.init().await;
    at.apply().await;
    at.plan_empty().await;
    versions("2");
    says(&at.plan_changes().await.text, "0 to add, 3 to change, 0 to destroy");
    at.apply().await;
    let user = Target::new("v1", "ConfigMap", at.namespace.name(), "user");
    assert_eq!(at.cluster.read(&user).await.unwrap().unwrap()["data"]["greeting"], "2");
    at.plan_empty().await;
    at.destroy().await;
}
