//! What is fetched for the length of a run and stored nowhere: objects, Secrets included, and
//! tokens.

mod object;
mod token;

use std::sync::Arc;

use k8sconnect_cluster::Cluster;
use tfplugin::Diagnostics;

use crate::connect::ClusterArgs;
use crate::messages;
use crate::session::Session;

pub(crate) use object::EphemeralObject;
pub(crate) use token::EphemeralToken;

/// The cluster to ask. What is opened must be known at once, so the way to it must be, too.
async fn cluster(session: &Session, args: ClusterArgs<'_>) -> Result<Arc<Cluster>, Diagnostics> {
    let entered = session.enter(args).await?;
    entered.ok_or_else(|| messages::ephemeral::cluster_unknown().into())
}
