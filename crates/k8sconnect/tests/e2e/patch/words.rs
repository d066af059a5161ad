//! What a plan says of a hand-back is what the hand-back does.

use serde_json::{Value, json};
use testkit::owners::managers_of;
use testkit::{Target, Tool};

use super::round::Round;
use super::{owners, traces};
use crate::workspace::{never_says, says};

fn managers(state: &Value, path: &str) -> Vec<String> {
    let owners = state["previous_owners"][path].as_array().unwrap();
    owners.iter().map(|owner| owner["manager"].as_str().unwrap().to_owned()).collect()
}

#[tokio::test]
async fn a_destroy_says_of_each_field_what_really_becomes_of_it() {
    let mut round = Round::new().await;
    let cluster = round.at.cluster;
    let settings = round.object_of("creator", "settings", json!({"data": {}})).await;
    round.object_of("own1", "settings", json!({"data": {"same": "x", "old": "1"}})).await;
    round.object_of("own2", "settings", json!({"data": {"same": "x"}})).await;
    let plain = round.object("plain", json!({"data": {"k": "v"}})).await;
    let v1 = json!({"apiVersion": "autoscaling/v1", "kind": "HorizontalPodAutoscaler",
        "spec": {"minReplicas": 1, "maxReplicas": 3,
        "targetCPUUtilizationPercentage": 50,
        "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"}}});
    let body = round.body("scaler", v1);
    cluster.act_as("old-helm").apply(&body).await.unwrap();
    let hpa = Target { api_version: "autoscaling/v2".into(), ..Target::of(&body).unwrap() };
    round.patch("new", &settings, ("patch", "data: {new: ours}"));
    round.patch("same", &settings, ("patch", "data: {same: x}"));
    round.patch("gone", &settings, ("merge_patch", "data: {old: null}"));
    round.patch("empty", &plain, ("patch", "data: {}"));
    let metrics = "spec: {maxReplicas: 9, metrics: [{type: Resource, resource: {name: cpu, \
                   target: {type: Utilization, averageUtilization: 80}}}]}";
    round.patch("hpa", &hpa, ("patch", metrics));
    let before = round.owners().await;
    round.write().at.init().await;
    round.at.apply().await;
    round.at.plan_empty().await;
    assert_eq!(
        managers(&round.state("new").await, "data.new"),
        [""; 0],
        "a map is not its entries"
    );
    assert_eq!(managers(&round.state("same").await, "data.same"), ["own1", "own2"]);
    assert_eq!(managers(&round.state("gone").await, "data.old"), ["own1"]);
    assert_eq!(managers(&round.state("empty").await, "data"), [""; 0]);
    let state = round.state("hpa").await;
    assert_eq!(managers(&state, "spec.metrics"), [""; 0], "it has another path in v1");
    assert_eq!(managers(&state, "spec.maxReplicas"), ["old-helm"]);

    // Both who held the same value let go of it.
    for owner in ["own1", "own2"] {
        let nothing = round.body("settings", json!({}));
        cluster.act_as(owner).apply(nothing).await.unwrap();
    }
    let plan = round.at.runner.plan_with(&["-destroy"]).await.unwrap();
    says(&plan.text, "data.new stays as it is, held by nobody");
    says(&plan.text, "data.same stays as it is, held by nobody");
    says(&plan.text, "data.old stays absent");
    says(&plan.text, "`data` will be let go");
    says(&plan.text, "spec.metrics stays as it is");
    says(&plan.text, "as `autoscaling/v1` has it, returns to `old-helm` (Apply");
    says(&plan.text, "spec.maxReplicas returns to `old-helm` (Apply");
    never_says(&plan.text, "returns to `own1`");
    never_says(&plan.text, "Applying sets");
    round.at.runner.apply_planned().await.unwrap().successful().unwrap();
    let live = round.live().await;
    for (name, object) in &live {
        assert_eq!(traces(object), [""; 0], "{name}");
    }
    let settings = &live[0].1;
    for field in ["f:new", "f:same"] {
        assert!(managers_of(settings, &["f:data", field]).is_empty(), "{field}: {settings}");
    }
    assert_eq!(settings["data"], json!({"new": "ours", "same": "x"}), "values stay");
    assert_eq!(owners(&live[3].1), before[3].1, "an empty map took nothing");
    assert_eq!(owners(&live[4].1), before[4].1, "what was written in another version");
}

async fn a_field_is_said_to_stay_with_whoever_holds_it_besides(tool: Tool) {
    let mut round = Round::run_by(tool).await;
    let cluster = round.at.cluster;
    let settings = round.object("settings", json!({"data": {"a": "helm", "b": "b"}})).await;
    round.patch("it", &settings, ("patch", "data: {a: ours, b: b}"));
    round.write().at.init().await;
    round.at.apply().await;
    round.object_of("flux", "settings", json!({"data": {"a": "ours"}})).await;
    // Drift is set right by an apply, and no business of a destroy.
    let edit = json!({"data": {"b": "edited"}});
    cluster.act_as("kubectl-edit").merge_patch(&settings, edit).await.unwrap();
    for flags in [&["-destroy"][..], &["-destroy", "-refresh=false"]] {
        let plan = round.at.runner.plan_with(flags).await.unwrap();
        says(&plan.text, "data.a returns to `helm` (Apply");
        says(&plan.text, ", stays with `flux` (Apply");
        says(&plan.text, "data.b stays with `kubectl-edit` (Update");
        never_says(&plan.text, "Applying sets");
        never_says(&plan.text, "changed outside of Terraform");
    }
    round.at.destroy().await;
    let live = cluster.read(&settings).await.unwrap().unwrap();
    let held = |field: &str| -> Vec<String> {
        managers_of(&live, &["f:data", field]).into_iter().collect()
    };
    assert_eq!(held("f:a"), ["flux", "helm"]);
    assert_eq!(held("f:b"), ["kubectl-edit"]);
}

#[tokio::test]
async fn a_field_is_said_to_stay_with_whoever_holds_it_besides_with_terraform() {
    a_field_is_said_to_stay_with_whoever_holds_it_besides(Tool::Terraform).await;
}

#[tokio::test]
async fn a_field_is_said_to_stay_with_whoever_holds_it_besides_with_opentofu() {
    a_field_is_said_to_stay_with_whoever_holds_it_besides(Tool::OpenTofu).await;
}

async fn a_removal_that_joins_names_who_loses_the_field(tool: Tool) {
    let mut round = Round::run_by(tool).await;
    let settings = round.object("settings", json!({"data": {"a": "helm", "c": "helm"}})).await;
    round.patch("it", &settings, ("merge_patch", "data: {a: ours}"));
    round.write().at.init().await;
    round.at.apply().await;
    round.drop_patch("it");
    round.patch("it", &settings, ("merge_patch", "data: {a: ours, c: null}"));
    round.write();
    let plan = round.at.plan_changes().await;
    says(&plan.text, "`data.c` will be patched");
    says(&plan.text, "data.c held by `helm` (Apply");
    says(&plan.text, "is now helm will be (absent)");
    // Somebody else comes to hold it before the plan is carried out.
    let edit = json!({"data": {"c": "edited"}});
    round.at.cluster.act_as("ed").merge_patch(&settings, edit).await.unwrap();
    let applied = round.at.runner.apply_planned().await.unwrap().successful().unwrap();
    says(&applied.text, "data.c held by `ed` (Update");
    says(&applied.text, "is now edited will be (absent)");
    round.at.plan_empty().await;
    round.at.destroy().await;
}

#[tokio::test]
async fn a_removal_that_joins_names_who_loses_the_field_with_terraform() {
    a_removal_that_joins_names_who_loses_the_field(Tool::Terraform).await;
}

#[tokio::test]
async fn a_removal_that_joins_names_who_loses_the_field_with_opentofu() {
    a_removal_that_joins_names_who_loses_the_field(Tool::OpenTofu).await;
}
