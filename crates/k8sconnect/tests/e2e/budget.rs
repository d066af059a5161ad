//! Requests, counted by the API server itself.

use testkit::{Request, Tool};

use crate::workspace::{CONFIG_MAP, Workspace};

fn in_short(requests: &[Request]) -> Vec<String> {
    requests.iter().map(Request::in_short).collect()
}

#[tokio::test]
async fn plan_and_apply_ask_no_more_than_they_must() {
    let at = Workspace::new(Tool::Terraform).await;
    let namespace = at.namespace.name().to_owned();
    at.objects(&[("settings", CONFIG_MAP)]).init().await;

    let (_, asked) = at.cluster.count_during(namespace.as_str(), at.plan_changes()).await.unwrap();
    assert_eq!(in_short(&asked), ["patch (dry-run)"], "planning a creation");

    let (_, asked) =
        at.cluster.count_during(namespace.as_str(), at.runner.apply_planned()).await.unwrap();
    assert_eq!(in_short(&asked), ["patch (dry-run)", "patch"], "creating");

    let (_, asked) = at.cluster.count_during(namespace.as_str(), at.plan_empty()).await.unwrap();
    assert_eq!(in_short(&asked), ["get"], "planning nothing");

    at.objects(&[("settings", &CONFIG_MAP.replace("hello", "good day"))]);
    let (_, asked) = at.cluster.count_during(namespace.as_str(), at.plan_changes()).await.unwrap();
    assert_eq!(in_short(&asked), ["get", "patch (dry-run)"], "planning a change");

    let (_, asked) =
        at.cluster.count_during(namespace.as_str(), at.runner.apply_planned()).await.unwrap();
    assert_eq!(in_short(&asked), ["patch (dry-run)", "patch"], "changing");
    at.plan_empty().await;
    at.destroy().await;
}

#[tokio::test]
async fn neither_refresh_nor_plan_writes() {
    let at = Workspace::new(Tool::Terraform).await;
    let namespace = at.namespace.name().to_owned();
    at.objects(&[("settings", CONFIG_MAP)]).init().await;
    at.apply().await;
    at.objects(&[("settings", &CONFIG_MAP.replace("hello", "good day"))]);
    let (_, asked) = at
        .cluster
        .count_during(namespace.as_str(), async {
            at.plan_changes().await;
            at.runner.plan_with(&["-refresh-only"]).await.unwrap();
            at.runner.plan_with(&["-destroy"]).await.unwrap();
        })
        .await
        .unwrap();
    assert!(!asked.is_empty());
    assert!(asked.iter().all(|request| !request.writes()), "{asked:?}");
    at.apply().await;
    at.destroy().await;
}
