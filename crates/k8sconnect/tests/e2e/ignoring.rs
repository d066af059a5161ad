//! `ignore_fields`: written once, then left to others, and never reset.

use serde_json::json;
use testkit::owners::managers_of;
use testkit::{Target, Tool};

use crate::workspace::{CONFIG_MAP, DEPLOYMENT, Workspace, never_says, says};

const IGNORE_REPLICAS: &str = r#"ignore_fields = ["spec.replicas"]"#;

fn web(at: &Workspace) -> Target {
    Target::new("apps/v1", "Deployment", at.namespace.name(), "web")
}

#[tokio::test]
async fn a_field_ignored_from_birth_is_created_and_then_left_to_the_autoscaler() {
    let at = Workspace::new(Tool::Terraform).await;
    at.object_with("web", DEPLOYMENT, IGNORE_REPLICAS).init().await;
    let plan = at.plan_changes().await;
    never_says(&plan.text, r#""spec.replicas"   "#);
    at.apply().await;
    at.plan_empty().await;
    let created = at.cluster.read(&web(&at)).await.unwrap().unwrap();
    assert_eq!(created["spec"]["replicas"], 2);

    at.cluster.act_as("hpa").scale(&web(&at), 5).await.unwrap();
    at.plan_empty().await;

    // A change elsewhere neither resets nor takes it.
    at.object_with("web", &DEPLOYMENT.replace("nginx:1.29", "nginx:1.30"), IGNORE_REPLICAS);
    let plan = at.plan_changes().await;
    never_says(&plan.text, "replicas will");
    at.apply().await;
    at.plan_empty().await;
    let scaled = at.cluster.read(&web(&at)).await.unwrap().unwrap();
    assert_eq!(scaled["spec"]["replicas"], 5);
    assert_eq!(
        managers_of(&scaled, &["f:spec", "f:replicas"]),
        ["hpa".to_owned()].into(),
        "it is the autoscaler's alone"
    );
    at.destroy().await;
}

#[tokio::test]
async fn a_field_ignored_later_keeps_the_value_it_has() {
    let at = Workspace::new(Tool::Terraform).await;
    at.objects(&[("web", DEPLOYMENT)]).init().await;
    at.apply().await;
    // Ours alone, and ignored from now on: another body must not make it fall back to 1.
    let without = DEPLOYMENT.replace("  replicas: 2\n", "").replace("nginx:1.29", "nginx:1.30");
    at.object_with("web", &without, IGNORE_REPLICAS);
    at.plan_changes().await;
    at.apply().await;
    at.plan_empty().await;
    let live = at.cluster.read(&web(&at)).await.unwrap().unwrap();
    assert_eq!(live["spec"]["replicas"], 2);
    at.destroy().await;
}

#[tokio::test]
async fn keys_with_dots_items_and_predicates_can_be_ignored() {
    let at = Workspace::new(Tool::Terraform).await;
    let ignore = r#"ignore_fields = [
    "metadata.annotations[\"example.com/note\"]",
    "spec.template.spec.containers[?(@.name==\"web\")].image",
    "spec.template.metadata.labels.tier",
  ]"#;
    let body = DEPLOYMENT
        .replace("  name: web\n", "  name: web\n  annotations: {example.com/note: a}\n")
        .replace("labels: {app: web}", "labels: {app: web, tier: front}");
    at.object_with("web", &body, ignore).init().await;
    at.apply().await;
    at.plan_empty().await;
    let rival = json!({
        "metadata": {"annotations": {"example.com/note": "b"}},
        "spec": {"template": {
            "metadata": {"labels": {"tier": "back"}},
            "spec": {"containers": [{"name": "web", "image": "nginx:9"}]},
        }},
    });
    at.cluster.act_as("ci").strategic_patch(&web(&at), rival).await.unwrap();
    at.plan_empty().await;
    at.object_with("web", &body.replace("replicas: 2", "replicas: 3"), ignore);
    at.plan_changes().await;
    at.apply().await;
    at.plan_empty().await;
    let live = at.cluster.read(&web(&at)).await.unwrap().unwrap();
    assert_eq!(live["metadata"]["annotations"]["example.com/note"], "b");
    assert_eq!(live["spec"]["template"]["spec"]["containers"][0]["image"], "nginx:9");
    assert_eq!(live["spec"]["template"]["metadata"]["labels"]["tier"], "back");
    assert_eq!(live["spec"]["replicas"], 3);
    at.destroy().await;
}

#[tokio::test]
async fn all_that_a_manager_holds_can_be_left_to_it() {
    let at = Workspace::new(Tool::Terraform).await;
    let ignore = r#"ignore_fields = ["manager=hpa"]"#;
    at.object_with("web", DEPLOYMENT, ignore).init().await;
    at.apply().await;
    at.plan_empty().await;
    at.cluster.act_as("hpa").scale(&web(&at), 4).await.unwrap();
    at.plan_empty().await;
    at.object_with("web", &DEPLOYMENT.replace("nginx:1.29", "nginx:1.30"), ignore);
    at.plan_changes().await;
    at.apply().await;
    at.plan_empty().await;
    let live = at.cluster.read(&web(&at)).await.unwrap().unwrap();
    assert_eq!(live["spec"]["replicas"], 4);
    at.destroy().await;
}

#[tokio::test]
async fn a_path_into_an_atomic_or_no_path_at_all_is_refused() {
    let at = Workspace::new(Tool::Terraform).await;
    at.object_with("web", DEPLOYMENT, r#"ignore_fields = ["spec.selector.matchLabels.app"]"#)
        .init()
        .await;
    let plan = at.plan_fails().await;
    says(&plan.text, "a part of an atomic field cannot be ignored");
    at.object_with("web", DEPLOYMENT, r#"ignore_fields = ["spec.containers[name", ""]"#);
    let plan = at.plan_fails().await;
    says(&plan.text, "`]` is missing");
    says(&plan.text, "it is empty");
}

#[tokio::test]
async fn ignoring_costs_one_read_more_at_apply() {
    let at = Workspace::new(Tool::Terraform).await;
    let namespace = at.namespace.name().to_owned();
    let ignore = r#"ignore_fields = ["data.greeting"]"#;
    at.object_with("settings", CONFIG_MAP, ignore).init().await;
    at.apply().await;
    at.object_with("settings", &CONFIG_MAP.replace("workers = 2", "workers = 3"), ignore);
    at.plan_changes().await;
    let (_, asked) =
        at.cluster.count_during(namespace.as_str(), at.runner.apply_planned()).await.unwrap();
    let asked: Vec<_> = asked.iter().map(testkit::Request::in_short).collect();
    assert_eq!(asked, ["get", "patch (dry-run)", "patch"]);
    at.plan_empty().await;
    at.destroy().await;
}

#[tokio::test]
async fn giving_up_an_ignored_field_tells_what_becomes_of_it() {
    let at = Workspace::new(Tool::Terraform).await;
    let seven = DEPLOYMENT.replace("replicas: 2", "replicas: 7");
    at.object_with("web", &seven, IGNORE_REPLICAS).init().await;
    at.apply().await;
    // Neither written nor ignored any more: the server falls back to one replica.
    let without = DEPLOYMENT.replace("  replicas: 2\n", "");
    at.objects(&[("web", &without)]);
    let plan = at.plan_changes().await;
    says(&plan.text, "1 removed field will fall back to a default");
    says(&plan.text, "is now 7 will be 1");
    // In two steps it is told as well, at the second.
    at.object_with("web", &without, IGNORE_REPLICAS);
    at.apply().await;
    at.plan_empty().await;
    at.objects(&[("web", &without)]);
    let plan = at.plan_changes().await;
    says(&plan.text, "1 removed field will fall back to a default");
    at.apply().await;
    at.plan_empty().await;
    at.destroy().await;
}
