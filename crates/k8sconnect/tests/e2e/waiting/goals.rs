//! Every goal of a wait in one configuration, by a way to the cluster that breaks off.

use std::time::{Duration, Instant};

use http::{Method, StatusCode};
use serde_json::json;
use testkit::proxy::{Fate, Proxy, Reply, Rule, Turn, Which};
use testkit::{Target, Tool};

use super::write;
use crate::workspace::{Workspace, says};

const EVERY_GOAL: &str = r#"
locals {
  cluster = { kubeconfig = file("kubeconfig") }
  waiting = { kubeconfig = file("waiting-kubeconfig") }
  goals = {
    rollout   = { rollout = true }
    ready     = { ready = true }
    condition = { condition = "Available", fail_when = { condition = "ReplicaFailure" } }
    value     = { field_value = { "status.availableReplicas" = "2", "{.spec.template.spec.enableServiceLinks}" = "false" } }
    filter    = { field = "spec.template.spec.containers[?(@.name==\"app\")].image" }
  }
}

resource "k8sconnect_object" "web" {
  cluster   = local.cluster
  yaml_body = <<-YAML
    apiVersion: apps/v1
    kind: Deployment
    metadata: {name: web, namespace: NS}
    spec:
      replicas: 2
      selector: {matchLabels: {app: web}}
      template:
        metadata: {labels: {app: web}, annotations: {testkit/pod: slow}}
        spec:
          enableServiceLinks: false
          containers: [{name: app, image: "shop/web:9"}]
  YAML
}

resource "k8sconnect_wait" "web" {
  for_each   = local.goals
  cluster    = local.waiting
  object_ref = k8sconnect_object.web.object_ref
  wait_for   = each.value
}

resource "k8sconnect_object" "migration" {
  cluster   = local.cluster
  yaml_body = <<-YAML
    apiVersion: batch/v1
    kind: Job
    metadata: {name: migrate, namespace: NS}
    spec:
      template:
        spec:
          restartPolicy: Never
          containers: [{name: app, image: "shop/migrate:9"}]
  YAML
}

resource "k8sconnect_wait" "migration" {
  for_each   = { rollout = { rollout = true }, condition = { condition = "Complete" } }
  cluster    = local.waiting
  object_ref = k8sconnect_object.migration.object_ref
  wait_for   = each.value
}

# Neither the object nor its kind is there when these begin, and nothing tells the order.
resource "k8sconnect_wait" "widget" {
  cluster    = local.waiting
  object_ref = { api_version = "NS.example.com/v1", kind = "Widget", name = "w", namespace = "NS" }
  wait_for   = { field = "spec.sizes[0]" }
}

resource "k8sconnect_wait" "gone" {
  cluster    = local.waiting
  object_ref = { api_version = "v1", kind = "ConfigMap", name = "going", namespace = "NS" }
  wait_for   = { deleted = true }
}

resource "k8sconnect_object" "definition" {
  cluster   = local.cluster
  yaml_body = <<-YAML
    apiVersion: apiextensions.k8s.io/v1
    kind: CustomResourceDefinition
    metadata: {name: widgets.NS.example.com}
    spec:
      group: NS.example.com
      scope: Namespaced
      names: {kind: Widget, plural: widgets}
      versions:
      - name: v1
        served: true
        storage: true
        schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}
  YAML
}

resource "k8sconnect_object" "widget" {
  cluster    = local.cluster
  depends_on = [k8sconnect_object.definition]
  yaml_body  = <<-YAML
    apiVersion: NS.example.com/v1
    kind: Widget
    metadata: {name: w, namespace: NS}
    spec: {sizes: [3, 5]}
  YAML
}

output "results" {
  value = {
    more   = k8sconnect_wait.web["value"].result.status.availableReplicas + 1
    links  = k8sconnect_wait.web["value"].result.spec.template.spec.enableServiceLinks ? "yes" : "no"
    status = k8sconnect_wait.web["condition"].result.status.conditions[0].status
    image  = k8sconnect_wait.web["filter"].result.spec.template.spec.containers[*].image
    sizes  = k8sconnect_wait.widget.result.spec.sizes
    others = [k8sconnect_wait.web["rollout"].result, k8sconnect_wait.gone.result]
  }
}
"#;

/// What the waits meet on their way: watches that never come about, that break off in the middle,
/// and that the server has forgotten.
fn obstruct(proxy: &Proxy, namespace: &str) -> [testkit::proxy::Tally; 3] {
    let watches = |path: &str| Which::under(&format!("{path}/{namespace}")).watches();
    let gone = Reply::refusal(StatusCode::GONE, "Expired", "too old resource version");
    [
        (watches("/apis/apps/v1/namespaces"), Turn::First(2), Fate::ResetBefore),
        (watches("/apis/apps/v1/namespaces"), Turn::From(3), Fate::Truncate(700)),
        (watches("/apis/batch/v1/namespaces"), Turn::Nth(1), Fate::Answer(gone)),
    ]
    .map(|(which, turn, fate)| proxy.rule(Rule::new(which, turn, fate)))
}

#[tokio::test]
async fn every_goal_is_reached_over_broken_watches_and_nothing_is_written() {
    for tool in Tool::ALL {
        let at = Workspace::new(tool).await;
        let ns = at.namespace.name();
        let going = json!({"apiVersion": "v1", "kind": "ConfigMap",
            "metadata": {"name": "going", "namespace": ns}});
        at.cluster.act_as("somebody").create(going).await.unwrap();
        let proxy = Proxy::before(at.cluster).await.unwrap();
        at.runner.write("waiting-kubeconfig", &proxy.kubeconfig()).unwrap();
        let obstacles = obstruct(&proxy, ns);
        write(&at, EVERY_GOAL);
        at.init().await;

        let deletion = async {
            let path = format!("/api/v1/namespaces/{ns}/configmaps/going");
            let deadline = Instant::now() + Duration::from_secs(120);
            while proxy.requests_since(0, &path).is_empty() {
                assert!(Instant::now() < deadline, "nobody waits for it to go");
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
            at.cluster.delete(&Target::new("v1", "ConfigMap", ns, "going")).await.unwrap();
        };
        let (run, ()) = tokio::join!(at.apply(), deletion);
        says(&run.text, "13 added");
        let results = at.runner.outputs().await.unwrap()["results"]["value"].clone();
        let expected = json!({"more": 3, "links": "no", "status": "True", "sizes": [3],
            "image": ["shop/web:9"], "others": [null, null]});
        assert_eq!(results, expected);
        let met = obstacles.each_ref().map(|obstacle| !obstacle.fired().is_empty());
        assert_eq!(met, [true; 3], "nothing stood in the way");
        at.plan_empty().await;
        at.destroy().await;
        let writes: Vec<_> =
            proxy.requests().into_iter().filter(|request| request.method != Method::GET).collect();
        assert!(writes.is_empty(), "{writes:?}");
    }
}

const WRONG: &str = r#"
locals {
  object  = { api_version = "v1", kind = "ConfigMap", name = "settings" }
  cluster = { kubeconfig = "nobody is asked" }
}

resource "k8sconnect_wait" "field" {
  cluster    = local.cluster
  object_ref = local.object
  wait_for   = { field = "status.conditions[?(@.type==\"Ready\"]" }
}

resource "k8sconnect_wait" "value" {
  cluster    = local.cluster
  object_ref = local.object
  wait_for   = { field_value = { "status.addresses[" = "x" } }
}

resource "k8sconnect_wait" "fail_when" {
  cluster    = local.cluster
  object_ref = local.object
  wait_for   = { ready = true, fail_when = { field = "status..[0" } }
}

resource "k8sconnect_wait" "rollout" {
  cluster    = local.cluster
  object_ref = local.object
  wait_for   = { rollout = true, timeout = "soon" }
}
"#;

#[tokio::test]
async fn what_cannot_be_waited_for_is_an_error_of_validate() {
    for tool in Tool::ALL {
        let at = Workspace::new(tool).await;
        write(&at, WRONG);
        at.init().await;
        let run = at.runner.run(&["validate", "-no-color"]).await.unwrap();
        assert!(!run.succeeded(), "{}", run.text);
        let paths = run.text.matches("is not a field path").count();
        assert_eq!(paths, 3, "{}", run.text);
        for words in [
            "with k8sconnect_wait.field",
            "status.conditions[?(@.type==\"Ready\"]",
            "with k8sconnect_wait.value",
            "with k8sconnect_wait.fail_when",
            "A ConfigMap does not roll out",
            "length of time",
        ] {
            says(&run.text, words);
        }
    }
}
