//! What cannot be, said before anything is touched.

use serde_json::json;
use testkit::Tool;

use crate::workspace::{CONFIG_MAP, DEPLOYMENT, Workspace, says};

#[tokio::test]
async fn a_misspelt_field_is_a_plan_error_that_names_it() {
    let at = Workspace::new(Tool::Terraform).await;
    at.objects(&[("web", &DEPLOYMENT.replace("replicas:", "replcas:"))]).init().await;
    let plan = at.plan_fails().await;
    says(&plan.text, ".spec.replcas: field not declared in schema");
    says(&plan.text, "does not fit its schema");
}

#[tokio::test]
async fn a_misspelt_kind_names_the_nearest() {
    let at = Workspace::new(Tool::Terraform).await;
    at.objects(&[("web", &DEPLOYMENT.replace("kind: Deployment", "kind: Deploymnet"))])
        .init()
        .await;
    let plan = at.plan_fails().await;
    says(&plan.text, "Did you mean `Deployment`?");
}

#[tokio::test]
async fn an_object_of_others_is_not_taken_over() {
    let at = Workspace::new(Tool::Terraform).await;
    let theirs = json!({
        "apiVersion": "v1", "kind": "ConfigMap",
        "metadata": {"name": "settings", "namespace": at.namespace.name()},
        "data": {"whose": "theirs"},
    });
    at.cluster.act_as("helm").apply(theirs).await.unwrap();
    at.objects(&[("settings", CONFIG_MAP)]).init().await;
    let plan = at.plan_fails().await;
    says(&plan.text, "exists already");
    says(&plan.text, "held by `helm`");
}

#[tokio::test]
async fn a_broken_body_is_told_with_all_its_problems() {
    let at = Workspace::new(Tool::Terraform).await;
    let body = "apiVersion: v1\nkind: Pod\nmetadata:\n  name: 3\nstatus: {}\n";
    at.objects(&[("broken", body)]).init().await;
    let plan = at.plan_fails().await;
    says(&plan.text, "2 problems found");
    says(&plan.text, "line 4: `metadata.name` must be text");
    says(&plan.text, "line 5: `status` is written by the API server");
}

#[tokio::test]
async fn a_missing_namespace_lets_the_plan_go_on_and_says_why() {
    let at = Workspace::new(Tool::Terraform).await;
    at.objects(&[("settings", &CONFIG_MAP.replace("namespace: NS", "namespace: NS-later"))])
        .init()
        .await;
    let plan = at.plan_changes().await;
    says(&plan.text, "cannot be planned in full yet");
    says(&plan.text, "does not exist at the moment");
}

#[tokio::test]
async fn a_server_that_cannot_be_reached_loses_nothing() {
    let at = Workspace::new(Tool::Terraform).await;
    at.objects(&[("settings", CONFIG_MAP)]).init().await;
    at.apply().await;
    let alive = at.cluster.kubeconfig();
    at.kubeconfig(&alive.replace(at.cluster.url(), "https://127.0.0.1:1"));
    // State takes the new way in without asking; from now on it leads nowhere.
    at.apply().await;
    let plan = at.plan_fails().await;
    says(&plan.text, "Cannot reach the API server");
    let state = at.runner.state(&["list"]).await.unwrap();
    says(&state.text, "k8sconnect_object.settings");

    at.kubeconfig(&alive);
    at.runner.apply_with(&["-refresh=false"]).await.unwrap().successful().unwrap();
    at.plan_empty().await;
    at.destroy().await;
}
