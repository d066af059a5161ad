//! A kubeconfig that leads to another cluster than it did, at the same path.

use serde_json::{Value, json};
use testkit::{ControlPlane, PlanOutcome, Target, Tool};

use crate::workspace::{CONFIG_MAP, Workspace, never_says, says};

const WORDS: &str = "leads to another cluster";

/// Two objects by the path of the kubeconfig, which state holds instead of the kubeconfig itself.
fn write(at: &Workspace, greeting: &str) {
    let resources = ["settings", "more"].map(|name| {
        let body = CONFIG_MAP.replace("name: settings", &format!("name: {name}"));
        let body = body.replace("hello", greeting);
        at.resource(name, &body, "")
            .replace("kubeconfig = file(\"kubeconfig\")", "config_path = \"kubeconfig\"")
    });
    at.runner.write("main.tf", &resources.join("\n")).unwrap();
}

#[tokio::test]
async fn nothing_is_planned_written_or_deleted_where_a_kubeconfig_was_swapped() {
    let other = ControlPlane::another().await;
    let at = Workspace::new(Tool::Terraform).await;
    let name = at.namespace.name();
    write(&at, "hello");
    at.init().await;
    at.apply().await;

    // One of the two has a namesake there.
    let namespace = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}});
    other.act_as("testkit").create(namespace).await.unwrap();
    let namesake = CONFIG_MAP.replace("NS", name);
    let namesake = other.act_as("testkit").create(namesake.as_str()).await.unwrap();
    let settings = Target::new("v1", "ConfigMap", name, "settings");
    let before = at.cluster.read(&settings).await.unwrap();

    // A change that was planned at home and saved.
    write(&at, "bonjour");
    at.plan_changes().await;
    at.kubeconfig(&other.kubeconfig());
    let state = at.runner.state(&["pull"]).await.unwrap().successful().unwrap().stdout;
    let refused = at.runner.apply_planned().await.unwrap();
    assert!(!refused.succeeded());
    says(&refused.text, WORDS);

    let plan = at.plan_fails().await;
    says(&plan.text, WORDS);
    says(&plan.text, "terraform state rm ADDRESS");
    let plan = at.runner.plan_with(&["-refresh=false"]).await.unwrap();
    assert_eq!(plan.outcome, PlanOutcome::Failed, "{}", plan.text);
    says(&plan.text, WORDS);
    for command in [&["apply"][..], &["apply", "-refresh=false"], &["destroy"]] {
        let mut whole = command.to_vec();
        whole.extend(["-auto-approve", "-input=false", "-no-color"]);
        let refused = at.runner.run(&whole).await.unwrap();
        assert!(!refused.succeeded(), "{command:?}: {}", refused.text);
        says(&refused.text, WORDS);
        never_says(&refused.text, "Destroy complete");
    }
    // A deletion that nobody looked before finds another object, or none.
    let unseen = ["destroy", "-refresh=false", "-auto-approve", "-input=false", "-no-color"];
    let refused = at.runner.run(&unseen).await.unwrap();
    assert!(!refused.succeeded(), "{}", refused.text);
    says(&refused.text, WORDS);

    let kept = at.runner.state(&["pull"]).await.unwrap().successful().unwrap().stdout;
    // What is marked as sensitive, Terraform lists in any order.
    let resources = |state: &str| {
        let state: Value = serde_json::from_str(state).unwrap();
        let resources = state["resources"].as_array().unwrap().clone();
        let told = |one: Value| {
            let instance = &one["instances"][0];
            (one["name"].clone(), instance["attributes"].clone(), instance["private"].clone())
        };
        resources.into_iter().map(told).collect::<Vec<_>>()
    };
    assert_eq!(resources(&kept), resources(&state), "state was to stay as it was");
    assert_eq!(other.read(&settings).await.unwrap(), Some(namesake));
    assert_eq!(at.cluster.read(&settings).await.unwrap(), before);

    // Back at home it all goes on.
    at.kubeconfig(&at.cluster.kubeconfig());
    at.apply().await;
    at.plan_empty().await;

    // What leaves the configuration meanwhile is kept there, and goes at home, whatever was noted.
    at.kubeconfig(&other.kubeconfig());
    let note = ["apply", "-refresh-only", "-auto-approve", "-input=false", "-no-color"];
    says(&at.runner.run(&note).await.unwrap().successful().unwrap().text, WORDS);
    at.runner.write("main.tf", "").unwrap();
    let plan = at.plan_fails().await;
    says(&plan.text, WORDS);
    assert!(at.cluster.read(&settings).await.unwrap().is_some());
    at.kubeconfig(&at.cluster.kubeconfig());
    at.apply().await;
    assert_eq!(at.cluster.read(&settings).await.unwrap(), None);
}

#[tokio::test]
async fn a_tainted_object_is_not_lost_where_a_kubeconfig_was_swapped() {
    let other = ControlPlane::another().await;
    let at = Workspace::new(Tool::Terraform).await;
    let name = at.namespace.name();
    write(&at, "hello");
    at.init().await;
    at.apply().await;
    let namespace = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}});
    other.act_as("testkit").create(namespace).await.unwrap();
    at.runner.run(&["taint", "k8sconnect_object.settings"]).await.unwrap().successful().unwrap();
    at.plan_changes().await;
    at.kubeconfig(&other.kubeconfig());
    let refused = at.runner.apply_planned().await.unwrap();
    assert!(!refused.succeeded(), "{}", refused.text);
    says(&refused.text, "not found, and the cluster could not be identified");
    never_says(&refused.text, "Destruction complete");
    // The plan of the tainted one gets no state to compare; that of the other one is refused.
    let plan = at.plan_fails().await;
    says(&plan.text, "settings` was not refreshed: its connection leads to another cluster");
    says(&plan.text, WORDS);
    let settings = Target::new("v1", "ConfigMap", name, "settings");
    assert_eq!(other.read(&settings).await.unwrap(), None);
    assert!(at.cluster.read(&settings).await.unwrap().is_some());

    at.kubeconfig(&at.cluster.kubeconfig());
    at.apply().await;
    at.plan_empty().await;
    at.destroy().await;
}
