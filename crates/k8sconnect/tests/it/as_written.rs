//! What is sent is the body of this run: nothing that state or private state keeps takes its place.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use http::Method;
use serde_json::{Value as Json, json};
use testkit::audit::Persistence;
use testkit::owners::managers_of;
use testkit::proxy::{Action as Deed, Fate, Proxy, Rule, Turn, Which};
use testkit::{Filter, Means, Request, Rewriter, Target, reworded};
use tfplugin::harness::{Action, State};
use tfplugin::{Data, Value};

use crate::entangled::replan;
use crate::patch::{leaves, said};
use crate::unserved::definition;
use crate::world::{OBJECT, World};

/// How long a server may take to go by another definition.
const PATIENCE: Duration = Duration::from_secs(30);

/// Plans in one process and applies in another, as Terraform does.
async fn carry_out(world: &World, config: &Value, state: &State) -> State {
    let core = world.core();
    let read = core.read(OBJECT, state).await.unwrap().present().unwrap();
    let plan = core.plan(OBJECT, config, Some(&read)).await.unwrap();
    assert_eq!(plan.action, Action::Update, "{}", said(&plan.diagnostics));
    world.core().apply(OBJECT, config, Some(&read), &plan).await.unwrap().present().unwrap()
}

async fn is_settled(world: &World, config: &Value, state: &State) {
    let plan = replan(world, config, state).await.unwrap();
    assert_eq!((plan.action, said(&plan.diagnostics).as_str()), (Action::NoOp, ""));
}

/// A kind with a default, which can be another one later.
fn defaulting(world: &World, default: &str) -> Json {
    let text = json!({"type": "string"});
    let spec = json!({"type": "object", "properties":
        {"def": {"type": "string", "default": default}, "other": text}});
    let mut definition = definition(world, "Namespaced", &[("v1", true, true)]);
    definition["spec"]["versions"][0]["schema"]["openAPIV3Schema"] =
        json!({"type": "object", "properties": {"spec": spec}});
    definition
}

#[tokio::test]
async fn a_default_that_is_written_out_is_a_change_and_stays_when_the_default_changes() {
    let world = World::new().await;
    let (ns, admin) = (world.namespace.name(), world.cluster.act_as("admin"));
    admin.apply(defaulting(&world, "d")).await.unwrap();
    world.await_served(&defaulting(&world, "d")).await;
    let widget = |def: Json| {
        json!({"apiVersion": format!("{ns}.example.com/v1"), "kind": "Widget",
            "metadata": {"name": "it", "namespace": ns}, "spec": {"def": def, "other": "x"}})
    };
    let config = |def: Json| world.config(&widget(def).to_string());
    let target = Target::of(&widget(Json::Null)).unwrap();
    let state = world.create(&widget(Json::Null).to_string()).await.unwrap();

    let plan = replan(&world, &config(json!("d")), &state).await.unwrap();
    let text = Value::from(widget(json!("d")).to_string().as_str());
    assert_eq!(plan.planned.attribute("yaml_body"), Some(&text));
    let state = carry_out(&world, &config(json!("d")), &state).await;
    is_settled(&world, &config(json!("d")), &state).await;

    let later = defaulting(&world, "e");
    let versions = json!({"spec": {"versions": later["spec"]["versions"]}});
    let defined = Target::of(&later).unwrap();
    admin.merge_patch(&defined, versions).await.unwrap();
    let mut probe = widget(Json::Null);
    probe["metadata"]["name"] = json!("probe");
    let deadline = Instant::now() + PATIENCE;
    // A server that goes over to another definition may refuse a request or two.
    while !matches!(admin.create(&probe).await, Ok(made) if made["spec"]["def"] == "e") {
        assert!(Instant::now() < deadline, "the default stays as it was");
        let _ = world.cluster.delete(&Target::of(&probe).unwrap()).await;
    }
    let drift = json!({"spec": {"other": "drift"}});
    world.cluster.act_as("rival").merge_patch(&target, drift).await.unwrap();
    let state = carry_out(&world, &config(json!("d")), &state).await;
    let live = world.cluster.read(&target).await.unwrap().unwrap();
    assert_eq!(live["spec"], json!({"def": "d", "other": "x"}));
    is_settled(&world, &config(json!("d")), &state).await;
    // The other way round it is a change too.
    let plan = replan(&world, &config(Json::Null), &state).await.unwrap();
    assert_eq!(plan.action, Action::Update);
    world.core().destroy(OBJECT, &state).await.unwrap();
    world.cluster.delete(&defined).await.unwrap();
}

/// Of this kind nobody changes anything by himself.
fn template(world: &World, color: &str) -> Json {
    json!({"apiVersion": "v1", "kind": "PodTemplate",
        "metadata": {"name": "it", "namespace": world.namespace.name(), "labels": {"color": color}},
        "template": {"metadata": {"labels": {"app": "it"}}, "spec": {"containers": [
            {"name": "app", "image": "app:1", "resources": {"limits": {"cpu": "1000m"}}}]}}})
}

/// The same limit in the server's spelling, by another manager.
async fn share(world: &World) {
    let mut shared = template(world, "red");
    shared["metadata"]["labels"].take();
    shared["template"] = json!({"spec": {"containers": [
        {"name": "app", "resources": {"limits": {"cpu": "1"}}}]}});
    world.cluster.act_as("flux").apply(shared).await.unwrap();
}

async fn is_shared(world: &World) -> bool {
    let target = Target::of(&template(world, "red")).unwrap();
    let live = world.cluster.read(&target).await.unwrap().unwrap();
    let key = r#"k:{"name":"app"}"#;
    let limit = ["f:template", "f:spec", "f:containers", key, "f:resources", "f:limits", "f:cpu"];
    managers_of(&live, &limit) == ["flux".to_owned(), "k8sconnect".to_owned()].into()
}

/// Changes the color, and counts what plan and apply ask.
async fn counted(world: &World, color: &str, state: &State) -> (State, [Vec<String>; 2]) {
    let config = world.config(&template(world, color).to_string());
    let user = || Filter::by_user(&world.user);
    let short = |asked: Vec<Request>| -> Vec<String> {
        let objects = asked.iter().filter(|it| it.path().contains("/podtemplates/"));
        objects.map(Request::in_short).collect()
    };
    let core = world.core();
    let planning = async {
        let read = core.read(OBJECT, state).await.unwrap().present().unwrap();
        (core.plan(OBJECT, &config, Some(&read)).await.unwrap(), read)
    };
    let ((plan, read), planned) = world.cluster.count_during(user(), planning).await.unwrap();
    assert_eq!(said(&plan.diagnostics), "", "nothing is taken");
    let core = world.core();
    let applying = core.apply(OBJECT, &config, Some(&read), &plan);
    let (made, applied) = world.cluster.count_during(user(), applying).await.unwrap();
    (made.unwrap().present().unwrap(), [short(planned), short(applied)])
}

#[tokio::test]
async fn a_leaf_in_another_spelling_costs_a_second_dry_run_only_where_others_own_it_too() {
    let world = World::new().await;
    let state = world.create(&template(&world, "red").to_string()).await.unwrap();
    let (state, asked) = counted(&world, "blue", &state).await;
    let alone = [vec!["get", "patch (dry-run)"], vec!["patch (dry-run)", "patch"]];
    assert_eq!(asked, alone);

    share(&world).await;
    let (state, asked) = counted(&world, "green", &state).await;
    assert!(is_shared(&world).await, "{asked:?}");
    let dry_run = "patch (dry-run)";
    let joined = [vec!["get", dry_run, dry_run], vec![dry_run, dry_run, dry_run, "patch"]];
    assert_eq!(asked, joined, "the apply meets a manager that it did not know of");
    let (state, asked) = counted(&world, "red", &state).await;
    assert!(is_shared(&world).await);
    assert_eq!(asked, [vec!["get", dry_run, dry_run], vec![dry_run, dry_run, "patch"]]);
    is_settled(&world, &world.config(&template(&world, "red").to_string()), &state).await;
}

#[tokio::test]
async fn an_apply_whose_plan_sent_no_dry_run_takes_no_leaf_from_a_co_owner() {
    let world = World::new().await;
    let ignoring = |path: &str| {
        let paths = Value::Known(Data::List(vec![Value::from(path)]));
        let body = template(&world, "red").to_string();
        world.config_with([("yaml_body", Value::from(body.as_str())), ("ignore_fields", paths)])
    };
    let [before, after] = ["metadata.labels.color", "metadata.labels['color']"].map(ignoring);
    let state = world.core().create(OBJECT, &before).await.unwrap();
    share(&world).await;
    let state = carry_out(&world, &after, &state).await;
    assert!(is_shared(&world).await);
    is_settled(&world, &after, &state).await;
}

#[tokio::test]
async fn private_state_keeps_what_the_server_answered_and_the_next_plan_is_empty() {
    let world = World::new().await;
    let body = world.config_map("settings");
    let target = Target::new("v1", "ConfigMap", world.namespace.name(), "settings");
    let proxy = Proxy::before(world.cluster).await.unwrap();
    let config = world.config_through(&proxy.kubeconfig(), &body);
    // It begins between the last dry-run and the write.
    let imposed = Arc::new(Mutex::new(None));
    let (slot, cluster, named) = (Arc::clone(&imposed), world.cluster, target.clone());
    let impose = Deed::new(move |_| {
        let (slot, named) = (Arc::clone(&slot), named.clone());
        async move {
            let words = ["hello", "mirrored"];
            let rewriter = Rewriter::impose(cluster, Means::Webhook, &named, words).await;
            rewriter.map(|rewriter| *slot.lock().unwrap() = rewriter)
        }
    });
    let write = Which::any().method(Method::PATCH).persistence(Persistence::Real);
    proxy.rule(Rule::new(write, Turn::Nth(1), Fate::Before(impose)));
    let made = world.core().create(OBJECT, &config).await.unwrap();
    assert_eq!(leaves(&made)["data.greeting"], "hello", "as it was planned");
    let kept = testkit::kept(&made.private).unwrap().concat();
    assert!(kept.contains("mirrored") && !kept.contains("hello"), "{kept}");
    is_settled(&world, &config, &made).await;

    let rewriter = imposed.lock().unwrap().take().unwrap();
    rewriter.lift().await.unwrap();
    is_settled(&world, &config, &made).await;
    let more = world.config_through(&proxy.kubeconfig(), &format!("{body}  more: x\n"));
    let state = carry_out(&world, &more, &made).await;
    assert_eq!(leaves(&state)["data.greeting"], "hello");
    let live = world.cluster.read(&target).await.unwrap().unwrap();
    assert_eq!(live["data"]["greeting"], "hello");
}

#[tokio::test]
async fn private_state_that_was_edited_is_not_sent() {
    let world = World::new().await;
    let body = world.config_map("settings");
    let state = world.create(&body).await.unwrap();
    let private = reworded(&state.private, "hello", "malice").unwrap();
    let state = State { private, ..state };
    let state = carry_out(&world, &world.config(&format!("{body}  more: x\n")), &state).await;
    let target = Target::new("v1", "ConfigMap", world.namespace.name(), "settings");
    let live = world.cluster.read(&target).await.unwrap().unwrap();
    assert_eq!(live["data"], json!({"greeting": "hello", "more": "x"}));
    assert_eq!(leaves(&state)["data.greeting"], "hello");
}
