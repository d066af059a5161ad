//! Every way for a wait to fail, in one configuration: what is said, and what is left behind.

use std::time::{Duration, Instant};

use testkit::{Filter, Target, Tool};

use super::write;
use crate::workspace::{Workspace, never_says, says};

const IN_VAIN: &str = r#"
locals {
  cluster = { kubeconfig = file("kubeconfig") }
  waiting = { kubeconfig = file("waiting-kubeconfig") }
  pods    = { stuck = "unready", unpulled = "unpulled" }
}

resource "k8sconnect_object" "deployment" {
  for_each  = local.pods
  cluster   = local.cluster
  yaml_body = <<-YAML
    apiVersion: apps/v1
    kind: Deployment
    metadata: {name: ${each.key}, namespace: NS}
    spec:
      progressDeadlineSeconds: ${each.key == "stuck" ? 2 : 600}
      selector: {matchLabels: {app: ${each.key}}}
      template:
        metadata: {labels: {app: ${each.key}}, annotations: {testkit/pod: ${each.value}}}
        spec:
          containers: [{name: app, image: "shop/web:9"}]
  YAML
}

resource "k8sconnect_wait" "deployment" {
  for_each   = { stuck = "1m", unpulled = "12s" }
  cluster    = local.waiting
  object_ref = k8sconnect_object.deployment[each.key].object_ref
  wait_for   = { rollout = true, timeout = each.value }
}

resource "k8sconnect_object" "migration" {
  cluster   = local.cluster
  yaml_body = <<-YAML
    apiVersion: batch/v1
    kind: Job
    metadata: {name: migrate, namespace: NS}
    spec:
      backoffLimit: 0
      template:
        metadata: {annotations: {testkit/pod: failing}}
        spec:
          restartPolicy: Never
          containers: [{name: app, image: "shop/migrate:9"}]
  YAML
}

resource "k8sconnect_wait" "migration" {
  cluster    = local.waiting
  object_ref = k8sconnect_object.migration.object_ref
  wait_for   = { rollout = true }
}

resource "k8sconnect_object" "state" {
  cluster   = local.cluster
  yaml_body = <<-YAML
    apiVersion: v1
    kind: ConfigMap
    metadata: {name: state, namespace: NS}
    data: {phase: Broken}
  YAML
}

resource "k8sconnect_wait" "phase" {
  cluster    = local.waiting
  object_ref = k8sconnect_object.state.object_ref
  wait_for = {
    field_value = { "data.phase" = "Done" }
    fail_when   = { field_value = { "data.phase" = "Broken" } }
  }
}

resource "k8sconnect_wait" "late" {
  cluster    = local.waiting
  object_ref = k8sconnect_object.state.object_ref
  wait_for   = { field = "data.address", timeout = "1s" }
}
"#;

/// The way of a user whom the audit log tells apart.
fn as_waiter(at: &Workspace) -> String {
    let user = format!("waiter-of-{}", at.namespace.name());
    let kubeconfig = at.cluster.kubeconfig_for(&user, Some("system:masters")).unwrap();
    at.runner.write("waiting-kubeconfig", &kubeconfig).unwrap();
    user
}

#[tokio::test]
async fn what_cannot_recover_ends_a_wait_early_and_taints_nothing() {
    for tool in Tool::ALL {
        let at = Workspace::new(tool).await;
        let user = as_waiter(&at);
        write(&at, IN_VAIN);
        at.init().await;
        let started = Instant::now();
        let run = at.runner.apply().await.unwrap();
        assert!(!run.succeeded(), "{}", run.text);
        assert!(started.elapsed() < Duration::from_secs(55), "{:?}", started.elapsed());
        let ns = at.namespace.name();
        for words in [
            &format!("Deployment `{ns}/stuck` cannot roll out"),
            "it made no progress within its deadline (ProgressDeadlineExceeded",
            "readiness probes do not succeed",
            &format!("Deployment `{ns}/unpulled` cannot roll out"),
            "cannot be pulled (ImagePullBackOff: Back-off pulling image \"shop/web:9\"",
            "Warning  Failed  Pod unpulled-",
            &format!("Job `{ns}/migrate` cannot roll out"),
            "the Job has failed (BackoffLimitExceeded",
            "it ended with exit code 3",
            "will not get the awaited `data.phase`",
            "`fail_when` holds: `data.phase` is `Broken`",
            &format!("ConfigMap `{ns}/state` did not get `data.address` within 1s"),
            "Last seen: `data.address` is not there.",
        ] {
            says(&run.text, words);
        }

        // The objects are in state and in order; only the waits are made again.
        let state = at.runner.show().await.unwrap().to_string();
        never_says(&state, "\"tainted\"");
        let plan = at.plan_changes().await;
        says(&plan.text, "5 to add, 0 to change, 0 to destroy");
        never_says(&plan.text, "tainted");
        let target = Target::new("batch/v1", "Job", ns, "migrate");
        assert!(at.cluster.read(&target).await.unwrap().is_some());
        at.destroy().await;
        let asked = at.cluster.requests(Filter::by_user(&user)).await.unwrap();
        let writes: Vec<_> = asked.iter().filter(|request| request.writes()).collect();
        assert!(asked.len() > 5 && writes.is_empty(), "{writes:?}");
    }
}
