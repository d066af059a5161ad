//! What is fetched for the length of a run and stored nowhere: objects, Secrets included, and
//! tokens.

mod object;
mod token;

use std::sync::Arc;

use k8sconnect_cluster::Cluster;
use tfplugin::{Diagnostics, Value};

use crate::connect::{ClusterModel, Reach};
use crate::messages;
use crate::session::Session;

pub(crate) use object::EphemeralObject;
pub(crate) use token::EphemeralToken;

/// The cluster to ask. What is opened must be known at once, so the way to it must be, too.
async fn cluster(
    session: &Session,
    cluster: &Value<ClusterModel>,
    name: &Value<String>,
) -> Result<Arc<Cluster>, Diagnostics> {
    match session.reach(cluster, name)? {
        Reach::Ready(connection) => session.cluster(&connection).await,
        Reach::Unknown => Err(messages::ephemeral::cluster_unknown().into()),
    }
}
