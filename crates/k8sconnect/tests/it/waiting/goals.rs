//! What is waited for, and what ends a wait that is in vain.

use std::time::Duration;

use serde_json::json;
use testkit::{Filter, Target};
use tfplugin::harness::Action as Planned;
use tfplugin::{Data, Value};

use super::{CONFIG_MAP, DEPLOYMENT, WAIT, Wait, config_map, deployment, map, result, says, until};
use crate::world::World;

#[tokio::test]
async fn rollouts_are_waited_for_and_nothing_is_written() {
    let world = World::new().await;
    deployment(&world, "slow", Some("slow"), 2).await;
    deployment(&world, "none", None, 0).await;
    let waits = async {
        let slow = Wait::new(&world, DEPLOYMENT, "slow").with("rollout", true);
        let state = slow.done().await.unwrap();
        assert!(state.attribute("result").is_null());
        Wait::new(&world, DEPLOYMENT, "none").with("rollout", true).done().await.unwrap();
        Wait::new(&world, DEPLOYMENT, "slow").with("ready", true).done().await.unwrap();
        let available = Wait::new(&world, DEPLOYMENT, "slow").with("condition", "Available");
        let state = available.done().await.unwrap();
        says(&result(&state), "MinimumReplicasAvailable");
        let core = world.core();
        let config = available.config();
        let read = core.read(WAIT, &state).await.unwrap().present().unwrap();
        let plan = core.plan(WAIT, &config, Some(&read)).await.unwrap();
        assert_eq!(plan.action, Planned::NoOp);
        core.destroy(WAIT, &read).await.unwrap();
    };
    let (_, asked) = world.cluster.count_during(Filter::by_user(&world.user), waits).await.unwrap();
    let writes: Vec<_> = asked.iter().filter(|request| request.writes()).collect();
    assert!(writes.is_empty(), "{writes:?}");
    assert!(!asked.is_empty());
    let live = world.cluster.get("apps/v1", "Deployment", Some(world.namespace.name()), "slow");
    assert_eq!(live.await.unwrap().unwrap()["status"]["availableReplicas"], 2);
}

#[tokio::test]
async fn stateful_sets_daemon_sets_and_jobs_roll_out() {
    let world = World::new().await;
    let ns = world.namespace.name();
    let template = |policy: &str| {
        json!({
            "metadata": {"labels": {"app": "a"}},
            "spec": {"restartPolicy": policy, "containers": [{"name": "app", "image": "app:1"}]},
        })
    };
    let selector = json!({"matchLabels": {"app": "a"}});
    for (version, kind, spec) in [
        (
            "apps/v1",
            "StatefulSet",
            json!({"replicas": 2, "serviceName": "a", "selector": selector, "template": template("Always")}),
        ),
        ("apps/v1", "DaemonSet", json!({"selector": selector, "template": template("Always")})),
        ("batch/v1", "Job", json!({"completions": 2, "template": template("Never")})),
    ] {
        let object = json!({"apiVersion": version, "kind": kind, "spec": spec,
            "metadata": {"name": "a", "namespace": ns}});
        world.cluster.act_as("somebody").create(object).await.unwrap();
        Wait::new(&world, (version, kind), "a").with("rollout", true).done().await.unwrap();
        Wait::new(&world, (version, kind), "a").with("ready", true).done().await.unwrap();
    }
}

#[tokio::test]
async fn an_image_that_cannot_be_pulled_ends_the_wait_early_and_shows_the_pod() {
    let world = World::new().await;
    deployment(&world, "typo", Some("misnamed"), 2).await;
    deployment(&world, "missing", Some("unpulled"), 1).await;
    let typo = Wait::new(&world, DEPLOYMENT, "typo").with("rollout", true).with("timeout", "2m");
    let missing =
        Wait::new(&world, DEPLOYMENT, "missing").with("ready", true).with("timeout", "16s");
    let ((typo, soon), (missing, later)) = tokio::join!(typo.fails(), missing.fails());
    says(&typo, "cannot roll out\n");
    says(&typo, "cannot be pulled as it is written (InvalidImageName");
    says(&typo, "Replicas: 2 wanted, 2 there, 2 updated, 0 ready, 0 available");
    says(&typo, "Available=False");
    says(&typo, "Warning  InspectFailed");
    assert!(!typo.contains("Scheduled"), "{typo}");
    assert!(soon < Duration::from_secs(60), "{soon:?}");
    says(&missing, "cannot become ready");
    says(&missing, "`app`");
    says(&missing, "ImagePullBackOff: Back-off pulling image");
    assert!(later > Duration::from_secs(4), "it was not given its time: {later:?}");
}

#[tokio::test]
async fn what_an_earlier_rollout_left_does_not_end_a_later_one() {
    let world = World::new().await;
    deployment(&world, "web", Some("misnamed"), 2).await;
    let wait = || Wait::new(&world, DEPLOYMENT, "web").with("rollout", true).with("timeout", "60s");
    let (said, _) = wait().fails().await;
    says(&said, "InvalidImageName");
    deployment(&world, "web", Some("slow"), 2).await;
    wait().done().await.unwrap();
}

#[tokio::test]
async fn a_failed_job_ends_every_wait_for_its_success() {
    let world = World::new().await;
    let ns = world.namespace.name();
    let job = json!({
        "apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "migrate", "namespace": ns},
        "spec": {"backoffLimit": 0, "template": {
            "metadata": {"annotations": {"testkit/pod": "failing"}},
            "spec": {"restartPolicy": "Never", "containers": [{"name": "app", "image": "app:1"}]},
        }},
    });
    world.cluster.act_as("somebody").create(job).await.unwrap();
    let kind = ("batch/v1", "Job");
    for wait in [
        Wait::new(&world, kind, "migrate").with("rollout", true),
        Wait::new(&world, kind, "migrate").with("condition", "Complete"),
        Wait::new(&world, kind, "migrate").with("field_value", map(&[("status.succeeded", "1")])),
    ] {
        let (said, took) = wait.fails().await;
        says(&said, "the Job has failed (BackoffLimitExceeded");
        says(&said, "it ended with exit code 3");
        says(&said, "Replicas: 1 wanted, 0 active, 0 succeeded, 1 failed.");
        assert!(took < Duration::from_secs(60), "{took:?}");
    }
    Wait::new(&world, kind, "migrate").with("condition", "Failed").done().await.unwrap();
}

#[tokio::test]
async fn a_timeout_says_what_is_missing_and_what_the_pods_do() {
    let world = World::new().await;
    deployment(&world, "web", Some("unready"), 1).await;
    deployment(&world, "loop", Some("crashing"), 1).await;
    let web = Wait::new(&world, DEPLOYMENT, "web").with("rollout", true).with("timeout", "3s");
    let looping = Wait::new(&world, DEPLOYMENT, "loop").with("rollout", true).with("timeout", "3s");
    let ((web, _), (looping, _)) = tokio::join!(web.fails(), looping.fails());
    says(&web, "has not rolled out within 3s");
    says(&web, "0 of 1 replica is available");
    says(&web, "readiness probes do not succeed");
    says(&web, "Unhealthy");
    says(&web, "the next apply waits again");
    says(&looping, "CrashLoopBackOff, container app, 4 restarts: it last ended with exit code 1");
}

#[tokio::test]
async fn fail_when_ends_a_wait_at_once() {
    let world = World::new().await;
    config_map(&world, "state", json!({"phase": "Broken"})).await;
    let fail = Data::object([("field_value", map(&[("data.phase", "Broken")]))]);
    let wait = Wait::new(&world, CONFIG_MAP, "state")
        .with("field_value", map(&[("data.phase", "Done")]))
        .with("fail_when", fail);
    let (said, took) = wait.fails().await;
    says(&said, "will not get the awaited `data.phase`");
    says(&said, "`fail_when` holds: `data.phase` is `Broken`");
    assert!(took < Duration::from_secs(60), "{took:?}");
}

/// An annotation is a change of a Deployment too, and its controller has not seen it at first.
#[tokio::test]
async fn the_pods_are_shown_while_the_controller_lags_behind() {
    let world = World::new().await;
    deployment(&world, "loop", Some("crashing"), 1).await;
    let wait = || Wait::new(&world, DEPLOYMENT, "loop").with("rollout", true);
    let pods = "CrashLoopBackOff, container app, 4 restarts";
    says(&wait().with("timeout", "3s").fails().await.0, pods);
    let ns = world.namespace.name();
    let (cluster, path) =
        (world.cluster, format!("/apis/apps/v1/namespaces/{ns}/deployments/loop"));
    let reads = async || {
        let all = cluster.requests(Filter::by_user(&world.user)).await.unwrap();
        all.iter().filter(|request| request.path() == path).count()
    };
    let before = reads().await;
    let stops = async {
        until(async || reads().await > before).await;
        let stop = json!({"metadata": {"annotations": {"example.com/stop": "now"}}});
        let target = Target::new("apps/v1", "Deployment", ns, "loop");
        cluster.act_as("somebody").merge_patch(&target, stop).await.unwrap();
    };
    let fail = Data::object([("field", Value::from("metadata.annotations['example.com/stop']"))]);
    let stopped = wait().with("fail_when", fail);
    let ((said, _), ()) = tokio::join!(stopped.fails(), stops);
    says(&said, "`fail_when` holds");
    says(&said, pods);
}
