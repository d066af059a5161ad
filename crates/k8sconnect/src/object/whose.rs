//! Which object has the name of the one in state.

use k8sconnect_core::identity::ID_ANNOTATION;
use serde_json::Value as Json;

use super::held::Held;
use crate::cluster_identity::ClusterIdentity;
use crate::resource::live::uid_of;

#[derive(Debug, PartialEq, Eq)]
pub(super) enum FoundObject {
    /// It has the UID in state.
    Ours,
    /// It has another UID and our id, as after restoring a backup.
    Restored,
    /// The same, and it may be a copy in another cluster.
    Unconfirmed,
    /// It has the UID in state and another id: another state has taken it over.
    AnotherState(String),
    AnotherObject,
}

pub(super) fn whose(held: &Held, live: &Json, identity: ClusterIdentity) -> FoundObject {
    let is_same = uid_of(live) == held.uid();
    match live["metadata"]["annotations"][ID_ANNOTATION].as_str() {
        // State of the Go provider has no UID before its first refresh.
        Some(id) if id == held.id() && (is_same || held.uid().is_empty()) => FoundObject::Ours,
        Some(id) if id == held.id() => match identity {
            ClusterIdentity::Confirmed => FoundObject::Restored,
            ClusterIdentity::Unrecorded | ClusterIdentity::Unreadable => FoundObject::Unconfirmed,
        },
        Some(id) if is_same => FoundObject::AnotherState(id.to_owned()),
        None if is_same => FoundObject::Ours,
        _ => FoundObject::AnotherObject,
    }
}
