//! Addresses and ports that the server allocates where the body leaves them to it.

use serde_json::{Value as Json, json};
use testkit::Target;
use tfplugin::Value;
use tfplugin::harness::{Action, State};

use crate::world::{OBJECT, World};

/// Carries one body out; nothing may be said of it.
async fn carry_out(world: &World, config: &Value, prior: Option<&State>) -> State {
    let core = world.core();
    let read = match prior {
        Some(prior) => Some(core.read(OBJECT, prior).await.unwrap().present().unwrap()),
        None => None,
    };
    let plan = core.plan(OBJECT, config, read.as_ref()).await.unwrap();
    assert!(plan.diagnostics.is_empty(), "{:?}", plan.diagnostics);
    let done = world.core().apply(OBJECT, config, read.as_ref(), &plan).await.unwrap();
    assert!(done.diagnostics.is_empty(), "{:?}", done.diagnostics);
    let state = done.present().unwrap();
    let core = world.core();
    let read = core.read(OBJECT, &state).await.unwrap().present().unwrap();
    assert_eq!(read.value, state.value, "what was written is what state was told");
    let again = core.plan(OBJECT, config, Some(&read)).await.unwrap();
    assert_eq!(again.action, Action::NoOp, "{:?}", again.diagnostics);
    read
}

fn service(world: &World, name: &str, label: &str, spec: &Json) -> Value {
    let body = json!({"apiVersion": "v1", "kind": "Service", "spec": spec,
        "metadata": {"name": name, "namespace": world.namespace.name(), "labels": {"l": label}}});
    world.config(&body.to_string())
}

/// Found by fresh eyes: the address of the dry-run was sent as if it were the object's.
#[tokio::test]
async fn what_the_server_allocates_is_not_promised_and_stays_what_it_is() {
    let world = World::new().await;
    let balanced = json!({"type": "LoadBalancer", "externalTrafficPolicy": "Local",
        "healthCheckNodePort": 0, "ports": [{"port": 80}]});
    let specs = [
        ("ip", "/spec/clusterIP", json!({"clusterIP": "", "ports": [{"port": 80}]})),
        ("ips", "/spec/clusterIP", json!({"clusterIPs": [], "ports": [{"port": 80}]})),
        ("none", "/spec/clusterIP", json!({"clusterIP": null, "ports": [{"port": 80}]})),
        (
            "port",
            "/spec/ports/0/nodePort",
            json!({"type": "NodePort", "ports": [{"port": 80, "nodePort": 0}]}),
        ),
        ("health", "/spec/healthCheckNodePort", balanced),
    ];
    for (name, allocated, spec) in specs {
        let state = carry_out(&world, &service(&world, name, "one", &spec), None).await;
        let target = Target::new("v1", "Service", world.namespace.name(), name);
        let before = world.cluster.read(&target).await.unwrap().unwrap();
        assert!(!before.pointer(allocated).unwrap().is_null(), "{name}");
        carry_out(&world, &service(&world, name, "two", &spec), Some(&state)).await;
        let after = world.cluster.read(&target).await.unwrap().unwrap();
        assert_eq!(after["metadata"]["labels"]["l"], "two", "{name}");
        assert_eq!(after.pointer(allocated), before.pointer(allocated), "{name}");
    }
}

#[tokio::test]
async fn a_port_that_is_allocated_by_a_change_is_not_promised_either() {
    let world = World::new().await;
    let inside = json!({"ports": [{"port": 80}]});
    let state = carry_out(&world, &service(&world, "web", "l", &inside), None).await;
    let outside = json!({"type": "NodePort", "ports": [{"port": 80, "nodePort": 0}]});
    carry_out(&world, &service(&world, "web", "l", &outside), Some(&state)).await;
}
