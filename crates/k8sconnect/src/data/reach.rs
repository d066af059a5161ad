//! Finding the cluster and the kind that is asked about, by whatever only reads.

use std::sync::Arc;

use k8sconnect_cluster::{Cluster, Error, Kind, NotYet, Placed, Verb};
use k8sconnect_core::identity::Gvk;
use serde_json::Value as Json;
use tfplugin::{Diagnostics, Value};

use crate::connect::ClusterArgs;
use crate::messages;
use crate::messages::data::Asked;
use crate::session::Session;

/// The cluster to ask. Terraform reads nothing before the configuration is known; the provider
/// block it does not wait for.
pub(super) async fn cluster(
    session: &Session,
    args: ClusterArgs<'_>,
) -> Result<Arc<Cluster>, Diagnostics> {
    let entered = session.enter(args).await?;
    entered.ok_or_else(|| messages::data::cluster_unknown().into())
}

/// The kind that is meant by two attributes which the schema requires.
pub(crate) fn gvk(api_version: &Value<String>, kind: &Value<String>) -> Gvk {
    Gvk::new(api_version.as_str().unwrap_or_default(), kind.as_str().unwrap_or_default())
}

pub(super) async fn kind(
    cluster: &Cluster,
    gvk: &Gvk,
    asked: &Asked<'_>,
    verb: Verb,
) -> Result<Kind, Diagnostics> {
    let unanswered = |error: Error| Diagnostics::from(messages::data::unanswered(asked, &error));
    match cluster.place(gvk).await {
        Ok(Placed::At(kind)) => match cluster.offers(gvk, verb).await.map_err(unanswered)? {
            true => Ok(kind),
            false => Err(messages::data::unreadable(asked, gvk).into()),
        },
        Ok(Placed::NotYet(NotYet::Kind { nearest, .. })) => {
            Err(messages::data::no_such_kind(asked, gvk, nearest.as_deref()).into())
        }
        Ok(Placed::NotYet(_)) => Err(messages::data::no_such_kind(asked, gvk, None).into()),
        Err(error) => Err(unanswered(error)),
    }
}

/// The object as people want to see it: who owns which field is not a part of it.
pub(crate) fn without_owners(mut object: Json) -> Json {
    if let Some(Json::Object(metadata)) = object.get_mut("metadata") {
        metadata.remove("managedFields");
    }
    object
}
