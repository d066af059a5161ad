//! What the server serves, as far as it was asked: one cache for each cluster and process.
//!
//! What is found stays, unless this very process writes a CRD of the group; a miss is never kept,
//! since the CRD may arrive in this very run. Not here: the requests, see `discovery`.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use k8sconnect_core::identity::Gvk;
use k8sconnect_core::text::distance;
use serde::Deserialize;
use tokio::time::Instant;

use crate::address::{Kind, Scope};
use crate::error::Error;

/// What may be done with the objects of a kind, whoever asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verb {
    Get,
    List,
}

/// Whether a kind is served, as far as can be determined now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Served {
    Yes(Kind),
    GroupVersionMissing,
    /// The group version is served without this kind; `nearest` is the kind of it that looks
    /// most like the one asked for, if any does.
    KindMissing {
        nearest: Option<String>,
    },
}

/// One slot per group version.
#[derive(Default)]
pub(crate) struct Kinds(Mutex<HashMap<(String, String), Slot>>);

type Slot = Arc<tokio::sync::Mutex<Known>>;

impl Kinds {
    pub(crate) fn slot(&self, gvk: &Gvk) -> Slot {
        let mut slots = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        slots.entry((gvk.group.clone(), gvk.version.clone())).or_default().clone()
    }

    pub(crate) fn forget(&self, group: &str) {
        let mut slots = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        slots.retain(|(known, _), _| known != group);
    }
}

/// What came of asking for a group version.
#[derive(Default)]
pub(crate) struct Known {
    pub(crate) listing: Option<Listing>,
    pub(crate) failed: Option<Failed>,
}

pub(crate) struct Failed {
    pub(crate) when: Instant,
    /// How long it was given; `None` is as long as any request.
    pub(crate) deadline: Option<Instant>,
    pub(crate) error: Error,
}

impl Failed {
    /// Whether whoever has this deadline would have given up by then too.
    pub(crate) fn covers(&self, other: Option<Instant>) -> bool {
        self.deadline.is_some() == other.is_some() && other <= self.deadline
    }
}

pub(crate) struct Listing {
    pub(crate) asked: Instant,
    /// `None`: the group version is not served.
    pub(crate) resources: Option<Vec<Resource>>,
}

impl Listing {
    pub(crate) fn find(&self, gvk: &Gvk) -> Option<&Resource> {
        let mut namesakes = self.resources.iter().flatten().filter(|it| it.is(&gvk.kind));
        let first = namesakes.clone().next();
        // Where several resources share a kind, the one that can be read has the objects.
        namesakes.find(|it| it.has(Verb::Get)).or(first)
    }

    pub(crate) fn judge(&self, gvk: &Gvk) -> Served {
        match (&self.resources, self.find(gvk)) {
            (None, _) => Served::GroupVersionMissing,
            (_, Some(resource)) => Served::Yes(resource.kind_in(gvk)),
            (Some(resources), None) => {
                Served::KindMissing { nearest: nearest(&gvk.kind, resources) }
            }
        }
    }
}

/// One resource of a group version. A slash in its name marks a subresource.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Resource {
    name: String,
    #[serde(default)]
    singular_name: String,
    #[serde(default)]
    short_names: Vec<String>,
    namespaced: bool,
    kind: String,
    #[serde(default)]
    pub(crate) verbs: Vec<String>,
}

impl Resource {
    fn is(&self, kind: &str) -> bool {
        // The kind of a subresource is often that of its parent.
        self.kind == kind && !self.is_subresource()
    }

    fn is_subresource(&self) -> bool {
        self.name.contains('/')
    }

    /// Whether kubectl takes this word for it. What cannot be read cannot be imported.
    pub(crate) fn is_called(&self, word: &str) -> bool {
        let mut names = [&self.name, &self.singular_name, &self.kind].into_iter();
        !self.is_subresource()
            && self.has(Verb::Get)
            && (names.any(|name| name.eq_ignore_ascii_case(word))
                || self.short_names.iter().any(|name| name.eq_ignore_ascii_case(word)))
    }

    pub(crate) fn has(&self, verb: Verb) -> bool {
        let verb = match verb {
            Verb::Get => "get",
            Verb::List => "list",
        };
        self.verbs.iter().any(|it| it == verb)
    }

    /// Its kind, in this group version.
    pub(crate) fn kind_in(&self, gvk: &Gvk) -> Kind {
        let gvk = Gvk { kind: self.kind.clone(), ..gvk.clone() };
        let scope = if self.namespaced { Scope::Namespaced } else { Scope::Cluster };
        Kind { gvk, plural: self.name.clone(), scope }
    }
}

/// The kind a typo was most likely meant to be, or a plural or lower-case spelling of one.
fn nearest(kind: &str, resources: &[Resource]) -> Option<String> {
    let wanted = kind.to_lowercase();
    let allowed = (wanted.chars().count() / 3).max(2);
    let distances = resources.iter().filter(|it| !it.is_subresource()).map(|it| {
        let by_kind = distance(&wanted, &it.kind.to_lowercase());
        (by_kind.min(distance(&wanted, &it.name)), &it.kind)
    });
    let (_, kind) = distances.filter(|(distance, _)| *distance <= allowed).min()?;
    Some(kind.clone())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn listing(resources: &[(&str, &str, &[&str])]) -> Listing {
        let resources = resources.iter().map(|(name, kind, verbs)| Resource {
            name: (*name).into(),
            namespaced: true,
            kind: (*kind).into(),
            verbs: verbs.iter().map(|verb| (*verb).into()).collect(),
            ..Resource::default()
        });
        Listing { asked: Instant::now(), resources: Some(resources.collect()) }
    }

    #[test]
    fn a_subresource_never_stands_for_its_parent() {
        let it = listing(&[
            ("deployments/status", "Deployment", &["get"]),
            ("deployments", "Deployment", &["get"]),
        ]);
        let Served::Yes(kind) = it.judge(&Gvk::new("apps/v1", "Deployment")) else {
            panic!("it is served")
        };
        assert_eq!(kind.plural, "deployments");
    }

    #[test]
    fn the_readable_one_of_two_resources_of_a_kind_is_taken() {
        let it =
            listing(&[("requests", "Project", &["create"]), ("projects", "Project", &["get"])]);
        let Served::Yes(kind) = it.judge(&Gvk::new("x.io/v1", "Project")) else {
            panic!("it is served")
        };
        assert_eq!(kind.plural, "projects");
    }

    #[test]
    fn a_typo_is_answered_with_the_kind_that_was_meant() {
        let it = listing(&[("deployments", "Deployment", &[]), ("daemonsets", "DaemonSet", &[])]);
        let nearest = |kind| match it.judge(&Gvk::new("apps/v1", kind)) {
            Served::KindMissing { nearest } => nearest,
            other => panic!("{other:?}"),
        };
        assert_eq!(nearest("Deploymnet").as_deref(), Some("Deployment"));
        assert_eq!(nearest("daemonset").as_deref(), Some("DaemonSet"));
        assert_eq!(nearest("daemonsets").as_deref(), Some("DaemonSet"));
        assert_eq!(nearest("Certificate"), None);
    }

    #[test]
    fn a_kind_goes_by_every_name_that_kubectl_takes() {
        let deployments = |verb: &str| Resource {
            name: "deployments".into(),
            singular_name: "deployment".into(),
            short_names: vec!["deploy".into()],
            namespaced: true,
            kind: "Deployment".into(),
            verbs: vec![verb.into()],
        };
        for word in ["deployments", "deployment", "deploy", "Deployment", "DEPLOYMENT"] {
            assert!(deployments("get").is_called(word), "{word}");
        }
        assert!(!deployments("get").is_called("deploymen"));
        assert!(!deployments("create").is_called("deployment"), "it cannot be read");
    }
}
