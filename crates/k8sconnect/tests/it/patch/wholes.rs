//! Fields in a map that the server gives to one manager as a whole: who holds them is told by the
//! map, and not by the fields.

use serde_json::{Value as Json, json};

use super::{DEPLOYMENT, PATCH, Ward, owners, said};

/// A Deployment whose `nodeSelector`, an atomic map, is helm's.
async fn ward() -> Ward {
    Ward::with(&deployment("{disk: ssd}")).await
}

fn deployment(selector: &str) -> String {
    let selector = format!("nodeSelector: {selector}\n      tolerations:");
    DEPLOYMENT.replace("tolerations:", &selector)
}

async fn helm_selects(ward: &Ward, selector: &str) {
    let manifest = deployment(selector).replace("NS", ward.world.namespace.name());
    ward.world.cluster.act_as("helm").force().apply(manifest).await.unwrap();
}

async fn select(ward: &Ward, who: &str, selector: Json) {
    let edit = json!({"spec": {"template": {"spec": {"nodeSelector": selector}}}});
    ward.world.cluster.act_as(who).merge_patch(&ward.target, edit).await.unwrap();
}

fn selectors(all: &[String]) -> Vec<String> {
    let entries = all.iter().map(|it| serde_json::from_str::<Json>(it).unwrap());
    let pointer = "/fieldsV1/f:spec/f:template/f:spec/f:nodeSelector";
    let held = entries.filter(|entry| entry.pointer(pointer).is_some());
    held.map(|entry| entry["manager"].as_str().unwrap().to_owned()).collect()
}

#[tokio::test]
async fn a_map_that_had_our_value_goes_back_past_whoever_took_it_meanwhile() {
    let ward = ward().await;
    let text = |replicas: u8| {
        let spec = json!({"nodeSelector": {"disk": "ssd"}});
        json!({"spec": {"replicas": replicas, "template": {"spec": spec}}}).to_string()
    };
    let state = ward.create("merge_patch", &text(0)).await;
    assert_eq!(selectors(&owners(&ward.live().await)), ["helm"]);
    select(&ward, "ed", json!({"disk": "slow"})).await;
    let state = ward.change("merge_patch", &text(1), &state).await;
    ward.settled("merge_patch", &text(1), &state).await;
    ward.destroy(&state).await;
    assert_eq!(selectors(&owners(&ward.live().await)), ["helm"]);
}

#[tokio::test]
async fn a_map_that_nobody_held_is_nobodys_also_when_somebody_took_it_from_the_patch() {
    let paused = |on: bool| json!({"op": "add", "path": "/spec/paused", "value": on});
    let fast = json!({"disk": "fast"});
    let set = json!({"op": "add", "path": "/spec/template/spec/nodeSelector", "value": fast});
    let merge = |on: bool| {
        let spec = json!({"nodeSelector": fast});
        json!({"spec": {"paused": on, "template": {"spec": spec}}}).to_string()
    };
    let operations = |on: bool| json!([set, paused(on)]).to_string();
    for (attribute, first, then) in [
        ("merge_patch", merge(true), merge(false)),
        ("json_patch", operations(true), operations(false)),
    ] {
        let ward = Ward::deployment().await;
        // A patch that ends leaves it to nobody.
        let state = ward.create(attribute, &first).await;
        ward.destroy(&state).await;
        let state = ward.create(attribute, &first).await;
        select(&ward, "ed", json!({"disk": "slow"})).await;
        let state = ward.change(attribute, &then, &state).await;
        ward.settled(attribute, &then, &state).await;
        ward.destroy(&state).await;
        let holders = selectors(&owners(&ward.live().await));
        assert_eq!(holders, Vec::<String>::new(), "{attribute}");
    }
}

#[tokio::test]
async fn who_took_a_map_from_the_patch_is_no_former_owner_though_another_form_names_it_by_its_parts()
 {
    let text = selecting(&json!({"disk": "fast"}));
    for (first, then) in [("patch", "merge_patch"), ("merge_patch", "patch")] {
        let ward = Ward::deployment().await;
        let state = ward.create(first, &text).await;
        select(&ward, "ed", json!({"disk": "slow"})).await;
        let state = ward.change(then, &text, &state).await;
        ward.settled(then, &text, &state).await;
        ward.destroy(&state).await;
        assert_eq!(selectors(&owners(&ward.live().await)), Vec::<String>::new(), "{first}");
    }
}

#[tokio::test]
async fn a_map_that_left_when_others_had_removed_it_is_nobodys_when_it_comes_back() {
    let ward = ward().await;
    let replicas = r#"{"op": "replace", "path": "/spec/replicas", "value": 1}"#;
    let fast =
        r#"{"op": "add", "path": "/spec/template/spec/nodeSelector", "value": {"disk": "fast"}}"#;
    let (both, less) = (format!("[{replicas}, {fast}]"), format!("[{replicas}]"));
    let state = ward.create("json_patch", &both).await;
    select(&ward, "ed", json!({"disk": "slow"})).await;
    select(&ward, "ed", Json::Null).await;
    let state = ward.change("json_patch", &less, &state).await;
    let state = ward.change("json_patch", &both, &state).await;
    ward.destroy(&state).await;
    assert_eq!(selectors(&owners(&ward.live().await)), Vec::<String>::new());
}

#[tokio::test]
async fn who_took_a_map_is_no_former_owner_though_another_form_said_the_same_before_it_was_taken_back()
 {
    let slow = json!({"disk": "slow"});
    for (first, then) in [("patch", "merge_patch"), ("merge_patch", "patch")] {
        for (ward, heirs) in [(Ward::deployment().await, vec![]), (ward().await, vec!["helm"])] {
            let state = ward.create(first, &selecting(&json!({"disk": "fast"}))).await;
            select(&ward, "ed", slow.clone()).await;
            let state = ward.change(then, &selecting(&slow), &state).await;
            let last = selecting(&json!({"disk": "new"}));
            let state = ward.change(then, &last, &state).await;
            ward.settled(then, &last, &state).await;
            ward.destroy(&state).await;
            assert_eq!(selectors(&owners(&ward.live().await)), heirs, "{first}");
        }
    }
}

fn selecting(selector: &Json) -> String {
    json!({"spec": {"template": {"spec": {"nodeSelector": selector}}}}).to_string()
}

const SELECTOR: &str = "spec.template.spec.nodeSelector";

async fn told(ward: &Ward, attribute: &str, text: &str) -> String {
    let config = ward.config(attribute, text);
    said(&ward.core().plan(PATCH, &config, None).await.unwrap().diagnostics)
}

#[tokio::test]
async fn a_map_that_is_emptied_is_told_once() {
    let ward = ward().await;
    let told = told(&ward, "patch", &selecting(&json!({}))).await;
    assert!(told.contains(r#"is now {"disk":"ssd"} will be {}"#), "{told}");
    assert!(told.contains("does not bring back what it removed"), "{told}");
    assert!(!told.contains("nodeSelector.disk"), "{told}");
}

#[tokio::test]
async fn a_null_for_what_is_not_there_is_no_change_of_the_map_that_is_taken() {
    let ward = ward().await;
    let text = selecting(&json!({"disk": "slow", "none": null}));
    let words = told(&ward, "merge_patch", &text).await;
    assert!(words.contains(&format!("`{SELECTOR}.disk` will be patched")), "{words}");
    assert!(!words.contains("nodeSelector.none"), "{words}");
    let state = ward.create("merge_patch", &text).await;
    ward.settled("merge_patch", &text, &state).await;
    ward.destroy(&state).await;
    assert_eq!(selectors(&owners(&ward.live().await)), ["helm"]);
}

#[tokio::test]
async fn a_map_that_goes_back_without_what_was_removed_from_it_is_told() {
    let selector = "nodeSelector: {disk: ssd, zone: a}\n      tolerations:";
    let ward = Ward::with(&DEPLOYMENT.replace("tolerations:", selector)).await;
    let text = selecting(&json!({"zone": null}));
    let state = ward.create("merge_patch", &text).await;
    let core = ward.core();
    let read = core.read(PATCH, &state).await.unwrap().present().unwrap();
    let told = said(&core.plan_destroy(PATCH, &read).await.unwrap().diagnostics);
    assert!(told.contains(&format!("{SELECTOR}.zone stays absent")), "{told}");
    assert!(told.contains(&format!("{SELECTOR} returns to `helm`")), "{told}");
    let other = r#"{"spec": {"paused": true}}"#;
    let told = said(&ward.plan("merge_patch", other, &state).await.unwrap().diagnostics);
    assert!(told.contains(&format!("{SELECTOR} returns to `helm`")), "{told}");
    ward.destroy(&state).await;
    assert_eq!(selectors(&owners(&ward.live().await)), ["helm"]);
}

#[tokio::test]
async fn a_part_of_a_map_that_leaves_stays_in_the_map_for_as_long_as_the_patch_holds_that() {
    let ward = ward().await;
    let before = owners(&ward.live().await);
    let stays = |key: &str| format!("{SELECTOR}.{key} stays in {SELECTOR}, which the patch holds");
    let state = ward.create("merge_patch", &selecting(&json!({"a": "x", "b": "y"}))).await;
    let less = selecting(&json!({"b": "y"}));
    let told = said(&ward.plan("merge_patch", &less, &state).await.unwrap().diagnostics);
    assert!(told.contains(&stays("a")), "{told}");
    let state = ward.change("merge_patch", &less, &state).await;
    let add = json!([{"op": "add", "path": "/spec/template/spec/nodeSelector/a", "value": "z"}]);
    let told = said(&ward.plan("json_patch", &add.to_string(), &state).await.unwrap().diagnostics);
    assert!(told.contains(&stays("b")), "{told}");
    let state = ward.change("json_patch", &add.to_string(), &state).await;
    ward.destroy(&state).await;
    assert_eq!(owners(&ward.live().await), before);
}

#[tokio::test]
async fn a_part_of_a_map_that_leaves_does_not_stay_with_who_loses_the_map() {
    let ward = ward().await;
    let state = ward.create("merge_patch", &selecting(&json!({"a": "x"}))).await;
    helm_selects(&ward, "{disk: ssd, a: helm}").await;
    let edit = selecting(&json!({"b": "z"}));
    let told = said(&ward.plan("merge_patch", &edit, &state).await.unwrap().diagnostics);
    assert!(told.contains(&format!("{SELECTOR}.a stays in {SELECTOR}, which the patch")), "{told}");
    assert!(told.contains(&format!("{SELECTOR}.b held by `helm`")), "{told}");
    let state = ward.change("merge_patch", &edit, &state).await;
    let holders = selectors(&owners(&ward.live().await));
    assert!(holders.iter().all(|it| it.starts_with("k8sconnect-patch-")), "{holders:?}");
    // What it has again, and the patch does not change, stays with it.
    let state = ward.change("merge_patch", &selecting(&json!({"a": "x", "b": "z"})), &state).await;
    helm_selects(&ward, "{disk: fast, a: x, b: z}").await;
    let told = said(&ward.plan("merge_patch", &edit, &state).await.unwrap().diagnostics);
    assert!(told.contains(&format!("{SELECTOR}.a stays with `helm`")), "{told}");
    ward.destroy(&state).await;
    assert_eq!(selectors(&owners(&ward.live().await)), ["helm"]);
}

#[tokio::test]
async fn what_the_patch_holds_itself_is_told_as_held_by_it() {
    let ward = Ward::config_map().await;
    let set = |value: Json| json!([{"op": "add", "path": "/metadata/labels", "value": value}]);
    let first = set(json!({"a": "1", "b": "2"})).to_string();
    let state = ward.create("json_patch", &first).await;
    let removal = json!([{"op": "remove", "path": "/metadata/labels"}]);
    for (attribute, then, path) in [
        ("json_patch", set(json!({"a": "1"})), "metadata.labels.b"),
        ("json_patch", removal, "metadata.labels"),
        ("merge_patch", json!({"metadata": {"labels": null}}), "metadata.labels"),
    ] {
        let then = then.to_string();
        let told = said(&ward.plan(attribute, &then, &state).await.unwrap().diagnostics);
        assert!(told.contains(&format!("{path} held by this patch is now")), "{then}: {told}");
        assert!(!told.contains("The other manager"), "{then}: {told}");
    }
    ward.destroy(&state).await;
}

#[tokio::test]
async fn items_that_go_are_counted_with_the_lists_that_they_go_from() {
    let more = "hostAliases: [{ip: 10.0.0.1}]\n      tolerations:";
    let args = "image: nginx:1\n        args: [a, b]\n        command: [c]";
    let manifest = DEPLOYMENT.replace("tolerations:", more).replace("image: nginx:1", args);
    let ward = Ward::with(&manifest).await;
    for (container, words) in [
        (
            json!({"name": "app", "args": ["z"]}),
            "2 items of `spec.template.spec.containers[name=app].args` will go",
        ),
        (
            json!({"name": "app", "args": ["z"], "command": ["d"]}),
            "3 items of `spec.template.spec.containers[name=app].args` and 1 more list will go",
        ),
    ] {
        let text = json!({"spec": {"template": {"spec": {"containers": [container]}}}}).to_string();
        let plan = ward.core().plan(PATCH, &ward.config("patch", &text), None).await.unwrap();
        let told = said(&plan.diagnostics);
        assert!(told.contains(words), "{told}");
    }
}
