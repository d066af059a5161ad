//! What an admission webhook or policy once made of a body is not sent: the body is.

use base64::Engine;
use base64::engine::general_purpose::STANDARD as BASE64;
use serde_json::{Value, json};
use testkit::{Means, Rewriter, Target, Tool, reworded};
use tfplugin::Private;

use crate::workspace::{CONFIG_MAP, Workspace, never_says, says};

const PATH: &str = "data.greeting";

fn settings(at: &Workspace) -> Target {
    Target::new("v1", "ConfigMap", at.namespace.name(), "settings")
}

/// The body with something else than the rewritten field changed.
fn edited(workers: u32) -> String {
    CONFIG_MAP.replace("workers = 2", &format!("workers = {workers}"))
}

async fn greeting(at: &Workspace) -> Value {
    at.cluster.read(&settings(at)).await.unwrap().unwrap()["data"]["greeting"].clone()
}

/// What the last plan says that the rewritten field will hold.
async fn planned(at: &Workspace) -> Value {
    let planned = at.runner.planned().await.unwrap();
    planned["resource_changes"][0]["change"]["after"]["managed_state_projection"][PATH].clone()
}

/// An object that was made while something rewrote it; `None` where the server is too old for that.
async fn rewritten(at: &Workspace, means: Means) -> Option<Rewriter<'static>> {
    let (target, words) = (settings(at), ["hello", "mirrored"]);
    let rewriter = Rewriter::impose(at.cluster, means, &target, words).await.unwrap()?;
    at.objects(&[("settings", CONFIG_MAP)]).init().await;
    at.apply().await;
    at.plan_empty().await;
    assert_eq!(greeting(at).await, "mirrored");
    Some(rewriter)
}

async fn the_written_value_comes_back_once_the_rewriting_ends(means: Means) {
    for tool in Tool::ALL {
        let at = Workspace::new(tool).await;
        let Some(rewriter) = rewritten(&at, means).await else { return };
        rewriter.lift().await.unwrap();
        // What admission does is seen at the next write, as the documentation says.
        at.plan_empty().await;
        at.objects(&[("settings", &edited(3))]);
        let plan = at.plan_changes().await;
        says(&plan.text, "\"mirrored\" -> \"hello\"");
        assert_eq!(planned(&at).await, "hello");
        at.runner.apply_planned().await.unwrap().successful().unwrap();
        assert_eq!(greeting(&at).await, "hello");
        at.plan_empty().await;
        at.destroy().await;
    }
}

#[tokio::test]
async fn the_written_value_comes_back_once_a_webhook_is_gone() {
    the_written_value_comes_back_once_the_rewriting_ends(Means::Webhook).await;
}

#[tokio::test]
async fn the_written_value_comes_back_once_a_policy_is_gone() {
    the_written_value_comes_back_once_the_rewriting_ends(Means::Policy).await;
}

async fn another_rewriting_shows_in_the_plan(means: Means) {
    for tool in Tool::ALL {
        let at = Workspace::new(tool).await;
        let Some(mut rewriter) = rewritten(&at, means).await else { return };
        rewriter.change("elsewhere").await.unwrap();
        at.objects(&[("settings", &edited(3))]);
        let plan = at.plan_changes().await;
        says(&plan.text, "\"mirrored\" -> \"elsewhere\"");
        assert_eq!(planned(&at).await, "elsewhere");
        at.runner.apply_planned().await.unwrap().successful().unwrap();
        assert_eq!(greeting(&at).await, "elsewhere");
        at.plan_empty().await;
        at.destroy().await;
        rewriter.lift().await.unwrap();
    }
}

#[tokio::test]
async fn another_rewriting_by_a_webhook_shows_in_the_plan() {
    another_rewriting_shows_in_the_plan(Means::Webhook).await;
}

#[tokio::test]
async fn another_rewriting_by_a_policy_shows_in_the_plan() {
    another_rewriting_shows_in_the_plan(Means::Policy).await;
}

async fn a_repair_by_hand_is_never_undone(means: Means) {
    for tool in Tool::ALL {
        let at = Workspace::new(tool).await;
        let Some(rewriter) = rewritten(&at, means).await else { return };
        rewriter.lift().await.unwrap();
        let admin = at.cluster.act_as("kubectl-edit");
        let say = |greeting: &str| json!({"data": {"greeting": greeting}});
        admin.merge_patch(&settings(&at), say("hello")).await.unwrap();

        let plan = at.runner.plan().await.unwrap();
        never_says(&plan.text, "-> \"mirrored\"");
        never_says(&plan.text, "changed outside of Terraform");
        // The apply would only make k8sconnect an owner again: the value is known after apply.
        assert_eq!(planned(&at).await, Value::Null);
        at.objects(&[("settings", &edited(3))]);
        for flags in [&[][..], &["-refresh=false"]] {
            let plan = at.runner.plan_with(flags).await.unwrap();
            never_says(&plan.text, "-> \"mirrored\"");
            assert_eq!(planned(&at).await, "hello", "{flags:?}");
        }
        // Where the new body is not known yet, nothing old is said to come back.
        let late = "resource \"terraform_data\" \"late\" {\n  input = \"workers = 4\"\n}\n";
        let body = CONFIG_MAP.replace("workers = 2", "${terraform_data.late.output}");
        let resource = at.resource("settings", &body, "");
        at.runner.write("main.tf", &format!("{late}{resource}")).unwrap();
        let plan = at.plan_changes().await;
        never_says(&plan.text, "may be set back");

        admin.merge_patch(&settings(&at), say("theirs")).await.unwrap();
        at.objects(&[("settings", &edited(3))]);
        let plan = at.plan_changes().await;
        says(&plan.text, "is now theirs will be hello");
        at.runner.apply_planned().await.unwrap().successful().unwrap();
        assert_eq!(greeting(&at).await, "hello");
        at.plan_empty().await;
        at.destroy().await;
    }
}

#[tokio::test]
async fn a_repair_by_hand_after_a_webhook_is_never_undone() {
    a_repair_by_hand_is_never_undone(Means::Webhook).await;
}

#[tokio::test]
async fn a_repair_by_hand_after_a_policy_is_never_undone() {
    a_repair_by_hand_is_never_undone(Means::Policy).await;
}

/// Puts another text into the private state of the one resource, in the file that state is in.
fn edit_private_state(at: &Workspace, from: &str, to: &str) {
    let path = at.runner.directory().join("terraform.tfstate");
    let mut state: Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
    let private = &mut state["resources"][0]["instances"][0]["private"];
    let bytes = BASE64.decode(private.as_str().unwrap()).unwrap();
    let edited = reworded(&Private::from_bytes(&bytes).unwrap(), from, to).unwrap();
    assert_ne!(edited.to_bytes(), bytes, "there is something to edit");
    *private = json!(BASE64.encode(edited.to_bytes()));
    std::fs::write(path, state.to_string()).unwrap();
}

#[tokio::test]
async fn private_state_that_was_edited_by_hand_is_never_sent() {
    for tool in Tool::ALL {
        let at = Workspace::new(tool).await;
        at.objects(&[("settings", CONFIG_MAP)]).init().await;
        at.apply().await;
        edit_private_state(&at, "hello", "malice");
        let plan = at.runner.plan().await.unwrap();
        never_says(&plan.text, "malice");
        at.objects(&[("settings", &edited(3))]);
        let plan = at.plan_changes().await;
        never_says(&plan.text, "malice");
        assert_eq!(planned(&at).await, "hello");
        at.runner.apply_planned().await.unwrap().successful().unwrap();
        assert_eq!(greeting(&at).await, "hello");
        at.plan_empty().await;
        at.destroy().await;
    }
}
