//! Somebody writes between the plan that the user saw and the apply; what a plan of a patch that
//! moves or is made twice says.

use serde_json::{Value as Json, json};
use testkit::Target;
use tfplugin::harness::Action;

use super::{DEPLOYMENT, PATCH, Ward, leaves, object, refused, said};

#[tokio::test]
async fn what_is_copied_is_what_stands_there_when_it_is_copied() {
    for op in ["copy", "move"] {
        let ward = Ward::config_map().await;
        let text = format!(r#"[{{"op": "{op}", "from": "/data/b", "path": "/data/copied"}}]"#);
        let config = ward.config("json_patch", &text);
        let plan = ward.newest_core().plan(PATCH, &config, None).await.unwrap();
        let edit = json!({"data": {"b": "edited"}});
        ward.world.cluster.act_as("rival").merge_patch(&ward.target, edit).await.unwrap();
        let made = ward.newest_core().apply(PATCH, &config, None, &plan).await.unwrap();
        let state = made.present().unwrap();
        assert_eq!(leaves(&state)["data.copied"], "edited", "{op}");
        assert_eq!(ward.live().await["data"]["copied"], "edited", "{op}");
        ward.settled("json_patch", &text, &state).await;
    }
}

#[tokio::test]
async fn positions_that_may_mean_other_items_than_the_plan_showed_are_refused() {
    let ward = Ward::deployment().await;
    let text = r#"[{"op": "replace", "path": "/spec/replicas", "value": 1}]"#;
    let state = ward.create("json_patch", text).await;
    let image = "/spec/template/spec/containers/0/image";
    let text = format!(r#"[{{"op": "replace", "path": "{image}", "value": "ours"}}]"#);
    let config = ward.config("json_patch", &text);
    let core = ward.newest_core();
    let read = core.read(PATCH, &state).await.unwrap().present().unwrap();
    let plan = core.plan(PATCH, &config, Some(&read)).await.unwrap();
    let front = json!([{"op": "add", "path": "/spec/template/spec/containers/0",
        "value": {"name": "front", "image": "front:1"}}]);
    ward.world.cluster.act_as("injector").json_patch(&ward.target, front).await.unwrap();
    let told = refused(ward.newest_core().apply(PATCH, &config, Some(&read), &plan).await);
    assert!(told.contains("changed since the plan was made"), "{told}");
    let live = ward.live().await;
    assert_eq!(live["spec"]["template"]["spec"]["containers"][0]["image"], "front:1");
    // What only its controllers write of an object is no reason to refuse.
    let read = core.read(PATCH, &state).await.unwrap().present().unwrap();
    let plan = core.plan(PATCH, &config, Some(&read)).await.unwrap();
    ward.world.cluster.act_as("controller").merge_patch(&ward.target, json!({})).await.unwrap();
    let made = ward.newest_core().apply(PATCH, &config, Some(&read), &plan).await.unwrap();
    ward.settled("json_patch", &text, &made.present().unwrap()).await;
}

#[tokio::test]
async fn a_patch_that_moves_says_what_it_takes_from_its_new_target() {
    let ward = Ward::config_map().await;
    let state = ward.create("patch", "data: {a: ours}").await;
    let mut other = object("v1", "ConfigMap", "other", ward.world.namespace.name());
    other["data"] = json!({"a": "theirs"});
    ward.world.cluster.act_as("argo").apply(&other).await.unwrap();
    let moved = Ward::of(ward.world, Target::of(&other).unwrap());
    let plan = moved.plan("patch", "data: {a: ours}", &state).await.unwrap();
    assert_eq!(plan.action, Action::Replace);
    let told = said(&plan.diagnostics);
    assert!(told.contains("data.a returns to `helm`"), "{told}");
    assert!(told.contains("data.a held by `argo` (Apply"), "{told}");
    assert!(told.contains("is now theirs will be ours"), "{told}");
}

#[tokio::test]
async fn two_patches_of_one_field_are_told_of_the_ways_out() {
    let ward = Ward::with(DEPLOYMENT).await;
    ward.create("patch", "spec: {replicas: 2}").await;
    let config = ward.config("patch", "spec: {replicas: 3}");
    let told = refused(ward.core().plan(PATCH, &config, None).await);
    for way in ["a `moved` block", "`create_before_destroy`", "`adopt = true`"] {
        assert!(told.contains(way), "{way}: {told}");
    }
}

#[tokio::test]
async fn whoever_wrote_string_data_is_told_of_when_data_is_patched() {
    let ward = Ward::with(
        "{apiVersion: v1, kind: Secret, metadata: {name: s, namespace: NS}, stringData: {a: x}}",
    )
    .await;
    let config = ward.config("patch", "data: {a: b3Vycw==}");
    let plan = ward.core().plan(PATCH, &config, None).await.unwrap();
    let told = said(&plan.diagnostics);
    assert!(told.contains("`data.a` will be patched"), "{told}");
    assert!(told.contains("data.a held by `helm`"), "{told}");
}

#[tokio::test]
async fn a_null_in_string_data_is_a_word_on_data() {
    let text = "stringData: {a: q, b: null}";
    for (attribute, b) in [("merge_patch", Json::Null), ("patch", json!(""))] {
        let ward = Ward::with(
            "{apiVersion: v1, kind: Secret, metadata: {name: s, namespace: NS}, \
             data: {a: YQ==, b: Yg==, c: Yw==}}",
        )
        .await;
        let plan = ward.core().plan(PATCH, &ward.config(attribute, text), None).await.unwrap();
        let told = said(&plan.diagnostics);
        for taken in ["data.a held by `helm`", "data.b held by `helm`"] {
            assert!(told.contains(taken), "{attribute}: {told}");
        }
        let state = ward.create(attribute, text).await;
        let paths: Vec<_> = leaves(&state).into_keys().collect();
        assert_eq!(paths, ["data.a", "data.b"], "{attribute}");
        let live = ward.live().await;
        assert_eq!((&live["data"]["a"], &live["data"]["b"]), (&json!("cQ=="), &b), "{attribute}");
        let rival = ward.world.cluster.act_as("rival");
        rival.merge_patch(&ward.target, json!({"data": {"a": "ZHJpZnQ="}})).await.unwrap();
        let told = said(&ward.plan(attribute, text, &state).await.unwrap().diagnostics);
        assert!(told.contains("data.a held by `rival`"), "{attribute}: {told}");
        ward.destroy(&state).await;
    }
}
