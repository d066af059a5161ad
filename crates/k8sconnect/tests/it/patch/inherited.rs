//! Patches that the Go provider of this name made: it wrote under the manager that is ours, and kept
//! nothing that we keep.

use serde_json::{Value as Json, json};
use testkit::{Request, Rival};
use tfplugin::harness::{Action, State};
use tfplugin::{Private, Value};

use super::interrupted::TEXTS;
use super::{PATCH, Ward, leaves, map, owners, said};

const ID: &str = "0123456789ab";

fn go(ward: &Ward) -> Rival {
    ward.world.cluster.act_as(&format!("k8sconnect-patch-{ID}")).force()
}

/// Patches as that provider does, and brings its state into our form.
async fn inherited(ward: &Ward, attribute: &str, text: &str) -> State {
    let content: Json = parsed(text);
    let target = &ward.target;
    match attribute {
        "patch" => {
            let mut body = super::object(
                &target.api_version,
                &target.kind,
                &target.name,
                ward.world.namespace.name(),
            );
            for (name, value) in content.as_object().unwrap() {
                body[name] = value.clone();
            }
            go(ward).apply(body).await.unwrap()
        }
        "merge_patch" => go(ward).merge_patch(target, content).await.unwrap(),
        _ => go(ward).json_patch(target, content).await.unwrap(),
    };
    upgraded(ward, attribute, text).await
}

async fn upgraded(ward: &Ward, attribute: &str, text: &str) -> State {
    let target = &ward.target;
    let mut old = json!({
        "id": ID, "patch": null, "json_patch": null, "merge_patch": null,
        "target": {"api_version": target.api_version, "kind": target.kind, "name": target.name,
                   "namespace": ward.world.namespace.name()},
        "cluster": {"kubeconfig": ward.world.kubeconfig(), "context": null, "host": null},
        "managed_fields": {"data.a": "k8sconnect-patch"},
        "managed_state_projection": {"data.a": "ours"},
    });
    old[attribute] = json!(text);
    let value = ward.core().upgrade(PATCH, 2, &old.to_string()).await.unwrap();
    State { value, private: Private::default(), identity: None, tainted: false }
}

fn parsed(text: &str) -> Json {
    k8sconnect_core::yaml::parse_stream(text).unwrap().remove(0).value
}

async fn read(ward: &Ward, state: &State) -> State {
    ward.core().read(PATCH, state).await.unwrap().present().unwrap()
}

#[tokio::test]
async fn a_patch_that_stands_plans_empty_whichever_way_it_was_written() {
    for (attribute, text) in TEXTS {
        let ward = Ward::config_map().await;
        let state = inherited(&ward, attribute, text).await;
        let patched = ward.live().await;
        ward.settled(attribute, text, &state).await;
        let state = read(&ward, &state).await;
        assert_eq!(state.attribute("id"), &Value::from(ID));
        assert_eq!(leaves(&state)["data.a"], "ours", "{attribute}");
        assert_eq!(map(&state, "managed_fields")["data.b"], "k8sconnect-patch", "{attribute}");
        assert_eq!(ward.live().await, patched, "{attribute}: a read writes nothing");

        let (_, asked) = ward
            .world
            .cluster
            .count_during(ward.world.namespace.name(), ward.settled(attribute, text, &state))
            .await
            .unwrap();
        let asked: Vec<_> = asked.iter().map(Request::in_short).collect();
        assert_eq!(asked, ["get"], "{attribute}: once state is written");

        ward.destroy(&state).await;
        let live = ward.live().await;
        assert_eq!(live["data"], json!({"a": "ours", "b": "ours", "c": "helm"}), "{attribute}");
        assert!(owners(&live).iter().all(|it| !it.contains("k8sconnect")), "{attribute}");
    }
}

#[tokio::test]
async fn what_others_changed_since_is_told_with_its_author_and_set_right() {
    for (attribute, text) in TEXTS {
        let ward = Ward::config_map().await;
        let state = inherited(&ward, attribute, text).await;
        let change = json!({"data": {"a": "theirs"}});
        ward.world.cluster.act_as("editor").merge_patch(&ward.target, change).await.unwrap();
        let plan = ward.plan(attribute, text, &state).await.unwrap();
        assert_eq!(plan.action, Action::Update, "{attribute}");
        let told = said(&plan.diagnostics);
        for words in ["data.a", "`editor`", "kept no record of it"] {
            assert!(told.contains(words), "{attribute}: {words}: {told}");
        }
        assert_eq!(leaves(&read(&ward, &state).await)["data.a"], "theirs", "{attribute}");
        let state = ward.change(attribute, text, &state).await;
        assert_eq!(ward.live().await["data"]["a"], "ours", "{attribute}");
        ward.settled(attribute, text, &state).await;
        ward.destroy(&state).await;
        let live = ward.live().await;
        let editor = owners(&live).into_iter().find(|it| it.contains("editor")).unwrap();
        assert!(editor.contains("f:a"), "{attribute}: what was taken goes back: {editor}");
    }
}

#[tokio::test]
async fn a_field_that_leaves_stays_on_the_object_and_a_destroy_says_what_becomes_of_the_rest() {
    for (attribute, text) in TEXTS {
        let ward = Ward::config_map().await;
        let state = inherited(&ward, attribute, text).await;
        let fewer = match attribute {
            "json_patch" => r#"[{"op": "replace", "path": "/data/a", "value": "ours"}]"#,
            _ => "data: {a: ours}",
        };
        let plan = ward.plan(attribute, fewer, &state).await.unwrap();
        let told = said(&plan.diagnostics);
        assert!(told.contains("data.b stays as it is, held by nobody"), "{attribute}: {told}");
        let read = read(&ward, &state).await;
        let plan = ward.core().plan_destroy(PATCH, &read).await.unwrap();
        let told = said(&plan.diagnostics);
        assert!(told.contains("data.a stays as it is, held by nobody"), "{attribute}: {told}");

        let state = ward.change(attribute, fewer, &state).await;
        let live = ward.live().await;
        assert_eq!(live["data"], json!({"a": "ours", "b": "ours", "c": "helm"}), "{attribute}");
        ward.settled(attribute, fewer, &state).await;
        ward.destroy(&state).await;
        assert!(owners(&ward.live().await).iter().all(|it| !it.contains("k8sconnect")));
    }
}

#[tokio::test]
async fn operations_that_were_carried_out_are_not_carried_out_again() {
    let text = r#"[
        {"op": "test", "path": "/spec/replicas", "value": 0},
        {"op": "replace", "path": "/spec/replicas", "value": 1},
        {"op": "remove", "path": "/spec/template/spec/containers/0/env/0"},
        {"op": "remove", "path": "/metadata/annotations/example.com~1team"},
        {"op": "add", "path": "/spec/template/spec/containers/0/env/-", "value": {"name": "NEW", "value": "1"}},
        {"op": "add", "path": "/spec/template/spec/tolerations/-", "value": {"key": "spot", "operator": "Exists"}},
        {"op": "move", "from": "/spec/template/spec/containers/0/image", "path": "/metadata/annotations/moved"},
        {"op": "add", "path": "/spec/template/spec/containers/0/image", "value": "nginx:2"}]"#;
    let ward = Ward::deployment().await;
    let state = inherited(&ward, "json_patch", text).await;
    let patched = ward.live().await;
    let env = &patched["spec"]["template"]["spec"]["containers"][0]["env"];
    assert_eq!(env.as_array().unwrap().len(), 2, "{env}");
    ward.settled("json_patch", text, &state).await;

    // One that others undid is brought back, and nothing else is done again.
    ward.world.cluster.act_as("editor").scale(&ward.target, 3).await.unwrap();
    let state = ward.change("json_patch", text, &state).await;
    let live = ward.live().await;
    assert_eq!(live["spec"], patched["spec"]);
    ward.settled("json_patch", text, &state).await;
    ward.destroy(&state).await;
}

#[tokio::test]
async fn another_spelling_of_what_the_server_holds_is_no_change() {
    let ward = Ward::deployment().await;
    let text =
        "spec: {template: {spec: {containers: [{name: app, resources: {limits: {cpu: 1000m}}}]}}}";
    let state = inherited(&ward, "patch", text).await;
    ward.settled("patch", text, &state).await;
    let merge = "{spec: {template: {metadata: {annotations: {a: b}}}, replicas: 2, paused: null}}";
    let state = inherited(&ward, "merge_patch", merge).await;
    ward.settled("merge_patch", merge, &state).await;
}

#[tokio::test]
async fn a_secret_plans_empty_and_no_value_of_it_stands_in_state() {
    let manifest = "{apiVersion: v1, kind: Secret, metadata: {name: s, namespace: NS}, \
                    data: {a: YQ==, b: Yg==}}";
    for (attribute, text) in [
        ("patch", "stringData: {a: hunter2}"),
        ("patch", "data: {a: aHVudGVyMg==}"),
        ("merge_patch", "data: {a: aHVudGVyMg==}"),
    ] {
        let ward = Ward::with(manifest).await;
        let state = inherited(&ward, attribute, text).await;
        ward.settled(attribute, text, &state).await;
        let state = read(&ward, &state).await;
        ward.settled(attribute, text, &state).await;
        let leaf = &leaves(&state)["data.a"];
        assert!(leaf.starts_with("(sensitive, hash "), "{attribute}: {leaf}");

        let change = json!({"data": {"a": "dGhlaXJz"}});
        ward.world.cluster.act_as("editor").merge_patch(&ward.target, change).await.unwrap();
        let plan = ward.plan(attribute, text, &state).await.unwrap();
        assert_eq!(plan.action, Action::Update, "{attribute} {text}");
        let state = ward.change(attribute, text, &state).await;
        assert_eq!(ward.live().await["data"]["a"], "aHVudGVyMg==");
        ward.settled(attribute, text, &state).await;
        ward.destroy(&state).await;
        assert_eq!(ward.live().await["data"], json!({"a": "aHVudGVyMg==", "b": "Yg=="}));
    }
}

#[tokio::test]
async fn an_object_that_was_made_anew_is_patched_again_and_tells_from_whom_it_takes() {
    let ward = Ward::config_map().await;
    let state = inherited(&ward, "patch", "data: {a: ours}").await;
    ward.remake(&ward.body()).await;
    let before = owners(&ward.live().await);
    let plan = ward.plan("patch", "data: {a: ours}", &state).await.unwrap();
    let told = said(&plan.diagnostics);
    assert!(told.contains("`helm`"), "{told}");
    let state = ward.change("patch", "data: {a: ours}", &state).await;
    ward.settled("patch", "data: {a: ours}", &state).await;
    ward.destroy(&state).await;
    assert_eq!(owners(&ward.live().await), before);
}

#[tokio::test]
async fn a_plan_without_a_refresh_is_no_less_careful() {
    for (attribute, text) in TEXTS {
        let ward = Ward::config_map().await;
        let state = inherited(&ward, attribute, text).await;
        let config = ward.config(attribute, text);
        let plan = ward.core().plan(PATCH, &config, Some(&state)).await.unwrap();
        assert_eq!(plan.action, Action::NoOp, "{attribute}: {:#?}", plan.planned);
    }
}
