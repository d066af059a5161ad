//! What must hold, whatever broke. Each breach is a sentence.

use std::collections::BTreeMap;

use anyhow::Result;
use http::Method;
use serde_json::{Value as Json, json};

use super::fault::{RIVAL, RIVALS_MARK};
use super::operation::{FORMER, Place};
use crate::audit::Persistence;
use crate::control_plane::ControlPlane;
use crate::proxy::Recorded;

/// Somebody who has fields on the object that are nobody else's business.
const BYSTANDER: &str = "bystander";

/// Words that no user may ever read.
const NEVER: [&str; 5] =
    ["inconsistent result", "inconsistent final plan", "invalid plan", "panicked", "Plugin error"];

/// The bystander writes what is to be kept.
pub(super) async fn enter_bystander(cluster: &ControlPlane, place: &Place) -> Result<()> {
    let theirs = place.object(json!({ "metadata": {
        "labels": { "bystander": "here" },
        "annotations": { "bystander.example.com/note": "keep" },
    } }));
    cluster.act_as(BYSTANDER).apply(theirs).await.map(drop)
}

/// How an object stood at some moment, as far as others are concerned.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Standing {
    pub(super) uid: String,
    /// Everyone's entries, the provider's and the control plane's own aside.
    owners: BTreeMap<String, Json>,
    bystanders: [Json; 2],
    marked: bool,
}

impl Standing {
    pub(super) async fn of(cluster: &ControlPlane, place: &Place) -> Result<Option<Self>> {
        Ok(cluster.read(&place.target()).await?.map(|object| Self::read(&object)))
    }

    fn read(object: &Json) -> Self {
        let metadata = &object["metadata"];
        let owners = metadata["managedFields"].as_array().into_iter().flatten();
        let key = |entry: &Json| {
            format!("{} {} {}", entry["manager"], entry["operation"], entry["subresource"])
        };
        Self {
            uid: metadata["uid"].as_str().unwrap_or_default().to_owned(),
            owners: owners
                .filter(|entry| !is_ours(entry) && entry["manager"] != "kube-controller-manager")
                .map(|entry| (key(entry), entry.clone()))
                .collect(),
            bystanders: [
                metadata["labels"]["bystander"].clone(),
                metadata["annotations"]["bystander.example.com/note"].clone(),
            ],
            marked: !metadata["annotations"][RIVALS_MARK].is_null(),
        }
    }

    fn entry(&self, manager: &str) -> Vec<&Json> {
        self.owners.values().filter(|entry| entry["manager"] == manager).collect()
    }
}

fn is_ours(entry: &Json) -> bool {
    entry["manager"].as_str().is_some_and(|manager| manager.starts_with("k8sconnect"))
}

/// That the bystander has lost nothing between two moments of one object, nor the rival its mark.
pub(super) fn bystanders(before: &Standing, after: &Standing, problems: &mut Vec<String>) {
    if before.uid != after.uid {
        return;
    }
    if before.entry(BYSTANDER) != after.entry(BYSTANDER) {
        problems.push(format!(
            "the bystander's entry was {:?} and is {:?}",
            before.entry(BYSTANDER),
            after.entry(BYSTANDER)
        ));
    }
    if before.bystanders != after.bystanders {
        problems.push(format!(
            "the bystander's values were {:?} and are {:?}",
            before.bystanders, after.bystanders
        ));
    }
    if before.marked && !after.marked {
        problems.push("what the rival wrote is lost".to_owned());
    }
    if after.marked && after.entry(RIVAL).is_empty() {
        problems.push("the rival no longer owns what it wrote".to_owned());
    }
}

/// That everyone holds what they held before a patch came, now that it has gone.
pub(super) fn handed_back(before: &Standing, object: &Json, problems: &mut Vec<String>) {
    let after = Standing::read(object);
    bystanders(before, &after, problems);
    if before.entry(FORMER) != after.entry(FORMER) {
        problems.push(format!(
            "before the patch {FORMER} held {:?} and after it {:?}",
            before.entry(FORMER),
            after.entry(FORMER)
        ));
    }
    let entries = object["metadata"]["managedFields"].as_array().into_iter().flatten();
    if entries.into_iter().any(is_ours) {
        problems.push("our manager is still on the object".to_owned());
    }
    let text = object["metadata"]["annotations"].to_string();
    if text.contains("k8sconnect") {
        problems.push(format!("a mark of ours is still on the object: {text}"));
    }
}

/// That a plan asked for nothing that changes the cluster.
pub(super) fn plan_wrote_nothing(planning: &[Recorded], problems: &mut Vec<String>) {
    for request in planning {
        if request.method != Method::GET && request.persistence() == Persistence::Real {
            problems.push(format!("the plan wrote: {} {}", request.in_short(), request.path));
        }
    }
}

pub(super) fn words(said: &str, problems: &mut Vec<String>) {
    for words in NEVER {
        if said.contains(words) {
            problems.push(format!("`{words}` was said: {said}"));
        }
    }
}

/// That the object holds what is wanted.
pub(super) fn holds(object: &Json, wanted: &Json, problems: &mut Vec<String>) {
    if let Err(why) = covers(object, wanted) {
        problems.push(format!("the object is not as wanted: {why}"));
    }
}

fn covers(whole: &Json, part: &Json) -> Result<(), String> {
    match part {
        Json::Object(fields) => fields.iter().try_for_each(|(name, value)| {
            covers(&whole[name], value).map_err(|why| format!("{name} . {why}"))
        }),
        same if whole == same => Ok(()),
        other => Err(format!("{whole} instead of {other}")),
    }
}

/// That nothing is in the namespace but what is meant to be.
pub(super) async fn nothing_else(
    cluster: &ControlPlane,
    place: &Place,
    problems: &mut Vec<String>,
) -> Result<()> {
    for kinds in ["api/v1/namespaces/NS/configmaps", "apis/apps/v1/namespaces/NS/deployments"] {
        let path = format!("/{}", kinds.replace("NS", &place.namespace));
        let list =
            cluster.request(Method::GET, &path, "application/json", None).await?.accepted()?;
        for item in list["items"].as_array().into_iter().flatten() {
            let name = item["metadata"]["name"].as_str().unwrap_or_default();
            if name != place.name && name != "kube-root-ca.crt" {
                problems.push(format!("`{name}` is left over in the namespace"));
            }
        }
    }
    Ok(())
}
