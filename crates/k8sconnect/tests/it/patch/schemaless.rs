//! Fields without a schema, which change their sort: what was one value becomes a map, and whoever
//! held it is robbed of a field that the patch does not name.

use serde_json::{Value as Json, json};
use testkit::Target;
use tfplugin::harness::State;

use super::{PATCH, Ward, object, owners, said};
use crate::world::World;

/// A heap in which helm holds a number and a list.
async fn ward() -> Ward {
    let world = World::new().await;
    let kinds = world.kinds();
    world.make(kinds.iter().find(|kind| kind.name == "crd-free").unwrap()).await;
    let mut target = Target::new(
        &format!("{}.example.com/v1alpha1", world.namespace),
        "Heap",
        world.namespace.name(),
        "it",
    );
    target.namespace = None;
    let ward = Ward::of(world, target);
    ward.world.cluster.act_as("helm").apply(body(&ward)).await.unwrap();
    ward
}

fn body(ward: &Ward) -> Json {
    let mut body = object(&ward.target.api_version, "Heap", "it", "");
    body["metadata"].as_object_mut().unwrap().remove("namespace");
    body["free"] = json!({"p": [1, 2, 3], "z": 1.5});
    body
}

async fn end(ward: &Ward) {
    let kinds = ward.world.kinds();
    let definition = kinds.into_iter().find(|kind| kind.name == "crd-free").unwrap();
    ward.world.clear(&[definition]).await;
}

#[tokio::test]
async fn who_loses_a_value_that_becomes_a_map_is_told_and_gets_it_back() {
    let ward = ward().await;
    for (attribute, text, told, field) in [
        ("patch", "free: {z: {a: 1}}", r#"is now 1.5 will be {"a":1}"#, "free.z"),
        ("merge_patch", "free: {z: {a: null, b: 1}}", r#"is now 1.5 will be {"b":1}"#, "free.z"),
        (
            "merge_patch",
            "free: {p: {a: {b: c}}}",
            r#"is now [1,2,3] will be {"a":{"b":"c"}}"#,
            "free.p",
        ),
        ("merge_patch", "free: {p: {a: null}}", "is now [1,2,3] will be {}", "free.p"),
        (
            "json_patch",
            r#"[{"op": "add", "path": "/free/z", "value": {"a": 1}}]"#,
            r#"is now 1.5 will be {"a":1}"#,
            "free.z",
        ),
        (
            "json_patch",
            r#"[{"op": "add", "path": "/free/p", "value": {"a": 1}}]"#,
            r#"is now [1,2,3] will be {"a":1}"#,
            "free.p",
        ),
    ] {
        let before = owners(&ward.live().await);
        let plan = ward.core().plan(PATCH, &ward.config(attribute, text), None).await.unwrap();
        let warned = said(&plan.diagnostics);
        let summary = format!("Heap `it`: `{field}` will be patched");
        assert!(warned.contains(&summary), "{text}: {warned}");
        assert!(warned.contains(&format!("{field} held by `helm`")), "{text}: {warned}");
        assert!(warned.contains(told) && !warned.contains("will go"), "{text}: {warned}");
        let state = ward.create(attribute, text).await;
        ward.settled(attribute, text, &state).await;
        let parting = parting(&ward, &state).await;
        match text.contains("p: {a: null}") {
            true => assert!(parting.contains("free.p.a stays absent"), "{parting}"),
            false => assert!(parting.contains("returns to `helm`"), "{text}: {parting}"),
        }
        ward.destroy(&state).await;
        assert_eq!(owners(&ward.live().await), before, "{text}");
        ward.remake(&body(&ward)).await;
    }
    end(&ward).await;
}

/// What a plan to destroy says.
async fn parting(ward: &Ward, state: &State) -> String {
    let core = ward.core();
    let read = core.read(PATCH, state).await.unwrap().present().unwrap();
    said(&core.plan_destroy(PATCH, &read).await.unwrap().diagnostics)
}

async fn scalar(ward: &Ward) {
    let edit = json!({"free": {"z": "scalar"}});
    ward.world.cluster.act_as("thief").merge_patch(&ward.target, edit).await.unwrap();
}

#[tokio::test]
async fn who_puts_a_value_in_the_place_of_a_patched_map_is_named_and_is_no_former_owner() {
    let ward = ward().await;
    let text = "free: {z: {a: 1}}";
    for attribute in ["patch", "merge_patch"] {
        let before = owners(&ward.live().await);
        // The second time helm holds the map that the first time left behind.
        for _ in 0..2 {
            let state = ward.create(attribute, text).await;
            scalar(&ward).await;
            let plan = ward.plan(attribute, text, &state).await.unwrap();
            let told = said(&plan.diagnostics);
            assert!(told.contains("`free.z` changed outside of Terraform"), "{attribute}: {told}");
            assert!(told.contains("free.z held by `thief`"), "{attribute}: {told}");
            assert!(told.contains(r#"is now scalar will be {"a":1}"#), "{attribute}: {told}");
            let state = ward.change(attribute, text, &state).await;
            ward.settled(attribute, text, &state).await;
            let told = parting(&ward, &state).await;
            assert!(told.contains("free.z.a returns to `helm`"), "{attribute}: {told}");
            ward.destroy(&state).await;
            assert_eq!(owners(&ward.live().await), before, "{attribute}");
        }
        ward.remake(&body(&ward)).await;
    }
    end(&ward).await;
}

#[tokio::test]
async fn a_map_that_a_removal_leaves_behind_is_told() {
    let ward = ward().await;
    let text = "free: {none: {a: null}}";
    let plan = ward.core().plan(PATCH, &ward.config("merge_patch", text), None).await.unwrap();
    let told = said(&plan.diagnostics);
    assert!(told.contains("`free.none` will be made, as an empty map"), "{told}");
    let state = ward.create("merge_patch", text).await;
    assert_eq!(ward.live().await["free"]["none"], json!({}));
    ward.settled("merge_patch", text, &state).await;
    end(&ward).await;
}

#[tokio::test]
async fn an_edited_operation_reaches_what_others_made_of_it_and_tells_what_goes() {
    let ward = ward().await;
    let add = |path: &str, value: Json| json!({"op": "add", "path": path, "value": value});
    let moved = json!({"op": "move", "from": "/free/t", "path": "/free/u"});
    let replaced = |value: &str| json!({"op": "replace", "path": "/free/p/0", "value": value});
    for (first, then, field, is, told) in [
        (
            json!([add("/free/t", json!(1)), moved]),
            json!([add("/free/t", json!(2)), moved]),
            "u",
            json!(2),
            "",
        ),
        (
            json!([add("/free/l", json!([1])), add("/free/l/-", json!(2))]),
            json!([add("/free/l", json!([1])), add("/free/l/-", json!(3))]),
            "l",
            json!([1, 3]),
            "",
        ),
        (
            json!([replaced("a")]),
            json!([replaced("b")]),
            "p",
            json!(["b", 2, 3]),
            "`free.p[=\"a\"]` will go",
        ),
        (
            json!([add("/free/o", json!({"a": 1}))]),
            json!([add("/free/o", json!({"b": 1}))]),
            "o",
            json!({"b": 1}),
            "free.o.a",
        ),
    ] {
        let (first, then) = (first.to_string(), then.to_string());
        let state = ward.create("json_patch", &first).await;
        ward.settled("json_patch", &first, &state).await;
        let words = said(&ward.plan("json_patch", &then, &state).await.unwrap().diagnostics);
        assert!(words.contains(told) && !words.contains("stays as it is"), "{field}: {words}");
        let state = ward.change("json_patch", &then, &state).await;
        assert_eq!(ward.live().await["free"][field], is, "{then}");
        ward.settled("json_patch", &then, &state).await;
        ward.destroy(&state).await;
    }
    end(&ward).await;
}

#[tokio::test]
async fn a_patch_that_makes_a_map_of_its_own_value_is_no_drift_and_leaves_nothing() {
    let ward = ward().await;
    let operation =
        |value: &str| format!(r#"[{{"op": "add", "path": "/free/z", "value": {value}}}]"#);
    for (attribute, one, map) in [
        ("patch", "free: {z: 2}".to_owned(), "free: {z: {a: 1}}".to_owned()),
        ("patch", "free: {z: null}".to_owned(), "free: {z: {a: {b: c}}}".to_owned()),
        ("merge_patch", "free: {z: 2}".to_owned(), "free: {z: {a: 1}}".to_owned()),
        ("json_patch", operation("2"), operation(r#"{"a": 1}"#)),
        ("json_patch", operation("null"), operation(r#"{"a": null}"#)),
    ] {
        let before = owners(&ward.live().await);
        let state = ward.create(attribute, &one).await;
        ward.settled(attribute, &one, &state).await;
        let plan = ward.plan(attribute, &map, &state).await.unwrap();
        let told = said(&plan.diagnostics);
        assert!(!told.contains("changed outside"), "{map}: {told}");
        assert!(!told.contains("handed back") && !told.contains("stays"), "{map}: {told}");
        let state = ward.change(attribute, &map, &state).await;
        ward.settled(attribute, &map, &state).await;
        let told = parting(&ward, &state).await;
        assert!(told.contains("returns to `helm`"), "{map}: {told}");
        ward.destroy(&state).await;
        assert_eq!(owners(&ward.live().await), before, "{map}");
        ward.remake(&body(&ward)).await;
    }
    end(&ward).await;
}
