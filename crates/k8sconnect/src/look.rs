//! One look at an object: there, proved absent, or not to be seen.

use k8sconnect_cluster::{Error, Found, Location, Targets};
use k8sconnect_core::identity::ObjectKey;
use serde_json::Value as Json;
use tfplugin::Diagnostics;

use crate::messages;
use crate::messages::whereabouts::Way;

/// What a look at the object brought.
pub(crate) enum Look {
    Present(Json),
    /// The server proved that there is none.
    Absent,
    /// The credentials do not suffice; nothing is known, and nothing is forgotten.
    NotAllowed(Error),
}

pub(crate) async fn look(
    targets: &Targets,
    location: &Location,
    key: &ObjectKey,
    whose: Way,
) -> Result<Look, Diagnostics> {
    match targets.get(location).await {
        Ok(Found::Object(answer)) => Ok(Look::Present(answer.object)),
        Ok(Found::Absent(_)) => Ok(Look::Absent),
        Ok(Found::NotServed(_)) if definition_gone(targets, location, key).await? => {
            Ok(Look::Absent)
        }
        Ok(Found::NotServed(_)) => Err(messages::object::kind_no_longer_served(key).into()),
        Err(error) if matches!(error.code(), Some(401 | 403)) => Ok(Look::NotAllowed(error)),
        // A plugin that does not work here any more.
        Err(error @ Error::Connection(_)) if whose == Way::ItsOwn => Ok(Look::NotAllowed(error)),
        Err(error) => Err(messages::whereabouts::unanswered(key, &error, whose).into()),
    }
}

/// Whether the definition of a custom kind is gone, and its objects with it.
pub(crate) async fn definition_gone(
    targets: &Targets,
    location: &Location,
    key: &ObjectKey,
) -> Result<bool, Diagnostics> {
    let gone = targets.definition_gone(&location.kind).await;
    gone.map_err(|error| messages::refusal::unanswered(key, &error).into())
}
