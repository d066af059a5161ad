//! The verbs, one request each.
//!
//! What the server answers is sorted into outcomes here, by status, reason and uid; what an
//! outcome means is for others to judge. An object counts as absent only where the server says
//! so of that very object: a path that nobody serves is a 404 too, and proves nothing.

use http::Method;
use k8sconnect_core::outgoing::is_creation;
use k8sconnect_core::rejection::Status;
use serde_json::{Value, json};

use crate::address::Location;
use crate::call::{Call, Content, Reply};
use crate::cluster::Cluster;
use crate::error::{BadAnswer, Error};
use crate::retry::Repeat;

/// An object as the server holds it (or, in a dry-run, would hold it), and what it said beside.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    pub object: Value,
    pub warnings: Vec<String>,
}

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

/// What to do where another manager holds a field with another value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Conflicts {
    Force,
    Refuse,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Persistence {
    DryRun,
    Write,
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
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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
        match missing(at, &reply) {
            None => Ok(Found::Object(self.answer(&call, reply)?)),
            Some(Missing::Object(status)) => Ok(Found::Absent(status)),
            Some(Missing::Path(status)) => Ok(Found::NotServed(status)),
        }
    }

    /// Server-side apply, strict: an unknown or doubled field is refused, not dropped.
    pub async fn apply(&self, at: &Location, apply: &Apply<'_>) -> Result<Answer, Error> {
        let force = match apply.conflicts {
            Conflicts::Force => "true",
            Conflicts::Refuse => "false",
        };
        let mut call = Call::new(Method::PATCH, at.address()?)
            .query("fieldManager", apply.manager)
            .query("force", force)
            .query("fieldValidation", "Strict")
            .body(Content::Apply, apply.body.clone());
        if apply.persistence == Persistence::DryRun {
            call = call.query("dryRun", "All");
        }
        call.repeat = Repeat::Harmless;
        let reply = self.send(&call).await?;
        // A server that ignores the condition would take the object over by force.
        if is_creation(apply.body) && reply.is_success() && reply.status != 201 {
            let (host, request) = (self.server(), call.label());
            return Err(Error::NotCreated { host, request, code: reply.status });
        }
        self.answer(&call, reply)
    }

    pub async fn delete(&self, at: &Location, deletion: &Deletion<'_>) -> Result<Deleted, Error> {
        let propagation = match deletion.propagation {
            Propagation::Background => "Background",
            Propagation::Foreground => "Foreground",
            Propagation::Orphan => "Orphan",
        };
        let mut preconditions = json!({ "uid": deletion.uid });
        if let Some(version) = deletion.resource_version {
            preconditions["resourceVersion"] = version.into();
        }
        let options = json!({
            "apiVersion": "v1",
            "kind": "DeleteOptions",
            "preconditions": preconditions,
            "propagationPolicy": propagation,
        });
        let mut call = Call::new(Method::DELETE, at.address()?).body(Content::Json, options);
        call.repeat = Repeat::Harmless;
        let reply = match self.send(&call).await {
            Ok(reply) => reply,
            Err(error) => return self.doubted(at, deletion, error).await,
        };
        match missing(at, &reply) {
            Some(Missing::Object(status)) => return Ok(Deleted::Absent(status)),
            Some(Missing::Path(status)) => return Ok(Deleted::NotServed(status)),
            None if reply.status == 409 => {
                let found = self.get(at).await?;
                return standing(found, deletion, Error::Refused(Box::new(reply.refusal())));
            }
            None => {}
        }
        let answer = match self.answer(&call, reply) {
            Ok(answer) => answer,
            Err(error) => return self.doubted(at, deletion, error).await,
        };
        if answer.object["kind"] == "Status" {
            return Ok(Deleted::Done);
        }
        Ok(Deleted::Going(answer.object))
    }

    /// A deletion that may have been carried out though nobody said so.
    async fn doubted(
        &self,
        at: &Location,
        deletion: &Deletion<'_>,
        error: Error,
    ) -> Result<Deleted, Error> {
        match self.aftermath(at, &error).await {
            Some(found) => standing(found, deletion, error),
            None => Err(error),
        }
    }

    pub(crate) fn answer(&self, call: &Call, reply: Reply) -> Result<Answer, Error> {
        let object: Value = self.decode(call, &reply)?;
        if !object.is_object() {
            return Err(self.bad_answer(call, BadAnswer::Shape));
        }
        Ok(Answer { object, warnings: reply.warnings })
    }
}

/// What became of a deletion that was not answered well, as the object itself tells: a 409 says
/// either that the uid is another's or that the object is already going (a namespace answers so), and
/// a server that failed says nothing.
fn standing(found: Found, deletion: &Deletion<'_>, error: Error) -> Result<Deleted, Error> {
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

enum Missing {
    Object(Status),
    Path(Status),
}

/// Of a 404, who is missing: the server names the object only when it looked for it.
fn missing(at: &Location, reply: &Reply) -> Option<Missing> {
    if reply.status != 404 {
        return None;
    }
    let status = reply.refusal();
    let ours = status.reason == "NotFound" && status.details.name == at.name;
    Some(if ours { Missing::Object(status) } else { Missing::Path(status) })
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;
    use k8sconnect_core::identity::Gvk;

    use super::*;
    use crate::kinds::{Kind, Scope};

    fn judged(body: &str) -> Option<Missing> {
        let gvk = Gvk::new("v1", "ConfigMap");
        let kind = Kind { gvk, plural: "configmaps".into(), scope: Scope::Namespaced };
        let at = Location { kind, namespace: None, name: "web".into() };
        let body = Bytes::copy_from_slice(body.as_bytes());
        missing(&at, &Reply { status: 404, warnings: vec![], body })
    }

    #[test]
    fn only_a_404_of_this_very_object_proves_it_absent() {
        let named = |name: &str| {
            let details = json!({ "name": name, "kind": "configmaps" });
            json!({ "kind": "Status", "reason": "NotFound", "code": 404, "details": details })
        };
        assert!(matches!(judged(&named("web").to_string()), Some(Missing::Object(_))));
        assert!(matches!(judged(&named("other").to_string()), Some(Missing::Path(_))));
        assert!(matches!(judged(&named("").to_string()), Some(Missing::Path(_))));
        assert!(matches!(judged("404 page not found\n"), Some(Missing::Path(_))));
    }
}
