//! Fields that others hold, in a kind of the test's own that has every sort of map and list: how
//! they are named, and that none of them goes untold.

use serde_json::{Value as Json, json};
use testkit::Target;
use tfplugin::harness::{Failure, PlanOutcome, State};
use tfplugin::{Data, Value};

use crate::patch::refused;
use crate::world::{OBJECT, World};

struct Story {
    world: World,
    definition: Json,
}

impl Story {
    async fn new() -> Self {
        let world = World::new().await;
        let group = format!("{}.example.com", world.namespace);
        let set =
            json!({"type": "array", "x-kubernetes-list-type": "set", "items": {"type": "string"}});
        let texts = json!({"type": "object", "additionalProperties": {"type": "string"}});
        let spec = json!({"type": "object", "properties": {
            "free": {"type": "object", "x-kubernetes-preserve-unknown-fields": true},
            "lists": {"type": "object", "additionalProperties": set},
            "size": {"type": "integer"},
            "keyed": {"type": "array", "x-kubernetes-list-type": "map",
                "x-kubernetes-list-map-keys": ["name"],
                "items": {"type": "object", "required": ["name"], "properties": {
                    "name": {"type": "string"}, "texts": texts, "set": set}}},
        }});
        let schema = json!({"type": "object", "properties": {"spec": spec}});
        let definition = json!({"apiVersion": "apiextensions.k8s.io/v1",
            "kind": "CustomResourceDefinition", "metadata": {"name": format!("things.{group}")},
            "spec": {"group": group, "scope": "Namespaced",
                "names": {"kind": "Thing", "plural": "things"},
                "versions": [{"name": "v1", "served": true, "storage": true,
                    "schema": {"openAPIV3Schema": schema}}]}});
        world.cluster.act_as("admin").apply(&definition).await.unwrap();
        world.await_served(&definition).await;
        Self { world, definition }
    }

    fn body(&self, spec: &Json) -> Json {
        let ns = self.world.namespace.name();
        json!({"apiVersion": format!("{ns}.example.com/v1"), "kind": "Thing", "spec": spec,
            "metadata": {"name": "it", "namespace": ns}})
    }

    async fn rival(&self, patch: Json) {
        let target = Target::of(&self.body(&json!({}))).unwrap();
        self.world.cluster.act_as("rival").merge_patch(&target, patch).await.unwrap();
    }

    async fn end(self) {
        let target = Target::of(&self.definition).unwrap();
        self.world.cluster.delete(&target).await.unwrap();
    }
}

/// What a provider that was just started plans for the object, after a refresh.
async fn replan(world: &World, config: &Value, state: &State) -> Result<PlanOutcome, Failure> {
    let core = world.core();
    let read = core.read(OBJECT, state).await?.present()?;
    core.plan(OBJECT, config, Some(&read)).await
}

/// The server tells a conflict by a text in which a dot of a key looks like a step.
#[tokio::test]
async fn without_force_a_key_with_dots_is_named_as_ignore_fields_wants_it() {
    let story = Story::new().await;
    let world = &story.world;
    let body = |value: &str, label: &str| {
        let mut body = story.body(&json!({
            "free": {"q.r": {"x": value}},
            "keyed": [{"name": "ab", "texts": {"x.y": value}}],
        }));
        body["metadata"]["labels"] = json!({"app.kubernetes.io/name": label});
        body
    };
    let ours = body("ours", "our");
    let config = |ignored: &[&str]| {
        let ignored = ignored.iter().copied().map(Value::from).collect();
        world.config_with([
            ("yaml_body", Value::from(ours.to_string().as_str())),
            ("force_conflicts", Value::from(false)),
            ("ignore_fields", Value::Known(Data::List(ignored))),
        ])
    };
    let state = world.core().create(OBJECT, &config(&[])).await.unwrap();
    let theirs = body("theirs", "their");
    story
        .rival(
            json!({"metadata": {"labels": theirs["metadata"]["labels"]}, "spec": theirs["spec"]}),
        )
        .await;
    let core = world.core();
    let read = core.read(OBJECT, &state).await.unwrap().present().unwrap();
    let planned = refused(core.plan(OBJECT, &config(&[]), Some(&read)).await);
    // A process that has read nothing, as the one that applies.
    let applied = refused(world.core().plan(OBJECT, &config(&[]), Some(&read)).await);
    let fields = [
        "metadata.labels[\"app.kubernetes.io/name\"]",
        "spec.free[\"q.r\"].x",
        "spec.keyed[name=ab].texts[\"x.y\"]",
    ];
    for told in [planned, applied] {
        assert!(told.contains("3 fields held by other managers"), "{told}");
        for field in fields {
            assert!(
                told.contains(&format!("{field} held by `rival` (Update, ")),
                "{field}: {told}"
            );
        }
        assert!(told.contains("is now their yours our"), "{told}");
        assert_eq!(told.matches("is now theirs yours ours").count(), 2, "{told}");
    }
    let told = refused(replan(world, &config(&fields[..1]), &state).await);
    assert!(told.contains("2 fields held by other managers"), "{told}");
    story.end().await;
}
