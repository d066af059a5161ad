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
fn not_yet(verdict: Verdict, why: impl Into<Reason>) {
    assert_eq!(verdict, Verdict::NotYet(vec![why.into()]));
}

#[track_caller]
fn never(verdict: Verdict, why: impl Into<Reason>) {
    assert_eq!(verdict, Verdict::Never(vec![why.into()]));
}

fn missing(path: &str) -> Reason {
    Reason::NoField(path.to_owned())
}

fn without(condition: &str) -> Reason {
    Reason::NoCondition(condition.to_owned())
}

fn lagging(generation: i64, observed: i64) -> Reason {
    Reason::OldGeneration { generation, observed }
}

fn short(count: i64, wanted: i64, state: &'static str) -> NotReady {
    NotReady::Replicas { count, wanted, state }
}

fn seen(kind: &str, status: &str, reason: &str, message: &str) -> picture::ConditionSeen {
    let [kind, status, reason, message] = [kind, status, reason, message].map(str::to_owned);
    picture::ConditionSeen { kind, status, reason, message }
}

#[test]
fn an_absent_object_is_awaited_or_just_what_was_awaited() {
    not_yet(judge(&Goal::Ready, &[], None, at(0)), Reason::Absent);
    assert_eq!(judge(&Goal::Deleted, &[], None, at(0)), Verdict::Met);
    let there = json!({"metadata": {"finalizers": ["example.com/a"]}});
    not_yet(judged(&Goal::Deleted, &there), Reason::NotDeleted);
    let going = json!({"metadata": {"deletionTimestamp": "x", "finalizers": ["example.com/a"]}});
    let finalizers = vec!["example.com/a".to_owned()];
    not_yet(judged(&Goal::Deleted, &going), Reason::Terminating { finalizers });
}

/// Whoever waits for a sign may mean just this: a Namespace whose phase is `Terminating`.
#[test]
fn what_is_going_is_neither_ready_nor_rolled_out_and_shows_its_signs_all_the_same() {
    let going = json!({"apiVersion": "apps/v1", "kind": "Deployment",
        "metadata": {"generation": 1, "deletionTimestamp": "x", "finalizers": ["example.com/a"]},
        "spec": {"replicas": 0}, "status": {"observedGeneration": 1, "phase": "Terminating"}});
    for goal in [Goal::Ready, Goal::Rollout] {
        let finalizers = vec!["example.com/a".to_owned()];
        not_yet(judged(&goal, &going), Reason::Terminating { finalizers });
    }
    let phase = Sign::Values(vec![(path("status.phase"), "Terminating".to_owned())]);
    assert_eq!(judged(&Goal::Shows(phase), &going), Verdict::Met);
}

#[test]
fn a_field_is_there_once_it_is_not_empty() {
    let goal = Goal::Shows(Sign::Field(path("status.ingress")));
    not_yet(judged(&goal, &json!({})), missing("status.ingress"));
    for empty in [json!(null), json!([]), json!({}), json!("")] {
        let why = Reason::EmptyField("status.ingress".to_owned());
        not_yet(judged(&goal, &json!({"status": {"ingress": empty}})), why);
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
    let (path, values) = ("spec.x".to_owned(), Some(["Pending".to_owned(), "Bound".to_owned()]));
    not_yet(value("Bound", json!("Pending")), Reason::OtherValue { path, values });
}

#[test]
fn every_value_must_hold_and_each_that_does_not_is_told() {
    let values =
        vec![(path("a"), "1".to_owned()), (path("b"), "2".to_owned()), (path("c"), "3".to_owned())];
    let goal = Goal::Shows(Sign::Values(values));
    let (path, values) = ("b".to_owned(), Some(["9".to_owned(), "2".to_owned()]));
    let both = vec![Reason::OtherValue { path, values }, missing("c")];
    assert_eq!(judged(&goal, &json!({"a": 1, "b": 9})), Verdict::NotYet(both));
    assert_eq!(judged(&goal, &json!({"a": 1, "b": 2, "c": 3})), Verdict::Met);
}

#[test]
fn the_values_of_a_secret_are_not_told() {
    let goal = Goal::Shows(Sign::Values(vec![(path("data.key"), "bm8=".to_owned())]));
    let secret = json!({"kind": "Secret", "data": {"key": "aHVudGVyMg=="}});
    let verdict = judged(&goal, &secret);
    assert!(!format!("{verdict:?}").contains("aHVudGVyMg"), "{verdict:?}");
    let path = "data.key".to_owned();
    not_yet(verdict, Reason::OtherValue { path, values: None });
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
    not_yet(judged(&goal, &object("True", 3, 2)), Reason::OldCondition("Ready".to_owned()));
    let why = Reason::Condition(seen("Ready", "False", "Why", "because"));
    not_yet(judged(&goal, &object("False", 2, 2)), why);
    let stale = json!({
        "metadata": {"generation": 2},
        "status": {"observedGeneration": 1, "conditions": [{"type": "Ready", "status": "True"}]},
    });
    not_yet(judged(&goal, &stale), lagging(2, 1));
    not_yet(judged(&goal, &json!({})), without("Ready"));
    let negative = Goal::Shows(Sign::condition("Ready=false"));
    assert_eq!(judged(&negative, &object("False", 2, 2)), Verdict::Met);
}

#[test]
fn what_has_come_to_its_end_will_not_change_any_more() {
    let failed = json!({"kind": "Job", "status": {"conditions": [
        {"type": "Failed", "status": "True", "reason": "BackoffLimitExceeded", "message": "too often"},
    ]}});
    let complete = Goal::Shows(Sign::condition("Complete"));
    let end = || End::JobFailed(Some(seen("Failed", "True", "BackoffLimitExceeded", "too often")));
    let lacks = vec![without("Complete")];
    never(judged(&complete, &failed), Reason::Final { end: end(), lacks });
    let succeeded = Goal::Shows(Sign::Values(vec![(path("status.succeeded"), "1".to_owned())]));
    let lacks = vec![missing("status.succeeded")];
    never(judged(&succeeded, &failed), Reason::Final { end: end(), lacks });
    assert_eq!(judged(&Goal::Shows(Sign::condition("Failed")), &failed), Verdict::Met);
    // What others write may still come.
    let note = Goal::Shows(Sign::Field(path("metadata.annotations.note")));
    not_yet(judged(&note, &failed), missing("metadata.annotations.note"));
    let pod = json!({"kind": "Pod", "status": {"phase": "Failed"}});
    let (end, lacks) = (End::PodFailed, vec![without("Ready")]);
    never(judged(&Goal::Shows(Sign::condition("Ready")), &pod), Reason::Final { end, lacks });
}

#[test]
fn fail_when_ends_the_wait_but_not_by_old_news() {
    let signs =
        [Sign::condition("Stuck"), Sign::Values(vec![(path("status.phase"), "Bad".into())])];
    let goal = Goal::Shows(Sign::condition("Ready"));
    let judged = |object: Value| judge(&goal, &signs, Some(&object), at(0));
    not_yet(judged(json!({"status": {"phase": "New"}})), without("Ready"));
    let (path, value) = ("status.phase".to_owned(), Some("Bad".to_owned()));
    let shown = vec![Reason::Value { path, value }];
    never(judged(json!({"status": {"phase": "Bad"}})), Reason::FailWhen(shown));
    let stuck = json!([{"type": "Stuck", "status": "True", "reason": "NoKey"}]);
    let shown = vec![Reason::Condition(seen("Stuck", "True", "NoKey", ""))];
    never(judged(json!({"status": {"conditions": stuck}})), Reason::FailWhen(shown));
    let old = json!({
        "metadata": {"generation": 5}, "status": {"observedGeneration": 4, "phase": "Bad"},
    });
    not_yet(judged(old), lagging(5, 4));
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
    not_yet(rolled_out(&deployment(json!({}))), short(0, 2, "updated"));
    let old = json!({"replicas": 3, "updatedReplicas": 2, "availableReplicas": 3});
    not_yet(rolled_out(&deployment(old)), NotReady::OldReplicas(1));
    let slow = json!({"replicas": 2, "updatedReplicas": 2, "availableReplicas": 1});
    not_yet(rolled_out(&deployment(slow)), short(1, 2, "available"));
    let none = workload("Deployment", json!({"replicas": 0}), json!({}));
    assert_eq!(rolled_out(&none), Verdict::Met);
    let mut unseen = none;
    unseen["status"] = json!({});
    not_yet(rolled_out(&unseen), NotReady::Unobserved);
    let late = json!({"conditions": [{"type": "Progressing", "status": "False",
        "reason": "ProgressDeadlineExceeded", "message": "timed out"}]});
    let why = seen("Progressing", "False", "ProgressDeadlineExceeded", "timed out");
    never(rolled_out(&deployment(late.clone())), NotReady::ProgressDeadline(why));
    // The news of the former change is no news of this one.
    let mut changed = deployment(late);
    changed["metadata"]["generation"] = json!(2);
    not_yet(rolled_out(&changed), lagging(2, 1));
    let paused = workload("Deployment", json!({"replicas": 1, "paused": true}), json!({}));
    not_yet(rolled_out(&paused), NotReady::Paused { updated: 0, wanted: 1 });
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
    not_yet(rolled_out(&set(rolling(), status(1, "a"))), short(1, 3, "updated"));
    let part = || spec(json!({"type": "RollingUpdate", "rollingUpdate": {"partition": 2}}));
    assert_eq!(rolled_out(&set(part(), status(1, "a"))), Verdict::Met);
    not_yet(rolled_out(&set(part(), status(0, "a"))), short(0, 1, "updated"));
    let left_alone = spec(json!({"type": "OnDelete"}));
    assert_eq!(rolled_out(&set(left_alone, status(0, "a"))), Verdict::Met);
    let unready = json!({"replicas": 3, "readyReplicas": 1});
    not_yet(rolled_out(&set(rolling(), unready)), short(1, 3, "ready"));
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
    not_yet(rolled_out(&set(status(1, 2))), short(1, 2, "updated"));
    not_yet(rolled_out(&set(status(2, 1))), short(1, 2, "available"));
    let nowhere = json!({"desiredNumberScheduled": 0});
    assert_eq!(rolled_out(&set(nowhere)), Verdict::Met);

    let job = |spec, status| {
        json!({"apiVersion": "batch/v1", "kind": "Job", "metadata": {},
        "spec": spec, "status": status})
    };
    let ended = |kind: &str| json!({"conditions": [{"type": kind, "status": "True"}]});
    assert_eq!(rolled_out(&job(json!({}), ended("Complete"))), Verdict::Met);
    let end = End::JobFailed(Some(seen("Failed", "True", "", "")));
    never(rolled_out(&job(json!({}), ended("Failed"))), Reason::Ended(end));
    let running = job(json!({"completions": 3}), json!({"succeeded": 1, "failed": 2}));
    let why = NotReady::Completions { succeeded: 1, wanted: 3, failed: 2 };
    not_yet(rolled_out(&running), why);
    not_yet(rolled_out(&job(json!({"suspend": true}), json!({}))), NotReady::Suspended);
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
    let why = NotReady::Unscheduled(seen("PodScheduled", "False", "Unschedulable", "no room"));
    assert_eq!(status(&pod, at(120)), Status::Failed(why.into()));
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
