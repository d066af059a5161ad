//! Whether a workload has rolled out, by what it says of itself once its controller has seen the
//! last change. A workload of no replicas has.

use serde_json::Value;

use super::Verdict::{self, Met, Never, NotYet};
use super::picture::ConditionSeen;
use super::{NotReady, Reason, conditions, has, job_failed, whole};

pub(super) fn judge(object: &Value) -> Verdict {
    match object["kind"].as_str() {
        Some("Deployment") => deployment(object),
        Some("StatefulSet") => stateful_set(object),
        Some("DaemonSet") => daemon_set(object),
        Some("Job") => job(object),
        _ => Never(vec![Reason::NoRollout]),
    }
}

/// Controllers write their first status some time after the object is made.
fn unwritten(object: &Value) -> Option<Verdict> {
    let written = object["status"]["observedGeneration"].is_i64();
    (!written).then(|| not_yet(NotReady::Unobserved))
}

fn not_yet(why: NotReady) -> Verdict {
    NotYet(vec![why.into()])
}

fn so_many(count: i64, wanted: i64, state: &'static str) -> Verdict {
    not_yet(NotReady::Replicas { count, wanted, state })
}

fn deployment(object: &Value) -> Verdict {
    if let Some(verdict) = unwritten(object) {
        return verdict;
    }
    let failed =
        |one: &&Value| one["type"] == "Progressing" && one["reason"] == "ProgressDeadlineExceeded";
    if let Some(one) = conditions(object).find(failed) {
        return Never(vec![NotReady::ProgressDeadline(ConditionSeen::of(one)).into()]);
    }
    let wanted = whole(object, ["spec", "replicas"], 1);
    let replicas = whole(object, ["status", "replicas"], 0);
    let updated = whole(object, ["status", "updatedReplicas"], 0);
    let available = whole(object, ["status", "availableReplicas"], 0);
    if updated < wanted && object["spec"]["paused"] == true {
        return not_yet(NotReady::Paused { updated, wanted });
    }
    if updated < wanted {
        return so_many(updated, wanted, "updated");
    }
    if replicas > updated {
        return not_yet(NotReady::OldReplicas(replicas - updated));
    }
    if available < updated {
        return so_many(available, updated, "available");
    }
    Met
}

fn stateful_set(object: &Value) -> Verdict {
    if let Some(verdict) = unwritten(object) {
        return verdict;
    }
    let status = &object["status"];
    let wanted = whole(object, ["spec", "replicas"], 1);
    let replicas = whole(object, ["status", "replicas"], 0);
    let ready = whole(object, ["status", "readyReplicas"], 0);
    let available = whole(object, ["status", "availableReplicas"], 0);
    let updated = whole(object, ["status", "updatedReplicas"], 0);
    if ready < wanted {
        return so_many(ready, wanted, "ready");
    }
    if available < wanted {
        return so_many(available, wanted, "available");
    }
    if replicas > wanted {
        return not_yet(NotReady::TooManyReplicas(replicas - wanted));
    }
    let strategy = &object["spec"]["updateStrategy"];
    // Its pods are replaced when their owner deletes them, which is not for us to wait for.
    if strategy["type"] == "OnDelete" {
        return Met;
    }
    if let Some(partition) = strategy["rollingUpdate"]["partition"].as_i64()
        && partition > 0
    {
        let due = (wanted - partition).max(0);
        return if updated < due { so_many(updated, due, "updated") } else { Met };
    }
    if status["updateRevision"] != status["currentRevision"] {
        return so_many(updated, wanted, "updated");
    }
    Met
}

fn daemon_set(object: &Value) -> Verdict {
    if let Some(verdict) = unwritten(object) {
        return verdict;
    }
    let wanted = whole(object, ["status", "desiredNumberScheduled"], 0);
    let updated = whole(object, ["status", "updatedNumberScheduled"], 0);
    let available = whole(object, ["status", "numberAvailable"], 0);
    let left_alone = object["spec"]["updateStrategy"]["type"] == "OnDelete";
    if updated < wanted && !left_alone {
        return so_many(updated, wanted, "updated");
    }
    if available < wanted {
        return so_many(available, wanted, "available");
    }
    Met
}

fn job(object: &Value) -> Verdict {
    if has(object, "Complete", "True") {
        return Met;
    }
    if has(object, "Failed", "True") {
        return Never(vec![Reason::Ended(job_failed(object))]);
    }
    if object["spec"]["suspend"] == true {
        return not_yet(NotReady::Suspended);
    }
    let wanted = whole(object, ["spec", "completions"], 1);
    let succeeded = whole(object, ["status", "succeeded"], 0);
    let failed = whole(object, ["status", "failed"], 0);
    not_yet(NotReady::Completions { succeeded, wanted, failed })
}
