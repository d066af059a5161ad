//! What is replaced, or ended, while its connection leads to another cluster. Terraform plans a
//! replacement as a creation and a deletion, and hands neither of a tainted resource what is
//! remembered of it.

use serde_json::{Value as Json, json};
use testkit::ControlPlane;
use tfplugin::Value;
use tfplugin::harness::{Action, Core, PlanOutcome, State};

use super::{ANOTHER, NOT_FOUND, another, config, core, made, settings};
use crate::patch::{PATCH, id, owners, refused, said};
use crate::world::{OBJECT, World, value};

const ELSEWHERE: &str = "leads to another cluster";

fn tainted(state: &State) -> State {
    State { tainted: true, ..state.clone() }
}

/// A patch that is tainted, and the plan that makes it anew.
async fn tainted_patch(world: &World, config: &Value) -> (State, PlanOutcome) {
    let home = core(world, &world.by_token()).await;
    let state = tainted(&patched(world, &home).await);
    let read = home.read(PATCH, &state).await.unwrap().present().unwrap();
    let plan = home.plan(PATCH, config, Some(&read)).await.unwrap();
    (state, plan)
}

/// The test's namespace in the other cluster, with one object of helm's in it.
async fn other_with(world: &World, name: &str) -> &'static ControlPlane {
    let other = ControlPlane::another().await;
    let namespace = json!({ "apiVersion": "v1", "kind": "Namespace",
        "metadata": { "name": world.namespace.name() } });
    other.act_as("testkit").create(namespace).await.unwrap();
    other.act_as("helm").apply(world.config_map(name)).await.unwrap();
    other
}

fn patch_of(world: &World, name: &str) -> Value {
    let namespace = world.namespace.name();
    value(&json!({ "patch": "data: {greeting: ours}", "target": {
        "api_version": "v1", "kind": "ConfigMap", "name": name, "namespace": namespace } }))
}

/// A patch of an object of helm's.
async fn patched(world: &World, home: &Core) -> State {
    world.cluster.act_as("helm").apply(world.config_map("settings")).await.unwrap();
    home.create(PATCH, &patch_of(world, "settings")).await.unwrap()
}

#[tokio::test]
async fn a_tainted_object_is_neither_given_up_nor_made_in_another_cluster() {
    let world = World::new().await;
    let state = tainted(&made(&world).await);
    let home = core(&world, &world.by_token()).await;
    let read = home.read(OBJECT, &state).await.unwrap().present().unwrap();
    let plan = home.plan(OBJECT, &config(&world), Some(&read)).await.unwrap();
    assert_eq!(plan.action, Action::Replace);

    // A saved plan, where there is nothing of the name, and where there is a namesake.
    let elsewhere = core(&world, &another().await).await;
    let told = refused(elsewhere.apply(OBJECT, &config(&world), Some(&state), &plan).await);
    assert!(told.contains(NOT_FOUND), "{told}");
    assert!(told.contains("tainted"), "{told}");
    // A plan of its own, which Terraform makes without what state holds. The refresh warns.
    let elsewhere = core(&world, &another().await).await;
    let read = elsewhere.read(OBJECT, &state).await.unwrap();
    assert!(said(&read.diagnostics).contains(ELSEWHERE), "{:?}", read.diagnostics);
    let read = State { tainted: true, ..read.present().unwrap() };
    let there = elsewhere.plan(OBJECT, &config(&world), Some(&read)).await.unwrap();
    let told = refused(elsewhere.apply(OBJECT, &config(&world), Some(&read), &there).await);
    assert!(told.contains(NOT_FOUND), "{told}");
    let other = other_with(&world, "settings").await;
    let told = refused(elsewhere.apply(OBJECT, &config(&world), Some(&state), &plan).await);
    assert!(told.contains(ANOTHER), "{told}");
    assert!(other.read(&settings(&world)).await.unwrap().is_some());
    assert!(world.cluster.read(&settings(&world)).await.unwrap().is_some());

    let home = core(&world, &world.by_token()).await;
    home.apply(OBJECT, &config(&world), Some(&state), &plan).await.unwrap();
}

#[tokio::test]
async fn a_tainted_patch_is_neither_given_up_nor_made_in_another_cluster() {
    let world = World::new().await;
    let config = patch_of(&world, "settings");
    let (state, plan) = tainted_patch(&world, &config).await;
    let other = other_with(&world, "settings").await;
    let before = other.read(&settings(&world)).await.unwrap();

    let elsewhere = core(&world, &another().await).await;
    let told = refused(elsewhere.apply(PATCH, &config, Some(&state), &plan).await);
    assert!(told.contains(ANOTHER), "{told}");
    let elsewhere = core(&world, &another().await).await;
    let read = elsewhere.read(PATCH, &state).await.unwrap();
    assert!(said(&read.diagnostics).contains(ELSEWHERE), "{:?}", read.diagnostics);
    let read = State { tainted: true, ..read.present().unwrap() };
    let there = elsewhere.plan(PATCH, &config, Some(&read)).await.unwrap();
    let told = refused(elsewhere.apply(PATCH, &config, Some(&read), &there).await);
    assert!(told.contains(ANOTHER), "{told}");
    assert_eq!(other.read(&settings(&world)).await.unwrap(), before);

    let home = core(&world, &world.by_token()).await;
    home.apply(PATCH, &config, Some(&state), &plan).await.unwrap();
}

/// Backup tools bring annotations along, ours among them; some bring `managedFields` too.
#[tokio::test]
async fn a_tainted_patch_is_not_handed_back_to_what_was_restored_into_another_cluster() {
    let world = World::new().await;
    let config = patch_of(&world, "settings");
    let (state, plan) = tainted_patch(&world, &config).await;
    let other = other_with(&world, "something").await;
    let live = world.cluster.read(&settings(&world)).await.unwrap().unwrap();
    let mut copy = live.clone();
    for field in ["uid", "resourceVersion", "managedFields", "creationTimestamp"] {
        copy["metadata"].as_object_mut().unwrap().remove(field);
    }
    let copy = other.act_as("backup").create(copy).await.unwrap();
    let elsewhere = core(&world, &another().await).await;
    let told = refused(elsewhere.apply(PATCH, &config, Some(&state), &plan).await);
    assert!(told.contains(ANOTHER), "{told}");
    assert_eq!(other.read(&settings(&world)).await.unwrap(), Some(copy));

    let manager = format!("k8sconnect-patch-{}", id(&state));
    let ours = json!({ "apiVersion": "v1", "kind": "ConfigMap", "data": { "greeting": "ours" },
        "metadata": { "name": "settings", "namespace": world.namespace.name() } });
    let copy = other.act_as(&manager).apply(ours).await.unwrap();
    let told = refused(elsewhere.apply(PATCH, &config, Some(&state), &plan).await);
    assert!(told.contains(ANOTHER), "{told}");
    assert_eq!(other.read(&settings(&world)).await.unwrap(), Some(copy));

    assert_eq!(world.cluster.read(&settings(&world)).await.unwrap(), Some(live));
    let home = core(&world, &world.by_token()).await;
    home.apply(PATCH, &config, Some(&state), &plan).await.unwrap();
}

#[tokio::test]
async fn an_object_that_another_address_makes_elsewhere_too_is_not_in_its_way() {
    let world = World::new().await;
    let state = made(&world).await;
    other_with(&world, "something").await;
    // The block's own cluster is another one now; the object goes on by a name in it.
    let core = world.core();
    let block = json!({ "cluster": another().await, "clusters": { "former": world.by_token() } });
    core.configure(value(&block)).await.unwrap();
    let read = core.read(OBJECT, &state).await.unwrap().present().unwrap();
    let body = world.config_map("settings");
    let moved = value(&json!({ "yaml_body": body, "cluster_name": "former" }));
    let new = config(&world);
    let (old, new) =
        tokio::join!(core.plan(OBJECT, &moved, Some(&read)), core.plan(OBJECT, &new, None));
    assert_eq!((old.unwrap().action, new.unwrap().action), (Action::Update, Action::Create));
}

#[tokio::test]
async fn a_patch_is_not_handed_back_to_what_was_restored_into_another_cluster() {
    let world = World::new().await;
    let home = core(&world, &world.by_token()).await;
    let state = patched(&world, &home).await;
    let other = other_with(&world, "settings").await;
    let note = format!("k8sconnect.terraform.io/patch-{}", id(&state));
    let live = world.cluster.read(&settings(&world)).await.unwrap().unwrap();
    let marks = json!({ note.as_str(): live["metadata"]["annotations"][&note] });
    let copy = json!({ "apiVersion": "v1", "kind": "ConfigMap", "data": { "extra": "ours" },
        "metadata": { "name": "settings", "namespace": world.namespace.name(),
            "annotations": marks } });
    let manager = format!("k8sconnect-patch-{}", id(&state));
    let copy = other.act_as(&manager).apply(copy).await.unwrap();
    assert!(owners(&copy).iter().any(|entry| entry.contains(&manager)));

    let plan = home.plan_destroy(PATCH, &state).await.unwrap();
    let elsewhere = core(&world, &another().await).await;
    let told = refused(elsewhere.apply(PATCH, &Value::Null, Some(&state), &plan).await);
    assert!(told.contains(ELSEWHERE), "{told}");
    assert_eq!(other.read(&settings(&world)).await.unwrap(), Some(copy));
}

#[tokio::test]
async fn what_is_renamed_as_well_is_refused_at_plan() {
    let world = World::new().await;
    let state = made(&world).await;
    let renamed = world.config_at(&Json::Null, &world.config_map("renamed"));
    let elsewhere = core(&world, &another().await).await;
    // Without a refresh, and with one.
    let told = refused(elsewhere.plan(OBJECT, &renamed, Some(&state)).await);
    assert!(told.contains(ELSEWHERE), "{told}");
    let read = elsewhere.read(OBJECT, &state).await.unwrap().present().unwrap();
    let told = refused(elsewhere.plan(OBJECT, &renamed, Some(&read)).await);
    assert!(told.contains(ELSEWHERE), "{told}");

    // By another name in the provider block.
    let core = world.core();
    let block = json!({ "clusters": { "east": world.by_token(), "west": another().await } });
    core.configure(value(&block)).await.unwrap();
    let at = |name: &str, body: &str| value(&json!({ "yaml_body": body, "cluster_name": name }));
    let state = core.create(OBJECT, &at("east", &world.config_map("more"))).await.unwrap();
    let read = core.read(OBJECT, &state).await.unwrap().present().unwrap();
    let renamed = at("west", &world.config_map("renamed"));
    let told = refused(core.plan(OBJECT, &renamed, Some(&read)).await);
    assert!(told.contains(ELSEWHERE), "{told}");
}

#[tokio::test]
async fn a_patch_whose_target_changes_as_well_is_refused_at_plan() {
    let world = World::new().await;
    let home = core(&world, &world.by_token()).await;
    let state = patched(&world, &home).await;
    other_with(&world, "more").await;
    let moved = patch_of(&world, "more");
    let elsewhere = core(&world, &another().await).await;
    let told = refused(elsewhere.plan(PATCH, &moved, Some(&state)).await);
    assert!(told.contains(ELSEWHERE), "{told}");
    let read = elsewhere.read(PATCH, &state).await.unwrap().present().unwrap();
    let told = refused(elsewhere.plan(PATCH, &moved, Some(&read)).await);
    assert!(told.contains(ELSEWHERE), "{told}");
}
