//! What joins a patch that stands already is told as what a new one takes: with its holder, its old
//! value and its new one, also where it goes.

use serde_json::json;

use super::{PATCH, Ward, said};

#[tokio::test]
async fn a_removal_that_joins_a_patch_names_who_loses_the_field() {
    let first = r#"{"op": "replace", "path": "/data/a", "value": "ours"}"#;
    for (attribute, before, after, absent) in [
        ("merge_patch", "data: {a: ours}".to_owned(), "data: {a: ours, c: null}".to_owned(), "c"),
        (
            "json_patch",
            format!("[{first}]"),
            format!(r#"[{first}, {{"op": "remove", "path": "/data/c"}}]"#),
            "c",
        ),
        (
            "json_patch",
            format!("[{first}]"),
            format!(r#"[{first}, {{"op": "move", "from": "/data/b", "path": "/data/new"}}]"#),
            "b",
        ),
    ] {
        let ward = Ward::config_map().await;
        let state = ward.create(attribute, &before).await;
        let plan = ward.plan(attribute, &after, &state).await.unwrap();
        let told = said(&plan.diagnostics);
        let words = format!("data.{absent} held by `helm` (Apply");
        assert!(told.contains(&words), "{attribute}: {told}");
        assert!(told.contains("is now helm will be (absent)"), "{attribute}: {told}");
        assert!(!told.contains("data.a"), "what stands is not told: {told}");
        let state = ward.change(attribute, &after, &state).await;
        ward.settled(attribute, &after, &state).await;
        ward.destroy(&state).await;
    }
}

#[tokio::test]
async fn lists_and_items_that_go_with_what_joins_a_patch_have_their_holders_named() {
    let replicas = r#"{"op": "replace", "path": "/spec/replicas", "value": 1}"#;
    let containers = "/spec/template/spec/containers";
    for (attribute, after, holder) in [
        ("json_patch", format!(r#"{{"op": "remove", "path": "{containers}/1"}}"#), "injector"),
        ("json_patch", format!(r#"{{"op": "remove", "path": "{containers}/0/env/0"}}"#), "helm"),
        (
            "json_patch",
            format!(
                r#"{{"op": "replace", "path": "{containers}/1",
                     "value": {{"name": "other", "image": "envoy"}}}}"#
            ),
            "injector",
        ),
        (
            "json_patch",
            format!(r#"{{"op": "replace", "path": "{containers}/0/env", "value": []}}"#),
            "helm",
        ),
        ("merge_patch", "template: {spec: {tolerations: null}}".into(), "helm"),
        (
            "merge_patch",
            "template: {spec: {containers: [{name: app, image: 'nginx:1'}]}}".into(),
            "injector",
        ),
    ] {
        let ward = Ward::deployment().await;
        let side = json!([{"op": "add", "path": format!("{containers}/-"),
                           "value": {"name": "side", "image": "envoy"}}]);
        ward.world.cluster.act_as("injector").json_patch(&ward.target, side).await.unwrap();
        let (before, after) = match attribute {
            "json_patch" => (format!("[{replicas}]"), format!("[{replicas}, {after}]")),
            _ => ("spec: {replicas: 1}".into(), format!("spec: {{replicas: 1, {after}}}")),
        };
        let state = ward.create(attribute, &before).await;
        let told = said(&ward.plan(attribute, &after, &state).await.unwrap().diagnostics);
        assert!(told.contains(&format!("`{holder}` (")), "{after}: {told}");
        assert!(!told.contains("spec.replicas"), "what stands is not told: {told}");
    }
}

#[tokio::test]
async fn whoever_set_a_field_after_the_plan_that_removes_it_is_named_by_the_apply() {
    let ward = Ward::config_map().await;
    let state = ward.create("merge_patch", "data: {a: ours}").await;
    let config = ward.config("merge_patch", "data: {a: ours, b: null}");
    let core = ward.newest_core();
    let read = core.read(PATCH, &state).await.unwrap().present().unwrap();
    let plan = core.plan(PATCH, &config, Some(&read)).await.unwrap();
    let edit = json!({"data": {"b": "edited"}});
    ward.world.cluster.act_as("ed").merge_patch(&ward.target, edit).await.unwrap();
    // Terraform plans again before it applies, and shows what is said then.
    let made = ward.newest_core().apply(PATCH, &config, Some(&read), &plan).await.unwrap();
    let told = said(&made.diagnostics);
    assert!(told.contains("data.b held by `ed` (Update"), "{told}");
    assert!(told.contains("is now edited will be (absent)"), "{told}");
}
