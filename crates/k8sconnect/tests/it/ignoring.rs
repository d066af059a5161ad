//! What `ignore_fields` says is taken as it is meant, and doubted aloud where it means nothing.

use serde_json::{Value as Json, json};
use testkit::Target;
use tfplugin::harness::{Action, PlanOutcome};
use tfplugin::{Data, Severity, Value};

use crate::adoption::change;
use crate::entangled::replan;
use crate::patch::{object, said};
use crate::things::{serve, thing};
use crate::world::{OBJECT, World, besides_the_credential};

pub(crate) fn with(config: Value, further: &[(&str, Value)]) -> Value {
    let Value::Known(Data::Object(mut config)) = config else {
        panic!("a configuration is an object");
    };
    config.extend(further.iter().map(|(name, value)| ((*name).to_owned(), value.clone())));
    Value::Known(Data::Object(config))
}

fn ignoring(entries: &[&str]) -> (&'static str, Value) {
    let entries = entries.iter().map(|entry| Value::from(*entry)).collect();
    ("ignore_fields", Value::Known(Data::List(entries)))
}

fn warnings(plan: &PlanOutcome) -> String {
    let warned = plan.diagnostics.iter().filter(|told| told.severity == Severity::Warning);
    warned.map(|told| format!("{}\n{}\n", told.summary, told.detail)).collect()
}

fn shows(plan: &PlanOutcome, path: &str) -> bool {
    let projection = plan.planned.attribute("managed_state_projection").and_then(Value::known);
    matches!(projection, Some(Data::Map(map)) if map.contains_key(path))
}

fn deployment(world: &World, image: &str) -> String {
    format!(
        "apiVersion: apps/v1\nkind: Deployment\nmetadata: {{name: a, namespace: {}}}\nspec:\n  \
         replicas: 0\n  selector: {{matchLabels: {{app: a}}}}\n  template:\n    metadata: {{labels: \
         {{app: a}}}}\n    spec: {{containers: [{{name: side, image: s}}, {{name: web, image: \
         {image}}}]}}\n",
        world.namespace.name()
    )
}

#[tokio::test]
async fn an_item_named_by_its_place_is_the_one_that_the_body_has_there() {
    let world = World::new().await;
    let ignored = [ignoring(&["spec.template.spec.containers[1].image"])];
    let config = with(world.config(&deployment(&world, "web:1")), &ignored);
    let core = world.core();
    let plan = core.plan(OBJECT, &config, None).await.unwrap();
    let told = warnings(&plan);
    assert!(told.contains("`spec.template.spec.containers[name=web].image`"), "{told}");
    assert!(!shows(&plan, "spec.template.spec.containers[name=web].image"));
    assert!(shows(&plan, "spec.template.spec.containers[name=side].image"));
    let state = core.apply(OBJECT, &config, None, &plan).await.unwrap().present().unwrap();

    let target = Target::new("apps/v1", "Deployment", world.namespace.name(), "a");
    let rival = serde_json::json!({"spec": {"template": {"spec": {"containers": [
        {"name": "web", "image": "web:9"}]}}}});
    world.cluster.act_as("ci").strategic_patch(&target, rival).await.unwrap();
    let core = world.core();
    let read = core.read(OBJECT, &state).await.unwrap().present().unwrap();
    let plan = core.plan(OBJECT, &config, Some(&read)).await.unwrap();
    assert_eq!(plan.action, Action::NoOp, "{}", warnings(&plan));
    assert_eq!(warnings(&plan), "");
}

#[tokio::test]
async fn an_entry_that_means_nothing_is_doubted_with_the_nearest_path() {
    let world = World::new().await;
    let entries = [
        "spec.replcas",
        "spec.template.spec.containers[name=web].env",
        "spec.progressDeadlineSeconds",
    ];
    let config = with(world.config(&deployment(&world, "web:1")), &[ignoring(&entries)]);
    let plan = world.core().plan(OBJECT, &config, None).await.unwrap();
    let told = warnings(&plan);
    assert!(told.contains("`spec.replcas`: did you mean `spec.replicas`?"), "{told}");
    assert!(told.contains("`spec.template.spec.containers[name=web].env`"), "{told}");
    assert!(!told.contains("progressDeadlineSeconds"), "the server puts it there: {told}");
}

#[tokio::test]
async fn string_data_that_is_ignored_is_ignored_as_data() {
    let world = World::new().await;
    let body = format!(
        "apiVersion: v1\nkind: Secret\nmetadata: {{name: a, namespace: {}}}\nstringData: {{user: u, \
         password: p}}\n",
        world.namespace.name()
    );
    let config = with(world.config(&body), &[ignoring(&["stringData.password"])]);
    let state = world.core().create(OBJECT, &config).await.unwrap();
    let target = Target::new("v1", "Secret", world.namespace.name(), "a");
    let rotated = serde_json::json!({"stringData": {"password": "q"}});
    world.cluster.act_as("vault").merge_patch(&target, rotated).await.unwrap();
    let core = world.core();
    let read = core.read(OBJECT, &state).await.unwrap().present().unwrap();
    let plan = core.plan(OBJECT, &config, Some(&read)).await.unwrap();
    assert_eq!(plan.action, Action::NoOp, "{}", warnings(&plan));
}

#[tokio::test]
async fn what_a_plan_does_not_need_may_be_unknown() {
    let world = World::new().await;
    let body = format!(
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: a, namespace: {}}}\ndata: {{k: v}}\n",
        world.namespace.name()
    );
    let late = [
        "apply_timeout",
        "delete_protection",
        "delete_timeout",
        "delete_propagation",
        "force_destroy",
    ];
    let late = late.map(|name| (name, Value::Unknown));
    let plan = world.core().plan(OBJECT, &with(world.config(&body), &late), None).await.unwrap();
    assert!(shows(&plan, "data.k"), "{:?}", plan.planned);
}

#[tokio::test]
async fn fields_to_ignore_that_are_not_known_yet_leave_the_projection_unknown_and_say_so() {
    let world = World::new().await;
    let body = format!(
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: a, namespace: {}}}\ndata: {{k: v}}\n",
        world.namespace.name()
    );
    let late = [("ignore_fields", Value::Unknown)];
    let config = with(world.config(&body), &late);
    let plan = world.core().plan(OBJECT, &config, None).await.unwrap();
    assert_eq!(plan.planned.attribute("managed_state_projection"), Some(&Value::Unknown));
    let told = "Objects whose `ignore_fields` is not known yet are planned without";
    assert!(warnings(&plan).contains(told), "{}", warnings(&plan));
    let known = with(world.config(&body), &[ignoring(&["data.k"])]);
    let core = world.core();
    let state = core.apply(OBJECT, &known, None, &plan).await.unwrap().present().unwrap();
    let read = core.read(OBJECT, &state).await.unwrap().present().unwrap();
    let plan = core.plan(OBJECT, &known, Some(&read)).await.unwrap();
    assert_eq!(plan.action, Action::NoOp, "{}", warnings(&plan));
}

#[tokio::test]
async fn a_key_read_as_a_boolean_is_told_once_a_plan() {
    let world = World::new().await;
    let body = format!(
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: a, namespace: {}}}\ndata: {{on: v}}\n",
        world.namespace.name()
    );
    let core = world.core();
    let validated = core.validate(OBJECT, &world.config(&body)).await.unwrap();
    let validated = besides_the_credential(validated);
    assert!(validated.is_empty(), "Terraform validates twice: {validated:?}");
    let plan = core.plan(OBJECT, &world.config(&body), None).await.unwrap();
    assert_eq!(warnings(&plan).matches("is read as a boolean").count(), 1);
    let state = core.create(OBJECT, &world.config(&body)).await.unwrap();
    let read = core.read(OBJECT, &state).await.unwrap().present().unwrap();
    let plan = core.plan(OBJECT, &world.config(&body), Some(&read)).await.unwrap();
    assert_eq!(warnings(&plan), "", "it was told when the body came");
}

/// The server deletes such a key with all that is in it as soon as we stop sending it.
#[tokio::test]
async fn what_is_ignored_in_a_map_of_maps_or_of_lists_outlives_every_other_change() {
    let world = World::new().await;
    serve(&world).await;
    let entries: &[&[&str]] = &[
        &["free.q.x", "lists.l"],
        &["free.q", "lists"],
        &["free.q.*", "lists.*"],
        &["manager=rival", "lists.l"],
        &["free", "lists"],
    ];
    for (n, entries) in entries.iter().enumerate() {
        let body = |other: &str| {
            let body = thing(
                &world,
                &format!("t{n}"),
                json!({"free": {"q": {"x": 2}, "r": 1}, "lists": {"l": ["a"]}, "other": other}),
            );
            with(world.config(&body.to_string()), &[ignoring(entries)])
        };
        let state = world.core().create(OBJECT, &body("one")).await.unwrap();
        let target = Target::of(&thing(&world, &format!("t{n}"), json!({}))).unwrap();
        let theirs = json!({"free": {"q": {"x": 7}}, "lists": {"l": ["b"]}});
        world.cluster.act_as("rival").merge_patch(&target, theirs.clone()).await.unwrap();

        let core = world.core();
        let read = core.read(OBJECT, &state).await.unwrap().present().unwrap();
        let plan = core.plan(OBJECT, &body("one"), Some(&read)).await.unwrap();
        assert_eq!(plan.action, Action::NoOp, "{entries:?}: {}", warnings(&plan));
        let plan = core.plan(OBJECT, &body("two"), Some(&read)).await.unwrap();
        assert_eq!(plan.action, Action::Update, "{entries:?}");
        let state = core.apply(OBJECT, &body("two"), Some(&read), &plan).await.unwrap();
        let live = world.cluster.read(&target).await.unwrap().unwrap();
        assert_eq!(live["free"], json!({"q": {"x": 7}, "r": 1}), "{entries:?}");
        assert_eq!(live["lists"], theirs["lists"], "{entries:?}");
        assert_eq!(live["other"], "two");

        let core = world.core();
        let read = core.read(OBJECT, &state.present().unwrap()).await.unwrap().present().unwrap();
        let plan = core.plan(OBJECT, &body("two"), Some(&read)).await.unwrap();
        assert_eq!(plan.action, Action::NoOp, "{entries:?}: {}", warnings(&plan));
    }
}

/// Found by fresh eyes: the removal was undone, silently or with the advice to ignore the field.
#[tokio::test]
async fn an_ignored_member_or_item_that_others_removed_is_neither_missed_nor_brought_back() {
    let world = World::new().await;
    serve(&world).await;
    let entries: &[&[&str]] = &[
        &["metadata.finalizers", "set", "keyed[name=b]"],
        &["metadata.finalizers[*]", r#"set[="b"]"#, "keyed"],
        &["metadata.finalizers", "set", r#"keyed[?(@.name=="b")]"#],
    ];
    for (n, entries) in entries.iter().enumerate() {
        let body = |other: &str| {
            let content = json!({"set": ["a", "b"], "other": other,
                "keyed": [{"name": "a", "val": "1"}, {"name": "b", "val": "2"}]});
            let mut body = thing(&world, &format!("t{n}"), content);
            body["metadata"]["finalizers"] = json!(["x.example.com/a", "x.example.com/b"]);
            with(world.config(&body.to_string()), &[ignoring(entries)])
        };
        let state = world.core().create(OBJECT, &body("one")).await.unwrap();
        let target = Target::of(&thing(&world, &format!("t{n}"), json!({}))).unwrap();
        let removal = json!({"metadata": {"finalizers": ["x.example.com/a"]}, "set": ["a"],
            "keyed": [{"name": "a", "port": 80, "val": "1"}]});
        world.cluster.act_as("rival").merge_patch(&target, removal.clone()).await.unwrap();

        let core = world.core();
        let read = core.read(OBJECT, &state).await.unwrap().present().unwrap();
        let plan = core.plan(OBJECT, &body("one"), Some(&read)).await.unwrap();
        assert_eq!(plan.action, Action::NoOp, "{entries:?}: {}", warnings(&plan));
        let plan = core.plan(OBJECT, &body("two"), Some(&read)).await.unwrap();
        assert_eq!(plan.action, Action::Update, "{entries:?}");
        assert_eq!(warnings(&plan), "", "{entries:?}");
        let state = core.apply(OBJECT, &body("two"), Some(&read), &plan).await.unwrap();
        let live = world.cluster.read(&target).await.unwrap().unwrap();
        assert_eq!(live["metadata"]["finalizers"], removal["metadata"]["finalizers"]);
        assert_eq!(live["set"], removal["set"], "{entries:?}");
        assert_eq!(live["keyed"], removal["keyed"], "{entries:?}");
        assert_eq!(live["other"], "two");

        let core = world.core();
        let read = core.read(OBJECT, &state.present().unwrap()).await.unwrap().present().unwrap();
        let plan = core.plan(OBJECT, &body("two"), Some(&read)).await.unwrap();
        assert_eq!(plan.action, Action::NoOp, "{entries:?}: {}", warnings(&plan));
        let released = json!({"metadata": {"finalizers": []}});
        world.cluster.act_as("rival").merge_patch(&target, released).await.unwrap();
    }
}

#[tokio::test]
async fn an_item_that_is_no_longer_written_goes_though_a_field_in_it_is_ignored() {
    let world = World::new().await;
    serve(&world).await;
    let body = |items: Json| {
        let body = thing(&world, "it", json!({ "keyed": items })).to_string();
        with(world.config(&body), &[ignoring(&["keyed[*].val"])])
    };
    let both = json!([{"name": "a", "val": "1"}, {"name": "b", "val": "2"}]);
    let state = world.core().create(OBJECT, &body(both)).await.unwrap();
    let other = body(json!([{"name": "c", "val": "1"}]));
    let core = world.core();
    let read = core.read(OBJECT, &state).await.unwrap().present().unwrap();
    let plan = core.plan(OBJECT, &other, Some(&read)).await.unwrap();
    assert_eq!(plan.action, Action::Update);
    core.apply(OBJECT, &other, Some(&read), &plan).await.unwrap();
    let target = Target::of(&thing(&world, "it", json!({}))).unwrap();
    let live = world.cluster.read(&target).await.unwrap().unwrap();
    assert_eq!(live["keyed"].as_array().unwrap().len(), 1, "{live:#}");
    assert_eq!(live["keyed"][0]["name"], "c");
}

#[tokio::test]
async fn what_goes_with_the_end_of_its_being_ignored_is_told() {
    let world = World::new().await;
    let mut map = crate::patch::object("v1", "ConfigMap", "it", world.namespace.name());
    map["data"] = json!({"a": "b", "k": "v"});
    let config =
        |body: &Json, entries: &[&str]| with(world.config(&body.to_string()), &[ignoring(entries)]);
    let state = world.core().create(OBJECT, &config(&map, &["data.k"])).await.unwrap();
    map["data"] = json!({"a": "b"});
    let core = world.core();
    let read = core.read(OBJECT, &state).await.unwrap().present().unwrap();
    let plan = core.plan(OBJECT, &config(&map, &[]), Some(&read)).await.unwrap();
    let told = warnings(&plan);
    assert!(told.contains("1 formerly ignored field will go"), "{told}");
    assert!(told.contains("data.k"), "{told}");
}

#[tokio::test]
async fn a_new_field_that_is_ignored_from_the_start_is_told_not_to_be_sent() {
    let world = World::new().await;
    let body = |data: Json| {
        let mut map = object("v1", "ConfigMap", "a", world.namespace.name());
        map["data"] = data;
        map
    };
    let old = body(json!({"k": "v"}));
    let state = world.create(&old.to_string()).await.unwrap();
    let theirs = json!({"data": {"there": "theirs"}});
    let target = Target::of(&old).unwrap();
    world.cluster.act_as("rival").merge_patch(&target, theirs).await.unwrap();
    let new = body(json!({"k": "v", "new": "x", "there": "y"})).to_string();
    let config = with(world.config(&new), &[ignoring(&["data.new", "data.there"])]);
    let plan = replan(&world, &config, &state).await.unwrap();
    let told = said(&plan.diagnostics);
    assert!(told.contains("1 new field will not be sent"), "{told}");
    assert!(told.contains("data.new") && !told.contains("data.there"), "{told}");
    let adopts = with(config.clone(), &[("adopt", Value::from(true))]);
    let adopts = world.core().plan(OBJECT, &adopts, None).await.unwrap();
    assert!(said(&adopts.diagnostics).contains("1 new field will not be sent"));
    let state = change(&world, &config, &state).await;
    let live = world.cluster.read(&target).await.unwrap().unwrap();
    assert_eq!(live["data"], json!({"k": "v", "there": "theirs"}));
    // Another edit does not bring it.
    let edited = body(json!({"k": "w", "new": "x", "there": "y"})).to_string();
    let config = with(world.config(&edited), &[ignoring(&["data.new", "data.there"])]);
    assert_eq!(said(&replan(&world, &config, &state).await.unwrap().diagnostics), "");
    // The advice works.
    let state = change(&world, &world.config(&edited), &state).await;
    let state = change(&world, &config, &state).await;
    let live = world.cluster.read(&target).await.unwrap().unwrap();
    assert_eq!(live["data"]["new"], "x");
    assert_eq!(replan(&world, &config, &state).await.unwrap().action, Action::NoOp);
}

#[tokio::test]
async fn a_new_item_that_is_ignored_from_the_start_is_told_by_its_key() {
    let world = World::new().await;
    let body = |env: &str| deployment(&world, &format!("web:1, env: [{env}]"));
    let state = world.create(&body("{name: A, value: '1'}")).await.unwrap();
    let more = world.config(&body("{name: A, value: '1'}, {name: C, value: '3'}"));
    for ignored in ["env", "env[*]", "env[name=C]"] {
        let ignored = format!("spec.template.spec.containers[name=web].{ignored}");
        let plan = replan(&world, &with(more.clone(), &[ignoring(&[&ignored])]), &state).await;
        let told = said(&plan.unwrap().diagnostics);
        assert!(told.contains("1 new field will not be sent"), "{told}");
        assert!(told.contains("containers[name=web].env[name=C]"), "{told}");
    }
}

#[tokio::test]
async fn what_the_user_changed_while_it_was_ignored_is_nobody_elses_change() {
    let world = World::new().await;
    let config = |value: &str, entries: &[&str]| {
        let mut map = object("v1", "ConfigMap", "a", world.namespace.name());
        map["data"] = json!({"a": value});
        with(world.config(&map.to_string()), &[ignoring(entries)])
    };
    let state = world.core().create(OBJECT, &config("1", &["data.a"])).await.unwrap();
    let plan = replan(&world, &config("2", &[]), &state).await.unwrap();
    assert_eq!((said(&plan.diagnostics).as_str(), plan.action), ("", Action::Update));
    let target = Target::new("v1", "ConfigMap", world.namespace.name(), "a");
    let theirs = json!({"data": {"a": "theirs"}});
    world.cluster.act_as("rival").merge_patch(&target, theirs).await.unwrap();
    let plan = replan(&world, &config("2", &[]), &state).await.unwrap();
    let told = said(&plan.diagnostics);
    // What it was at the last apply is not on record.
    assert!(told.contains("will be taken from other") && told.contains("`rival`"), "{told}");
}

#[tokio::test]
async fn what_a_manager_gives_back_is_set_again() {
    let world = World::new().await;
    let body = |other: &str| {
        let mut map = object("v1", "ConfigMap", "a", world.namespace.name());
        map["data"] = json!({"a": "1", "b": other});
        map
    };
    let config =
        |other: &str| with(world.config(&body(other).to_string()), &[ignoring(&["manager=keda"])]);
    let state = world.core().create(OBJECT, &config("1")).await.unwrap();
    let keda = world.cluster.act_as("keda").force();
    let mut theirs = object("v1", "ConfigMap", "a", world.namespace.name());
    theirs["data"] = json!({"a": "7", "keda": "is here"});
    keda.apply(&theirs).await.unwrap();
    // They hold it through a write of ours.
    let state = change(&world, &config("2"), &state).await;
    assert_eq!(replan(&world, &config("2"), &state).await.unwrap().action, Action::NoOp);
    theirs["data"] = json!({"keda": "is here"});
    keda.apply(&theirs).await.unwrap();
    let state = change(&world, &config("2"), &state).await;
    let live = world.cluster.read(&Target::of(&theirs).unwrap()).await.unwrap().unwrap();
    assert_eq!(live["data"], json!({"a": "1", "b": "2", "keda": "is here"}));
    assert_eq!(replan(&world, &config("2"), &state).await.unwrap().action, Action::NoOp);
}
