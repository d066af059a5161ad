//! A Service is not deleted for an address that another Service has. A dry-run does not compare addresses.

use serde_json::{Value as Json, json};
use testkit::{Filter, Target};
use tfplugin::harness::{Action, State};

use crate::entangled::replan;
use crate::patch::{object, refused};
use crate::world::{OBJECT, World};
use crate::wrong_cluster::as_tenant;

fn service(world: &World, name: &str, spec: &Json) -> Json {
    let mut service = object("v1", "Service", name, world.namespace.name());
    service["spec"] = json!({"selector": {"app": "it"}, "ports": [{"port": 80}]});
    service["spec"].as_object_mut().unwrap().extend(spec.as_object().unwrap().clone());
    service
}

/// A Service of ours without an address, and one of others with these.
async fn beside(world: &World, theirs: &Json) -> State {
    world.cluster.act_as("helm").apply(service(world, "theirs", theirs)).await.unwrap();
    let headless = service(world, "it", &json!({"clusterIP": "None"}));
    world.create(&headless.to_string()).await.unwrap()
}

/// What is planned for our Service with these addresses; `None` if the object is to be replaced.
async fn refusal(world: &World, state: &State, spec: &Json) -> Option<String> {
    let body = service(world, "it", spec).to_string();
    let plan = replan(world, &world.config(&body), state).await;
    if let Ok(plan) = &plan {
        assert_eq!(plan.action, Action::Replace);
        return None;
    }
    let target = Target::new("v1", "Service", world.namespace.name(), "it");
    assert!(world.cluster.read(&target).await.unwrap().is_some());
    Some(refused(plan))
}

#[tokio::test]
async fn a_cluster_ip_of_another_service_is_an_error_and_a_free_one_is_not() {
    let world = World::new().await;
    let state = beside(&world, &json!({"clusterIP": "10.96.79.11"})).await;
    let theirs = format!("clusterIP 10.96.79.11 owned by Service `{}/theirs`", world.namespace);
    for taken in [
        json!({"clusterIP": "10.96.79.11"}),
        json!({"clusterIP": "10.96.79.11", "clusterIPs": ["10.96.79.11"]}),
    ] {
        let told = refusal(&world, &state, &taken).await.unwrap();
        assert!(told.contains("cannot be replaced: another Service has its address"), "{told}");
        assert!(told.contains(&theirs), "{told}");
    }
    assert_eq!(refusal(&world, &state, &json!({"clusterIP": "10.96.79.12"})).await, None);
    // Nor where the user asks for the replacement.
    let tainted = State { tainted: true, ..state };
    let told = refusal(&world, &tainted, &json!({"clusterIP": "10.96.79.11"})).await.unwrap();
    assert!(told.contains(&theirs), "{told}");
    assert_eq!(refusal(&world, &tainted, &json!({"clusterIP": "10.96.79.12"})).await, None);
}

#[tokio::test]
async fn a_node_port_of_another_service_is_an_error_and_a_free_one_is_not() {
    let world = World::new().await;
    let spec = |ip: &str, port: u16| json!({"type": "NodePort", "clusterIP": ip, "ports": [{"port": 80, "nodePort": port}]});
    let state = beside(&world, &spec("10.96.79.21", 30779)).await;
    let told = refusal(&world, &state, &spec("10.96.79.22", 30779)).await.unwrap();
    assert!(told.contains("provided port is already allocated"), "{told}");
    let tainted = State { tainted: true, ..state.clone() };
    let told = refusal(&world, &tainted, &spec("10.96.79.22", 30779)).await.unwrap();
    let theirs = format!("nodePort 30779 owned by Service `{}/theirs`", world.namespace);
    assert!(told.contains(&theirs), "{told}");
    assert_eq!(refusal(&world, &state, &spec("10.96.79.22", 30780)).await, None);
}

#[tokio::test]
async fn an_address_that_cannot_be_compared_is_no_reason_to_delete() {
    let world = World::new().await;
    let state = beside(&world, &json!({})).await;
    let tenant = as_tenant(&world, world.cluster).await;
    let body = service(&world, "it", &json!({"clusterIP": "10.96.79.31"})).to_string();
    let told = refused(replan(&world, &world.config_at(&tenant, &body), &state).await);
    assert!(told.contains("has the addresses in `yaml_body` could not be checked"), "{told}");
    assert!(told.contains("cannot list resource") && told.contains("terraform taint"), "{told}");
}

#[tokio::test]
async fn a_renamed_service_keeps_its_own_address_and_gets_none_of_another() {
    let world = World::new().await;
    let theirs = json!({"clusterIP": "10.96.79.51"});
    world.cluster.act_as("helm").apply(service(&world, "theirs", &theirs)).await.unwrap();
    let own = json!({"clusterIP": "10.96.79.52"});
    let state = world.create(&service(&world, "it", &own).to_string()).await.unwrap();
    let renamed = |spec: &Json| world.config(&service(&world, "renamed", spec).to_string());
    let plan = replan(&world, &renamed(&own), &state).await.unwrap();
    assert_eq!(plan.action, Action::Replace);
    let told = refused(replan(&world, &renamed(&theirs), &state).await);
    assert!(told.contains("another Service has its address"), "{told}");
}

#[tokio::test]
async fn services_are_listed_only_for_an_address_that_the_replaced_one_does_not_have() {
    let world = World::new().await;
    let before = service(&world, "it", &json!({"clusterIP": "10.96.79.41"}));
    let state = world.create(&before.to_string()).await.unwrap();
    let tainted = State { tainted: true, ..state };
    for (ip, lists) in [("10.96.79.41", 0), ("10.96.79.42", 1)] {
        let spec = json!({ "clusterIP": ip });
        let plan = refusal(&world, &tainted, &spec);
        let filter = Filter::by_user(&world.user);
        let (refusal, asked) = world.cluster.count_during(filter, plan).await.unwrap();
        assert_eq!(refusal, None);
        assert_eq!(asked.iter().filter(|it| it.verb == "list").count(), lists, "{asked:#?}");
    }
    world.core().destroy(OBJECT, &tainted).await.unwrap();
}
