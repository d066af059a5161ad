//! Objects of a kind whose definition changes under them: what is gone is planned anew, and what is
//! there in another version can still be looked at and deleted.

use std::time::{Duration, Instant};

use serde_json::{Value as Json, json};
use testkit::Target;
use tfplugin::harness::{Action, State};

use crate::patch::{refused, said};
use crate::world::{OBJECT, World};

pub(crate) fn definition(world: &World, scope: &str, versions: &[(&str, bool, bool)]) -> Json {
    let group = format!("{}.example.com", world.namespace);
    let fields = json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true});
    let versions: Vec<_> = versions
        .iter()
        .map(|(name, served, storage)| {
            json!({"name": name, "served": served, "storage": storage,
                   "schema": {"openAPIV3Schema": fields}})
        })
        .collect();
    json!({"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
           "metadata": {"name": format!("widgets.{group}")},
           "spec": {"group": group, "scope": scope, "versions": versions,
                    "names": {"kind": "Widget", "plural": "widgets"}}})
}

pub(crate) fn widget(world: &World, version: &str) -> String {
    let ns = &world.namespace;
    format!(
        "{{apiVersion: {ns}.example.com/{version}, kind: Widget, \
         metadata: {{name: it, namespace: {ns}}}, spec: {{size: 1}}}}"
    )
}

async fn define(world: &World, definition: &Json) {
    world.cluster.act_as("admin").apply(definition).await.unwrap();
    world.await_served(definition).await;
}

#[tokio::test]
async fn an_object_whose_kind_changed_its_scope_is_planned_anew_and_its_destruction_succeeds() {
    let world = World::new().await;
    let stored = [("v1", true, true)];
    let mut before = definition(&world, "Namespaced", &stored);
    define(&world, &before).await;
    for scope in ["Cluster", "Namespaced"] {
        let state = world.create(&widget(&world, "v1")).await.unwrap();
        let target = Target::of(&before).unwrap();
        world.cluster.delete(&target).await.unwrap();
        let gone = |seen: Option<&Json>| seen.is_none();
        world.cluster.wait_until(&target, Duration::from_secs(30), gone).await.unwrap();
        before = definition(&world, scope, &stored);
        define(&world, &before).await;
        let core = world.core();
        let read = core.read(OBJECT, &state).await.unwrap();
        assert_eq!(read.state, None, "{scope}: {:?}", read.diagnostics);
        let plan = core.plan(OBJECT, &world.config(&widget(&world, "v1")), None).await.unwrap();
        assert_eq!(plan.action, Action::Create);
        world.core().destroy(OBJECT, &state).await.unwrap();
        // Without a refresh, the deletion itself finds that there is nothing to delete.
        let core = world.core();
        let plan = core.plan_destroy(OBJECT, &state).await.unwrap();
        core.apply(OBJECT, &tfplugin::Value::Null, Some(&state), &plan).await.unwrap();
    }
    world.cluster.delete(&Target::of(&before).unwrap()).await.unwrap();
}

#[tokio::test]
async fn an_object_whose_version_is_served_no_more_can_be_replaced_kept_and_destroyed() {
    let world = World::new().await;
    let both = definition(&world, "Namespaced", &[("v1alpha1", true, false), ("v1", true, true)]);
    define(&world, &both).await;
    let state = world.create(&widget(&world, "v1alpha1")).await.unwrap();
    let one = definition(&world, "Namespaced", &[("v1alpha1", false, false), ("v1", true, true)]);
    world.cluster.act_as("admin").apply(&one).await.unwrap();
    let target = |version: &str| {
        let api_version = format!("{}.example.com/{version}", world.namespace);
        Target::new(&api_version, "Widget", world.namespace.name(), "it")
    };
    let deadline = Instant::now() + Duration::from_secs(30);
    while world.cluster.read(&target("v1alpha1")).await.is_ok_and(|it| it.is_some()) {
        assert!(Instant::now() < deadline, "the version is still served");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }

    let core = world.core();
    let read = core.read(OBJECT, &state).await.unwrap().present().unwrap();
    let old = widget(&world, "v1alpha1");
    let plan = core.plan(OBJECT, &world.config(&old), Some(&read)).await.unwrap();
    assert_eq!(plan.action, Action::NoOp);
    let told = said(&plan.diagnostics);
    let import = format!("{0}/Widget.v1.{0}.example.com/it", world.namespace);
    assert!(told.contains("not served in") && told.contains(&import), "{told}");
    let core = world.core();
    let read = core.read(OBJECT, &state).await.unwrap().present().unwrap();
    let changed = world.config(&old.replace("size: 1", "size: 2"));
    let told = refused(core.plan(OBJECT, &changed, Some(&read)).await);
    assert!(told.contains("cannot be changed") && told.contains(&import), "{told}");

    for refresh in ["with", "without"] {
        let core = world.core();
        let prior = match refresh {
            "with" => core.read(OBJECT, &state).await.unwrap().present().unwrap(),
            _ => state.clone(),
        };
        let config = world.config(&widget(&world, "v1"));
        let plan = core.plan(OBJECT, &config, Some(&prior)).await.unwrap();
        assert_eq!(plan.action, Action::Replace, "{refresh}: {}", said(&plan.diagnostics));
    }
    world.core().destroy(OBJECT, &state).await.unwrap();
    assert_eq!(world.cluster.read(&target("v1")).await.unwrap(), None);
    let replaced: State = world.create(&widget(&world, "v1")).await.unwrap();
    world.core().destroy(OBJECT, &replaced).await.unwrap();
    world.cluster.delete(&Target::of(&both).unwrap()).await.unwrap();
}

/// A definition in one version whose objects have these fields.
fn structural(world: &World, fields: &[&str]) -> String {
    let mut definition = definition(world, "Namespaced", &[("v1", true, true)]);
    let properties: serde_json::Map<_, _> =
        fields.iter().map(|name| ((*name).to_owned(), json!({"type": "integer"}))).collect();
    let spec = json!({"type": "object", "properties": properties});
    definition["spec"]["versions"][0]["schema"]["openAPIV3Schema"] =
        json!({"type": "object", "properties": {"spec": spec}});
    definition.to_string()
}

#[tokio::test]
async fn a_definition_gains_a_field_and_its_objects_use_it_in_one_run() {
    let world = World::new().await;
    let old = structural(&world, &["size"]);
    let kept = world.create(&old).await.unwrap();
    world.await_served(&serde_json::from_str(&old).unwrap()).await;
    let body = widget(&world, "v1");
    let widget = world.create(&body).await.unwrap();
    let bigger = world.config(&body.replace("size: 1", "size: 1, weight: 2"));
    let another = body.replace("name: it", "name: other").replace("size: 1", "weight: 3");
    let another = world.config(&another);
    let new = world.config(&structural(&world, &["size", "weight"]));

    let core = world.core();
    let told = refused(core.plan(OBJECT, &bigger, Some(&widget)).await);
    assert!(told.contains("field not declared in schema") && told.contains("-target"), "{told}");

    let kept = core.read(OBJECT, &kept).await.unwrap().present().unwrap();
    // A definition that says the same of its kind as before is no excuse.
    let labelled = old.replace(r#""metadata":{"#, r#""metadata":{"labels":{"a":"b"},"#);
    let plan = core.plan(OBJECT, &world.config(&labelled), Some(&kept)).await.unwrap();
    assert_eq!(plan.action, Action::Update);
    refused(core.plan(OBJECT, &another, None).await);
    let core = world.core();
    let kept = core.read(OBJECT, &kept).await.unwrap().present().unwrap();
    let widget = core.read(OBJECT, &widget).await.unwrap().present().unwrap();
    let definition = core.plan(OBJECT, &new, Some(&kept)).await.unwrap();
    let change = core.plan(OBJECT, &bigger, Some(&widget)).await.unwrap();
    let creation = core.plan(OBJECT, &another, None).await.unwrap();
    for plan in [&change, &creation] {
        let told = said(&plan.diagnostics);
        assert!(told.contains("cannot be planned in full: its definition changes too"), "{told}");
    }
    let core = world.core();
    let kept = core.apply(OBJECT, &new, Some(&kept), &definition).await.unwrap().present().unwrap();
    let widget = core.apply(OBJECT, &bigger, Some(&widget), &change).await;
    let widget = widget.unwrap().present().unwrap();
    let other = core.apply(OBJECT, &another, None, &creation).await.unwrap().present().unwrap();
    for (config, state) in [(&bigger, &widget), (&another, &other)] {
        let core = world.core();
        let read = core.read(OBJECT, state).await.unwrap().present().unwrap();
        let plan = core.plan(OBJECT, config, Some(&read)).await.unwrap();
        assert_eq!(plan.action, Action::NoOp);
    }
    world.core().destroy(OBJECT, &kept).await.unwrap();
}
