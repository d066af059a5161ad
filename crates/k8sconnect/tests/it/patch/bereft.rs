//! Private state was lost: nothing is lost with it.

use serde_json::json;
use tfplugin::harness::State;

use super::interrupted::TEXTS;
use super::{PATCH, Ward, owners, said};

/// What a killed provider leaves: Terraform keeps the rest of state, and loses what is private.
fn bereft(state: &State) -> State {
    State { private: tfplugin::Private::default(), ..state.clone() }
}

#[tokio::test]
async fn a_field_that_leaves_after_private_state_was_lost_goes_back_to_who_held_it() {
    for (attribute, first, second) in [
        ("patch", "data: {a: ours, b: ours}", "data: {a: ours}"),
        ("merge_patch", "data: {a: ours, b: ours}", "data: {a: ours}"),
        (
            "json_patch",
            r#"[{"op": "replace", "path": "/data/a", "value": "ours"}, {"op": "replace", "path": "/data/b", "value": "ours"}]"#,
            r#"[{"op": "replace", "path": "/data/a", "value": "ours"}]"#,
        ),
    ] {
        let ward = Ward::config_map().await;
        let before = owners(&ward.live().await);
        let state = bereft(&ward.create(attribute, first).await);
        let plan = ward.plan(attribute, second, &state).await.unwrap();
        let told = said(&plan.diagnostics);
        assert!(told.contains("data.b returns to `helm` (Apply"), "{attribute}: {told}");
        assert!(!told.contains("Go provider"), "{attribute}: {told}");
        let state = ward.change(attribute, second, &state).await;
        let live = ward.live().await;
        assert_eq!(live["data"], json!({"a": "ours", "b": "ours", "c": "helm"}), "{attribute}");
        let helm = owners(&live).into_iter().find(|it| it.contains("\"helm\"")).unwrap();
        assert!(helm.contains("f:b") && !helm.contains("f:a"), "{attribute}: {helm}");
        ward.settled(attribute, second, &state).await;
        ward.destroy(&state).await;
        assert_eq!(owners(&ward.live().await), before, "{attribute}");
    }
}

#[tokio::test]
async fn a_plan_without_a_refresh_knows_what_private_state_lost_too() {
    let ward = Ward::config_map().await;
    let state = bereft(&ward.create("patch", "data: {a: ours, b: ours}").await);
    let config = ward.config("patch", "data: {a: ours}");
    let plan = ward.core().plan(PATCH, &config, Some(&state)).await.unwrap();
    let made = ward.core().apply(PATCH, &config, Some(&state), &plan).await.unwrap();
    let live = ward.live().await;
    assert_eq!(live["data"], json!({"a": "ours", "b": "ours", "c": "helm"}));
    ward.settled("patch", "data: {a: ours}", &made.present().unwrap()).await;
}

#[tokio::test]
async fn an_unchanged_patch_whose_private_state_was_lost_stays_as_it_is() {
    for (attribute, text) in TEXTS {
        let ward = Ward::config_map().await;
        let before = owners(&ward.live().await);
        let state = bereft(&ward.create(attribute, text).await);
        ward.settled(attribute, text, &state).await;
        ward.destroy(&state).await;
        assert_eq!(owners(&ward.live().await), before, "{attribute}");
    }
}

#[tokio::test]
async fn a_secret_whose_private_state_was_lost_is_hashed_anew() {
    let ward = Ward::with(
        "{apiVersion: v1, kind: Secret, metadata: {name: s, namespace: NS}, data: {a: YQ==, b: Yg==}}",
    )
    .await;
    let before = owners(&ward.live().await);
    let state = bereft(&ward.create("patch", "data: {a: b3Vycw==, b: b3Vycw==}").await);
    let text = "data: {a: b3Vycw==}";
    let plan = ward.plan("patch", text, &state).await.unwrap();
    let told = said(&plan.diagnostics);
    assert!(told.contains("data.b returns to `helm`"), "{told}");
    assert!(!told.contains("changed outside"), "{told}");
    let state = ward.change("patch", text, &state).await;
    assert_eq!(ward.live().await["data"]["b"], "b3Vycw==");
    ward.settled("patch", text, &state).await;
    ward.destroy(&state).await;
    assert_eq!(owners(&ward.live().await), before);
}
