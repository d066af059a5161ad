//! One look at an object: there, proved absent, or not to be seen.

use k8sconnect_cluster::{Definition, Error, Found, Location, Targets};
use k8sconnect_core::identity::ObjectKey;
use serde_json::Value as Json;
use tfplugin::Diagnostics;

use crate::connection_origin::ConnectionOrigin;
use crate::messages;

/// What a look at the object brought.
pub(crate) enum Look {
    Present(Json),
    /// The server proved that there is none.
    Absent,
    /// Its version is not served any more; another one is, here.
    Moved(Location),
    /// The credentials do not suffice; nothing is known, and nothing is forgotten.
    NotAllowed(Error),
}

pub(crate) async fn look(
    targets: &Targets,
    location: &Location,
    key: &ObjectKey,
    origin: ConnectionOrigin,
) -> Result<Look, Diagnostics> {
    match targets.get(location).await {
        Ok(Found::Object(answer)) => Ok(Look::Present(answer.object)),
        Ok(Found::Absent(_)) => Ok(Look::Absent),
        Ok(Found::NotServed(_)) => Ok(match unserved(targets, location, key).await? {
            Unserved::Gone => Look::Absent,
            Unserved::Moved(location) => Look::Moved(location),
        }),
        Err(error) if matches!(error.code(), Some(401 | 403)) => Ok(Look::NotAllowed(error)),
        // A plugin that does not work here any more.
        Err(error @ Error::Connection(_)) if origin == ConnectionOrigin::Resource => {
            Ok(Look::NotAllowed(error))
        }
        Err(error) => Err(messages::unread::unanswered(key, &error, origin).into()),
    }
}

/// The same, in whatever version the object is served.
pub(crate) async fn look_in_any_version(
    targets: &Targets,
    location: &Location,
    key: &ObjectKey,
    origin: ConnectionOrigin,
) -> Result<Look, Diagnostics> {
    match look(targets, location, key, origin).await? {
        Look::Moved(location) => look(targets, &location, key, origin).await,
        seen => Ok(seen),
    }
}

/// What it means that nobody serves the path of an object.
pub(crate) enum Unserved {
    /// Its definition is gone, and the object with it.
    Gone,
    /// The object is served in another version, here.
    Moved(Location),
}

/// Asks the definition of the kind. Where that tells nothing, nothing is known.
pub(crate) async fn unserved(
    targets: &Targets,
    location: &Location,
    key: &ObjectKey,
) -> Result<Unserved, Diagnostics> {
    let definition = targets.definition(&location.kind).await;
    match definition.map_err(|error| messages::refusal::unanswered(key, &error))? {
        Definition::Gone => Ok(Unserved::Gone),
        Definition::Moved(kind) => Ok(Unserved::Moved(Location { kind, ..location.clone() })),
        Definition::Unclear => Err(messages::served::kind_unserved(key).into()),
    }
}
