//! Taking over what exists: every value that changes is told, and what is ours afterwards goes when
//! it is no longer written.

use http::Method;
use serde_json::{Value as Json, json};
use testkit::Target;
use testkit::audit::Persistence;
use testkit::faults::life::value;
use testkit::proxy::{self, Fate, Proxy, Rule, Turn, Which};
use tfplugin::Value;
use tfplugin::harness::{Action, State};

use crate::entangled::replan;
use crate::ignoring::with;
use crate::patch::{object, refused, said};
use crate::world::{OBJECT, World};

pub(crate) fn adopting(world: &World, body: &Json) -> Value {
    let yaml = Value::from(body.to_string());
    world.config_with([("yaml_body", yaml), ("adopt", Value::from(true))])
}

/// State after the import of a ConfigMap.
pub(crate) async fn import(world: &World, name: &str) -> State {
    let core = world.core();
    let block = json!({ "cluster": { "kubeconfig": world.kubeconfig() } });
    core.configure(value(&block)).await.unwrap();
    let id = format!("{}/configmap/{name}", world.namespace.name());
    core.import(OBJECT, &id).await.unwrap()
}

/// Writes another body over what state holds.
pub(crate) async fn change(world: &World, config: &Value, state: &State) -> State {
    let core = world.core();
    let read = core.read(OBJECT, state).await.unwrap().present().unwrap();
    let plan = core.plan(OBJECT, config, Some(&read)).await.unwrap();
    world.core().apply(OBJECT, config, Some(&read), &plan).await.unwrap().present().unwrap()
}

#[tokio::test]
async fn a_value_that_nobody_holds_is_told_before_it_is_overwritten() {
    let world = World::new().await;
    let mut web = object("apps/v1", "Deployment", "web", world.namespace.name());
    web["spec"] = json!({"selector": {"matchLabels": {"app": "web"}}, "template": {
        "metadata": {"labels": {"app": "web"}},
        "spec": {"containers": [{"name": "app", "image": "nginx:1"}]}}});
    world.cluster.act_as("helm").apply(&web).await.unwrap();
    web["spec"]["replicas"] = json!(0);
    web["spec"]["minReadySeconds"] = json!(5);
    let config = adopting(&world, &web);
    let told = said(&world.core().plan(OBJECT, &config, None).await.unwrap().diagnostics);
    let expected = "These values change, which nobody holds now: spec.replicas is now 1 will be 0";
    assert!(told.contains(expected), "{told}");
    assert!(!told.contains("minReadySeconds"), "nothing was there: {told}");
    let state = world.core().create(OBJECT, &config).await.unwrap();
    assert_eq!(replan(&world, &config, &state).await.unwrap().action, Action::NoOp);
    world.core().destroy(OBJECT, &state).await.unwrap();
}

#[tokio::test]
async fn a_field_of_an_object_without_any_record_goes_when_it_is_no_longer_written() {
    let world = World::new().await;
    for name in ["adopted", "imported"] {
        let mut map = object("v1", "ConfigMap", name, world.namespace.name());
        map["data"] = json!({"a": "theirs", "b": "theirs", "c": "theirs"});
        let target = Target::of(&map).unwrap();
        world.cluster.act_as("helm").apply(&map).await.unwrap();
        let unrecorded = json!({"metadata": {"managedFields": [{}]}});
        world.cluster.act_as("helm").merge_patch(&target, unrecorded).await.unwrap();
        map["data"] = json!({"a": "ours", "b": "theirs"});
        let config = adopting(&world, &map);
        let state = match name {
            "adopted" => {
                let plan = world.core().plan(OBJECT, &config, None).await.unwrap();
                let told = said(&plan.diagnostics);
                assert!(told.contains("data.a is now theirs will be ours"), "{told}");
                world.core().create(OBJECT, &config).await.unwrap()
            }
            _ => {
                let state = import(&world, name).await;
                change(&world, &config, &state).await
            }
        };
        map["data"] = json!({"a": "ours"});
        let config = adopting(&world, &map);
        let told = said(&replan(&world, &config, &state).await.unwrap().diagnostics);
        assert!(!told.contains("will stay"), "{name}: {told}");
        let state = change(&world, &config, &state).await;
        let live = world.cluster.read(&target).await.unwrap().unwrap();
        assert_eq!(live["data"], json!({"a": "ours", "c": "theirs"}), "{name}");
        assert_eq!(replan(&world, &config, &state).await.unwrap().action, Action::NoOp);
        world.core().destroy(OBJECT, &state).await.unwrap();
    }
}

#[tokio::test]
async fn annotations_that_are_written_empty_come_out_as_planned() {
    let world = World::new().await;
    for exists in [false, true] {
        let mut map = object("v1", "ConfigMap", "it", world.namespace.name());
        map["data"] = json!({"a": "b"});
        if exists {
            world.cluster.act_as("helm").apply(&map).await.unwrap();
        }
        map["metadata"]["annotations"] = json!({});
        let config = adopting(&world, &map);
        let core = world.core();
        let plan = core.plan(OBJECT, &config, None).await.unwrap();
        let made = world.core().apply(OBJECT, &config, None, &plan).await.unwrap();
        let told = said(&made.diagnostics);
        assert!(!told.contains("otherwise than planned"), "{told}");
        let state = made.present().unwrap();
        assert_eq!(replan(&world, &config, &state).await.unwrap().action, Action::NoOp);
        world.core().destroy(OBJECT, &state).await.unwrap();
    }
}

#[tokio::test]
async fn an_adoption_names_what_kubectl_hands_over_and_nothing_of_that_is_left_with_it() {
    let world = World::new().await;
    let mut map = object("v1", "ConfigMap", "it", world.namespace.name());
    map["metadata"]["labels"] = json!({"l": "one"});
    map["data"] = json!({"a": "same", "b": "theirs", "c": "not ours"});
    world.cluster.act_as("kubectl-client-side-apply").create(&map).await.unwrap();
    map["data"] = json!({"a": "same", "b": "ours"});
    let config = adopting(&world, &map);
    let told = said(&world.core().plan(OBJECT, &config, None).await.unwrap().diagnostics);
    let moved = "These fields change hands, from `kubectl-client-side-apply` to you: data.a \
                 metadata.labels.l `adopt = true` says so.";
    assert!(told.contains(moved), "{told}");
    assert_eq!(told.matches("data.b").count(), 1, "it is told as taken: {told}");
    let state = world.core().create(OBJECT, &config).await.unwrap();
    // All that kubectl is left with of the labels is that there are some.
    map["metadata"].as_object_mut().unwrap().remove("labels");
    let plan = replan(&world, &adopting(&world, &map), &state).await.unwrap();
    assert_eq!((plan.action, said(&plan.diagnostics).as_str()), (Action::Update, ""));
}

#[tokio::test]
async fn an_import_tells_each_value_that_changes_once() {
    let world = World::new().await;
    let mut map = object("v1", "ConfigMap", "it", world.namespace.name());
    map["data"] = json!({"a": "theirs", "b": "nobody's"});
    let target = Target::of(&map).unwrap();
    world.cluster.act_as("creator").create(&map).await.unwrap();
    let unrecorded = json!({"metadata": {"managedFields": [{}]}});
    world.cluster.act_as("creator").merge_patch(&target, unrecorded).await.unwrap();
    let theirs = json!({"data": {"a": "helm's"}});
    world.cluster.act_as("helm").merge_patch(&target, theirs).await.unwrap();
    let mut other = map.clone();
    for data in [json!({"a": "ours"}), json!({"a": "ours", "b": "ours"})] {
        let state = import(&world, "it").await;
        other["data"] = data;
        let plan = replan(&world, &world.config(&other.to_string()), &state).await.unwrap();
        let told = said(&plan.diagnostics);
        let fields = other["data"].as_object().unwrap();
        let words = if fields.len() == 1 { "1 field will change" } else { "2 fields will change" };
        assert!(told.contains(words), "{told}");
        for field in fields.keys() {
            let line = format!("data.{field} ");
            assert_eq!(told.matches(&line).count(), 1, "{told}");
        }
    }
}

/// A ConfigMap that `helm` makes, in a test where it may come at any time.
fn theirs(world: &World) -> Json {
    let mut map = object("v1", "ConfigMap", "it", world.namespace.name());
    map["data"] = json!({"a": "theirs"});
    map
}

fn ours(world: &World) -> Json {
    let mut map = theirs(world);
    map["data"] = json!({"a": "ours"});
    map
}

#[tokio::test]
async fn an_object_that_appears_after_the_plan_is_not_taken_over_before_a_plan_shows_it() {
    let world = World::new().await;
    let config = adopting(&world, &ours(&world));
    let plan = world.newest_core().plan(OBJECT, &config, None).await.unwrap();
    world.cluster.act_as("helm").apply(theirs(&world)).await.unwrap();
    let told = refused(world.newest_core().apply(OBJECT, &config, None, &plan).await);
    assert!(told.contains("appeared after the plan was made") && told.contains("`helm`"), "{told}");
    let live = world.cluster.read(&Target::of(&ours(&world)).unwrap()).await.unwrap().unwrap();
    assert_eq!(live["data"], json!({"a": "theirs"}));

    let plan = world.newest_core().plan(OBJECT, &config, None).await.unwrap();
    assert!(said(&plan.diagnostics).contains("`helm`"));
    world.newest_core().apply(OBJECT, &config, None, &plan).await.unwrap();
}

#[tokio::test]
async fn a_takeover_of_which_an_older_client_hands_over_no_plan_is_warned_of_in_the_apply() {
    let world = World::new().await;
    let config = adopting(&world, &ours(&world));
    let plan = world.core().plan(OBJECT, &config, None).await.unwrap();
    world.cluster.act_as("helm").apply(theirs(&world)).await.unwrap();
    let made = world.core().apply(OBJECT, &config, None, &plan).await.unwrap();
    let told = said(&made.diagnostics);
    assert!(told.contains("data.a") && told.contains("`helm`"), "{told}");
}

#[tokio::test]
async fn an_object_that_appears_during_the_apply_is_not_taken_over() {
    let world = World::new().await;
    let proxy = Proxy::before(world.cluster).await.unwrap();
    let (helm, theirs) = (world.cluster.act_as("helm"), theirs(&world));
    let appears = proxy::Action::new(move |_| {
        let (helm, theirs) = (helm.clone(), theirs.clone());
        async move { helm.apply(theirs).await.map(drop) }
    });
    let write = Which::any().method(Method::PATCH).persistence(Persistence::Real);
    let appeared = proxy.rule(Rule::new(write, Turn::Nth(1), Fate::Before(appears)));
    let config = world.config_through(&proxy.kubeconfig(), &ours(&world).to_string());
    let config = with(config, &[("adopt", Value::from(true))]);
    let told = refused(world.core().create(OBJECT, &config).await);
    assert_eq!((appeared.fired().len(), appeared.failures()), (1, vec![]));
    assert!(told.contains("appeared after the plan was made"), "{told}");
    let live = world.cluster.read(&Target::of(&ours(&world)).unwrap()).await.unwrap().unwrap();
    assert_eq!(live["data"], json!({"a": "theirs"}));
}
