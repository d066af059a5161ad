//! What the resources of one provider process share.

use std::sync::{Arc, PoisonError, RwLock};

use k8sconnect_cluster::{Cluster, Connection, Pool};
use tfplugin::{Diagnostics, Value};

use crate::connect::{ClusterModel, Directory, Reach};
use crate::memory::Memory;
use crate::messages;
use crate::turns::Turns;

/// One per process: the clusters it talks to, and what it saw there.
#[derive(Default)]
pub(crate) struct Session {
    pool: Pool,
    directory: RwLock<Directory>,
    pub(crate) memory: Memory,
    pub(crate) turns: Turns,
}

impl Session {
    /// Takes in what the provider block says, before any resource asks.
    pub(crate) fn configure(&self, directory: Directory) {
        *self.directory.write().unwrap_or_else(PoisonError::into_inner) = directory;
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
