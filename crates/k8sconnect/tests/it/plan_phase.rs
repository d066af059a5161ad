//! Which plan of a change is asked for, what the apply's plan does not repeat, and what a plan without a
//! refresh asks of the server.

use serde_json::{Value as Json, json};
use testkit::audit::Persistence;
use testkit::proxy::{Action as Deed, Fate, Proxy, Rule, Turn, Which};
use testkit::{Filter, Request, Target};
use tfplugin::harness::{Action, Core, PlanOutcome, State};
use tfplugin::{Capabilities, Data, Value};

use crate::patch::{PATCH, Ward, object, said};
use crate::world::{OBJECT, World};

fn settings(world: &World, data: &Json) -> Json {
    let mut map = object("v1", "ConfigMap", "settings", world.namespace.name());
    map["data"] = data.clone();
    map
}

fn target(world: &World) -> Target {
    Target::of(&settings(world, &json!({}))).unwrap()
}

/// An object that another manager has changed since it was created.
struct Story {
    world: World,
    state: State,
}

impl Story {
    async fn new() -> Self {
        let world = World::new().await;
        let state = world.create(&settings(&world, &json!({"a": "1"})).to_string()).await.unwrap();
        let story = Self { world, state };
        story.changed_by("rival", json!({"data": {"a": "theirs", "new": "theirs"}})).await;
        story
    }

    fn config(&self) -> Value {
        let next = settings(&self.world, &json!({"a": "2", "new": "2"}));
        self.world.config(&next.to_string())
    }

    async fn changed_by(&self, who: &str, patch: Json) {
        self.world.cluster.act_as(who).merge_patch(&target(&self.world), patch).await.unwrap();
    }

    async fn read(&self, core: &Core) -> State {
        core.read(OBJECT, &self.state).await.unwrap().present().unwrap()
    }

    /// Applies a plan in another process, and counts what that asks.
    async fn apply(&self, state: &State, plan: &PlanOutcome) -> (String, Vec<String>) {
        let config = self.config();
        let core = self.world.newest_core();
        let applied = core.apply(OBJECT, &config, Some(state), plan);
        let namespace = self.world.namespace.name();
        let (applied, asked) = self.world.cluster.count_during(namespace, applied).await.unwrap();
        let applied = applied.unwrap();
        let told = said(&applied.diagnostics);
        let state = applied.present().unwrap();
        assert!(!state.private.contains("plan"), "the plan's record is in state");
        (told, asked.iter().map(Request::in_short).collect())
    }
}

const REPORT: &str = "1 field changed outside of Terraform";

#[tokio::test]
async fn an_apply_does_not_repeat_what_its_plan_has_reported() {
    let story = Story::new().await;
    let core = story.world.newest_core();
    let read = story.read(&core).await;
    let plan = core.plan(OBJECT, &story.config(), Some(&read)).await.unwrap();
    assert!(said(&plan.diagnostics).contains(REPORT), "{:?}", plan.diagnostics);
    let (told, asked) = story.apply(&read, &plan).await;
    assert_eq!(told, "");
    assert_eq!(asked, ["patch (dry-run)", "patch"]);
}

/// A controller may write to the object at any time, which makes another version of it.
#[tokio::test]
async fn an_apply_reports_only_what_is_new_if_the_object_changed_after_the_plan() {
    for (later, news) in [
        (json!({"metadata": {"labels": {"seen": "yes"}}}), None),
        (json!({"data": {"a": "theirs again"}}), Some("is now theirs again will be \"2\"")),
    ] {
        let story = Story::new().await;
        let core = story.world.newest_core();
        let read = story.read(&core).await;
        let plan = core.plan(OBJECT, &story.config(), Some(&read)).await.unwrap();
        assert!(said(&plan.diagnostics).contains("will be taken from other managers"));
        story.changed_by("controller", later).await;
        let (told, asked) = story.apply(&read, &plan).await;
        match news {
            Some(news) => assert!(told.contains(news), "{told}"),
            None => assert_eq!(told, ""),
        }
        assert!(!told.contains("will be taken from other managers"), "{told}");
        assert_eq!(asked, ["patch (dry-run)", "get", "patch"]);
    }
}

/// The write carries the version that the dry-run answered, or that was read for the ignored fields.
#[tokio::test]
async fn an_apply_reports_what_it_takes_from_a_manager_that_wrote_after_its_dry_run() {
    let label = json!({"metadata": {"labels": {"seen": "yes"}}});
    let value = json!({"data": {"a": "theirs"}});
    let other = Some("data.other");
    let news = Some("is now theirs will be \"2\"");
    for (ignored, later, news) in [
        (other, label.clone(), None),
        (other, value.clone(), news),
        (None, label, None),
        (None, value, news),
    ] {
        let world = World::new().await;
        let proxy = Proxy::before(world.cluster).await.unwrap();
        let config = |a: &str| {
            let map = settings(&world, &json!({"a": a, "other": "x"}));
            let cluster = Data::object([("kubeconfig", Value::from(proxy.kubeconfig()))]);
            let mut attributes = vec![("yaml_body", Value::from(map.to_string()))];
            attributes.push(("cluster", Value::Known(cluster)));
            attributes.extend(
                ignored
                    .map(|it| ("ignore_fields", Value::Known(Data::List(vec![Value::from(it)])))),
            );
            Value::Known(Data::object(attributes))
        };
        let core = world.newest_core();
        let state = core.create(OBJECT, &config("1")).await.unwrap();
        let core = world.newest_core();
        let read = core.read(OBJECT, &state).await.unwrap().present().unwrap();
        let plan = core.plan(OBJECT, &config("2"), Some(&read)).await.unwrap();
        let (rival, theirs) = (world.cluster.act_as("rival"), target(&world));
        let deed = Deed::new(move |_| {
            let (rival, theirs, later) = (rival.clone(), theirs.clone(), later.clone());
            async move { rival.merge_patch(&theirs, later).await.map(|_| ()) }
        });
        let write = Which::any().method(http::Method::PATCH).persistence(Persistence::Real);
        let tally = proxy.rule(Rule::new(write, Turn::Nth(1), Fate::Before(deed)));
        let core = world.newest_core();
        let applied = core.apply(OBJECT, &config("2"), Some(&read), &plan).await.unwrap();
        assert_eq!(tally.fired().len(), 1);
        let told = said(&applied.diagnostics);
        match news {
            Some(news) => assert!(told.contains(news), "{told}"),
            None => assert_eq!(told, ""),
        }
        let live = world.cluster.read(&target(&world)).await.unwrap().unwrap();
        assert_eq!(live["data"], json!({"a": "2", "other": "x"}));
    }
}

#[tokio::test]
async fn an_apply_reports_what_a_plan_with_an_unknown_body_or_cluster_could_not_compare() {
    let story = Story::new().await;
    let text = settings(&story.world, &json!({"a": "2", "new": "2"})).to_string();
    let unknown_body = story.world.config_with([("yaml_body", Value::Unknown)]);
    let unknown_cluster = Value::Known(Data::object([
        ("yaml_body", Value::from(text.as_str())),
        ("cluster", Value::Unknown),
    ]));
    for open in [unknown_body, unknown_cluster] {
        let core = story.world.newest_core();
        let read = story.read(&core).await;
        let plan = core.plan(OBJECT, &open, Some(&read)).await.unwrap();
        let told = said(&plan.diagnostics);
        assert!(told.contains("1 field changed by others may be set back"), "{told}");
        let (told, _) = story.apply(&read, &plan).await;
        assert!(told.contains("was \"1\" is now theirs will be \"2\""), "{told}");
        assert!(told.contains("data.new held by `rival` (Update, "), "{told}");
        story.changed_by("rival", json!({"data": {"a": "theirs", "new": "theirs"}})).await;
    }
}

#[tokio::test]
async fn a_plan_without_a_refresh_reports_and_its_apply_does_not_repeat_it() {
    let story = Story::new().await;
    let core = story.world.newest_core();
    let plan = core.plan(OBJECT, &story.config(), Some(&story.state)).await.unwrap();
    let told = said(&plan.diagnostics);
    assert!(told.contains(REPORT) && told.contains("data.new held by `rival`"), "{told}");
    let (told, asked) = story.apply(&story.state, &plan).await;
    assert_eq!(told, "");
    assert_eq!(asked, ["patch (dry-run)", "patch"]);
}

#[tokio::test]
async fn what_an_adoption_and_a_patch_report_is_not_repeated_by_their_applies() {
    let world = World::new().await;
    let theirs = settings(&world, &json!({"a": "theirs"}));
    world.cluster.act_as("helm").apply(&theirs).await.unwrap();
    let ours = settings(&world, &json!({"a": "ours"})).to_string();
    let adopting = world
        .config_with([("yaml_body", Value::from(ours.as_str())), ("adopt", Value::from(true))]);
    let ward = Ward::config_map().await;
    let patch = ward.config("patch", "data: {a: ours}");
    for (ty, config) in [(OBJECT, adopting), (PATCH, patch)] {
        let plan = world.newest_core().plan(ty, &config, None).await.unwrap();
        assert!(said(&plan.diagnostics).contains("held by `helm`"), "{:?}", plan.diagnostics);
        let made = world.newest_core().apply(ty, &config, None, &plan).await.unwrap();
        assert_eq!(said(&made.diagnostics), "", "{ty}");
        assert!(!made.present().unwrap().private.contains("plan"), "{ty}");
    }
}

#[tokio::test]
async fn a_changed_patch_reports_in_its_plan_and_not_in_its_apply() {
    for newest in [true, false] {
        let ward = Ward::config_map().await;
        let core = || if newest { ward.newest_core() } else { ward.core() };
        let state = ward.create("merge_patch", "data: {a: ours}").await;
        let config = ward.config("merge_patch", "data: {b: ours}");
        let planning = core();
        let read = planning.read(PATCH, &state).await.unwrap().present().unwrap();
        let plan = planning.plan(PATCH, &config, Some(&read)).await.unwrap();
        let told = said(&plan.diagnostics);
        assert!(told.contains("data.b held by `helm`"), "{told}");
        assert!(told.contains("data.a returns to `helm`"), "{told}");
        let made = core().apply(PATCH, &config, Some(&read), &plan).await.unwrap();
        assert_eq!(said(&made.diagnostics), "", "newest: {newest}");
    }
}

/// Terraform Stacks allow deferrals in plans.
#[tokio::test]
async fn a_plan_that_may_defer_is_not_taken_for_an_apply() {
    let world = World::new().await;
    let deferring = || {
        world.core().with_capabilities(Capabilities {
            write_only_attributes_allowed: true,
            deferral_allowed: true,
            ..Capabilities::default()
        })
    };
    let state = world.create(&settings(&world, &json!({"a": "1"})).to_string()).await.unwrap();
    // Nothing was read: `-refresh=false`.
    let mut renamed = settings(&world, &json!({"a": "1"}));
    renamed["metadata"]["name"] = json!("renamed");
    let config = world.config(&renamed.to_string());
    let plan = deferring().plan(OBJECT, &config, Some(&state)).await.unwrap();
    assert_eq!(plan.action, Action::Replace);
    // What exists already is an error of the plan.
    world.cluster.act_as("other").apply(&renamed).await.unwrap();
    let refused = deferring().plan(OBJECT, &config, None).await.unwrap_err();
    assert!(refused.to_string().contains("exists already"), "{refused}");
    // What a patch means may come in the same run: the plan does not wait for it.
    let missing = Target::new("v1", "ConfigMap", world.namespace.name(), "later");
    let ward = Ward::of(world, missing);
    let config = ward.config("patch", "data: {a: ours}");
    let core = ward.core().with_capabilities(Capabilities {
        deferral_allowed: true,
        write_only_attributes_allowed: true,
        ..Capabilities::default()
    });
    let plan = core.plan(PATCH, &config, None).await.unwrap();
    let told = said(&plan.diagnostics);
    assert!(told.contains("does not exist"), "{told}");
    assert_eq!(plan.planned.attribute("managed_state_projection"), Some(&Value::Unknown));
}

#[tokio::test]
async fn an_unchanged_patch_is_not_asked_about_without_a_refresh() {
    for (attribute, text) in [
        ("patch", "data: {a: ours}"),
        ("merge_patch", "data: {a: ours, c: null}"),
        ("json_patch", r#"[{"op": "replace", "path": "/data/a", "value": "ours"}]"#),
    ] {
        let ward = Ward::config_map().await;
        let state = ward.create(attribute, text).await;
        let plan = async |core: Core, state: &State, text: &str| {
            let config = ward.config(attribute, text);
            let user = Filter::by_user(&ward.world.user);
            let plan = core.plan(PATCH, &config, Some(state));
            let (plan, asked) = ward.world.cluster.count_during(user, plan).await.unwrap();
            (plan.unwrap(), asked.len())
        };
        for core in [ward.core(), ward.newest_core()] {
            let (unchanged, asked) = plan(core, &state, text).await;
            assert_eq!((unchanged.action, asked), (Action::NoOp, 0), "{attribute}");
            assert!(unchanged.diagnostics.is_empty(), "{attribute}: {:?}", unchanged.diagnostics);
        }
        // What a refresh has found to be changed is set right by the apply, which does not read.
        let edit = json!({"data": {"a": "edited"}});
        ward.world.cluster.act_as("ed").merge_patch(&ward.target, edit).await.unwrap();
        let read = ward.core().read(PATCH, &state).await.unwrap().present().unwrap();
        let (drifted, asked) = plan(ward.core(), &read, text).await;
        assert_eq!(drifted.action, Action::Update, "{attribute}");
        assert!(asked > 0, "{attribute}");
    }
}
