//! `yaml_body_wo`: a body that comes neither into a plan nor into state.

use serde_json::{Value, json};
use testkit::{Target, Tool};

use crate::workspace::{Workspace, never_says, says};

const SECRET: &str = "
apiVersion: v1
kind: Secret
metadata:
  name: keys
  namespace: NS
  labels: {team: shop}
stringData:
  password: ${var.password}
";

/// Writes the one resource; the password is an ephemeral variable.
fn write(at: &mut Workspace, body: &str, version: &str, password: &str) {
    let body = body.replace("NS", at.namespace.name());
    let main = format!(
        "variable \"password\" {{\n  type = string\n  ephemeral = true\n}}\n\
         resource \"k8sconnect_object\" \"keys\" {{\n  \
         cluster = {{ kubeconfig = file(\"kubeconfig\") }}\n  \
         yaml_body_wo_version = {version}\n  yaml_body_wo = <<-YAML\n{}\nYAML\n}}\n",
        body.trim_end()
    );
    at.runner.write("main.tf", &main).unwrap();
    at.runner.variable("password", password);
}

fn target(at: &Workspace) -> Target {
    Target::new("v1", "Secret", at.namespace.name(), "keys")
}

async fn password(at: &Workspace) -> Value {
    at.cluster.read(&target(at)).await.unwrap().unwrap()["data"]["password"].clone()
}

/// `hunter2`, `hunter3` and `hunter4` in base64.
const ENCODED: [&str; 3] = ["aHVudGVyMg==", "aHVudGVyMw==", "aHVudGVyNA=="];

async fn is_applied_by_its_version_and_stored_nowhere(tool: Tool) {
    let mut at = Workspace::new(tool).await;
    write(&mut at, SECRET, "1", "hunter2");
    at.init().await;
    at.apply().await;
    at.plan_empty().await;
    assert_eq!(password(&at).await, ENCODED[0]);

    // Without another version nothing is compared, as the documentation says.
    write(&mut at, SECRET, "1", "hunter3");
    at.plan_empty().await;

    write(&mut at, SECRET, "2", "hunter3");
    let plan = at.plan_changes().await;
    says(&plan.text, "} -> (known after apply)");
    says(&plan.text, "0 to add, 1 to change, 0 to destroy");
    // The apply may be given other values than the plan.
    at.runner.variable("password", "hunter4");
    at.runner.apply_planned().await.unwrap().successful().unwrap();
    at.plan_empty().await;
    assert_eq!(password(&at).await, ENCODED[2]);

    let edit = json!({"data": {"password": ENCODED[0]}, "metadata": {"labels": {"team": "x"}}});
    at.cluster.act_as("kubectl-edit").merge_patch(&target(&at), edit).await.unwrap();
    let plan = at.plan_changes().await;
    says(&plan.text, "2 fields changed outside of Terraform");
    at.runner.apply_planned().await.unwrap().successful().unwrap();
    at.plan_empty().await;
    assert_eq!(password(&at).await, ENCODED[2]);
    for text in [at.runner.show().await.unwrap().to_string(), plan.text] {
        for part in ["hunter", "aHVudGVy"] {
            never_says(&text, part);
        }
    }
    at.destroy().await;
    assert_eq!(at.cluster.read(&target(&at)).await.unwrap(), None);
}

#[tokio::test]
async fn terraform_applies_it_by_its_version_and_stores_it_nowhere() {
    is_applied_by_its_version_and_stored_nowhere(Tool::Terraform).await;
}

#[tokio::test]
async fn opentofu_applies_it_by_its_version_and_stores_it_nowhere() {
    is_applied_by_its_version_and_stored_nowhere(Tool::OpenTofu).await;
}

#[tokio::test]
async fn another_name_is_another_object_and_says_so_where_the_version_is_the_same() {
    let mut at = Workspace::new(Tool::Terraform).await;
    write(&mut at, SECRET, "1", "hunter2");
    at.init().await;
    at.apply().await;
    let renamed = SECRET.replace("name: keys", "name: locks");
    write(&mut at, &renamed, "1", "hunter2");
    let plan = at.plan_fails().await;
    says(&plan.text, "`yaml_body_wo` means another object, and its version is the same");
    write(&mut at, &renamed, "2", "hunter2");
    let plan = at.plan_changes().await;
    says(&plan.text, "1 to add, 0 to change, 1 to destroy");
    at.apply().await;
    at.plan_empty().await;
    assert_eq!(at.cluster.read(&target(&at)).await.unwrap(), None);
    at.destroy().await;
}

#[tokio::test]
async fn what_cannot_change_is_replaced_on_proof_though_the_former_body_is_not_known() {
    let mut at = Workspace::new(Tool::Terraform).await;
    let fixed = format!("{SECRET}\nimmutable: true\n");
    write(&mut at, &fixed, "1", "hunter2");
    at.init().await;
    at.apply().await;
    write(&mut at, &fixed, "2", "hunter3");
    let plan = at.plan_changes().await;
    says(&plan.text, "must be replaced");
    says(&plan.text, "restore the old values in `yaml_body_wo`");
    says(&plan.text, "1 to add, 0 to change, 1 to destroy");
    for part in ["hunter", "aHVudGVy"] {
        never_says(&plan.text, part);
    }
    at.apply().await;
    at.plan_empty().await;
    assert_eq!(password(&at).await, ENCODED[1]);
    at.destroy().await;
}

#[tokio::test]
async fn a_stored_body_moves_out_of_state_and_back() {
    let mut at = Workspace::new(Tool::Terraform).await;
    let stored = SECRET.replace("${var.password}", "hunter2");
    at.object_with("keys", &stored, "").init().await;
    at.apply().await;
    let before = at.cluster.read(&target(&at)).await.unwrap().unwrap();
    write(&mut at, SECRET, "1", "hunter2");
    let plan = at.plan_changes().await;
    says(&plan.text, "0 to add, 1 to change, 0 to destroy");
    at.apply().await;
    at.plan_empty().await;
    never_says(&at.runner.show().await.unwrap().to_string(), "hunter2");

    at.object_with("keys", &stored, "");
    at.plan_changes().await;
    at.apply().await;
    at.plan_empty().await;
    let after = at.cluster.read(&target(&at)).await.unwrap().unwrap();
    assert_eq!(before, after, "the object itself was to stay as it was");
    at.destroy().await;
}

#[tokio::test]
async fn it_is_adopted_tainted_and_replaced_like_any_other() {
    let mut at = Workspace::new(Tool::Terraform).await;
    let there = json!({"apiVersion": "v1", "kind": "Secret", "data": {"password": ENCODED[1]},
        "metadata": {"name": "keys", "namespace": at.namespace.name()}});
    at.cluster.act_as("vault").create(there).await.unwrap();
    write(&mut at, SECRET, "1", "hunter2");
    at.init().await;
    let plan = at.plan_fails().await;
    says(&plan.text, "exists already");
    says(&plan.text, "nothing of the object comes into state");
    never_says(&plan.text, "terraform import");
    write(&mut at, SECRET, "1\n  adopt = true", "hunter2");
    let plan = at.plan_changes().await;
    says(&plan.text, "exists already and will be taken over");
    for part in ["hunter", "aHVudGVy"] {
        never_says(&plan.text, part);
    }
    at.apply().await;
    at.plan_empty().await;
    let first = at.cluster.read(&target(&at)).await.unwrap().unwrap();
    assert_eq!(first["data"]["password"], ENCODED[0]);
    at.runner.run(&["taint", "k8sconnect_object.keys"]).await.unwrap().successful().unwrap();
    at.apply().await;
    at.plan_empty().await;
    let second = at.cluster.read(&target(&at)).await.unwrap().unwrap();
    assert_ne!(first["metadata"]["uid"], second["metadata"]["uid"]);
    at.destroy().await;
}

#[tokio::test]
async fn lines_that_may_hold_a_secret_are_not_printed_with_an_error() {
    let mut at = Workspace::new(Tool::Terraform).await;
    let literal = SECRET.replace("${var.password}", "hunter2\n  broken: [");
    write(&mut at, &literal, "1", "");
    at.init().await;
    let plan = at.plan_fails().await;
    says(&plan.text, "`yaml_body_wo` is not one Kubernetes object");
    never_says(&plan.text, "hunter2");
    at.object_with("keys", &literal, "");
    let plan = at.plan_fails().await;
    says(&plan.text, "`yaml_body` is not one Kubernetes object");
    never_says(&plan.text, "hunter2");
    let map = literal.replace("kind: Secret", "kind: ConfigMap").replace("stringData", "data");
    at.object_with("keys", &map, r#"sensitive_fields = ["data.password"]"#);
    never_says(&at.plan_fails().await.text, "hunter2");
}

#[tokio::test]
async fn it_stands_alone_and_with_a_version() {
    let at = Workspace::new(Tool::Terraform).await;
    let body = "apiVersion: v1\nkind: Secret\nmetadata: {name: a, namespace: NS}";
    let wrong = [
        ("yaml_body_wo = \"a: b\"\n  yaml_body_wo_version = 1", "The object has two bodies"),
        ("yaml_body_wo_version = 1", "`yaml_body_wo_version` is set without `yaml_body_wo`"),
    ];
    at.object_with("keys", body, wrong[0].0).init().await;
    for (arguments, words) in wrong {
        at.object_with("keys", body, arguments);
        says(&at.plan_fails().await.text, words);
    }
    let alone = "resource \"k8sconnect_object\" \"keys\" {\n  \
        cluster = { kubeconfig = file(\"kubeconfig\") }\n";
    at.runner.write("main.tf", &format!("{alone}}}\n")).unwrap();
    says(&at.plan_fails().await.text, "The object has no body");
    at.runner.write("main.tf", &format!("{alone}  yaml_body_wo = \"{{}}\"\n}}\n")).unwrap();
    says(&at.plan_fails().await.text, "`yaml_body_wo` needs a version");
}
