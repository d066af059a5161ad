//! Connections that lead to another cluster than before.

mod identity;
mod replaced;

use serde_json::{Value as Json, json};
use testkit::{ControlPlane, Target};
use tfplugin::harness::{Action, Core, State};

use crate::patch::PATCH;
use crate::world::{OBJECT, World, value};

const NOT_FOUND: &str = "not found, and the cluster could not be identified";
const ANOTHER: &str = "is another object, and the cluster could not be identified";

/// How the other cluster is entered.
async fn another() -> Json {
    let other = ControlPlane::another().await;
    json!({ "host": other.url(), "cluster_ca_certificate": other.ca(), "token": other.token() })
}

/// A provider whose block names a cluster.
async fn core(world: &World, cluster: &Json) -> Core {
    let core = world.core();
    core.configure(value(&json!({ "cluster": cluster }))).await.unwrap();
    core
}

fn config(world: &World) -> tfplugin::Value {
    world.config_at(&Json::Null, &world.config_map("settings"))
}

async fn made(world: &World) -> State {
    core(world, &world.by_token()).await.create(OBJECT, &config(world)).await.unwrap()
}

fn settings(world: &World) -> Target {
    Target::new("v1", "ConfigMap", world.namespace.name(), "settings")
}

#[tokio::test]
async fn an_object_is_not_given_up_because_the_provider_block_leads_elsewhere() {
    let world = World::new().await;
    let state = made(&world).await;
    let elsewhere = core(&world, &another().await).await;
    let read = elsewhere.read(OBJECT, &state).await.unwrap();
    let told = format!("{:?}", read.diagnostics);
    assert!(told.contains("leads to another cluster"), "{told}");
    let kept = read.present().unwrap();
    let refused =
        elsewhere.plan(OBJECT, &config(&world), Some(&kept)).await.unwrap_err().to_string();
    assert!(refused.contains("leads to another cluster"), "{refused}");
    assert!(refused.contains("state rm ADDRESS"), "{refused}");
    let refused = elsewhere.plan_destroy(OBJECT, &kept).await.unwrap_err().to_string();
    assert!(refused.contains("leads to another cluster"), "{refused}");

    // Back at home all is as it was.
    let home = core(&world, &world.by_token()).await;
    let read = home.read(OBJECT, &kept).await.unwrap();
    assert!(read.diagnostics.is_empty(), "{:?}", read.diagnostics);
    let plan = home.plan(OBJECT, &config(&world), read.state.as_ref()).await.unwrap();
    assert_eq!(plan.action, Action::NoOp);
}

#[tokio::test]
async fn a_namesake_in_another_cluster_is_neither_taken_nor_deleted() {
    let world = World::new().await;
    let state = made(&world).await;
    let other = ControlPlane::another().await;
    let namespace = json!({ "apiVersion": "v1", "kind": "Namespace",
        "metadata": { "name": world.namespace.name() } });
    other.act_as("testkit").create(namespace).await.unwrap();
    other.act_as("testkit").create(world.config_map("settings").as_str()).await.unwrap();

    let elsewhere = core(&world, &another().await).await;
    let kept = elsewhere.read(OBJECT, &state).await.unwrap().present().unwrap();
    elsewhere.plan(OBJECT, &config(&world), Some(&kept)).await.unwrap_err();
    // A change that was planned without a refresh, and one that was planned at home.
    let body = world.config_map("settings").replace("hello", "good morning");
    let changed = world.config_at(&Json::Null, &body);
    let home = core(&world, &world.by_token()).await;
    let plan = home.plan(OBJECT, &changed, Some(&state)).await.unwrap();
    let planned = elsewhere.plan(OBJECT, &changed, Some(&state)).await.unwrap_err().to_string();
    let applied = elsewhere.apply(OBJECT, &changed, Some(&state), &plan).await;
    for refused in [planned, applied.unwrap_err().to_string()] {
        assert!(refused.contains("leads to another cluster"), "{refused}");
    }
    // A deletion likewise.
    let plan = home.plan_destroy(OBJECT, &state).await.unwrap();
    let planned = elsewhere.plan_destroy(OBJECT, &state).await.unwrap_err().to_string();
    let gone = elsewhere.apply(OBJECT, &tfplugin::Value::Null, Some(&state), &plan).await;
    for refused in [planned, gone.unwrap_err().to_string()] {
        assert!(refused.contains("leads to another cluster"), "{refused}");
    }
    assert!(other.read(&settings(&world)).await.unwrap().is_some());
    assert!(world.cluster.read(&settings(&world)).await.unwrap().is_some());
}

#[tokio::test]
async fn what_was_restored_into_another_cluster_is_not_ours() {
    let world = World::new().await;
    let state = made(&world).await;
    let other = ControlPlane::another().await;
    let namespace = json!({ "apiVersion": "v1", "kind": "Namespace",
        "metadata": { "name": world.namespace.name() } });
    other.act_as("testkit").create(namespace).await.unwrap();
    let mut copy = world.cluster.read(&settings(&world)).await.unwrap().unwrap();
    for field in ["uid", "resourceVersion", "managedFields", "creationTimestamp"] {
        copy["metadata"].as_object_mut().unwrap().remove(field);
    }
    other.act_as("backup").create(copy).await.unwrap();

    let elsewhere = core(&world, &another().await).await;
    let kept = elsewhere.read(OBJECT, &state).await.unwrap().present().unwrap();
    assert_eq!(kept.attribute("uid"), state.attribute("uid"));
    elsewhere.plan(OBJECT, &config(&world), Some(&kept)).await.unwrap_err();
    elsewhere.plan_destroy(OBJECT, &state).await.unwrap_err();
    let home = core(&world, &world.by_token()).await;
    let plan = home.plan_destroy(OBJECT, &state).await.unwrap();
    elsewhere.apply(OBJECT, &tfplugin::Value::Null, Some(&state), &plan).await.unwrap_err();
    assert!(other.read(&settings(&world)).await.unwrap().is_some());
}

#[tokio::test]
async fn a_connection_that_changes_to_another_cluster_is_refused_at_plan() {
    let world = World::new().await;
    let body = world.config_map("settings");
    let state = world.core().create(OBJECT, &world.config_at(&world.by_token(), &body)).await;
    let state = state.unwrap();
    let moved = world.config_at(&another().await, &body);
    let core = world.core();
    let read = core.read(OBJECT, &state).await.unwrap().present().unwrap();
    let refused = core.plan(OBJECT, &moved, Some(&read)).await.unwrap_err().to_string();
    assert!(refused.contains("leads to another cluster"), "{refused}");

    // A cluster that cannot be identified is known by the object alone.
    let bare = identity::without_uid(OBJECT, &state);
    let other = ControlPlane::another().await;
    let namespace = json!({ "apiVersion": "v1", "kind": "Namespace",
        "metadata": { "name": world.namespace.name() } });
    other.act_as("testkit").create(namespace).await.unwrap();
    let tenant = world.config_at(&as_tenant(&world, other).await, &body);
    let home = world.config_at(&as_tenant(&world, world.cluster).await, &body);
    for state in [&state, &bare] {
        let core = world.core();
        let read = core.read(OBJECT, state).await.unwrap().present().unwrap();
        let refused = core.plan(OBJECT, &tenant, Some(&read)).await.unwrap_err().to_string();
        assert!(refused.contains(NOT_FOUND), "{refused}");
        let plan = core.plan(OBJECT, &home, Some(&read)).await.unwrap();
        assert_eq!(plan.action, Action::Update);
    }
}

/// The way in of somebody who may do everything in the test's namespace, and nothing outside.
pub(crate) async fn as_tenant(world: &World, cluster: &ControlPlane) -> Json {
    let user = format!("tenant-of-{}", world.namespace);
    let metadata = json!({ "name": "tenant", "namespace": world.namespace.name() });
    // Nobody fills the roles that are built in where no controllers run.
    let role = json!({ "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "Role",
        "metadata": metadata,
        "rules": [{ "apiGroups": ["*"], "resources": ["*"], "verbs": ["*"] }] });
    cluster.act_as("testkit").create(role).await.unwrap();
    let rights = json!({ "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "RoleBinding",
        "metadata": metadata,
        "roleRef": { "apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "tenant" },
        "subjects": [{ "kind": "User", "name": user, "apiGroup": "rbac.authorization.k8s.io" }] });
    cluster.act_as("testkit").create(rights).await.unwrap();
    json!({ "kubeconfig": cluster.kubeconfig_for(&user, None).unwrap() })
}

#[tokio::test]
async fn an_object_is_not_given_up_by_credentials_that_cannot_show_which_cluster_it_is() {
    let world = World::new().await;
    let state = made(&world).await;
    let other = ControlPlane::another().await;
    let namespace = json!({ "apiVersion": "v1", "kind": "Namespace",
        "metadata": { "name": world.namespace.name() } });
    other.act_as("testkit").create(namespace).await.unwrap();
    let elsewhere = core(&world, &as_tenant(&world, other).await).await;
    let read = elsewhere.read(OBJECT, &state).await.unwrap();
    let told = format!("{:?}", read.diagnostics);
    assert!(told.contains(NOT_FOUND), "{told}");
    let kept = read.present().unwrap();
    for refused in [
        elsewhere.plan(OBJECT, &config(&world), Some(&kept)).await.err().unwrap().to_string(),
        elsewhere.plan_destroy(OBJECT, &kept).await.err().unwrap().to_string(),
    ] {
        assert!(refused.contains(NOT_FOUND), "{refused}");
        assert!(refused.contains("Grant the credentials `get`"), "{refused}");
        assert!(refused.contains("state rm ADDRESS"), "{refused}");
    }
    // A deletion that was planned without a refresh.
    let plan = elsewhere.plan_destroy(OBJECT, &state).await.unwrap();
    let gone = elsewhere.apply(OBJECT, &tfplugin::Value::Null, Some(&state), &plan).await;
    let refused = gone.unwrap_err().to_string();
    assert!(refused.contains(NOT_FOUND), "{refused}");

    // Back at home all is as it was, for the same little rights too.
    let tenant = as_tenant(&world, world.cluster).await;
    let home = core(&world, &tenant).await;
    let read = home.read(OBJECT, &kept).await.unwrap();
    let told = format!("{:?}", read.diagnostics);
    assert!(told.contains("could not be identified") && !told.contains(NOT_FOUND), "{told}");
    let plan = home.plan(OBJECT, &config(&world), read.state.as_ref()).await.unwrap();
    assert_eq!(plan.action, Action::NoOp);
    // A deletion that is planned before the refresh, by what the last one noted.
    let home = core(&world, &tenant).await;
    home.plan_destroy(OBJECT, &kept).await.unwrap();
}

/// What an earlier run noted may be mended by now, and some plan a deletion before they refresh.
#[tokio::test]
async fn a_note_of_another_cluster_is_looked_into_and_not_believed() {
    let world = World::new().await;
    let elsewhere = core(&world, &another().await).await;
    let home = core(&world, &world.by_token()).await;
    world.cluster.act_as("helm").apply(world.config_map("theirs")).await.unwrap();
    let patch = value(&json!({ "patch": "data: {greeting: ours}", "target": {
        "api_version": "v1", "kind": "ConfigMap", "name": "theirs",
        "namespace": world.namespace.name() } }));
    let states = [
        (OBJECT, home.create(OBJECT, &config(&world)).await.unwrap()),
        (PATCH, home.create(PATCH, &patch).await.unwrap()),
    ];
    for (kind, state) in &states {
        let unnoted = elsewhere.plan_destroy(kind, state).await.unwrap_err().to_string();
        assert!(unnoted.contains("leads to another cluster"), "{kind}: {unnoted}");
        let kept = elsewhere.read(kind, state).await.unwrap().present().unwrap();
        let noted = elsewhere.plan_destroy(kind, &kept).await.unwrap_err().to_string();
        assert!(noted.contains("leads to another cluster"), "{kind}: {noted}");
        let mended = core(&world, &world.by_token()).await;
        let plan = mended.plan_destroy(kind, &kept).await.unwrap();
        mended.apply(kind, &tfplugin::Value::Null, Some(&kept), &plan).await.unwrap();
    }
    assert_eq!(world.cluster.read(&settings(&world)).await.unwrap(), None);
}

#[tokio::test]
async fn a_write_that_misses_because_it_goes_to_another_cluster_says_so() {
    let world = World::new().await;
    let state = made(&world).await;
    let body = world.config_map("settings").replace("hello", "good morning");
    let changed = world.config_at(&Json::Null, &body);
    let home = core(&world, &world.by_token()).await;
    let plan = home.plan(OBJECT, &changed, Some(&state)).await.unwrap();
    let elsewhere = core(&world, &another().await).await;
    let refused = elsewhere.plan(OBJECT, &changed, Some(&state)).await.unwrap_err().to_string();
    assert!(refused.contains("leads to another cluster"), "{refused}");
    let refused = elsewhere.apply(OBJECT, &changed, Some(&state), &plan).await;
    let refused = refused.unwrap_err().to_string();
    assert!(refused.contains("leads to another cluster"), "{refused}");
}

#[tokio::test]
async fn an_object_that_is_gone_from_its_own_cluster_is_planned_anew() {
    let world = World::new().await;
    let state = made(&world).await;
    world.cluster.delete(&settings(&world)).await.unwrap();
    let core = core(&world, &world.by_token()).await;
    assert!(core.read(OBJECT, &state).await.unwrap().state.is_none());
}
