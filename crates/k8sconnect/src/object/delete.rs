//! Delete: only what is ours, and watched until it is gone.
//!
//! Ours is the object with the UID in state, unless it has the id of another state: that one has
//! taken it over, and it is left alone. Ours too is one with another UID and our id, as a restored
//! backup has, if the cluster is confirmed. The deletion carries uid and version of what was looked
//! at, so that nothing changes hands in between.

use std::time::Duration;

use k8sconnect_cluster::{Cluster, Deleted, Deletion, Departure, Error, Found, Location, Targets};
use k8sconnect_core::blast::Vessel;
use k8sconnect_core::rejection::Rejection;
use serde_json::Value as Json;
use tfplugin::{Delete, Diagnostics, PlanDestroy, Private};
use tokio::time::Instant;

use super::addresses;
use super::blast;
use super::definitions;
use super::held::Held;
use super::model::ObjectModel;
use super::unread;
use super::whose::{FoundObject, whose};
use crate::cluster_identity::Opened;
use crate::look::{Unserved, unserved};
use crate::messages;
use crate::messages::blast::Fate;
use crate::messages::refusal::Subject;
use crate::object::terms::{Protection, Stuck};
use crate::plan_ledger::{Address, Fact, Name, PlannedAction};
use crate::resource::live::uid_of;
use crate::resource::retry::{Attempt, Tries};
use crate::session::Session;

/// How long an object may take to go. Some take others along, or wait for a volume.
const PATIENCE: Duration = Duration::from_secs(300);
const LONG_PATIENCE: Duration = Duration::from_secs(600);
const SLOW: [&str; 4] =
    ["Namespace", "CustomResourceDefinition", "PersistentVolume", "PersistentVolumeClaim"];
/// How long it may still take once its finalizers are gone.
const AFTER_FORCE: Duration = Duration::from_secs(60);

pub(crate) async fn plan(
    session: &Session,
    request: PlanDestroy<ObjectModel>,
    notices: &mut Diagnostics,
) -> Result<Private, Diagnostics> {
    let held = Held::load(request.prior, &request.private)?;
    let opened = session.open_in_state(held.recorded(), notices).await?;
    if let Some(opened) = opened.as_ref().filter(|_| held.stored.unread) {
        let location = held.location(&opened.cluster).await?;
        unread::read(opened, &held, &location).await?;
    }
    let address = Address::InState(held.id().to_owned());
    addresses::enter(session, held.key(), held.uid(), address, PlannedAction::Destroy)?;
    match held.terms.deletion.protection {
        Protection::Protected => Err(messages::deletion::protected(held.key()).into()),
        Protection::None | Protection::Untold => {
            blast::tell(&held, opened.as_ref(), Fate::Destroyed, notices).await;
            Ok(request.private)
        }
    }
}

pub(crate) async fn delete(
    session: &Session,
    request: Delete<ObjectModel>,
    notices: &mut Diagnostics,
) -> Result<(), Diagnostics> {
    let _slot = session.slots.take();
    let held = Held::load(request.prior, &request.private)?;
    let key = held.key();
    if held.terms.deletion.protection == Protection::Protected {
        // A tainted resource that gets another name gets past every plan of ours, but not past this.
        return Err(messages::deletion::protected(key).into());
    }
    let opened = session.open_in_state(held.recorded(), notices).await?;
    let opened = opened.ok_or_else(messages::connection::missing)?;
    let location = held.location(&opened.cluster).await?;
    let mut deletion =
        ObjectDeletion { session, opened: &opened, held: &held, location, was_found: false };
    let mut tries = Tries::of(key);
    loop {
        tries.begin()?;
        if let Attempt::Done(()) = deletion.attempt(notices).await? {
            return Ok(());
        }
    }
}

/// The deletion of one object.
struct ObjectDeletion<'a> {
    session: &'a Session,
    opened: &'a Opened,
    held: &'a Held,
    location: Location,
    /// Whether an earlier attempt found the object, which is ours.
    was_found: bool,
}

impl ObjectDeletion<'_> {
    fn cluster(&self) -> &Cluster {
        &self.opened.cluster
    }

    fn not_deleted(&self, error: &Error, live: Option<&Json>) -> Diagnostics {
        let subject = Subject { manifest: &self.held.manifest, former: live };
        messages::deletion::not_deleted(subject, error).into()
    }

    async fn attempt(&mut self, notices: &mut Diagnostics) -> Result<Attempt<()>, Diagnostics> {
        let found = self.cluster().get(&self.location).await;
        let live = match found.map_err(|error| self.not_deleted(&error, None))? {
            Found::Object(answer) => answer.object,
            Found::Absent(_) if self.was_found => return Ok(Attempt::Done(())),
            Found::Absent(_) => return self.confirm_gone(None).map(Attempt::Done),
            Found::NotServed(_) => {
                let targets = Targets::from(self.cluster());
                match unserved(&targets, &self.location, self.held.key()).await? {
                    Unserved::Gone => return self.confirm_gone(None).map(Attempt::Done),
                    Unserved::Moved(at) => {
                        self.location = at;
                        return Ok(Attempt::Conflict);
                    }
                }
            }
        };
        if !self.is_ours(&live, notices)? {
            return Ok(Attempt::Done(()));
        }
        let (ledger, uid) = (&self.session.ledger, uid_of(&live));
        // An object that was read here is tainted, and its own address creates it again.
        if ledger.is_adopted(uid) && !self.session.reads.has_read(self.held.id()) {
            return Err(messages::addresses::destroyed_and_made(self.held.key()).into());
        }
        if self.held.model.adopt.known() != Some(&true) {
            let name = Name::new(self.cluster().host(), &self.location.key());
            ledger.note(Fact::Deleted(name));
        }
        self.send(&live, notices).await
    }

    /// Whether the object is to be deleted. Says why, if it is left alone.
    fn is_ours(&mut self, live: &Json, notices: &mut Diagnostics) -> Result<bool, Diagnostics> {
        let key = self.held.key();
        let other = match whose(self.held, live, self.opened.identity) {
            FoundObject::Ours => {
                self.was_found = true;
                return Ok(true);
            }
            FoundObject::Restored => return Ok(true),
            FoundObject::AnotherObject if self.was_found => return Ok(false),
            FoundObject::AnotherObject | FoundObject::Unconfirmed => {
                self.confirm_gone(Some(uid_of(live)))?;
                messages::object::replaced_by_others(key)
            }
            FoundObject::AnotherState(id) => {
                match self.session.ledger.knows(&Fact::OwnId(id.clone())) {
                    true => messages::object::taken_over_in_this_run(key),
                    false => messages::object::taken_over(key, &id),
                }
            }
        };
        notices.push(other);
        Ok(false)
    }

    async fn send(
        &self,
        live: &Json,
        notices: &mut Diagnostics,
    ) -> Result<Attempt<()>, Diagnostics> {
        let deletion = Deletion {
            uid: uid_of(live),
            resource_version: live["metadata"]["resourceVersion"].as_str(),
            propagation: self.held.terms.deletion.propagation,
        };
        let deleted = self.cluster().delete(&self.location, &deletion).await;
        if matches!(deleted, Ok(Deleted::Done | Deleted::Going(_)))
            && uid_of(live) != self.held.uid()
        {
            notices.push(messages::object::restored_and_deleted(self.held.key()));
        }
        let going = match deleted {
            Ok(Deleted::Done | Deleted::Absent(_)) => None,
            Ok(Deleted::Going(going)) => Some(going),
            // Changed since it was looked at, or is served elsewhere: look again.
            Ok(Deleted::OtherUid(_) | Deleted::NotServed(_)) => return Ok(Attempt::Conflict),
            Err(Error::Refused(status)) if status.rejection() == Rejection::Conflict => {
                return Ok(Attempt::Conflict);
            }
            Err(error) => return Err(self.not_deleted(&error, Some(live))),
        };
        let gone = match going {
            Some(going) => self.wait(&going, notices).await,
            None => Ok(()),
        };
        definitions::note_written(self.session, self.cluster(), &self.location);
        gone.map(Attempt::Done)
    }

    /// Accepts that the object is gone, if this is its cluster. A deletion is stricter than a refresh:
    /// Terraform passes no private state to the deletion of a tainted object. State of the Go provider,
    /// which has no UID, never had a cluster's either.
    fn confirm_gone(&self, other: Option<&str>) -> Result<(), Diagnostics> {
        match self.held.uid().is_empty() {
            true => Ok(()),
            false => self.opened.confirm_absence(self.held.key(), other),
        }
    }

    async fn wait(&self, going: &Json, notices: &mut Diagnostics) -> Result<(), Diagnostics> {
        let (key, terms) = (self.held.key(), &self.held.terms.deletion);
        let patience = terms.timeout.unwrap_or_else(|| patience_with(&key.gvk.kind));
        if patience.is_zero() {
            notices.push(messages::deletion::not_waited_for(key));
            return Ok(());
        }
        let Some(live) = self.departed(going, patience).await? else {
            return Ok(());
        };
        // What is not held by a finalizer, such as a namespace that is not empty, is not set free by
        // removing them.
        if terms.stuck == Stuck::Tell || !has_finalizers(&live) {
            let inside = match Vessel::of(&key.gvk) {
                Some(Vessel::Namespace) => blast::inside(self.cluster(), key).await,
                _ => String::new(),
            };
            return Err(messages::deletion::still_there(key, &live, &inside, patience).into());
        }
        if let Some(freed) = self.remove_finalizers(live).await? {
            notices.push(messages::deletion::finalizers_removed(key, &freed, patience));
        }
        match self.departed(going, AFTER_FORCE).await? {
            None => Ok(()),
            Some(live) => Err(messages::deletion::still_there_by_force(key, &live).into()),
        }
    }

    /// Removes the finalizers that the object had when it was read. Where somebody has written to it
    /// since, it is read again, so that only what is named in the warning goes. Answers with the object
    /// that lost them; with nothing if it lost them, or went, meanwhile.
    async fn remove_finalizers(&self, mut live: Json) -> Result<Option<Json>, Diagnostics> {
        let mut tries = Tries::of(self.held.key());
        loop {
            tries.begin()?;
            match self.cluster().remove_finalizers(&self.location, &live).await {
                Ok(()) => return Ok(Some(live)),
                Err(Error::Refused(status)) if status.rejection() == Rejection::Conflict => {}
                Err(error) => return Err(self.not_deleted(&error, Some(&live))),
            }
            let found = self.cluster().get(&self.location).await;
            live = match found.map_err(|error| self.not_deleted(&error, Some(&live)))? {
                Found::Object(now)
                    if uid_of(&now.object) == uid_of(&live) && has_finalizers(&now.object) =>
                {
                    now.object
                }
                Found::Object(_) | Found::Absent(_) | Found::NotServed(_) => return Ok(None),
            };
        }
    }

    /// Waits until the object is gone; the object as it was last seen, if it is not.
    async fn departed(
        &self,
        going: &Json,
        patience: Duration,
    ) -> Result<Option<Json>, Diagnostics> {
        let (cluster, key) = (self.cluster(), self.held.key());
        let deadline = Instant::now() + patience;
        let departure = cluster.wait_until_gone(&self.location, uid_of(going), deadline).await;
        let unknown = |error: Error| match error.is_interrupt() {
            true => messages::interrupted::deletion(key, going).into(),
            false => self.not_deleted(&error, None),
        };
        match departure.map_err(unknown)? {
            Departure::Gone => Ok(None),
            Departure::StillThere(live) => Ok(Some(live)),
            Departure::NotServed(_) => {
                match unserved(&Targets::from(cluster), &self.location, key).await? {
                    Unserved::Gone => Ok(None),
                    Unserved::Moved(_) => Err(messages::served::kind_unserved(key).into()),
                }
            }
        }
    }
}

/// How long is waited where `delete_timeout` says nothing.
fn patience_with(kind: &str) -> Duration {
    if SLOW.contains(&kind) { LONG_PATIENCE } else { PATIENCE }
}

fn has_finalizers(object: &Json) -> bool {
    object["metadata"]["finalizers"].as_array().is_some_and(|all| !all.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_takes_others_along_gets_longer_to_go() {
        let minutes = |kind| patience_with(kind).as_secs() / 60;
        assert_eq!(["Namespace", "PersistentVolumeClaim"].map(minutes), [10, 10]);
        assert_eq!(["ConfigMap", "Deployment", "Vault"].map(minutes), [5, 5, 5]);
    }
}
