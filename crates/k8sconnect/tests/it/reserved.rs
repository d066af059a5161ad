//! Annotations and labels under `k8sconnect.terraform.io/` are the provider's: no user writes, patches
//! or ignores one.

use serde_json::json;
use tfplugin::{Data, Value};

use crate::patch::{PATCH, Ward, refused, said};
use crate::world::{OBJECT, World, value};

const KEY: &str = "k8sconnect.terraform.io/terraform-id";

fn body(world: &World) -> String {
    world
        .config_map("settings")
        .replace("metadata:", &format!("metadata:\n  annotations: {{{KEY}: x}}"))
}

#[tokio::test]
async fn a_body_with_a_reserved_key_is_refused_at_validate_stored_or_not() {
    let world = World::new().await;
    for (attribute, config) in [
        ("yaml_body", world.config(&body(&world))),
        (
            "yaml_body_wo",
            world.config_with([
                ("yaml_body_wo", Value::from(body(&world))),
                ("yaml_body_wo_version", Value::from("1")),
            ]),
        ),
    ] {
        let told = refused(world.core().validate(OBJECT, &config).await);
        assert!(told.contains(&format!("`{attribute}` is not one Kubernetes object")), "{told}");
        let named = format!("`metadata.annotations[\"{KEY}\"]` is reserved for k8sconnect");
        assert!(told.contains(&named), "{told}");
        // It may have been unknown at validate.
        let told = refused(world.core().plan(OBJECT, &config, None).await);
        assert!(told.contains(&named), "{told}");
    }
}

#[tokio::test]
async fn ignore_fields_with_a_reserved_key_is_refused_at_validate() {
    let world = World::new().await;
    let path = format!("metadata.annotations[\"{KEY}\"]");
    let config = world.config_with([
        ("yaml_body", Value::from(world.config_map("settings"))),
        ("ignore_fields", value(&json!([path]))),
    ]);
    for told in [
        refused(world.core().validate(OBJECT, &config).await),
        refused(world.core().plan(OBJECT, &config, None).await),
    ] {
        assert!(told.contains("`ignore_fields` has an entry that cannot be used"), "{told}");
        assert!(told.contains(&path) && told.contains("reserved for k8sconnect"), "{told}");
    }
}

#[tokio::test]
async fn a_patch_with_a_reserved_key_is_refused_at_validate_in_every_form() {
    let ward = Ward::config_map().await;
    let object = json!({"metadata": {"annotations": {KEY: "x"}}}).to_string();
    let at = format!("/metadata/annotations/{}", KEY.replace('/', "~1"));
    let operations = json!([{"op": "remove", "path": at}]).to_string();
    for (attribute, text) in
        [("patch", &object), ("merge_patch", &object), ("json_patch", &operations)]
    {
        let (core, config) = (ward.world.core(), ward.config(attribute, text));
        for told in [
            refused(core.validate(PATCH, &config).await),
            refused(core.plan(PATCH, &config, None).await),
        ] {
            assert!(told.contains(&format!("`{attribute}` is not a patch")), "{told}");
            assert!(told.contains(&format!("metadata.annotations[\"{KEY}\"]")), "{told}");
        }
    }
}

#[tokio::test]
async fn an_object_of_another_state_is_imported_without_its_reserved_annotation() {
    let world = World::new().await;
    world.create(&world.config_map("settings")).await.unwrap();
    let core = world.core();
    core.configure(value(&json!({"cluster": world.by_token()}))).await.unwrap();
    let id = format!("{}/ConfigMap/settings", world.namespace);
    let imported = core.import(OBJECT, &id).await.unwrap();
    let Value::Known(Data::String(body)) = imported.attribute("yaml_body").clone() else {
        panic!()
    };
    assert!(!body.contains("k8sconnect.terraform.io"), "{body}");
    let config = value(&json!({"yaml_body": body}));
    let warned = core.validate(OBJECT, &config).await.unwrap();
    assert!(warned.is_empty(), "{}", said(&warned));
    core.plan(OBJECT, &config, Some(&imported)).await.unwrap();
}
