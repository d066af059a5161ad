//! What a person would look up next about an object that is not as it should be: its conditions,
//! its count of replicas, its worst pods, its last events. Bounded: a message is read, not
//! searched.

use std::fmt;

use serde_json::Value;

use super::pods::{Pod, Standing, look};

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Picture {
    pub conditions: Vec<ConditionSeen>,
    pub replicas: Option<String>,
    /// The worst, worst first.
    pub pods: Vec<Pod>,
    /// How many pods there are beside those.
    pub further_pods: usize,
    /// The last, oldest first.
    pub events: Vec<Event>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConditionSeen {
    pub kind: String,
    pub status: String,
    pub reason: String,
    pub message: String,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// `Warning` or `Normal`.
    pub kind: String,
    pub reason: String,
    /// ``Pod `web-1` ``.
    pub about: String,
    pub times: i64,
    pub message: String,
}

const CONDITIONS: usize = 8;
const PODS: usize = 3;
const EVENTS: usize = 5;
const LONGEST: usize = 240;

/// As much of a message as belongs on a line.
pub(super) fn cut(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if line.chars().count() <= LONGEST {
        return line;
    }
    let start: String = line.chars().take(LONGEST).collect();
    format!("{start}…")
}

impl ConditionSeen {
    pub(super) fn of(condition: &Value) -> Self {
        let text = |name: &str| cut(condition[name].as_str().unwrap_or_default());
        Self {
            kind: text("type"),
            status: text("status"),
            reason: text("reason"),
            message: text("message"),
        }
    }

    /// Reason and message, as the end of a sentence; nothing where there are none.
    pub(super) fn because(&self) -> String {
        match (self.reason.as_str(), self.message.as_str()) {
            ("", "") => String::new(),
            (reason, "") => format!(" ({reason})"),
            ("", message) => format!(" ({message})"),
            (reason, message) => format!(" ({reason}: {message})"),
        }
    }
}

impl fmt::Display for ConditionSeen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "condition `{}` is `{}`{}", self.kind, self.status, self.because())
    }
}

/// Puts together what is known. The events may be those of the pods too.
pub fn picture(object: Option<&Value>, pods: &[Value], events: &[Value]) -> Picture {
    let conditions = object.into_iter().flat_map(super::conditions);
    let mut seen: Vec<_> = pods.iter().map(look).collect();
    seen.sort_by(|a, b| a.standing.cmp(&b.standing).then_with(|| a.name.cmp(&b.name)));
    let shown = seen.iter().take(PODS).filter(|pod| pod.standing != Standing::Fine);
    let pods: Vec<_> = shown.cloned().collect();
    Picture {
        conditions: conditions.take(CONDITIONS).map(ConditionSeen::of).collect(),
        replicas: object.and_then(replicas),
        further_pods: seen.len() - pods.len(),
        pods,
        events: last(events),
    }
}

/// The counts of a workload on one line.
fn replicas(object: &Value) -> Option<String> {
    let (spec, status) = (&object["spec"], &object["status"]);
    let count = |name: &str| status[name].as_i64().unwrap_or(0);
    let of = |wanted: i64, counts: &[(&str, &str)]| {
        let counts = counts.iter().map(|(name, words)| format!("{} {words}", count(name)));
        format!("{wanted} wanted, {}", counts.collect::<Vec<_>>().join(", "))
    };
    let wanted = spec["replicas"].as_i64().unwrap_or(1);
    match object["kind"].as_str()? {
        "Deployment" | "StatefulSet" | "ReplicaSet" => {
            let all = [
                ("replicas", "there"),
                ("updatedReplicas", "updated"),
                ("readyReplicas", "ready"),
                ("availableReplicas", "available"),
            ];
            Some(of(wanted, &all))
        }
        "DaemonSet" => {
            let all = [
                ("currentNumberScheduled", "scheduled"),
                ("updatedNumberScheduled", "updated"),
                ("numberReady", "ready"),
                ("numberAvailable", "available"),
            ];
            Some(of(count("desiredNumberScheduled"), &all))
        }
        "Job" => {
            let all = [("active", "active"), ("succeeded", "succeeded"), ("failed", "failed")];
            Some(of(spec["completions"].as_i64().unwrap_or(1), &all))
        }
        _ => None,
    }
}

/// The last events in the order of time, warnings alone if there are any. One that came again and
/// again stands once.
fn last(events: &[Value]) -> Vec<Event> {
    let warned = events.iter().any(|event| event["type"] == "Warning");
    let told = events.iter().filter(|event| !warned || event["type"] == "Warning");
    let mut events: Vec<_> = told.map(|event| (moment(event), event)).collect();
    events.sort_by(|a, b| b.0.cmp(a.0));
    let mut found: Vec<Event> = Vec::new();
    for (_, event) in events {
        let text = |value: &Value| cut(value.as_str().unwrap_or_default());
        let involved = &event["involvedObject"];
        let about = format!("{} `{}`", text(&involved["kind"]), text(&involved["name"]));
        let one = Event {
            kind: text(&event["type"]),
            reason: text(&event["reason"]),
            about,
            times: event["series"]["count"]
                .as_i64()
                .or_else(|| event["count"].as_i64())
                .unwrap_or(1)
                .max(1),
            message: text(&event["message"]),
        };
        let same = |other: &Event| other.reason == one.reason && other.about == one.about;
        if let Some(at) = found.iter().position(same) {
            found[at].times += one.times;
        } else if found.len() < EVENTS {
            found.push(one);
        }
    }
    found.reverse();
    found
}

/// Times in one form, so that their order is that of their texts.
fn moment(event: &Value) -> &str {
    [
        &event["series"]["lastObservedTime"],
        &event["lastTimestamp"],
        &event["eventTime"],
        &event["metadata"]["creationTimestamp"],
    ]
    .into_iter()
    .find_map(Value::as_str)
    .unwrap_or_default()
}
