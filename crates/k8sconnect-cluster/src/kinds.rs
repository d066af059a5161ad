//! What the server serves: how a kind is spelt in a URL, and whether it lives in a namespace.
//!
//! One request per group version and process, however many objects ask at once. What is found
//! stays, unless this very process writes a definition of the group; a miss is never kept, since the
//! CRD may arrive in this very run. Discovery is by group
//! version on purpose: the aggregated list grows with every CRD of the cluster, and the OpenAPI
//! document is a hundred times larger.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use k8sconnect_core::identity::Gvk;
use k8sconnect_core::text::distance;
use serde::{Deserialize, Serialize};
use tokio::time::Instant;

use crate::address::segment;
use crate::call::Call;
use crate::cluster::Cluster;
use crate::error::{BadAnswer, Error};

/// A kind as the server serves it; small enough to be remembered with the object.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Kind {
    pub gvk: Gvk,
    pub plural: String,
    pub scope: Scope,
}

impl Kind {
    /// The name of the definition that a custom kind has.
    pub fn definition_name(&self) -> String {
        format!("{}.{}", self.plural, self.gvk.group)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Scope {
    Namespaced,
    Cluster,
}

/// What may be done with the objects of a kind, whoever asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verb {
    Get,
    List,
}

impl Verb {
    fn name(self) -> &'static str {
        match self {
            Self::Get => "get",
            Self::List => "list",
        }
    }
}

/// Whether a kind is served, as far as can be told now.
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

impl Cluster {
    /// Asks the server, unless it has already told us of this kind.
    pub async fn kind(&self, gvk: &Gvk) -> Result<Served, Error> {
        let asked = Instant::now();
        let slot = self.kinds().slot(gvk);
        let mut known = slot.lock().await;
        // An answer that was asked for after we came is as good as our own, hit or miss: this is
        // what makes fifty objects of a missing kind cost two requests rather than fifty.
        if let Some(listing) = &known.listing
            && (listing.asked >= asked || listing.find(gvk).is_some())
        {
            return Ok(listing.judge(gvk));
        }
        // So is a failure that came while we waited for it, to whoever has no more time for it.
        if let Some(failed) = &known.failed
            && failed.when >= asked
            && failed.covers(self.deadline())
        {
            return Err(failed.error.clone());
        }
        let began = Instant::now();
        match self.resources(gvk).await {
            Ok(resources) => {
                known.failed = None;
                Ok(known.listing.insert(Listing { asked: began, resources }).judge(gvk))
            }
            Err(error) => {
                let (when, deadline) = (Instant::now(), self.deadline());
                known.failed = Some(Failed { when, deadline, error: error.clone() });
                Err(error)
            }
        }
    }

    /// Forgets what the server told of the kinds of a group, one of which is defined otherwise now.
    pub fn forget_kinds(&self, group: &str) {
        self.kinds().forget(group);
    }

    /// Whether the server offers this for a kind that it serves. Some are answered when they are
    /// posted, and never kept. Who does not say what he offers is given the benefit of the doubt.
    pub async fn offers(&self, gvk: &Gvk, verb: Verb) -> Result<bool, Error> {
        self.kind(gvk).await?;
        let slot = self.kinds().slot(gvk);
        let known = slot.lock().await;
        let resource = known.listing.as_ref().and_then(|known| known.find(gvk));
        Ok(resource.is_none_or(|it| it.verbs.is_empty() || it.has(verb)))
    }

    async fn resources(&self, gvk: &Gvk) -> Result<Option<Vec<Resource>>, Error> {
        let call = Call::get(group_version_path(gvk));
        let reply = self.send(&call).await?;
        match reply.status {
            // Every API server has this one; where it is not, something else answers.
            404 if gvk.group.is_empty() && gvk.version == "v1" => {
                Err(self.bad_answer(&call, BadAnswer::Status(404)))
            }
            // A missing group version is a bare 404, often in plain text and not a Status.
            404 => Ok(None),
            _ => Ok(Some(self.decode::<ResourceList>(&call, &reply)?.resources)),
        }
    }
}

/// `/api/v1` or `/apis/apps/v1`.
pub(crate) fn group_version_path(gvk: &Gvk) -> String {
    let version = segment(&gvk.version);
    match gvk.group.as_str() {
        "" => format!("/api/{version}"),
        group => format!("/apis/{}/{version}", segment(group)),
    }
}

/// What has been learnt so far, one slot per group version.
#[derive(Default)]
pub(crate) struct Kinds {
    slots: Mutex<HashMap<(String, String), Slot>>,
}

type Slot = Arc<tokio::sync::Mutex<Known>>;

/// What came of asking for a group version.
#[derive(Default)]
struct Known {
    listing: Option<Listing>,
    failed: Option<Failed>,
}

struct Failed {
    when: Instant,
    /// How long it was given; `None` is as long as any request.
    deadline: Option<Instant>,
    error: Error,
}

impl Failed {
    /// Whether whoever has this deadline would have given up by then too.
    fn covers(&self, other: Option<Instant>) -> bool {
        match (self.deadline, other) {
            (None, None) => true,
            (Some(own), Some(other)) => other <= own,
            (None, Some(_)) | (Some(_), None) => false,
        }
    }
}

impl Kinds {
    fn slot(&self, gvk: &Gvk) -> Slot {
        let mut slots = self.slots.lock().unwrap_or_else(PoisonError::into_inner);
        slots.entry((gvk.group.clone(), gvk.version.clone())).or_default().clone()
    }

    fn forget(&self, group: &str) {
        let mut slots = self.slots.lock().unwrap_or_else(PoisonError::into_inner);
        slots.retain(|(known, _), _| known != group);
    }
}

struct Listing {
    asked: Instant,
    /// `None`: the group version is not served.
    resources: Option<Vec<Resource>>,
}

impl Listing {
    fn find(&self, gvk: &Gvk) -> Option<&Resource> {
        let mut namesakes = self.resources.iter().flatten().filter(|it| it.is(&gvk.kind));
        let first = namesakes.clone().next();
        // Where several resources share a kind, the one that can be read holds the objects.
        namesakes.find(|it| it.has(Verb::Get)).or(first)
    }

    fn judge(&self, gvk: &Gvk) -> Served {
        match (&self.resources, self.find(gvk)) {
            (None, _) => Served::GroupVersionMissing,
            (_, Some(resource)) => Served::Yes(Kind {
                gvk: gvk.clone(),
                plural: resource.name.clone(),
                scope: if resource.namespaced { Scope::Namespaced } else { Scope::Cluster },
            }),
            (Some(resources), None) => {
                Served::KindMissing { nearest: nearest(&gvk.kind, resources) }
            }
        }
    }
}

#[derive(Deserialize)]
struct ResourceList {
    #[serde(default)]
    resources: Vec<Resource>,
}

#[derive(Deserialize)]
struct Resource {
    name: String,
    namespaced: bool,
    kind: String,
    #[serde(default)]
    verbs: Vec<String>,
}

impl Resource {
    fn is(&self, kind: &str) -> bool {
        // A slash marks a subresource, whose kind is often that of its parent.
        self.kind == kind && !self.name.contains('/')
    }

    fn has(&self, verb: Verb) -> bool {
        self.verbs.iter().any(|it| it == verb.name())
    }
}

/// The kind a typo was most likely meant to be, or a plural or lower-case spelling of one.
fn nearest(kind: &str, resources: &[Resource]) -> Option<String> {
    let wanted = kind.to_lowercase();
    let allowed = (wanted.chars().count() / 3).max(2);
    resources
        .iter()
        .filter(|it| !it.name.contains('/'))
        .map(|it| {
            let by_kind = distance(&wanted, &it.kind.to_lowercase());
            (by_kind.min(distance(&wanted, &it.name)), it.kind.as_str())
        })
        .filter(|(distance, _)| *distance <= allowed)
        .min()
        .map(|(_, kind)| kind.to_owned())
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
    fn the_core_group_lives_under_api() {
        assert_eq!(group_version_path(&Gvk::new("v1", "Pod")), "/api/v1");
        assert_eq!(group_version_path(&Gvk::new("apps/v1", "Deployment")), "/apis/apps/v1");
    }
}
