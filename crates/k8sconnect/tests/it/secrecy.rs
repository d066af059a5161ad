//! Hiding changes what is shown and nothing else, for every kind.

use k8sconnect_core::field::{FieldPath, PathElement};
use k8sconnect_core::owners::Owners;
use k8sconnect_core::text::nfc;
use serde_json::Value as Json;
use testkit::Target;
use testkit::specimens::Exhibit;
use tfplugin::harness::{Action, State};
use tfplugin::{Capabilities, Data, Value};

use crate::world::{OBJECT, World};

fn projection(state: &State) -> Vec<(String, String)> {
    let Value::Known(Data::Map(leaves)) = state.attribute("managed_state_projection") else {
        panic!("there is no projection");
    };
    let text = |value: &Value| value.known().and_then(Data::as_str).unwrap().to_owned();
    leaves.iter().map(|(path, leaf)| (path.clone(), text(leaf))).collect()
}

fn hiding(world: &World, kind: &Exhibit, paths: &[String]) -> Value {
    let paths = paths.iter().map(|path| Value::from(path.as_str())).collect();
    world.config_with([
        ("yaml_body", Value::from(nfc(&kind.text))),
        ("sensitive_fields", Value::Known(Data::List(paths))),
    ])
}

fn never_stored(world: &World, kind: &Exhibit, version: &str) -> Value {
    world.config_with([
        ("yaml_body_wo", Value::from(nfc(&kind.text))),
        ("yaml_body_wo_version", Value::from(version)),
    ])
}

/// The object without what controllers write.
async fn written(world: &World, kind: &Exhibit) -> Json {
    let target = Target::of(&kind.value).unwrap();
    let mut live = world.cluster.read(&target).await.unwrap().unwrap();
    let owners = Owners::of_object(&live).unwrap();
    let ours = owners.applied_by("k8sconnect").members();
    live["ours"] = ours.iter().map(ToString::to_string).collect();
    live["status"] = Json::Null;
    let metadata = live["metadata"].as_object_mut().unwrap();
    metadata.retain(|name, _| ["name", "labels", "uid", "generation"].contains(&name.as_str()));
    live
}

/// Whether the object stands as it did.
async fn stands(world: &World, kind: &Exhibit, before: &Json) -> Result<(), String> {
    let now = written(world, kind).await;
    if now == *before {
        return Ok(());
    }
    Err(format!("the object was changed:\n  from {before}\n  to   {now}"))
}

/// Members of sets and key fields of items stand in their own paths.
fn can_be_hidden(path: &str) -> bool {
    let path: FieldPath = path.parse().unwrap();
    let is_member = |element: &PathElement| matches!(element, PathElement::Value(_));
    !path.names_its_item() && !path.elements().iter().any(is_member)
}

/// Whether a fresh process finds nothing to do.
async fn is_calm(world: &World, config: &Value, stored: &State) -> Result<(), String> {
    let core = world.core();
    let read = core.read(OBJECT, stored).await.and_then(|outcome| outcome.present());
    let read = read.map_err(|failure| failure.to_string())?;
    let plan = core.plan(OBJECT, config, Some(&read)).await.map_err(|f| f.to_string())?;
    if plan.action == Action::NoOp && plan.diagnostics.is_empty() {
        return Ok(());
    }
    Err(format!("{:?}, {:?}", plan.action, plan.diagnostics))
}

async fn update(world: &World, config: &Value, stored: &State) -> Result<State, String> {
    world.core().update(OBJECT, config, stored).await.map_err(|failure| failure.to_string())
}

/// Hides all leaves of an object, and shows them again.
async fn hide_and_show(world: &World, kind: &Exhibit, state: &State) -> Result<(), String> {
    let mut shown = projection(state);
    // A map that was written empty shows until our own mark stands in it, which is from the first
    // update on, whatever is hidden.
    shown.retain(|(path, _)| path != "metadata.annotations");
    let paths: Vec<_> =
        shown.iter().map(|(path, _)| path.clone()).filter(|path| can_be_hidden(path)).collect();
    let (before, config) = (written(world, kind).await, hiding(world, kind, &paths));
    let hidden = update(world, &config, state).await?;
    stands(world, kind, &before).await?;
    for (path, text) in projection(&hidden) {
        if !text.starts_with("(sensitive, hash ") && can_be_hidden(&path) {
            return Err(format!("`{path}` is shown: {text}"));
        }
    }
    is_calm(world, &config, &hidden).await?;
    let plain = world.config(&kind.text);
    let again = update(world, &plain, &hidden).await?;
    is_calm(world, &plain, &again).await?;
    let (now, then) = (projection(&again), shown);
    let only_in = |these: &[(String, String)], those: &[(String, String)]| -> Vec<_> {
        these.iter().filter(|leaf| !those.contains(leaf)).cloned().collect()
    };
    if now != then {
        let (gained, lost) = (only_in(&now, &then), only_in(&then, &now));
        return Err(format!("other leaves than before: {gained:?} instead of {lost:?}"));
    }
    stands(world, kind, &before).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_leaf_of_every_kind_can_be_hidden_and_shown_again_without_a_change() {
    let world = World::new().await;
    let kinds = world.kinds();
    let mut failures = Vec::new();
    for kind in &kinds {
        let state = world.make(kind).await;
        if let Err(why) = hide_and_show(&world, kind, &state).await {
            failures.push(format!("{}: {why}", kind.name));
        }
    }
    world.clear(&kinds).await;
    assert!(failures.is_empty(), "{}", failures.join("\n\n"));
}

#[tokio::test]
async fn a_client_that_would_store_what_is_write_only_is_refused() {
    let world = World::new().await;
    let kind = &world.kinds()[0];
    let core = world.core().with_capabilities(Capabilities::default());
    let refused = core.validate(OBJECT, &never_stored(&world, kind, "1")).await.unwrap_err();
    assert!(
        refused.to_string().contains("A write-only attribute cannot be used here"),
        "{refused}"
    );
}

/// Takes an object that is there over without storing its body, and says it anew.
async fn give_without_storing(world: &World, kind: &Exhibit, state: &State) -> Result<(), String> {
    let before = written(world, kind).await;
    let first = never_stored(world, kind, "1");
    let unstored = update(world, &first, state).await?;
    if !unstored.attribute("yaml_body").is_null() || !unstored.attribute("yaml_body_wo").is_null() {
        return Err("the body is stored".to_owned());
    }
    is_calm(world, &first, &unstored).await?;
    stands(world, kind, &before).await?;
    let second = never_stored(world, kind, "2");
    let anew = update(world, &second, &unstored).await?;
    is_calm(world, &second, &anew).await?;
    if projection(&anew).iter().any(|(_, text)| !text.starts_with("(sensitive, hash ")) {
        return Err(format!("a value is shown: {:?}", projection(&anew)));
    }
    stands(world, kind, &before).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_kind_can_be_given_by_a_body_that_is_never_stored() {
    let world = World::new().await;
    let kinds = world.kinds();
    let mut failures = Vec::new();
    let mut refused = Vec::new();
    for kind in &kinds {
        let state = world.make(kind).await;
        match give_without_storing(&world, kind, &state).await {
            Ok(()) => {}
            Err(why) if why.contains("cannot be hidden") => refused.push(kind.name.as_str()),
            Err(why) => failures.push(format!("{}: {why}", kind.name)),
        }
    }
    world.clear(&kinds).await;
    assert!(failures.is_empty(), "{}", failures.join("\n\n"));
    // Members of sets stand in their own paths.
    refused.sort_unstable();
    assert_eq!(refused, ["cr-garden", "csidriver", "validatingadmissionpolicybinding"]);
}

/// What is said where a body is refused.
async fn refusal(world: &World, config: Value) -> String {
    let failure = world.core().plan(OBJECT, &config, None).await.unwrap_err();
    failure.diagnostics().iter().map(|one| one.detail.clone()).collect()
}

#[tokio::test]
async fn what_is_wrong_with_a_secret_is_told_in_full_and_without_its_values() {
    let world = World::new().await;
    let secret = |name: &str, rest: &str| {
        let metadata = format!("name: {name}, namespace: {}", world.namespace);
        format!("{{apiVersion: v1, kind: Secret, metadata: {{{metadata}}}, {rest}}}")
    };
    let body = secret("typed", "stringData: {x: 12345678, b: true, c: [hunter2]}");
    let told = refusal(&world, world.config(&body)).await;
    for place in [".stringData.b", ".stringData.c", ".stringData.x"] {
        assert!(told.contains(place), "{told}");
    }
    assert!(!told.contains("12345678") && !told.contains("hunter2"), "{told}");

    // A message that has the value among the server's own words is not shown at all.
    let body = secret("I_ab", "stringData: {x: ab}");
    let told = refusal(&world, world.config(&body)).await;
    assert!(told.contains("Secret \"I_ab\" is invalid: metadata.name: Invalid value"), "{told}");
    let body = secret("I_ab", "stringData: {x: Invalid value}");
    let told = refusal(&world, world.config(&body)).await;
    assert!(told.contains("metadata.name: its value is not valid"), "{told}");
    assert!(!told.contains("(sensitive)") && !told.contains("Invalid value"), "{told}");
}

#[tokio::test]
async fn causes_that_read_alike_without_their_values_are_one_line() {
    let world = World::new().await;
    let labels = "labels: {a: 'no good 1', b: 'no good 2', c: 'no good 3'}";
    let body = format!(
        "{{apiVersion: v1, kind: ConfigMap, metadata: {{name: s, namespace: {}, {labels}}}}}",
        world.namespace
    );
    let config = world.config_with([
        ("yaml_body_wo", Value::from(nfc(&body))),
        ("yaml_body_wo_version", Value::from("1")),
    ]);
    let told = refusal(&world, config).await;
    assert_eq!(told.matches("metadata.labels: its value is not valid").count(), 1, "{told}");
}
