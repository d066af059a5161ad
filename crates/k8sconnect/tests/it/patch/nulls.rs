//! `null` in a partial object: a value like any other where the server keeps it, and told as no more
//! than what comes of it elsewhere.

use serde_json::{Value as Json, json};
use testkit::Target;
use tfplugin::harness::State;

use super::{DEPLOYMENT, PATCH, Ward, former, leaves, map, object, owners, said};
use crate::unserved::definition;
use crate::world::World;

/// A widget of helm's with fields that may be null.
async fn widget() -> (Ward, Json) {
    let world = World::new().await;
    let text = json!({"type": "string", "nullable": true});
    let mut definition = definition(&world, "Namespaced", &[("v1", true, true)]);
    definition["spec"]["versions"][0]["schema"]["openAPIV3Schema"] = json!({"type": "object",
        "properties": {"spec": {"type": "object", "properties": {
            "nul": text, "min": {"type": "integer"},
            "row": {"type": "array", "nullable": true, "items": {"type": "string"}},
            "boxes": {"type": "object", "nullable": true, "additionalProperties": text},
            "keyed": {"type": "array", "x-kubernetes-list-type": "map",
                "x-kubernetes-list-map-keys": ["name"], "items": {"type": "object",
                    "required": ["name"], "properties": {"name": {"type": "string"}, "val": text}}},
            "free": {"type": "object", "x-kubernetes-preserve-unknown-fields": true}}}}});
    world.cluster.act_as("admin").apply(&definition).await.unwrap();
    world.await_served(&definition).await;
    let ns = world.namespace.name().to_owned();
    let mut widget = object(&format!("{ns}.example.com/v1"), "Widget", "it", &ns);
    widget["spec"] = json!({"nul": "keepme", "row": ["a"], "boxes": {"b": "c"},
        "keyed": [{"name": "x", "val": "y"}],
        "free": {"s": "t", "num": 5, "l": [1], "m": {"k": "v"}}});
    world.cluster.act_as("helm").apply(&widget).await.unwrap();
    (Ward::of(world, Target::of(&widget).unwrap()), definition)
}

const NULLS: &str = "spec: {min: 1, nul: null, row: null, boxes: null, keyed: [{name: x, val: null}], \
                     free: {s: null, num: null, l: null, m: null}}";

async fn end(ward: &Ward, definition: &Json) {
    let definition = Target::of(definition).unwrap();
    ward.world.cluster.delete(&definition).await.unwrap();
}

const KEPT: [(&str, &str); 5] = [
    ("spec.nul", "keepme"),
    ("spec.row", r#"["a"]"#),
    ("spec.keyed[name=x].val", "y"),
    ("spec.free.s", "t"),
    ("spec.free.num", "5"),
];

#[tokio::test]
async fn a_null_that_the_server_keeps_is_a_value_like_any_other() {
    let (ward, definition) = widget().await;
    let before = owners(&ward.live().await);
    let plan = ward.core().plan(PATCH, &ward.config("patch", NULLS), None).await.unwrap();
    let told = said(&plan.diagnostics);
    for (path, was) in KEPT {
        assert!(told.contains(&format!("{path} held by `helm`")), "{path}: {told}");
        assert!(told.contains(&format!("is now {was} will be null")), "{path}: {told}");
    }
    // Parts of these are others', and stay.
    assert!(told.contains("removes nothing") && told.contains("spec.boxes"), "{told}");
    assert!(told.contains("spec.free.m") && !told.contains("will go"), "{told}");

    let state = ward.create("patch", NULLS).await;
    ward.settled("patch", NULLS, &state).await;
    let leaves = leaves(&state);
    let fields = map(&state, "managed_fields");
    let former = former(&state);
    for (path, _) in KEPT {
        assert_eq!(leaves.get(path).map(String::as_str), Some("null"), "{leaves:?}");
        assert!(fields.contains_key(path), "{fields:?}");
        assert_eq!(former.get(path).map(Vec::as_slice), Some(&["helm".to_owned()][..]));
    }
    assert!(!fields.contains_key("spec.boxes") && !fields.contains_key("spec.free.m"));

    let again = json!({"spec": {"nul": "again", "row": ["b"], "free": {"l": {"a": 1}}}});
    ward.world.cluster.act_as("rival").merge_patch(&ward.target, again).await.unwrap();
    let told = said(&ward.plan("patch", NULLS, &state).await.unwrap().diagnostics);
    assert!(told.contains("spec.nul held by `rival`"), "{told}");
    assert!(told.contains("is now again will be null"), "{told}");
    assert!(told.contains("spec.row held by `rival`"), "{told}");
    assert!(!told.contains("removes nothing"), "{told}");
    let state = ward.change("patch", NULLS, &state).await;
    ward.settled("patch", NULLS, &state).await;

    let told = parting(&ward, &state).await;
    for (path, _) in KEPT {
        assert!(told.contains(&format!("{path} returns to `helm`")), "{path}: {told}");
    }
    ward.destroy(&state).await;
    let helm = |all: &[String]| all.iter().find(|it| it.contains("helm")).cloned();
    assert_eq!(helm(&owners(&ward.live().await)), helm(&before));
    end(&ward, &definition).await;
}

/// What a plan to destroy says.
async fn parting(ward: &Ward, state: &State) -> String {
    let core = ward.core();
    let read = core.read(PATCH, state).await.unwrap().present().unwrap();
    said(&core.plan_destroy(PATCH, &read).await.unwrap().diagnostics)
}

#[tokio::test]
async fn a_null_that_takes_a_field_away_is_told_as_that() {
    let args = "image: nginx:1\n        args: [serve]";
    let ward = Ward::with(&DEPLOYMENT.replace("image: nginx:1", args)).await;
    let text = "spec: {template: {spec: {volumes: null, containers: [{name: app, args: null, \
                env: [{name: MODE, value: null}]}]}}}";
    let (args, mode) = (
        "spec.template.spec.containers[name=app].args",
        "spec.template.spec.containers[name=app].env[name=MODE].value",
    );
    let plan = ward.core().plan(PATCH, &ward.config("patch", text), None).await.unwrap();
    let told = said(&plan.diagnostics);
    for (path, was) in [(args, r#"["serve"]"#), (mode, "plain")] {
        assert!(told.contains(&format!("{path} held by `helm`")), "{path}: {told}");
        assert!(told.contains(&format!("is now {was} will be (absent)")), "{path}: {told}");
    }
    let (_, nothing) = told.split_once("removes nothing").unwrap();
    assert!(nothing.contains("spec.template.spec.volumes"), "{nothing}");
    assert!(!nothing.contains("args") && !told.contains("does not name"), "{told}");

    let state = ward.create("patch", text).await;
    ward.settled("patch", text, &state).await;
    assert_eq!(leaves(&state)[args], "(absent)");
    assert_eq!(leaves(&state)[mode], "(absent)");
    let again = json!([{"op": "add", "path": "/spec/template/spec/containers/0/args",
        "value": ["again"]}]);
    ward.world.cluster.act_as("rival").json_patch(&ward.target, again).await.unwrap();
    let told = said(&ward.plan("patch", text, &state).await.unwrap().diagnostics);
    assert!(told.contains(&format!("{args} held by `rival`")), "{told}");
    assert!(told.contains(r#"is now ["again"] will be (absent)"#), "{told}");
    let state = ward.change("patch", text, &state).await;
    ward.settled("patch", text, &state).await;
    let told = parting(&ward, &state).await;
    assert!(told.contains(&format!("{args} stays absent")), "{told}");
    ward.destroy(&state).await;
}

#[tokio::test]
async fn what_a_null_took_away_goes_back_to_nobody_when_it_leaves() {
    let args = "image: nginx:1\n        args: [serve]";
    let ward = Ward::with(&DEPLOYMENT.replace("image: nginx:1", args)).await;
    let unclaimed = |all: Vec<String>| {
        let helm = all.into_iter().find(|it| it.contains(r#""helm""#)).unwrap();
        assert!(!helm.contains("f:args"), "{helm}");
        assert!(helm.contains(r#"MODE\"}":{".":{},"f:name":{}}"#), "{helm}");
    };
    let least = "spec: {paused: true}";
    let nulls = "spec: {paused: true, template: {spec: {containers: [{name: app, args: null, \
                 env: [{name: MODE, value: null}]}]}}}";
    let state = ward.create("patch", nulls).await;
    let told = said(&ward.plan("patch", least, &state).await.unwrap().diagnostics);
    for field in ["args", "env[name=MODE].value"] {
        assert!(told.contains(&format!("{field} stays absent")), "{told}");
    }
    let state = ward.change("patch", least, &state).await;
    unclaimed(owners(&ward.live().await));
    ward.destroy(&state).await;
    let state = ward.create("patch", nulls).await;
    ward.destroy(&state).await;
    unclaimed(owners(&ward.live().await));
}

#[tokio::test]
async fn a_null_in_string_data_that_empties_a_key_is_told() {
    let ward = Ward::with(
        "{apiVersion: v1, kind: Secret, metadata: {name: keys, namespace: NS}, \
         stringData: {a: theirs}}",
    )
    .await;
    for text in ["stringData: {b: ours, a: null}", "stringData: {b: ours, new: null}"] {
        let plan = ward.core().plan(PATCH, &ward.config("patch", text), None).await.unwrap();
        let told = said(&plan.diagnostics);
        let key = if text.contains("new") { "data.new" } else { "data.a" };
        assert!(told.contains("`null` in `patch` removes nothing"), "{told}");
        assert!(told.contains(&format!("takes no notice of them: {key} ")), "{told}");
        let state = ward.create("patch", text).await;
        ward.settled("patch", text, &state).await;
        ward.destroy(&state).await;
    }
}

#[tokio::test]
async fn a_null_of_an_operation_that_the_server_keeps_has_its_effect() {
    let (ward, definition) = widget().await;
    let text = |min: u8| {
        json!([{"op": "add", "path": "/spec/nul", "value": null},
               {"op": "add", "path": "/spec/min", "value": min}])
        .to_string()
    };
    let state = ward.create("json_patch", &text(1)).await;
    ward.settled("json_patch", &text(1), &state).await;
    let told = said(&ward.plan("json_patch", &text(2), &state).await.unwrap().diagnostics);
    assert!(!told.contains("does not change") && !told.contains("spec.nul"), "{told}");
    let state = ward.change("json_patch", &text(2), &state).await;
    ward.settled("json_patch", &text(2), &state).await;
    end(&ward, &definition).await;
}

#[tokio::test]
async fn a_zero_that_the_server_does_not_store_is_a_field_of_the_patch_all_the_same() {
    let given = "minReadySeconds: 10\n  paused: true\n  replicas:";
    let ward = Ward::with(&DEPLOYMENT.replace("replicas:", given)).await;
    let mut given = ward.live().await;
    for name in ["managedFields", "uid", "resourceVersion", "creationTimestamp", "generation"] {
        given["metadata"].as_object_mut().unwrap().remove(name);
    }
    given.as_object_mut().unwrap().remove("status");
    let text = |ready: u8, paused: bool, mode: &str| {
        format!(
            "spec: {{minReadySeconds: {ready}, paused: {paused}, template: {{spec: {{containers: \
             [{{name: app, env: [{{name: MODE, value: {mode:?}}}]}}]}}}}}}"
        )
    };
    let mode = "spec.template.spec.containers[name=app].env[name=MODE].value";
    let zeros = text(0, false, "");
    let plan = ward.core().plan(PATCH, &ward.config("patch", &zeros), None).await.unwrap();
    let told = said(&plan.diagnostics);
    for (path, was) in [("spec.minReadySeconds", "10"), ("spec.paused", "true"), (mode, "plain")] {
        let told_so = format!("{path} held by `helm`");
        assert!(told.contains(&told_so), "{path}: {told}");
        assert!(told.contains(&format!("is now {was} will be (absent)")), "{path}: {told}");
    }
    let paths = ["spec.minReadySeconds", "spec.paused", mode];
    // From the beginning, and later; both ways.
    for (first, then) in [(zeros.clone(), text(5, true, "x")), (text(5, true, "x"), zeros.clone())]
    {
        let state = ward.create("patch", &first).await;
        ward.settled("patch", &first, &state).await;
        for path in paths {
            assert!(map(&state, "managed_fields").contains_key(path), "{first}: {path}");
        }
        let told = said(&ward.plan("patch", &then, &state).await.unwrap().diagnostics);
        assert!(!told.contains("handed back") && !told.contains("stays"), "{then}: {told}");
        let state = ward.change("patch", &then, &state).await;
        ward.settled("patch", &then, &state).await;
        for path in paths {
            assert!(map(&state, "managed_fields").contains_key(path), "{then}: {path}");
        }
        let rival = json!({"spec": {"paused": then == zeros, "minReadySeconds": 7}});
        ward.world.cluster.act_as("rival").merge_patch(&ward.target, rival).await.unwrap();
        let told = said(&ward.plan("patch", &then, &state).await.unwrap().diagnostics);
        assert!(told.contains("spec.minReadySeconds held by `rival`"), "{then}: {told}");
        assert!(!told.contains("does not name"), "{then}: {told}");
        let state = ward.change("patch", &then, &state).await;
        ward.settled("patch", &then, &state).await;
        ward.destroy(&state).await;
        let live = ward.live().await;
        assert!(!owners(&live).iter().any(|it| it.contains("k8sconnect")), "{live:#}");
        ward.remake(&given).await;
    }
}

#[tokio::test]
async fn what_was_empty_or_taken_away_and_is_filled_by_the_patch_itself_is_no_drift_and_stays_nowhere()
 {
    let ward = Ward::deployment().await;
    let strategy = |more: &str| format!("spec: {{strategy: {{{more}}}}}");
    for (attribute, first, then) in [
        (
            "patch",
            "spec: {template: {spec: {hostAliases: [], nodeSelector: {}}}}".to_owned(),
            "spec: {template: {spec: {hostAliases: [{ip: 10.0.0.1}], nodeSelector: {a: b}}}}"
                .to_owned(),
        ),
        (
            "merge_patch",
            strategy("type: Recreate, rollingUpdate: null"),
            strategy("type: RollingUpdate"),
        ),
    ] {
        let state = ward.create(attribute, &first).await;
        ward.settled(attribute, &first, &state).await;
        let told = said(&ward.plan(attribute, &then, &state).await.unwrap().diagnostics);
        assert!(!told.contains("changed outside") && !told.contains("stays absent"), "{told}");
        let state = ward.change(attribute, &then, &state).await;
        ward.settled(attribute, &then, &state).await;
        ward.destroy(&state).await;
    }
}

#[tokio::test]
async fn a_map_that_was_empty_and_in_which_fields_are_named_now_is_not_let_go() {
    let (ward, definition) = widget().await;
    for (attribute, first, then) in [
        ("patch", "spec: {free: {x: {}}}", "spec: {free: {x: {g: 0}}}"),
        ("merge_patch", "spec: {free: {x: {}}}", "spec: {free: {x: {g: 0}}}"),
        ("merge_patch", "spec: {boxes: null}", "spec: {boxes: {c: d}}"),
        ("patch", "spec: {boxes: {}}", "spec: {boxes: {c: d}}"),
    ] {
        let state = ward.create(attribute, first).await;
        ward.settled(attribute, first, &state).await;
        let told = said(&ward.plan(attribute, then, &state).await.unwrap().diagnostics);
        assert!(!told.contains("stays") && !told.contains("let go"), "{attribute}: {told}");
        let state = ward.change(attribute, then, &state).await;
        ward.settled(attribute, then, &state).await;
        ward.destroy(&state).await;
        let live = ward.live().await;
        assert!(!owners(&live).iter().any(|it| it.contains("k8sconnect")), "{live:#}");
        let gone = json!({"spec": {"free": {"x": null}, "boxes": {"b": "c"}}});
        ward.world.cluster.act_as("helm").merge_patch(&ward.target, gone).await.unwrap();
    }
    end(&ward, &definition).await;
}

#[tokio::test]
async fn what_others_took_and_the_patch_removes_returns_to_nobody() {
    for kind in ["Secret", "ConfigMap"] {
        let ward = Ward::with(&format!(
            "{{apiVersion: v1, kind: {kind}, metadata: {{name: it, namespace: NS}}, \
             data: {{a: b2xk, c: b2xk}}}}"
        ))
        .await;
        let state = ward.create("merge_patch", "data: {a: bmV3}").await;
        let theirs = json!({"data": {"a": "cm90"}});
        ward.world.cluster.act_as("rot").merge_patch(&ward.target, theirs).await.unwrap();
        let text = "data: {a: null, c: bmV3}";
        let plan = ward.plan("merge_patch", text, &state).await.unwrap();
        let told = said(&plan.diagnostics);
        assert!(told.contains("`rot`"), "{kind}: {told}");
        assert!(!told.contains("data.a returns"), "{kind}: {told}");
        let state = ward.change("merge_patch", text, &state).await;
        ward.settled("merge_patch", text, &state).await;
        ward.destroy(&state).await;
    }
}
