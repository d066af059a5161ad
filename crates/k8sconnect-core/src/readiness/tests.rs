use std::time::Duration;

use serde_json::json;

use super::*;

fn path(text: &str) -> JsonPath {
    JsonPath::parse(text).unwrap()
}

fn at(seconds: u64) -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_secs(seconds)
}

fn judged(goal: &Goal, object: &Value) -> Verdict {
    judge(goal, &[], Some(object), at(0))
}

#[track_caller]
fn not_yet(verdict: Verdict, words: &str) {
    match verdict {
        Verdict::NotYet(why) => assert!(why.contains(words), "{why}"),
        other => panic!("{other:?}"),
    }
}

#[track_caller]
fn never(verdict: Verdict, words: &str) {
    match verdict {
        Verdict::Never(why) => assert!(why.contains(words), "{why}"),
        other => panic!("{other:?}"),
    }
}

#[test]
fn an_absent_object_is_awaited_or_just_what_was_awaited() {
    not_yet(judge(&Goal::Ready, &[], None, at(0)), "does not exist");
    assert_eq!(judge(&Goal::Deleted, &[], None, at(0)), Verdict::Met);
    let there = json!({"metadata": {"finalizers": ["example.com/a"]}});
    not_yet(judged(&Goal::Deleted, &there), "nobody has asked");
    let going = json!({"metadata": {"deletionTimestamp": "x", "finalizers": ["example.com/a"]}});
    not_yet(judged(&Goal::Deleted, &going), "held by `example.com/a`");
}

/// Whoever waits for a sign may mean just this: a Namespace whose phase is `Terminating`.
#[test]
fn what_is_going_is_neither_ready_nor_rolled_out_and_shows_its_signs_all_the_same() {
    let going = json!({"apiVersion": "apps/v1", "kind": "Deployment",
        "metadata": {"generation": 1, "deletionTimestamp": "x", "finalizers": ["example.com/a"]},
        "spec": {"replicas": 0}, "status": {"observedGeneration": 1, "phase": "Terminating"}});
    for goal in [Goal::Ready, Goal::Rollout] {
        not_yet(judged(&goal, &going), "marked for deletion and held by `example.com/a`");
    }
    let phase = Sign::Values(vec![(path("status.phase"), "Terminating".to_owned())]);
    assert_eq!(judged(&Goal::Shows(phase), &going), Verdict::Met);
}

#[test]
fn a_field_is_there_once_it_is_not_empty() {
    let goal = Goal::Shows(Sign::Field(path("status.ingress")));
    not_yet(judged(&goal, &json!({})), "`status.ingress` is not there");
    for empty in [json!(null), json!([]), json!({}), json!("")] {
        not_yet(judged(&goal, &json!({"status": {"ingress": empty}})), "is empty");
    }
    for full in [json!(0), json!(false), json!("x"), json!([{}])] {
        assert_eq!(judged(&goal, &json!({"status": {"ingress": full}})), Verdict::Met);
    }
}

#[test]
fn values_are_compared_as_they_are_written() {
    let value = |wanted: &str, found: Value| {
        let goal = Goal::Shows(Sign::Values(vec![(path("spec.x"), wanted.to_owned())]));
        judged(&goal, &json!({"spec": {"x": found}}))
    };
    assert_eq!(value("Bound", json!("Bound")), Verdict::Met);
    assert_eq!(value("1", json!(1)), Verdict::Met);
    assert_eq!(value("1", json!("1")), Verdict::Met);
    assert_eq!(value("true", json!(true)), Verdict::Met);
    assert_eq!(value("{\"a\":1}", json!({"a": 1})), Verdict::Met);
    not_yet(value("Bound", json!("Pending")), "`spec.x` is `Pending`, not `Bound`");
}

#[test]
fn every_value_must_hold_and_each_that_does_not_is_told() {
    let values =
        vec![(path("a"), "1".to_owned()), (path("b"), "2".to_owned()), (path("c"), "3".to_owned())];
    let goal = Goal::Shows(Sign::Values(values));
    not_yet(judged(&goal, &json!({"a": 1, "b": 9})), "`b` is `9`, not `2`; `c` is not there");
    assert_eq!(judged(&goal, &json!({"a": 1, "b": 2, "c": 3})), Verdict::Met);
}

#[test]
fn the_values_of_a_secret_are_not_told() {
    let goal = Goal::Shows(Sign::Values(vec![(path("data.key"), "bm8=".to_owned())]));
    let secret = json!({"kind": "Secret", "data": {"key": "aHVudGVyMg=="}});
    let verdict = judged(&goal, &secret);
    assert!(!format!("{verdict:?}").contains("aHVudGVyMg"), "{verdict:?}");
    not_yet(verdict, "`data.key` has another value");
}

#[test]
fn a_condition_counts_once_its_controller_has_seen_the_last_change() {
    let goal = Goal::Shows(Sign::condition("Ready"));
    let object = |status: &str, generation: i64, observed: i64| {
        json!({
            "metadata": {"generation": generation},
            "status": {"conditions": [{"type": "Ready", "status": status,
                "observedGeneration": observed, "reason": "Why", "message": "because"}]},
        })
    };
    assert_eq!(judged(&goal, &object("True", 2, 2)), Verdict::Met);
    not_yet(judged(&goal, &object("True", 3, 2)), "older generation");
    not_yet(judged(&goal, &object("False", 2, 2)), "`Ready` is `False` (Why: because)");
    let stale = json!({
        "metadata": {"generation": 2},
        "status": {"observedGeneration": 1, "conditions": [{"type": "Ready", "status": "True"}]},
    });
    not_yet(judged(&goal, &stale), "generation 2, observed 1");
    not_yet(judged(&goal, &json!({})), "`Ready` is not there");
    let negative = Goal::Shows(Sign::condition("Ready=false"));
    assert_eq!(judged(&negative, &object("False", 2, 2)), Verdict::Met);
}

#[test]
fn what_has_come_to_its_end_will_not_change_any_more() {
    let failed = json!({"kind": "Job", "status": {"conditions": [
        {"type": "Failed", "status": "True", "reason": "BackoffLimitExceeded", "message": "too often"},
    ]}});
    let complete = Goal::Shows(Sign::condition("Complete"));
    never(judged(&complete, &failed), "the Job has failed (BackoffLimitExceeded: too often)");
    let succeeded = Goal::Shows(Sign::Values(vec![(path("status.succeeded"), "1".to_owned())]));
    never(judged(&succeeded, &failed), "the Job has failed");
    assert_eq!(judged(&Goal::Shows(Sign::condition("Failed")), &failed), Verdict::Met);
    // What others write may still come.
    let note = Goal::Shows(Sign::Field(path("metadata.annotations.note")));
    not_yet(judged(&note, &failed), "is not there");
    let pod = json!({"kind": "Pod", "status": {"phase": "Failed"}});
    never(judged(&Goal::Shows(Sign::condition("Ready")), &pod), "the Pod has failed");
}

#[test]
fn fail_when_ends_the_wait_but_not_by_old_news() {
    let signs =
        [Sign::condition("Stuck"), Sign::Values(vec![(path("status.phase"), "Bad".into())])];
    let goal = Goal::Shows(Sign::condition("Ready"));
    let judged = |object: Value| judge(&goal, &signs, Some(&object), at(0));
    not_yet(judged(json!({"status": {"phase": "New"}})), "`Ready` is not there");
    never(
        judged(json!({"status": {"phase": "Bad"}})),
        "`fail_when` holds: `status.phase` is `Bad`",
    );
    let stuck = json!([{"type": "Stuck", "status": "True", "reason": "NoKey"}]);
    never(judged(json!({"status": {"conditions": stuck}})), "condition `Stuck` is `True` (NoKey)");
    let old = json!({
        "metadata": {"generation": 5}, "status": {"observedGeneration": 4, "phase": "Bad"},
    });
    not_yet(judged(old), "generation 5, observed 4");
}

fn workload(kind: &str, spec: Value, status: Value) -> Value {
    let mut status = status;
    status["observedGeneration"] = json!(1);
    json!({"apiVersion": "apps/v1", "kind": kind, "metadata": {"generation": 1},
        "spec": spec, "status": status})
}

fn rolled_out(object: &Value) -> Verdict {
    judged(&Goal::Rollout, object)
}

#[test]
fn a_deployment_has_rolled_out_when_all_its_pods_are_new_and_available() {
    let deployment = |status| workload("Deployment", json!({"replicas": 2}), status);
    let full = json!({"replicas": 2, "updatedReplicas": 2, "availableReplicas": 2});
    assert_eq!(rolled_out(&deployment(full)), Verdict::Met);
    not_yet(rolled_out(&deployment(json!({}))), "0 of 2 replicas are updated");
    let old = json!({"replicas": 3, "updatedReplicas": 2, "availableReplicas": 3});
    not_yet(rolled_out(&deployment(old)), "1 of the former replicas");
    let slow = json!({"replicas": 2, "updatedReplicas": 2, "availableReplicas": 1});
    not_yet(rolled_out(&deployment(slow)), "1 of 2 replicas are available");
    let none = workload("Deployment", json!({"replicas": 0}), json!({}));
    assert_eq!(rolled_out(&none), Verdict::Met);
    let mut unseen = none;
    unseen["status"] = json!({});
    not_yet(rolled_out(&unseen), "has not seen it yet");
    let late = json!({"conditions": [{"type": "Progressing", "status": "False",
        "reason": "ProgressDeadlineExceeded", "message": "timed out"}]});
    never(rolled_out(&deployment(late.clone())), "no progress within its deadline");
    // The news of the former change is no news of this one.
    let mut changed = deployment(late);
    changed["metadata"]["generation"] = json!(2);
    not_yet(rolled_out(&changed), "generation 2, observed 1");
    let paused = workload("Deployment", json!({"replicas": 1, "paused": true}), json!({}));
    not_yet(rolled_out(&paused), "paused");
}

#[test]
fn a_stateful_set_has_rolled_out_up_to_its_partition() {
    let spec = |strategy: Value| json!({"replicas": 3, "updateStrategy": strategy});
    let status = |updated: i64, current: &str| {
        json!({"replicas": 3, "readyReplicas": 3, "availableReplicas": 3,
            "updatedReplicas": updated, "currentRevision": current, "updateRevision": "b"})
    };
    let rolling = || spec(json!({"type": "RollingUpdate"}));
    let set = |spec, status| workload("StatefulSet", spec, status);
    assert_eq!(rolled_out(&set(rolling(), status(3, "b"))), Verdict::Met);
    not_yet(rolled_out(&set(rolling(), status(1, "a"))), "1 of 3 replicas are updated");
    let part = || spec(json!({"type": "RollingUpdate", "rollingUpdate": {"partition": 2}}));
    assert_eq!(rolled_out(&set(part(), status(1, "a"))), Verdict::Met);
    not_yet(rolled_out(&set(part(), status(0, "a"))), "0 of 1 replica is updated");
    let left_alone = spec(json!({"type": "OnDelete"}));
    assert_eq!(rolled_out(&set(left_alone, status(0, "a"))), Verdict::Met);
    let unready = json!({"replicas": 3, "readyReplicas": 1});
    not_yet(rolled_out(&set(rolling(), unready)), "1 of 3 replicas are ready");
    let none = set(json!({"replicas": 0}), json!({"replicas": 0}));
    assert_eq!(rolled_out(&none), Verdict::Met);
}

#[test]
fn a_daemon_set_and_a_job_roll_out_in_their_own_ways() {
    let set = |status| workload("DaemonSet", json!({}), status);
    let status = |updated: i64, available: i64| {
        json!({"desiredNumberScheduled": 2, "updatedNumberScheduled": updated,
            "numberAvailable": available})
    };
    assert_eq!(rolled_out(&set(status(2, 2))), Verdict::Met);
    not_yet(rolled_out(&set(status(1, 2))), "updated");
    not_yet(rolled_out(&set(status(2, 1))), "available");
    let nowhere = json!({"desiredNumberScheduled": 0});
    assert_eq!(rolled_out(&set(nowhere)), Verdict::Met);

    let job = |spec, status| {
        json!({"apiVersion": "batch/v1", "kind": "Job", "metadata": {},
        "spec": spec, "status": status})
    };
    let ended = |kind: &str| json!({"conditions": [{"type": kind, "status": "True"}]});
    assert_eq!(rolled_out(&job(json!({}), ended("Complete"))), Verdict::Met);
    never(rolled_out(&job(json!({}), ended("Failed"))), "the Job has failed");
    let running = job(json!({"completions": 3}), json!({"succeeded": 1, "failed": 2}));
    not_yet(rolled_out(&running), "1 of 3 completions are done, and 2 pods have failed");
    not_yet(rolled_out(&job(json!({"suspend": true}), json!({}))), "suspended");
}

#[test]
fn a_rollout_means_nothing_for_other_kinds() {
    assert!(Goal::Rollout.suits(&Gvk::new("apps/v1", "Deployment")));
    assert!(!Goal::Rollout.suits(&Gvk::new("v1", "Service")));
    assert!(Goal::Ready.suits(&Gvk::new("v1", "Service")));
}

#[test]
fn a_pod_has_fifteen_seconds_to_find_a_node() {
    let pod = json!({
        "apiVersion": "v1", "kind": "Pod",
        "metadata": {"creationTimestamp": "1970-01-01T00:01:40Z"},
        "status": {"phase": "Pending", "conditions": [{"type": "PodScheduled", "status": "False",
            "reason": "Unschedulable", "message": "no room"}]},
    });
    assert!(matches!(status(&pod, at(110)), Status::InProgress(_)));
    assert!(matches!(status(&pod, at(120)), Status::Failed(why) if why.contains("no room")));
}

#[test]
fn what_was_waited_for_is_handed_on_and_nothing_else() {
    let object = json!({"status": {"phase": "Bound", "n": 3, "conditions": [
        {"type": "Ready", "status": "True", "lastTransitionTime": "x", "reason": "Up"},
    ]}});
    let field = Goal::Shows(Sign::Field(path("status.n")));
    assert_eq!(field.excerpt(&object), Some(json!({"status": {"n": 3}})));
    let values = vec![(path("status.n"), "3".into()), (path("status.phase"), "Bound".into())];
    let values = Goal::Shows(Sign::Values(values));
    assert_eq!(values.excerpt(&object), Some(json!({"status": {"n": 3, "phase": "Bound"}})));
    let condition = Goal::Shows(Sign::condition("Ready"));
    let expected = json!({"type": "Ready", "status": "True", "reason": "Up"});
    assert_eq!(condition.excerpt(&object), Some(json!({"status": {"conditions": [expected]}})));
    let bare = json!({"status": {"conditions": [{"type": "Ready", "status": "True"}]}});
    let expected = json!({"type": "Ready", "status": "True", "reason": null});
    assert_eq!(condition.excerpt(&bare), Some(json!({"status": {"conditions": [expected]}})));
    assert_eq!(Goal::Rollout.excerpt(&object), None);
    assert_eq!(field.excerpt(&json!({})), None);
    assert!(field.is_lost(&json!({})) && field.is_lost(&json!({"status": {"n": ""}})));
    assert!(!field.is_lost(&object));
}

#[test]
fn a_value_or_a_condition_that_changed_is_no_loss_and_one_that_vanished_is() {
    let values = vec![(path("status.n"), "3".into()), (path("status.phase"), "Bound".into())];
    let values = Goal::Shows(Sign::Values(values));
    let condition = Goal::Shows(Sign::condition("Ready"));
    let changed = json!({"status": {"phase": "Lost", "n": 4,
        "conditions": [{"type": "Ready", "status": "False"}]}});
    assert!(!values.is_lost(&changed) && !condition.is_lost(&changed));
    let vanished = json!({"status": {"n": 3}});
    assert!(values.is_lost(&vanished) && condition.is_lost(&vanished));
    assert!(!Goal::Rollout.is_lost(&vanished));
}
