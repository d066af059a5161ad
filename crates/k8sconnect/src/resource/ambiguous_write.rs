//! After an ambiguous write error (timeout, 5xx, lost response), reads the object once to see whether the
//! write was applied.

use k8sconnect_cluster::{Answer, Error, Found, Location, Targets};
use serde_json::Value as Json;

/// The object, if the error leaves open whether the write was applied and the object shows that it was.
pub(crate) async fn confirm_ambiguous_write(
    targets: &Targets,
    location: &Location,
    error: &Error,
    was_applied: impl AsyncFnOnce(&Json) -> bool,
) -> Option<Answer> {
    match targets.read_after_ambiguous_write(location, error).await? {
        Found::Object(now) if was_applied(&now.object).await => Some(now),
        Found::Object(_) | Found::Absent(_) | Found::NotServed(_) => None,
    }
}
