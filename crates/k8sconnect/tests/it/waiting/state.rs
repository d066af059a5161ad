//! What a wait leaves in state, and when it is made again.

use serde_json::json;
use testkit::Target;
use tfplugin::harness::Action as Planned;
use tfplugin::{Data, Value};

use super::{CONFIG_MAP, WAIT, Wait, config_map, map, result, says};
use crate::world::{World, besides_the_credential};

#[tokio::test]
async fn a_trigger_waits_again_in_place_and_a_failure_of_it_keeps_what_there_was() {
    let world = World::new().await;
    let ns = world.namespace.name();
    config_map(&world, "state", json!({"word": "one", "n": "1"})).await;
    let mut wait = Wait::new(&world, CONFIG_MAP, "state").with("field", "data.word");
    wait.triggers = map(&[("version", "1")]);
    let core = world.core();
    let state = core.create(WAIT, &wait.config()).await.unwrap();

    // Other terms of waiting are no reason to wait.
    wait.goal.push(("timeout", Value::from("2s")));
    let plan = core.plan(WAIT, &wait.config(), Some(&state)).await.unwrap();
    assert_eq!(plan.action, Planned::Update);
    assert_eq!(plan.planned.attribute("result"), Some(state.attribute("result")));
    let state = core.update(WAIT, &wait.config(), &state).await.unwrap();

    let target = Target::new("v1", "ConfigMap", ns, "state");
    let somebody = world.cluster.act_as("somebody");
    somebody.merge_patch(&target, json!({"data": {"word": "two"}})).await.unwrap();
    let read = core.read(WAIT, &state).await.unwrap().present().unwrap();
    says(&result(&read), "two");
    let plan = core.plan(WAIT, &wait.config(), Some(&read)).await.unwrap();
    assert_eq!(plan.action, Planned::NoOp, "a change is shown and planned nowhere");

    wait.triggers = map(&[("version", "2")]);
    let plan = core.plan(WAIT, &wait.config(), Some(&read)).await.unwrap();
    assert_eq!(plan.action, Planned::Update);
    assert_eq!(plan.planned.attribute("result"), Some(&Value::Unknown));
    let again = core.update(WAIT, &wait.config(), &read).await.unwrap();
    assert_eq!(again.attribute("id"), state.attribute("id"));

    wait.triggers = map(&[("version", "3")]);
    let plan = core.plan(WAIT, &wait.config(), Some(&again)).await.unwrap();
    somebody.merge_patch(&target, json!({"data": {"word": ""}})).await.unwrap();
    let failure = core.apply(WAIT, &wait.config(), Some(&again), &plan).await.unwrap_err();
    let stored = failure.stored().unwrap();
    assert_eq!(
        (stored.attribute("triggers"), stored.tainted),
        (again.attribute("triggers"), false)
    );

    // Back to what state holds: the last wait failed all the same.
    wait.triggers = map(&[("version", "2")]);
    let plan = core.plan(WAIT, &wait.config(), Some(stored)).await.unwrap();
    assert_eq!(plan.action, Planned::Update);
    somebody.merge_patch(&target, json!({"data": {"word": "three"}})).await.unwrap();
    let mended =
        core.apply(WAIT, &wait.config(), Some(stored), &plan).await.unwrap().state.unwrap();
    says(&result(&mended), "three");
    let plan = core.plan(WAIT, &wait.config(), Some(&mended)).await.unwrap();
    assert_eq!(plan.action, Planned::NoOp);
}

/// The one that was waited for is another object than the one that has its name now.
#[tokio::test]
async fn an_object_that_somebody_made_anew_is_waited_for_again() {
    let world = World::new().await;
    config_map(&world, "state", json!({"word": "one"})).await;
    let core = world.core();
    let wait = Wait::new(&world, CONFIG_MAP, "state").with("ready", true);
    let state = core.create(WAIT, &wait.config()).await.unwrap();
    assert!(core.read(WAIT, &state).await.unwrap().state.is_some());
    let target = Target::new("v1", "ConfigMap", world.namespace.name(), "state");
    world.cluster.delete(&target).await.unwrap();
    config_map(&world, "state", json!({"word": "one"})).await;
    let read = core.read(WAIT, &state).await.unwrap();
    assert!(read.state.is_none());
    assert!(
        read.diagnostics.iter().any(|one| one.summary.contains("was recreated after the wait"))
    );
}

#[tokio::test]
async fn what_is_gone_is_waited_for_again() {
    let world = World::new().await;
    config_map(&world, "state", json!({"word": "one", "n": "1"})).await;
    let core = world.core();
    let field = Wait::new(&world, CONFIG_MAP, "state").with("field", "data.word");
    let value = Wait::new(&world, CONFIG_MAP, "state").with("field_value", map(&[("data.n", "1")]));
    let fields = core.create(WAIT, &field.config()).await.unwrap();
    let values = core.create(WAIT, &value.config()).await.unwrap();
    let target = Target::new("v1", "ConfigMap", world.namespace.name(), "state");
    let somebody = world.cluster.act_as("somebody");
    let patch = json!({"data": {"word": null, "n": "2"}});
    somebody.merge_patch(&target, patch).await.unwrap();
    let read = core.read(WAIT, &fields).await.unwrap();
    assert!(read.state.is_none());
    assert!(read.diagnostics.iter().any(|one| one.summary.contains("no longer has `data.word`")));
    // That it had another value is a fact of the past.
    let read = core.read(WAIT, &values).await.unwrap().present().unwrap();
    says(&result(&read), "\"n\": Known(String(\"2\"))");
    somebody.merge_patch(&target, json!({"data": {"n": null}})).await.unwrap();
    let lost = core.read(WAIT, &values).await.unwrap();
    assert!(lost.state.is_none());
    assert!(lost.diagnostics.iter().any(|one| one.summary.contains("the awaited `data.n`")));
    world.cluster.delete(&target).await.unwrap();
    assert!(core.read(WAIT, &values).await.unwrap().state.is_none());
}

#[tokio::test]
async fn what_cannot_be_waited_for_is_refused_before_anything_runs() {
    let world = World::new().await;
    let refused = async |wait: Wait<'_>| {
        let told = world.core().validate(WAIT, &wait.config()).await.unwrap_err().diagnostics();
        let one = besides_the_credential(told).into_iter().next().unwrap();
        (format!("{}\n{}", one.summary, one.detail), one.path.unwrap().to_string())
    };
    let wait = || Wait::new(&world, CONFIG_MAP, "state");
    let subresource = Wait::new(&world, CONFIG_MAP, "web/status").with("ready", true);
    let nameless = Wait::new(&world, CONFIG_MAP, "").with("ready", true);
    for (wait, words, place) in [
        (subresource, "neither empty nor hold `/`", "object_ref.name"),
        (nameless, "`object_ref.name = \"\"`", "object_ref.name"),
        (wait().with("timeout", "5m"), "does not say what to wait for", "wait_for"),
        (wait().with("rollout", false), "does not say what to wait for", "wait_for"),
        (wait().with("ready", true).with("field", "a"), "`field` and `ready`", "wait_for"),
        (wait().with("rollout", true), "A ConfigMap does not roll out", "wait_for.rollout"),
        (wait().with("field", "status.x["), "At character 10", "wait_for.field"),
        (wait().with("field_value", map(&[("a[?(@.b=1]", "x")])), "`)`", "wait_for.field_value"),
        (wait().with("ready", true).with("timeout", "soon"), "length of time", "wait_for.timeout"),
        (wait().with("condition", " "), "no condition", "wait_for.condition"),
        (
            wait().with("ready", true).with(
                "fail_when",
                Data::object([("field", "x.[")].map(|(k, v)| (k, Value::from(v)))),
            ),
            "is not a field path",
            "wait_for.fail_when.field",
        ),
    ] {
        let (said, path) = refused(wait).await;
        says(&said, words);
        assert_eq!(path, place, "{said}");
    }
}
