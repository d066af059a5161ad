//! Whether an object is as somebody waits for it to be.
//!
//! A [`Goal`] is judged against the object as it was last seen, and the verdict is one of three:
//! met, not yet, or never, with reasons as data. What surrounds the object (its pods, its events) is
//! judged in [`pods`] and shown in [`picture`]. Not here: who looks, how often, and how long, and the
//! words.
//!
//! What a controller has not seen yet says nothing. Where `status.observedGeneration` lags behind
//! `metadata.generation`, the status is about an older object, and neither good nor bad news is
//! taken from it.

pub mod picture;
pub mod pods;
mod reason;
mod rollout;
mod status;

use std::time::SystemTime;

use serde_json::Value;

use crate::identity::Gvk;
use crate::jsonpath::{self, JsonPath};
use crate::text::nfc;

pub use reason::{End, NotReady, Reason};
pub use status::{Status, status};

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    Met,
    NotYet(Vec<Reason>),
    /// It cannot come to be by waiting.
    Never(Vec<Reason>),
}

/// What is waited for.
#[derive(Clone, Debug, PartialEq)]
pub enum Goal {
    Shows(Sign),
    /// A workload has rolled out: its pods are of the last template, and available.
    Rollout,
    /// Ready by the rules of its kind, as kstatus knows them.
    Ready,
    Deleted,
}

/// Something that an object shows or does not.
#[derive(Clone, Debug, PartialEq)]
pub enum Sign {
    /// A field that is there and not empty.
    Field(JsonPath),
    /// Fields with these values, as text.
    Values(Vec<(JsonPath, String)>),
    Condition {
        kind: String,
        status: String,
    },
}

impl Sign {
    /// `Ready`, or `Ready=False` as kubectl takes it.
    pub fn condition(text: &str) -> Self {
        let (kind, status) = text.split_once('=').unwrap_or((text, "True"));
        Self::Condition { kind: kind.trim().to_owned(), status: status.trim().to_owned() }
    }
}

/// The kinds whose rollout is known.
pub const ROLLED_OUT: [(&str, &str); 4] =
    [("apps", "Deployment"), ("apps", "StatefulSet"), ("apps", "DaemonSet"), ("batch", "Job")];

impl Goal {
    /// Whether the goal means anything for a kind.
    pub fn suits(&self, gvk: &Gvk) -> bool {
        *self != Self::Rollout || ROLLED_OUT.contains(&(&gvk.group, &gvk.kind))
    }

    /// Whether pods that cannot start keep the goal from being met.
    pub fn depends_on_pods(&self) -> bool {
        match self {
            Self::Rollout | Self::Ready => true,
            Self::Shows(Sign::Condition { kind, status }) => {
                matches!(kind.as_str(), "Available" | "Ready" | "Complete") && status == "True"
            }
            Self::Shows(_) | Self::Deleted => false,
        }
    }

    /// What of the object is handed on to whoever waited: what it was waited to show.
    pub fn excerpt(&self, object: &Value) -> Option<Value> {
        let found = match self {
            Self::Shows(Sign::Field(path)) => path.find(object),
            Self::Shows(Sign::Values(values)) => {
                values.iter().flat_map(|(path, _)| path.find(object)).collect()
            }
            Self::Shows(Sign::Condition { kind, .. }) => {
                let one = condition(object, kind)?;
                let of_use = ["type", "status", "reason"];
                // Null where there is none, so that whoever uses it need not ask first.
                let kept = of_use.iter().map(|name| ((*name).to_owned(), one[*name].clone()));
                let kept: serde_json::Map<_, _> = kept.collect();
                return Some(serde_json::json!({"status": {"conditions": [kept]}}));
            }
            Self::Rollout | Self::Ready | Self::Deleted => return None,
        };
        (!found.is_empty()).then(|| jsonpath::excerpt(found))
    }

    /// Whether what was there when it was waited for no longer is. That a value or a condition
    /// changed since is no loss.
    pub fn is_lost(&self, object: &Value) -> bool {
        match self {
            Self::Shows(Sign::Field(path)) => {
                let found = path.find(object);
                found.is_empty() || found.iter().any(|found| is_empty(found.value))
            }
            Self::Shows(Sign::Values(values)) => {
                values.iter().any(|(path, _)| path.find(object).is_empty())
            }
            Self::Shows(Sign::Condition { kind, .. }) => condition(object, kind).is_none(),
            Self::Rollout | Self::Ready | Self::Deleted => false,
        }
    }

    /// Whether anything is handed on at all.
    pub fn hands_on(&self) -> bool {
        matches!(self, Self::Shows(_))
    }
}

/// Judges an object, `None` being an absent one, at a time.
pub fn judge(goal: &Goal, fail_when: &[Sign], object: Option<&Value>, now: SystemTime) -> Verdict {
    let Some(object) = object else {
        return match goal {
            Goal::Deleted => Verdict::Met,
            _ => Verdict::NotYet(vec![Reason::Absent]),
        };
    };
    if let Some(sign) = fail_when.iter().find(|sign| sign.shown_by(object).is_ok()) {
        return Verdict::Never(vec![Reason::FailWhen(sign.described(object))]);
    }
    match goal {
        Goal::Deleted => Verdict::NotYet(vec![still_there(object)]),
        Goal::Ready => match status(object, now) {
            Status::Current => Verdict::Met,
            Status::InProgress(why) => Verdict::NotYet(vec![why]),
            Status::Terminating => Verdict::NotYet(vec![still_there(object)]),
            Status::Failed(why) => Verdict::Never(vec![why]),
        },
        // Its pods go with it, however many are ready still.
        Goal::Rollout if is_going(object) => Verdict::NotYet(vec![still_there(object)]),
        Goal::Rollout => match unseen(object) {
            Some(why) => Verdict::NotYet(vec![why]),
            None => rollout::judge(object),
        },
        Goal::Shows(sign) => match sign.shown_by(object) {
            Ok(()) => Verdict::Met,
            Err(lacks) => match over(object) {
                Some(end) if sign.is_of_status() => {
                    Verdict::Never(vec![Reason::Final { end, lacks }])
                }
                _ => Verdict::NotYet(lacks),
            },
        },
    }
}

impl Sign {
    fn is_of_status(&self) -> bool {
        match self {
            Self::Condition { .. } => true,
            Self::Field(path) => path.begins_in("status"),
            Self::Values(values) => values.iter().any(|(path, _)| path.begins_in("status")),
        }
    }

    /// Why the object does not show it.
    fn shown_by(&self, object: &Value) -> Result<(), Vec<Reason>> {
        if let Some(why) = unseen(object).filter(|_| self.is_of_status()) {
            return Err(vec![why]);
        }
        match self {
            Self::Field(path) => {
                let found = path.find(object);
                if found.is_empty() {
                    return Err(vec![Reason::NoField(path.text().to_owned())]);
                }
                match found.iter().any(|found| is_empty(found.value)) {
                    true => Err(vec![Reason::EmptyField(path.text().to_owned())]),
                    false => Ok(()),
                }
            }
            Self::Values(values) => {
                let whys = values.iter().filter_map(|(path, wanted)| differs(path, wanted, object));
                let whys: Vec<_> = whys.collect();
                if whys.is_empty() { Ok(()) } else { Err(whys) }
            }
            Self::Condition { kind, status } => {
                let Some(one) = condition(object, kind) else {
                    return Err(vec![Reason::NoCondition(kind.clone())]);
                };
                let observed = one["observedGeneration"].as_i64();
                let generation = object["metadata"]["generation"].as_i64();
                if observed < generation && observed.is_some() {
                    return Err(vec![Reason::OldCondition(kind.clone())]);
                }
                if text(&one["status"]).eq_ignore_ascii_case(status) {
                    return Ok(());
                }
                Err(vec![Reason::Condition(picture::ConditionSeen::of(one))])
            }
        }
    }

    /// What the object shows, once it does.
    fn described(&self, object: &Value) -> Vec<Reason> {
        match self {
            Self::Field(path) => vec![Reason::Field(path.text().to_owned())],
            Self::Values(values) => {
                let all = values.iter().map(|(path, wanted)| Reason::Value {
                    path: path.text().to_owned(),
                    value: (!is_secret(path, object)).then(|| wanted.clone()),
                });
                all.collect()
            }
            Self::Condition { kind, .. } => {
                let found = condition(object, kind).map(picture::ConditionSeen::of);
                found.into_iter().map(Reason::Condition).collect()
            }
        }
    }
}

fn differs(path: &JsonPath, wanted: &str, object: &Value) -> Option<Reason> {
    let (found, path_text) = (path.find(object), path.text().to_owned());
    if found.is_empty() {
        return Some(Reason::NoField(path_text));
    }
    let other = found.iter().map(|found| text(found.value)).find(|found| found != wanted)?;
    let shown: String = other.chars().take(80).collect();
    let more = if shown.len() < other.len() { "…" } else { "" };
    let values = [shown + more, wanted.to_owned()];
    let values = (!is_secret(path, object)).then_some(values);
    Some(Reason::OtherValue { path: path_text, values })
}

/// What a Secret holds is nobody's to read in a message.
fn is_secret(path: &JsonPath, object: &Value) -> bool {
    object["kind"] == "Secret" && !path.begins_in("metadata")
}

/// A value as users write it in a text: a string bare, all else as JSON.
fn text(value: &Value) -> String {
    match value {
        Value::String(text) => nfc(text),
        other => nfc(&other.to_string()),
    }
}

/// Zero and false are values; nothing, and empty containers, are not.
fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(map) => map.is_empty(),
        Value::Bool(_) | Value::Number(_) => false,
    }
}

fn conditions(object: &Value) -> impl Iterator<Item = &Value> {
    object["status"]["conditions"].as_array().into_iter().flatten()
}

fn condition<'a>(object: &'a Value, kind: &str) -> Option<&'a Value> {
    // kubectl compares names of conditions without their case.
    conditions(object)
        .find(|one| one["type"].as_str().is_some_and(|it| it.eq_ignore_ascii_case(kind)))
}

fn has(object: &Value, kind: &str, status: &str) -> bool {
    conditions(object).any(|one| one["type"] == kind && one["status"] == status)
}

/// Where the controller has not seen the last change yet.
fn unseen(object: &Value) -> Option<Reason> {
    let generation = object["metadata"]["generation"].as_i64()?;
    let observed = object["status"]["observedGeneration"].as_i64()?;
    (observed != generation).then_some(Reason::OldGeneration { generation, observed })
}

/// Where the status is final.
fn over(object: &Value) -> Option<End> {
    match (object["kind"].as_str()?, object["status"]["phase"].as_str()) {
        ("Job", _) if has(object, "Failed", "True") => Some(job_failed(object)),
        ("Job", _) if has(object, "Complete", "True") => Some(End::JobComplete),
        ("Pod", Some("Failed")) => Some(End::PodFailed),
        ("Pod", Some("Succeeded")) => Some(End::PodSucceeded),
        _ => None,
    }
}

fn job_failed(object: &Value) -> End {
    let failed = conditions(object).find(|one| one["type"] == "Failed");
    End::JobFailed(failed.map(picture::ConditionSeen::of))
}

fn is_going(object: &Value) -> bool {
    object["metadata"]["deletionTimestamp"].as_str().is_some_and(|time| !time.is_empty())
}

fn still_there(object: &Value) -> Reason {
    if !is_going(object) {
        return Reason::NotDeleted;
    }
    let finalizers = object["metadata"]["finalizers"].as_array().into_iter().flatten();
    let finalizers = finalizers.filter_map(Value::as_str).map(ToOwned::to_owned).collect();
    Reason::Terminating { finalizers }
}

fn whole(object: &Value, path: [&str; 2], otherwise: i64) -> i64 {
    object[path[0]][path[1]].as_i64().unwrap_or(otherwise)
}

#[cfg(test)]
mod tests;
