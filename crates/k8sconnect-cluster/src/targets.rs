//! A cluster whose objects are looked at and changed, but never made and never deleted.
//!
//! This is all that a patch is given of a [`Cluster`]: there is no verb here that creates and none
//! that deletes. Every change names its object by uid. The server answers a conflict to an apply of
//! an object that is gone, where it would otherwise create it, and refuses one that is another's by
//! now; and every write carries the version that was read, so that nobody's work in between is lost.

use http::Method;
use k8sconnect_core::identity::Gvk;
use k8sconnect_core::outgoing::{Guard, Outgoing};
use serde_json::{Map, Value, json};
use tokio::time::Instant;

use crate::address::Location;
use crate::call::{Call, Content};
use crate::cluster::Cluster;
use crate::connection::Host;
use crate::definition::Definition;
use crate::error::Error;
use crate::kinds::{Kind, Served, Verb};
use crate::metadata::Edit;
use crate::objects::{Answer, Apply, Conflicts, Found, Persistence};
use crate::observe::Placed;
use crate::retry::Repeat;
use crate::watch::Seen;

#[derive(Clone)]
pub struct Targets(Cluster);

/// A change to an object, in one of the forms that the server takes.
#[derive(Clone, Copy, Debug)]
pub enum Change<'a> {
    /// A partial object, for server-side apply.
    Apply(&'a Value),
    Merge(&'a Value),
    /// Operations, without guards of their own.
    Json(&'a [Value]),
}

impl From<&Cluster> for Targets {
    fn from(cluster: &Cluster) -> Self {
        Self(cluster.clone())
    }
}

impl Targets {
    pub(crate) fn cluster(&self) -> &Cluster {
        &self.0
    }

    pub fn host(&self) -> &Host {
        self.0.host()
    }

    pub async fn place(&self, gvk: &Gvk) -> Result<Placed, Error> {
        self.0.place(gvk).await
    }

    /// See [`Cluster::offers`].
    pub async fn offers(&self, gvk: &Gvk, verb: Verb) -> Result<bool, Error> {
        self.0.offers(gvk, verb).await
    }

    pub async fn kind(&self, gvk: &Gvk) -> Result<Served, Error> {
        self.0.kind(gvk).await
    }

    /// See [`Cluster::definition`].
    pub async fn definition(&self, kind: &Kind) -> Result<Definition, Error> {
        self.0.definition(kind).await
    }

    pub async fn await_kind(&self, gvk: &Gvk, deadline: Instant) -> Result<Option<Kind>, Error> {
        self.0.await_kind(gvk, deadline).await
    }

    pub async fn get(&self, at: &Location) -> Result<Found, Error> {
        self.0.get(at).await
    }

    /// The object, as soon as it is there; `None` if it is not by the deadline.
    pub async fn await_object(
        &self,
        at: &Location,
        deadline: Instant,
    ) -> Result<Option<Value>, Error> {
        let mut follow = self.0.until(deadline).follow(at);
        while let Some(seen) = follow.next().await? {
            if let Seen::Present(object) = seen {
                return Ok(Some(object));
            }
        }
        Ok(None)
    }

    /// What a change would come to, on the very object that was read: another write in between is a
    /// conflict, lest the work of others count as what the change does.
    pub async fn dry_run(
        &self,
        at: &Location,
        change: Change<'_>,
        manager: &str,
        read: &Value,
    ) -> Result<Answer, Error> {
        self.send(at, change, manager, Meant::by(read), Persistence::DryRun).await
    }

    /// Changes the very object that was read, as it was read. Another write in between is a
    /// conflict.
    pub async fn write(
        &self,
        at: &Location,
        change: Change<'_>,
        manager: &str,
        read: &Value,
    ) -> Result<Answer, Error> {
        self.send(at, change, manager, Meant::by(read), Persistence::Write).await
    }

    /// The object as it would be if its whole content were applied, which tells how the items of
    /// each of its lists are named. Never more than a dry-run.
    pub async fn probe(&self, at: &Location, read: &Value, manager: &str) -> Result<Answer, Error> {
        let mut content = read.clone();
        if let Some(object) = content.as_object_mut() {
            object.remove("status");
        }
        if let Some(Value::Object(metadata)) = content.get_mut("metadata") {
            for name in ["managedFields", "resourceVersion", "creationTimestamp", "generation"] {
                metadata.remove(name);
            }
        }
        self.dry_run(at, Change::Apply(&content), manager, read).await
    }

    /// Gives fields back, in one guarded request. See [`Cluster::replace_owners`].
    pub async fn release(
        &self,
        at: &Location,
        edit: &Edit<'_>,
        manager: &str,
    ) -> Result<Answer, Error> {
        self.0.replace_owners(at, edit, manager).await
    }

    async fn send(
        &self,
        at: &Location,
        change: Change<'_>,
        manager: &str,
        meant: Meant<'_>,
        persistence: Persistence,
    ) -> Result<Answer, Error> {
        let (content, body) = match change {
            Change::Apply(content) => {
                let namespace = at.namespace.as_deref();
                let content = content.clone();
                let body = Outgoing { content, namespace, id: None, guard: meant.guard() }.body();
                let apply =
                    Apply { body: &body, manager, conflicts: Conflicts::Force, persistence };
                return self.0.apply(at, &apply).await;
            }
            Change::Merge(content) => (Content::MergePatch, guarded(content, meant)),
            Change::Json(operations) => (Content::JsonPatch, guarded_list(operations, meant)),
        };
        let mut call = Call::new(Method::PATCH, at.address()?)
            .query("fieldManager", manager)
            .query("fieldValidation", "Strict")
            .body(content, body);
        if persistence == Persistence::DryRun {
            call = call.query("dryRun", "All");
        }
        // Bound to a version, a second one is a conflict.
        call.repeat = Repeat::Harmless;
        let reply = self.0.send(&call).await?;
        self.0.answer(&call, reply)
    }
}

fn text<'a>(object: &'a Value, field: &str) -> &'a str {
    object["metadata"][field].as_str().unwrap_or_default()
}

/// Which object a change is for. There is no way to say that none be there.
#[derive(Clone, Copy)]
struct Meant<'a> {
    uid: &'a str,
    version: &'a str,
}

impl<'a> Meant<'a> {
    fn by(read: &'a Value) -> Self {
        Self { uid: text(read, "uid"), version: text(read, "resourceVersion") }
    }

    fn guard(self) -> Guard<'a> {
        Guard::Version { uid: self.uid, resource_version: self.version }
    }
}

fn guarded(content: &Value, meant: Meant<'_>) -> Value {
    let mut body = content.clone();
    if !body["metadata"].is_object() {
        body["metadata"] = Value::Object(Map::new());
    }
    body["metadata"]["uid"] = meant.uid.into();
    body["metadata"]["resourceVersion"] = meant.version.into();
    body
}

fn guarded_list(operations: &[Value], meant: Meant<'_>) -> Value {
    let mut list = vec![json!({"op": "test", "path": "/metadata/uid", "value": meant.uid})];
    list.extend(operations.iter().cloned());
    let version = meant.version;
    list.push(json!({"op": "replace", "path": "/metadata/resourceVersion", "value": version}));
    Value::Array(list)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_form_names_its_object_and_its_version() {
        let meant = Meant { uid: "u", version: "7" };
        let merged = guarded(&json!({"spec": {"a": null}}), meant);
        assert_eq!(merged["metadata"], json!({"uid": "u", "resourceVersion": "7"}));
        assert_eq!(merged["spec"], json!({"a": null}));
        let list = guarded_list(&[json!({"op": "remove", "path": "/spec/a"})], meant);
        assert_eq!(list[0], json!({"op": "test", "path": "/metadata/uid", "value": "u"}));
        assert_eq!(list[1]["op"], "remove");
        assert_eq!(list[2]["path"], "/metadata/resourceVersion");
    }
}
