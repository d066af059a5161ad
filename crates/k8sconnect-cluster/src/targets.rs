//! A cluster whose objects are read and changed, but never created and never deleted.
//!
//! This is all that a patch is given of a [`Cluster`]: there is no verb here that creates and none
//! that deletes. Every change names its object by uid. The server answers a conflict to an apply of
//! an object that is gone, where it would otherwise create it, and refuses one that is another's by
//! now; and every write carries the version that was read, so that no write in between is lost.

use k8sconnect_core::identity::Gvk;
use serde_json::Value;
use tokio::time::Instant;

use crate::address::{Kind, Location};
use crate::call::Persistence;
use crate::changes::{Change, Edit};
use crate::cluster::{Answer, Cluster};
use crate::connection::Host;
use crate::definition::Definition;
use crate::error::Error;
use crate::kinds::{Served, Verb};
use crate::objects::Found;
use crate::observe::Placed;
use crate::watch::Seen;

#[derive(Clone)]
pub struct Targets(Cluster);

impl From<&Cluster> for Targets {
    fn from(cluster: &Cluster) -> Self {
        Self(cluster.clone())
    }
}

impl Targets {
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

    /// See [`Cluster::read_after_ambiguous_write`].
    pub async fn read_after_ambiguous_write(&self, at: &Location, error: &Error) -> Option<Found> {
        self.0.read_after_ambiguous_write(at, error).await
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

    /// Changes the very object that was read, or brings what the change would come to. Another write in
    /// between is a conflict, lest the work of others count as what the change does.
    pub async fn change(
        &self,
        at: &Location,
        change: Change<'_>,
        manager: &str,
        read: &Value,
        persistence: Persistence,
    ) -> Result<Answer, Error> {
        self.0.change(at, change, manager, read, persistence).await
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
        self.0.change(at, Change::Apply(&content), manager, read, Persistence::DryRun).await
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
}
