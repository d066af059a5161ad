//! What a body writes as null is nobody's opinion: others fill it, before the plan, behind it or
//! never, and the plan is the same.

use serde_json::{Value as Json, json};
use testkit::Target;
use tfplugin::harness::Action;
use tfplugin::{Data, Value};

use crate::entangled::replan;
use crate::patch::{object, said};
use crate::world::{OBJECT, World};

fn deployment(world: &World, replicas: u32) -> Json {
    json!({"apiVersion": "apps/v1", "kind": "Deployment",
        "metadata": {"name": "a", "namespace": world.namespace.name(), "finalizers": null},
        "spec": {"replicas": replicas, "selector": {"matchLabels": {"app": "a"}}, "template": {
            "metadata": {"labels": {"app": "a"}, "annotations": null},
            "spec": {"volumes": null, "hostAliases": null, "imagePullSecrets": null,
                "nodeSelector": null, "containers": [{"name": "web", "image": "web:1",
                    "env": null, "ports": null, "volumeMounts": null}]}}}})
}

/// What others put wherever parts of it can be theirs.
fn theirs() -> Json {
    json!({"metadata": {"finalizers": ["example.com/theirs"]}, "spec": {"template": {
        "metadata": {"annotations": {"theirs": "x"}},
        "spec": {"volumes": [{"name": "v", "emptyDir": {}}],
            "hostAliases": [{"ip": "10.0.0.1", "hostnames": ["h"]}],
            "imagePullSecrets": [{"name": "s"}], "containers": [{"name": "web",
                "env": [{"name": "R", "value": "1"}], "ports": [{"containerPort": 99}],
                "volumeMounts": [{"name": "v", "mountPath": "/v"}]}]}}}})
}

fn shows_theirs(planned: &Value) -> bool {
    let projection = planned.attribute("managed_state_projection").and_then(Value::known);
    let Some(Data::Map(map)) = projection else {
        panic!("{planned:?}");
    };
    map.keys()
        .any(|path| path.contains("env") || path.contains("theirs") || path.contains("volume"))
}

#[tokio::test]
async fn what_others_put_where_null_is_written_never_shows_and_never_upsets_a_plan() {
    let world = World::new().await;
    let config = |replicas| world.config(&deployment(&world, replicas).to_string());
    let state = world.core().create(OBJECT, &config(0)).await.unwrap();
    let target = Target::new("apps/v1", "Deployment", world.namespace.name(), "a");

    let core = world.core();
    let read = core.read(OBJECT, &state).await.unwrap().present().unwrap();
    let plan = core.plan(OBJECT, &config(0), Some(&read)).await.unwrap();
    assert_eq!(plan.action, Action::NoOp);
    let plan = core.plan(OBJECT, &config(1), Some(&read)).await.unwrap();
    // Behind the plan.
    let rival = world.cluster.act_as("rival");
    rival.strategic_patch(&target, theirs()).await.unwrap();
    let state = world.core().apply(OBJECT, &config(1), Some(&read), &plan).await.unwrap();
    let live = world.cluster.read(&target).await.unwrap().unwrap();
    let pod = &live["spec"]["template"]["spec"];
    assert_eq!(pod["containers"][0]["env"], json!([{"name": "R", "value": "1"}]));
    assert_eq!(pod["volumes"][0]["name"], "v");

    let core = world.core();
    let read = core.read(OBJECT, &state.present().unwrap()).await.unwrap().present().unwrap();
    let plan = core.plan(OBJECT, &config(1), Some(&read)).await.unwrap();
    assert_eq!(plan.action, Action::NoOp, "{:?}", plan.diagnostics);
    assert!(!shows_theirs(&plan.planned));
    let _ = rival.merge_patch(&target, json!({"metadata": {"finalizers": null}})).await.unwrap();
}

#[tokio::test]
async fn a_whole_that_is_taken_where_null_is_written_is_drift_with_its_author() {
    let world = World::new().await;
    let config = |replicas| world.config(&deployment(&world, replicas).to_string());
    let state = world.core().create(OBJECT, &config(0)).await.unwrap();
    let target = Target::new("apps/v1", "Deployment", world.namespace.name(), "a");
    let taken = json!({"spec": {"template": {"spec": {"nodeSelector": {"a": "R"}}}}});
    world.cluster.act_as("rival").merge_patch(&target, taken).await.unwrap();
    let core = world.core();
    let read = core.read(OBJECT, &state).await.unwrap().present().unwrap();
    let plan = core.plan(OBJECT, &config(0), Some(&read)).await.unwrap();
    assert_eq!(plan.action, Action::Update);
    let told = format!("{:?}", plan.diagnostics);
    assert!(told.contains("spec.template.spec.nodeSelector") && told.contains("rival"), "{told}");
    let state = core.apply(OBJECT, &config(0), Some(&read), &plan).await.unwrap();
    let core = world.core();
    let read = core.read(OBJECT, &state.present().unwrap()).await.unwrap().present().unwrap();
    let plan = core.plan(OBJECT, &config(0), Some(&read)).await.unwrap();
    assert_eq!(plan.action, Action::NoOp, "{:?}", plan.diagnostics);
}

#[tokio::test]
async fn a_secret_with_a_null_in_its_string_data_is_watched_key_by_key() {
    let world = World::new().await;
    let config = |data: Json| {
        let body = json!({"apiVersion": "v1", "kind": "Secret",
            "metadata": {"name": "s", "namespace": world.namespace.name()}, "stringData": data});
        world.config(&body.to_string())
    };
    let (all, fewer) = (json!({"b": null, "c": "x", "e": "y"}), json!({"b": null, "c": "x"}));
    let state = world.core().create(OBJECT, &config(all.clone())).await.unwrap();
    let target = Target::new("v1", "Secret", world.namespace.name(), "s");
    let rotated = json!({"stringData": {"c": "rotated"}});
    world.cluster.act_as("rival").merge_patch(&target, rotated).await.unwrap();
    let core = world.core();
    let read = core.read(OBJECT, &state).await.unwrap().present().unwrap();
    let plan = core.plan(OBJECT, &config(all), Some(&read)).await.unwrap();
    assert_eq!(plan.action, Action::Update, "drift shows");
    let plan = core.plan(OBJECT, &config(fewer.clone()), Some(&read)).await.unwrap();
    let state = core.apply(OBJECT, &config(fewer.clone()), Some(&read), &plan).await.unwrap();
    let live = world.cluster.read(&target).await.unwrap().unwrap();
    assert_eq!(live["data"], json!({"b": "", "c": "eA=="}), "what was dropped is gone");
    let core = world.core();
    let read = core.read(OBJECT, &state.present().unwrap()).await.unwrap().present().unwrap();
    let plan = core.plan(OBJECT, &config(fewer), Some(&read)).await.unwrap();
    assert_eq!(plan.action, Action::NoOp, "{:?}", plan.diagnostics);
}

#[tokio::test]
async fn a_refusal_names_the_nulls_that_it_may_be_about_and_no_others() {
    let world = World::new().await;
    let claim = |size: &str, label: &str| {
        let mut claim = object("v1", "PersistentVolumeClaim", "it", world.namespace.name());
        claim["metadata"]["labels"] = json!({"a": label});
        claim["spec"] = json!({"accessModes": ["ReadWriteOnce"], "storageClassName": null,
            "volumeName": "", "resources": {"requests": {"storage": size}}});
        claim
    };
    let state = world.create(&claim("1Gi", "b").to_string()).await.unwrap();
    let filled = json!({"spec": {"storageClassName": "standard", "volumeName": "there"}});
    let target = Target::of(&claim("1Gi", "b")).unwrap();
    world.cluster.act_as("controller").merge_patch(&target, filled).await.unwrap();
    for (body, is_named) in [(claim("1Gi", "c"), true), (claim("much", "b"), false)] {
        let plan = replan(&world, &world.config(&body.to_string()), &state).await;
        let told = plan.unwrap_err().to_string();
        let empties = "for `spec.volumeName` and `null` for `spec.storageClassName`";
        assert_eq!(told.contains(empties), is_named, "{told}");
    }
}

#[tokio::test]
async fn a_null_that_keeps_a_default_away_is_told_when_it_is_no_longer_written() {
    let world = World::new().await;
    let ns = world.namespace.name();
    let group = format!("{ns}.example.com");
    let number = json!({"type": "integer", "nullable": true, "default": 5});
    let spec = json!({"type": "object", "properties": {"n": number, "other": {"type": "string"}}});
    let definition = json!({"apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition", "metadata": {"name": format!("gaps.{group}")},
        "spec": {"group": group, "scope": "Namespaced",
            "names": {"kind": "Gap", "plural": "gaps"},
            "versions": [{"name": "v1", "served": true, "storage": true, "schema":
                {"openAPIV3Schema": {"type": "object", "properties": {"spec": spec}}}}]}});
    world.create(&definition.to_string()).await.unwrap();
    world.await_served(&definition).await;
    let config = |spec: Json| {
        let mut gap = object(&format!("{group}/v1"), "Gap", "it", ns);
        gap["spec"] = spec;
        world.config(&gap.to_string())
    };
    let state = world.core().create(OBJECT, &config(json!({"n": null, "other": "x"}))).await;
    let state = state.unwrap();
    for (spec, is_told) in
        [(json!({"n": null, "other": "y"}), false), (json!({"other": "x"}), true)]
    {
        let plan = replan(&world, &config(spec), &state).await.unwrap();
        let told = said(&plan.diagnostics);
        let line = "1 removed field will fall back to a default";
        assert_eq!(told.contains(line), is_told, "{told}");
        assert_eq!(told.contains("spec.n held by nobody is now null will be 5"), is_told, "{told}");
    }
}
