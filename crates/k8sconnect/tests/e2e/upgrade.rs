//! State and objects as the Go provider of this name left them, taken over without a change.
//!
//! The state file is what that provider writes, the object is applied as it applies: under its
//! field manager, which is ours, and with its marks.

use base64::Engine;
use base64::engine::general_purpose::STANDARD as BASE64;
use serde_json::{Value, json};
use testkit::{Request, Target, Tool};

mod patches;
mod written;

use crate::workspace::{CONFIG_MAP, DEPLOYMENT, Workspace, never_says, says};

const ID: &str = "0f3a5c7e9b1d";
const ID_ANNOTATION: &str = "k8sconnect.terraform.io/terraform-id";
const BIRTH_ANNOTATION: &str = "k8sconnect.terraform.io/created-at";

/// The attributes of its last schema, 2.
fn attributes(at: &Workspace, body: &str, object: &Value) -> Value {
    json!({
        "id": ID,
        // As a heredoc in the configuration gives it.
        "yaml_body": format!("{}\n", body.replace("NS", at.namespace.name()).trim_end()),
        "cluster": {
            "host": null, "cluster_ca_certificate": null, "token": null,
            "client_certificate": null, "client_key": null, "insecure": null, "proxy_url": null,
            "exec": null, "context": null, "kubeconfig": at.cluster.kubeconfig(),
        },
        "delete_protection": null, "delete_timeout": null, "force_destroy": null,
        "ignore_fields": null,
        "managed_fields": {"data.greeting": "k8sconnect"},
        "managed_state_projection": {"data.greeting": "hello"},
        "object_ref": {
            "api_version": object["apiVersion"], "kind": object["kind"],
            "name": object["metadata"]["name"], "namespace": at.namespace.name(),
        },
    })
}

/// The object, applied as that provider applies what it is given.
async fn applied(at: &Workspace, mut object: Value) -> Value {
    object["metadata"]["namespace"] = json!(at.namespace.name());
    object["metadata"]["annotations"][ID_ANNOTATION] = json!(ID);
    object["metadata"]["annotations"][BIRTH_ANNOTATION] = json!("2025-11-13T10:00:00Z");
    at.cluster.act_as("k8sconnect").force().apply(object).await.unwrap()
}

/// Its state file, and the step that the documentation asks for.
async fn state(at: &Workspace, tool: Tool, version: u64, attributes: &Value) {
    let owners = json!({"data.greeting": ["k8sconnect"]}).to_string();
    state_noting(at, tool, version, attributes, ("field_ownership_v1", &owners)).await;
}

/// The same with a note in private state.
async fn state_noting(
    at: &Workspace,
    tool: Tool,
    version: u64,
    attributes: &Value,
    (key, note): (&str, &str),
) {
    let registry = tool.registry();
    let private = json!({ key: BASE64.encode(note) });
    let stored = (version, attributes, BASE64.encode(private.to_string()));
    state_of(at, registry, "k8sconnect_object", stored).await;
}

/// The state of one resource: its version, its attributes and what is private of it.
async fn state_of(
    at: &Workspace,
    registry: &str,
    resource: &str,
    (version, attributes, private): (u64, &Value, String),
) {
    let state = json!({
        "version": 4, "terraform_version": "1.9.0", "serial": 7,
        "lineage": "5f0b6a52-95c1-4a5a-8e6d-6c1f7a1f0b11", "outputs": {}, "check_results": null,
        "resources": [{
            "mode": "managed", "type": resource, "name": "it",
            "provider": format!("provider[\"{registry}/jmorris0x0/k8sconnect\"]"),
            "instances": [{
                "schema_version": version, "attributes": attributes, "sensitive_attributes": [],
                "private": private,
            }],
        }],
    });
    at.runner.write("terraform.tfstate", &state.to_string()).unwrap();
    let (old, new) = ("jmorris0x0/k8sconnect", "k8sconnect/k8sconnect");
    let (old, new) = (format!("{registry}/{old}"), format!("{registry}/{new}"));
    let replaced = at.runner.state(&["replace-provider", "-auto-approve", &old, &new]).await;
    replaced.unwrap().successful().unwrap();
    at.init().await;
}

fn config_map() -> Value {
    json!({
        "apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "settings"},
        "data": {"greeting": "hello", "app.conf": "workers = 2\n"},
    })
}

fn settings(at: &Workspace) -> Target {
    Target::new("v1", "ConfigMap", at.namespace.name(), "settings")
}

async fn config_map_of_the_go_provider() -> Workspace {
    let at = Workspace::new(Tool::Terraform).await;
    let object = applied(&at, config_map()).await;
    at.objects(&[("it", CONFIG_MAP)]);
    state(&at, Tool::Terraform, 2, &attributes(&at, CONFIG_MAP, &object)).await;
    at
}

#[tokio::test]
async fn the_last_version_plans_empty_and_keeps_its_id_through_changes() {
    let at = config_map_of_the_go_provider().await;
    never_says(&at.plan_empty().await.text, "Warning");

    at.objects(&[("it", &CONFIG_MAP.replace("hello", "good day"))]);
    let plan = at.plan_changes().await;
    says(&plan.text, "0 to add, 1 to change, 0 to destroy");
    says(&plan.text, "good day");
    never_says(&plan.text, "created-at");
    at.apply().await;
    at.plan_empty().await;
    let live = at.cluster.read(&settings(&at)).await.unwrap().unwrap();
    assert_eq!(live["data"]["greeting"], "good day");
    assert_eq!(live["metadata"]["annotations"], json!({ID_ANNOTATION: ID}));
    let shown = at.runner.show().await.unwrap();
    let values = &shown["values"]["root_module"]["resources"][0]["values"];
    assert_eq!(values["id"], ID);
    assert_eq!(values["uid"], live["metadata"]["uid"]);
    at.destroy().await;
    assert_eq!(at.cluster.read(&settings(&at)).await.unwrap(), None);
}

#[tokio::test]
async fn the_first_version_plans_empty_in_opentofu() {
    let at = Workspace::new(Tool::OpenTofu).await;
    let body: Value = json!({
        "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"},
        "spec": {
            "replicas": 2, "selector": {"matchLabels": {"app": "web"}},
            "template": {
                "metadata": {"labels": {"app": "web"}},
                "spec": {"containers": [{
                    "name": "web", "image": "nginx:1.29", "ports": [{"containerPort": 80}],
                    "resources": {"limits": {"cpu": "1000m"}},
                }]},
            },
        },
    });
    let object = applied(&at, body).await;
    at.objects(&[("it", DEPLOYMENT)]);
    let mut old = attributes(&at, DEPLOYMENT, &object);
    old["object_ref"]["namespace"] = Value::Null;
    old["cluster_connection"] = old["cluster"].take();
    old["field_ownership"] = old["managed_fields"].take();
    for newer in ["cluster", "managed_fields"] {
        old.as_object_mut().unwrap().remove(newer);
    }
    state(&at, Tool::OpenTofu, 0, &old).await;
    never_says(&at.plan_empty().await.text, "Warning");
    at.apply().await;
    at.plan_empty().await;
    let shown = at.runner.show().await.unwrap();
    let values = &shown["values"]["root_module"]["resources"][0]["values"];
    assert_eq!(values["object_ref"]["namespace"], at.namespace.name());
    at.destroy().await;
}

#[tokio::test]
async fn once_applied_an_upgraded_object_costs_one_request() {
    let at = config_map_of_the_go_provider().await;
    let namespace = at.namespace.name().to_owned();
    let in_short = |asked: &[Request]| asked.iter().map(Request::in_short).collect::<Vec<_>>();
    let (_, asked) = at.cluster.count_during(namespace.as_str(), at.plan_empty()).await.unwrap();
    assert_eq!(in_short(&asked), ["get", "patch (dry-run)"], "the first look");
    at.apply().await;
    let (_, asked) = at.cluster.count_during(namespace.as_str(), at.plan_empty()).await.unwrap();
    assert_eq!(in_short(&asked), ["get"], "from then on");
    at.destroy().await;
}

#[tokio::test]
async fn what_others_changed_since_is_shown_and_set_right() {
    let at = config_map_of_the_go_provider().await;
    let change = json!({"data": {"greeting": "hijacked"}});
    at.cluster.act_as("kubectl-edit").merge_patch(&settings(&at), change).await.unwrap();
    let plan = at.plan_changes().await;
    says(&plan.text, "0 to add, 1 to change, 0 to destroy");
    says(&plan.text, "hijacked");
    says(&plan.text, "kubectl-edit");
    at.apply().await;
    at.plan_empty().await;
    let live = at.cluster.read(&settings(&at)).await.unwrap().unwrap();
    assert_eq!(live["data"]["greeting"], "hello");
    at.destroy().await;
}

#[tokio::test]
async fn a_secret_plans_empty_and_its_value_is_not_told() {
    let at = Workspace::new(Tool::Terraform).await;
    let body = "
apiVersion: v1
kind: Secret
metadata:
  name: keys
  namespace: NS
stringData:
  password: hunter2
";
    let object = json!({
        "apiVersion": "v1", "kind": "Secret", "metadata": {"name": "keys"},
        "stringData": {"password": "hunter2"},
    });
    let object = applied(&at, object).await;
    at.objects(&[("it", body)]);
    let mut attributes = attributes(&at, body, &object);
    attributes["managed_state_projection"] = json!({"stringData.password": "hunter2"});
    state(&at, Tool::Terraform, 2, &attributes).await;
    never_says(&at.plan_empty().await.text, "Warning");
    at.apply().await;
    at.plan_empty().await;
    let shown = at.runner.show().await.unwrap();
    let values = &shown["values"]["root_module"]["resources"][0]["values"];
    never_says(&values["managed_state_projection"].to_string(), "hunter2");
    at.destroy().await;
}

#[tokio::test]
async fn fields_that_the_go_provider_ignored_stay_ignored() {
    let at = Workspace::new(Tool::Terraform).await;
    let object = applied(&at, config_map()).await;
    let change = json!({"data": {"greeting": "set by others"}});
    at.cluster.act_as("others").merge_patch(&settings(&at), change).await.unwrap();
    at.object_with("it", CONFIG_MAP, "ignore_fields = [\"data.greeting\"]");
    let mut attributes = attributes(&at, CONFIG_MAP, &object);
    attributes["ignore_fields"] = json!(["data.greeting"]);
    state(&at, Tool::Terraform, 1, &attributes).await;
    never_says(&at.plan_empty().await.text, "Warning");
    at.apply().await;
    at.plan_empty().await;
    let live = at.cluster.read(&settings(&at)).await.unwrap().unwrap();
    assert_eq!(live["data"]["greeting"], "set by others");
    at.destroy().await;
}

#[tokio::test]
async fn an_object_of_another_state_is_left_to_it() {
    let at = config_map_of_the_go_provider().await;
    let mark = |id: &str| json!({"metadata": {"annotations": {ID_ANNOTATION: id}}});
    let stranger = at.cluster.act_as("somebody");
    stranger.merge_patch(&settings(&at), mark("ffffffffffff")).await.unwrap();
    let plan = at.plan_fails().await;
    says(&plan.text, "It is not certain that ConfigMap");
    says(&plan.text, "bears the id `ffffffffffff`");
    let destroyed = at.runner.run(&["destroy", "-auto-approve", "-no-color", "-refresh=false"]);
    let destroyed = destroyed.await.unwrap();
    says(&destroyed.text, "left alone");
    assert!(at.cluster.read(&settings(&at)).await.unwrap().is_some());
}

#[tokio::test]
async fn an_upgraded_object_is_read_before_it_is_planned() {
    let at = config_map_of_the_go_provider().await;
    at.objects(&[("it", &CONFIG_MAP.replace("hello", "good day"))]);
    let plan = at.runner.plan_with(&["-refresh=false"]).await.unwrap();
    says(&plan.text, "must be read before it can be planned");
    at.plan_changes().await;
    at.apply().await;
    at.plan_empty().await;
    at.destroy().await;
}

#[tokio::test]
async fn an_object_that_was_imported_and_never_applied_is_taken_without_a_change() {
    let at = Workspace::new(Tool::Terraform).await;
    let mut object = config_map();
    object["metadata"]["namespace"] = json!(at.namespace.name());
    let object = at.cluster.act_as("somebody").create(object).await.unwrap();
    at.objects(&[("it", CONFIG_MAP)]);
    let attributes = attributes(&at, CONFIG_MAP, &object);
    state(&at, Tool::Terraform, 2, &attributes).await;
    let plan = at.plan_fails().await;
    says(&plan.text, "The object bears no id");

    std::fs::remove_file(at.runner.directory().join("terraform.tfstate")).unwrap();
    let note = ("imported_without_annotations", "true");
    state_noting(&at, Tool::Terraform, 2, &attributes, note).await;
    let plan = at.plan_changes().await;
    says(&plan.text, "0 to add, 1 to change, 0 to destroy");
    at.apply().await;
    at.plan_empty().await;
    let live = at.cluster.read(&settings(&at)).await.unwrap().unwrap();
    assert_eq!(live["metadata"]["uid"], object["metadata"]["uid"]);
    assert_eq!(live["metadata"]["annotations"][ID_ANNOTATION], ID);
    assert_eq!(live["data"], object["data"]);
    at.destroy().await;
}

#[tokio::test]
async fn an_object_in_the_namespace_of_its_connection_is_found_there() {
    let at = Workspace::new(Tool::Terraform).await;
    let object = applied(&at, config_map()).await;
    let elsewhere = CONFIG_MAP.replace("  namespace: NS\n", "");
    at.objects(&[("it", &elsewhere)]);
    state(&at, Tool::Terraform, 2, &attributes(&at, &elsewhere, &object)).await;
    let plan = at.plan_changes().await;
    says(&plan.text, &format!("metadata.namespace: {} -> default", at.namespace.name()));

    at.objects(&[("it", CONFIG_MAP)]);
    at.plan_empty().await;
    at.apply().await;
    at.plan_empty().await;
    at.destroy().await;
    assert_eq!(at.cluster.read(&settings(&at)).await.unwrap(), None);
}
