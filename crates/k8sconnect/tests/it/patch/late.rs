//! What becomes known only while applying: the target, the text, the way to the cluster.

use serde_json::json;
use tfplugin::harness::{Action, Core};
use tfplugin::{Data, Value};

use super::{PATCH, Ward, refused, said};
use crate::world::{OBJECT, World};

/// A provider whose block holds the way to the cluster, known or not.
async fn by_block(core: Core, kubeconfig: Value) -> Core {
    let cluster = Value::Known(Data::object([("kubeconfig", kubeconfig)]));
    core.configure(Value::Known(Data::object([("cluster", cluster)]))).await.unwrap();
    core
}

fn unled(ward: &Ward, text: &str) -> Value {
    ward.config_with("merge_patch", text, &[("cluster", Value::Null)])
}

#[tokio::test]
async fn a_target_that_turns_out_to_be_another_is_refused_in_our_own_words() {
    let ward = Ward::config_map().await;
    let text = "data: {a: ours}";
    let state = ward.create("merge_patch", text).await;
    let name = |name: Value| {
        let Value::Known(Data::Object(mut config)) = ward.config("merge_patch", text) else {
            unreachable!()
        };
        let Some(Value::Known(Data::Object(target))) = config.get_mut("target") else {
            unreachable!()
        };
        target.insert("name".to_owned(), name);
        Value::Known(Data::Object(config))
    };
    let core = ward.newest_core();
    let read = core.read(PATCH, &state).await.unwrap().present().unwrap();
    let plan = core.plan(PATCH, &name(Value::Unknown), Some(&read)).await.unwrap();
    assert_eq!(plan.action, Action::Update);
    let other = name(Value::from("other"));
    let told = refused(ward.newest_core().apply(PATCH, &other, Some(&read), &plan).await);
    assert!(told.contains("settings` would have to move to ConfigMap"), "{told}");
    assert!(told.contains("Run apply again: it will plan the move"), "{told}");
    // OpenTofu does not say that it applies: its own error follows, and this tells what it means.
    let plan = ward.core().plan(PATCH, &other, Some(&read)).await.unwrap();
    let told = said(&plan.diagnostics);
    assert!(told.contains("During an apply it means that `target` was not known"), "{told}");
    // The next run plans the move.
    let core = ward.newest_core();
    core.read(PATCH, &state).await.unwrap();
    let plan = core.plan(PATCH, &other, Some(&read)).await.unwrap();
    assert_eq!(plan.action, Action::Replace);
    assert!(!said(&plan.diagnostics).contains("During an apply"));
}

#[tokio::test]
async fn what_a_late_text_takes_and_gives_back_is_told_during_the_apply() {
    let ward = Ward::config_map().await;
    let state = ward.create("merge_patch", "data: {a: ours}").await;
    let unknown = ward.config_with("patch", "", &[("patch", Value::Null)]);
    let Value::Known(Data::Object(mut unknown)) = unknown else { unreachable!() };
    unknown.insert("merge_patch".to_owned(), Value::Unknown);
    let core = ward.newest_core();
    let read = core.read(PATCH, &state).await.unwrap().present().unwrap();
    let plan = core.plan(PATCH, &Value::Known(Data::Object(unknown)), Some(&read)).await.unwrap();
    let known = ward.config("merge_patch", "data: {b: ours}");
    let made = ward.newest_core().apply(PATCH, &known, Some(&read), &plan).await.unwrap();
    let told = said(&made.diagnostics);
    assert!(told.contains("data.b held by `helm`"), "{told}");
    assert!(told.contains("data.a returns to `helm`"), "{told}");
}

#[tokio::test]
async fn what_drifted_is_set_though_the_way_to_the_cluster_was_not_known_to_the_plan() {
    let ward = Ward::config_map().await;
    let kubeconfig = || Value::from(ward.world.kubeconfig());
    let text = unled(&ward, "data: {a: ours}");
    let core = by_block(ward.core(), kubeconfig()).await;
    let state = core.create(PATCH, &text).await.unwrap();
    let edit = json!({"data": {"a": "edited"}});
    ward.world.cluster.act_as("ed").merge_patch(&ward.target, edit).await.unwrap();
    let core = by_block(ward.newest_core(), Value::Unknown).await;
    let read = core.read(PATCH, &state).await.unwrap().present().unwrap();
    let plan = core.plan(PATCH, &text, Some(&read)).await.unwrap();
    assert_eq!(plan.action, Action::Update);
    let core = by_block(ward.newest_core(), kubeconfig()).await;
    let made = core.apply(PATCH, &text, Some(&read), &plan).await.unwrap();
    let state = made.present().unwrap();
    assert_eq!(ward.live().await["data"]["a"], "ours");
    // Nothing more is to be done, and nobody is told that there is.
    let core = by_block(ward.newest_core(), Value::Unknown).await;
    let read = core.read(PATCH, &state).await.unwrap().present().unwrap();
    let plan = core.plan(PATCH, &text, Some(&read)).await.unwrap();
    let core = by_block(ward.newest_core(), kubeconfig()).await;
    let made = core.apply(PATCH, &text, Some(&read), &plan).await.unwrap();
    assert_eq!(said(&made.diagnostics), "");
    assert_eq!(made.present().unwrap().value, state.value);
}

#[tokio::test]
async fn a_drift_that_no_refresh_showed_is_set_along_with_another_way_to_the_cluster() {
    let ward = Ward::config_map().await;
    let state = ward.create("merge_patch", "data: {a: ours}").await;
    let core = ward.newest_core();
    let read = core.read(PATCH, &state).await.unwrap().present().unwrap();
    let config = ward.adopting("merge_patch", "data: {a: ours}");
    let plan = core.plan(PATCH, &config, Some(&read)).await.unwrap();
    let edit = json!({"data": {"a": "edited"}});
    ward.world.cluster.act_as("ed").merge_patch(&ward.target, edit).await.unwrap();
    let made = ward.newest_core().apply(PATCH, &config, Some(&read), &plan).await.unwrap();
    assert!(said(&made.diagnostics).contains("Applying sets what you wrote again"));
    assert_eq!(ward.live().await["data"]["a"], "ours");
}

#[tokio::test]
async fn an_object_that_drifted_is_put_right_though_the_way_to_it_was_not_known_to_the_plan() {
    let world = World::new().await;
    let body = world.config_map("mine");
    let config = Value::Known(Data::object([("yaml_body", Value::from(body.as_str()))]));
    let kubeconfig = || Value::from(world.kubeconfig());
    let core = by_block(world.core(), kubeconfig()).await;
    let state = core.create(OBJECT, &config).await.unwrap();
    let target = testkit::Target::new("v1", "ConfigMap", world.namespace.name(), "mine");
    let edit = json!({"data": {"greeting": "edited"}});
    world.cluster.act_as("ed").merge_patch(&target, edit).await.unwrap();
    let core = by_block(world.core(), Value::Unknown).await;
    let read = core.read(OBJECT, &state).await.unwrap().present().unwrap();
    let plan = core.plan(OBJECT, &config, Some(&read)).await.unwrap();
    let core = by_block(world.core(), kubeconfig()).await;
    let made = core.apply(OBJECT, &config, Some(&read), &plan).await.unwrap();
    let told = said(&made.diagnostics);
    assert!(told.contains("Applying sets what you wrote again"), "{told}");
    let live = world.cluster.read(&target).await.unwrap().unwrap();
    assert_eq!(live["data"]["greeting"], "hello");
}
