//! Whether an object that is missing was looked for in the cluster that it lives in.

use k8sconnect_cluster::{Cluster, Targets};
use k8sconnect_core::rejection::{Rejection, Status};
use tfplugin::Diagnostics;

use super::held::Held;
use crate::guard::{self, Absence};
use crate::messages;
use crate::messages::ownership::Whose;
use crate::messages::whereabouts::Met;

pub(crate) async fn absence(cluster: &Cluster, held: &Held) -> Absence {
    guard::absence(&Targets::from(cluster), held.stored.cluster.as_deref()).await
}

/// Refuses to believe that it is gone, where that is not proved.
pub(crate) async fn looked_for_at_home(cluster: &Cluster, held: &Held) -> Result<(), Diagnostics> {
    match absence(cluster, held).await {
        Absence::Proved => Ok(()),
        Absence::Elsewhere => {
            Err(messages::whereabouts::another_cluster(held.key(), cluster.host(), Whose::Object)
                .into())
        }
        Absence::Unproved => {
            Err(messages::whereabouts::absence_unproved(held.key(), cluster.host()).into())
        }
    }
}

/// The same for a deletion. That of a tainted object comes without private state, and knows nothing
/// of the cluster: whatever it does not find there may live elsewhere. State of the Go provider never
/// knew more than that, and has no uid.
pub(crate) async fn gone_from_home(
    cluster: &Cluster,
    held: &Held,
    met: Met,
) -> Result<(), Diagnostics> {
    if held.stored.is_blank() && !held.uid().is_empty() {
        return Err(messages::whereabouts::home_forgotten(held.key(), cluster.host(), met).into());
    }
    looked_for_at_home(cluster, held).await
}

/// Refuses to look for other reasons why a write missed its object, where it went to another
/// cluster.
pub(crate) async fn missed_at_home(cluster: &Cluster, held: &Held) -> Result<(), Diagnostics> {
    match absence(cluster, held).await {
        Absence::Elsewhere => {
            Err(messages::whereabouts::another_cluster(held.key(), cluster.host(), Whose::Object)
                .into())
        }
        Absence::Proved | Absence::Unproved => Ok(()),
    }
}

/// Whether a write was refused because its object is not there.
pub(crate) fn is_miss(status: &Status) -> bool {
    matches!(
        status.rejection(),
        Rejection::Conflict
            | Rejection::AnotherObject
            | Rejection::NamespaceMissing
            | Rejection::NamespaceGoing
    )
}
