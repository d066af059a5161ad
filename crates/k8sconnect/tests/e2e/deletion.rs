//! How objects go, and how it is told when they do not.

use std::time::Duration;

use serde_json::json;
use testkit::{Target, Tool};

use crate::workspace::{CONFIG_MAP, DEPLOYMENT, Policy, Workspace, never_says, says};

fn settings(at: &Workspace) -> Target {
    Target::new("v1", "ConfigMap", at.namespace.name(), "settings")
}

async fn pin(at: &Workspace) {
    let finalizer = json!({"metadata": {"finalizers": ["example.com/cleanup"]}});
    at.cluster.act_as("operator").merge_patch(&settings(at), finalizer).await.unwrap();
}

async fn unpin(at: &Workspace) {
    let none = json!({"metadata": {"finalizers": null}});
    at.cluster.act_as("operator").merge_patch(&settings(at), none).await.unwrap();
}

#[tokio::test]
async fn a_protected_object_is_neither_destroyed_nor_replaced() {
    let at = Workspace::new(Tool::Terraform).await;
    at.object_with("settings", CONFIG_MAP, "delete_protection = true").init().await;
    at.apply().await;
    let destroy = at.runner.destroy().await.unwrap();
    assert!(!destroy.succeeded());
    says(&destroy.text, "is protected from deletion");

    let renamed = CONFIG_MAP.replace("name: settings", "name: renamed");
    at.object_with("settings", &renamed, "delete_protection = true");
    let plan = at.plan_fails().await;
    says(&plan.text, "would have to be replaced, but is protected from deletion");

    at.object_with("settings", CONFIG_MAP, "delete_protection = false");
    at.apply().await;
    at.plan_empty().await;
    at.destroy().await;
    assert_eq!(at.cluster.read(&settings(&at)).await.unwrap(), None);
}

#[tokio::test]
async fn a_stuck_deletion_names_its_finalizer_and_keeps_the_object_in_state() {
    let at = Workspace::new(Tool::Terraform).await;
    at.object_with("settings", CONFIG_MAP, "delete_timeout = \"2s\"").init().await;
    at.apply().await;
    pin(&at).await;
    let destroy = at.runner.destroy().await.unwrap();
    assert!(!destroy.succeeded(), "{}", destroy.text);
    says(&destroy.text, "is still there after 2 seconds");
    says(&destroy.text, "example.com/cleanup served by");
    says(&at.runner.state(&["list"]).await.unwrap().text, "k8sconnect_object.settings");
    // The way out that it names: state has to know of it first.
    says(&destroy.text, "It counts only once it is applied");
    let forced = "delete_timeout = \"2s\"\n  force_destroy = true";
    at.object_with("settings", CONFIG_MAP, forced);
    at.apply().await;
    at.destroy().await;
    assert_eq!(at.cluster.read(&settings(&at)).await.unwrap(), None);
}

#[tokio::test]
async fn force_removes_finalizers_only_after_the_timeout_and_says_which() {
    let at = Workspace::new(Tool::Terraform).await;
    let terms = "delete_timeout = \"2s\"\n  force_destroy = true";
    at.object_with("settings", CONFIG_MAP, terms).init().await;
    at.apply().await;
    pin(&at).await;
    let started = std::time::Instant::now();
    let destroyed = at.destroy().await;
    assert!(started.elapsed().as_secs() >= 2);
    says(&destroyed.text, "its finalizers were removed by force");
    says(&destroyed.text, "example.com/cleanup");
    assert_eq!(at.cluster.read(&settings(&at)).await.unwrap(), None);
}

#[tokio::test]
async fn zero_seconds_do_not_wait_and_say_so() {
    let at = Workspace::new(Tool::Terraform).await;
    at.object_with("settings", CONFIG_MAP, "delete_timeout = \"0s\"").init().await;
    at.apply().await;
    pin(&at).await;
    let destroyed = at.destroy().await;
    says(&destroyed.text, "is being deleted and may still be there");
    // What is still going is waited for by whoever makes it anew.
    at.object_with("settings", CONFIG_MAP, "apply_timeout = \"2s\"");
    let plan = at.plan_changes().await;
    says(&plan.text, "is being deleted at the moment");
    let run = at.runner.apply().await.unwrap();
    assert!(!run.succeeded());
    says(&run.text, "the old one is still being deleted");
    unpin(&at).await;
    at.apply().await;
    at.plan_empty().await;
    at.destroy().await;
}

#[tokio::test]
async fn an_object_that_another_state_took_over_is_left_alone() {
    let at = Workspace::new(Tool::Terraform).await;
    at.objects(&[("settings", CONFIG_MAP)]).init().await;
    at.apply().await;
    let other = json!({"metadata": {"annotations":
        {"k8sconnect.terraform.io/terraform-id": "somebody-elses"}}});
    at.cluster.act_as("other-state").merge_patch(&settings(&at), other).await.unwrap();
    let destroyed = at.destroy().await;
    says(&destroyed.text, "belongs to another state now and was left alone");
    assert!(at.cluster.read(&settings(&at)).await.unwrap().is_some());
}

#[tokio::test]
async fn a_refused_deletion_is_an_error_in_the_servers_words() {
    let at = Workspace::new(Tool::Terraform).await;
    at.objects(&[("settings", CONFIG_MAP)]).init().await;
    at.apply().await;
    let policy = Policy::impose(&at, &["DELETE"], "false", "nothing is deleted here").await;
    // In force once another deletion is refused.
    let probe = Target::new("v1", "ConfigMap", at.namespace.name(), "kube-root-ca.crt");
    let deadline = std::time::Instant::now() + std::time::Duration::from_secs(30);
    while at.cluster.delete(&probe).await.is_ok() {
        assert!(std::time::Instant::now() < deadline, "the policy never came into force");
    }
    let destroy = at.runner.destroy().await.unwrap();
    assert!(!destroy.succeeded());
    says(&destroy.text, "was not deleted");
    says(&destroy.text, "nothing is deleted here");
    says(&at.runner.state(&["list"]).await.unwrap().text, "k8sconnect_object.settings");
    policy.lift().await;
    let deadline = std::time::Instant::now() + std::time::Duration::from_secs(30);
    while !at.runner.destroy().await.unwrap().succeeded() {
        assert!(std::time::Instant::now() < deadline, "the policy never went out of force");
    }
}

#[tokio::test]
async fn what_an_object_owns_goes_with_it_unless_it_is_to_stay() {
    let at = Workspace::new(Tool::Terraform).await;
    at.object_with("web", DEPLOYMENT, "delete_propagation = \"orphan\"").init().await;
    at.apply().await;
    let path = format!("/apis/apps/v1/namespaces/{}/replicasets", at.namespace.name());
    let sets = || async {
        let answer = at.cluster.request(http::Method::GET, &path, "", None).await.unwrap();
        answer.accepted().unwrap()["items"].as_array().unwrap().len()
    };
    let deadline = std::time::Instant::now() + std::time::Duration::from_secs(30);
    while sets().await == 0 {
        assert!(std::time::Instant::now() < deadline, "no ReplicaSet was ever made");
    }
    at.destroy().await;
    assert_eq!(sets().await, 1, "the orphan stays");
    at.object_with("web", DEPLOYMENT, "delete_propagation = \"sideways\"");
    let plan = at.plan_fails().await;
    says(&plan.text, "`sideways` is not one of `background`, `foreground` and `orphan`");
}

/// The server itself would leave the pods of a Job behind.
#[tokio::test]
async fn the_pods_of_a_job_go_with_it() {
    let at = Workspace::new(Tool::Terraform).await;
    let job = |name: &str| {
        format!(
            "{{apiVersion: batch/v1, kind: Job, metadata: {{name: {name}, namespace: NS}}, spec: \
             {{template: {{spec: {{restartPolicy: Never, containers: [{{name: a, image: a}}]}}}}}}}}"
        )
    };
    let main = [
        at.resource("usual", &job("usual"), ""),
        at.resource("patient", &job("patient"), "delete_propagation = \"foreground\""),
    ];
    at.runner.write("main.tf", &main.join("\n")).unwrap();
    at.init().await;
    at.apply().await;
    let path = format!("/api/v1/namespaces/{}/pods", at.namespace.name());
    let pods = |of: &'static str| {
        let (cluster, path) = (at.cluster, path.clone());
        async move {
            let query = format!("labelSelector=job-name%3D{of}");
            let answer = cluster.request(http::Method::GET, &path, &query, None).await.unwrap();
            answer.accepted().unwrap()["items"].as_array().unwrap().len()
        }
    };
    let deadline = std::time::Instant::now() + std::time::Duration::from_secs(30);
    while pods("usual").await == 0 || pods("patient").await == 0 {
        assert!(std::time::Instant::now() < deadline, "no pod was ever made");
    }
    at.plan_empty().await;
    at.destroy().await;
    assert_eq!(pods("patient").await, 0, "they were waited for");
    let deadline = std::time::Instant::now() + std::time::Duration::from_secs(30);
    while pods("usual").await > 0 {
        assert!(std::time::Instant::now() < deadline, "its pod is left behind");
    }
}

#[tokio::test]
async fn a_taint_does_not_get_past_protection() {
    let at = Workspace::new(Tool::Terraform).await;
    at.object_with("settings", CONFIG_MAP, "delete_protection = true").init().await;
    at.apply().await;
    let uid = at.cluster.read(&settings(&at)).await.unwrap().unwrap()["metadata"]["uid"].clone();
    let run = at.runner.apply_with(&["-replace=k8sconnect_object.settings"]).await.unwrap();
    assert!(!run.succeeded(), "{}", run.text);
    says(&run.text, "would be deleted and made anew, but is protected from deletion");
    at.runner.run(&["taint", "k8sconnect_object.settings"]).await.unwrap().successful().unwrap();
    says(&at.plan_fails().await.text, "run `terraform untaint ADDRESS`");
    let live = at.cluster.read(&settings(&at)).await.unwrap().unwrap();
    assert_eq!(live["metadata"]["uid"], uid, "it was not touched");
    at.runner.run(&["untaint", "k8sconnect_object.settings"]).await.unwrap().successful().unwrap();
    at.object_with("settings", CONFIG_MAP, "");
    at.apply().await;
    at.plan_empty().await;
    at.destroy().await;
}

#[tokio::test]
async fn an_object_that_is_going_is_said_to_go() {
    let at = Workspace::new(Tool::Terraform).await;
    at.objects(&[("settings", CONFIG_MAP)]).init().await;
    at.apply().await;
    pin(&at).await;
    let path = format!("/api/v1/namespaces/{}/configmaps/settings", at.namespace.name());
    at.cluster.request(http::Method::DELETE, &path, "", None).await.unwrap();
    let plan = at.plan_empty().await;
    says(&plan.text, "/settings` is being deleted");
    never_says(&plan.text, "by others");
    says(&plan.text, "example.com/cleanup");
    unpin(&at).await;
    at.destroy().await;
}

#[tokio::test]
async fn a_namespace_that_does_not_go_says_what_is_left_inside() {
    let at = Workspace::new(Tool::Terraform).await;
    let body = "apiVersion: v1\nkind: Namespace\nmetadata:\n  name: NS-full\n";
    // Force removes finalizers, and nothing holds the namespace but what is inside.
    let terms = "delete_timeout = \"20s\"\n  force_destroy = true";
    at.object_with("full", body, terms).init().await;
    at.apply().await;
    let name = format!("{}-full", at.namespace.name());
    let pinned = json!({
        "apiVersion": "v1", "kind": "ConfigMap",
        "metadata": {"name": "pinned", "namespace": name, "finalizers": ["example.com/cleanup"]},
    });
    at.cluster.act_as("operator").create(pinned).await.unwrap();
    let destroy = at.runner.destroy().await.unwrap();
    assert!(!destroy.succeeded(), "{}", destroy.text);
    says(&destroy.text, "is still there after 20 seconds");
    never_says(&destroy.text, "by force");
    says(&destroy.text, "not empty yet");
    says(&destroy.text, "configmaps. has 1 resource instances");
    says(&destroy.text, "example.com/cleanup in 1 resource instances");
    says(&destroy.text, "ConfigMap `pinned` example.com/cleanup served by");
    says(&destroy.text, "kubectl api-resources --verbs=list");
    let target = Target::new("v1", "ConfigMap", name.as_str(), "pinned");
    let none = json!({"metadata": {"finalizers": null}});
    at.cluster.act_as("operator").merge_patch(&target, none).await.unwrap();
    at.destroy().await;
}

/// What is gone by then is planned as a creation, which a namespace that is going does not take.
#[tokio::test]
async fn a_destroy_that_its_namespace_held_up_can_be_run_again() {
    let at = Workspace::new(Tool::Terraform).await;
    let name = format!("{}-slow", at.namespace.name());
    let space = "apiVersion: v1\nkind: Namespace\nmetadata:\n  name: NS-slow\n";
    let inside = CONFIG_MAP.replace("namespace: NS", "namespace: NS-slow");
    let main = [
        at.resource("space", space, "delete_timeout = \"2s\""),
        at.resource("settings", &inside, "depends_on = [k8sconnect_object.space]"),
    ];
    at.runner.write("main.tf", &main.join("\n")).unwrap();
    at.init().await;
    at.apply().await;
    let pinned = json!({
        "apiVersion": "v1", "kind": "ConfigMap",
        "metadata": {"name": "pinned", "namespace": name, "finalizers": ["example.com/cleanup"]},
    });
    at.cluster.act_as("operator").create(pinned).await.unwrap();
    for _ in 0..2 {
        let destroy = at.runner.destroy().await.unwrap();
        assert!(!destroy.succeeded(), "{}", destroy.text);
        says(&destroy.text, "is still there after 2 seconds");
        never_says(&destroy.text, "credentials");
        never_says(&destroy.text, "by others");
    }
    let plan = at.plan_changes().await;
    says(&plan.text, &format!("The namespace `{name}` is being deleted at the moment"));
    let run = at.runner.apply().await.unwrap();
    assert!(!run.succeeded(), "{}", run.text);
    says(&run.text, "cannot be created: its namespace is being deleted");
    never_says(&run.text, "permission");
    let target = Target::new("v1", "ConfigMap", name.as_str(), "pinned");
    let none = json!({"metadata": {"finalizers": null}});
    at.cluster.act_as("operator").merge_patch(&target, none).await.unwrap();
    // Its controller looks again when it likes, which may be later than in two seconds.
    let space = Target::new("v1", "Namespace", None, &name);
    at.cluster.wait_until(&space, Duration::from_secs(120), |it| it.is_none()).await.unwrap();
    at.destroy().await;
}

#[tokio::test]
async fn an_object_that_others_made_anew_is_said_to_be_and_does_not_bar_a_destroy() {
    let at = Workspace::new(Tool::Terraform).await;
    let other = CONFIG_MAP.replace("name: settings", "name: other");
    at.objects(&[("settings", CONFIG_MAP), ("other", &other)]).init().await;
    at.apply().await;
    at.cluster.delete(&settings(&at)).await.unwrap();
    let anew = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata":
        {"name": "settings", "namespace": at.namespace.name()}});
    at.cluster.act_as("somebody").create(anew).await.unwrap();
    let destroy = at.runner.destroy().await.unwrap();
    assert!(!destroy.succeeded(), "{}", destroy.text);
    says(&destroy.text, "was deleted and made anew by somebody else");
    says(&destroy.text, "terraform destroy -refresh=false");
    says(&destroy.text, "terraform state rm ADDRESS");
    never_says(&destroy.text, "not in this state");
    let rest = ["destroy", "-auto-approve", "-refresh=false", "-no-color"];
    let destroyed = at.runner.run(&rest).await.unwrap().successful().unwrap();
    says(&destroyed.text, "is another object now and was left alone");
    assert!(at.cluster.read(&settings(&at)).await.unwrap().is_some());
    let gone = Target::new("v1", "ConfigMap", at.namespace.name(), "other");
    assert_eq!(at.cluster.read(&gone).await.unwrap(), None);
}
