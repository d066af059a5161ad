//! Before an object goes that takes others along: what goes with it.
//!
//! The object itself is looked at first, since one that is gone, or not ours any more, takes
//! nothing along. Counting never fails a plan: what could not be counted is said instead.

use std::time::Duration;

use k8sconnect_cluster::{
    Cluster, Detail, Error, Found, Gap, Kind, Location, Scope, Selection, Within,
};
use k8sconnect_core::blast::{self, Vessel};
use k8sconnect_core::identity::{Gvk, ObjectKey};
use serde_json::Value as Json;
use tfplugin::{Diagnostic, Diagnostics};
use tokio::time::Instant;

use super::held::Held;
use super::plan::Asked;
use super::whose::{FoundObject, whose};
use crate::cluster_identity::Opened;
use crate::messages;
use crate::messages::blast::Fate;

/// How long a plan is held up by counting.
const PATIENCE: Duration = Duration::from_secs(20);

/// Tells what goes along, in the cluster that state names. Costs nothing for kinds that take nothing
/// along.
pub(crate) async fn tell(
    held: &Held,
    opened: Option<&Opened>,
    fate: Fate,
    notices: &mut Diagnostics,
) {
    let Some(vessel) = Vessel::of(&held.key().gvk) else {
        return;
    };
    let told = match live_of(opened, held).await {
        Ok(Some((cluster, live))) => count(&cluster, held.key(), vessel, fate, &live).await,
        Ok(None) => return,
        Err(unknown) => Err(unknown),
    };
    notices.extend(worded(held.key(), vessel, fate, told));
}

/// Reports what goes along with a tainted object. The first plan of another replacement has reported
/// it.
pub(crate) async fn tell_of_predecessor(
    asked: &Asked<'_>,
    key: &ObjectKey,
    live: &Json,
    notices: &mut Diagnostics,
) {
    let Some(vessel) = Vessel::of(&key.gvk) else {
        return;
    };
    let cluster = asked.cluster().until(Instant::now() + PATIENCE);
    let told = count(&cluster, key, vessel, Fate::Replaced, live).await;
    notices.extend(worded(key, vessel, Fate::Replaced, told));
}

/// What is still inside of a namespace that does not go, in words. A failure to look says nothing:
/// there is an error to tell already.
pub(crate) async fn inside(cluster: &Cluster, key: &ObjectKey) -> String {
    let cluster = cluster.until(Instant::now() + PATIENCE);
    match cluster.contents(&key.name).await {
        Ok(contents) => messages::blast::inside(&contents.items, &contents.gaps),
        Err(_) => String::new(),
    }
}

fn worded(
    key: &ObjectKey,
    vessel: Vessel,
    fate: Fate,
    told: Result<Option<Diagnostic>, Unknown>,
) -> Option<Diagnostic> {
    told.unwrap_or_else(|Unknown(why)| Some(messages::blast::not_counted(key, vessel, fate, &why)))
}

/// Why nothing could be counted.
struct Unknown(String);

impl From<Error> for Unknown {
    fn from(error: Error) -> Self {
        Self(messages::blast::reason(&error))
    }
}

impl From<Diagnostics> for Unknown {
    fn from(all: Diagnostics) -> Self {
        let summaries: Vec<_> = all.iter().map(|it| format!("{}.", it.summary)).collect();
        Self(summaries.join(" "))
    }
}

/// The object as it is now, if it is there and ours.
async fn live_of(opened: Option<&Opened>, held: &Held) -> Result<Option<(Cluster, Json)>, Unknown> {
    let opened = opened.ok_or_else(|| Diagnostics::from(messages::connection::missing()))?;
    let cluster = opened.cluster.until(Instant::now() + PATIENCE);
    let location = held.location(&cluster).await?;
    let Found::Object(answer) = cluster.get(&location).await? else {
        return Ok(None);
    };
    match whose(held, &answer.object, opened.identity) {
        FoundObject::Ours | FoundObject::Restored => Ok(Some((cluster, answer.object))),
        FoundObject::Unconfirmed | FoundObject::AnotherObject | FoundObject::AnotherState(_) => {
            Ok(None)
        }
    }
}

async fn count(
    cluster: &Cluster,
    key: &ObjectKey,
    vessel: Vessel,
    fate: Fate,
    live: &Json,
) -> Result<Option<Diagnostic>, Unknown> {
    match vessel {
        Vessel::Namespace => {
            let contents = cluster.contents(&key.name).await?;
            let toll = blast::of_namespace(&contents.items);
            Ok(messages::blast::toll(key, vessel, fate, &toll, &contents.gaps))
        }
        Vessel::Definition => of_definition(cluster, key, fate, live).await,
        Vessel::Claim => Ok(of_claim(cluster, key, fate, live).await),
    }
}

async fn of_definition(
    cluster: &Cluster,
    key: &ObjectKey,
    fate: Fate,
    live: &Json,
) -> Result<Option<Diagnostic>, Unknown> {
    let Some(defined) = blast::defined(live) else {
        return Err(Unknown(messages::blast::not_served().to_owned()));
    };
    // Over all namespaces, where the scope makes no difference to the path.
    let kind = Kind { gvk: defined.gvk, plural: defined.plural, scope: Scope::Cluster };
    let listed =
        cluster.list(&kind, Within::Everywhere, Selection::default(), Detail::Metadata).await;
    let (items, gaps) = match listed {
        Ok(listed) => (listed.items, vec![]),
        Err(error) => (vec![], vec![Gap::Kind(kind.gvk, error)]),
    };
    let toll = blast::of_definition(&items);
    Ok(messages::blast::toll(key, Vessel::Definition, fate, &toll, &gaps))
}

async fn of_claim(
    cluster: &Cluster,
    key: &ObjectKey,
    fate: Fate,
    live: &Json,
) -> Option<Diagnostic> {
    let name = blast::volume_of(live)?;
    let location = Location {
        kind: Kind {
            gvk: Gvk::new("v1", "PersistentVolume"),
            plural: "persistentvolumes".to_owned(),
            scope: Scope::Cluster,
        },
        namespace: None,
        name: name.to_owned(),
    };
    match cluster.get(&location).await {
        Ok(Found::Object(volume)) => {
            let reclaim = blast::reclaim(&volume.object);
            Some(messages::blast::volume(key, fate, name, &reclaim))
        }
        // Lost already; the claim takes nothing along.
        Ok(Found::Absent(_) | Found::NotServed(_)) => None,
        Err(error) => Some(messages::blast::volume_unseen(key, fate, name, &error)),
    }
}
