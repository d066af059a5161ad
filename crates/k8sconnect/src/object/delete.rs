//! Delete: only the object with our uid, and watched until it is gone.

use std::time::Duration;

use k8sconnect_cluster::{Cluster, Deleted, Deletion, Departure, Location, Propagation};
use k8sconnect_core::identity::ObjectKey;
use tfplugin::{Delete, Diagnostics};

use super::held::Held;
use super::model::ObjectModel;
use super::read::definition_gone;
use crate::connect::{self, Reach};
use crate::messages;
use crate::session::Session;

/// How long an object may take to go. A namespace takes its contents along.
const PATIENCE: Duration = Duration::from_secs(300);
const NAMESPACE_PATIENCE: Duration = Duration::from_secs(600);

pub(crate) async fn delete(
    session: &Session,
    request: Delete<ObjectModel>,
    notices: &mut Diagnostics,
) -> Result<(), Diagnostics> {
    let held = Held::load(request.prior, &request.private)?;
    let key = held.key();
    let Reach::Ready(connection) = connect::reach(&held.model.cluster)? else {
        return Err(messages::connection::missing().into());
    };
    let cluster = session.cluster(&connection).await?;
    let location = held.location(&cluster).await?;
    let deletion = Deletion { uid: held.uid(), propagation: Propagation::Background };
    let deleted = cluster.delete(&location, &deletion).await;
    match deleted.map_err(|error| messages::object::not_deleted(key, &error))? {
        Deleted::Done | Deleted::Absent(_) => Ok(()),
        Deleted::Going(_) => wait(&cluster, &location, key, held.uid()).await,
        Deleted::OtherUid(_) => {
            notices.push(messages::object::replaced_by_others(key));
            Ok(())
        }
        Deleted::NotServed(_) if definition_gone(&cluster, &location).await? => Ok(()),
        Deleted::NotServed(_) => Err(messages::object::kind_no_longer_served(key).into()),
    }
}

async fn wait(
    cluster: &Cluster,
    location: &Location,
    key: &ObjectKey,
    uid: &str,
) -> Result<(), Diagnostics> {
    let patience = match key.gvk.kind.as_str() {
        "Namespace" => NAMESPACE_PATIENCE,
        _ => PATIENCE,
    };
    let deadline = tokio::time::Instant::now() + patience;
    let departure = cluster.wait_until_gone(location, uid, deadline).await;
    match departure.map_err(|error| messages::object::not_deleted(key, &error))? {
        Departure::Gone => Ok(()),
        Departure::StillThere(live) => {
            Err(messages::object::still_there(key, &live, patience).into())
        }
        Departure::NotServed(_) if definition_gone(cluster, location).await? => Ok(()),
        Departure::NotServed(_) => Err(messages::object::kind_no_longer_served(key).into()),
    }
}
