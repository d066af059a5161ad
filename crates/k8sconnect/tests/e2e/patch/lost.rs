//! State, or a part of it, is lost; plans that are applied too late; patches that meet each other.

use std::collections::BTreeSet;

use serde_json::{Value, json};
use testkit::{Request, Tool};

use super::round::Round;
use super::{Clinic, owners};
use crate::workspace::{never_says, says};

const ADD: &str =
    r#"[{"op": "add", "path": "/metadata/finalizers/-", "value": "example.com/ours"}]"#;
const MORE: &str = r#"[{"op": "add", "path": "/metadata/finalizers/-", "value": "example.com/ours"}, {"op": "replace", "path": "/data/a", "value": "ours"}]"#;

#[tokio::test]
async fn without_private_state_nothing_is_added_twice_and_what_leaves_still_goes_back() {
    let mut round = Round::new().await;
    let cluster = round.at.cluster;
    let content =
        json!({"metadata": {"finalizers": ["example.com/theirs"]}, "data": {"a": "helm"}});
    let settings = round.object("settings", content).await;
    round.patch("it", &settings, ("json_patch", MORE));
    let before = round.owners().await;
    round.write().at.init().await;
    let bereave = || {
        let file = round.at.runner.directory().join("terraform.tfstate");
        let mut state: Value =
            serde_json::from_str(&std::fs::read_to_string(&file).unwrap()).unwrap();
        let instance = &mut state["resources"][0]["instances"][0];
        assert!(instance.as_object_mut().unwrap().remove("private").is_some());
        std::fs::write(&file, state.to_string()).unwrap();
    };
    round.at.apply().await;
    bereave();
    round.at.plan_empty().await;
    let text = round.at.runner.directory().join("main.tf");
    let written = std::fs::read_to_string(&text).unwrap();
    round.at.runner.write("main.tf", &written.replace("\"ours\"}]", "\"mine\"}]")).unwrap();
    round.at.apply().await;
    round.at.plan_empty().await;
    bereave();
    round.at.runner.write("main.tf", &written.replace(MORE, ADD)).unwrap();
    let plan = round.at.plan_changes().await;
    says(&plan.text, "data.a returns to `helm` (Apply");
    round.at.apply().await;
    round.at.plan_empty().await;
    let live = cluster.read(&settings).await.unwrap().unwrap();
    let finalizers = json!(["example.com/theirs", "example.com/ours"]);
    assert_eq!(live["metadata"]["finalizers"], finalizers, "added once");
    assert_eq!(live["data"]["a"], "mine", "its value stays");
    round.at.destroy().await;
    assert_eq!(round.owners().await, before);
    let clear = json!({"metadata": {"finalizers": null}});
    cluster.act_as("seed").merge_patch(&settings, clear).await.unwrap();
}

#[tokio::test]
async fn what_a_lost_state_left_behind_is_taken_over_with_adopt() {
    let clinic = Clinic::deployment().await;
    let before = clinic.owners().await;
    let text = ("patch", "spec: {replicas: 5}");
    clinic.patches(&[("it", text, "")]).at.init().await;
    clinic.at.apply().await;
    std::fs::remove_file(clinic.at.runner.directory().join("terraform.tfstate")).unwrap();
    let plan = clinic.at.plan_fails().await;
    says(&plan.text, "left behind by a run that was killed before it could write its state");
    clinic.patches(&[("it", text, "adopt = true")]);
    clinic.at.apply().await;
    clinic.at.plan_empty().await;
    let state = clinic.state().await;
    assert_eq!(state["previous_owners"]["spec.replicas"][0]["manager"], "autoscaler");
    clinic.at.destroy().await;
    assert_eq!(clinic.owners().await, before);
}

async fn a_replacement_that_is_made_first(tool: Tool) {
    let clinic = Clinic::with_tool("Deployment", tool).await;
    let before = clinic.owners().await;
    let text = ("patch", "spec: {replicas: 5}");
    let first = "lifecycle { create_before_destroy = true }";
    clinic.patches(&[("it", text, first)]).at.init().await;
    clinic.at.apply().await;
    let replace = ["-replace=k8sconnect_patch.it"];
    let run = clinic.at.runner.apply_with(&replace).await.unwrap();
    assert!(!run.succeeded(), "{}", run.text);
    says(&run.text, "about to be replaced with `create_before_destroy`");
    says(&run.text, "or set `adopt = true`, so that its fields are handed over");
    never_says(&run.text, "will be patched");
    let adopting = format!("{first}\n  adopt = true");
    if clinic.at.hands_over().await {
        // State is as it was.
        clinic.at.plan_empty().await;
        clinic.patches(&[("it", text, &adopting)]).at.apply().await;
    } else {
        // It does not say when it applies, so that its second plan is refused, which leaves the old
        // patch set aside. The way out that the next plan names works.
        let plan = clinic.at.plan_fails().await;
        says(&plan.text, "Once it is shown as deposed, only `adopt = true` helps");
        clinic.patches(&[("it", text, &adopting)]);
        let run = clinic.at.apply().await;
        says(&run.text, "1 added, 0 changed, 1 destroyed");
    }
    clinic.at.plan_empty().await;
    let run = clinic.at.runner.apply_with(&replace).await.unwrap().successful().unwrap();
    says(&run.text, "1 added, 0 changed, 1 destroyed");
    clinic.at.plan_empty().await;
    let state = clinic.state().await;
    assert_eq!(state["previous_owners"]["spec.replicas"][0]["manager"], "autoscaler");
    assert_eq!(clinic.live().await["spec"]["replicas"], 5);
    clinic.at.destroy().await;
    assert_eq!(clinic.owners().await, before);
}

#[tokio::test]
async fn a_replacement_that_is_made_first_needs_adopt_and_costs_nothing_with_the_newest_terraform()
{
    a_replacement_that_is_made_first(Tool::NEWEST_TERRAFORM).await;
}

#[tokio::test]
async fn a_replacement_that_is_made_first_needs_adopt_and_says_so_with_earlier_terraform() {
    a_replacement_that_is_made_first(Tool::Terraform).await;
}

#[tokio::test]
async fn a_replacement_that_is_made_first_needs_adopt_and_says_so_with_opentofu() {
    a_replacement_that_is_made_first(Tool::OpenTofu).await;
}

async fn positions_that_moved_since_the_plan(tool: Tool) {
    let clinic = Clinic::with_tool("Deployment", tool).await;
    let cluster = clinic.at.cluster;
    let image = |value: &str| {
        format!(
            r#"[{{"op": "replace", "path": "/spec/template/spec/containers/0/image", "value": "{value}"}}]"#
        )
    };
    let front = |name: &str| {
        json!([{"op": "add", "path": "/spec/template/spec/containers/0",
                "value": {"name": name, "image": "front:1"}}])
    };
    // Of a creation nobody tells us in the apply what was planned: Terraform itself compares.
    clinic.patch("json_patch", &image("ours:1")).at.init().await;
    clinic.at.plan_changes().await;
    cluster.act_as("injector").json_patch(&clinic.target, front("one")).await.unwrap();
    let seen = clinic.live().await["spec"].clone();
    let run = clinic.at.runner.apply_planned().await.unwrap();
    assert!(!run.succeeded(), "{}", run.text);
    says(&run.text, "Provider produced inconsistent final plan");
    assert_eq!(clinic.live().await["spec"], seen, "and nothing was written");
    clinic.at.apply().await;
    clinic.patch("json_patch", &image("ours:2"));
    clinic.at.plan_changes().await;
    cluster.act_as("injector").json_patch(&clinic.target, front("two")).await.unwrap();
    let seen = clinic.live().await["spec"].clone();
    let run = clinic.at.runner.apply_planned().await.unwrap();
    assert!(!run.succeeded(), "{}", run.text);
    says(&run.text, "changed since the plan was made");
    never_says(&run.text, "This is a bug in the provider");
    assert_eq!(clinic.live().await["spec"], seen, "and nothing was written");
    // Nor is a target taken for another, or for one that is still to come.
    clinic.patch("json_patch", r#"[{"op": "replace", "path": "/spec/replicas", "value": 4}]"#);
    clinic.at.plan_changes().await;
    cluster.delete(&clinic.target).await.unwrap();
    let run = clinic.at.runner.apply_planned().await.unwrap();
    assert!(!run.succeeded(), "{}", run.text);
    says(&run.text, "is not the object that state knows");
    never_says(&run.text, "This is a bug in the provider");
}

#[tokio::test]
async fn positions_that_moved_since_the_plan_are_refused_with_terraform() {
    positions_that_moved_since_the_plan(Tool::Terraform).await;
}

#[tokio::test]
async fn positions_that_moved_since_the_plan_are_refused_with_opentofu() {
    positions_that_moved_since_the_plan(Tool::OpenTofu).await;
}

#[tokio::test]
async fn patches_of_one_object_that_come_change_and_go_at_once_never_meet() {
    let mut round = Round::new().await;
    let cluster = round.at.cluster;
    let settings = round.object("settings", json!({"data": {"k0": "helm", "k5": "helm"}})).await;
    let made = cluster.read(&settings).await.unwrap().unwrap();
    let before = owners(&made);
    let forms = ["patch", "merge_patch"];
    for n in 0..6 {
        let text = format!("data: {{k{n}: first}}");
        round.patch(&format!("p{n}"), &settings, (forms[n % 2], &text));
    }
    let namespace = round.at.namespace.name().to_owned();
    round.write().at.init().await;
    let life = async {
        round.at.apply().await;
        round.at.plan_empty().await;
        for n in 0..6 {
            let text = format!("data: {{k{n}: second}}");
            match n {
                0..3 => round.patch(&format!("p{n}"), &settings, (forms[n % 2], &text)),
                _ => round.drop_patch(&format!("p{n}")),
            }
        }
        let run = round.write().at.apply().await;
        says(&run.text, "0 added, 3 changed, 3 destroyed");
        round.at.plan_empty().await;
        round.at.destroy().await;
    };
    let ((), asked) = cluster.count_during(namespace.as_str(), life).await.unwrap();
    let asked = asked.iter().filter(|it| it.path().contains("/configmaps/settings"));
    let verbs: BTreeSet<_> = asked.map(Request::in_short).collect();
    let expected = ["get", "patch", "patch (dry-run)"].map(ToOwned::to_owned);
    assert_eq!(verbs, expected.into(), "it neither creates nor deletes");
    let live = cluster.read(&settings).await.unwrap().unwrap();
    assert_eq!(live["metadata"]["uid"], made["metadata"]["uid"]);
    assert_eq!(live["data"]["k2"], "second");
    assert_eq!(live["data"]["k5"], "first", "what went first stays as it was left");
    assert_eq!(owners(&live), before);
}

#[tokio::test]
async fn a_patch_that_its_remade_target_has_no_place_for_is_destroyed_without_a_refresh() {
    let mut round = Round::new().await;
    let settings = round.object("settings", json!({"data": {"a": "helm"}})).await;
    let replace = r#"[{"op": "replace", "path": "/data/a", "value": "ours"}]"#;
    round.patch("it", &settings, ("json_patch", replace));
    round.write().at.init().await;
    round.at.apply().await;
    round.at.cluster.delete(&settings).await.unwrap();
    round.object("settings", json!({"data": {"b": "helm"}})).await;
    let before = round.live().await;
    let refused = round.at.runner.destroy().await.unwrap();
    assert_ne!(refused.code, 0, "{}", refused.text);
    says(&refused.text, "was deleted and made anew");
    says(&refused.text, "destroy it with `-refresh=false`");
    let destroy = ["destroy", "-auto-approve", "-no-color", "-refresh=false"];
    round.at.runner.run(&destroy).await.unwrap().successful().unwrap();
    assert_eq!(round.live().await, before);
}
