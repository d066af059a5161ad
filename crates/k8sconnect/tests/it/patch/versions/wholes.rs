//! Fields that are whole in the version of who holds them, and divided in ours.

use serde_json::{Value as Json, json};
use testkit::Target;

use super::{METRICS, autoscaler, end_foretold, entry_of, newer_autoscaler};
use crate::patch::{PATCH, Ward, object, owners, said};
use crate::unserved::definition;
use crate::world::World;

/// A widget whose map and lists are divided as `v1`, and whole as `v1beta1`, as which `argo` applied it.
async fn widget() -> (Ward, Json) {
    let world = World::new().await;
    let mut definition =
        definition(&world, "Namespaced", &[("v1", true, true), ("v1beta1", true, false)]);
    let text = json!({"type": "string"});
    let item = json!({"type": "object", "required": ["name"],
        "properties": {"name": text, "v": text, "w": text}});
    let mut divided = json!({"a": text,
        "m": {"type": "object", "additionalProperties": text},
        "set": {"type": "array", "items": text},
        "items": {"type": "array", "items": item}});
    let schema = |fields: &Json| {
        json!({"openAPIV3Schema": {"type": "object", "properties": {
            "spec": {"type": "object", "properties": fields}}}})
    };
    let mut whole = divided.clone();
    whole["m"]["x-kubernetes-map-type"] = json!("atomic");
    divided["set"]["x-kubernetes-list-type"] = json!("set");
    divided["items"]["x-kubernetes-list-type"] = json!("map");
    divided["items"]["x-kubernetes-list-map-keys"] = json!(["name"]);
    definition["spec"]["versions"][0]["schema"] = schema(&divided);
    definition["spec"]["versions"][1]["schema"] = schema(&whole);
    world.cluster.act_as("admin").apply(&definition).await.unwrap();
    world.await_served(&definition).await;
    let ns = world.namespace.name().to_owned();
    let mut widget = object(&format!("{ns}.example.com/v1beta1"), "Widget", "it", &ns);
    widget["spec"] = json!({"a": "one", "m": {"k": "1", "l": "2"}, "set": ["p", "q"],
        "items": [{"name": "x", "v": "1", "w": "1"}, {"name": "y", "v": "2"}]});
    world.cluster.act_as("argo").apply(&widget).await.unwrap();
    let api_version = format!("{ns}.example.com/v1");
    let target = Target { api_version, ..Target::of(&widget).unwrap() };
    (Ward::of(world, target), definition)
}

async fn foretold(ward: &Ward, attribute: &str, text: &str) -> String {
    said(&ward.core().plan(PATCH, &ward.config(attribute, text), None).await.unwrap().diagnostics)
}

#[tokio::test]
async fn who_loses_a_whole_in_another_version_is_named_for_the_part_that_is_patched() {
    let (ward, definition) = widget().await;
    let before = owners(&ward.live().await);
    for (attribute, text, path) in [
        ("patch", r#"spec: {m: {k: "5"}}"#, "spec.m.k"),
        ("patch", r#"spec: {m: {new: "5"}}"#, "spec.m.new"),
        ("patch", "spec: {set: [r]}", r#"spec.set[="r"]"#),
        ("patch", r#"spec: {items: [{name: x, v: "5"}]}"#, "spec.items[name=x].v"),
        ("merge_patch", r#"spec: {m: {k: "6"}}"#, "spec.m.k"),
        (
            "json_patch",
            r#"[{"op": "add", "path": "/spec/set/-", "value": "s"}]"#,
            r#"spec.set[="s"]"#,
        ),
    ] {
        let told = foretold(&ward, attribute, text).await;
        assert!(told.contains(&format!("{path} held by `argo` (Apply")), "{told}");
        let state = ward.create(attribute, text).await;
        let held = format!("{:?}", state.attribute("previous_owners"));
        assert!(held.contains("argo"), "{path}: {held}");
        let told = end_foretold(&ward, &state).await;
        assert!(told.contains(&format!("{path} returns to `argo`")), "{told}");
        ward.destroy(&state).await;
        assert_eq!(owners(&ward.live().await), before, "{path}");
    }
    ward.world.cluster.delete(&Target::of(&definition).unwrap()).await.unwrap();
}

#[tokio::test]
async fn a_rival_that_takes_a_whole_in_another_version_is_the_author_of_the_drift() {
    let (ward, mut v1) = autoscaler().await;
    let before = owners(&ward.live().await);
    let text = &format!("spec: {{scaleTargetRef: {{name: ours}}, {METRICS}}}");
    let told = foretold(&ward, "patch", text).await;
    assert!(told.contains("spec.scaleTargetRef.name held by `chart` (Apply"), "{told}");
    let state = ward.create("patch", text).await;
    v1["spec"]["scaleTargetRef"]["name"] = json!("rival");
    v1["spec"]["targetCPUUtilizationPercentage"] = json!(60);
    ward.world.cluster.act_as("flux").force().apply(&v1).await.unwrap();
    let told = said(&ward.plan("patch", text, &state).await.unwrap().diagnostics);
    assert!(told.contains("spec.scaleTargetRef.name held by `flux` (Apply"), "{told}");
    let state = ward.change("patch", text, &state).await;
    ward.destroy(&state).await;
    let chart = |all: &[String]| entry_of("chart", all);
    assert_eq!(chart(&owners(&ward.live().await)), chart(&before));
}

#[tokio::test]
async fn a_whole_of_another_version_goes_back_once_no_part_of_it_is_patched() {
    let (ward, _) = autoscaler().await;
    let before = owners(&ward.live().await);
    for (attribute, name) in [("patch", "web2"), ("merge_patch", "web3")] {
        let both = json!({"spec": {"scaleTargetRef": {"name": name}, "maxReplicas": 8}});
        let one = json!({"spec": {"maxReplicas": 8}}).to_string();
        let state = ward.create(attribute, &both.to_string()).await;
        let told = said(&ward.plan(attribute, &one, &state).await.unwrap().diagnostics);
        assert!(told.contains("spec.scaleTargetRef.name returns to `chart`"), "{told}");
        let state = ward.change(attribute, &one, &state).await;
        let chart = entry_of("chart", &owners(&ward.live().await));
        assert!(chart.contains("f:scaleTargetRef"), "{attribute}: {chart}");
        let told = end_foretold(&ward, &state).await;
        assert!(!told.contains("scaleTargetRef"), "{told}");
        ward.destroy(&state).await;
        assert_eq!(owners(&ward.live().await), before, "{attribute}");
    }
}

#[tokio::test]
async fn a_part_of_a_whole_of_another_version_waits_for_the_parts_that_stay() {
    let (ward, definition) = widget().await;
    let before = owners(&ward.live().await);
    let item = |name: &str| json!({"name": name, "v": "5"});
    let all = json!({"spec": {"a": "two", "m": {"k": "5", "l": "5"},
        "items": [item("x"), item("y")]}});
    let fewer = json!({"spec": {"a": "two", "m": {"l": "5"}, "items": [item("y")]}}).to_string();
    let least = json!({"spec": {"items": [item("y")]}}).to_string();
    let state = ward.create("patch", &all.to_string()).await;
    let told = said(&ward.plan("patch", &fewer, &state).await.unwrap().diagnostics);
    for path in ["spec.m.k", "spec.items[name=x].v"] {
        let waits = format!("{path} stays as it is, and returns to `argo` (Apply");
        assert!(told.contains(&waits), "{told}");
    }
    let state = ward.change("patch", &fewer, &state).await;
    let argo = entry_of("argo", &owners(&ward.live().await));
    assert!(!argo.contains("f:m") && !argo.contains("f:items"), "{argo}");
    let told = said(&ward.plan("patch", &least, &state).await.unwrap().diagnostics);
    assert!(told.contains("spec.m.l returns to `argo`"), "{told}");
    let state = ward.change("patch", &least, &state).await;
    let argo = entry_of("argo", &owners(&ward.live().await));
    assert!(argo.contains("f:m") && !argo.contains("f:items"), "{argo}");
    let told = end_foretold(&ward, &state).await;
    assert!(told.contains("spec.items[name=y].v returns to `argo`"), "{told}");
    assert!(!told.contains("held by nobody"), "{told}");
    ward.destroy(&state).await;
    assert_eq!(owners(&ward.live().await), before);
    ward.world.cluster.delete(&Target::of(&definition).unwrap()).await.unwrap();
}

#[tokio::test]
async fn a_list_goes_back_in_another_version_though_what_was_taken_of_it_is_in_no_entry() {
    let ward = newer_autoscaler().await;
    let before = owners(&ward.live().await);
    let both = json!({"spec": {"targetCPUUtilizationPercentage": null, "minReplicas": 2}});
    let one = json!({"spec": {"minReplicas": 2}}).to_string();
    let state = ward.create("merge_patch", &both.to_string()).await;
    let told = said(&ward.plan("merge_patch", &one, &state).await.unwrap().diagnostics);
    let back = "spec.metrics, as `autoscaling/v2` has it, returns to `helm`";
    assert!(told.contains(back), "{told}");
    let state = ward.change("merge_patch", &one, &state).await;
    let helm = entry_of("helm", &owners(&ward.live().await));
    assert!(helm.contains("f:metrics") && !helm.contains("f:minReplicas"), "{helm}");
    ward.destroy(&state).await;
    assert_eq!(owners(&ward.live().await), before);
}
