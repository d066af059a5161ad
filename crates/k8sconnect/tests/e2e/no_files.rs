//! The provider makes no file but its socket, and takes that away. The examples are run without a place for
//! temporary files (see `documented`); here there is one, and it stays empty.

use std::collections::BTreeSet;
use std::path::PathBuf;

use serde_json::json;
use testkit::Tool;
use testkit::assets::Asset;

use crate::workspace::{CONFIG_MAP, Workspace};

const OTHERS: &str = r#"
data "k8sconnect_yaml_split" "overlay" {
  kustomize_path = "overlay"
}
resource "k8sconnect_object" "each" {
  for_each  = data.k8sconnect_yaml_split.overlay.manifests
  cluster   = { kubeconfig = file("by-plugin") }
  yaml_body = each.value
}
resource "k8sconnect_patch" "theirs" {
  cluster    = { kubeconfig = file("kubeconfig") }
  target     = { api_version = "v1", kind = "ConfigMap", name = "theirs", namespace = "NS" }
  json_patch = jsonencode([{ op = "replace", path = "/data/a", value = "ours" }])
}
resource "k8sconnect_wait" "settings" {
  cluster    = { kubeconfig = file("kubeconfig") }
  object_ref = k8sconnect_object.settings.object_ref
  wait_for   = { field = "data.greeting" }
}
"#;

/// A kubeconfig whose token comes from a credential plugin.
fn by_plugin(at: &Workspace) -> String {
    let mut kubeconfig: serde_json::Value = serde_json::from_str(&at.cluster.kubeconfig()).unwrap();
    let user = &mut kubeconfig["users"][0]["user"];
    let token = user["token"].take();
    let credential = json!({"apiVersion": "client.authentication.k8s.io/v1",
        "kind": "ExecCredential", "status": {"token": token}});
    *user = json!({"exec": {"apiVersion": "client.authentication.k8s.io/v1", "command": "echo",
        "args": [credential.to_string()], "interactiveMode": "Never"}});
    kubeconfig.to_string()
}

/// What stands in the folder of the configuration, other than what Terraform keeps there.
fn in_the_configuration(at: &Workspace) -> BTreeSet<String> {
    let kept = [".terraform", ".terraform.lock.hcl", "terraform.tfstate", "saved.tfplan"];
    let entries = std::fs::read_dir(at.runner.directory()).unwrap();
    let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    names.filter(|name| !kept.iter().any(|kept| name.starts_with(kept))).collect()
}

fn all(at: &Workspace) -> (BTreeSet<PathBuf>, BTreeSet<String>) {
    (at.runner.files_outside().unwrap(), in_the_configuration(at))
}

async fn a_whole_life_leaves_no_file(tool: Tool) {
    let mut at = Workspace::new(tool).await;
    let theirs = json!({"apiVersion": "v1", "kind": "ConfigMap", "data": {"a": "helm"},
        "metadata": {"name": "theirs", "namespace": at.namespace.name()}});
    at.cluster.act_as("helm").apply(theirs).await.unwrap();
    at.runner.offer(Asset::Kubectl).await.unwrap();
    at.runner.write("by-plugin", &by_plugin(&at)).unwrap();
    let overlay = format!("resources: [it.yaml]\nnamespace: {}\n", at.namespace.name());
    at.runner.write("overlay/kustomization.yaml", &overlay).unwrap();
    let it = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: it}\ndata: {a: b}\n";
    at.runner.write("overlay/it.yaml", it).unwrap();
    let write = |body: &str| {
        let others = OTHERS.replace("NS", at.namespace.name());
        let main = format!("{}\n{others}", at.resource("settings", body, ""));
        at.runner.write("main.tf", &main).unwrap();
    };
    write(CONFIG_MAP);
    let before = all(&at);
    at.init().await.plan_changes().await;
    assert_eq!(all(&at), before, "after a plan");
    at.runner.apply_planned().await.unwrap().successful().unwrap();
    at.plan_empty().await;
    // A body that is refused, one that changes, one that means another object.
    write(&CONFIG_MAP.replace("greeting: hello", "greeting: [1]"));
    at.plan_fails().await;
    for body in
        [CONFIG_MAP.replace("hello", "bye"), CONFIG_MAP.replace("name: settings", "name: b")]
    {
        write(&body);
        at.runner.plan_with(&["-refresh=false"]).await.unwrap();
        at.apply().await;
        at.plan_empty().await;
    }
    assert_eq!(all(&at), before, "after applies");
    at.destroy().await;
    assert_eq!(all(&at), before, "after a destroy");
}

#[tokio::test]
async fn a_run_leaves_no_file_under_terraform() {
    a_whole_life_leaves_no_file(Tool::Terraform).await;
}

#[tokio::test]
async fn a_run_leaves_no_file_under_the_newest_terraform() {
    a_whole_life_leaves_no_file(Tool::NEWEST_TERRAFORM).await;
}

#[tokio::test]
async fn a_run_leaves_no_file_under_opentofu() {
    a_whole_life_leaves_no_file(Tool::OpenTofu).await;
}
