//! A `cluster` on a resource, which Terraform stores: its credential is warned of, once per run.

use testkit::Tool;

use crate::workspace::{STORED_CREDENTIAL, Workspace};

/// How often the warning is printed.
fn warnings(text: &str) -> usize {
    text.matches(&format!("Warning: {STORED_CREDENTIAL}")).count()
}

/// Three objects and a wait that describe the cluster in this way.
fn resources(at: &Workspace, cluster: &str) -> String {
    let object = |name: &str| {
        format!(
            "resource \"k8sconnect_object\" \"{name}\" {{\n  cluster = {cluster}\n  \
             yaml_body = \"{{apiVersion: v1, kind: ConfigMap, metadata: {{name: {name}, \
             namespace: {}}}, data: {{a: b}}}}\"\n}}\n",
            at.namespace.name()
        )
    };
    let wait = format!(
        "resource \"k8sconnect_wait\" \"w\" {{\n  cluster = {cluster}\n  \
         object_ref = k8sconnect_object.one.object_ref\n  wait_for = {{ field = \"data.a\" }}\n}}\n"
    );
    ["one", "two", "three"].map(object).concat() + &wait
}

#[tokio::test]
async fn a_credential_that_comes_into_state_is_warned_of_once_per_run() {
    for tool in Tool::ALL {
        let at = Workspace::new(tool).await;
        at.runner
            .write("main.tf", &resources(&at, "{ kubeconfig = file(\"kubeconfig\") }"))
            .unwrap();
        at.init().await;
        assert_eq!(warnings(&at.plan_changes().await.text), 1, "a plan that creates");
        assert_eq!(warnings(&at.apply().await.text), 1, "an apply that creates");
        assert_eq!(warnings(&at.plan_empty().await.text), 1, "a plan without changes");
        assert_eq!(warnings(&at.destroy().await.text), 1, "a destroy");
    }
}

#[tokio::test]
async fn a_cluster_without_a_credential_and_the_provider_block_are_not_warned_of() {
    let at = Workspace::new(Tool::Terraform).await;
    let block = "provider \"k8sconnect\" {\n  cluster = { kubeconfig = file(\"kubeconfig\") }\n}\n";
    for main in [
        resources(&at, "{ config_path = \"kubeconfig\" }"),
        format!("{block}{}", resources(&at, "null")),
    ] {
        at.runner.write("main.tf", &main).unwrap();
        at.init().await;
        assert_eq!(warnings(&at.plan_changes().await.text), 0);
        assert_eq!(warnings(&at.apply().await.text), 0);
        assert_eq!(warnings(&at.plan_empty().await.text), 0);
        at.destroy().await;
    }
}

#[tokio::test]
async fn a_credential_in_a_variable_is_warned_of_by_the_plans_that_know_it() {
    for tool in Tool::ALL {
        let mut at = Workspace::new(tool).await;
        let variable = "variable \"cluster\" {\n  type = object({ kubeconfig = string })\n}\n";
        let main = format!("{variable}{}", resources(&at, "var.cluster"));
        at.runner.write("main.tf", &main).unwrap();
        let kubeconfig = serde_json::json!({"kubeconfig": at.cluster.kubeconfig()}).to_string();
        at.runner.variable("cluster", &kubeconfig);
        at.init().await;
        at.apply().await;
        assert_eq!(warnings(&at.plan_empty().await.text), 1);
        assert_eq!(warnings(&at.apply().await.text), 1);
        at.destroy().await;
    }
}
