//! What the resources of one provider process share.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

use k8sconnect_cluster::{Cluster, Connection, Pool};
use k8sconnect_core::identity::ObjectKey;
use tfplugin::{Diagnostic, Diagnostics, Value};

use crate::apply_slots::ApplySlots;
use crate::cluster_identity::Shown;
use crate::connect::{ClusterModel, ConnectionOrigin, Directory, Reach};
use crate::messages;
use crate::messages::unread::NoConnection;
use crate::plan_ledger::PlanLedger;
use crate::read_cache::ReadCache;

/// How a resource is found by what state names.
pub(crate) enum Entry {
    Open(Arc<Cluster>),
    /// Something in it is known only once something else is applied.
    Unknown,
    /// There is no way in by what state names, which says nothing of what the configuration names
    /// now.
    Shut(Diagnostics),
}

/// One per process: the clusters it talks to, and what it saw there.
#[derive(Default)]
pub(crate) struct Session {
    pool: Pool,
    directory: RwLock<Directory>,
    is_configured: AtomicBool,
    has_warned_of_credential: AtomicBool,
    pub(crate) reads: ReadCache,
    pub(crate) ledger: PlanLedger,
    pub(crate) slots: ApplySlots,
    pub(crate) unidentified: Shown,
}

impl Session {
    /// Takes in what the provider block says, before any resource asks.
    pub(crate) fn configure(&self, directory: Directory) {
        *self.directory.write().unwrap_or_else(PoisonError::into_inner) = directory;
        self.is_configured.store(true, Ordering::Relaxed);
    }

    /// The warning of a `cluster` that puts a credential into state, once per run. Terraform validates
    /// before it configures the provider, when variables are not known; and again in the plan, which
    /// reads objects, and folds the two. It validates in the apply too, which reads nothing.
    pub(crate) fn stored_credential(&self, cluster: &Value<ClusterModel>) -> Option<Diagnostic> {
        let is_applying =
            self.is_configured.load(Ordering::Relaxed) && !self.reads.has_refreshed(None);
        if is_applying || !cluster.known()?.has_credential() {
            return None;
        }
        let is_first = !self.has_warned_of_credential.swap(true, Ordering::Relaxed);
        is_first.then(messages::connection::stored_credential)
    }

    /// The user asked to stop.
    pub(crate) fn stop(&self) {
        self.pool.stop();
    }

    /// The way to the cluster that a resource names by its `cluster` and `cluster_name`.
    pub(crate) fn reach(
        &self,
        cluster: &Value<ClusterModel>,
        name: &Value<String>,
    ) -> Result<Reach, Diagnostics> {
        self.directory.read().unwrap_or_else(PoisonError::into_inner).reach(cluster, name)
    }

    /// The cluster that a resource names; `None` where that is not known yet.
    pub(crate) async fn enter(
        &self,
        cluster: &Value<ClusterModel>,
        name: &Value<String>,
    ) -> Result<Option<Arc<Cluster>>, Diagnostics> {
        match self.reach(cluster, name)? {
            Reach::Ready(connection) => self.cluster(&connection).await.map(Some),
            Reach::Unknown => Ok(None),
        }
    }

    /// The cluster that state names, for whoever has no configuration at hand.
    pub(crate) async fn enter_by_state(
        &self,
        cluster: &Value<ClusterModel>,
        name: &Value<String>,
    ) -> Result<Entry, Diagnostics> {
        match self.enter(cluster, name).await {
            Ok(Some(cluster)) => Ok(Entry::Open(cluster)),
            Ok(None) => Ok(Entry::Unknown),
            Err(problems) if cluster.is_known() || !self.directory().lists(cluster, name) => {
                Ok(Entry::Shut(problems))
            }
            // The provider block is the same for the plan.
            Err(problems) => Err(problems),
        }
    }

    /// The connection in state, through which objects are deleted and fields handed back. An error
    /// where it cannot be used any more.
    pub(crate) fn connection_in_state(
        &self,
        key: &ObjectKey,
        cluster: &Value<ClusterModel>,
        name: &Value<String>,
    ) -> Result<Reach, Diagnostics> {
        if !self.directory().lists(cluster, name) {
            let why = NoConnection::NotConfigured(name.as_str());
            return Err(messages::unread::no_connection(key, &why).into());
        }
        self.reach(cluster, name).map_err(|problems| {
            let why = NoConnection::Unusable(ConnectionOrigin::of(cluster), &problems);
            messages::unread::no_connection(key, &why).into()
        })
    }

    /// What the provider block says of clusters, for whoever has to choose one.
    pub(crate) fn directory(&self) -> Directory {
        self.directory.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(crate) async fn cluster(
        &self,
        connection: &Connection,
    ) -> Result<Arc<Cluster>, Diagnostics> {
        let cluster = self.pool.cluster(connection).await;
        cluster.map_err(|error| messages::connection::failed(&error).into())
    }
}
