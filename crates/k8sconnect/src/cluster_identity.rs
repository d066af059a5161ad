//! Whether a connection leads to the cluster that a resource was applied to.
//!
//! A kubeconfig whose current context changed, or a provider block that names another cluster,
//! leads to a place where every object of state is missing. Dropping those objects and creating
//! them there would be the worst possible plan. So each resource stores the UID of the cluster's
//! namespace `kube-system`, and every operation compares it before it does anything else.
//!
//! | | refresh | plan, apply, destroy |
//! |---|---|---|
//! | same UID | goes on | goes on |
//! | no UID stored | stores it, if the object has the UID in state | goes on |
//! | another UID | warns, keeps state | error, before any other request |
//! | UID unreadable | warns once per connection; a missing object stays in state | the same; a missing object is an error |
//!
//! Another object under the same name counts only in a confirmed cluster: as the successor of a
//! deleted one, or as a copy of ours that a backup tool restored.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};

use k8sconnect_cluster::Cluster;
use k8sconnect_core::identity::ObjectKey;
use tfplugin::{Diagnostic, Diagnostics};

use crate::connect::ClusterArgs;
use crate::messages;

/// What the UID of `kube-system` says about a cluster that is not known to be another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ClusterIdentity {
    /// The UID is the stored one.
    Confirmed,
    /// No UID is stored.
    Unrecorded,
    /// The UID cannot be read through this connection.
    Unreadable,
}

impl ClusterIdentity {
    /// Whether a refresh takes it from the server that an object is gone. Where no UID is stored, there
    /// is nothing to compare.
    pub(crate) fn proves_absence_at_refresh(self) -> bool {
        match self {
            Self::Confirmed | Self::Unrecorded => true,
            Self::Unreadable => false,
        }
    }
}

/// What state says about the cluster of a resource.
#[derive(Clone, Copy)]
pub(crate) struct Recorded<'a> {
    pub(crate) key: &'a ObjectKey,
    pub(crate) args: ClusterArgs<'a>,
    pub(crate) uid: Option<&'a str>,
}

/// A connection that does not lead to another cluster than the recorded one.
pub(crate) struct Opened {
    pub(crate) cluster: Arc<Cluster>,
    pub(crate) identity: ClusterIdentity,
    /// To be stored with an object that was seen or written through this connection.
    pub(crate) uid: Option<String>,
}

impl Opened {
    /// What is wrong with concluding that the object in state is gone, because it is not there or
    /// because the object of its name has the UID `other`.
    fn doubt(&self, key: &ObjectKey, other: Option<&str>) -> Option<Diagnostic> {
        let host = self.cluster.host();
        match self.identity {
            ClusterIdentity::Confirmed => None,
            ClusterIdentity::Unrecorded => {
                Some(messages::cluster_identity::not_found_unrecorded(key, host, other))
            }
            ClusterIdentity::Unreadable => {
                Some(messages::cluster_identity::not_found_unreadable(key, host, other))
            }
        }
    }

    /// Accepts that the object is gone, if this is its cluster.
    pub(crate) fn confirm_absence(
        &self,
        key: &ObjectKey,
        other: Option<&str>,
    ) -> Result<(), Diagnostics> {
        match self.doubt(key, other) {
            None => Ok(()),
            Some(error) => Err(error.into()),
        }
    }

    /// For a refresh, which keeps state instead.
    pub(crate) fn warn_of_absence(
        &self,
        key: &ObjectKey,
        other: Option<&str>,
    ) -> Option<Diagnostic> {
        let Diagnostic { summary, detail, .. } = self.doubt(key, other)?;
        Some(Diagnostic::warning(summary, detail))
    }
}

/// The UID is not the stored one.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct AnotherCluster;

pub(crate) fn compare(stored: Option<&str>, uid: &str) -> Result<ClusterIdentity, AnotherCluster> {
    match stored {
        None => Ok(ClusterIdentity::Unrecorded),
        Some(stored) if stored == uid => Ok(ClusterIdentity::Confirmed),
        Some(_) => Err(AnotherCluster),
    }
}

/// The warnings about clusters that could not be identified, each of which is shown once per
/// process.
#[derive(Default)]
pub(crate) struct Shown(Mutex<BTreeSet<String>>);

impl Shown {
    pub(crate) fn is_first(&self, warning: &Diagnostic) -> bool {
        let text = format!("{}\n{}", warning.summary, warning.detail);
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_an_equal_uid_confirms_a_cluster_and_only_a_stored_one_contradicts_it() {
        assert_eq!(compare(Some("a"), "a"), Ok(ClusterIdentity::Confirmed));
        assert_eq!(compare(None, "a"), Ok(ClusterIdentity::Unrecorded));
        assert_eq!(compare(Some("b"), "a"), Err(AnotherCluster));
    }

    #[test]
    fn each_connection_that_cannot_be_identified_is_named_once() {
        let shown = Shown::default();
        let warning = |host| Diagnostic::warning(host, "the same reason");
        assert!(shown.is_first(&warning("a")) && shown.is_first(&warning("b")));
        assert!(!shown.is_first(&warning("a")));
    }
}
