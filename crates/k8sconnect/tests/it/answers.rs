//! What is wrong is told, with the attribute, before anything is touched.

use serde_json::json;
use testkit::{Filter, Target};
use tfplugin::harness::{Action, Failure};
use tfplugin::{Data, Severity, Value};

use crate::world::{OBJECT, World};

/// The one error of a plan, and the attribute that it points at.
async fn refusal(world: &World, body: &str) -> (String, String) {
    let failure = world.core().plan(OBJECT, &world.config(body), None).await.unwrap_err();
    let Failure::Refused { diagnostics, .. } = failure else {
        panic!("{failure}");
    };
    let errors: Vec<_> = diagnostics.iter().filter(|one| one.severity == Severity::Error).collect();
    assert_eq!(errors.len(), 1, "{diagnostics:?}");
    let path = errors[0].path.as_ref().map(ToString::to_string).unwrap_or_default();
    (format!("{}\n{}", errors[0].summary, errors[0].detail), path)
}

#[tokio::test]
async fn a_body_that_is_no_object_is_refused_at_its_attribute_and_asks_the_server_nothing() {
    let world = World::new().await;
    // What may be anything, such as a password in the wrong place, is not pointed at: that would
    // show it.
    let unreadable =
        [("- a\n- b\n", "not a mapping"), ("a: [\n", "line"), ("a: 1\na: 2\n", "line 2")];
    let bodies = [
        ("", "no object"),
        ("# only a remark\n", "no object"),
        ("kind: Pod\nmetadata: {name: a}\n", "`apiVersion` is missing"),
        ("apiVersion: v1\nkind: Pod\n", "`metadata.name` is missing"),
        ("apiVersion: v1\nkind: Pod\nmetadata: {name: a, uid: b}\n", "`metadata.uid`"),
        ("apiVersion: v1\nkind: Pod\nmetadata: {name: a}\n---\nkind: Pod\n", "2 documents"),
        ("apiVersion: v1\nkind: List\nmetadata: {}\nitems: []\n", "a list of objects"),
    ];
    let tried = async {
        let pointed = bodies.map(|(body, words)| (body, words, "yaml_body"));
        let bare = unreadable.map(|(body, words)| (body, words, ""));
        for (body, words, at) in pointed.into_iter().chain(bare) {
            let (said, path) = refusal(&world, body).await;
            assert!(said.contains(words), "`{words}` was not said of {body:?}: {said}");
            assert_eq!(path, at, "{body:?}");
        }
    };
    let (_, asked) = world.cluster.count_during(Filter::by_user(&world.user), tried).await.unwrap();
    assert_eq!(asked, []);
}

#[tokio::test]
async fn every_argument_that_is_wrong_is_refused_at_its_own_path_and_all_at_once() {
    let world = World::new().await;
    let list = |text: &str| Value::Known(Data::List(vec![Value::from(text)]));
    let wrong = [
        ("apply_timeout", Value::from("5")),
        ("delete_timeout", Value::from("soon")),
        ("delete_propagation", Value::from("later")),
        ("ignore_fields", list("spec..x")),
        ("force_destroy", Value::from(true)),
        ("delete_protection", Value::from(true)),
    ];
    let body = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: Upper}\n";
    let config = crate::ignoring::with(world.config(body), &wrong);
    let failure = world.core().validate(OBJECT, &config).await.unwrap_err();
    let told = failure.diagnostics();
    let paths: Vec<_> =
        told.iter().filter_map(|one| one.path.as_ref()).map(ToString::to_string).collect();
    assert_eq!(
        paths,
        [
            "yaml_body",
            "ignore_fields[0]",
            "apply_timeout",
            "delete_timeout",
            "delete_propagation",
            "force_destroy",
        ],
        "{told:?}"
    );
}

#[tokio::test]
async fn a_value_that_the_server_refuses_is_told_in_its_words() {
    let world = World::new().await;
    let ns = world.namespace.name();
    let body = format!(
        "apiVersion: v1\nkind: Service\nmetadata: {{name: a, namespace: {ns}}}\n\
         spec: {{ports: [{{port: 99999}}]}}\n"
    );
    let (said, _) = refusal(&world, &body).await;
    assert!(said.contains("spec.ports[0].port"), "{said}");
    assert!(said.contains("between 1 and 65535"), "{said}");
}

#[tokio::test]
async fn an_unknown_body_over_an_object_is_an_update_and_never_a_replacement() {
    let world = World::new().await;
    let ns = world.namespace.name();
    let body = format!("apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: a, namespace: {ns}}}\n");
    let state = world.create(&body).await.unwrap();
    let core = world.core();
    let read = core.read(OBJECT, &state).await.unwrap().present().unwrap();
    let Value::Known(Data::Object(mut config)) = world.config(&body) else {
        panic!("a configuration is an object");
    };
    config.insert("yaml_body".to_owned(), Value::Unknown);
    let config = Value::Known(Data::Object(config));
    let plan = core.plan(OBJECT, &config, Some(&read)).await.unwrap();
    assert_eq!(plan.action, Action::Update);
    assert_eq!(plan.planned.attribute("managed_state_projection"), Some(&Value::Unknown));
    assert_eq!(plan.planned.attribute("id"), Some(read.attribute("id")));
}

#[tokio::test]
async fn what_others_add_to_an_object_is_neither_shown_nor_planned() {
    let world = World::new().await;
    let ns = world.namespace.name();
    let body = format!(
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: a, namespace: {ns}}}\ndata: {{x: ours}}\n"
    );
    let state = world.create(&body).await.unwrap();
    let target = Target::new("v1", "ConfigMap", ns, "a");
    let theirs = json!({"metadata": {"finalizers": []}, "data": {"z": "theirs"}});
    world.cluster.act_as("somebody").merge_patch(&target, theirs).await.unwrap();
    let core = world.core();
    let read = core.read(OBJECT, &state).await.unwrap().present().unwrap();
    assert_eq!(read.value, state.value);
    let plan = core.plan(OBJECT, &world.config(&body), Some(&read)).await.unwrap();
    assert_eq!(plan.action, Action::NoOp);
    assert!(plan.diagnostics.is_empty(), "{:?}", plan.diagnostics);
}
