//! Finding the cluster and the kind that a data source asks about.

use std::sync::Arc;

use k8sconnect_cluster::{Cluster, Kind, NotYet, Placed};
use k8sconnect_core::identity::Gvk;
use serde_json::Value as Json;
use tfplugin::{Diagnostics, Value};

use crate::connect::{ClusterModel, Reach};
use crate::messages;
use crate::messages::data::Asked;
use crate::session::Session;

pub(super) async fn cluster(
    session: &Session,
    cluster: &Value<ClusterModel>,
    name: &Value<String>,
) -> Result<Arc<Cluster>, Diagnostics> {
    match session.reach(cluster, name)? {
        Reach::Ready(connection) => session.cluster(&connection).await,
        // Terraform reads nothing before the configuration is known; the provider block it does
        // not wait for.
        Reach::Unknown => Err(messages::data::cluster_unknown().into()),
    }
}

pub(super) async fn kind(
    cluster: &Cluster,
    gvk: &Gvk,
    asked: &Asked<'_>,
) -> Result<Kind, Diagnostics> {
    match cluster.place(gvk).await {
        Ok(Placed::At(kind)) => Ok(kind),
        Ok(Placed::NotYet(NotYet::Kind { nearest, .. })) => {
            Err(messages::data::no_such_kind(asked, gvk, nearest.as_deref()).into())
        }
        Ok(Placed::NotYet(_)) => Err(messages::data::no_such_kind(asked, gvk, None).into()),
        Err(error) => Err(messages::data::unanswered(asked, &error).into()),
    }
}

/// The object as people want to see it: who owns which field is not a part of it.
pub(crate) fn without_owners(mut object: Json) -> Json {
    if let Some(Json::Object(metadata)) = object.get_mut("metadata") {
        metadata.remove("managedFields");
    }
    object
}
