//! Ctrl-C while something takes long: it ends within seconds, in our words, and state is true.

use std::time::{Duration, Instant};

use http::{Method, StatusCode};
use serde_json::json;
use testkit::audit::Persistence;
use testkit::proxy::{Fate, Proxy, Recorded, Reply, Rule, Turn, Which};
use testkit::{Target, Tool};

use crate::workspace::{CONFIG_MAP, Workspace, says};

/// The provider ends within two seconds. Terraform itself takes a moment more on a busy machine.
const SOON: Duration = Duration::from_secs(10);
const APPLY: [&str; 4] = ["apply", "-auto-approve", "-input=false", "-no-color"];

/// Waits for what a test cannot be told of.
async fn until(mut come: impl FnMut() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(120);
    while !come() {
        assert!(Instant::now() < deadline, "it never came");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

fn writes(proxy: &Proxy) -> usize {
    let written =
        |one: &&Recorded| one.method == Method::PATCH && one.persistence() == Persistence::Real;
    proxy.requests().iter().filter(written).count()
}

async fn managed(at: &Workspace) -> Vec<String> {
    let listed = at.runner.state(&["list"]).await.unwrap();
    listed.stdout.lines().map(ToOwned::to_owned).collect()
}

#[tokio::test]
async fn a_long_wait_ends_and_what_was_made_before_it_is_kept() {
    for tool in Tool::ALL {
        let at = Workspace::new(tool).await;
        let object = at.resource("settings", CONFIG_MAP, "");
        let wait = "resource \"k8sconnect_wait\" \"it\" {\n  \
            cluster = { kubeconfig = file(\"kubeconfig\") }\n  \
            object_ref = k8sconnect_object.settings.object_ref\n  \
            wait_for = { field = \"data.never\", timeout = \"10m\" }\n}\n";
        at.runner.write("main.tf", &format!("{object}{wait}")).unwrap();
        at.init().await;
        let proxy = Proxy::before(at.cluster).await.unwrap();
        at.kubeconfig(&proxy.kubeconfig());
        let watched = || proxy.requests().iter().any(Recorded::is_watch);
        let (run, took) = at.runner.run_interrupted(&APPLY, until(watched)).await.unwrap();
        assert!(!run.succeeded() && took < SOON, "{took:?}: {}", run.text);
        says(&run.text, "was interrupted");
        assert_eq!(managed(&at).await.first().unwrap(), "k8sconnect_object.settings");
        let plan = at.plan_changes().await;
        says(&plan.text, "1 to add, 0 to change");
        at.destroy().await;
    }
}

#[tokio::test]
async fn a_deletion_that_a_finalizer_holds_ends_and_state_keeps_the_object() {
    let at = Workspace::new(Tool::Terraform).await;
    let proxy = Proxy::before(at.cluster).await.unwrap();
    at.kubeconfig(&proxy.kubeconfig());
    at.objects(&[("settings", CONFIG_MAP)]).init().await;
    at.apply().await;
    let target = Target::new("v1", "ConfigMap", at.namespace.name(), "settings");
    let keeper = at.cluster.act_as("keeper");
    let pin = json!({ "metadata": { "finalizers": ["example.com/keep"] } });
    keeper.merge_patch(&target, pin).await.unwrap();
    let watched = || proxy.requests().iter().any(Recorded::is_watch);
    let destroy = ["destroy", "-auto-approve", "-input=false", "-no-color"];
    let (run, took) = at.runner.run_interrupted(&destroy, until(watched)).await.unwrap();
    assert!(!run.succeeded() && took < SOON, "{took:?}: {}", run.text);
    says(&run.text, "is still being deleted: the run was interrupted");
    assert_eq!(managed(&at).await, ["k8sconnect_object.settings"]);
    assert!(at.cluster.read(&target).await.unwrap().is_some());

    keeper.merge_patch(&target, json!({ "metadata": { "finalizers": null } })).await.unwrap();
    at.destroy().await;
    assert_eq!(at.cluster.read(&target).await.unwrap(), None);
}

#[tokio::test]
async fn a_kind_that_does_not_come_is_waited_for_no_longer_and_nothing_is_in_state() {
    let at = Workspace::new(Tool::Terraform).await;
    let proxy = Proxy::before(at.cluster).await.unwrap();
    at.kubeconfig(&proxy.kubeconfig());
    let widget = "apiVersion: never.example.com/v1\nkind: Widget\nmetadata:\n  name: a\n  \
                  namespace: default\n";
    at.objects(&[("widget", widget)]).init().await;
    let watched = || proxy.requests().iter().any(Recorded::is_watch);
    let (run, took) = at.runner.run_interrupted(&APPLY, until(watched)).await.unwrap();
    assert!(!run.succeeded() && took < SOON, "{took:?}: {}", run.text);
    says(&run.text, "was not created: the run was interrupted");
    assert_eq!(managed(&at).await, [""; 0]);
}

#[tokio::test]
async fn what_is_tried_again_and_again_ends_and_says_what_may_have_been_done() {
    let at = Workspace::new(Tool::Terraform).await;
    let proxy = Proxy::before(at.cluster).await.unwrap();
    at.kubeconfig(&proxy.kubeconfig());
    at.objects(&[("settings", CONFIG_MAP)]).init().await;
    let which = || Which::any().method(Method::PATCH).persistence(Persistence::Real);
    let busy = Reply::refusal(StatusCode::SERVICE_UNAVAILABLE, "", "shutting down");
    proxy.rule(Rule::new(which(), Turn::Every, Fate::Answer(busy)));
    let tried = until(|| writes(&proxy) >= 3);
    let (run, took) = at.runner.run_interrupted(&APPLY, tried).await.unwrap();
    assert!(!run.succeeded() && took < SOON, "{took:?}: {}", run.text);
    says(&run.text, "Interrupted while the API server");
    assert_eq!(managed(&at).await, [""; 0]);
    let target = Target::new("v1", "ConfigMap", at.namespace.name(), "settings");
    assert_eq!(at.cluster.read(&target).await.unwrap(), None);

    // The server does as it is told, and no answer arrives.
    proxy.forget_rules();
    proxy.rule(Rule::new(which(), Turn::Every, Fate::ResetAfter));
    let before = writes(&proxy);
    let tried = until(|| writes(&proxy) >= before + 3);
    let (run, took) = at.runner.run_interrupted(&APPLY, tried).await.unwrap();
    assert!(!run.succeeded() && took < SOON, "{took:?}: {}", run.text);
    says(&run.text, "The object may have been created all the same, and state does not know it");
    assert_eq!(managed(&at).await, [""; 0]);
    let made = at.cluster.read(&target).await.unwrap().unwrap();

    // And it is as was said.
    proxy.forget_rules();
    says(&at.plan_fails().await.text, "exists already");
    at.object_with("settings", CONFIG_MAP, "adopt = true");
    at.apply().await;
    at.plan_empty().await;
    let taken = at.cluster.read(&target).await.unwrap().unwrap();
    assert_eq!(taken["metadata"]["uid"], made["metadata"]["uid"]);
    at.destroy().await;
}

#[tokio::test]
async fn a_dry_run_that_hangs_is_ended_for_it_writes_nothing() {
    let at = Workspace::new(Tool::Terraform).await;
    let proxy = Proxy::before(at.cluster).await.unwrap();
    at.kubeconfig(&proxy.kubeconfig());
    at.objects(&[("settings", CONFIG_MAP)]).init().await;
    let hangs = Fate::Delay(Duration::from_secs(50));
    proxy.rule(Rule::new(Which::any().method(Method::PATCH), Turn::Every, hangs));
    let plan = ["plan", "-input=false", "-no-color"];
    let asked = until(|| proxy.requests().iter().any(|one| one.method == Method::PATCH));
    let (run, took) = at.runner.run_interrupted(&plan, asked).await.unwrap();
    assert!(!run.succeeded() && took < SOON, "{took:?}: {}", run.text);
    says(&run.text, "Interrupted while the API server");
}

#[tokio::test]
async fn a_credential_plugin_that_hangs_is_ended() {
    let at = Workspace::new(Tool::Terraform).await;
    let ran = at.runner.directory().join("ran");
    let plugin = format!(
        "exec = {{\n  api_version = \"client.authentication.k8s.io/v1\"\n  command = \"sh\"\n  \
         args = [\"-c\", \"touch '{}'; trap '' INT; exec sleep 300\"]\n}}",
        ran.display()
    );
    let cluster = format!("host = \"{}\"\n  {plugin}", at.cluster.url());
    let objects = ["one", "two", "three"].map(|name| {
        let body = CONFIG_MAP.replace("name: settings", &format!("name: {name}"));
        at.resource(name, &body, "").replace("kubeconfig = file(\"kubeconfig\")", &cluster)
    });
    at.runner.write("main.tf", &objects.join("\n")).unwrap();
    at.init().await;
    let plan = ["plan", "-input=false", "-no-color"];
    let (run, took) = at.runner.run_interrupted(&plan, until(|| ran.exists())).await.unwrap();
    assert!(!run.succeeded() && took < SOON, "{took:?}: {}", run.text);
    says(&run.text, "It was not waited for, since you asked to stop");
}
