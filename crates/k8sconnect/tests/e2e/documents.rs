//! YAML of many documents: split by functions and data sources, from texts, files and kustomize.

use std::os::unix::fs::PermissionsExt as _;

use testkit::assets::Asset;
use testkit::{Mirrored, Runner, Tool, Warded};

use crate::workspace::{Workspace, never_says, says};

const VENDOR: &str = "\
# licence of the vendor
---
# settings come first
apiVersion: v1
kind: ConfigMap
metadata:
  name: settings
  namespace: NS
data:
  mode: \"0644\" # octal, as text
---
apiVersion: v1
kind: Secret
metadata:
  name: keys
  namespace: NS
stringData:
  password: hunter2
";

const FIRST: &str = "\
---
apiVersion: v1
kind: ServiceAccount
metadata:
  name: runner
  namespace: NS
";

const INSTALL: &str = r#"
resource "k8sconnect_object" "all" {
  for_each  = provider::k8sconnect::yaml_split(file("vendor.yaml"))
  yaml_body = each.value
  cluster   = { kubeconfig = file("kubeconfig") }
}
"#;

impl Workspace {
    /// Writes a file with `NS` replaced by the namespace of the test.
    fn file(&self, name: &str, text: &str) -> &Self {
        self.runner.write(name, &text.replace("NS", self.namespace.name())).unwrap();
        self
    }
}

#[tokio::test]
async fn a_vendors_file_is_installed_by_a_function_and_keys_outlive_its_changes() {
    for tool in Tool::ALL {
        let at = Workspace::new(tool).await;
        let namespace = at.namespace.name().to_owned();
        at.file("vendor.yaml", VENDOR).file("main.tf", INSTALL).init().await;
        let plan = at.plan_changes().await;
        says(&plan.text, "2 to add");
        says(&plan.text, "# settings come first");
        at.apply().await;
        at.plan_empty().await;

        at.file("vendor.yaml", &format!("{FIRST}{VENDOR}"));
        let plan = at.plan_changes().await;
        says(&plan.text, "1 to add, 0 to change, 0 to destroy");
        says(&plan.text, &format!("k8sconnect_object.all[\"serviceaccount.{namespace}.runner\"]"));
        at.apply().await;
        at.plan_empty().await;
        at.destroy().await;
    }
}

const STAGES: &str = r#"
data "k8sconnect_yaml_scoped" "all" {
  content = file("all.yaml")
}
locals {
  cluster = { kubeconfig = file("kubeconfig") }
  same    = provider::k8sconnect::yaml_scoped(file("all.yaml"))
}
resource "k8sconnect_object" "crds" {
  for_each  = data.k8sconnect_yaml_scoped.all.crds
  yaml_body = each.value
  cluster   = local.cluster
}
resource "k8sconnect_object" "cluster_scoped" {
  for_each   = data.k8sconnect_yaml_scoped.all.cluster_scoped
  yaml_body  = each.value
  cluster    = local.cluster
  depends_on = [k8sconnect_object.crds]
}
resource "k8sconnect_object" "namespaced" {
  for_each   = data.k8sconnect_yaml_scoped.all.namespaced
  yaml_body  = each.value
  cluster    = local.cluster
  depends_on = [k8sconnect_object.cluster_scoped]
}
output "keys" {
  value = [for group in ["crds", "cluster_scoped", "namespaced"] : keys(local.same[group])]
}
"#;

#[tokio::test]
async fn definitions_come_before_what_they_define_in_one_apply() {
    for tool in Tool::ALL {
        definitions_come_first(tool).await;
    }
}

async fn definitions_come_first(tool: Tool) {
    let at = Workspace::new(tool).await;
    let namespace = at.namespace.name().to_owned();
    let text = "\
apiVersion: NS.example.com/v1
kind: Orchard
metadata: {name: NS}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: a, namespace: NS-in}
---
apiVersion: v1
kind: Namespace
metadata: {name: NS-in}
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: orchards.NS.example.com}
spec:
  group: NS.example.com
  scope: Cluster
  names: {kind: Orchard, plural: orchards}
  versions:
  - name: v1
    served: true
    storage: true
    schema: {openAPIV3Schema: {type: object}}
";
    at.file("all.yaml", text).file("main.tf", STAGES).init().await;
    at.apply().await;
    at.plan_empty().await;
    let keys = at.runner.outputs().await.unwrap()["keys"]["value"].clone();
    let expected = serde_json::json!([
        [format!("apiextensions.k8s.io.customresourcedefinition.orchards.{namespace}.example.com")],
        [
            format!("namespace.{namespace}-in"),
            format!("{namespace}.example.com.orchard.{namespace}"),
        ],
        [format!("configmap.{namespace}-in.a")],
    ]);
    let sorted = |mut keys: serde_json::Value| {
        for group in keys.as_array_mut().unwrap() {
            group.as_array_mut().unwrap().sort_by_key(ToString::to_string);
        }
        keys
    };
    assert_eq!(sorted(keys), sorted(expected));
    at.destroy().await;
}

const PATTERN: &str = r#"
data "k8sconnect_yaml_split" "all" {
  pattern = "${path.module}/manifests/**/*.yaml"
}
resource "k8sconnect_object" "all" {
  for_each  = data.k8sconnect_yaml_split.all.manifests
  yaml_body = each.value
  cluster   = { kubeconfig = file("kubeconfig") }
}
"#;

#[tokio::test]
async fn files_are_found_by_pattern_and_what_is_wrong_in_them_by_file_and_line() {
    let at = Workspace::new(Tool::Terraform).await;
    at.file("main.tf", PATTERN).init().await;
    let plan = at.plan_fails().await;
    says(&plan.text, "No file fits `./manifests/**/*.yaml`");

    at.file("manifests/deep/er/vendor.yaml", VENDOR).file("manifests/sa.yaml", FIRST);
    says(&at.plan_changes().await.text, "3 to add");
    at.apply().await;
    at.plan_empty().await;

    at.file("manifests/again.yaml", FIRST).file("manifests/values.yaml", "replicas: 2\n");
    let plan = at.plan_fails().await;
    let namespace = at.namespace.name();
    says(
        &plan.text,
        &format!(
            "`manifests/sa.yaml`, document 1, line 2: ServiceAccount `{namespace}/runner` is already \
             written in `manifests/again.yaml`, document 1, line 2"
        ),
    );
    says(&plan.text, "`manifests/values.yaml`, document 1, line 1: `apiVersion` is missing");
    never_says(&plan.text, "hunter2");
    std::fs::remove_file(at.runner.directory().join("manifests/again.yaml")).unwrap();
    std::fs::remove_file(at.runner.directory().join("manifests/values.yaml")).unwrap();
    at.destroy().await;
}

/// Many small documents take more than few large ones.
#[tokio::test]
async fn ten_megabytes_are_split_in_a_hundred_of_memory() {
    let folder = tempfile::tempdir().unwrap();
    let provider = testkit::terraform::provider_binary().await.unwrap();
    let warded = Warded::new(folder.path(), &provider).await.unwrap();
    let mut at = Workspace::new(Tool::Terraform).await;
    at.runner =
        Runner::with_mirrored(Tool::Terraform, &[Mirrored::ours(warded.program())]).await.unwrap();
    let document = |at| {
        format!(
            "---\n# of a vendor\napiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: settings-{at}\n  \
             namespace: shop\n  labels: {{app.kubernetes.io/name: shop}}\ndata:\n  mode: {:?}\n",
            "x".repeat(100)
        )
    };
    let text: String = (0..42_000).map(document).collect();
    assert!(text.len() > 10_000_000);
    let main = r#"
data "k8sconnect_yaml_split" "all" { pattern = "${path.module}/all.yaml" }
output "count" { value = length(data.k8sconnect_yaml_split.all.manifests) }
"#;
    at.head().file("all.yaml", &text).file("main.tf", main).init().await;
    says(&at.plan_changes().await.text, "count = 42000");
    let used = warded.take().unwrap();
    assert!(used.peak < 100_000_000, "{used:?}");
}

const KUSTOMIZE: &str = r#"
data "k8sconnect_yaml_split" "all" {
  kustomize_path = "${path.module}/overlay"
}
output "manifests" {
  value = data.k8sconnect_yaml_split.all.manifests
}
"#;

/// A folder with one command in it, to be the whole `PATH` of a run.
fn only_command(at: &Workspace, name: &str, script: &str) -> String {
    let folder = at.runner.directory().join(format!("bin-{name}"));
    std::fs::create_dir_all(&folder).unwrap();
    let command = folder.join(name);
    std::fs::write(&command, format!("#!/bin/sh\n{script}\n")).unwrap();
    std::fs::set_permissions(&command, std::fs::Permissions::from_mode(0o755)).unwrap();
    folder.display().to_string()
}

#[tokio::test]
async fn kustomize_is_the_users_own_and_speaks_for_itself() {
    let mut at = Workspace::new(Tool::Terraform).await;
    at.file("main.tf", KUSTOMIZE);
    at.file("overlay/kustomization.yaml", "resources: [cm.yaml]\nnamePrefix: prod-\n");
    at.file("overlay/cm.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n");
    at.init().await;

    let nothing = at.runner.directory().join("empty");
    std::fs::create_dir(&nothing).unwrap();
    at.runner.env("PATH", nothing.to_str().unwrap());
    says(&at.plan_fails().await.text, "Neither `kustomize` nor `kubectl` is installed");

    let failing = only_command(&at, "kustomize", "echo \"no base at $3\" >&2; exit 1");
    at.runner.env("PATH", &failing);
    let plan = at.plan_fails().await;
    says(&plan.text, "`kustomize build ./overlay` failed");
    says(&plan.text, "no base at ./overlay");

    // Each does alone, and `kustomize` is preferred where both are there.
    let other = only_command(&at, "kubectl", "echo nobody asked for me >&2; exit 1");
    for (asset, beside) in [(Asset::Kubectl, nothing.to_str().unwrap()), (Asset::Kustomize, &other)]
    {
        let name = asset.binary();
        let kustomization = format!("resources: [cm.yaml]\nnamePrefix: {name}-\n");
        at.file("overlay/kustomization.yaml", &kustomization);
        at.runner.env("PATH", beside);
        at.runner.offer(asset).await.unwrap();
        at.apply().await;
        let manifests = at.runner.outputs().await.unwrap()["manifests"]["value"].clone();
        let text = manifests[format!("configmap.{name}-a")].as_str().unwrap_or_default();
        assert!(text.contains(&format!("name: {name}-a")), "{manifests}");
    }
}

#[tokio::test]
async fn functions_are_known_at_plan_where_their_arguments_are() {
    for tool in Tool::ALL {
        functions_are_known(tool).await;
    }
}

async fn functions_are_known(tool: Tool) {
    let at = Workspace::new(tool).await;
    let text = r#"
locals {
  manifest = provider::k8sconnect::manifest_decode(file("vendor-settings.yaml"))
  changed  = merge(local.manifest, { data = { mode = "0600", on = "off" } })
}
resource "k8sconnect_object" "first" {
  yaml_body = provider::k8sconnect::manifest_encode(local.changed)
  cluster   = { kubeconfig = file("kubeconfig") }
}
resource "k8sconnect_object" "second" {
  yaml_body = provider::k8sconnect::manifest_encode({
    apiVersion = "v1"
    kind       = "ConfigMap"
    metadata   = { name = "second", namespace = "NS" }
    data       = { uid = k8sconnect_object.first.uid }
  })
  cluster = { kubeconfig = file("kubeconfig") }
}
"#;
    let settings = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: first, namespace: NS}\n";
    at.file("vendor-settings.yaml", settings).file("main.tf", text).init().await;
    let plan = at.plan_changes().await;
    says(&plan.text, "mode: \"0600\"");
    says(&plan.text, "\"on\": \"off\"");
    says(&plan.text, "2 to add");
    at.apply().await;
    at.plan_empty().await;

    at.file("vendor-settings.yaml", &format!("{settings}---\n{settings}"));
    let plan = at.plan_fails().await;
    says(&plan.text, "it holds 2 documents, the second at line 5");
    at.file("vendor-settings.yaml", settings);
    at.destroy().await;
}
