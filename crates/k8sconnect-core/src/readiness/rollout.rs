//! Whether a workload has rolled out, by what it says of itself once its controller has seen the
//! last change. A workload of no replicas has.

use serde_json::Value;

use super::Verdict::{self, Met, Never, NotYet};
use super::picture::ConditionSeen;
use super::{conditions, has, job_failed, whole};

pub(super) fn judge(object: &Value) -> Verdict {
    match object["kind"].as_str() {
        Some("Deployment") => deployment(object),
        Some("StatefulSet") => stateful_set(object),
        Some("DaemonSet") => daemon_set(object),
        Some("Job") => job(object),
        _ => Never(
            "a rollout is known of Deployments, StatefulSets, DaemonSets and Jobs only".into(),
        ),
    }
}

/// Controllers write their first status some time after the object is made.
fn unwritten(object: &Value) -> Option<Verdict> {
    let written = object["status"]["observedGeneration"].is_i64();
    (!written).then(|| NotYet("its controller has not seen it yet".into()))
}

fn so_many(done: i64, of: i64, what: &str) -> Verdict {
    let replicas = if of == 1 { "replica" } else { "replicas" };
    let verb = if of == 1 { "is" } else { "are" };
    NotYet(format!("{done} of {of} {replicas} {verb} {what}"))
}

fn deployment(object: &Value) -> Verdict {
    if let Some(verdict) = unwritten(object) {
        return verdict;
    }
    let failed =
        |one: &&Value| one["type"] == "Progressing" && one["reason"] == "ProgressDeadlineExceeded";
    if let Some(one) = conditions(object).find(failed) {
        let why = ConditionSeen::of(one).because();
        return Never(format!("it made no progress within its deadline{why}"));
    }
    let wanted = whole(object, ["spec", "replicas"], 1);
    let replicas = whole(object, ["status", "replicas"], 0);
    let updated = whole(object, ["status", "updatedReplicas"], 0);
    let available = whole(object, ["status", "availableReplicas"], 0);
    if updated < wanted && object["spec"]["paused"] == true {
        return NotYet(format!("it is paused, with {updated} of {wanted} replicas updated"));
    }
    if updated < wanted {
        return so_many(updated, wanted, "updated");
    }
    if replicas > updated {
        return NotYet(format!("{} of the former replicas are still there", replicas - updated));
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
        return NotYet(format!("{} replicas too many are still there", replicas - wanted));
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
        return Never(job_failed(object));
    }
    if object["spec"]["suspend"] == true {
        return NotYet("it is suspended".into());
    }
    let wanted = whole(object, ["spec", "completions"], 1);
    let succeeded = whole(object, ["status", "succeeded"], 0);
    let failed = whole(object, ["status", "failed"], 0);
    let failures = match failed {
        0 => String::new(),
        1 => ", and 1 pod has failed".into(),
        many => format!(", and {many} pods have failed"),
    };
    NotYet(format!("{succeeded} of {wanted} completions are done{failures}"))
}
