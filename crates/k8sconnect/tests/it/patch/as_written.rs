//! What is sent is the patch of this run: what admission once made of it, and what private state
//! says, is not.

use serde_json::{Value as Json, json};
use testkit::{Means, Rewriter, reworded};
use tfplugin::harness::State;

use super::{Ward, leaves};

/// A patch in each form, and the same with another field.
const TEXTS: [(&str, &str, &str); 3] = [
    ("patch", "data: {greeting: ours}", "data: {greeting: ours, more: x}"),
    ("merge_patch", "data: {greeting: ours}", "data: {greeting: ours, more: x}"),
    (
        "json_patch",
        r#"[{"op": "add", "path": "/data/greeting", "value": "ours"}]"#,
        r#"[{"op": "add", "path": "/data/greeting", "value": "ours"},
            {"op": "add", "path": "/data/more", "value": "x"}]"#,
    ),
];

async fn greeting(ward: &Ward) -> Json {
    ward.live().await["data"]["greeting"].clone()
}

#[tokio::test]
async fn the_written_value_comes_back_once_the_rewriting_ends() {
    for (attribute, text, more) in TEXTS {
        for means in Means::ALL {
            let ward = Ward::config_map().await;
            let words = ["ours", "mirrored"];
            let imposed = Rewriter::impose(ward.world.cluster, means, &ward.target, words).await;
            let Some(rewriter) = imposed.unwrap() else { continue };
            let state = ward.create(attribute, text).await;
            assert_eq!(greeting(&ward).await, "mirrored", "{attribute}");
            ward.settled(attribute, text, &state).await;
            rewriter.lift().await.unwrap();

            let plan = ward.plan(attribute, more, &state).await.unwrap();
            let planned = State { value: plan.planned, ..state.clone() };
            assert_eq!(leaves(&planned)["data.greeting"], "ours", "{attribute}");
            let state = ward.change(attribute, more, &state).await;
            assert_eq!(greeting(&ward).await, "ours", "{attribute}");
            ward.settled(attribute, more, &state).await;
            ward.destroy(&state).await;
        }
    }
}

#[tokio::test]
async fn private_state_that_was_edited_is_not_sent() {
    for (attribute, text, more) in TEXTS {
        let ward = Ward::config_map().await;
        let state = ward.create(attribute, text).await;
        let private = reworded(&state.private, "ours", "malice").unwrap();
        let state = ward.change(attribute, more, &State { private, ..state }).await;
        assert_eq!(greeting(&ward).await, "ours", "{attribute}");
        ward.settled(attribute, more, &state).await;
        ward.destroy(&state).await;
    }
}

/// The text that state keeps is the former one, as long as it means the same.
#[tokio::test]
async fn a_patch_in_another_spelling_repairs_every_drift() {
    let limits = |cpu: &str| {
        format!(
            "spec: {{replicas: 3, template: {{spec: {{containers: [{{name: app, image: 'app:1', \
             resources: {{limits: {{cpu: {cpu}}}}}}}]}}}}}}"
        )
    };
    for attribute in ["patch", "merge_patch"] {
        let ward = Ward::deployment().await;
        let mut state = ward.create(attribute, &limits("1000m")).await;
        let respelt = limits("1");
        for replicas in [7, 8] {
            let drift = json!({"spec": {"replicas": replicas}});
            ward.world.cluster.act_as("x").merge_patch(&ward.target, drift).await.unwrap();
            state = ward.change(attribute, &respelt, &state).await;
            assert_eq!(ward.live().await["spec"]["replicas"], 3, "{attribute}");
        }
        ward.settled(attribute, &respelt, &state).await;
        ward.destroy(&state).await;
    }
}
