//! What a refresh found. It drops a resource from state only if the server proved the object absent.

use k8sconnect_core::identity::ObjectKey;
use tfplugin::Diagnostics;

use crate::cluster_identity::Opened;

pub(crate) enum Refresh<T> {
    Present(T),
    /// The server proved that there is no such object.
    Gone,
    /// State stays as it is, and the plan reads the object itself.
    Unread,
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
