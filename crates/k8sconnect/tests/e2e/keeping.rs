//! Nothing is lost: what was not proved to be gone stays in state, whatever a destroy meets.

use serde_json::json;
use testkit::{ControlPlane, Run, Target, Tool};

use crate::workspace::{CONFIG_MAP, Workspace, says};

/// A destroy that must fail, and leave the object in state.
async fn keeps(at: &Workspace, arguments: &[&str]) -> Run {
    let all = [&["destroy", "-auto-approve", "-no-color"], arguments].concat();
    let run = at.runner.run(&all).await.unwrap();
    assert!(!run.succeeded(), "{}", run.text);
    let listed = at.runner.state(&["list"]).await.unwrap();
    says(&listed.text, "k8sconnect_object.it");
    run
}

/// A kubeconfig that lets in by token.
fn by_token(cluster: &ControlPlane, token: &str) -> String {
    use base64::Engine;
    let ca = base64::engine::general_purpose::STANDARD.encode(cluster.ca());
    json!({
        "apiVersion": "v1", "kind": "Config", "current-context": "it",
        "clusters": [{"name": "it", "cluster":
            {"server": cluster.url(), "certificate-authority-data": ca}}],
        "users": [{"name": "it", "user": {"token": token}}],
        "contexts": [{"name": "it", "context": {"cluster": "it", "user": "it"}}],
    })
    .to_string()
}

/// One object that is reached by the path of a kubeconfig, which may lead elsewhere tomorrow.
async fn by_path() -> Workspace {
    let at = Workspace::new(Tool::Terraform).await;
    at.kubeconfig(&by_token(at.cluster, at.cluster.token()));
    let main = at.resource("it", CONFIG_MAP, "");
    let main = main.replace("kubeconfig = file(\"kubeconfig\")", "config_path = \"kubeconfig\"");
    at.runner.write("main.tf", &main).unwrap();
    at.init().await;
    at.apply().await;
    at.plan_empty().await;
    at
}

#[tokio::test]
async fn an_expired_token_a_forbidden_user_and_a_dead_server_keep_the_object() {
    let at = by_path().await;
    let target = Target::new("v1", "ConfigMap", at.namespace.name(), "settings");
    at.kubeconfig(&by_token(at.cluster, "long-expired"));
    let run = keeps(&at, &[]).await;
    says(&run.text, "could not be refreshed");
    says(&run.text, "could not be read, so nothing can be planned for it");
    let run = keeps(&at, &["-refresh=false"]).await;
    says(&run.text, "was not deleted");
    says(&run.text, "The credentials have expired, or they are not for this cluster");

    at.kubeconfig(&at.cluster.kubeconfig_for("may-do-nothing", None).unwrap());
    let run = keeps(&at, &["-refresh=false"]).await;
    says(&run.text, "may-do-nothing");

    let dead = at.cluster.kubeconfig().replace(at.cluster.url(), "https://127.0.0.1:1");
    at.kubeconfig(&dead);
    let run = keeps(&at, &["-refresh=false"]).await;
    says(&run.text, "Nothing listens there: the connection was refused");
    assert!(at.cluster.read(&target).await.unwrap().is_some());

    at.kubeconfig(&by_token(at.cluster, at.cluster.token()));
    at.plan_empty().await;
    at.destroy().await;
    assert_eq!(at.cluster.read(&target).await.unwrap(), None);
}

#[tokio::test]
async fn what_is_gone_already_needs_no_destroying() {
    let at = by_path().await;
    let target = Target::new("v1", "ConfigMap", at.namespace.name(), "settings");
    at.cluster.delete(&target).await.unwrap();
    let arguments = ["destroy", "-auto-approve", "-no-color", "-refresh=false"];
    at.runner.run(&arguments).await.unwrap().successful().unwrap();
    at.plan_changes().await;
}

#[tokio::test]
async fn a_kind_that_is_not_served_keeps_the_object_and_another_version_or_no_definition_lets_it_go()
 {
    let at = Workspace::new(Tool::Terraform).await;
    let group = format!("{}.example.com", at.namespace.name());
    let definition = |first: bool, second: bool| {
        let schema = json!({"openAPIV3Schema":
            {"type": "object", "x-kubernetes-preserve-unknown-fields": true}});
        json!({
            "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
            "metadata": {"name": format!("heaps.{group}")},
            "spec": {"group": group, "scope": "Namespaced",
                "names": {"kind": "Heap", "plural": "heaps"},
                "versions": [
                    {"name": "v1", "served": first, "storage": true, "schema": schema},
                    {"name": "v2", "served": second, "storage": false, "schema": schema}]},
        })
    };
    let operator = at.cluster.act_as("operator");
    operator.apply(definition(true, true)).await.unwrap();
    let path = format!("/apis/{group}/v1/namespaces/{}/heaps", at.namespace.name());
    let answers = |code: u16| {
        let (cluster, path) = (at.cluster, path.clone());
        async move {
            let deadline = std::time::Instant::now() + std::time::Duration::from_secs(30);
            loop {
                let answer = cluster.request(http::Method::GET, &path, "", None).await.unwrap();
                if answer.status.as_u16() == code {
                    break;
                }
                assert!(std::time::Instant::now() < deadline, "never {code}");
            }
        }
    };
    answers(200).await;
    let heap = "{apiVersion: GROUP/v1, kind: Heap, metadata: {name: it, namespace: NS}}";
    at.objects(&[("it", &heap.replace("GROUP", &group))]).init().await;
    at.apply().await;
    at.plan_empty().await;

    operator.apply(definition(false, false)).await.unwrap();
    answers(404).await;
    for arguments in [&[][..], &["-refresh=false"]] {
        let run = keeps(&at, arguments).await;
        says(&run.text, "State keeps the object");
    }
    operator.apply(definition(true, true)).await.unwrap();
    answers(200).await;
    at.plan_empty().await;

    // In another version it is there, and can go.
    operator.apply(definition(false, true)).await.unwrap();
    answers(404).await;
    let plan = at.runner.plan().await.unwrap();
    says(&plan.text, &format!("terraform import ADDRESS '{}/Heap.v2.{group}/it'", at.namespace));
    says(&plan.text, "No changes.");
    at.destroy().await;
    operator.apply(definition(true, true)).await.unwrap();
    answers(200).await;
    at.apply().await;

    // With its definition it is gone indeed.
    at.cluster.delete(&Target::of(&definition(true, true)).unwrap()).await.unwrap();
    answers(404).await;
    at.destroy().await;
}
