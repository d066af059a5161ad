//! That the control plane does what the tests of the provider rely on.

use std::time::Duration;

use serde_json::{Value, json};
use testkit::owners::managers_of;
use testkit::{ControlPlane, Target, TestNamespace};

const SOON: Duration = Duration::from_secs(60);

fn deployment(namespace: &str, replicas: u32) -> Value {
    json!({
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": { "name": "web", "namespace": namespace },
        "spec": {
            "replicas": replicas,
            "selector": { "matchLabels": { "app": "web" } },
            "template": {
                "metadata": { "labels": { "app": "web" } },
                "spec": { "containers": [{ "name": "app", "image": "example.test/web:1" }] },
            },
        },
    })
}

#[tokio::test]
async fn a_deployment_becomes_ready() {
    let control_plane = ControlPlane::shared().await;
    let namespace = TestNamespace::new(control_plane).await.unwrap();
    let manifest = deployment(namespace.name(), 2);
    let kubectl = control_plane.act_as("kubectl");
    kubectl.apply(&manifest).await.unwrap();
    let target = Target::of(&manifest).unwrap();
    control_plane
        .wait_until(&target, SOON, |seen| {
            seen.is_some_and(|object| object["status"]["readyReplicas"] == 2)
        })
        .await
        .unwrap();
}

#[tokio::test]
async fn a_job_finishes() {
    let control_plane = ControlPlane::shared().await;
    let namespace = TestNamespace::new(control_plane).await.unwrap();
    let manifest = format!(
        "apiVersion: batch/v1\nkind: Job\nmetadata:\n  name: once\n  namespace: {namespace}\nspec:\n  \
         template:\n    spec:\n      restartPolicy: Never\n      containers:\n      - name: app\n        \
         image: example.test/job:1\n"
    );
    let kubectl = control_plane.act_as("kubectl");
    let job = kubectl.apply(manifest).await.unwrap();
    control_plane
        .wait_until(&Target::of(&job).unwrap(), SOON, |seen| {
            seen.is_some_and(|object| object["status"]["succeeded"] == 1)
        })
        .await
        .unwrap();
}

#[tokio::test]
async fn a_namespace_with_running_pods_goes_when_deleted() {
    let control_plane = ControlPlane::shared().await;
    let namespace = TestNamespace::new(control_plane).await.unwrap();
    let manifest = deployment(namespace.name(), 1);
    let kubectl = control_plane.act_as("kubectl");
    kubectl.apply(&manifest).await.unwrap();
    let target = Target::of(&manifest).unwrap();
    control_plane
        .wait_until(&target, SOON, |seen| {
            seen.is_some_and(|object| object["status"]["readyReplicas"] == 1)
        })
        .await
        .unwrap();
    let itself = Target::new("v1", "Namespace", None, namespace.name());
    control_plane.delete(&itself).await.unwrap();
    control_plane.wait_until(&itself, SOON, |seen| seen.is_none()).await.unwrap();
}

#[tokio::test]
async fn a_rival_that_scales_owns_the_replicas() {
    let control_plane = ControlPlane::shared().await;
    let namespace = TestNamespace::new(control_plane).await.unwrap();
    let manifest = deployment(namespace.name(), 1);
    let target = Target::of(&manifest).unwrap();
    control_plane.act_as("owner").apply(&manifest).await.unwrap();
    control_plane.act_as("hpa").scale(&target, 3).await.unwrap();
    let live = control_plane.read(&target).await.unwrap().unwrap();
    assert_eq!(live["spec"]["replicas"], 3);
    let holders = managers_of(&live, &["f:spec", "f:replicas"]);
    assert_eq!(holders.into_iter().collect::<Vec<_>>(), ["hpa"]);

    let answer = control_plane.act_as("owner").try_apply(&manifest).await.unwrap();
    assert_eq!(answer.status, 409, "{}", answer.body);
    control_plane.act_as("owner").force().apply(&manifest).await.unwrap();
    let live = control_plane.read(&target).await.unwrap().unwrap();
    let holders = managers_of(&live, &["f:spec", "f:replicas"]);
    assert_eq!(holders.into_iter().collect::<Vec<_>>(), ["owner"]);
}

#[tokio::test]
async fn an_update_replaces_and_a_patch_merges() {
    let control_plane = ControlPlane::shared().await;
    let namespace = TestNamespace::new(control_plane).await.unwrap();
    let map = |data: Value| {
        json!({
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": { "name": "settings", "namespace": namespace.name() },
            "data": data,
        })
    };
    let rival = control_plane.act_as("kubectl-replace");
    rival.create(map(json!({ "a": "1", "b": "1" }))).await.unwrap();
    let updated = rival.update(map(json!({ "a": "2" }))).await.unwrap();
    assert_eq!(updated["data"], json!({ "a": "2" }));
    let target = Target::of(&updated).unwrap();
    let patched = control_plane
        .act_as("kubectl-edit")
        .merge_patch(&target, json!({ "data": { "c": "3" } }))
        .await
        .unwrap();
    assert_eq!(patched["data"], json!({ "a": "2", "c": "3" }));
    let holders = managers_of(&patched, &["f:data", "f:c"]);
    assert_eq!(holders.into_iter().collect::<Vec<_>>(), ["kubectl-edit"]);
    control_plane.delete(&target).await.unwrap();
    assert_eq!(control_plane.read(&target).await.unwrap(), None);
}
