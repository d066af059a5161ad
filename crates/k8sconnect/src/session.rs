//! What the resources of one provider process share.

use std::sync::Arc;

use k8sconnect_cluster::{Cluster, Connection, Pool};
use tfplugin::Diagnostics;

use crate::memory::Memory;
use crate::messages;

/// One per process: the clusters it talks to, and what it saw there.
#[derive(Default)]
pub(crate) struct Session {
    pool: Pool,
    pub(crate) memory: Memory,
}

impl Session {
    pub(crate) async fn cluster(
        &self,
        connection: &Connection,
    ) -> Result<Arc<Cluster>, Diagnostics> {
        let cluster = self.pool.cluster(connection).await;
        cluster.map_err(|error| messages::connection::failed(&error).into())
    }
}
