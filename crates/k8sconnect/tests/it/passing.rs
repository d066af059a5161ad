//! Troubles that pass: sat out where asking again is harmless, and never where it is not.

use std::time::{Duration, Instant};

use http::{Method, StatusCode};
use serde_json::json;
use testkit::Target;
use testkit::audit::Persistence;
use testkit::proxy::{Fate, Proxy, Reply, Rule, Turn, Which};
use tfplugin::harness::{Action, Core};

use crate::world::{OBJECT, World, value};

struct Scene {
    world: World,
    proxy: Proxy,
    core: Core,
}

impl Scene {
    async fn new() -> Self {
        let world = World::new().await;
        let proxy = Proxy::before(world.cluster).await.unwrap();
        let core = world.core();
        Self { world, proxy, core }
    }

    fn config(&self) -> tfplugin::Value {
        let cluster = json!({ "kubeconfig": self.proxy.kubeconfig() });
        self.world.config_at(&cluster, &self.world.config_map("settings"))
    }

    /// Only a provider that was configured can be interrupted.
    async fn configure(&self) {
        let none = json!({ "cluster": null, "clusters": null });
        self.core.configure(value(&none)).await.unwrap();
    }

    fn patches(&self) -> usize {
        self.proxy.requests().iter().filter(|one| one.method == Method::PATCH).count()
    }
}

#[tokio::test]
async fn a_busy_or_restarting_server_is_asked_again() {
    for fate in [
        Fate::Answer(
            Reply::refusal(StatusCode::TOO_MANY_REQUESTS, "TooManyRequests", "later")
                .header("retry-after", "1"),
        ),
        Fate::Answer(Reply::refusal(StatusCode::SERVICE_UNAVAILABLE, "", "shutting down")),
        Fate::Answer(Reply::refusal(
            StatusCode::INTERNAL_SERVER_ERROR,
            "",
            "etcdserver: leader changed",
        )),
        Fate::ResetBefore,
        Fate::ResetAfter,
    ] {
        let at = Scene::new().await;
        let config = at.config();
        at.proxy.rule(Rule::new(Which::any().method(Method::PATCH), Turn::First(2), fate));
        let plan = at.core.plan(OBJECT, &config, None).await.unwrap();
        assert_eq!(plan.action, Action::Create);
        assert_eq!(at.patches(), 3);
        let state = at.core.apply(OBJECT, &config, None, &plan).await.unwrap().present().unwrap();
        at.core.destroy(OBJECT, &state).await.unwrap();
    }
}

#[tokio::test]
async fn a_500_is_taken_as_an_answer() {
    let at = Scene::new().await;
    let reply = Reply::refusal(StatusCode::INTERNAL_SERVER_ERROR, "InternalError", "no");
    at.proxy.rule(Rule::new(Which::any().method(Method::PATCH), Turn::Every, Fate::Answer(reply)));
    at.core.plan(OBJECT, &at.config(), None).await.unwrap_err();
    assert_eq!(at.patches(), 1);
}

#[tokio::test]
async fn an_interrupt_ends_what_is_tried_again_and_again() {
    let at = Scene::new().await;
    at.configure().await;
    let busy = Reply::refusal(StatusCode::SERVICE_UNAVAILABLE, "", "shutting down");
    let patches = Which::any().method(Method::PATCH);
    at.proxy.rule(Rule::new(patches, Turn::Every, Fate::Answer(busy)));
    let config = at.config();
    let interrupt = async {
        let deadline = Instant::now() + Duration::from_secs(60);
        while at.patches() < 2 {
            assert!(Instant::now() < deadline, "nothing was tried again");
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        at.core.stop().await.unwrap();
        (at.patches(), Instant::now())
    };
    let (plan, (tried, asked)) = tokio::join!(at.core.plan(OBJECT, &config, None), interrupt);
    let told = plan.unwrap_err().to_string();
    assert!(told.contains("Interrupted while"), "{told}");
    assert!(asked.elapsed() < Duration::from_secs(2), "it took {:?}", asked.elapsed());
    assert!(at.patches() <= tried + 1, "one may have been on its way");
}

#[tokio::test]
async fn a_creation_whose_answer_is_lost_for_good_says_so_and_is_then_taken_over_as_it_is() {
    let at = Scene::new().await;
    at.configure().await;
    let config = at.config();
    let plan = at.core.plan(OBJECT, &config, None).await.unwrap();
    let writes = || Which::any().method(Method::PATCH).persistence(Persistence::Real);
    at.proxy.rule(Rule::new(writes(), Turn::Nth(1), Fate::ResetAfter));
    let again = at.proxy.rule(Rule::new(writes(), Turn::From(2), Fate::ResetBefore));
    let interrupt = async {
        while again.fired().is_empty() {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        at.core.stop().await.unwrap();
    };
    let (made, ()) = tokio::join!(at.core.apply(OBJECT, &config, None, &plan), interrupt);
    let failure = made.unwrap_err();
    assert!(failure.to_string().contains("may have been created all the same"), "{failure}");
    assert!(failure.stored().is_none());
    let target = Target::new("v1", "ConfigMap", at.world.namespace.name(), "settings");
    let left = at.world.cluster.read(&target).await.unwrap().expect("it was not made");

    at.proxy.forget_rules();
    let told = at.world.core().plan(OBJECT, &config, None).await.unwrap_err().to_string();
    assert!(told.contains("exists already") && told.contains("adopt = true"), "{told}");
    let tfplugin::Value::Known(tfplugin::Data::Object(mut adopting)) = config else { panic!() };
    adopting.insert("adopt".into(), true.into());
    let config = tfplugin::Value::Known(tfplugin::Data::Object(adopting));
    let state = at.world.core().create(OBJECT, &config).await.unwrap();
    let uid = left["metadata"]["uid"].as_str().unwrap();
    assert_eq!(*state.attribute("uid"), tfplugin::Value::from(uid));
    at.world.core().destroy(OBJECT, &state).await.unwrap();
}

/// As a server answers whose store took too long to say that it had done it.
fn timed_out(code: StatusCode) -> Reply {
    Reply::refusal(code, "", "etcdserver: request timed out")
}

fn writes() -> Which {
    Which::any().persistence(Persistence::Real)
}

#[tokio::test]
async fn a_write_that_the_server_fails_after_is_looked_for_and_known_to_state() {
    let at = Scene::new().await;
    let config = at.config();
    let target = Target::new("v1", "ConfigMap", at.world.namespace.name(), "settings");
    let after = || Fate::AnswerAfter(timed_out(StatusCode::INTERNAL_SERVER_ERROR));
    let creation = writes().method(Method::PATCH);
    let tally = at.proxy.rule(Rule::new(creation, Turn::Nth(1), after()));
    let mut state = at.core.create(OBJECT, &config).await.unwrap();
    assert_eq!(tally.fired().len(), 1, "a 500 is not asked again");
    let live = at.world.cluster.read(&target).await.unwrap().unwrap();
    let uid = live["metadata"]["uid"].as_str().unwrap();
    assert_eq!(*state.attribute("uid"), tfplugin::Value::from(uid));
    let plan = at.world.core().plan(OBJECT, &config, Some(&state)).await.unwrap();
    assert_eq!(plan.action, Action::NoOp);

    let cluster = json!({ "kubeconfig": at.proxy.kubeconfig() });
    let body = at.world.config_map("settings").replace("hello", "good morning");
    let ignoring = json!({ "ignore_fields": ["data.others"] });
    for (body, more) in [(body.as_str(), json!({})), (&body.replace("morning", "night"), ignoring)]
    {
        at.proxy.forget_rules();
        let tally = at.proxy.rule(Rule::new(writes().method(Method::PATCH), Turn::Nth(1), after()));
        let mut changed = json!({ "cluster": cluster, "yaml_body": body });
        changed.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let (core, changed) = (at.world.core(), value(&changed));
        let plan = core.plan(OBJECT, &changed, Some(&state)).await.unwrap();
        state = core.apply(OBJECT, &changed, Some(&state), &plan).await.unwrap().present().unwrap();
        assert_eq!(tally.fired().len(), 1, "a 500 is not asked again");
        let plan = at.world.core().plan(OBJECT, &changed, Some(&state)).await.unwrap();
        assert_eq!(plan.action, Action::NoOp);
    }

    let deletion = writes().method(Method::DELETE);
    at.proxy.rule(Rule::new(deletion, Turn::Nth(1), after()));
    at.core.destroy(OBJECT, &state).await.unwrap();
    assert_eq!(at.world.cluster.read(&target).await.unwrap(), None);
}

#[tokio::test]
async fn a_takeover_that_the_server_fails_after_is_looked_for_and_known_to_state() {
    let at = Scene::new().await;
    at.world.cluster.act_as("kubectl").apply(at.world.config_map("settings")).await.unwrap();
    let tfplugin::Value::Known(tfplugin::Data::Object(mut config)) = at.config() else { panic!() };
    config.insert("adopt".into(), true.into());
    let config = tfplugin::Value::Known(tfplugin::Data::Object(config));
    let after = Fate::AnswerAfter(timed_out(StatusCode::INTERNAL_SERVER_ERROR));
    // The first write is the one that finds the object there.
    at.proxy.rule(Rule::new(writes().method(Method::PATCH), Turn::Nth(2), after));
    let state = at.core.create(OBJECT, &config).await.unwrap();
    at.core.destroy(OBJECT, &state).await.unwrap();
}

#[tokio::test]
async fn a_server_that_fails_at_a_write_is_not_said_to_refuse_it() {
    let at = Scene::new().await;
    let config = at.config();
    let broken = |which: Which, code| {
        at.proxy.forget_rules();
        at.proxy.rule(Rule::new(which, Turn::Every, Fate::Answer(timed_out(code))))
    };
    let plan = at.core.plan(OBJECT, &config, None).await.unwrap();
    broken(writes().method(Method::PATCH), StatusCode::INTERNAL_SERVER_ERROR);
    let told = at.core.apply(OBJECT, &config, None, &plan).await.unwrap_err().to_string();
    assert!(told.contains("may have been created all the same"), "{told}");
    assert!(told.contains("etcdserver: request timed out"), "{told}");
    assert!(!told.contains("is refused"), "{told}");

    at.proxy.forget_rules();
    let state = at.world.core().create(OBJECT, &config).await.unwrap();
    let cluster = json!({ "kubeconfig": at.proxy.kubeconfig() });
    let body = at.world.config_map("settings").replace("hello", "good morning");
    let changed = at.world.config_at(&cluster, &body);
    let core = at.world.core();
    let plan = core.plan(OBJECT, &changed, Some(&state)).await.unwrap();
    broken(writes().method(Method::PATCH), StatusCode::INTERNAL_SERVER_ERROR);
    let failure = core.apply(OBJECT, &changed, Some(&state), &plan).await.unwrap_err();
    assert!(failure.stored().is_some(), "{failure}");
    let told = failure.to_string();
    assert!(told.contains("may have been changed all the same"), "{told}");
    assert!(!told.contains("is refused"), "{told}");

    broken(writes().method(Method::DELETE), StatusCode::INTERNAL_SERVER_ERROR);
    let failure = at.world.core().destroy(OBJECT, &state).await.unwrap_err();
    assert!(failure.stored().is_some(), "{failure}");
    let told = failure.to_string();
    assert!(told.contains("was not deleted") && told.contains("Run again"), "{told}");
    assert!(!told.contains("forbids"), "{told}");
    at.proxy.forget_rules();
    at.world.core().destroy(OBJECT, &state).await.unwrap();
}
