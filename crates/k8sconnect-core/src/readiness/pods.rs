//! The pods behind a workload, and what keeps one from running.
//!
//! A workload says how many of its pods are not available, and seldom why. Its pods do. Only those
//! of its last template count: the ruins of an earlier rollout say nothing of this one.

use serde_json::Value;

use super::picture::cut;

/// How a pod stands, from worst to best.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Standing {
    /// Its image can never be pulled as it is written.
    Hopeless,
    /// Its image was not pulled, which may pass: a registry comes back, an image is pushed.
    Unpulled,
    /// A container cannot be made or started, often for want of a ConfigMap or a Secret.
    Unmade,
    Crashing,
    Failed,
    Unscheduled,
    Starting,
    /// It runs, and is not ready.
    Unready,
    Fine,
}

/// One pod, in short.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pod {
    pub name: String,
    pub uid: String,
    pub standing: Standing,
    /// As kubectl shows it: `ImagePullBackOff`, `CrashLoopBackOff`, `Running`.
    pub state: String,
    pub container: Option<String>,
    pub message: PodMessage,
    pub restarts: i64,
}

/// What is known of a pod beside its state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PodMessage {
    /// In the words of the kubelet or the scheduler; empty where there are none.
    Said(String),
    /// It runs, and its containers are not ready.
    ContainersNotReady,
    /// It runs, and something else keeps it from being ready.
    NotReady { reason: String, message: String },
    /// A container ended with this exit code.
    Exit(i64),
    /// The same, before it was started again.
    LastExit { code: i64, reason: String },
}

/// The selector of the pods behind an object, in the server's syntax. `None` where it has none.
pub fn selector(object: &Value) -> Option<String> {
    if !is_workload(object) {
        return None;
    }
    let selector = &object["spec"]["selector"];
    let mut parts = Vec::new();
    for (key, value) in selector["matchLabels"].as_object().into_iter().flatten() {
        parts.push(format!("{key}={}", value.as_str()?));
    }
    for one in selector["matchExpressions"].as_array().into_iter().flatten() {
        let key = one["key"].as_str()?;
        let values = one["values"].as_array().into_iter().flatten();
        let values: Vec<_> = values.filter_map(Value::as_str).collect();
        let values = values.join(",");
        parts.push(match one["operator"].as_str()? {
            "In" => format!("{key} in ({values})"),
            "NotIn" => format!("{key} notin ({values})"),
            "Exists" => key.to_owned(),
            "DoesNotExist" => format!("!{key}"),
            _ => return None,
        });
    }
    (!parts.is_empty()).then(|| parts.join(","))
}

fn is_workload(object: &Value) -> bool {
    let (version, kind) = (object["apiVersion"].as_str(), object["kind"].as_str());
    match version.and_then(|version| version.split_once('/')) {
        Some(("apps", _)) => {
            matches!(kind, Some("Deployment" | "StatefulSet" | "DaemonSet" | "ReplicaSet"))
        }
        Some(("batch", _)) => kind == Some("Job"),
        _ => false,
    }
}

/// Those of the pods that the object's last template made. Those of a Deployment are told by its
/// ReplicaSets. While the controller has not seen the last template, there are none: all that is
/// there is of an earlier one.
pub fn of_last_template<'a>(
    object: &Value,
    replica_sets: &[Value],
    pods: &'a [Value],
) -> Vec<&'a Value> {
    if super::unseen(object).is_some() {
        return Vec::new();
    }
    let label = |pod: &Value, name: &str| {
        pod["metadata"]["labels"][name].as_str().unwrap_or_default().to_owned()
    };
    let labelled = |name: &'static str, wanted: Option<String>| {
        let wanted = wanted.filter(|wanted| !wanted.is_empty());
        let chosen = move |pod: &&Value| wanted.as_ref().is_some_and(|it| label(pod, name) == *it);
        pods.iter().filter(chosen).collect::<Vec<_>>()
    };
    let text = |value: &Value| value.as_str().map(ToOwned::to_owned);
    let chosen = match object["kind"].as_str() {
        Some("Deployment") => {
            let last = last_replica_set(object, replica_sets);
            labelled("pod-template-hash", last.map(|set| label(set, "pod-template-hash")))
        }
        Some("StatefulSet") => {
            labelled("controller-revision-hash", text(&object["status"]["updateRevision"]))
        }
        Some("DaemonSet") => {
            const GENERATION: &str = "deprecated.daemonset.template.generation";
            let generation = text(&object["metadata"]["annotations"][GENERATION]);
            labelled("pod-template-generation", generation)
        }
        _ => pods.iter().filter(|pod| is_owned(pod, object)).collect(),
    };
    chosen.into_iter().filter(|pod| is_alive(pod)).collect()
}

/// Those that say most of how the object stands: those of its last template, and all of them while
/// its controller has not seen the last change, which may be no change of the template at all.
pub fn telling<'a>(object: &Value, replica_sets: &[Value], pods: &'a [Value]) -> Vec<&'a Value> {
    match super::unseen(object) {
        Some(_) => pods.iter().filter(|pod| is_alive(pod)).collect(),
        None => of_last_template(object, replica_sets, pods),
    }
}

fn is_alive(pod: &Value) -> bool {
    pod["metadata"]["deletionTimestamp"].is_null()
}

/// The ReplicaSet that a Deployment's last template made.
pub fn last_replica_set<'a>(object: &Value, replica_sets: &'a [Value]) -> Option<&'a Value> {
    const REVISION: &str = "deployment.kubernetes.io/revision";
    let revision = |it: &Value| it["metadata"]["annotations"][REVISION].as_str().map(str::to_owned);
    let last = |set: &&Value| is_owned(set, object) && revision(set) == revision(object);
    replica_sets.iter().find(last)
}

fn is_owned(it: &Value, by: &Value) -> bool {
    let owners = it["metadata"]["ownerReferences"].as_array();
    owners.into_iter().flatten().any(|owner| owner["uid"] == by["metadata"]["uid"])
}

/// A pod by its worst container.
pub fn look(pod: &Value) -> Pod {
    let status = &pod["status"];
    let containers = ["initContainerStatuses", "containerStatuses"]
        .into_iter()
        .flat_map(|list| status[list].as_array().into_iter().flatten());
    let restarts = containers.clone().filter_map(|one| one["restartCount"].as_i64()).sum();
    let worst = containers.filter_map(container).min_by_key(|(standing, ..)| *standing);
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let whole = whole_pod(pod);
    let (standing, state, container, message) = match worst {
        Some((standing, state, name, message)) if standing <= whole.0 => {
            (standing, state, Some(name), message)
        }
        _ => (whole.0, whole.1, None, whole.2),
    };
    Pod {
        name: text(&pod["metadata"]["name"]),
        uid: text(&pod["metadata"]["uid"]),
        standing,
        state,
        container,
        message,
        restarts,
    }
}

fn said(message: &Value) -> PodMessage {
    PodMessage::Said(cut(message.as_str().unwrap_or_default()))
}

/// How the pod stands as far as no container says it.
fn whole_pod(pod: &Value) -> (Standing, String, PodMessage) {
    let status = &pod["status"];
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let phase = status["phase"].as_str().unwrap_or("Pending");
    let reason = status["reason"].as_str().unwrap_or(phase).to_owned();
    let unscheduled = super::conditions(pod)
        .find(|one| one["type"] == "PodScheduled" && one["status"] == "False");
    match (phase, unscheduled) {
        ("Succeeded", _) => (Standing::Fine, reason, said(&Value::Null)),
        ("Failed", _) => (Standing::Failed, reason, said(&status["message"])),
        (_, Some(one)) => (Standing::Unscheduled, text(&one["reason"]), said(&one["message"])),
        ("Running", _) if super::has(pod, "Ready", "True") => {
            (Standing::Fine, reason, said(&Value::Null))
        }
        ("Running", _) => (Standing::Unready, reason, unready(pod)),
        _ => (Standing::Starting, reason, said(&status["message"])),
    }
}

/// Why a pod that runs is not ready: its containers are not, or something else that must say so.
fn unready(pod: &Value) -> PodMessage {
    let ready = super::conditions(pod).find(|one| one["type"] == "Ready");
    let said = |name: &str| ready.and_then(|one| one[name].as_str()).unwrap_or_default();
    match (said("reason"), said("message")) {
        ("" | "ContainersNotReady", _) => PodMessage::ContainersNotReady,
        (reason, message) => {
            PodMessage::NotReady { reason: reason.to_owned(), message: cut(message) }
        }
    }
}

/// What is wrong with a container, if anything is.
fn container(one: &Value) -> Option<(Standing, String, String, PodMessage)> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let name = text(&one["name"]);
    let waiting = &one["state"]["waiting"];
    if let Some(reason) = waiting["reason"].as_str() {
        let standing = match reason {
            "InvalidImageName" | "ErrImageNeverPull" => Standing::Hopeless,
            "ErrImagePull"
            | "ImagePullBackOff"
            | "RegistryUnavailable"
            | "ImageInspectError"
            | "SignatureValidationFailed" => Standing::Unpulled,
            "CreateContainerConfigError" | "CreateContainerError" | "RunContainerError" => {
                Standing::Unmade
            }
            "CrashLoopBackOff" => Standing::Crashing,
            _ => Standing::Starting,
        };
        let last = &one["lastState"]["terminated"];
        let message = match (standing, last["exitCode"].as_i64()) {
            (Standing::Crashing, Some(code)) => {
                PodMessage::LastExit { code, reason: text(&last["reason"]) }
            }
            _ => said(&waiting["message"]),
        };
        return Some((standing, reason.to_owned(), name, message));
    }
    let ended = &one["state"]["terminated"];
    let code = ended["exitCode"].as_i64().filter(|code| *code != 0)?;
    // What a container says at its end may hold anything; its exit code does not.
    let reason = ended["reason"].as_str().unwrap_or("Error").to_owned();
    Some((Standing::Failed, reason, name, PodMessage::Exit(code)))
}

#[cfg(test)]
mod tests;
