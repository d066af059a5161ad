//! What the same run does to the object that is waited for, as its plan tells.

use serde_json::json;
use testkit::Target;
use tfplugin::Value;
use tfplugin::harness::{Action as Planned, Core, PlanOutcome, State};

use super::{CONFIG_MAP, WAIT, Wait, result, says};
use crate::patch::{PATCH, Ward};
use crate::world::{OBJECT, World};

#[tokio::test]
async fn an_object_that_this_run_replaces_is_waited_for_again() {
    let world = World::new().await;
    let object = world.config(&world.config_map("state"));
    let wait = Wait::new(&world, CONFIG_MAP, "state").with("ready", true);
    let first = world.core();
    let made = first.create(OBJECT, &object).await.unwrap();
    let waited = first.create(WAIT, &wait.config()).await.unwrap();

    let run = world.core();
    run.read(OBJECT, &made).await.unwrap();
    run.plan(OBJECT, &object, Some(&made)).await.unwrap();
    let plan = run.plan(WAIT, &wait.config(), Some(&waited)).await.unwrap();
    assert_eq!(plan.action, Planned::NoOp);
    run.plan_replacement(OBJECT, &object, &made).await.unwrap();
    let plan = run.plan(WAIT, &wait.config(), Some(&waited)).await.unwrap();
    assert_eq!(plan.action, Planned::Update);
    let again = run.apply(WAIT, &wait.config(), Some(&waited), &plan).await.unwrap().state.unwrap();
    assert!(again.attribute("result").is_null());
}

/// What somebody changed and the apply changes back leaves the triggers as they were.
#[tokio::test]
async fn an_object_that_this_run_puts_right_is_waited_for_again() {
    let world = World::new().await;
    let object = world.config(&world.config_map("state"));
    let first = world.core();
    let made = first.create(OBJECT, &object).await.unwrap();
    let mut wait = Wait::new(&world, CONFIG_MAP, "state").with("ready", true);
    wait.triggers = made.attribute("managed_state_projection").clone();
    let waited = first.create(WAIT, &wait.config()).await.unwrap();
    let other = Wait::new(&world, CONFIG_MAP, "state").with("ready", true);
    let other_waited = first.create(WAIT, &other.config()).await.unwrap();

    let target = Target::new("v1", "ConfigMap", world.namespace.name(), "state");
    let edit = json!({"data": {"greeting": "changed"}});
    world.cluster.act_as("somebody").merge_patch(&target, edit).await.unwrap();
    let run = world.core();
    let drifted = run.read(OBJECT, &made).await.unwrap().present().unwrap();
    let mending = run.plan(OBJECT, &object, Some(&drifted)).await.unwrap();
    assert_eq!(mending.action, Planned::Update);
    let plan = run.plan(WAIT, &wait.config(), Some(&waited)).await.unwrap();
    assert_eq!(plan.action, Planned::Update);
    let calm = run.plan(WAIT, &other.config(), Some(&other_waited)).await.unwrap();
    assert_eq!(calm.action, Planned::NoOp, "it has neither a result nor triggers");

    // The apply plans again, in a process of its own.
    let apply = world.core();
    let mended = apply.plan(OBJECT, &object, Some(&drifted)).await.unwrap();
    let mended =
        apply.apply(OBJECT, &object, Some(&drifted), &mended).await.unwrap().state.unwrap();
    let plan = apply.plan(WAIT, &wait.config(), Some(&waited)).await.unwrap();
    assert_eq!(plan.action, Planned::Update);
    let again = apply.apply(WAIT, &wait.config(), Some(&waited), &plan).await.unwrap();
    let after = world.core();
    let mended = after.read(OBJECT, &mended).await.unwrap().present().unwrap();
    after.plan(OBJECT, &object, Some(&mended)).await.unwrap();
    let calm = after.plan(WAIT, &wait.config(), again.state.as_ref()).await.unwrap();
    assert_eq!(calm.action, Planned::NoOp);
}

/// Refreshes a patch and plans it, then the wait, as Terraform does where the wait depends on it.
async fn planned_after(
    core: &Core,
    ward: &Ward,
    text: &str,
    patch: &State,
    wait: (&Wait<'_>, &State),
) -> PlanOutcome {
    let read = core.read(PATCH, patch).await.unwrap().present().unwrap();
    core.plan(PATCH, &ward.config("patch", text), Some(&read)).await.unwrap();
    let seen = core.read(WAIT, wait.1).await.unwrap().present().unwrap();
    core.plan(WAIT, &wait.0.config(), Some(&seen)).await.unwrap()
}

#[tokio::test]
async fn a_field_that_a_patch_of_this_run_changes_is_handed_on_as_it_becomes() {
    let ward = Ward::config_map().await;
    let [one, two] = ["data: {a: one}", "data: {a: two}"];
    let a = ward.create("patch", one).await;
    let b = ward.create("patch", "data: {b: one}").await;
    let wait = Wait::new(&ward.world, CONFIG_MAP, "settings").with("field", "data.a");
    let waited = wait.done().await.unwrap();
    let mut triggered = Wait::new(&ward.world, CONFIG_MAP, "settings").with("ready", true);

    let calm = planned_after(&ward.core(), &ward, one, &a, (&wait, &waited)).await;
    assert_eq!(calm.action, Planned::NoOp);
    // Another patch of the same object, planned later, does not hide it.
    let run = ward.core();
    planned_after(&run, &ward, two, &a, (&wait, &waited)).await;
    let plan = planned_after(&run, &ward, "data: {b: two}", &b, (&wait, &waited)).await;
    assert_eq!(plan.planned.attribute("result"), Some(&Value::Unknown));

    let applying = ward.core();
    let config = ward.config("patch", two);
    let patching = ward.plan("patch", two, &a).await.unwrap();
    let a = applying.apply(PATCH, &config, Some(&a), &patching).await.unwrap().present().unwrap();
    let again = applying.apply(WAIT, &wait.config(), Some(&waited), &plan).await.unwrap();
    let waited = again.present().unwrap();
    says(&result(&waited), "two");
    triggered.triggers = a.attribute("managed_state_projection").clone();
    let triggered_waited = triggered.done().await.unwrap();

    // What somebody else changed, and the patch changes back.
    let rival = json!({"data": {"a": "rival"}});
    ward.world.cluster.act_as("rival").merge_patch(&ward.target, rival).await.unwrap();
    let run = ward.core();
    let plan = planned_after(&run, &ward, two, &a, (&wait, &waited)).await;
    assert_eq!(plan.planned.attribute("result"), Some(&Value::Unknown));
    let plan = run.plan(WAIT, &triggered.config(), Some(&triggered_waited)).await.unwrap();
    assert_eq!(plan.action, Planned::Update, "the triggers are as they were, the object is not");
}

/// No dry-run tells which version a write will make.
#[tokio::test]
async fn a_version_counts_as_changed_where_this_run_writes() {
    let world = World::new().await;
    let body = world.config_map("state");
    let made = world.create(&body).await.unwrap();
    let wait = Wait::new(&world, CONFIG_MAP, "state").with("field", "metadata.resourceVersion");
    let waited = wait.done().await.unwrap();
    let planned = async |body: &str| {
        let run = world.core();
        let read = run.read(OBJECT, &made).await.unwrap().present().unwrap();
        run.plan(OBJECT, &world.config(body), Some(&read)).await.unwrap();
        run.plan(WAIT, &wait.config(), Some(&waited)).await.unwrap()
    };
    assert_eq!(planned(&body).await.action, Planned::NoOp);
    let plan = planned(&body.replace("hello", "goodbye")).await;
    assert_eq!(plan.planned.attribute("result"), Some(&Value::Unknown));
}

#[tokio::test]
async fn a_body_that_is_not_known_yet_may_change_what_is_handed_on() {
    let world = World::new().await;
    let made = world.create(&world.config_map("state")).await.unwrap();
    let wait = Wait::new(&world, CONFIG_MAP, "state").with("field", "data.greeting");
    let waited = wait.done().await.unwrap();
    let run = world.core();
    let read = run.read(OBJECT, &made).await.unwrap().present().unwrap();
    let unknown = world.config_with([("yaml_body", Value::Unknown)]);
    run.plan(OBJECT, &unknown, Some(&read)).await.unwrap();
    let plan = run.plan(WAIT, &wait.config(), Some(&waited)).await.unwrap();
    assert_eq!(plan.planned.attribute("result"), Some(&Value::Unknown));
}

/// There is nothing to hand on, so that nothing that uses it need be planned anew.
#[tokio::test]
async fn readiness_that_a_trigger_asks_for_again_is_planned_with_nothing_to_hand_on() {
    let world = World::new().await;
    let body = world.config_map("state");
    let made = world.create(&body).await.unwrap();
    let mut wait = Wait::new(&world, CONFIG_MAP, "state").with("ready", true);
    wait.triggers = made.attribute("managed_state_projection").clone();
    let waited = wait.done().await.unwrap();
    let config = world.config(&body.replace("hello", "goodbye"));
    let run = world.core();
    let read = run.read(OBJECT, &made).await.unwrap().present().unwrap();
    let change = run.plan(OBJECT, &config, Some(&read)).await.unwrap();
    wait.triggers = change.planned.attribute("managed_state_projection").unwrap().clone();
    let plan = run.plan(WAIT, &wait.config(), Some(&waited)).await.unwrap();
    assert_eq!(plan.action, Planned::Update);
    assert_eq!(plan.planned.attribute("result"), Some(&Value::Null));
    let applying = world.core();
    applying.apply(OBJECT, &config, Some(&read), &change).await.unwrap();
    applying.apply(WAIT, &wait.config(), Some(&waited), &plan).await.unwrap().present().unwrap();
}

/// Terraform starts a process for each provider block, and none knows what another does. Triggers
/// that were unknown in the plan and turn out as they were hide a replacement, which the object
/// itself betrays.
#[tokio::test]
async fn an_object_that_another_provider_block_replaces_is_waited_for_where_its_triggers_were_unknown()
 {
    let world = World::new().await;
    let object = world.config(&world.config_map("state"));
    let made = world.core().create(OBJECT, &object).await.unwrap();
    let mut wait = Wait::new(&world, CONFIG_MAP, "state").with("ready", true);
    let known = made.attribute("managed_state_projection").clone();
    wait.triggers = known.clone();
    let waited = wait.done().await.unwrap();

    wait.triggers = Value::Unknown;
    let run = world.core();
    let seen = run.read(WAIT, &waited).await.unwrap().present().unwrap();
    let plan = run.plan(WAIT, &wait.config(), Some(&seen)).await.unwrap();
    assert_eq!(plan.planned.attribute("result"), Some(&Value::Unknown));
    wait.triggers = known;
    let calm = world.core().apply(WAIT, &wait.config(), Some(&seen), &plan).await.unwrap();
    assert_eq!(calm.state.unwrap().private, seen.private, "nothing was replaced");

    let other = world.core();
    other.destroy(OBJECT, &made).await.unwrap();
    other.create(OBJECT, &object).await.unwrap();
    let again = world.core().apply(WAIT, &wait.config(), Some(&seen), &plan).await.unwrap();
    let after = world.core().read(WAIT, &again.state.unwrap()).await.unwrap();
    assert!(after.state.is_some(), "the new object was waited for");
}
