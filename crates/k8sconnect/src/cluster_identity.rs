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

use k8sconnect_cluster::{Cluster, ClusterUid, Connection};
use k8sconnect_core::identity::ObjectKey;
use tfplugin::{Diagnostic, Diagnostics, Value};

use crate::connect::{ClusterModel, ConnectionOrigin, Reach};
use crate::messages;
use crate::session::{Entry, Session};

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
    pub(crate) cluster: &'a Value<ClusterModel>,
    pub(crate) cluster_name: &'a Value<String>,
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
struct AnotherCluster;

fn compare(stored: Option<&str>, uid: &str) -> Result<ClusterIdentity, AnotherCluster> {
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
    fn is_first(&self, warning: &Diagnostic) -> bool {
        let text = format!("{}\n{}", warning.summary, warning.detail);
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(text)
    }
}

impl Session {
    async fn identify(
        &self,
        cluster: Arc<Cluster>,
        stored: Option<&str>,
        notices: &mut Diagnostics,
    ) -> Result<Opened, AnotherCluster> {
        let (identity, uid) = match cluster.cluster_uid().await {
            Ok(ClusterUid::Known(uid)) => (compare(stored, &uid)?, Some(uid)),
            Ok(ClusterUid::Unreadable(error)) => {
                let warning = messages::cluster_identity::unreadable(cluster.host(), &error);
                if self.unidentified.is_first(&warning) {
                    notices.push(warning);
                }
                (ClusterIdentity::Unreadable, None)
            }
            // The request that follows fails for the same reason, and says so.
            Err(_) => (ClusterIdentity::Unreadable, None),
        };
        Ok(Opened { cluster, identity, uid })
    }

    /// Opens a connection, for a resource that is in state or one that is new. An error if it leads to
    /// another cluster.
    pub(crate) async fn open(
        &self,
        connection: &Connection,
        recorded: Option<Recorded<'_>>,
        notices: &mut Diagnostics,
    ) -> Result<Opened, Diagnostics> {
        let cluster = self.cluster(connection).await?;
        let host = cluster.host().clone();
        let opened = self.identify(cluster, recorded.and_then(|it| it.uid), notices).await;
        opened.map_err(|AnotherCluster| match recorded {
            Some(Recorded { key, .. }) => messages::cluster_identity::different(key, &host).into(),
            // Of a new resource no UID is stored that could differ.
            None => Diagnostics::new(),
        })
    }

    /// Opens the connection in state, through which objects are deleted and fields handed back.
    /// `None` while it is unknown.
    pub(crate) async fn open_in_state(
        &self,
        recorded: Recorded<'_>,
        notices: &mut Diagnostics,
    ) -> Result<Option<Opened>, Diagnostics> {
        let Recorded { key, cluster, cluster_name, .. } = recorded;
        match self.connection_in_state(key, cluster, cluster_name)? {
            Reach::Ready(connection) => {
                self.open(&connection, Some(recorded), notices).await.map(Some)
            }
            Reach::Unknown => Ok(None),
        }
    }

    /// Opens the connection in state for a refresh, which reads the object meanwhile. `None` where state
    /// has to stay as it is; then it was said why.
    pub(crate) async fn refresh<T>(
        &self,
        recorded: Recorded<'_>,
        notices: &mut Diagnostics,
        read: impl AsyncFnOnce(&Cluster) -> T,
    ) -> Result<Option<(Opened, T)>, Diagnostics> {
        let Recorded { key, cluster, cluster_name, uid } = recorded;
        let origin = ConnectionOrigin::of(cluster);
        let cluster = match self.enter_by_state(cluster, cluster_name).await? {
            Entry::Open(cluster) => cluster,
            Entry::Unknown => return Ok(None),
            Entry::Shut(problems) => {
                notices.push(messages::unread::connection_unusable(key, &problems, origin));
                return Ok(None);
            }
        };
        let identity = self.identify(Arc::clone(&cluster), uid, notices);
        match tokio::join!(identity, read(&cluster)) {
            (Ok(opened), read) => Ok(Some((opened, read))),
            (Err(AnotherCluster), _) => {
                notices.push(messages::cluster_identity::not_refreshed(key, cluster.host()));
                Ok(None)
            }
        }
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
