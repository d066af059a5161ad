//! What is said about waiting.

use std::time::Duration;

use k8sconnect_cluster::Error;
use k8sconnect_core::identity::Gvk;
use k8sconnect_core::jsonpath::JsonPath;
use k8sconnect_core::readiness::picture::{ConditionSeen, Picture, picture};
use k8sconnect_core::readiness::pods::look;
use k8sconnect_core::readiness::{End, Goal, NotReady, Reason, Sign};
use k8sconnect_core::rejection::Status;
use serde_json::json;
use tfplugin::{AttributePath, Diagnostic};

use super::web;
use crate::messages::data;
use crate::messages::wait;
use crate::wait_failure::WaitFailure;

pub(super) fn messages() -> Vec<Diagnostic> {
    let web = web();
    let failed = |goal: &Goal, failure: &WaitFailure, around: &Picture| {
        wait::failed(web.key(), goal, "2m", failure, around)
    };
    let path = |text: &str| JsonPath::parse(text).unwrap();
    let pod = json!({
        "metadata": {"name": "web-7d9f-x2x", "uid": "1"},
        "status": {"phase": "Pending", "containerStatuses": [{"name": "app", "restartCount": 0,
            "state": {"waiting": {"reason": "ImagePullBackOff",
                "message": "Back-off pulling image \"shop/web:9\": manifest unknown"}}}]},
    });
    let fine = json!({"metadata": {"name": "web-7d9f-abc"}, "status": {"phase": "Running",
        "conditions": [{"type": "Ready", "status": "True"}]}});
    let event = json!({"type": "Warning", "reason": "Failed", "count": 4,
        "message": "Failed to pull image \"shop/web:9\"", "lastTimestamp": "2026-11-16T07:00:00Z",
        "involvedObject": {"kind": "Pod", "name": "web-7d9f-x2x"}});
    let object = json!({"kind": "Deployment", "spec": {"replicas": 2}, "status": {
        "replicas": 2, "updatedReplicas": 2, "readyReplicas": 1, "availableReplicas": 1,
        "conditions": [{"type": "Available", "status": "False",
            "reason": "MinimumReplicasUnavailable",
            "message": "Deployment does not have minimum availability."}]}});
    let around = picture(Some(&object), &[pod.clone(), fine], &[event]);
    let nothing = Picture::default();
    let up = |why| WaitFailure::TimeIsUp(vec![why]);
    let never = |why| WaitFailure::Never(vec![why]);
    let broken = JsonPath::parse("status.conditions[?(@.type=='Ready']").unwrap_err();
    let field = Goal::Shows(Sign::Field(path("status.loadBalancer.ingress")));
    let value = Goal::Shows(Sign::Values(vec![(path("status.phase"), "Bound".into())]));
    let condition = |text: &str| Goal::Shows(Sign::condition(text));
    let hung = Error::Timeout {
        host: "https://10.0.0.1:6443".into(),
        request: "GET /api/v1/namespaces/shop/services/web".into(),
        waited: Duration::from_secs(5),
    };
    let missing = vec![Reason::NoField("status.loadBalancer.ingress".into())];
    let silence = WaitFailure::NoAnswer { seen: missing, error: hung };
    let available = NotReady::Replicas { count: 1, wanted: 2, state: "available" };
    let late = ConditionSeen {
        kind: "Progressing".into(),
        status: "False".into(),
        reason: "ProgressDeadlineExceeded".into(),
        message: String::new(),
    };
    let held = Reason::Terminating { finalizers: vec!["a/b".into()] };
    let other = Reason::OtherValue {
        path: "status.phase".into(),
        values: Some(["Pending".into(), "Bound".into()]),
    };
    let forbidden: Status = serde_json::from_value(json!({"code": 403, "reason": "Forbidden",
        "message": "services \"web\" is forbidden"}))
    .unwrap();
    vec![
        wait::unanswered(web.key(), &Error::Refused(Box::new(forbidden))),
        data::no_name("a/b", AttributePath::root("object_ref").attribute("name")),
        data::no_namespace("Shop", AttributePath::root("namespace")),
        data::no_api_version("apps/v1/x", AttributePath::root("api_version")),
        data::no_kind("Config Map", AttributePath::root("kind")),
        failed(&Goal::Rollout, &up(available.into()), &around),
        failed(&Goal::Rollout, &never(Reason::Image(Box::new(look(&pod)))), &around),
        failed(&Goal::Ready, &never(NotReady::ProgressDeadline(late).into()), &nothing),
        failed(&Goal::Deleted, &up(held), &nothing),
        failed(&field, &WaitFailure::NotFound, &nothing),
        failed(&field, &WaitFailure::Deleted, &nothing),
        failed(&field, &WaitFailure::NoNamespace("shop".into()), &nothing),
        failed(&field, &silence, &nothing),
        failed(&value, &up(other), &nothing),
        failed(&condition("Ready"), &up(Reason::NoCondition("Ready".into())), &nothing),
        failed(&condition("Ready=False"), &never(Reason::Ended(End::PodFailed)), &nothing),
        wait::no_kind(web.key(), Some("Deployment"), "2m"),
        wait::gone_with_its_kind(web.key(), None),
        wait::gone_with_its_kind(web.key(), Some("Deployment")),
        wait::stopped(web.key()),
        wait::it_is_lost(web.key(), &field),
        wait::it_is_lost(web.key(), &condition("Ready")),
        wait::recreated(web.key()),
        wait::not_moved("terraform_data"),
        wait::no_goal(),
        wait::several_goals(&["field", "rollout"]),
        wait::fails_on_nothing(),
        wait::no_rollout(&Gvk::new("v1", "Service")),
        wait::no_path(&broken),
        wait::no_value("status.phase"),
        wait::no_condition("=True"),
        wait::empty("name"),
        wait::still_unknown(),
    ]
}
