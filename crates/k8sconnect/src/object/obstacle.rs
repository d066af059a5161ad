//! Why an object that is there cannot become what is wanted, unless it goes first.
//!
//! Asked where an object of ours stands in the way of its own successor, which happens where
//! `create_before_destroy` makes the new one first. Not the proof that a replacement rests on: that
//! one is the plan's.

use k8sconnect_cluster::{Cluster, Conflicts, Location, Observation};
use k8sconnect_core::identity::ID_ANNOTATION;
use k8sconnect_core::immutability::names_a_field;
use k8sconnect_core::manifest::Manifest;
use k8sconnect_core::outgoing::{Guard, Outgoing};
use k8sconnect_core::owners::Owners;
use k8sconnect_core::rejection::Status;
use serde_json::Value as Json;
use tfplugin::Diagnostics;

use crate::resource::live::NamesObject;
use crate::{MANAGER, messages};

pub(super) enum Obstacle {
    /// It was written by another version of its kind.
    Version,
    /// The server lets nobody change what is to change.
    Fields(Box<Status>),
}

impl Obstacle {
    /// The one that an object of some state of ours puts up, if it does.
    pub(super) async fn of(
        cluster: &Cluster,
        desired: &Manifest,
        conflicts: Conflicts,
        location: &Location,
        live: &Json,
    ) -> Result<Option<Self>, Diagnostics> {
        let metadata = &live["metadata"];
        if metadata["annotations"][ID_ANNOTATION].as_str().is_none() {
            return Ok(None);
        }
        let key = desired.key();
        let owners = Owners::of_object(live).naming(key)?;
        let version = key.gvk.api_version();
        let ours = owners.0.iter().map(|owner| &owner.manager).find(|it| it.applies_as(MANAGER));
        if ours.is_some_and(|ours| ours.api_version != version) {
            return Ok(Some(Self::Version));
        }
        let guard = Guard::Uid(metadata["uid"].as_str().unwrap_or_default());
        let namespace = location.namespace.as_deref();
        let body =
            Outgoing { content: desired.as_applied().into_owned(), namespace, id: None, guard }
                .body();
        let observed = cluster.observe(location, MANAGER, &body, conflicts).await;
        let observed = observed.map_err(|error| messages::refusal::not_taken(desired, &error))?;
        Ok(match observed {
            Observation::Refused(status) if names_a_field(&status) => Some(Self::Fields(status)),
            _ => None,
        })
    }

    /// What the server said to it.
    pub(super) fn words(&self) -> Option<&Status> {
        match self {
            Self::Version => None,
            Self::Fields(status) => Some(status),
        }
    }
}
