//! Objects of a kind whose definition is made anew in the same run.

use testkit::Target;
use tfplugin::harness::{Action, Core, PlanOutcome, State};
use tfplugin::{Capabilities, Value};

use crate::patch::said;
use crate::unserved::{definition, widget};
use crate::world::{OBJECT, World};

/// A kind of the test's own.
struct Story {
    world: World,
    definition: State,
}

/// Who runs the provider: only one of the two says that it applies.
#[derive(Clone, Copy, Debug)]
enum Client {
    Terraform,
    OpenTofu,
}

const VERSIONS: [(&str, bool, bool); 1] = [("v1", true, true)];

impl Story {
    async fn new() -> Self {
        let world = World::new().await;
        let text = definition(&world, "Namespaced", &VERSIONS);
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

    /// A process that applies.
    fn applying(&self, client: Client) -> Core {
        self.world.core().with_capabilities(Capabilities {
            write_only_attributes_allowed: true,
            deferral_allowed: matches!(client, Client::Terraform),
        })
    }

    async fn end(self) {
        let target = Target::of(&definition(&self.world, "Cluster", &VERSIONS)).unwrap();
        self.world.cluster.delete(&target).await.unwrap();
    }
}

/// Reads what state holds, as every plan begins.
async fn read(core: &Core, state: &State) -> State {
    core.read(OBJECT, state).await.unwrap().present().unwrap()
}

#[tokio::test]
async fn what_is_made_anew_with_its_definition_lives_where_the_new_one_says() {
    for client in [Client::Terraform, Client::OpenTofu] {
        let story = Story::new().await;
        let widget = story.widget("x");
        let state = story.world.core().create(OBJECT, &widget).await.unwrap();

        let core = story.world.core();
        let held = read(&core, &story.definition).await;
        let clusterwide = story.definition("Cluster");
        let first = core.plan(OBJECT, &clusterwide, Some(&held)).await.unwrap();
        assert_eq!(first.action, Action::Replace);
        let state = read(&core, &state).await;
        let second = core.plan_replacement(OBJECT, &widget, &state).await.unwrap();
        assert_eq!(second.planned.attribute("object_ref"), Some(&Value::Unknown));

        let core = story.applying(client);
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
    for client in [Client::Terraform, Client::OpenTofu] {
        let story = Story::new().await;
        let (widget, same) = (story.widget("x"), story.definition("Namespaced"));
        let core = story.world.core();
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

        let core = story.applying(client);
        core.apply(OBJECT, &same, Some(&held), &first).await.unwrap();
        for (name, plan) in [("early", early), ("x", second)] {
            let made = core.apply(OBJECT, &story.widget(name), None, &plan).await;
            made.unwrap_or_else(|failure| panic!("{client:?}: {failure}"));
        }
        story.end().await;
    }
}
