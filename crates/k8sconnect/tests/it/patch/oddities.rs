//! What can be made, and is seldom meant.

use serde_json::json;
use testkit::Target;
use tfplugin::harness::Action;

use super::{PATCH, Ward, owners, said};

#[tokio::test]
async fn what_is_seldom_meant_is_told_with_the_text_that_brings_it_and_once() {
    let ward = Ward::config_map().await;
    let owner = "{apiVersion: v1, kind: ConfigMap, name: x, uid: u}";
    let text = format!("{{data: {{a: null, on: x}}, metadata: {{ownerReferences: [{owner}]}}}}");
    let plan = ward.core().plan(PATCH, &ward.config("patch", &text), None).await.unwrap();
    let told = said(&plan.diagnostics);
    for words in [
        "`null` in `patch` removes nothing",
        "the key `on` stands without quotes",
        "the garbage collector deletes an object once its owner is gone",
    ] {
        assert!(told.contains(words), "{words}: {told}");
    }
    let text = "data: {a: null, b: ours}";
    let state = ward.create("patch", text).await;
    assert_eq!(ward.live().await["data"], json!({"a": "", "b": "ours", "c": "helm"}));
    ward.settled("patch", text, &state).await;
    let text = "data: {a: null, b: other}";
    let plan = ward.plan("patch", text, &state).await.unwrap();
    assert!(said(&plan.diagnostics).contains("removes nothing"));
    let text = "data: {a: null, b: ours}";
    let plan = ward.plan("merge_patch", text, &state).await.unwrap();
    assert!(!said(&plan.diagnostics).contains("removes nothing"));
}

#[tokio::test]
async fn a_target_that_is_being_deleted_is_warned_of_while_it_is_patched_stands_and_ends() {
    let ward = Ward::config_map().await;
    let cluster = ward.world.cluster;
    let hold = json!({"metadata": {"finalizers": ["example.com/hold"]}});
    cluster.act_as("holder").merge_patch(&ward.target, hold).await.unwrap();
    cluster.delete(&ward.target).await.unwrap();
    let config = ward.config("merge_patch", "data: {a: ours}");
    let plan = ward.core().plan(PATCH, &config, None).await.unwrap();
    let told = said(&plan.diagnostics);
    assert!(told.contains("is being deleted, and is patched all the same"), "{told}");
    assert!(told.contains("example.com/hold"), "{told}");
    let state = ward.core().create(PATCH, &config).await.unwrap();
    let core = ward.core();
    let read = core.read(PATCH, &state).await.unwrap().present().unwrap();
    let plan = core.plan(PATCH, &config, Some(&read)).await.unwrap();
    assert_eq!(plan.action, Action::NoOp);
    let told = said(&plan.diagnostics);
    assert!(told.contains("is being deleted, and the patch goes with it"), "{told}");
    assert!(told.contains("example.com/hold"), "{told}");
    let plan = core.plan_destroy(PATCH, &read).await.unwrap();
    let told = said(&plan.diagnostics);
    assert!(told.contains("is being deleted; the patch is handed back all the same"), "{told}");
    ward.destroy(&read).await;
    assert!(!owners(&ward.live().await).concat().contains("k8sconnect-patch-"));
    let free = json!({"metadata": {"finalizers": null}});
    cluster.act_as("holder").merge_patch(&ward.target, free).await.unwrap();
}

#[tokio::test]
async fn finalizers_that_come_or_let_a_target_go_are_told() {
    let ward = Ward::config_map().await;
    let cluster = ward.world.cluster;
    let add = "metadata: {finalizers: [example.com/a, example.com/b]}";
    let plan = ward.core().plan(PATCH, &ward.config("patch", add), None).await.unwrap();
    let told = said(&plan.diagnostics);
    assert!(told.contains("adds finalizers, which stay when it is destroyed"), "{told}");
    let hold = json!({"metadata": {"finalizers": ["example.com/a", "example.com/b"]}});
    cluster.act_as("holder").merge_patch(&ward.target, hold).await.unwrap();
    let one = r#"[{"op": "remove", "path": "/metadata/finalizers/0"}]"#;
    let plan = ward.core().plan(PATCH, &ward.config("json_patch", one), None).await.unwrap();
    assert!(!said(&plan.diagnostics).contains("the patch removes finalizers"));
    cluster.delete(&ward.target).await.unwrap();
    let all = "metadata: {finalizers: null}";
    for (attribute, text, then) in [
        ("json_patch", one, "Once the others are removed too, the object goes"),
        ("merge_patch", all, "These are the last ones: the object goes at once"),
    ] {
        let plan = ward.core().plan(PATCH, &ward.config(attribute, text), None).await.unwrap();
        let told = said(&plan.diagnostics);
        assert!(told.contains("removes finalizers of an object that is being deleted"), "{told}");
        assert!(told.contains(then), "{told}");
    }
    let free = json!({"metadata": {"finalizers": null}});
    cluster.act_as("holder").merge_patch(&ward.target, free).await.unwrap();
}

#[tokio::test]
async fn what_a_patch_makes_or_leaves_without_naming_it_is_told() {
    let ward = Ward::deployment().await;
    let container = "spec: {template: {spec: {tolerations: [], containers: [LIST]}}}";
    let empty = container.replace("LIST", "{name: app, env: [], ports: []}");
    let plan = ward.core().plan(PATCH, &ward.config("patch", &empty), None).await.unwrap();
    let told = said(&plan.diagnostics);
    assert!(told.contains("an empty list in `patch` removes nothing"), "{told}");
    for list in ["containers[name=app].env", "containers[name=app].ports"] {
        assert!(told.contains(&format!("spec.template.spec.{list} ")), "{told}");
    }
    // One that is held as a whole is emptied, of which the server keeps no trace but the owner.
    let whole = "spec.template.spec.tolerations held by `helm`";
    assert!(told.contains(whole) && told.contains("will be []"), "{told}");
    let before = owners(&ward.live().await);
    let state = ward.create("patch", &empty).await;
    assert_eq!(super::leaves(&state)["spec.template.spec.tolerations"], "[]");
    ward.settled("patch", &empty, &state).await;
    let edit = json!({"spec": {"template": {"spec": {"tolerations": [{"operator": "Exists"}]}}}});
    ward.world.cluster.act_as("ed").merge_patch(&ward.target, edit).await.unwrap();
    let plan = ward.plan("patch", &empty, &state).await.unwrap();
    let told = said(&plan.diagnostics);
    assert!(told.contains("spec.template.spec.tolerations held by `ed`"), "{told}");
    let state = ward.change("patch", &empty, &state).await;
    ward.settled("patch", &empty, &state).await;
    ward.destroy(&state).await;
    // Nobody is given what is not there.
    let rest: Vec<_> = before.iter().map(|it| it.replace(r#""f:tolerations":{},"#, "")).collect();
    assert_eq!(owners(&ward.live().await), rest);
    let text = "metadata: {labels: {a: null}}";
    let plan = ward.core().plan(PATCH, &ward.config("merge_patch", text), None).await.unwrap();
    let told = said(&plan.diagnostics);
    let made = ward.create("merge_patch", text).await;
    // The server keeps no empty map of labels, so that none is told.
    assert!(ward.live().await["metadata"]["labels"].is_null() && !told.contains("empty map"));
    ward.settled("merge_patch", text, &made).await;
}

#[tokio::test]
async fn an_edit_that_the_server_ignores_is_told() {
    let ward = Ward::deployment().await;
    let quantity = "spec: {template: {spec: {containers: [{name: app, resources: {limits: \
                    {cpu: '0.5'}}}]}}}";
    let plan = ward.core().plan(PATCH, &ward.config("patch", quantity), None).await.unwrap();
    let told = said(&plan.diagnostics);
    assert!(!told.contains("does not change"), "{told}");
    let name = ward.world.namespace.name().to_owned();
    let namespace = Ward::of(ward.world, Target::new("v1", "Namespace", None, &name));
    for (attribute, text, wanted) in [
        ("merge_patch", "spec: {finalizers: [a.b/c]}", "wanted [\"a.b/c\"]"),
        ("json_patch", r#"[{"op": "remove", "path": "/spec/finalizers/0"}]"#, "wanted (absent)"),
    ] {
        let config = namespace.config(attribute, text);
        let plan = namespace.core().plan(PATCH, &config, None).await.unwrap();
        let told = said(&plan.diagnostics);
        assert!(told.contains("the API server does not change `spec.finalizers"), "{told}");
        assert!(told.contains(wanted), "{told}");
    }
}

#[tokio::test]
async fn what_a_later_operation_extends_is_not_told_as_ignored() {
    let container = "/spec/template/spec/containers/0";
    let mark = json!({"op": "add", "path": "/metadata/annotations/q", "value": "q"});
    for (first, second) in [
        (
            json!({"op": "add", "path": format!("{container}/args"), "value": ["a", "b"]}),
            json!({"op": "add", "path": format!("{container}/args/1"), "value": "mid"}),
        ),
        (
            json!({"op": "add", "path": format!("{container}/env"), "value": []}),
            json!({"op": "copy", "from": "/spec/template/spec/containers/1/env/0",
                   "path": format!("{container}/env/-")}),
        ),
    ] {
        let ward = Ward::deployment().await;
        let side = json!([{"op": "add", "path": "/spec/template/spec/containers/-", "value":
            {"name": "side", "image": "envoy", "env": [{"name": "SIDE", "value": "1"}]}}]);
        ward.world.cluster.act_as("injector").json_patch(&ward.target, side).await.unwrap();
        let text = json!([first, second, mark]).to_string();
        let state = ward.create("json_patch", &text).await;
        let edit = json!({"metadata": {"annotations": {"q": "edited"}}});
        ward.world.cluster.act_as("ed").merge_patch(&ward.target, edit).await.unwrap();
        let plan = ward.plan("json_patch", &text, &state).await.unwrap();
        let told = said(&plan.diagnostics);
        assert!(told.contains("edited"), "{told}");
        assert!(!told.contains("does not change"), "{told}");
        let state = ward.change("json_patch", &text, &state).await;
        ward.settled("json_patch", &text, &state).await;
    }
}

#[tokio::test]
async fn an_empty_list_that_asks_for_nothing_is_told_also_where_nothing_is_in_it() {
    let ward = Ward::deployment().await;
    let text = "spec: {paused: true, template: {spec: {imagePullSecrets: [], hostAliases: []}}}";
    let plan = ward.core().plan(PATCH, &ward.config("patch", text), None).await.unwrap();
    let told = said(&plan.diagnostics);
    let lists = "stays: spec.template.spec.hostAliases spec.template.spec.imagePullSecrets To keep";
    assert!(told.contains("an empty list in `patch` asks for nothing"), "{told}");
    assert!(told.contains(lists), "{told}");
    let state = ward.create("patch", text).await;
    ward.settled("patch", text, &state).await;
    ward.destroy(&state).await;
    // One that is held as a whole is asked for, and a merge patch sets any.
    for (attribute, text) in [
        ("patch", "spec: {template: {spec: {tolerations: []}}}"),
        ("merge_patch", "spec: {template: {spec: {imagePullSecrets: []}}}"),
    ] {
        let plan = ward.core().plan(PATCH, &ward.config(attribute, text), None).await.unwrap();
        let told = said(&plan.diagnostics);
        assert!(!told.contains("an empty list"), "{told}");
    }
}
