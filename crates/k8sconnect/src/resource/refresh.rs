//! A refresh. It drops a resource from state only if the server proved the object absent.

use k8sconnect_cluster::{Cluster, Location};
use k8sconnect_core::identity::ObjectKey;
use serde_json::Value as Json;
use tfplugin::Diagnostics;

use crate::cluster_identity::{Opened, Recorded};
use crate::look::Look;
use crate::messages;
use crate::session::Session;

/// What a refresh found.
pub(crate) enum Refresh<T> {
    Present(T),
    /// The server proved that there is no such object.
    Gone,
    /// State stays as it is, and the plan reads the object itself.
    Unread,
}

/// The object in state, found in its own cluster.
pub(crate) struct LiveObject {
    pub(crate) opened: Opened,
    pub(crate) location: Location,
    pub(crate) live: Json,
}

/// Finds the object of a resource through the connection in state. `look` tells where it is looked for.
pub(crate) async fn find(
    session: &Session,
    recorded: Recorded<'_>,
    notices: &mut Diagnostics,
    look: impl AsyncFnOnce(&Cluster) -> Result<(Location, Look), Diagnostics>,
) -> Result<Refresh<LiveObject>, Diagnostics> {
    let Some((opened, found)) = session.refresh(recorded, notices, look).await? else {
        return Ok(Refresh::Unread);
    };
    let (location, look) = found?;
    match look {
        Look::Present(live) => Ok(Refresh::Present(LiveObject { opened, location, live })),
        Look::Absent => Ok(opened.not_found(recorded.key, notices)),
        Look::Moved(_) => Err(messages::served::kind_unserved(recorded.key).into()),
        Look::NotAllowed(error) => {
            let origin = recorded.args.origin();
            notices.push(messages::unread::not_refreshed(recorded.key, &error, origin));
            Ok(Refresh::Unread)
        }
    }
}

impl Opened {
    /// The object is not there. That counts unless this may be another cluster.
    pub(crate) fn not_found<T>(&self, key: &ObjectKey, notices: &mut Diagnostics) -> Refresh<T> {
        if self.identity.proves_absence_at_refresh() {
            return Refresh::Gone;
        }
        self.unconfirmed(key, None, notices)
    }

    /// Warns and keeps state, because this may be another cluster. `other` is the UID of the object that
    /// has the name.
    pub(crate) fn unconfirmed<T>(
        &self,
        key: &ObjectKey,
        other: Option<&str>,
        notices: &mut Diagnostics,
    ) -> Refresh<T> {
        notices.extend(self.warn_of_absence(key, other));
        Refresh::Unread
    }
}
