//! What others do to our objects, and how it is told.

use serde_json::json;
use testkit::{Target, Tool};

use crate::workspace::{CONFIG_MAP, DEPLOYMENT, Workspace, never_says, says};

async fn drift_is_told_and_repaired(tool: Tool) {
    let at = Workspace::new(tool).await;
    at.objects(&[("settings", CONFIG_MAP)]).init().await;
    at.apply().await;
    let target = Target::new("v1", "ConfigMap", at.namespace.name(), "settings");
    let edit = json!({"data": {"app.conf": "workers = 9\n"}});
    at.cluster.act_as("kubectl-edit").merge_patch(&target, edit).await.unwrap();

    let plan = at.plan_changes().await;
    for words in [
        "1 field changed outside of Terraform",
        r#"data["app.conf"]"#,
        "`kubectl-edit` (Update, ",
        r"is now workers = 9\n",
        r"will be workers = 2\n",
    ] {
        says(&plan.text, words);
    }
    let applied = at.runner.apply_planned().await.unwrap().successful().unwrap();
    never_says(&applied.text, "changed outside of Terraform");
    at.plan_empty().await;
    let repaired = at.cluster.read(&target).await.unwrap().unwrap();
    assert_eq!(repaired["data"]["app.conf"], "workers = 2\n");
    at.destroy().await;
}

#[tokio::test]
async fn terraform_tells_of_drift_once_and_repairs_it() {
    drift_is_told_and_repaired(Tool::Terraform).await;
}

#[tokio::test]
async fn opentofu_tells_of_drift_once_and_repairs_it() {
    drift_is_told_and_repaired(Tool::OpenTofu).await;
}

#[tokio::test]
async fn what_others_add_is_no_drift() {
    let at = Workspace::new(Tool::Terraform).await;
    at.objects(&[("web", DEPLOYMENT)]).init().await;
    at.apply().await;
    let target = Target::new("apps/v1", "Deployment", at.namespace.name(), "web");
    let sidecar = json!({"spec": {"template": {"spec": {"containers": [
        {"name": "sidecar", "image": "mesh:1"}
    ]}}}});
    at.cluster.act_as("injector").strategic_patch(&target, sidecar).await.unwrap();
    at.plan_empty().await;

    at.objects(&[("web", &DEPLOYMENT.replace("nginx:1.29", "nginx:1.30"))]);
    let plan = at.plan_changes().await;
    never_says(&plan.text, "sidecar");
    at.apply().await;
    at.plan_empty().await;
    let live = at.cluster.read(&target).await.unwrap().unwrap();
    assert_eq!(live["spec"]["template"]["spec"]["containers"].as_array().unwrap().len(), 2);
    at.destroy().await;
}

#[tokio::test]
async fn an_equal_value_applied_by_another_is_calm() {
    let at = Workspace::new(Tool::Terraform).await;
    at.objects(&[("settings", CONFIG_MAP)]).init().await;
    at.apply().await;
    let same = json!({
        "apiVersion": "v1", "kind": "ConfigMap",
        "metadata": {"name": "settings", "namespace": at.namespace.name()},
        "data": {"greeting": "hello"},
    });
    at.cluster.act_as("flux").apply(same).await.unwrap();
    let plan = at.plan_empty().await;
    never_says(&plan.text, "flux");

    // Changing it takes it from the co-owner, which is told.
    at.objects(&[("settings", &CONFIG_MAP.replace("hello", "good day"))]);
    let plan = at.plan_changes().await;
    says(&plan.text, "1 field will be taken from other managers");
    says(&plan.text, "`flux` (Apply");
    at.apply().await;
    at.plan_empty().await;
    at.destroy().await;
}

/// The plan and its apply are two processes, and only the first one has read the object.
async fn a_lost_owner_is_restored(tool: Tool) {
    let at = Workspace::new(tool).await;
    at.objects(&[("settings", CONFIG_MAP)]).init().await;
    at.apply().await;
    let target = Target::new("v1", "ConfigMap", at.namespace.name(), "settings");
    for greeting in ["theirs", "hello"] {
        let edit = json!({"data": {"greeting": greeting}});
        at.cluster.act_as("kubectl-edit").merge_patch(&target, edit).await.unwrap();
    }
    let plan = at.plan_changes().await;
    says(&plan.text, "1 field no longer owned by k8sconnect");
    says(&plan.text, "`kubectl-edit` (Update, ");
    says(&plan.text, "will be updated in-place");
    let applied = at.runner.apply_planned().await.unwrap().successful().unwrap();
    never_says(&applied.text, "no longer owned");
    at.plan_empty().await;
    let live = at.cluster.read(&target).await.unwrap().unwrap();
    assert_eq!(live["data"]["greeting"], "hello");
    let owners = live["metadata"]["managedFields"].as_array().unwrap().iter();
    let owners: Vec<_> = owners
        .filter(|entry| entry["fieldsV1"]["f:data"].get("f:greeting").is_some())
        .filter_map(|entry| entry["manager"].as_str())
        .collect();
    assert_eq!(owners, ["k8sconnect", "kubectl-edit"]);
    at.destroy().await;
}

#[tokio::test]
async fn terraform_restores_an_owner_that_was_lost_with_an_equal_value() {
    a_lost_owner_is_restored(Tool::Terraform).await;
}

#[tokio::test]
async fn the_newest_terraform_restores_an_owner_that_was_lost_with_an_equal_value() {
    a_lost_owner_is_restored(Tool::NEWEST_TERRAFORM).await;
}

#[tokio::test]
async fn opentofu_restores_an_owner_that_was_lost_with_an_equal_value() {
    a_lost_owner_is_restored(Tool::OpenTofu).await;
}

#[tokio::test]
async fn a_removed_field_that_another_holds_is_said_to_stay() {
    let at = Workspace::new(Tool::Terraform).await;
    at.objects(&[("settings", CONFIG_MAP)]).init().await;
    at.apply().await;
    let same = json!({
        "apiVersion": "v1", "kind": "ConfigMap",
        "metadata": {"name": "settings", "namespace": at.namespace.name()},
        "data": {"greeting": "hello"},
    });
    at.cluster.act_as("flux").apply(same).await.unwrap();
    at.objects(&[("settings", &CONFIG_MAP.replace("  greeting: hello\n", ""))]);
    let plan = at.plan_changes().await;
    says(&plan.text, "1 removed field will stay, held by others");
    at.apply().await;
    at.plan_empty().await;
    let target = Target::new("v1", "ConfigMap", at.namespace.name(), "settings");
    let live = at.cluster.read(&target).await.unwrap().unwrap();
    assert_eq!(live["data"]["greeting"], "hello");
    at.destroy().await;
}

#[tokio::test]
async fn a_change_between_plan_and_apply_is_told_by_the_apply() {
    let at = Workspace::new(Tool::Terraform).await;
    at.objects(&[("settings", CONFIG_MAP)]).init().await;
    at.apply().await;
    at.objects(&[("settings", &CONFIG_MAP.replace("workers = 2", "workers = 3"))]);
    at.plan_changes().await;
    let target = Target::new("v1", "ConfigMap", at.namespace.name(), "settings");
    let edit = json!({"data": {"greeting": "theirs"}});
    at.cluster.act_as("kubectl-edit").merge_patch(&target, edit).await.unwrap();
    let applied = at.runner.apply_planned().await.unwrap().successful().unwrap();
    says(&applied.text, "1 field changed outside of Terraform");
    says(&applied.text, "`kubectl-edit` (Update, ");
    at.plan_empty().await;
    at.destroy().await;
}

#[tokio::test]
async fn filling_an_empty_map_is_nobodys_drift_and_shows_no_secret() {
    let at = Workspace::new(Tool::Terraform).await;
    let secret = "
apiVersion: v1
kind: Secret
metadata: {name: keys, namespace: NS}
stringData: {}
";
    let web = DEPLOYMENT.replace(
        "      containers:",
        "      volumes: [{name: v, emptyDir: {}}]\n      containers:",
    );
    at.objects(&[("keys", secret), ("web", &web)]).init().await;
    at.apply().await;
    at.plan_empty().await;
    at.objects(&[
        ("keys", &secret.replace("stringData: {}", "stringData: {password: hunter2hunter2}")),
        ("web", &web.replace("emptyDir: {}", "emptyDir: {medium: Memory}")),
    ]);
    let plan = at.plan_changes().await;
    never_says(&plan.text, "Warning");
    never_says(&plan.text, "aHVudGVyMmh1bnRlcjI");
    at.apply().await;
    at.plan_empty().await;
    at.destroy().await;
}
