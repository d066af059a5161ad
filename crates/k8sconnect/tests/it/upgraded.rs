//! State of the Go provider of this name, with every kind of connection that it knew.

use serde_json::{Value as Json, json};
use tfplugin::harness::{Action, State};
use tfplugin::{Private, Value};

use crate::world::{OBJECT, World};

const ID: &str = "0f3a5c7e9b1d";

#[tokio::test]
async fn an_object_is_found_by_whatever_connection_the_go_provider_stored() {
    let world = World::new().await;
    let namespace = world.namespace.name();
    let mut object = json!({ "apiVersion": "v1", "kind": "ConfigMap",
        "metadata": { "name": "settings", "namespace": namespace },
        "data": { "greeting": "hello" } });
    object["metadata"]["annotations"]["k8sconnect.terraform.io/terraform-id"] = json!(ID);
    world.cluster.act_as("k8sconnect").force().apply(object).await.unwrap();

    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("config").display().to_string();
    std::fs::write(&path, world.cluster.kubeconfig()).unwrap();
    let (host, ca) = (world.cluster.url(), world.cluster.ca());
    let (certificate, key) =
        world.cluster.certificate_for(&world.user, Some("system:masters")).unwrap();
    let script = format!(
        "printf '{{\"apiVersion\":\"client.authentication.k8s.io/v1beta1\",\
         \"kind\":\"ExecCredential\",\"status\":{{\"token\":\"{}\"}}}}'",
        world.cluster.token()
    );
    let plugin = json!({ "api_version": "client.authentication.k8s.io/v1beta1", "command": "sh",
        "args": ["-c", script], "env": null });
    let connections = [
        (
            "cluster",
            json!({ "host": host, "cluster_ca_certificate": ca,
            "token": world.cluster.token(), "exec": null, "insecure": null }),
        ),
        (
            "cluster",
            json!({ "host": host, "cluster_ca_certificate": ca, "insecure": true,
            "client_certificate": certificate, "client_key": key }),
        ),
        ("cluster", json!({ "host": host, "cluster_ca_certificate": ca, "exec": plugin })),
        ("cluster_connection", json!({ "kubeconfig_file": path, "kubeconfig_raw": null })),
        ("cluster_connection", json!({ "kubeconfig_raw": world.cluster.kubeconfig() })),
    ];
    for (name, connection) in connections {
        let mut attributes = json!({ "id": ID, "yaml_body": world.config_map("settings"),
            "object_ref": { "api_version": "v1", "kind": "ConfigMap", "name": "settings",
                "namespace": namespace } });
        attributes[name] = connection.clone();
        let core = world.core();
        let value = core.upgrade(OBJECT, 0, &attributes.to_string()).await.unwrap();
        let cluster = value.attribute("cluster").unwrap().clone();
        let state = State { value, private: Private::default(), identity: None, tainted: false };
        let read = core.read(OBJECT, &state).await.unwrap_or_else(|e| panic!("{connection}: {e}"));
        assert!(read.diagnostics.is_empty(), "{connection}: {:?}", read.diagnostics);
        let mut config = world.config_at(&Json::Null, &world.config_map("settings"));
        let Value::Known(tfplugin::Data::Object(written)) = &mut config else { panic!() };
        written.insert("cluster".to_owned(), cluster);
        let plan = core.plan(OBJECT, &config, read.state.as_ref()).await.unwrap();
        assert_eq!(plan.action, Action::NoOp, "{connection}");
    }
}
