//! Fields whose holders write them in another API version, where they have another path.

mod wholes;

use serde_json::{Value as Json, json};
use testkit::Target;
use tfplugin::harness::{Action, State};

use super::{PATCH, Ward, configuration, object, owners, refused, said};
use crate::unserved::definition;
use crate::world::World;

/// An autoscaler that `chart` applied as `autoscaling/v1`, to be patched as `autoscaling/v2`.
async fn autoscaler() -> (Ward, Json) {
    let world = World::new().await;
    let ns = world.namespace.name().to_owned();
    let mut v1 = object("autoscaling/v1", "HorizontalPodAutoscaler", "web", &ns);
    v1["spec"] = json!({"minReplicas": 1, "maxReplicas": 3, "targetCPUUtilizationPercentage": 50,
        "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"}});
    world.cluster.act_as("chart").apply(&v1).await.unwrap();
    let target = Target::new("autoscaling/v2", "HorizontalPodAutoscaler", ns.as_str(), "web");
    (Ward::of(world, target), v1)
}

const METRICS: &str = "metrics: [{type: Resource, resource: {name: cpu, target: \
                       {type: Utilization, averageUtilization: 80}}}]";

#[tokio::test]
async fn an_owner_that_wrote_in_another_version_gets_its_fields_back() {
    let (ward, _) = autoscaler().await;
    let before = owners(&ward.live().await);
    let text = format!("spec: {{maxReplicas: 9, {METRICS}, scaleTargetRef: {{name: other}}}}");
    let plan = ward.core().plan(PATCH, &ward.config("patch", &text), None).await.unwrap();
    let told = said(&plan.diagnostics);
    assert!(told.contains("spec.metrics held by nobody in this API version"), "{told}");
    assert!(told.contains("spec.maxReplicas held by `chart` (Apply"), "{told}");
    let state = ward.create("patch", &text).await;
    ward.settled("patch", &text, &state).await;

    // The same object in the other version: what is taken there is taken from who gets it back.
    let mut target = ward.target.clone();
    target.api_version = "autoscaling/v1".into();
    let moved = Ward { target, ..ward };
    let text = "spec: {targetCPUUtilizationPercentage: 70}";
    let plan = moved.plan("patch", text, &state).await.unwrap();
    assert_eq!(plan.action, Action::Replace);
    let told = said(&plan.diagnostics);
    assert!(told.contains("as `autoscaling/v1` has it, returns to `chart`"), "{told}");
    assert!(told.contains("`spec.targetCPUUtilizationPercentage` will be patched"), "{told}");
    moved.destroy(&state).await;
    assert_eq!(owners(&moved.live().await), before);
}

#[tokio::test]
async fn drift_that_was_written_in_another_version_is_reported_with_that_path() {
    let (ward, mut v1) = autoscaler().await;
    let text = format!("spec: {{{METRICS}}}");
    let state = ward.create("patch", &text).await;
    v1["spec"]["targetCPUUtilizationPercentage"] = json!(60);
    ward.world.cluster.act_as("chart").force().apply(&v1).await.unwrap();
    let before = owners(&ward.live().await);
    let told = said(&ward.plan("patch", &text, &state).await.unwrap().diagnostics);
    let field = "spec.targetCPUUtilizationPercentage, as `autoscaling/v1` has it held by `chart`";
    assert!(told.contains(field), "{told}");
    let state = ward.change("patch", &text, &state).await;
    ward.settled("patch", &text, &state).await;
    ward.destroy(&state).await;
    let chart = |all: &[String]| all.iter().find(|it| it.contains("chart")).cloned().unwrap();
    assert_eq!(chart(&owners(&ward.live().await)), chart(&before));
}

/// A widget of which `vtwo` applied `spec.m` as `v2` and `editor` changed a part of it so, to be
/// patched as `v1`.
async fn widget_in_two_versions() -> (Ward, Json) {
    let world = World::new().await;
    let definition = definition(&world, "Namespaced", &[("v1", true, true), ("v2", true, false)]);
    world.cluster.act_as("admin").apply(&definition).await.unwrap();
    world.await_served(&definition).await;
    let ns = world.namespace.name().to_owned();
    let mut widget = object(&format!("{ns}.example.com/v2"), "Widget", "it", &ns);
    widget["spec"] = json!({"m": {"k.2/x": "theirs", "k": "theirs"}, "as": ["a"], "size": 1});
    world.cluster.act_as("vtwo").apply(&widget).await.unwrap();
    let target = Target::of(&widget).unwrap();
    let edit = json!({"spec": {"m": {"u": "edited"}}});
    world.cluster.act_as("editor").merge_patch(&target, edit).await.unwrap();
    let api_version = format!("{ns}.example.com/v1");
    (Ward::of(world, Target { api_version, ..target }), definition)
}

fn in_v2(target: &Target) -> Target {
    Target { api_version: target.api_version.replace("/v1", "/v2"), ..target.clone() }
}

#[tokio::test]
async fn what_a_patch_removed_is_in_nobodys_entry_whatever_version_it_was_written_in() {
    let (ward, definition) = widget_in_two_versions().await;
    for (attribute, text) in [
        ("merge_patch", r#"spec: {m: {k.2/x: null, u: null, k: ours}}"#),
        ("json_patch", r#"[{"op": "replace", "path": "/spec/m", "value": {"k": "again"}}]"#),
    ] {
        let state = ward.create(attribute, text).await;
        ward.destroy(&state).await;
        let after = owners(&ward.live().await).concat();
        for gone in ["k.2/x", "f:u"] {
            assert!(!after.contains(gone), "{attribute}: {gone} in {after}");
        }
        assert!(after.contains(r#""f:k""#), "{attribute}: what is there went back: {after}");
        assert!(!after.contains("k8sconnect"), "{attribute}: {after}");
        let both = json!({"spec": {"m": {"k.2/x": "theirs", "u": "edited"}}});
        let editor = ward.world.cluster.act_as("editor");
        editor.merge_patch(&in_v2(&ward.target), both).await.unwrap();
    }
    ward.world.cluster.delete(&Target::of(&definition).unwrap()).await.unwrap();
}

#[tokio::test]
async fn a_rival_in_another_version_is_named_for_what_it_holds_and_for_nothing_else() {
    let (ward, definition) = widget_in_two_versions().await;
    let text = |value: &str| {
        let replace = |path: &str| json!({"op": "replace", "path": path, "value": value});
        json!([replace("/spec/size"), replace("/spec/m/k"),
               {"op": "add", "path": "/spec/as/-", "value": "ours"}])
        .to_string()
    };
    let state = ward.create("json_patch", &text("ours")).await;
    let taken = json!({"spec": {"m": {"k": "rival"}, "as": ["rival"]}});
    ward.world.cluster.act_as("rival").merge_patch(&in_v2(&ward.target), taken).await.unwrap();
    let plan = ward.plan("json_patch", &text("again"), &state).await.unwrap();
    let told = said(&plan.diagnostics);
    assert!(told.contains("spec.m.k held by `rival`"), "{told}");
    assert!(!told.contains("spec.size held by"), "{told}");
    // Nor does what it holds go to anybody else.
    ward.destroy(&state).await;
    let after = owners(&ward.live().await);
    let vtwo = after.iter().find(|it| it.contains(r#""vtwo""#)).unwrap();
    assert!(vtwo.contains("f:size"), "{vtwo}");
    assert!(!vtwo.contains(r#""f:k""#) && !vtwo.contains("f:as"), "{vtwo}");
    ward.world.cluster.delete(&Target::of(&definition).unwrap()).await.unwrap();
}

#[tokio::test]
async fn a_rival_in_another_version_is_no_former_owner_though_another_field_joins_when_it_loses() {
    let (ward, definition) = widget_in_two_versions().await;
    for attribute in ["patch", "merge_patch"] {
        let before = owners(&ward.live().await);
        let text = "spec: {m: {mine: ours}}";
        let state = ward.create(attribute, text).await;
        let taken = json!({"spec": {"m": {"mine": "rival"}}});
        ward.world.cluster.act_as("rival").merge_patch(&in_v2(&ward.target), taken).await.unwrap();
        let more = "spec: {m: {mine: ours, k: ours}}";
        let state = ward.change(attribute, more, &state).await;
        ward.settled(attribute, more, &state).await;
        let told = end_foretold(&ward, &state).await;
        assert!(told.contains("spec.m.mine stays as it is, held by nobody"), "{attribute}: {told}");
        ward.destroy(&state).await;
        let after = owners(&ward.live().await);
        assert!(!after.iter().any(|it| it.contains(r#""rival""#)), "{attribute}: {after:?}");
        assert_eq!(after, before, "{attribute}");
        ward.world.cluster.delete(&ward.target).await.unwrap();
        let mut widget =
            object(&in_v2(&ward.target).api_version, "Widget", "it", ward.world.namespace.name());
        widget["spec"] = json!({"m": {"k": "theirs"}});
        ward.world.cluster.act_as("vtwo").apply(&widget).await.unwrap();
    }
    ward.world.cluster.delete(&Target::of(&definition).unwrap()).await.unwrap();
}

/// An autoscaler that `helm` applied as `autoscaling/v2`, to be patched as `autoscaling/v1`.
async fn newer_autoscaler() -> Ward {
    let world = World::new().await;
    let ns = world.namespace.name().to_owned();
    let mut v2 = object("autoscaling/v2", "HorizontalPodAutoscaler", "web", &ns);
    let metric = |name: &str| {
        json!({"type": "Resource", "resource": {"name": name,
               "target": {"type": "Utilization", "averageUtilization": 50}}})
    };
    v2["spec"] = json!({"minReplicas": 1, "maxReplicas": 5,
        "metrics": [metric("cpu"), metric("memory")],
        "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"}});
    world.cluster.act_as("helm").apply(&v2).await.unwrap();
    let target = Target::new("autoscaling/v1", "HorizontalPodAutoscaler", ns.as_str(), "web");
    Ward::of(world, target)
}

fn entry_of(name: &str, all: &[String]) -> String {
    let manager = format!(r#""manager":"{name}""#);
    all.iter().find(|it| it.contains(&manager)).cloned().unwrap()
}

async fn end_foretold(ward: &Ward, state: &State) -> String {
    let core = ward.core();
    let read = core.read(PATCH, state).await.unwrap().present().unwrap();
    said(&core.plan_destroy(PATCH, &read).await.unwrap().diagnostics)
}

#[tokio::test]
async fn a_field_that_leaves_goes_back_to_who_wrote_it_in_another_version() {
    let ward = newer_autoscaler().await;
    let before = owners(&ward.live().await);
    let set = |path: &str, value: i32| json!({"op": "replace", "path": path, "value": value});
    let (min, max) = ("/spec/minReplicas", "/spec/maxReplicas");
    for (attribute, both, one) in [
        (
            "patch",
            json!({"spec": {"maxReplicas": 9, "minReplicas": 2}}),
            json!({"spec": {"minReplicas": 2}}),
        ),
        (
            "merge_patch",
            json!({"spec": {"maxReplicas": 10, "minReplicas": 3}}),
            json!({"spec": {"minReplicas": 3}}),
        ),
        ("json_patch", json!([set(max, 11), set(min, 4)]), json!([set(min, 4)])),
    ] {
        let one = one.to_string();
        let state = ward.create(attribute, &both.to_string()).await;
        let told = said(&ward.plan(attribute, &one, &state).await.unwrap().diagnostics);
        assert!(told.contains("spec.maxReplicas returns to `helm` (Apply"), "{attribute}: {told}");
        let state = ward.change(attribute, &one, &state).await;
        let helm = entry_of("helm", &owners(&ward.live().await));
        assert!(helm.contains("f:maxReplicas"), "{attribute}: {helm}");
        assert!(!helm.contains("f:minReplicas"), "{attribute}: {helm}");
        ward.settled(attribute, &one, &state).await;
        let told = end_foretold(&ward, &state).await;
        assert!(told.contains("spec.minReplicas returns to `helm` (Apply"), "{attribute}: {told}");
        assert!(!told.contains("maxReplicas"), "{attribute}: {told}");
        ward.destroy(&state).await;
        assert_eq!(owners(&ward.live().await), before, "{attribute}");
    }
}

#[tokio::test]
async fn a_field_with_another_path_in_another_version_goes_back_once_nothing_else_has_one() {
    let ward = newer_autoscaler().await;
    let before = owners(&ward.live().await);
    let state =
        ward.create("patch", "spec: {minReplicas: 2, targetCPUUtilizationPercentage: 70}").await;
    let text = "spec: {minReplicas: 2}";
    let told = said(&ward.plan("patch", text, &state).await.unwrap().diagnostics);
    let back = "spec.metrics, as `autoscaling/v2` has it, returns to `helm` (Apply";
    assert!(told.contains(back), "{told}");
    let state = ward.change("patch", text, &state).await;
    let helm = entry_of("helm", &owners(&ward.live().await));
    assert!(helm.contains("f:metrics") && !helm.contains("f:minReplicas"), "{helm}");
    let told = end_foretold(&ward, &state).await;
    assert!(told.contains("spec.minReplicas returns to `helm` (Apply"), "{told}");
    assert!(!told.contains("metrics") && !told.contains("targetCPU"), "{told}");
    ward.destroy(&state).await;
    assert_eq!(owners(&ward.live().await), before);
}

#[tokio::test]
async fn a_field_that_cannot_be_told_from_one_that_stays_goes_back_in_the_end() {
    let (ward, mut v1) = autoscaler().await;
    let policy = json!({"Type": "Pods", "Value": 1, "PeriodSeconds": 60});
    let down =
        json!({"StabilizationWindowSeconds": 60, "SelectPolicy": "Max", "Policies": [policy]});
    let behavior = json!({"ScaleUp": down, "ScaleDown": down}).to_string();
    v1["metadata"]["annotations"] = json!({"autoscaling.alpha.kubernetes.io/behavior": behavior});
    ward.world.cluster.act_as("chart").apply(&v1).await.unwrap();
    let before = owners(&ward.live().await);
    let down = "behavior: {scaleDown: {stabilizationWindowSeconds: 90}}";
    let state = ward.create("patch", &format!("spec: {{{METRICS}, {down}}}")).await;
    let text = format!("spec: {{{METRICS}}}");
    let told = said(&ward.plan("patch", &text, &state).await.unwrap().diagnostics);
    assert!(told.contains("stabilizationWindowSeconds stays as it is"), "{told}");
    let state = ward.change("patch", &text, &state).await;
    let told = end_foretold(&ward, &state).await;
    assert!(
        told.contains(r#"behavior"], as `autoscaling/v1` has it, returns to `chart`"#),
        "{told}"
    );
    ward.destroy(&state).await;
    assert_eq!(owners(&ward.live().await), before);
}

#[tokio::test]
async fn what_a_rival_took_is_not_said_to_go_back_in_another_version() {
    let ward = newer_autoscaler().await;
    let state = ward.create("patch", "spec: {minReplicas: 2, maxReplicas: 9}").await;
    let taken = json!({"spec": {"maxReplicas": 12}});
    ward.world.cluster.act_as("bob").merge_patch(&ward.target, taken).await.unwrap();
    let told = end_foretold(&ward, &state).await;
    assert!(told.contains("spec.maxReplicas stays with `bob`"), "{told}");
    assert!(told.contains("spec.minReplicas returns to `helm`"), "{told}");
    ward.destroy(&state).await;
    let after = owners(&ward.live().await);
    assert!(!entry_of("helm", &after).contains("f:maxReplicas"), "{after:?}");
    assert!(entry_of("bob", &after).contains("f:maxReplicas"), "{after:?}");
}

#[tokio::test]
async fn a_list_whose_items_are_gone_goes_back_to_nobody_whatever_version_they_were_written_in() {
    let world = World::new().await;
    let mut definition =
        definition(&world, "Namespaced", &[("v1", true, true), ("v1beta1", true, false)]);
    let lists = json!({
        "tags": {"type": "array", "x-kubernetes-list-type": "set", "items": {"type": "string"}},
        "rules": {"type": "array", "x-kubernetes-list-type": "map",
                  "x-kubernetes-list-map-keys": ["name"],
                  "items": {"type": "object", "required": ["name"], "properties": {
                      "name": {"type": "string"}, "to": {"type": "string"}}}}});
    let schema = json!({"openAPIV3Schema": {"type": "object", "properties": {
        "spec": {"type": "object", "properties": lists}}}});
    for n in 0..2 {
        definition["spec"]["versions"][n]["schema"] = schema.clone();
    }
    world.cluster.act_as("admin").apply(&definition).await.unwrap();
    world.await_served(&definition).await;
    let ns = world.namespace.name().to_owned();
    let mut target = None;
    for version in ["v1", "v1beta1"] {
        let api_version = format!("{ns}.example.com/{version}");
        let mut widget = object(&api_version, "Widget", version, &ns);
        widget["spec"] = json!({"tags": ["a"], "rules": [{"name": "b", "to": "c"}]});
        world.cluster.act_as("argo").apply(&widget).await.unwrap();
        target = Some(Target {
            api_version: format!("{ns}.example.com/v1"),
            ..Target::of(&widget).unwrap()
        });
    }
    let mut ward = Ward::of(world, target.unwrap());
    for name in ["v1", "v1beta1"] {
        name.clone_into(&mut ward.target.name);
        let config = ward.config("merge_patch", r#"{"spec": {"tags": [], "rules": []}}"#);
        let plan = ward.core().plan(PATCH, &config, None).await.unwrap();
        let told = said(&plan.diagnostics);
        assert!(!told.contains("gives each field back"), "{name}: {told}");
        let state = ward.core().create(PATCH, &config).await.unwrap();
        let told = end_foretold(&ward, &state).await;
        for list in ["spec.tags", "spec.rules"] {
            let line = format!("{list} stays as it is, held by nobody");
            assert!(told.contains(&line), "{name}: {told}");
        }
        ward.destroy(&state).await;
        let after = owners(&ward.live().await).concat();
        assert!(!after.contains("f:tags") && !after.contains("f:rules"), "{name}: {after}");
    }
    ward.world.cluster.delete(&Target::of(&definition).unwrap()).await.unwrap();
}

#[tokio::test]
async fn two_new_patches_of_one_field_in_two_versions_are_refused_at_plan() {
    let ward = newer_autoscaler().await;
    let core = ward.core();
    core.plan(PATCH, &ward.config("patch", "spec: {maxReplicas: 9}"), None).await.unwrap();
    let mut other = ward.target.clone();
    other.api_version = "autoscaling/v2".into();
    let config = |text| configuration(ward.world.kubeconfig(), &other, "patch", text, &[]);
    let told = refused(core.plan(PATCH, &config("spec: {maxReplicas: 12}"), None).await);
    assert!(told.contains("another patch of this configuration means the same"), "{told}");
    core.plan(PATCH, &config("spec: {minReplicas: 3}"), None).await.unwrap();
}
