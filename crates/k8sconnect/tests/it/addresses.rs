//! Several addresses of one configuration that mean one object, and what becomes of an object that
//! its address makes anew.

use serde_json::{Value as Json, json};
use tfplugin::Value;
use tfplugin::harness::{Action, Core, PlanOutcome, State};

use crate::world::{OBJECT, World, value};

/// An object that one address holds, in a run that reads the state anew.
struct Story {
    world: World,
    state: State,
}

impl Story {
    async fn new(attributes: Json) -> Self {
        let world = World::new().await;
        let config = config(&world.config_map("it"), attributes);
        let state = run(&world).await.create(OBJECT, &config).await.unwrap();
        Self { world, state }
    }

    async fn run(&self) -> Core {
        run(&self.world).await
    }

    /// The object as it was made.
    fn config(&self) -> Value {
        self.config_with(json!({}))
    }

    fn config_with(&self, attributes: Json) -> Value {
        config(&self.world.config_map("it"), attributes)
    }

    fn import_id(&self) -> String {
        format!("{}/configmap/it", self.world.namespace)
    }

    async fn read(&self, core: &Core) -> State {
        core.read(OBJECT, &self.state).await.unwrap().present().unwrap()
    }
}

async fn run(world: &World) -> Core {
    let core = world.core();
    core.configure(value(&json!({ "cluster": world.by_token() }))).await.unwrap();
    core
}

fn config(body: &str, mut attributes: Json) -> Value {
    attributes["yaml_body"] = json!(body);
    value(&attributes)
}

/// What the second of two claims is told, whichever it is.
const LOST: [&str; 2] = ["is to be destroyed and made by two addresses", "moved {"];
const TWICE: [&str; 2] = ["is held by two addresses of this state", "state rm ADDRESS"];

#[track_caller]
fn says(told: &str, words: &[&str]) {
    for words in words {
        assert!(told.contains(words), "{words}: {told}");
    }
}

#[tokio::test]
async fn what_one_address_imports_no_other_may_destroy_in_the_same_run() {
    let story = Story::new(json!({})).await;
    let core = story.run().await;
    let old = story.read(&core).await;
    let new = core.import(OBJECT, &story.import_id()).await.unwrap();
    // Read and no more, as where a `removed` block lets state forget it.
    let plan = core.plan(OBJECT, &story.config(), Some(&new)).await.unwrap();
    assert_eq!(plan.action, Action::Update);
    says(&core.plan_destroy(OBJECT, &old).await.unwrap_err().to_string(), &LOST);

    let core = story.run().await;
    core.plan_destroy(OBJECT, &story.read(&core).await).await.unwrap();
    let new = core.import(OBJECT, &story.import_id()).await.unwrap();
    let refused = core.plan(OBJECT, &story.config(), Some(&new)).await.unwrap_err();
    says(&refused.to_string(), &LOST);
}

#[tokio::test]
async fn what_one_address_holds_no_other_may_import() {
    let story = Story::new(json!({})).await;
    let core = story.run().await;
    let held = story.read(&core).await;
    let plan = core.plan(OBJECT, &story.config(), Some(&held)).await.unwrap();
    assert_eq!(plan.action, Action::NoOp);
    let new = core.import(OBJECT, &story.import_id()).await.unwrap();
    let refused = core.plan(OBJECT, &story.config(), Some(&new)).await.unwrap_err();
    says(&refused.to_string(), &TWICE);

    let core = story.run().await;
    let new = core.import(OBJECT, &story.import_id()).await.unwrap();
    core.plan(OBJECT, &story.config(), Some(&new)).await.unwrap();
    let held = story.read(&core).await;
    let refused = core.plan(OBJECT, &story.config(), Some(&held)).await.unwrap_err();
    says(&refused.to_string(), &TWICE);
}

#[tokio::test]
async fn what_one_address_holds_no_other_may_make_or_take_over() {
    let story = Story::new(json!({})).await;
    for new in [story.config(), story.config_with(json!({ "adopt": true }))] {
        let core = story.run().await;
        let held = story.read(&core).await;
        core.plan(OBJECT, &story.config(), Some(&held)).await.unwrap();
        let refused = core.plan(OBJECT, &new, None).await.unwrap_err();
        says(&refused.to_string(), &TWICE);
    }
    let core = story.run().await;
    core.plan(OBJECT, &story.config_with(json!({ "adopt": true })), None).await.unwrap();
    let held = story.read(&core).await;
    let refused = core.plan(OBJECT, &story.config(), Some(&held)).await.unwrap_err();
    says(&refused.to_string(), &TWICE);
}

/// Terraform reads and plans the address that is gone from the configuration, or a deposed object, beside
/// the new address. Found by an e2e test that failed under load only.
#[tokio::test]
async fn what_one_address_destroys_no_other_may_make_whichever_is_planned_first() {
    let story = Story::new(json!({})).await;
    let core = story.run().await;
    let refused = core.plan(OBJECT, &story.config(), None).await.unwrap_err();
    says(&refused.to_string(), &["exists already"]);
    let held = story.read(&core).await;
    says(&core.plan_destroy(OBJECT, &held).await.unwrap_err().to_string(), &LOST);

    let core = story.run().await;
    let held = story.read(&core).await;
    core.plan_destroy(OBJECT, &held).await.unwrap();
    let refused = core.plan(OBJECT, &story.config(), None).await.unwrap_err();
    says(&refused.to_string(), &LOST);
}

#[tokio::test]
async fn an_object_is_one_in_whatever_version_it_is_written() {
    let world = World::new().await;
    let scaler = |version: &str, adopt: bool| {
        let body = format!(
            "{{apiVersion: autoscaling/{version}, kind: HorizontalPodAutoscaler, \
             metadata: {{name: it, namespace: {}}}, spec: {{maxReplicas: 3, \
             scaleTargetRef: {{apiVersion: apps/v1, kind: Deployment, name: it}}}}}}",
            world.namespace
        );
        config(&body, json!({ "adopt": adopt }))
    };
    let core = run(&world).await;
    core.plan(OBJECT, &scaler("v1", false), None).await.unwrap();
    let refused = core.plan(OBJECT, &scaler("v2", true), None).await.unwrap_err();
    says(&refused.to_string(), &["is made by two addresses in the same run"]);

    // One that changes the version makes room for nobody.
    let held = run(&world).await.create(OBJECT, &scaler("v2", false)).await.unwrap();
    let core = run(&world).await;
    let read = core.read(OBJECT, &held).await.unwrap().present().unwrap();
    let plan = core.plan(OBJECT, &scaler("v1", false), Some(&read)).await.unwrap();
    assert_eq!(plan.action, Action::Replace);
    let refused = core.plan(OBJECT, &scaler("v2", true), None).await.unwrap_err();
    says(&refused.to_string(), &["by two addresses"]);
    let core = run(&world).await;
    core.plan(OBJECT, &scaler("v2", true), None).await.unwrap();
    let read = core.read(OBJECT, &held).await.unwrap().present().unwrap();
    let refused = core.plan(OBJECT, &scaler("v1", false), Some(&read)).await.unwrap_err();
    says(&refused.to_string(), &["by two addresses"]);
}

/// Where a body, or a cluster, is known only in the apply, no plan can refuse it.
#[tokio::test]
async fn what_another_address_of_the_run_deleted_is_not_made_anew_without_a_word() {
    let adopting = json!({ "adopt": true });
    let story = Story::new(json!({})).await;
    let end = story.run().await.plan_destroy(OBJECT, &story.state).await.unwrap();
    let mut late = story.run().await.plan(OBJECT, &story.config(), None).await.unwrap_err();
    says(&late.to_string(), &["exists already"]);

    // The one that takes it over comes first: it stays.
    let core = story.run().await;
    core.plan(OBJECT, &story.config_with(adopting.clone()), None).await.unwrap();
    late = core.apply(OBJECT, &story.config(), Some(&story.state), &end).await.unwrap_err();
    says(&late.to_string(), &LOST);
    assert!(late.stored().is_some());

    // The one that destroys it comes first.
    let core = story.run().await;
    core.apply(OBJECT, &story.config(), Some(&story.state), &end).await.unwrap();
    let config = story.config_with(adopting);
    let plan = core.plan(OBJECT, &config, None).await.unwrap();
    let made = core.apply(OBJECT, &config, None, &plan).await.unwrap();
    let told = format!("{:?}", made.diagnostics);
    says(&told, &["was deleted in this run, and created again instead of taken over", "moved {"]);
}

#[tokio::test]
async fn an_address_that_lost_its_object_to_another_may_end() {
    let story = Story::new(json!({})).await;
    let core = story.run().await;
    let new = core.import(OBJECT, &story.import_id()).await.unwrap();
    let new = core.update(OBJECT, &story.config(), &new).await.unwrap();
    let core = story.run().await;
    core.plan_destroy(OBJECT, &story.read(&core).await).await.unwrap();
    let new = core.read(OBJECT, &new).await.unwrap().present().unwrap();
    let plan = core.plan(OBJECT, &story.config(), Some(&new)).await.unwrap();
    assert_eq!(plan.action, Action::NoOp, "the end of the other leaves it alone");
}

#[tokio::test]
async fn a_name_that_another_address_gives_up_is_free_once_its_plan_is_known() {
    let story = Story::new(json!({})).await;
    let first = config(&story.world.config_map("first"), json!({}));
    let first = run(&story.world).await.create(OBJECT, &first).await.unwrap();
    let renamed = config(&story.world.config_map("next"), json!({}));

    // In Terraform's order: the one whose name is wanted has not been looked at.
    let core = story.run().await;
    let read = core.read(OBJECT, &first).await.unwrap().present().unwrap();
    let refused = core.plan(OBJECT, &story.config(), Some(&read)).await.unwrap_err().to_string();
    says(&refused, &["another address of this state has it", "in an apply of its own"]);
    assert!(!refused.contains("It is not in this state"), "{refused}");

    let core = story.run().await;
    let held = story.read(&core).await;
    let read = core.read(OBJECT, &first).await.unwrap().present().unwrap();
    let plan = core.plan(OBJECT, &story.config(), Some(&read)).await.unwrap();
    assert_eq!(plan.action, Action::Replace);
    let plan = core.plan(OBJECT, &renamed, Some(&held)).await.unwrap();
    assert_eq!(plan.action, Action::Replace);
}

#[tokio::test]
async fn what_is_made_anew_on_demand_is_one_address_and_no_contradiction() {
    let story = Story::new(json!({})).await;
    let core = story.run().await;
    let held = story.read(&core).await;
    let plan = core.plan_replacement(OBJECT, &story.config(), &held).await.unwrap();
    assert_eq!(plan.action, Action::Replace);

    // Without a refresh, its plan is all that tells that state holds it.
    let core = story.run().await;
    let plan = core.plan_replacement(OBJECT, &story.config(), &story.state).await.unwrap();
    let made = core.apply(OBJECT, &story.config(), Some(&story.state), &plan).await.unwrap();
    let made = core.read(OBJECT, &made.present().unwrap()).await.unwrap();
    let plan = core.plan(OBJECT, &story.config(), made.state.as_ref()).await.unwrap();
    assert_eq!(plan.action, Action::NoOp);
}

#[tokio::test]
async fn protection_stops_what_is_tainted_and_what_replace_names_at_plan() {
    let protection = json!({ "delete_protection": true });
    let story = Story::new(protection.clone()).await;
    // That of state stands until an apply of its own takes it back.
    for config in [story.config_with(protection), story.config()] {
        let core = story.run().await;
        let held = story.read(&core).await;
        let refused = core.plan_replacement(OBJECT, &config, &held).await.unwrap_err();
        says(&refused.to_string(), &["is protected from deletion", "-replace"]);

        let core = story.run().await;
        let tainted = State { tainted: true, ..story.read(&core).await };
        let refused = core.plan(OBJECT, &config, Some(&tainted)).await.unwrap_err();
        says(&refused.to_string(), &["is protected from deletion", "terraform untaint ADDRESS"]);
    }
    // Tainted and renamed, only the deletion can tell, which comes first.
    let core = story.run().await;
    let tainted = State { tainted: true, ..story.read(&core).await };
    let renamed = config(&story.world.config_map("renamed"), json!({}));
    let plan = core.plan(OBJECT, &renamed, Some(&tainted)).await.unwrap();
    let refused = core.apply(OBJECT, &renamed, Some(&tainted), &plan).await.unwrap_err();
    says(&refused.to_string(), &["is protected from deletion", "terraform untaint ADDRESS"]);
    assert_eq!(refused.stored().map(|kept| &kept.value), Some(&tainted.value), "state keeps it");
}

#[tokio::test]
async fn what_is_in_the_way_during_an_apply_is_refused_by_the_write_alone() {
    let fixed = |text: &str| format!("{text}immutable: true\n");
    let world = World::new().await;
    let body = fixed(&world.config_map("it"));
    let state = run(&world).await.create(OBJECT, &config(&body, json!({}))).await.unwrap();
    let changed = body.replace("hello", "goodbye");
    let newest = async || {
        let core = world.newest_core();
        core.configure(value(&json!({ "cluster": world.by_token() }))).await.unwrap();
        core
    };
    // An error of the plan would leave state without the old object.
    for attributes in [json!({}), json!({ "adopt": true })] {
        let config = config(&changed, attributes);
        let core = newest().await;
        let read = core.read(OBJECT, &state).await.unwrap().present().unwrap();
        let plan = core.plan(OBJECT, &config, Some(&read)).await.unwrap();
        assert_eq!(plan.action, Action::Replace);
        // With `create_before_destroy` the old object is still there.
        let plan = PlanOutcome { action: Action::Create, ..plan };
        let refused = newest().await.apply(OBJECT, &config, None, &plan).await.unwrap_err();
        says(&refused.to_string(), &["create_before_destroy", "field is immutable"]);
        assert!(!refused.to_string().contains("adopt"), "no way out: {refused}");
        assert!(refused.stored().is_none());
        // Others do not say that they apply.
        let core = run(&world).await;
        let plan = core.plan(OBJECT, &config, None).await.unwrap();
        says(&format!("{:?}", plan.diagnostics), &["exists already and cannot be changed"]);
        let refused = core.apply(OBJECT, &config, None, &plan).await.unwrap_err();
        says(&refused.to_string(), &["create_before_destroy"]);
    }
    // What could be changed in place is refused at once.
    let core = run(&world).await;
    let refused = core.plan(OBJECT, &config(&body, json!({})), None).await.unwrap_err();
    says(&refused.to_string(), &["exists already", "adopt = true"]);
}

/// `-replace` with `create_before_destroy` and `adopt`: no plan can see it coming.
#[tokio::test]
async fn an_object_that_its_own_address_took_over_is_said_to_be_no_new_one() {
    let story = Story::new(json!({})).await;
    let core = story.run().await;
    core.create(OBJECT, &story.config_with(json!({ "adopt": true }))).await.unwrap();
    let told = core.destroy(OBJECT, &story.state).await.unwrap();
    says(&format!("{told:?}"), &["was taken over in this run", "nothing was made anew"]);
    assert!(!format!("{told:?}").contains("another state"), "{told:?}");
}

#[tokio::test]
async fn terms_of_a_deletion_that_come_with_a_replacement_are_said_to_come_too_late() {
    let story = Story::new(json!({})).await;
    let renamed = story.world.config_map("renamed");
    for (attributes, told) in [
        (json!({ "force_destroy": true, "delete_timeout": "2s" }), true),
        (json!({ "force_destroy": false, "delete_propagation": "background" }), false),
    ] {
        let core = story.run().await;
        let held = story.read(&core).await;
        let plan = core.plan(OBJECT, &config(&renamed, attributes), Some(&held)).await.unwrap();
        let words = format!("{:?}", plan.diagnostics);
        let late = "replaced on its former terms, without `force_destroy`, `delete_timeout`";
        assert_eq!(words.contains(late), told, "{words}");
        assert_eq!(words.contains("former terms"), told, "{words}");
    }
}
