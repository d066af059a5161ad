//! Where an object lives.

use k8sconnect_cluster::{Cluster, Kind, Location, NotYet, Placed, Scope};
use k8sconnect_core::identity::{DEFAULT_NAMESPACE, ObjectKey};
use k8sconnect_core::manifest::Manifest;
use tfplugin::Diagnostics;

use crate::messages;

/// Finds the kind. One that can never be served is an error at once, with the nearest that is.
pub(crate) async fn place(cluster: &Cluster, key: &ObjectKey) -> Result<Placed, Diagnostics> {
    let placed = cluster.place(&key.gvk).await;
    match placed.map_err(|error| messages::refusal::unanswered(key, &error))? {
        Placed::NotYet(NotYet::Kind { nearest, .. }) if !key.gvk.may_still_appear() => {
            Err(messages::object::no_such_kind(key, nearest.as_deref()).into())
        }
        placed => Ok(placed),
    }
}

pub(crate) fn location(kind: Kind, manifest: &Manifest) -> Location {
    let key = manifest.key();
    let namespace = match kind.scope {
        Scope::Namespaced => {
            Some(key.namespace.clone().unwrap_or_else(|| DEFAULT_NAMESPACE.to_owned()))
        }
        Scope::Cluster => None,
    };
    Location { kind, namespace, name: key.name.clone() }
}
