//! Objects of a kind whose definition is made anew in the same run.

use std::time::Duration;

use serde_json::{Value as Json, json};
use testkit::Target;
use tfplugin::Value;
use tfplugin::harness::{Action, Core, PlanOutcome, State};

use crate::patch::said;
use crate::unserved::{definition, widget};
use crate::world::{OBJECT, World};

/// A kind of the test's own.
struct Story {
    world: World,
    definition: State,
}

/// Who runs the provider: only the newest says that it applies.
#[derive(Clone, Copy, Debug)]
enum Client {
    Newest,
    Other,
}

/// How long a server may take to go by another definition.
const PATIENCE: Duration = Duration::from_secs(20);

const VERSIONS: [(&str, bool, bool); 1] = [("v1", true, true)];

impl Story {
    async fn new() -> Self {
        Self::of(|world| definition(world, "Namespaced", &VERSIONS)).await
    }

    async fn of(definition: impl Fn(&World) -> Json) -> Self {
        let world = World::new().await;
        let text = definition(&world);
        let made = world.create(&text.to_string()).await.unwrap();
        world.await_served(&text).await;
        Self { definition: made, world }
    }

    fn widget(&self, name: &str) -> Value {
        self.world.config(&widget(&self.world, "v1").replace("name: it", &format!("name: {name}")))
    }

    fn definition(&self, scope: &str) -> Value {
        self.world.config(&definition(&self.world, scope, &VERSIONS).to_string())
    }

    fn shelf(&self, name: &str, size: u32) -> Value {
        let text = widget(&self.world, "v1").replace("name: it", &format!("name: {name}"));
        let spec = format!("{{size: {size}, shelves: [{{place: 1}}]}}");
        self.world.config(&text.replace("{size: 1}", &spec))
    }

    fn core(&self, client: Client) -> Core {
        match client {
            Client::Newest => self.world.newest_core(),
            Client::Other => self.world.core(),
        }
    }

    async fn end(self) {
        let target = Target::of(&definition(&self.world, "Cluster", &VERSIONS)).unwrap();
        self.world.cluster.delete(&target).await.unwrap();
    }
}

/// A definition whose objects have shelves, of wood that this says.
fn shelves(world: &World, wood: &Json) -> Json {
    let mut text = definition(world, "Namespaced", &VERSIONS);
    let shelf =
        json!({"type": "object", "properties": {"place": {"type": "integer"}, "wood": wood}});
    text["spec"]["versions"][0]["schema"]["openAPIV3Schema"] = json!({"type": "object",
        "properties": {"spec": {"type": "object", "properties": {"size": {"type": "integer"},
            "shelves": {"type": "array", "items": shelf}}}}});
    text
}

/// Reads what state holds, as every plan begins.
async fn read(core: &Core, state: &State) -> State {
    core.read(OBJECT, state).await.unwrap().present().unwrap()
}

#[tokio::test]
async fn what_is_made_anew_with_its_definition_lives_where_the_new_one_says() {
    for client in [Client::Newest, Client::Other] {
        let story = Story::new().await;
        let widget = story.widget("x");
        let state = story.world.core().create(OBJECT, &widget).await.unwrap();

        let core = story.core(client);
        let held = read(&core, &story.definition).await;
        let clusterwide = story.definition("Cluster");
        let first = core.plan(OBJECT, &clusterwide, Some(&held)).await.unwrap();
        assert_eq!(first.action, Action::Replace);
        let state = read(&core, &state).await;
        let second = core.plan_replacement(OBJECT, &widget, &state).await.unwrap();
        assert_eq!(second.planned.attribute("object_ref"), Some(&Value::Unknown));

        let core = story.core(client);
        core.destroy(OBJECT, &state).await.unwrap();
        core.apply(OBJECT, &clusterwide, Some(&held), &first).await.unwrap();
        let second = PlanOutcome { action: Action::Create, ..second };
        let made = core.apply(OBJECT, &widget, None, &second).await;
        let made = made.unwrap_or_else(|failure| panic!("{client:?}: {failure}"));
        let core = story.world.core();
        let read = core.read(OBJECT, &made.present().unwrap()).await.unwrap().state;
        let plan = core.plan(OBJECT, &widget, read.as_ref()).await.unwrap();
        assert_eq!(plan.action, Action::NoOp, "{client:?}");
        story.end().await;
    }
}

#[tokio::test]
async fn what_joins_while_its_definition_is_made_anew_is_promised_nothing_and_made() {
    for client in [Client::Newest, Client::Other] {
        let story = Story::new().await;
        let (widget, same) = (story.widget("x"), story.definition("Namespaced"));
        let core = story.core(client);
        let held = read(&core, &story.definition).await;
        // Nothing tells that the definition goes, where it is planned later.
        let early = core.plan(OBJECT, &story.widget("early"), None).await.unwrap();
        assert!(early.planned.attribute("object_ref").is_some_and(Value::is_known));
        let first = core.plan_replacement(OBJECT, &same, &held).await.unwrap();
        let second = core.plan(OBJECT, &widget, None).await.unwrap();
        for attribute in ["object_ref", "managed_state_projection"] {
            assert_eq!(second.planned.attribute(attribute), Some(&Value::Unknown), "{attribute}");
        }
        let told = said(&second.diagnostics);
        assert!(told.contains("cannot be planned in full yet"), "{told}");
        assert!(told.contains("definition is made anew in this run"), "{told}");

        let core = story.core(client);
        core.apply(OBJECT, &same, Some(&held), &first).await.unwrap();
        for (name, plan) in [("early", early), ("x", second)] {
            let made = core.apply(OBJECT, &story.widget(name), None, &plan).await;
            made.unwrap_or_else(|failure| panic!("{client:?}: {failure}"));
        }
        story.end().await;
    }
}

/// Found by fresh eyes: what the old definition promised was not what the new one made of it, which
/// Terraform calls an inconsistent final plan.
#[tokio::test]
async fn what_changes_together_with_its_definition_is_promised_nothing() {
    for client in [Client::Newest, Client::Other] {
        let story = Story::of(|world| shelves(world, &json!({"type": "string"}))).await;
        let state = story.world.core().create(OBJECT, &story.shelf("x", 1)).await.unwrap();
        let new = shelves(&story.world, &json!({"type": "string", "default": "oak"}));
        let new = story.world.config(&new.to_string());

        let core = story.core(client);
        let (held, state) = (read(&core, &story.definition).await, read(&core, &state).await);
        let first = core.plan(OBJECT, &new, Some(&held)).await.unwrap();
        let untouched = core.plan(OBJECT, &story.shelf("x", 1), Some(&state)).await.unwrap();
        assert_eq!(untouched.action, Action::NoOp);
        let changed = core.plan(OBJECT, &story.shelf("x", 2), Some(&state)).await.unwrap();
        let made = core.plan(OBJECT, &story.shelf("z", 1), None).await.unwrap();
        for plan in [&changed, &made] {
            let projection = plan.planned.attribute("managed_state_projection");
            assert_eq!(projection, Some(&Value::Unknown), "{client:?}");
            let told = said(&plan.diagnostics);
            assert!(told.contains("its definition changes too"), "{told}");
        }

        let core = story.core(client);
        core.apply(OBJECT, &new, Some(&held), &first).await.unwrap();
        let both = [("x", 2, Some(&state), changed), ("z", 1, None, made)];
        for (name, size, prior, plan) in both {
            let applied = core.apply(OBJECT, &story.shelf(name, size), prior, &plan).await;
            let applied = applied.unwrap_or_else(|failure| panic!("{client:?}: {failure}"));
            let core = story.world.core();
            let read = read(&core, &applied.present().unwrap()).await;
            let plan = core.plan(OBJECT, &story.shelf(name, size), Some(&read)).await.unwrap();
            assert_eq!(plan.action, Action::NoOp, "{client:?}: {}", said(&plan.diagnostics));
        }
        story.end().await;
    }
}

#[tokio::test]
async fn an_apply_after_somebody_changed_the_definition_writes_nothing_and_the_next_plan_works() {
    let story = Story::of(|world| shelves(world, &json!({"type": "string"}))).await;
    let state = story.world.core().create(OBJECT, &story.shelf("x", 1)).await.unwrap();
    let core = story.world.core();
    let state = read(&core, &state).await;
    let changed = core.plan(OBJECT, &story.shelf("x", 2), Some(&state)).await.unwrap();
    let new = shelves(&story.world, &json!({"type": "string", "default": "oak"}));
    let defined = Target::of(&new).unwrap();
    let versions = json!({"spec": {"versions": new["spec"]["versions"]}});
    story.world.cluster.act_as("admin").merge_patch(&defined, versions).await.unwrap();
    let target = Target::new(
        &format!("{}.example.com/v1", story.world.namespace),
        "Widget",
        story.world.namespace.name(),
        "x",
    );
    let is_oak =
        |seen: Option<&Json>| seen.is_some_and(|it| it["spec"]["shelves"][0]["wood"] == "oak");
    story.world.cluster.wait_until(&target, PATIENCE, is_oak).await.unwrap();

    // Terraform's own words, before anything is written.
    let core = story.world.core();
    let refused = core.apply(OBJECT, &story.shelf("x", 2), Some(&state), &changed).await;
    let refused = refused.unwrap_err().to_string();
    assert!(refused.contains("Provider produced inconsistent final plan"), "{refused}");
    let live = story.world.cluster.read(&target).await.unwrap().unwrap();
    assert_eq!(live["spec"]["size"], 1, "nothing was written");

    let core = story.world.core();
    let again = read(&core, &state).await;
    let plan = core.plan(OBJECT, &story.shelf("x", 2), Some(&again)).await.unwrap();
    let core = story.world.core();
    let applied = core.apply(OBJECT, &story.shelf("x", 2), Some(&again), &plan).await.unwrap();
    let core = story.world.core();
    let read = read(&core, &applied.present().unwrap()).await;
    let plan = core.plan(OBJECT, &story.shelf("x", 2), Some(&read)).await.unwrap();
    assert_eq!(plan.action, Action::NoOp, "{}", said(&plan.diagnostics));
    story.end().await;
}
