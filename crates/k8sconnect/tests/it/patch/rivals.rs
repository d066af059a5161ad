//! Patches of one object that meet: what each of them means is theirs alone, also where the value
//! was there already and nothing of it is held.

use serde_json::json;
use tfplugin::Value;
use tfplugin::harness::Action;

use super::{DEPLOYMENT, PATCH, Ward, id, map, owners, refused, said};
use crate::world::OBJECT;

#[tokio::test]
async fn a_field_that_a_patch_means_is_refused_to_others_though_its_value_was_there_already() {
    for (attribute, text) in [
        ("merge_patch", "data: {a: helm}"),
        ("json_patch", r#"[{"op": "replace", "path": "/data/a", "value": "helm"}]"#),
        ("merge_patch", "data: {missing: null, a: helm}"),
    ] {
        let ward = Ward::config_map().await;
        let before = owners(&ward.live().await);
        let first = ward.create(attribute, text).await;
        assert_eq!(map(&first, "managed_fields").get("data.a").unwrap(), "k8sconnect-patch");
        ward.settled(attribute, text, &first).await;
        for (attribute, text) in [
            ("merge_patch", "data: {a: other}"),
            ("patch", "data: {a: helm}"),
            ("json_patch", r#"[{"op": "remove", "path": "/data/a"}]"#),
            ("json_patch", r#"[{"op": "replace", "path": "/data", "value": {"z": "1"}}]"#),
        ] {
            let told = refused(ward.core().plan(PATCH, &ward.config(attribute, text), None).await);
            assert!(told.contains("another patch holds the same fields"), "{attribute}: {told}");
            assert!(told.contains(&format!("`k8sconnect-patch-{}`", id(&first))), "{told}");
        }
        // Beside it there is room, and what is made anew is as much the patch's own.
        let second = ward.create("merge_patch", "data: {b: helm}").await;
        ward.destroy(&first).await;
        let again = ward.create(attribute, text).await;
        let config = ward.config("merge_patch", "data: {a: other}");
        assert!(refused(ward.core().plan(PATCH, &config, None).await).contains(&id(&again)));
        ward.destroy(&again).await;
        ward.destroy(&second).await;
        assert_eq!(owners(&ward.live().await), before, "{attribute}");
        assert_eq!(ward.live().await["metadata"]["annotations"], json!(null));
    }
}

#[tokio::test]
async fn what_a_patch_removed_is_not_set_by_another() {
    let ward = Ward::config_map().await;
    let first = ward.create("merge_patch", "data: {a: null}").await;
    let told =
        refused(ward.core().plan(PATCH, &ward.config("patch", "data: {a: back}"), None).await);
    assert!(told.contains(&format!("`k8sconnect-patch-{}`", id(&first))), "{told}");
}

#[tokio::test]
async fn a_patch_that_holds_nothing_of_what_it_means_is_taken_over_and_can_still_be_destroyed() {
    let ward = Ward::config_map().await;
    let before = owners(&ward.live().await);
    let first = ward.create("merge_patch", "data: {a: helm}").await;
    let config = ward.adopting("merge_patch", "data: {a: other}");
    let plan = ward.core().plan(PATCH, &config, None).await.unwrap();
    assert!(said(&plan.diagnostics).contains("fields of another patch will be taken over"));
    let second = ward.core().apply(PATCH, &config, None, &plan).await.unwrap().present().unwrap();
    assert!(!ward.live().await["metadata"].to_string().contains(&id(&first)));
    let told = refused(ward.plan("merge_patch", "data: {a: helm}", &first).await);
    assert!(told.contains(&format!("`k8sconnect-patch-{}`", id(&second))), "{told}");
    assert!(told.contains("With `-refresh=false` it does not"), "{told}");
    ward.destroy(&first).await;
    let plan = ward.core().plan(PATCH, &config, Some(&second)).await.unwrap();
    assert_eq!(plan.action, Action::NoOp, "{:#?}", plan.planned);
    ward.destroy(&second).await;
    assert_eq!(owners(&ward.live().await), before);
    assert_eq!(ward.live().await["data"]["a"], "other");
}

#[tokio::test]
async fn a_note_from_before_fields_were_listed_gains_them_with_the_next_write() {
    let ward = Ward::config_map().await;
    let first = ward.create("merge_patch", "data: {a: helm}").await;
    let name = format!("k8sconnect.terraform.io/patch-{}", id(&first));
    let live = ward.live().await;
    let note = live["metadata"]["annotations"][&name].as_str().unwrap();
    let mut note: serde_json::Value = serde_json::from_str(note).unwrap();
    assert_eq!(note["fields"], json!({"f:data": {"f:a": {}}}));
    note.as_object_mut().unwrap().remove("fields");
    let old = json!({"metadata": {"annotations": {name.as_str(): note.to_string()}}});
    ward.world.cluster.act_as("old").merge_patch(&ward.target, old).await.unwrap();
    ward.settled("merge_patch", "data: {a: helm}", &first).await;
    let text = "data: {a: helm, b: helm}";
    let first = ward.change("merge_patch", text, &first).await;
    ward.settled("merge_patch", text, &first).await;
    let config = ward.config("patch", "data: {b: other}");
    assert!(refused(ward.core().plan(PATCH, &config, None).await).contains(&id(&first)));
}

#[tokio::test]
async fn the_first_annotations_and_labels_of_an_object_may_come_from_several_patches() {
    let ward = Ward::config_map().await;
    let before = owners(&ward.live().await);
    let texts = [0, 1, 2].map(|n| {
        format!(
            r#"[{{"op": "add", "path": "/metadata/annotations/x{n}", "value": "v"}},
                {{"op": "add", "path": "/metadata/labels", "value": {{}}}},
                {{"op": "add", "path": "/metadata/labels/x{n}", "value": "v"}}]"#
        )
    });
    // All are planned before any is made, as Terraform does.
    let core = ward.core();
    let mut made = Vec::new();
    for text in &texts {
        let config = ward.config("json_patch", text);
        made.push((core.plan(PATCH, &config, None).await.unwrap(), config));
    }
    let applying = ward.core();
    let mut states = Vec::new();
    for (plan, config) in &made {
        let state = applying.apply(PATCH, config, None, plan).await.unwrap();
        states.push(state.present().unwrap());
    }
    let labels = json!({"x0": "v", "x1": "v", "x2": "v"});
    assert_eq!(ward.live().await["metadata"]["labels"], labels);
    for (text, state) in texts.iter().zip(&states) {
        ward.settled("json_patch", text, state).await;
    }
    for state in &states {
        ward.destroy(state).await;
    }
    let live = ward.live().await;
    assert_eq!((&live["metadata"]["labels"], &live["metadata"]["annotations"]), (&labels, &labels));
    assert_eq!(owners(&live), before);
    // What others have there by now is not taken away, and the plan says that it stays.
    let late = r#"[{"op": "add", "path": "/metadata/labels", "value": {}},
        {"op": "add", "path": "/metadata/annotations", "value": {}},
        {"op": "add", "path": "/metadata/labels/late", "value": "v"}]"#;
    let plan = ward.core().plan(PATCH, &ward.config("json_patch", late), None).await.unwrap();
    let told = said(&plan.diagnostics);
    assert!(
        told.contains("no new map takes the place of `metadata.labels` and 1 more field"),
        "{told}"
    );
    assert!(!told.contains("will go"), "{told}");
}

#[tokio::test]
async fn an_operation_that_counts_past_the_end_is_told_how_long_the_list_is() {
    let ward = Ward::deployment().await;
    for (text, words) in [
        (
            r#"[{"op": "replace", "path": "/spec/template/spec/containers/7/image", "value": "x"}]"#,
            "`/spec/template/spec/containers/7` names no position of the list, which has 1 item",
        ),
        (
            r#"[{"op": "move", "from": "/spec", "path": "/spec/a"}]"#,
            "`/spec` cannot move to `/spec/a`, which is a part of it",
        ),
    ] {
        let told = refused(ward.core().plan(PATCH, &ward.config("json_patch", text), None).await);
        assert!(told.contains(words), "{told}");
    }
}

#[tokio::test]
async fn a_second_patch_that_says_the_same_is_refused_by_the_plan() {
    let ward = Ward::config_map().await;
    let config = ward.config("merge_patch", "data: {a: ours}");
    let first = ward.create("merge_patch", "data: {a: ours}").await;
    let core = ward.core();
    let read = core.read(PATCH, &first).await.unwrap().present().unwrap();
    assert_eq!(core.plan(PATCH, &config, Some(&read)).await.unwrap().action, Action::NoOp);
    let told = refused(core.plan(PATCH, &config, None).await);
    assert!(told.contains("another patch holds the same fields"), "{told}");
    assert!(told.contains(&id(&first)), "{told}");
}

#[tokio::test]
async fn two_new_patches_of_one_field_are_refused_by_the_plan() {
    let ward = Ward::config_map().await;
    let core = ward.core();
    let plan = |text| {
        let config = ward.config("merge_patch", text);
        let core = &core;
        async move { core.plan(PATCH, &config, None).await }
    };
    plan("data: {a: one, b: one}").await.unwrap();
    plan("data: {c: two}").await.unwrap();
    let told = refused(plan("data: {b: two, d: two}").await);
    assert!(told.contains("another patch of this configuration means the same fields"), "{told}");
    assert!(told.contains("data.b") && !told.contains("data.d"), "{told}");
}

#[tokio::test]
async fn a_new_patch_that_sets_a_map_and_one_of_a_field_in_it_are_refused_by_the_plan() {
    let map = |name: &str| {
        let op = |path: &str| {
            format!(r#"{{"op": "add", "path": "{path}", "value": {{"{name}": "1"}}}}"#)
        };
        ("json_patch", format!("[{}]", op("/metadata/labels")))
    };
    let field = ("merge_patch", "metadata: {labels: {z: '1'}}".to_owned());
    let there = r#"[{"op": "add", "path": "/metadata/labels", "value": {}},
        {"op": "add", "path": "/metadata/labels/y", "value": "1"}]"#;
    let there = ("json_patch", there.to_owned());
    for (first, second, met) in [
        (map("x"), field.clone(), Some("metadata.labels.z")),
        (field.clone(), map("x"), Some("metadata.labels ")),
        (map("x"), map("y"), Some("metadata.labels ")),
        (map("x"), there.clone(), Some("metadata.labels.y")),
        (there, field, None),
        (map("x"), ("patch", "data: {a: ours}".to_owned()), None),
    ] {
        let ward = Ward::config_map().await;
        let core = ward.core();
        core.plan(PATCH, &ward.config(first.0, &first.1), None).await.unwrap();
        let plan = core.plan(PATCH, &ward.config(second.0, &second.1), None).await;
        let Some(met) = met else {
            plan.unwrap();
            continue;
        };
        let told = refused(plan);
        assert!(told.contains("another patch of this configuration means the same"), "{told}");
        assert!(told.contains(met), "{met}: {told}");
        assert!(told.contains("With `-refresh=false` it does not"), "{told}");
    }
}

#[tokio::test]
async fn what_another_patch_holds_is_refused_by_the_write_alone_during_an_apply() {
    let ward = Ward::config_map().await;
    let mut plans = Vec::new();
    for text in ["data: {a: ours}", "data: {a: other, b: other}"] {
        let config = ward.config("merge_patch", text);
        let plan = ward.newest_core().plan(PATCH, &config, None).await.unwrap();
        plans.push((config, plan));
    }
    let first = ward.create("merge_patch", "data: {a: ours}").await;
    // An error of the plan would leave state without the patch that is to be replaced.
    for (config, plan) in plans {
        let told = refused(ward.newest_core().apply(PATCH, &config, None, &plan).await);
        assert!(told.contains("another patch holds the same fields"), "{told}");
        assert!(told.contains("Once it is shown as deposed, only `adopt = true` helps"), "{told}");
    }
    // OpenTofu does not say that it applies, and a plan of a new state looks the same.
    let config = ward.config("merge_patch", "data: {a: other, b: other}");
    let told = refused(ward.core().plan(PATCH, &config, None).await);
    assert!(told.contains(&id(&first)), "{told}");
    assert!(told.contains("With `-refresh=false` it does not"), "{told}");
    assert_eq!(ward.live().await["data"]["a"], "ours");
    ward.settled("merge_patch", "data: {a: ours}", &first).await;
}

#[tokio::test]
async fn a_target_that_an_object_took_over_says_how_the_patch_goes() {
    let ward = Ward::config_map().await;
    let state = ward.create("merge_patch", "data: {a: ours}").await;
    let body = ward.body().to_string();
    let attributes = [("yaml_body", Value::from(body.as_str())), ("adopt", Value::from(true))];
    let config = ward.world.config_with(attributes);
    ward.core().create(OBJECT, &config).await.unwrap();
    let told = refused(ward.plan("merge_patch", "data: {a: ours}", &state).await);
    assert!(told.contains("and remove this patch"), "{told}");
    assert!(told.contains("with `-refresh=false` it does not"), "{told}");
    ward.destroy(&state).await;
}

#[tokio::test]
async fn two_patches_that_add_to_a_list_without_keys_are_found_by_the_plan() {
    let ward = Ward::deployment().await;
    let add = |key: &str| {
        let value = json!({"key": key, "operator": "Exists"});
        let path = "/spec/template/spec/tolerations/-";
        ward.config("json_patch", &json!([{"op": "add", "path": path, "value": value}]).to_string())
    };
    let core = ward.core();
    core.plan(PATCH, &add("one"), None).await.unwrap();
    let told = refused(core.plan(PATCH, &add("two"), None).await);
    assert!(told.contains("A list whose items have no keys is one field"), "{told}");
    assert!(told.contains("spec.template.spec.tolerations Patch"), "{told}");
    // So is one that stands already, by the name of what it holds.
    let first = ward.core().create(PATCH, &add("one")).await.unwrap();
    let told = refused(ward.core().plan(PATCH, &add("two"), None).await);
    assert!(told.contains(&format!("`k8sconnect-patch-{}`", id(&first))), "{told}");
    assert!(!told.contains("tolerations[="), "{told}");
}

#[tokio::test]
async fn two_patches_of_a_map_that_is_one_field_are_found_by_the_plan() {
    let selector = "nodeSelector: {disk: ssd}\n      tolerations:";
    let map = "spec.template.spec.nodeSelector";
    let add = |key: &str| {
        let path = format!("/spec/template/spec/nodeSelector/{key}");
        ("json_patch", json!([{"op": "add", "path": path, "value": "x"}]).to_string())
    };
    let merge = |key: &str| {
        let spec = json!({"nodeSelector": {key: "x"}});
        ("merge_patch", json!({"spec": {"template": {"spec": spec}}}).to_string())
    };
    let apply = |key: &str| ("patch", merge(key).1);
    for (first, second) in [
        (merge("a"), add("b")),
        (merge("a"), merge("b")),
        (add("a"), merge("b")),
        (merge("a"), apply("b")),
        (apply("a"), add("b")),
    ] {
        let ward = Ward::with(&DEPLOYMENT.replace("tolerations:", selector)).await;
        let [first, second] =
            [first, second].map(|(attribute, text)| ward.config(attribute, &text));
        let core = ward.core();
        core.plan(PATCH, &first, None).await.unwrap();
        let told = refused(core.plan(PATCH, &second, None).await);
        assert!(told.contains("another patch of this configuration means the same"), "{told}");
        assert!(told.contains("so is a map with one owner, such as `nodeSelector`"), "{told}");
        assert!(told.contains(&format!(" {map} Patch each")), "{told}");
        // So is one that stands already, by the name of what it holds.
        ward.core().create(PATCH, &first).await.unwrap();
        let told = refused(ward.core().plan(PATCH, &second, None).await);
        assert!(told.contains("so is a map with one owner, such as `nodeSelector`"), "{told}");
        assert!(told.contains(&format!(" {map} Patch the")), "{told}");
    }
}

#[tokio::test]
async fn a_list_that_the_patch_holds_for_somebody_is_told_with_whom() {
    let ward = Ward::deployment().await;
    let list = "spec.template.spec.tolerations";
    let add = r#"[{"op": "add", "path": "/spec/template/spec/tolerations/-", "value": {"key": "spot", "operator": "Exists"}}]"#;
    let whole = "spec: {template: {spec: {tolerations: [{key: spot, operator: Exists}]}}}";
    let before = owners(&ward.live().await);
    let state = ward.create("json_patch", add).await;
    let told = said(&ward.plan("patch", whole, &state).await.unwrap().diagnostics);
    assert!(told.contains(&format!("{list} held by this patch, before it by `helm`")), "{told}");
    assert!(told.contains("where that is the patch itself, to who held it before"), "{told}");
    let state = ward.change("patch", whole, &state).await;
    ward.settled("patch", whole, &state).await;
    ward.destroy(&state).await;
    assert_eq!(owners(&ward.live().await), before);
}

#[tokio::test]
async fn who_made_a_recreated_target_gets_its_fields_and_nobody_else_is_named() {
    let ward = Ward::config_map().await;
    let text = "data: {a: ours}";
    let state = ward.create("patch", text).await;
    ward.world.cluster.delete(&ward.target).await.unwrap();
    ward.world.cluster.act_as("other").apply(ward.body()).await.unwrap();
    let before = owners(&ward.live().await);
    for text in [text, "data: {a: again}"] {
        let told = said(&ward.plan("patch", text, &state).await.unwrap().diagnostics);
        assert!(told.contains("data.a held by `other`"), "{told}");
        assert!(!told.contains("`helm`") && !told.contains("returns to"), "{told}");
    }
    let state = ward.change("patch", text, &state).await;
    ward.destroy(&state).await;
    assert_eq!(owners(&ward.live().await), before);
}
