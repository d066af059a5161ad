//! An object that the plan reads itself, because the refresh could not read it or read it through
//! another connection.

use k8sconnect_cluster::{Found, Location};
use serde_json::Value as Json;
use tfplugin::Diagnostics;

use super::held::Held;
use super::whose::{FoundObject, whose};
use crate::cluster_identity::Opened;
use crate::messages;
use crate::resource::live::uid_of;

/// `None` if the object is gone, which only a confirmed cluster shows.
pub(super) async fn read(
    opened: &Opened,
    held: &Held,
    location: &Location,
) -> Result<Option<Json>, Diagnostics> {
    let key = held.key();
    match opened.cluster.get(location).await {
        Ok(Found::Object(answer)) => match whose(held, &answer.object, opened.identity) {
            FoundObject::Ours | FoundObject::Restored | FoundObject::AnotherState(_) => {
                Ok(Some(answer.object))
            }
            FoundObject::Unconfirmed | FoundObject::AnotherObject => {
                let other = Some(uid_of(&answer.object));
                opened.confirm_absence(key, other).map(|()| None)
            }
        },
        Ok(Found::Absent(_)) => opened.confirm_absence(key, None).map(|()| None),
        Ok(Found::NotServed(_)) => Err(messages::served::kind_unserved(key).into()),
        Err(error) => Err(messages::unread::unreadable_at_plan(key, &error).into()),
    }
}

/// The same for a plan other than a deletion's. It is too late to plan a creation: state holds the
/// object.
pub(super) async fn read_to_plan(
    opened: &Opened,
    held: &Held,
    location: &Location,
) -> Result<Json, Diagnostics> {
    let live = read(opened, held, location).await?;
    live.ok_or_else(|| messages::unread::not_found_at_plan(held.key()).into())
}
