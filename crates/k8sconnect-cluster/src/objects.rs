//! The verbs for one object: get, apply, delete, one request each.
//!
//! What the server answers is sorted into outcomes here, by status, reason and uid; what an
//! outcome means is for others to judge. An object counts as absent only where the server says
//! so of that very object: a path that nobody serves is a 404 too, and proves nothing. After an
//! ambiguous write error (timeout, 5xx, lost response) the object is read once, to see whether the
//! write was applied. Not here: writes bound to the version that was read (`changes`).

use std::time::Duration;

use http::Method;
use k8sconnect_core::outgoing::is_creation;
use k8sconnect_core::rejection::Status;
use serde::Serialize;
use serde_json::{Value, json};
use tokio::time::Instant;

use crate::address::Location;
use crate::call::{Call, Content, Persistence, Repeat, Reply};
use crate::cluster::{Answer, Cluster};
use crate::error::Error;

#[derive(Clone, Debug, PartialEq)]
pub enum Found {
    Object(Answer),
    /// The server knows the kind and has no object of this name.
    Absent(Status),
    /// Nobody serves the path. Whether the object exists is not known.
    NotServed(Status),
}

#[derive(Clone, Copy, Debug)]
pub struct Apply<'a> {
    pub body: &'a Value,
    pub manager: &'a str,
    pub conflicts: Conflicts,
    pub persistence: Persistence,
}

/// What to do where another manager owns a field with another value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Conflicts {
    Force,
    Refuse,
}

#[derive(Clone, Copy, Debug)]
pub struct Deletion<'a> {
    /// Another object of the same name is left alone.
    pub uid: &'a str,
    /// An object that changed since it was read is left alone too.
    pub resource_version: Option<&'a str>,
    pub propagation: Propagation,
}

/// What becomes of the objects that the deleted one owns.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub enum Propagation {
    Background,
    Foreground,
    Orphan,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Deleted {
    /// Gone.
    Done,
    /// Accepted; it goes when its finalizers, dependents or grace period allow, or just went.
    Going(Value),
    Absent(Status),
    /// The name is now another object's, which was not touched.
    OtherUid(Value),
    /// Nobody serves the path. Whether the object exists is not known.
    NotServed(Status),
}

impl Cluster {
    pub async fn get(&self, at: &Location) -> Result<Found, Error> {
        let call = Call::get(at.address()?);
        let reply = self.send(&call).await?;
        match absence(at, &reply) {
            Some(found) => Ok(found),
            None => Ok(Found::Object(self.object_of(&call, reply)?)),
        }
    }

    /// Server-side apply, strict: an unknown or doubled field is refused, not dropped.
    pub async fn apply(&self, at: &Location, apply: &Apply<'_>) -> Result<Answer, Error> {
        let force = apply.conflicts == Conflicts::Force;
        let call = Call::patch(at, Content::Apply, apply.body.clone())?
            .query("fieldManager", apply.manager)
            .query("force", force.to_string())
            .query("fieldValidation", "Strict")
            .persistence(apply.persistence);
        let reply = self.send(&call).await?;
        // A server that ignores the condition would take the object over by force.
        if is_creation(apply.body) && reply.is_success() && reply.status != 201 {
            let (host, request) = (self.server(), call.label());
            return Err(Error::NotCreated { host, request, code: reply.status });
        }
        self.object_of(&call, reply)
    }

    /// What is there after a write that failed with this error. `None` where the write was certainly
    /// not applied, where the user asked to stop, and where the server does not answer.
    pub async fn read_after_ambiguous_write(&self, at: &Location, error: &Error) -> Option<Found> {
        if !error.may_be_done() || error.is_interrupt() {
            return None;
        }
        self.until(Instant::now() + CONFIRMATION).get(at).await.ok()
    }

    pub async fn delete(&self, at: &Location, deletion: &Deletion<'_>) -> Result<Deleted, Error> {
        let mut preconditions = json!({ "uid": deletion.uid });
        if let Some(version) = deletion.resource_version {
            preconditions["resourceVersion"] = version.into();
        }
        let options = json!({
            "apiVersion": "v1",
            "kind": "DeleteOptions",
            "preconditions": preconditions,
            "propagationPolicy": deletion.propagation,
        });
        let mut call = Call::new(Method::DELETE, at.address()?).body(Content::Json, options);
        call.repeat = Repeat::Harmless;
        let (found, error) = match self.send(&call).await {
            Ok(reply) if reply.status == 409 => {
                (Some(self.get(at).await?), Error::Refused(Box::new(reply.refusal())))
            }
            Ok(reply) => match (absence(at, &reply), self.object_of(&call, reply)) {
                (_, Ok(answer)) if answer.object["kind"] == "Status" => return Ok(Deleted::Done),
                (_, Ok(answer)) => return Ok(Deleted::Going(answer.object)),
                (Some(found), Err(error)) => (Some(found), error),
                (None, Err(error)) => (self.read_after_ambiguous_write(at, &error).await, error),
            },
            Err(error) => (self.read_after_ambiguous_write(at, &error).await, error),
        };
        match found {
            Some(found) => judge_deletion(found, deletion, error),
            None => Err(error),
        }
    }
}

/// A write had its time already; whoever waits for its end waits no second time.
const CONFIRMATION: Duration = Duration::from_secs(10);

/// What became of a deletion that was not answered well, as the object itself tells: a 409 says
/// either that the uid is another's or that the object is already going (a namespace answers so), and
/// a server that failed says nothing.
fn judge_deletion(found: Found, deletion: &Deletion<'_>, error: Error) -> Result<Deleted, Error> {
    Ok(match found {
        Found::Absent(status) => Deleted::Absent(status),
        Found::NotServed(status) => Deleted::NotServed(status),
        Found::Object(Answer { object, .. }) => {
            let metadata = &object["metadata"];
            if metadata["uid"] != deletion.uid {
                Deleted::OtherUid(object)
            } else if !metadata["deletionTimestamp"].is_null() {
                Deleted::Going(object)
            } else {
                return Err(error);
            }
        }
    })
}

/// What a 404 says of the object: the server names it only when it looked for it.
fn absence(at: &Location, reply: &Reply) -> Option<Found> {
    if reply.status != 404 {
        return None;
    }
    let status = reply.refusal();
    let is_ours = status.reason == "NotFound" && status.details.name == at.name;
    Some(if is_ours { Found::Absent(status) } else { Found::NotServed(status) })
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;
    use k8sconnect_core::identity::Gvk;

    use super::*;
    use crate::address::{Kind, Scope};

    fn judged(body: &str) -> Option<Found> {
        let gvk = Gvk::new("v1", "ConfigMap");
        let kind = Kind { gvk, plural: "configmaps".into(), scope: Scope::Namespaced };
        let at = Location { kind, namespace: None, name: "web".into() };
        let body = Bytes::copy_from_slice(body.as_bytes());
        absence(&at, &Reply { status: 404, warnings: vec![], body, retry_after: None })
    }

    #[test]
    fn only_a_404_of_this_very_object_proves_it_absent() {
        let named = |name: &str| {
            let details = json!({ "name": name, "kind": "configmaps" });
            json!({ "kind": "Status", "reason": "NotFound", "code": 404, "details": details })
        };
        assert!(matches!(judged(&named("web").to_string()), Some(Found::Absent(_))));
        assert!(matches!(judged(&named("other").to_string()), Some(Found::NotServed(_))));
        assert!(matches!(judged(&named("").to_string()), Some(Found::NotServed(_))));
        assert!(matches!(judged("404 page not found\n"), Some(Found::NotServed(_))));
    }
}
