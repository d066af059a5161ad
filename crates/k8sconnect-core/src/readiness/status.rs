//! Ready, as Go's kstatus means it: rules of the built-in kinds, and conditions by convention for
//! all others. The verdicts are those of that library, which is the referee of the tests; where it
//! fails on an object that it does not understand, ours is in progress.

use std::time::{Duration, SystemTime};

use serde_json::Value;

use super::picture::ConditionSeen;
use super::{NotReady, Reason, conditions, has, is_going, job_failed, unseen, whole};
use crate::identity::Gvk;
use crate::time;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Status {
    Current,
    InProgress(Reason),
    Failed(Reason),
    Terminating,
}

use Status::{Current, Failed, InProgress, Terminating};

fn in_progress(why: NotReady) -> Status {
    InProgress(why.into())
}

fn failed(why: NotReady) -> Status {
    Failed(why.into())
}

/// How long a pod may be without a node before that counts as failed.
const SCHEDULING: Duration = Duration::from_secs(15);

pub fn status(object: &Value, now: SystemTime) -> Status {
    if is_going(object) {
        return Terminating;
    }
    if let Some(why) = unseen(object) {
        return InProgress(why);
    }
    for one in conditions(object).filter(|one| one["status"] == "True") {
        match one["type"].as_str() {
            Some("Reconciling") => return InProgress(Reason::Condition(ConditionSeen::of(one))),
            Some("Stalled") => return Failed(Reason::Condition(ConditionSeen::of(one))),
            _ => {}
        }
    }
    let text = |name: &str| object[name].as_str().unwrap_or_default();
    let gvk = Gvk::new(text("apiVersion"), text("kind"));
    match (gvk.group.as_str(), gvk.kind.as_str()) {
        ("", "Service") => service(object),
        ("", "Pod") => pod(object, now),
        ("", "Secret" | "ConfigMap") | ("batch", "CronJob") => Current,
        ("policy", "PodDisruptionBudget") => Current,
        ("", "PersistentVolumeClaim") => claim(object),
        ("apps", "StatefulSet") => stateful_set(object),
        ("apps" | "extensions", "DaemonSet") => daemon_set(object),
        ("apps" | "extensions", "Deployment") => deployment(object),
        ("apps" | "extensions", "ReplicaSet") => replica_set(object),
        ("batch", "Job") => job(object),
        ("apiextensions.k8s.io", "CustomResourceDefinition") => definition(object),
        _ => by_convention(object),
    }
}

/// The first of these that is short of what is wanted.
fn short_of<const N: usize>(wanted: i64, counts: [(i64, &'static str); N]) -> Option<Status> {
    let (count, state) = counts.into_iter().find(|(count, _)| *count < wanted)?;
    Some(in_progress(NotReady::Replicas { count, wanted, state }))
}

fn too_many(replicas: i64, wanted: i64) -> Option<Status> {
    (replicas > wanted).then(|| in_progress(NotReady::TooManyReplicas(replicas - wanted)))
}

fn deployment(object: &Value) -> Status {
    let deadline = object["spec"]["progressDeadlineSeconds"].as_i64();
    let mut progressed = deadline.is_none_or(|seconds| seconds == i64::from(i32::MAX));
    for one in conditions(object).filter(|one| one["type"] == "Progressing") {
        if one["reason"] == "ProgressDeadlineExceeded" {
            return failed(NotReady::ProgressDeadline(ConditionSeen::of(one)));
        }
        progressed |= one["status"] == "True" && one["reason"] == "NewReplicaSetAvailable";
    }
    let wanted = whole(object, ["spec", "replicas"], 1);
    let count = |name| whole(object, ["status", name], 0);
    let (replicas, updated) = (count("replicas"), count("updatedReplicas"));
    let found = short_of(wanted, [(replicas, "there"), (updated, "updated")])
        .or_else(|| too_many(replicas, wanted))
        .or_else(|| short_of(updated, [(count("availableReplicas"), "available")]))
        .or_else(|| short_of(wanted, [(count("readyReplicas"), "ready")]));
    match found {
        Some(status) => status,
        None if !progressed => in_progress(NotReady::NewReplicaSet),
        None if !has(object, "Available", "True") => in_progress(NotReady::Unavailable),
        None => Current,
    }
}

fn replica_set(object: &Value) -> Status {
    if has(object, "ReplicaFailure", "True") {
        return in_progress(NotReady::ReplicaFailure);
    }
    let wanted = whole(object, ["spec", "replicas"], 1);
    let count = |name| whole(object, ["status", name], 0);
    let counts = [
        (count("fullyLabeledReplicas"), "labelled"),
        (count("availableReplicas"), "available"),
        (count("readyReplicas"), "ready"),
    ];
    let found = short_of(wanted, counts).or_else(|| too_many(count("replicas"), wanted));
    found.unwrap_or(Current)
}

fn stateful_set(object: &Value) -> Status {
    let strategy = &object["spec"]["updateStrategy"];
    if strategy["type"] == "OnDelete" {
        return Current;
    }
    let wanted = whole(object, ["spec", "replicas"], 1);
    let count = |name| whole(object, ["status", name], 0);
    let (replicas, updated) = (count("replicas"), count("updatedReplicas"));
    let found = short_of(wanted, [(replicas, "there"), (count("readyReplicas"), "ready")])
        .or_else(|| too_many(replicas, wanted));
    if let Some(status) = found {
        return status;
    }
    let partition = strategy["rollingUpdate"]["partition"].as_i64().filter(|at| *at != -1);
    if let Some(partition) = partition {
        return short_of(wanted - partition, [(updated, "updated")]).unwrap_or(Current);
    }
    let revision = |name: &str| object["status"][name].as_str().unwrap_or_default().to_owned();
    match short_of(wanted, [(count("currentReplicas"), "current")]) {
        Some(status) => status,
        None if revision("currentRevision") != revision("updateRevision") => {
            in_progress(NotReady::OldRevision)
        }
        None => Current,
    }
}

fn daemon_set(object: &Value) -> Status {
    let seen = object["metadata"]["generation"].is_i64()
        && object["status"]["observedGeneration"].is_i64();
    let wanted = object["status"]["desiredNumberScheduled"].as_i64().filter(|wanted| *wanted != -1);
    let (true, Some(wanted)) = (seen, wanted) else {
        return in_progress(NotReady::Unobserved);
    };
    let count = |name| whole(object, ["status", name], 0);
    let counts = [
        (count("currentNumberScheduled"), "scheduled"),
        (count("updatedNumberScheduled"), "updated"),
        (count("numberAvailable"), "available"),
        (count("numberReady"), "ready"),
    ];
    short_of(wanted, counts).unwrap_or(Current)
}

fn claim(object: &Value) -> Status {
    match object["status"]["phase"].as_str() {
        Some("Bound") => Current,
        phase => in_progress(NotReady::Phase(phase.map(ToOwned::to_owned))),
    }
}

fn pod(object: &Value, now: SystemTime) -> Status {
    match object["status"]["phase"].as_str() {
        // Both are ends: a pod that failed is as settled as it will ever be.
        Some("Succeeded" | "Failed") => Current,
        Some("Running") if has(object, "Ready", "True") => Current,
        Some("Running") => {
            let looping = |one: &&Value| one["state"]["waiting"]["reason"] == "CrashLoopBackOff";
            let containers = object["status"]["containerStatuses"].as_array();
            let names: Vec<_> = containers
                .into_iter()
                .flatten()
                .filter(looping)
                .filter_map(|one| one["name"].as_str().map(ToOwned::to_owned))
                .collect();
            if names.is_empty() {
                return in_progress(NotReady::Unready);
            }
            failed(NotReady::Crashing(names))
        }
        Some("Pending") => pending(object, now),
        phase => in_progress(NotReady::Phase(phase.map(ToOwned::to_owned))),
    }
}

fn pending(object: &Value, now: SystemTime) -> Status {
    let unscheduled = conditions(object)
        .find(|one| one["type"] == "PodScheduled" && one["status"] == "False")
        .filter(|one| one["reason"] == "Unschedulable");
    let Some(one) = unscheduled else {
        return in_progress(NotReady::Phase(Some("Pending".to_owned())));
    };
    let created = object["metadata"]["creationTimestamp"].as_str().and_then(time::parse);
    let patience_is_over = match created {
        Some(created) => created + SCHEDULING <= now,
        None => true,
    };
    let why = NotReady::Unscheduled(ConditionSeen::of(one));
    if patience_is_over { failed(why) } else { in_progress(why) }
}

fn job(object: &Value) -> Status {
    for one in conditions(object).filter(|one| one["status"] == "True") {
        match one["type"].as_str() {
            Some("Complete") => return Current,
            Some("Failed") => return Failed(Reason::Ended(job_failed(object))),
            _ => {}
        }
    }
    if object["status"]["startTime"].as_str().unwrap_or_default().is_empty() {
        return in_progress(NotReady::NotStarted);
    }
    Current
}

fn service(object: &Value) -> Status {
    let spec = &object["spec"];
    let unaddressed = spec["clusterIP"].as_str().unwrap_or_default().is_empty();
    if spec["type"] == "LoadBalancer" && unaddressed {
        return in_progress(NotReady::NoAddress);
    }
    Current
}

fn definition(object: &Value) -> Status {
    for one in conditions(object) {
        let no = one["status"] == "False";
        match one["type"].as_str() {
            Some("NamesAccepted") if no => {
                return Failed(Reason::Condition(ConditionSeen::of(one)));
            }
            Some("Established") if no && one["reason"] != "Installing" => {
                return Failed(Reason::Condition(ConditionSeen::of(one)));
            }
            Some("Established") if one["status"] == "True" => return Current,
            _ => {}
        }
    }
    in_progress(NotReady::Installing)
}

/// Of a kind without rules of its own the condition `Ready` is believed; without it, there is
/// nothing that could be waited for.
fn by_convention(object: &Value) -> Status {
    let told = |one: &&Value| {
        one["type"] == "Ready"
            && matches!(one["status"].as_str(), Some("True" | "False" | "Unknown"))
    };
    match conditions(object).find(told) {
        Some(one) if one["status"] != "True" => {
            InProgress(Reason::Condition(ConditionSeen::of(one)))
        }
        _ => Current,
    }
}
