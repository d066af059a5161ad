//! A kind of the test's own, with every sort of map and list, and what happens to objects of it.

use std::time::{Duration, Instant};

use serde_json::{Value as Json, json};
use testkit::Target;
use tfplugin::harness::{Action, PlanOutcome};
use tfplugin::{Data, Value};

use crate::entangled::replan;
use crate::patch::said;
use crate::world::{OBJECT, World};

/// Whether lists are merged item by item.
#[derive(Clone, Copy)]
enum Lists {
    Shared,
    Atomic,
}

fn definition(world: &World, lists: Lists) -> Json {
    let group = format!("{}.example.com", world.namespace);
    let mut set = json!({"type": "array", "items": {"type": "string"}});
    let mut keyed = json!({"type": "array", "items": {"type": "object",
        "required": ["name"], "properties": {"name": {"type": "string"},
            "port": {"type": "integer", "default": 80}, "val": {"type": "string"}}}});
    if let Lists::Shared = lists {
        set["x-kubernetes-list-type"] = json!("set");
        keyed["x-kubernetes-list-type"] = json!("map");
        keyed["x-kubernetes-list-map-keys"] = json!(["name", "port"]);
    }
    let schema = json!({"type": "object", "properties": {
        "free": {"type": "object", "x-kubernetes-preserve-unknown-fields": true},
        "lists": {"type": "object", "additionalProperties": set},
        "set": set, "keyed": keyed, "other": {"type": "string"},
        "maybe": {"type": "object", "nullable": true,
            "properties": {"a": {"type": "string"}}}}});
    json!({"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": format!("things.{group}")},
        "spec": {"group": group, "scope": "Namespaced",
            "names": {"kind": "Thing", "plural": "things"},
            "versions": [{"name": "v1", "served": true, "storage": true,
                "schema": {"openAPIV3Schema": schema}}]}})
}

/// Has the kind served.
pub(crate) async fn serve(world: &World) {
    let definition = definition(world, Lists::Shared);
    world.create(&definition.to_string()).await.unwrap();
    world.await_served(&definition).await;
}

/// A body of the kind.
pub(crate) fn thing(world: &World, name: &str, mut content: Json) -> Json {
    content["apiVersion"] = json!(format!("{}.example.com/v1", world.namespace));
    content["kind"] = json!("Thing");
    content["metadata"] = json!({"name": name, "namespace": world.namespace.name()});
    content
}

fn shows(plan: &PlanOutcome, path: &str) -> bool {
    let projection = plan.planned.attribute("managed_state_projection").and_then(Value::known);
    matches!(projection, Some(Data::Map(map)) if map.contains_key(path))
}

#[tokio::test]
async fn whoever_puts_a_value_in_the_place_of_a_map_of_ours_is_named() {
    let world = World::new().await;
    serve(&world).await;
    let body = world.config(&thing(&world, "it", json!({"free": {"b": {"a": 1}}})).to_string());
    let state = world.core().create(OBJECT, &body).await.unwrap();
    let target = Target::of(&thing(&world, "it", json!({}))).unwrap();
    let flat = json!({"free": {"b": true}});
    world.cluster.act_as("rival").merge_patch(&target, flat).await.unwrap();
    let core = world.core();
    let read = core.read(OBJECT, &state).await.unwrap().present().unwrap();
    let plan = core.plan(OBJECT, &body, Some(&read)).await.unwrap();
    let told = said(&plan.diagnostics);
    assert!(told.contains("held by `rival`"), "{told}");
    assert!(!told.contains("held by nobody"), "{told}");
}

#[tokio::test]
async fn whoever_holds_an_empty_map_is_not_named_for_what_is_gone_from_it() {
    let world = World::new().await;
    serve(&world).await;
    let body = thing(&world, "it", json!({"free": {"b": {"a": 1}}}));
    let state = world.create(&body.to_string()).await.unwrap();
    let empty = thing(&world, "it", json!({"free": {"b": {}}}));
    world.cluster.act_as("helm").apply(empty).await.unwrap();
    let gone = json!([{"op": "remove", "path": "/free/b/a"}]);
    let target = Target::of(&body).unwrap();
    world.cluster.act_as("kubectl").json_patch(&target, gone).await.unwrap();
    let plan = replan(&world, &world.config(&body.to_string()), &state).await.unwrap();
    let told = said(&plan.diagnostics);
    assert!(told.contains("free.b.a held by nobody is now (absent)"), "{told}");
}

/// Found by fresh eyes: fields that only had other names by then were told as removed.
#[tokio::test]
async fn lists_that_become_atomic_are_taken_from_others_and_no_field_of_them_falls_back() {
    let world = World::new().await;
    serve(&world).await;
    let body = |val: &str| {
        let content = json!({"keyed": [{"name": "a", "port": 80, "val": val}], "set": ["x"]});
        world.config(&thing(&world, "it", content).to_string())
    };
    let state = world.core().create(OBJECT, &body("1")).await.unwrap();
    let target = Target::of(&thing(&world, "it", json!({}))).unwrap();
    let theirs = json!([{"op": "add", "path": "/set/-", "value": "rivals"}]);
    world.cluster.act_as("rival").json_patch(&target, theirs).await.unwrap();
    let changed = definition(&world, Lists::Atomic);
    let (kind, versions) = (Target::of(&changed).unwrap(), &changed["spec"]["versions"]);
    let change = json!({"spec": {"versions": versions}});
    world.cluster.act_as("owner").merge_patch(&kind, change).await.unwrap();

    // Nothing tells when the server goes by another schema, but its answers.
    let deadline = Instant::now() + Duration::from_secs(20);
    let (core, read, plan) = loop {
        let core = world.core();
        let read = core.read(OBJECT, &state).await.unwrap().present().unwrap();
        let plan = core.plan(OBJECT, &body("2"), Some(&read)).await.unwrap();
        if shows(&plan, "set") {
            break (core, read, plan);
        }
        assert!(Instant::now() < deadline, "the new schema never came");
        tokio::time::sleep(Duration::from_millis(100)).await;
    };
    let told = said(&plan.diagnostics);
    assert!(!told.contains("fall back"), "{told}");
    assert!(told.contains("set held by `rival`"), "{told}");
    let done = core.apply(OBJECT, &body("2"), Some(&read), &plan).await.unwrap();
    let core = world.core();
    let read = core.read(OBJECT, &done.present().unwrap()).await.unwrap().present().unwrap();
    let plan = core.plan(OBJECT, &body("2"), Some(&read)).await.unwrap();
    assert_eq!(plan.action, Action::NoOp, "{}", said(&plan.diagnostics));
}
