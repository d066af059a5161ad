//! Items of lists that have keys: one of ours is changed where it stands, beside one of others
//! nothing is put, and of several with one key none is meant.

use serde_json::{Value as Json, json};
use testkit::Target;

use super::{PATCH, Ward, leaves, object, owners, refused, said};
use crate::world::World;

const APP: &str = "/spec/template/spec/containers/0";

fn add(place: &str, value: &Json) -> String {
    json!([{"op": "add", "path": format!("{APP}/{place}"), "value": value}]).to_string()
}

#[tokio::test]
async fn an_added_item_that_is_edited_is_changed_where_it_stands() {
    let app =
        async |ward: &Ward| ward.live().await["spec"]["template"]["spec"]["containers"][0].clone();
    let variable = |value: &str| json!({"name": "Z", "value": value});
    for place in ["env/-", "env/0"] {
        let ward = Ward::deployment().await;
        let before = owners(&ward.live().await);
        let state = ward.create("json_patch", &add(place, &variable("1"))).await;
        let placed = app(&ward).await["env"].clone();
        let edited = add(place, &variable("2"));
        let state = ward.change("json_patch", &edited, &state).await;
        let expected = placed.to_string().replace(r#""value":"1""#, r#""value":"2""#);
        assert_eq!(app(&ward).await["env"].to_string(), expected, "{place}");
        let field = "spec.template.spec.containers[name=app].env[name=Z].value";
        assert_eq!(leaves(&state)[field], r#""2""#);
        ward.settled("json_patch", &edited, &state).await;
        // What the item no longer says goes: the server takes no `value` beside `valueFrom`.
        let from = json!({"fieldRef": {"fieldPath": "metadata.name"}});
        let edited = add(place, &json!({"name": "Z", "valueFrom": from}));
        let told = said(&ward.plan("json_patch", &edited, &state).await.unwrap().diagnostics);
        assert!(told.contains("env[name=Z].value` will go"), "{told}");
        assert!(!told.contains("stays as it is"), "{told}");
        let state = ward.change("json_patch", &edited, &state).await;
        assert_eq!(app(&ward).await["env"].as_array().unwrap().len(), 3, "{place}");
        ward.settled("json_patch", &edited, &state).await;
        ward.destroy(&state).await;
        assert_eq!(owners(&ward.live().await), before, "{place}");
    }
    let ward = Ward::deployment().await;
    let port = |name: &str| add("ports/-", &json!({"containerPort": 99, "name": name}));
    let state = ward.create("json_patch", &port("n")).await;
    let state = ward.change("json_patch", &port("m"), &state).await;
    let ports = app(&ward).await["ports"].clone();
    assert_eq!(ports[1], json!({"containerPort": 99, "name": "m", "protocol": "TCP"}));
    assert_eq!(ports.as_array().unwrap().len(), 2);
    ward.settled("json_patch", &port("m"), &state).await;
}

#[tokio::test]
async fn an_item_of_a_custom_resource_is_changed_too() {
    let world = World::new().await;
    let kinds = world.kinds();
    let definition = kinds.iter().find(|kind| kind.name == "crd-structural").unwrap();
    world.make(definition).await;
    let namespace = world.namespace.name().to_owned();
    let version = format!("{namespace}.example.com/v1");
    let target = Target::new(&version, "Garden", namespace.as_str(), "it");
    let ward = Ward::of(world, target);
    let mut garden = object(&version, "Garden", "it", &namespace);
    garden["spec"] = json!({"area": 1, "beds": [{"row": 1, "plant": "rose"}]});
    ward.world.cluster.act_as("helm").apply(&garden).await.unwrap();
    let before = owners(&ward.live().await);
    let add = |row: u8, plant: &str| {
        let value = json!({"row": row, "plant": plant});
        json!([{"op": "add", "path": "/spec/beds/-", "value": value}]).to_string()
    };
    let state = ward.create("json_patch", &add(2, "kale")).await;
    let state = ward.change("json_patch", &add(2, "leek"), &state).await;
    let beds = ward.live().await["spec"]["beds"].clone();
    assert_eq!(beds[1], json!({"row": 2, "side": "left", "plant": "leek"}));
    ward.settled("json_patch", &add(2, "leek"), &state).await;
    ward.destroy(&state).await;
    assert_eq!(owners(&ward.live().await), before);
    ward.world.clear(std::slice::from_ref(definition)).await;
}

/// What nobody but a patch would write.
async fn untouched(ward: &Ward) -> (Json, Vec<String>) {
    let live = ward.live().await;
    (live["spec"].clone(), owners(&live))
}

#[tokio::test]
async fn beside_an_item_of_others_none_of_its_key_is_put() {
    let ward = Ward::deployment().await;
    let before = untouched(&ward).await;
    for (text, told) in [
        (
            add("env/-", &json!({"name": "LEVEL", "value": "high"})),
            format!("has this item already, at `{APP}/env/1`, held by `helm` (Apply"),
        ),
        // Only the answer tells which protocol was meant.
        (
            add("ports/-", &json!({"containerPort": 80, "name": "web"})),
            format!("has this item already, at `{APP}/ports/0`, held by `helm` (Apply"),
        ),
    ] {
        let config = ward.config("json_patch", &text);
        let said = refused(ward.core().plan(PATCH, &config, None).await);
        assert!(said.contains("operation 1 of `json_patch` cannot be carried out"), "{said}");
        assert!(said.contains(&told), "{said}");
        assert!(said.contains("or use `patch`, which finds items by their key"), "{said}");
    }
    assert_eq!(untouched(&ward).await, before);
    let udp = add("ports/-", &json!({"containerPort": 80, "protocol": "UDP"}));
    let state = ward.create("json_patch", &udp).await;
    ward.settled("json_patch", &udp, &state).await;
}

#[tokio::test]
async fn of_several_items_with_one_key_none_is_patched() {
    let world = World::new().await;
    let text = super::DEPLOYMENT.replace("NS", world.namespace.name());
    let text = text.replace("{name: LEVEL", "{name: MODE");
    let made = world.cluster.act_as("creator").create(text).await.unwrap();
    let ward = Ward::of(world, Target::of(&made).unwrap());
    let before = untouched(&ward).await;
    let apply =
        "spec: {template: {spec: {containers: [{name: app, env: [{name: MODE, value: x}]}]}}}";
    let replace = json!([{"op": "replace", "path": format!("{APP}/env/1/value"), "value": "x"}]);
    let remove = json!([{"op": "remove", "path": format!("{APP}/env/1")}]);
    let other = json!([{"op": "replace", "path": format!("{APP}/env/1"), "value": {"name": "X"}}]);
    for (attribute, text) in [
        ("patch", apply.to_owned()),
        ("json_patch", replace.to_string()),
        ("json_patch", remove.to_string()),
        ("json_patch", other.to_string()),
    ] {
        let told = refused(ward.core().plan(PATCH, &ward.config(attribute, &text), None).await);
        let summary = match attribute {
            "patch" => "`patch` means an item that is there more than once",
            _ => "operation 1 of `json_patch` cannot be carried out",
        };
        assert!(told.contains(summary), "{told}");
        assert!(told.contains("has 2 items of this key"), "{told}");
        assert!(told.contains("env[name=MODE]"), "{told}");
    }
    assert_eq!(untouched(&ward).await, before);
    // What is not in that list is patched as ever, and so is the list itself.
    let image = "spec: {template: {spec: {containers: [{name: app, image: 'nginx:2'}]}}}";
    let image = ward.create("patch", image).await;
    ward.destroy(&image).await;
    let one = json!([{"op": "replace", "path": format!("{APP}/env"), "value": [{"name": "MODE"}]},
                     {"op": "add", "path": format!("{APP}/env/0/value"), "value": "x"}]);
    let state = ward.create("json_patch", &one.to_string()).await;
    ward.settled("json_patch", &one.to_string(), &state).await;
}
