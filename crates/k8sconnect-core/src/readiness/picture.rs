//! What a person would look up next about an object that is not as it should be: its conditions,
//! its count of replicas, its worst pods, its last events. Bounded: a message is read, not
//! searched.

use serde_json::Value;

use super::pods::{Pod, Standing, look};

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Picture {
    pub conditions: Vec<ConditionSeen>,
    pub replicas: Option<ReplicaCounts>,
    /// The worst, worst first.
    pub pods: Vec<Pod>,
    /// How many pods there are beside those.
    pub further_pods: usize,
    /// The last, oldest first.
    pub events: Vec<Event>,
}

/// The counts of a workload, by the names of the fields of its status.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReplicaCounts {
    pub wanted: i64,
    pub counts: Vec<(&'static str, i64)>,
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

fn replicas(object: &Value) -> Option<ReplicaCounts> {
    let (spec, status) = (&object["spec"], &object["status"]);
    let count = |name: &str| status[name].as_i64().unwrap_or(0);
    let wanted = |name: &str| spec[name].as_i64().unwrap_or(1);
    let (wanted, names): (i64, &[&str]) = match object["kind"].as_str()? {
        "Deployment" | "StatefulSet" | "ReplicaSet" => (
            wanted("replicas"),
            &["replicas", "updatedReplicas", "readyReplicas", "availableReplicas"],
        ),
        "DaemonSet" => (
            count("desiredNumberScheduled"),
            &["currentNumberScheduled", "updatedNumberScheduled", "numberReady", "numberAvailable"],
        ),
        "Job" => (wanted("completions"), &["active", "succeeded", "failed"]),
        _ => return None,
    };
    Some(ReplicaCounts { wanted, counts: names.iter().map(|name| (*name, count(name))).collect() })
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
