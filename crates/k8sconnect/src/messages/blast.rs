//! What is said of objects that go along with another one.

use std::collections::BTreeMap;

use k8sconnect_cluster::{Error, Gap};
use k8sconnect_core::blast::{
    Held, Reclaim, Share, Toll, Vessel, count as counted, held, of_namespace, spelt,
};
use k8sconnect_core::identity::ObjectKey;
use serde_json::Value;
use tfplugin::Diagnostic;

use super::connection::explain;
use super::refusal::said;
use super::stuck::server;
use super::{count, paragraphs};

/// What is planned for the object that takes others along.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    Destroyed,
    Replaced,
}

impl Fate {
    fn when(self) -> &'static str {
        match self {
            Self::Destroyed => "when it is destroyed",
            Self::Replaced => "when it is replaced",
        }
    }

    fn advice(self) -> &'static str {
        match self {
            Self::Destroyed => {
                "If any of this is to stay, do not apply this plan. `delete_protection = true` \
                 makes such a plan an error."
            }
            Self::Replaced => {
                "If any of this is to stay, do not apply this plan, and restore the old values in \
                 `yaml_body`. `delete_protection = true` makes such a plan an error."
            }
        }
    }
}

/// As many names of a kind, and kinds of a gap, as are shown.
const FIRST_NAMES: usize = 5;
const FIRST_KINDS: usize = 10;
const UNMARKED: &str = "without a k8sconnect id, which no configuration of k8sconnect makes again";

/// The contents of a namespace, or the objects of a definition. `None` if there are none.
pub(crate) fn toll(
    key: &ObjectKey,
    vessel: Vessel,
    fate: Fate,
    toll: &Toll,
    gaps: &[Gap],
) -> Option<Diagnostic> {
    let summary = match (toll.total(), gaps.is_empty()) {
        (0, true) => return None,
        (0, false) => {
            format!("{key} may take objects with it {}: not all were counted", fate.when())
        }
        (1, _) => format!("{key} takes 1 object with it {}", fate.when()),
        (many, _) => format!("{key} takes {many} objects with it {}", fate.when()),
    };
    let volumes = if toll.has("PersistentVolumeClaim") {
        "A claim takes its volume and the data along, unless the volume's reclaim policy is \
         `Retain`."
    } else {
        ""
    };
    let detail = paragraphs([
        law(vessel),
        &part(UNMARKED, &toll.unmarked),
        &part("with a k8sconnect id, in this state or in another", &toll.marked),
        &part("owned by other objects, such as the pods of a Deployment", &toll.owned),
        &not_counted_of(gaps),
        volumes,
        fate.advice(),
    ]);
    Some(Diagnostic::warning(summary, detail))
}

/// What is still inside of a namespace that does not go: who holds it, or else all that is there.
pub(crate) fn inside(items: &[Value], gaps: &[Gap]) -> String {
    let held = held(items);
    if !held.is_empty() {
        return paragraphs([&held_back(&held), &not_counted_of(gaps)]);
    }
    let toll = of_namespace(items);
    paragraphs([
        if toll.total() == 0 { "" } else { "Still inside:" },
        &part("without a k8sconnect id", &toll.unmarked),
        &part("with a k8sconnect id, in this state or in another", &toll.marked),
        &part("owned by other objects, such as the pods of a Deployment", &toll.owned),
        &not_counted_of(gaps),
    ])
}

fn held_back(held: &[Held]) -> String {
    let line = |Held { kind, name, finalizers }: &Held| {
        let finalizers: Vec<_> = finalizers
            .iter()
            .map(|finalizer| format!("    {finalizer}\n      served by  {}", server(finalizer)))
            .collect();
        format!("  {kind} `{name}`\n{}", finalizers.join("\n"))
    };
    let mut lines: Vec<_> = held.iter().take(FIRST_NAMES).map(line).collect();
    if held.len() > FIRST_NAMES {
        lines.push(format!("  … and {} more", held.len() - FIRST_NAMES));
    }
    format!(
        "Inside, finalizers hold {}, which `force_destroy` of the namespace does not reach:\n{}",
        count(held.len(), "object"),
        lines.join("\n")
    )
}

/// Nothing could be counted at all.
pub(crate) fn not_counted(key: &ObjectKey, vessel: Vessel, fate: Fate, why: &str) -> Diagnostic {
    let look = match vessel {
        Vessel::Namespace => format!(
            "Look for yourself:\n  kubectl api-resources --namespaced --verbs=list -o name | xargs \
             -n 1 kubectl get --ignore-not-found -n {}",
            key.name
        ),
        Vessel::Definition => format!("Look for yourself:\n  kubectl get {} -A", key.name),
        Vessel::Claim => "Look for yourself:\n  kubectl get persistentvolumes".to_owned(),
    };
    Diagnostic::warning(
        format!("{key} may take others with it {}: not counted", fate.when()),
        paragraphs([law(vessel), &format!("What there is was not counted. {why}"), &look]),
    )
}

/// A definition that serves no version: its objects cannot be asked for.
pub(crate) fn not_served() -> &'static str {
    "No version of its kind is served; until one is, its objects cannot be listed."
}

/// The volume of a claim.
pub(crate) fn volume(key: &ObjectKey, fate: Fate, name: &str, reclaim: &Reclaim) -> Diagnostic {
    let (verb, what) = match reclaim {
        Reclaim::Delete => (
            "takes its volume with it",
            "The volume's reclaim policy is `Delete`: volume and data are deleted with the claim. \
             To keep them, set `persistentVolumeReclaimPolicy: Retain` on the PersistentVolume \
             before you apply this plan."
                .to_owned(),
        ),
        Reclaim::Retain => (
            "loses its volume",
            "The volume's reclaim policy is `Retain`: volume and data stay, but no other claim \
             gets them until somebody removes `spec.claimRef` from the PersistentVolume."
                .to_owned(),
        ),
        Reclaim::Other(policy) => (
            "may take its volume with it",
            format!(
                "The volume's reclaim policy is `{policy}`, which does not say that the data \
                 stays. Save what you need before you apply this plan."
            ),
        ),
    };
    let bound = format!("It is bound to PersistentVolume `{name}`.");
    Diagnostic::warning(format!("{key} {verb} {}", fate.when()), paragraphs([&bound, &what]))
}

/// The volume is known by its name only.
pub(crate) fn volume_unseen(key: &ObjectKey, fate: Fate, name: &str, error: &Error) -> Diagnostic {
    Diagnostic::warning(
        format!("{key} may take its volume with it {}", fate.when()),
        paragraphs([
            &format!(
                "It is bound to PersistentVolume `{name}`, whose reclaim policy is not known. {}",
                reason(error)
            ),
            &format!(
                "With the policy `Delete`, volume and data are deleted with the claim. Look for \
                 yourself:\n  kubectl get persistentvolume {name}"
            ),
        ]),
    )
}

/// Why a question was not answered, in a sentence or two.
pub(crate) fn reason(error: &Error) -> String {
    match error {
        Error::Refused(status) => said(status.code, &status.message),
        other => {
            let explained = explain(other);
            format!("{}. {}", explained.summary, explained.cause)
        }
    }
}

/// What is true of every object of the kind.
fn law(vessel: Vessel) -> &'static str {
    match vessel {
        Vessel::Namespace => "Deleting a namespace deletes everything in it.",
        Vessel::Definition => {
            "Deleting a definition deletes every object of its kind, in all namespaces."
        }
        Vessel::Claim => {
            "Deleting a claim may delete the volume that it is bound to, with its data."
        }
    }
}

fn part(what: &str, shares: &[Share]) -> String {
    if shares.is_empty() {
        return String::new();
    }
    let line = |share: &Share| {
        let names = first(&share.names, FIRST_NAMES);
        format!("  {} ({}): {names}", share.kind, share.names.len())
    };
    let lines: Vec<_> = shares.iter().map(line).collect();
    format!("{} {what}:\n{}", counted(shares), lines.join("\n"))
}

fn first(names: &[String], most: usize) -> String {
    if names.len() <= most {
        return names.join(", ");
    }
    format!("{} and {} more", names[..most].join(", "), names.len() - most)
}

/// By reason: whoever may list nothing is told so once, not for each kind.
fn not_counted_of(gaps: &[Gap]) -> String {
    let mut by_reason: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for gap in gaps {
        let (what, why) = match gap {
            Gap::Kind(gvk, error) if error.code() == Some(403) => {
                (spelt(gvk), "listing them is forbidden (HTTP 403)".to_owned())
            }
            Gap::Kind(gvk, error) => (spelt(gvk), reason(error)),
            Gap::GroupVersion(name) => {
                (format!("all of {name}"), "the server behind them is down".to_owned())
            }
        };
        by_reason.entry(why).or_default().push(what);
    }
    if by_reason.is_empty() {
        return String::new();
    }
    let line = |(why, what): (&String, &Vec<String>)| {
        format!("  {}: {}", first(what, FIRST_KINDS), super::one_line(why))
    };
    let lines: Vec<_> = by_reason.iter().map(line).collect();
    format!("Not counted:\n{}", lines.join("\n"))
}
