//! What leaves a patch stays on the object, also where the server does not want it beside what the patch
//! says instead: the refusal tells so, and what it offers works.

use serde_json::{Value as Json, json};

use super::{Ward, owners, refused};

const TEMPLATE: &str = "/spec/template/spec";

fn template(spec: &Json) -> String {
    json!({"spec": {"template": {"spec": spec}}}).to_string()
}

/// The operation that a refusal offers.
fn offered(told: &str) -> Json {
    let (_, rest) = told.split_once("To have it removed").unwrap();
    let start = rest.find('{').unwrap();
    let end = rest.find("} Nothing was changed").unwrap();
    serde_json::from_str(&rest[start..=end]).unwrap()
}

#[tokio::test]
async fn what_leaves_an_item_and_is_not_wanted_there_is_removed_as_the_refusal_says() {
    let env = |item: Json| {
        let mut item = item;
        item["name"] = json!("FROM");
        template(&json!({"containers": [{"name": "app", "env": [item]}]}))
    };
    let volume = |item: Json| {
        let mut item = item;
        item["name"] = json!("more");
        template(&json!({"volumes": [item]}))
    };
    let field = json!({"valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}});
    for (first, then, leaf, list, set, value) in [
        (
            env(field),
            env(json!({"value": "v"})),
            "containers[name=app].env[name=FROM].valueFrom.fieldRef",
            "containers/0/env",
            "value",
            json!("v"),
        ),
        (
            volume(json!({"secret": {"secretName": "s"}})),
            volume(json!({"emptyDir": {}})),
            "volumes[name=more].secret.secretName",
            "volumes",
            "emptyDir",
            json!({}),
        ),
    ] {
        let ward = Ward::deployment().await;
        let before = owners(&ward.live().await);
        let state = ward.create("patch", &first).await;
        let told = refused(ward.plan("patch", &then, &state).await);
        assert!(told.contains("What leaves a patch stays on the object"), "{told}");
        assert!(told.contains(&format!("spec.template.spec.{leaf} ")), "{told}");
        let remove = offered(&told);
        let item = remove["path"].as_str().unwrap().rsplit_once('/').unwrap().0.to_owned();
        assert!(item.starts_with(&format!("{TEMPLATE}/{list}/")), "{told}");
        let add = json!({"op": "add", "path": format!("{item}/{set}"), "value": value});
        let operations = json!([remove, add]).to_string();
        let state = ward.change("json_patch", &operations, &state).await;
        ward.settled("json_patch", &operations, &state).await;
        // As it was to be written in the first place.
        let state = ward.change("patch", &then, &state).await;
        ward.settled("patch", &then, &state).await;
        let live = ward.live().await;
        assert_eq!(live.pointer(&format!("{item}/{set}")), Some(&value));
        assert!(live.pointer(remove["path"].as_str().unwrap()).is_none(), "{live:#}");
        ward.destroy(&state).await;
        assert_eq!(owners(&ward.live().await), before);
    }
}

#[tokio::test]
async fn what_leaves_a_map_and_is_not_wanted_there_is_removed_as_the_refusal_says_in_every_form() {
    let strategy = |value: Json| json!({"spec": {"strategy": value}}).to_string();
    let rolling = json!({"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 2}});
    let whole = json!([{"op": "add", "path": "/spec/strategy", "value": rolling}]).to_string();
    let recreate = json!({"op": "replace", "path": "/spec/strategy/type", "value": "Recreate"});
    let other = strategy(json!({"type": "Recreate"}));
    for (attribute, first, then) in [
        ("patch", strategy(rolling.clone()), other.clone()),
        ("merge_patch", strategy(rolling.clone()), other),
        ("json_patch", whole, json!([recreate]).to_string()),
    ] {
        let ward = Ward::deployment().await;
        let state = ward.create(attribute, &first).await;
        let told = refused(ward.plan(attribute, &then, &state).await);
        assert!(told.contains("spec.strategy.rollingUpdate.maxSurge "), "{attribute}: {told}");
        let offered = offered(&told);
        let (attribute, text) = match attribute {
            "merge_patch" => {
                let mut text = offered;
                text["spec"]["strategy"]["type"] = json!("Recreate");
                (attribute, text)
            }
            _ => ("json_patch", json!([offered, recreate])),
        };
        let state = ward.change(attribute, &text.to_string(), &state).await;
        ward.settled(attribute, &text.to_string(), &state).await;
        assert_eq!(ward.live().await["spec"]["strategy"], json!({"type": "Recreate"}));
        ward.destroy(&state).await;
    }
}

#[tokio::test]
async fn a_refusal_of_something_else_says_nothing_of_what_leaves() {
    let ward = Ward::deployment().await;
    let first = "{metadata: {labels: {a: b}}, spec: {replicas: 1, minReadySeconds: 1}}";
    for attribute in ["patch", "merge_patch"] {
        let state = ward.create(attribute, first).await;
        for then in
            ["spec: {replicas: -1}", "spec: {minReadySeconds: x}", "spec: {nothingLikeIt: 1}"]
        {
            let told = refused(ward.plan(attribute, then, &state).await);
            assert!(!told.contains("What leaves a patch"), "{told}");
        }
        ward.destroy(&state).await;
    }
}
