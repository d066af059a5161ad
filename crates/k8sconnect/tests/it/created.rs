//! A create makes an object, or changes nothing: how the provider knows which of the two happened.

use http::{Method, StatusCode};
use serde_json::{Value as Json, json};
use testkit::Target;
use testkit::audit::Persistence;
use testkit::proxy::{Fate, Proxy, Reply, Rule, Turn, Which};

use crate::patch::{refused, said};
use crate::world::{OBJECT, World};

/// The applies of the ConfigMap `settings`, real or dry.
fn applies(world: &World, persistence: Persistence) -> Which {
    let path = format!("/api/v1/namespaces/{}/configmaps/settings", world.namespace);
    Which::at(&path).method(Method::PATCH).persistence(persistence)
}

fn settings(world: &World) -> Target {
    Target::new("v1", "ConfigMap", world.namespace.name(), "settings")
}

/// A server that changes an object where it should create one says 200.
fn changed(world: &World) -> Fate {
    let object: Json = json!({"apiVersion": "v1", "kind": "ConfigMap",
        "metadata": {"name": "settings", "namespace": world.namespace.name(), "uid": "u",
            "resourceVersion": "1", "managedFields": []},
        "data": {"greeting": "hello"}});
    Fate::AnswerAfter(Reply::json(StatusCode::OK, &object))
}

#[tokio::test]
async fn a_create_that_changed_an_object_instead_is_an_error_and_no_state() {
    let world = World::new().await;
    let proxy = Proxy::before(world.cluster).await.unwrap();
    let answer = Rule::new(applies(&world, Persistence::Real), Turn::Every, changed(&world));
    let answered = proxy.rule(answer);
    let config = world.config_through(&proxy.kubeconfig(), &world.config_map("settings"));
    let failure = world.core().create(OBJECT, &config).await.unwrap_err();
    assert_eq!(answered.fired().len(), 1, "it is not tried again");
    assert_eq!(failure.stored(), None);
    let told = said(&failure.diagnostics());
    assert!(told.contains("changed an object instead of creating one (HTTP 200)"), "{told}");
    assert!(told.contains("state does not know it"), "{told}");
}

#[tokio::test]
async fn a_dry_run_that_would_change_an_object_instead_is_planned_as_one_that_exists() {
    let world = World::new().await;
    let other = json!({"apiVersion": "v1", "kind": "ConfigMap",
        "metadata": {"name": "settings", "namespace": world.namespace.name()},
        "data": {"greeting": "theirs"}});
    world.cluster.act_as("helm").create(other).await.unwrap();
    let proxy = Proxy::before(world.cluster).await.unwrap();
    let answer = Rule::new(applies(&world, Persistence::DryRun), Turn::Every, changed(&world));
    proxy.rule(answer);
    let config = world.config_through(&proxy.kubeconfig(), &world.config_map("settings"));
    let told = refused(world.core().plan(OBJECT, &config, None).await);
    assert!(told.contains("exists already") && told.contains("`helm`"), "{told}");
}

#[tokio::test]
async fn a_create_whose_answer_is_lost_is_known_by_its_own_id() {
    let world = World::new().await;
    let proxy = Proxy::before(world.cluster).await.unwrap();
    let reset = Rule::new(applies(&world, Persistence::Real), Turn::Nth(1), Fate::ResetAfter);
    let lost = proxy.rule(reset);
    let config = world.config_through(&proxy.kubeconfig(), &world.config_map("settings"));
    let state = world.core().create(OBJECT, &config).await.unwrap();
    assert_eq!(lost.fired().len(), 1);
    let live = world.cluster.read(&settings(&world)).await.unwrap().unwrap();
    assert_eq!(
        state.attribute("uid"),
        &tfplugin::Value::from(live["metadata"]["uid"].as_str().unwrap())
    );
}
