//! Every sort of field of every sort of object: it settles at once, and goes back to the leaf.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use testkit::Target;

use super::round::Round;
use super::traces;
use crate::workspace::{never_says, says};

fn deployment() -> Value {
    json!({"apiVersion": "apps/v1", "kind": "Deployment",
    "metadata": {"annotations": {"example.com/team": "blue"}},
    "spec": {"replicas": 0, "selector": {"matchLabels": {"app": "web"}}, "template": {
        "metadata": {"labels": {"app": "web"}},
        "spec": {
            "tolerations": [{"key": "gpu", "operator": "Exists"}],
            "volumes": [{"name": "tmp", "emptyDir": {}}],
            "containers": [{"name": "app", "image": "nginx:1",
                "env": [{"name": "MODE", "value": "plain"}],
                "ports": [{"containerPort": 80, "protocol": "TCP"}],
                "resources": {"limits": {"cpu": "500m"}}}],
        }}}})
}

const FORMS: [(&str, &str); 3] = [
    (
        "patch",
        "
# Comments, key order and spelling are the author's own.
metadata: {annotations: {'example.com/a.b': '1'}}
spec:
  template:
    spec:
      tolerations: [{key: spot, operator: Exists}]
      volumes: [{name: extra, emptyDir: {sizeLimit: 1024Mi}}]
      containers:
      - name: app
        env: [{name: HTTP_PROXY, value: 'http://proxy:3128'}]
        ports: [{containerPort: 9090, name: metrics}]
        resources: {limits: {cpu: 1000m}}
",
    ),
    (
        "merge_patch",
        r#"{"metadata": {"annotations": {"example.com/a.b": "1"}}, "spec": {"template": {"spec": {
          "tolerations": [{"key": "spot", "operator": "Exists"}],
          "volumes": [{"name": "tmp", "emptyDir": {}}, {"name": "extra", "emptyDir": {"sizeLimit": "1024Mi"}}],
          "containers": [{"name": "app", "image": "nginx:1",
            "env": [{"name": "MODE", "value": "plain"}, {"name": "HTTP_PROXY", "value": "http://proxy:3128"}],
            "ports": [{"containerPort": 80, "protocol": "TCP"}, {"containerPort": 9090, "name": "metrics"}],
            "resources": {"limits": {"cpu": "1000m"}}}]}}}}"#,
    ),
    (
        "json_patch",
        r#"[
          {"op": "add", "path": "/metadata/annotations/example.com~1a.b", "value": "1"},
          {"op": "add", "path": "/spec/template/spec/tolerations/-", "value": {"key": "spot", "operator": "Exists"}},
          {"op": "add", "path": "/spec/template/spec/volumes/-", "value": {"name": "extra", "emptyDir": {"sizeLimit": "1024Mi"}}},
          {"op": "add", "path": "/spec/template/spec/containers/0/env/-", "value": {"name": "HTTP_PROXY", "value": "http://proxy:3128"}},
          {"op": "add", "path": "/spec/template/spec/containers/0/ports/-", "value": {"containerPort": 9090, "name": "metrics"}},
          {"op": "replace", "path": "/spec/template/spec/containers/0/resources/limits/cpu", "value": "1000m"}]"#,
    ),
];

#[tokio::test]
async fn every_sort_of_field_settles_in_every_form_and_goes_back_to_the_leaf() {
    let mut round = Round::new().await;
    for (attribute, text) in FORMS {
        let target = round.object(&attribute.replace('_', "-"), deployment()).await;
        round.patch(attribute, &target, (attribute, text));
    }
    let fields = |value: &str| -> serde_json::Map<String, Value> {
        (0..100).map(|n| (format!("key-{n}"), json!(value))).collect()
    };
    let many = json!({"data": fields("ours")}).to_string();
    for attribute in ["patch", "merge_patch"] {
        let name = format!("many-{}", attribute.replace('_', "-"));
        let target = round.object(&name, json!({"data": fields("theirs")})).await;
        round.patch(&name, &target, (attribute, &many));
    }
    // A kind without namespaces, whatever the target says.
    let name = round.at.namespace.name().to_owned();
    let namespace = Target::new("v1", "Namespace", "ignored", name.as_str());
    round.patch("namespace", &namespace, ("patch", "metadata: {labels: {example.com/p: 'yes'}}"));
    let before = round.owners().await;
    round.write().at.init().await;
    let plan = round.at.plan_changes().await;
    says(&plan.text, "1 item of `spec.template.spec.tolerations` will go");
    says(&plan.text, &format!("Namespace `{name}` lives in no namespace"));
    says(&plan.text, r#""spec.template.spec.containers[name=app].resources.limits.cpu" = "\"1\"""#);
    says(&plan.text, r#""spec.template.spec.volumes[name=extra].emptyDir.sizeLimit" = "1Gi""#);
    says(&plan.text, r#""metadata.annotations[\"example.com/a.b\"]" = "\"1\"""#);
    round.at.apply().await;
    let plan = round.at.plan_empty().await;
    never_says(&plan.text, "lives in no namespace");
    assert_eq!(round.state("many-patch").await["managed_fields"].as_object().unwrap().len(), 100);
    let patched = round.live().await;
    let plan = round.at.runner.plan_with(&["-destroy"]).await.unwrap();
    says(&plan.text, "… and 80 fields more");
    never_says(&plan.text, "ignored/");
    round.at.runner.apply_planned().await.unwrap().successful().unwrap();
    assert_eq!(round.owners().await, before, "to the leaf, with its times");
    for ((name, after), (_, patched)) in round.live().await.iter().zip(&patched) {
        assert_eq!(traces(after), [""; 0], "{name}");
        assert_eq!((&after["spec"], &after["data"]), (&patched["spec"], &patched["data"]));
    }
}

#[tokio::test]
async fn an_object_whose_kind_comes_in_the_same_run_is_patched_when_both_are_there() {
    let mut round = Round::new().await;
    let cluster = round.at.cluster;
    let group = format!("{}.example.com", round.at.namespace.name());
    let definition = json!({"apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition", "metadata": {"name": format!("gizmos.{group}")},
        "spec": {"group": group, "scope": "Cluster",
            "names": {"kind": "Gizmo", "plural": "gizmos", "singular": "gizmo"},
            "versions": [{"name": "v1", "served": true, "storage": true, "schema": {
                "openAPIV3Schema": {"type": "object", "properties": {"spec": {"type": "object",
                    "properties": {"size": {"type": "integer"}, "tags": {"type": "array",
                        "x-kubernetes-list-type": "set", "items": {"type": "string"}}}}}}}}]}});
    let gizmo = json!({"apiVersion": format!("{group}/v1"), "kind": "Gizmo",
        "metadata": {"name": "one"}, "spec": {"size": 1, "tags": ["theirs"]}});
    let target = Target { namespace: Some("ignored".into()), ..Target::of(&gizmo).unwrap() };
    round.patch("size", &target, ("patch", "spec: {size: 2}"));
    let add = r#"[{"op": "add", "path": "/spec/tags/-", "value": "ours"}]"#;
    round.patch("tags", &target, ("json_patch", add));
    round.write().at.init().await;
    let plan = round.at.plan_changes().await;
    says(&plan.text, &format!("`Gizmo` of `{group}/v1` is not served"));
    let operator = cluster.act_as("operator");
    let makes = async {
        operator.apply(&definition).await.unwrap();
        // The kind is served a moment later, of which no watch tells.
        let deadline = Instant::now() + Duration::from_secs(60);
        while operator.apply(&gizmo).await.is_err() {
            assert!(Instant::now() < deadline, "the kind was never served");
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    let (applied, ()) = tokio::join!(round.at.runner.apply_planned(), makes);
    applied.unwrap().successful().unwrap();
    round.at.plan_empty().await;
    let target = Target { namespace: None, ..target };
    let live = cluster.read(&target).await.unwrap().unwrap();
    assert_eq!(live["spec"], json!({"size": 2, "tags": ["theirs", "ours"]}));
    operator.clone().force().apply(&gizmo).await.unwrap();
    let plan = round.at.plan_changes().await;
    says(&plan.text, "Gizmo `one`: `spec.size` changed outside of Terraform");
    never_says(&plan.text, "ignored/one");
    round.at.destroy().await;
    assert_eq!(traces(&cluster.read(&target).await.unwrap().unwrap()), [""; 0]);
    cluster.delete(&Target::of(&definition).unwrap()).await.unwrap();
}
