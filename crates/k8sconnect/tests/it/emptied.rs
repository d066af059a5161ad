//! What a body says is empty, and others hold parts of, stays: the plan that brings it tells.

use serde_json::{Value as Json, json};
use testkit::Target;
use tfplugin::Value;
use tfplugin::harness::State;

use crate::adoption::{adopting, change, import};
use crate::entangled::{deployment, replan};
use crate::patch::{object, said};
use crate::things::{serve, thing};
use crate::world::{OBJECT, World};

/// The Deployment with another part of its pod.
fn with(mut web: Json, name: &str, value: &Json) -> Json {
    web["spec"]["template"]["spec"][name] = value.clone();
    web
}

/// A part of the Deployment, as a rival applies it.
fn affinity(world: &World) -> Json {
    let mut web = object("apps/v1", "Deployment", "web", world.namespace.name());
    web["spec"] = json!({"template": {"spec": {"affinity": {"podAntiAffinity": {
        "requiredDuringSchedulingIgnoredDuringExecution": [
            {"topologyKey": "zone", "labelSelector": {"matchLabels": {"app": "web"}}}]}}}}});
    web
}

async fn told(world: &World, config: &Value, state: &State) -> String {
    said(&replan(world, config, state).await.unwrap().diagnostics)
}

#[tokio::test]
async fn an_emptied_field_of_which_others_hold_parts_is_told_with_them_once() {
    let world = World::new().await;
    let web = deployment(&world);
    let mut state = world.create(&web.to_string()).await.unwrap();
    world.cluster.act_as("rival").apply(affinity(&world)).await.unwrap();
    for empty in [json!(null), json!({})] {
        let emptied = with(web.clone(), "affinity", &empty);
        let config = world.config(&emptied.to_string());
        let news = told(&world, &config, &state).await;
        let line = format!("spec.template.spec.affinity written {empty} held by `rival` (Apply, ");
        assert!(news.contains(&line), "{news}");
        assert!(news.contains("kept {\"podAntiAffinity\":{"), "{news}");
        assert!(!news.contains("-replace"), "{news}");
        state = change(&world, &config, &state).await;
        let live = world.cluster.read(&Target::of(&web).unwrap()).await.unwrap().unwrap();
        assert!(live["spec"]["template"]["spec"]["affinity"].get("podAntiAffinity").is_some());
        // Another edit does not bring it.
        let mut edited = emptied.clone();
        edited["spec"]["minReadySeconds"] = json!(3);
        for body in [emptied, edited] {
            assert_eq!(told(&world, &world.config(&body.to_string()), &state).await, "");
        }
    }
}

#[tokio::test]
async fn of_what_an_empty_field_gets_from_the_server_nothing_is_said() {
    let world = World::new().await;
    let web = deployment(&world);
    // Whoever creates an object without applying holds the defaults as well.
    let creator = world.cluster.act_as("kubectl-create");
    for exists in [false, true] {
        let config = |body: &Json| adopting(&world, body);
        if exists {
            creator.create(&web).await.unwrap();
        }
        let mut emptied = with(web.clone(), "nodeSelector", &json!(null));
        emptied["spec"]["strategy"] = json!(null);
        emptied = with(emptied, "securityContext", &json!({}));
        emptied["metadata"]["annotations"] = json!(null);
        let container = &mut emptied["spec"]["template"]["spec"]["containers"][0];
        container["resources"] = json!(null);
        container["env"] = json!([]);
        let first = world.core().plan(OBJECT, &config(&emptied), None).await.unwrap();
        let state = world.core().create(OBJECT, &config(&web)).await.unwrap();
        let later = told(&world, &config(&emptied), &state).await;
        for told in [said(&first.diagnostics), later] {
            assert!(!told.contains("emptied") && !told.contains("-replace"), "{exists}: {told}");
        }
        world.core().destroy(OBJECT, &state).await.unwrap();
    }
}

#[tokio::test]
async fn an_emptied_map_or_list_names_only_what_others_hold_in_it() {
    let world = World::new().await;
    serve(&world).await;
    let body = |content: Json| thing(&world, "it", content);
    let state = world.create(&body(json!({"free": {"a": 1}})).to_string()).await.unwrap();
    let theirs = json!({"free": {"b": 2}, "set": ["x"], "keyed": [{"name": "k", "val": "v"}],
        "lists": {"l": ["y"]}, "maybe": {"a": "q"}});
    world.cluster.act_as("rival").apply(body(theirs)).await.unwrap();
    for (content, kept) in [
        (json!({"free": {}}), "free written {} held by `rival` (Apply, "),
        (json!({"free": {"a": 1}, "set": []}), "set written [] held by `rival` (Apply, "),
        (json!({"free": {"a": 1}, "keyed": null}), "keyed written null held by `rival` (Apply, "),
        (json!({"free": {"a": 1}, "maybe": null}), "maybe written null held by `rival` (Apply, "),
        (json!({"free": {"a": 1}, "maybe": {}}), "maybe written {} held by `rival` (Apply, "),
        (json!({"free": {"a": 1}, "lists": {}}), "lists written {} held by `rival` (Apply, "),
    ] {
        let config = world.config(&body(content).to_string());
        let told = told(&world, &config, &state).await;
        assert!(told.contains(kept), "{told}");
        assert!(!told.contains("-replace"), "{told}");
        assert!(!told.contains("\"a\":1"), "what was ours goes: {told}");
    }
    let ignoring = world.config_with([
        ("yaml_body", Value::from(body(json!({"free": {"a": 1}, "set": []})).to_string())),
        ("ignore_fields", Value::Known(tfplugin::Data::List(vec![Value::from("set")]))),
    ]);
    assert_eq!(told(&world, &ignoring, &state).await, "");
}

#[tokio::test]
async fn what_others_hold_of_an_emptied_secret_is_not_shown() {
    let world = World::new().await;
    let mut secret = object("v1", "Secret", "it", world.namespace.name());
    let state = world.create(&secret.to_string()).await.unwrap();
    secret["stringData"] = json!({"k": "hunter2"});
    world.cluster.act_as("rival").merge_patch(&Target::of(&secret).unwrap(), secret).await.unwrap();
    let mut emptied = object("v1", "Secret", "it", world.namespace.name());
    emptied["data"] = json!({});
    let told = told(&world, &world.config(&emptied.to_string()), &state).await;
    assert!(told.contains("data held by `rival`"), "{told}");
    assert!(!told.contains("aHVudGVyMg") && !told.contains("hunter2"), "{told}");
}

#[tokio::test]
async fn nulls_all_over_an_object_are_told_where_others_hold_something_and_the_advice_works() {
    let world = World::new().await;
    let web = deployment(&world);
    let mut state = world.create(&web.to_string()).await.unwrap();
    let target = Target::of(&web).unwrap();
    let mut theirs = object("apps/v1", "Deployment", "web", world.namespace.name());
    theirs["metadata"]["labels"] = json!({"tier": "web"});
    theirs["metadata"]["annotations"] = json!({"note": "x"});
    let container = json!({"name": "main", "resources": {"limits": {"cpu": "1"}},
        "livenessProbe": {"tcpSocket": {"port": 80}}});
    theirs["spec"] = json!({"template": {"spec": {"securityContext": {"runAsUser": 5},
        "containers": [container]}}});
    let rival = world.cluster.act_as("rival");
    rival.apply(&theirs).await.unwrap();
    let mut emptied = with(web.clone(), "securityContext", &json!(null));
    emptied["metadata"]["labels"] = json!(null);
    emptied["metadata"]["annotations"] = json!(null);
    let container = &mut emptied["spec"]["template"]["spec"]["containers"][0];
    container["resources"] = json!(null);
    container["livenessProbe"] = json!(null);
    let config = world.config(&emptied.to_string());
    let news = told(&world, &config, &state).await;
    assert!(news.contains("5 emptied fields will keep what others hold"), "{news}");
    assert!(news.contains(r#"kept {"note":"x"}"#), "only what is theirs: {news}");
    assert!(news.contains("containers[name=main].livenessProbe written null"), "{news}");
    state = change(&world, &config, &state).await;
    // Left out, and removed with the manager that holds it.
    state = change(&world, &world.config(&web.to_string()), &state).await;
    theirs.as_object_mut().unwrap().remove("spec");
    rival.apply(&theirs).await.unwrap();
    let live = world.cluster.read(&target).await.unwrap().unwrap();
    let pod = &live["spec"]["template"]["spec"];
    assert_eq!(pod["securityContext"], json!({}));
    assert_eq!(pod["containers"][0].get("livenessProbe"), None);
    // Written with values of one's own.
    let mut labelled = web;
    let mut told_of = String::new();
    for labels in [json!({"tier": "ours"}), json!(null)] {
        labelled["metadata"]["labels"] = labels;
        let config = world.config(&labelled.to_string());
        told_of = told(&world, &config, &state).await;
        state = change(&world, &config, &state).await;
    }
    assert_eq!(told_of, "");
    let live = world.cluster.read(&target).await.unwrap().unwrap();
    assert_eq!(live["metadata"].get("labels"), None);
}

#[tokio::test]
async fn what_a_first_write_empties_and_leaves_to_others_is_told_with_them() {
    let world = World::new().await;
    let mut map = object("v1", "ConfigMap", "it", world.namespace.name());
    map["metadata"]["labels"] = json!({"l": "one"});
    map["metadata"]["finalizers"] = json!(["example.com/x"]);
    map["data"] = json!({"a": "b"});
    world.cluster.act_as("helm").apply(&map).await.unwrap();
    let mut emptied = object("v1", "ConfigMap", "it", world.namespace.name());
    emptied["metadata"]["labels"] = json!({});
    emptied["metadata"]["finalizers"] = json!([]);
    emptied["data"] = json!(null);
    let adopts = world.core().plan(OBJECT, &adopting(&world, &emptied), None).await.unwrap();
    let state = import(&world, "it").await;
    let imports = replan(&world, &world.config(&emptied.to_string()), &state).await.unwrap();
    for plan in [adopts, imports] {
        let told = said(&plan.diagnostics);
        assert!(told.contains("3 emptied fields will keep what others hold"), "{told}");
        let line = "metadata.finalizers written [] held by `helm` (Apply, ";
        assert!(told.contains(line) && told.contains(r#"kept ["example.com/x"]"#), "{told}");
        assert!(told.contains("data written null") && told.contains("labels written {}"), "{told}");
    }
    let freed = json!({"metadata": {"finalizers": null}});
    let target = Target::of(&map).unwrap();
    world.cluster.act_as("helm").merge_patch(&target, freed).await.unwrap();
}

#[tokio::test]
async fn an_empty_map_that_is_left_out_again_leaves_what_others_hold_in_it_without_a_word_of_defaults()
 {
    let world = World::new().await;
    let web = deployment(&world);
    let empty = with(web.clone(), "securityContext", &json!({}));
    let empty = with(empty, "volumes", &json!([{"name": "v", "emptyDir": {}}]));
    let state = world.create(&empty.to_string()).await.unwrap();
    let mut theirs = object("apps/v1", "Deployment", "web", world.namespace.name());
    theirs["spec"] = json!({"template": {"spec": {"securityContext": {"runAsUser": 5},
        "volumes": [{"name": "v", "emptyDir": {"sizeLimit": "1Gi"}}]}}});
    world.cluster.act_as("helm").apply(&theirs).await.unwrap();
    let news = told(&world, &world.config(&web.to_string()), &state).await;
    assert!(!news.contains("default"), "{news}");
    assert_eq!(news.matches("held by `helm`").count(), 1, "the item is told once: {news}");
    assert!(news.contains("volumes[name=v] held by `helm`"), "{news}");
}
