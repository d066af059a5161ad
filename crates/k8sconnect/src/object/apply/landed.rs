//! Whether a write was carried out that the server did not own up to.
//!
//! A creation is known by the id that it came with, which no other object bears. A change is there if
//! asking for it once more would change nothing; so it is asked, and never made a second time.

use k8sconnect_cluster::{Answer, Error, Found, Location, Observation};
use k8sconnect_core::identity::ID_ANNOTATION;
use k8sconnect_core::outgoing::{Guard, Outgoing};
use serde_json::Value as Json;

use super::Work;
use crate::MANAGER;

impl Work<'_> {
    /// The object, if what was to be written is there after a write that ended so.
    pub(super) async fn landed(
        &self,
        location: &Location,
        written: Outgoing<'_>,
        error: &Error,
    ) -> Option<Answer> {
        let Found::Object(now) = self.cluster.aftermath(location, error).await? else {
            return None;
        };
        let uid = match written.guard {
            Guard::Absent => {
                return written.id.is_some_and(|id| bears(&now.object, id)).then_some(now);
            }
            Guard::Uid(uid) | Guard::Version { uid, .. } => uid,
        };
        if now.object["metadata"]["uid"].as_str() != Some(uid) {
            return None;
        }
        let body = Outgoing { guard: Guard::Uid(uid), ..written }.body();
        let asked = self.cluster.observe(location, MANAGER, &body, self.terms.conflicts).await;
        match asked {
            Ok(Observation::Answered(answer)) if answer.object == now.object => Some(now),
            _ => None,
        }
    }
}

/// Whether the object bears this id.
pub(super) fn bears(object: &Json, id: &str) -> bool {
    object["metadata"]["annotations"][ID_ANNOTATION].as_str() == Some(id)
}
