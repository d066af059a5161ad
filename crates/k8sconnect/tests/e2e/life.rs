//! From nothing to nothing: plan, apply, change, replace, destroy.

use serde_json::json;
use testkit::{Target, Tool};

use crate::workspace::{CONFIG_MAP, DEPLOYMENT, Workspace, says};

async fn whole_life(tool: Tool) {
    let at = Workspace::new(tool).await;
    at.objects(&[("settings", CONFIG_MAP), ("web", DEPLOYMENT)]).init().await;

    let plan = at.plan_changes().await;
    says(&plan.text, "2 to add");
    // Known before anything is made, in the server's spelling.
    says(&plan.text, r#""data.greeting"#);
    says(&plan.text, r#""spec.template.spec.containers[name=web].resources.limits.cpu""#);
    says(&plan.text, r#"= "\"1\"""#);

    at.apply().await;
    at.plan_empty().await;

    at.objects(&[
        ("settings", &CONFIG_MAP.replace("workers = 2", "workers = 3")),
        ("web", DEPLOYMENT),
    ]);
    let plan = at.plan_changes().await;
    says(&plan.text, "0 to add, 1 to change, 0 to destroy");
    says(&plan.text, "workers = 3");
    at.apply().await;
    at.plan_empty().await;

    at.destroy().await;
    for (api_version, kind, name) in
        [("v1", "ConfigMap", "settings"), ("apps/v1", "Deployment", "web")]
    {
        let target = Target::new(api_version, kind, at.namespace.name(), name);
        assert_eq!(at.cluster.read(&target).await.unwrap(), None, "{kind}");
    }
}

#[tokio::test]
async fn terraform_walks_objects_through_their_whole_life() {
    whole_life(Tool::Terraform).await;
}

#[tokio::test]
async fn opentofu_walks_objects_through_their_whole_life() {
    whole_life(Tool::OpenTofu).await;
}

#[tokio::test]
async fn the_newest_terraform_walks_objects_through_their_whole_life() {
    whole_life(Tool::NEWEST_TERRAFORM).await;
}

#[tokio::test]
async fn a_bare_namespace_comes_and_goes() {
    let at = Workspace::new(Tool::Terraform).await;
    let body = "apiVersion: v1\nkind: Namespace\nmetadata:\n  name: NS-bare\n";
    at.objects(&[("bare", body)]).init().await;
    at.apply().await;
    at.plan_empty().await;
    at.destroy().await;
    let target = Target::new("v1", "Namespace", None, &format!("{}-bare", at.namespace.name()));
    assert_eq!(at.cluster.read(&target).await.unwrap(), None);
}

#[tokio::test]
async fn another_name_replaces_the_object_and_leaves_no_orphan() {
    let at = Workspace::new(Tool::Terraform).await;
    at.objects(&[("settings", CONFIG_MAP)]).init().await;
    at.apply().await;

    at.objects(&[("settings", &CONFIG_MAP.replace("name: settings", "name: renamed"))]);
    let plan = at.plan_changes().await;
    says(&plan.text, "must be replaced");
    says(&plan.text, "metadata.name: settings -> renamed");
    at.apply().await;
    at.plan_empty().await;
    let old = Target::new("v1", "ConfigMap", at.namespace.name(), "settings");
    assert_eq!(at.cluster.read(&old).await.unwrap(), None);
    at.destroy().await;
}

#[tokio::test]
async fn a_tainted_object_is_made_anew_under_the_same_name() {
    let at = Workspace::new(Tool::Terraform).await;
    at.objects(&[("settings", CONFIG_MAP)]).init().await;
    at.apply().await;
    let target = Target::new("v1", "ConfigMap", at.namespace.name(), "settings");
    let before = at.cluster.read(&target).await.unwrap().unwrap();

    at.runner.run(&["taint", "k8sconnect_object.settings"]).await.unwrap().successful().unwrap();
    let plan = at.plan_changes().await;
    says(&plan.text, "is tainted, so must be replaced");
    at.apply().await;
    at.plan_empty().await;
    let after = at.cluster.read(&target).await.unwrap().unwrap();
    assert_ne!(before["metadata"]["uid"], after["metadata"]["uid"]);
    at.destroy().await;
}

#[tokio::test]
async fn an_object_deleted_by_others_is_planned_anew() {
    let at = Workspace::new(Tool::Terraform).await;
    at.objects(&[("settings", CONFIG_MAP)]).init().await;
    at.apply().await;
    let target = Target::new("v1", "ConfigMap", at.namespace.name(), "settings");
    at.cluster.delete(&target).await.unwrap();
    let plan = at.plan_changes().await;
    says(&plan.text, "1 to add");
    at.apply().await;
    at.plan_empty().await;
    at.destroy().await;
}

#[tokio::test]
async fn destroy_leaves_a_namesake_of_others_alone() {
    let at = Workspace::new(Tool::Terraform).await;
    at.objects(&[("settings", CONFIG_MAP)]).init().await;
    at.apply().await;
    let target = Target::new("v1", "ConfigMap", at.namespace.name(), "settings");
    at.cluster.delete(&target).await.unwrap();
    let namesake = json!({
        "apiVersion": "v1", "kind": "ConfigMap",
        "metadata": {"name": "settings", "namespace": at.namespace.name()},
        "data": {"whose": "theirs"},
    });
    at.cluster.act_as("somebody").create(namesake).await.unwrap();
    let destroyed = at.runner.run(&["destroy", "-auto-approve", "-no-color", "-refresh=false"]);
    let destroyed = destroyed.await.unwrap().successful().unwrap();
    says(&destroyed.text, "is another object now and was left alone");
    let left = at.cluster.read(&target).await.unwrap().unwrap();
    assert_eq!(left["data"]["whose"], "theirs");
}
