//! Delete: only what is ours, and watched until it is gone.
//!
//! Ours is the object with the UID in state, unless it has the id of another state: that one has
//! taken it over, and it is left alone. Ours too is one with another UID and our id, as a restored
//! backup has, if the cluster is confirmed. The deletion carries uid and version of what was looked
//! at, so that nothing changes hands in between.

use std::sync::Arc;
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
use super::whose::{Whose, uid_of, whose};
use crate::cluster_identity::Opened;
use crate::look::{Unserved, unserved};
use crate::messages;
use crate::messages::blast::Fate;
use crate::messages::refusal::Subject;
use crate::object::terms::{Protection, Stuck};
use crate::plan_ledger::{Address, Fact, Name, PlannedAction};
use crate::resource::retry::Tries;
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
    let cluster = Arc::clone(&opened.cluster);
    let mut location = held.location(&cluster).await?;
    let targets = Targets::from(&*cluster);
    let not_deleted = |error, live: Option<&Json>| {
        let subject = Subject { manifest: &held.manifest, former: live };
        Diagnostics::from(messages::deletion::not_deleted(subject, &error))
    };
    let mut met = false;
    let mut tries = Tries::of(key);
    loop {
        tries.begin()?;
        let live = match cluster.get(&location).await.map_err(|error| not_deleted(error, None))? {
            Found::Object(answer) => answer.object,
            Found::Absent(_) if met => return Ok(()),
            Found::Absent(_) => return gone(&opened, &held, None),
            Found::NotServed(_) => match unserved(&targets, &location, key).await? {
                Unserved::Gone => return gone(&opened, &held, None),
                Unserved::Moved(at) => {
                    location = at;
                    continue;
                }
            },
        };
        match whose(&held, &live, opened.identity) {
            Whose::Ours => met = true,
            Whose::Restored => {}
            Whose::AnotherObject if met => return Ok(()),
            Whose::AnotherObject | Whose::Unconfirmed => {
                gone(&opened, &held, Some(uid_of(&live)))?;
                notices.push(messages::object::replaced_by_others(key));
                return Ok(());
            }
            Whose::AnotherState(id) if session.ledger.knows(&Fact::OwnId(id.clone())) => {
                notices.push(messages::object::taken_over_in_this_run(key));
                return Ok(());
            }
            Whose::AnotherState(id) => {
                notices.push(messages::object::taken_over(key, &id));
                return Ok(());
            }
        }
        // An object that was read here is tainted, and its own address creates it again.
        if session.ledger.is_adopted(uid_of(&live)) && !session.reads.has_read(held.id()) {
            return Err(messages::addresses::destroyed_and_made(key).into());
        }
        if held.model.adopt.known() != Some(&true) {
            session.ledger.note(Fact::Deleted(Name::new(cluster.host(), &location.key())));
        }
        let deletion = Deletion {
            uid: uid_of(&live),
            resource_version: live["metadata"]["resourceVersion"].as_str(),
            propagation: held.terms.deletion.propagation,
        };
        let deleted = cluster.delete(&location, &deletion).await;
        if matches!(deleted, Ok(Deleted::Done | Deleted::Going(_))) && uid_of(&live) != held.uid() {
            notices.push(messages::object::restored_and_deleted(key));
        }
        match deleted {
            Ok(Deleted::Done | Deleted::Absent(_)) => {
                definitions::note_written(session, &cluster, &location);
                return Ok(());
            }
            Ok(Deleted::Going(going)) => {
                let gone = wait(&cluster, &location, &held, &going, notices).await;
                definitions::note_written(session, &cluster, &location);
                return gone;
            }
            // Changed since it was looked at, or is served elsewhere: look again.
            Ok(Deleted::OtherUid(_) | Deleted::NotServed(_)) => {}
            Err(Error::Refused(status)) if status.rejection() == Rejection::Conflict => {}
            Err(error) => return Err(not_deleted(error, Some(&live))),
        }
    }
}

/// Accepts that the object is gone, if this is its cluster. A deletion is stricter than a refresh:
/// Terraform passes no private state to the deletion of a tainted object. State of the Go provider,
/// which has no UID, never had a cluster's either.
fn gone(opened: &Opened, held: &Held, other: Option<&str>) -> Result<(), Diagnostics> {
    match held.uid().is_empty() {
        true => Ok(()),
        false => opened.confirm_absence(held.key(), other),
    }
}

async fn wait(
    cluster: &Cluster,
    location: &Location,
    held: &Held,
    going: &Json,
    notices: &mut Diagnostics,
) -> Result<(), Diagnostics> {
    let key = held.key();
    let patience = held.terms.deletion.timeout.unwrap_or_else(|| patience_with(&key.gvk.kind));
    if patience.is_zero() {
        notices.push(messages::deletion::not_waited_for(key));
        return Ok(());
    }
    let Some(live) = departed(cluster, location, held, going, patience).await? else {
        return Ok(());
    };
    // What is not held by a finalizer, such as a namespace that is not empty, is not set free by
    // removing them.
    if held.terms.deletion.stuck == Stuck::Tell || !has_finalizers(&live) {
        let inside = match Vessel::of(&key.gvk) {
            Some(Vessel::Namespace) => blast::inside(cluster, key).await,
            _ => String::new(),
        };
        return Err(messages::deletion::still_there(key, &live, &inside, patience).into());
    }
    if let Some(freed) = remove_finalizers(cluster, location, held, live).await? {
        notices.push(messages::deletion::finalizers_removed(key, &freed, patience));
    }
    match departed(cluster, location, held, going, AFTER_FORCE).await? {
        None => Ok(()),
        Some(live) => Err(messages::deletion::still_there_by_force(key, &live).into()),
    }
}

/// Removes the finalizers that the object had when it was read. Where somebody has written to it
/// since, it is read again, so that only what is named in the warning goes. Answers with the object
/// that lost them; with nothing if it lost them, or went, meanwhile.
async fn remove_finalizers(
    cluster: &Cluster,
    location: &Location,
    held: &Held,
    mut live: Json,
) -> Result<Option<Json>, Diagnostics> {
    let mut tries = Tries::of(held.key());
    loop {
        tries.begin()?;
        let not_deleted = |error| {
            let subject = Subject { manifest: &held.manifest, former: Some(&live) };
            messages::deletion::not_deleted(subject, &error)
        };
        match cluster.remove_finalizers(location, &live).await {
            Ok(()) => return Ok(Some(live)),
            Err(Error::Refused(status)) if status.rejection() == Rejection::Conflict => {}
            Err(error) => return Err(not_deleted(error).into()),
        }
        let now = match cluster.get(location).await.map_err(not_deleted)? {
            Found::Object(now) if uid_of(&now.object) == uid_of(&live) => now.object,
            Found::Object(_) | Found::Absent(_) | Found::NotServed(_) => return Ok(None),
        };
        if !has_finalizers(&now) {
            return Ok(None);
        }
        live = now;
    }
}

/// Waits until the object is gone; the object as it was last seen, if it is not.
async fn departed(
    cluster: &Cluster,
    location: &Location,
    held: &Held,
    going: &Json,
    patience: Duration,
) -> Result<Option<Json>, Diagnostics> {
    let deadline = Instant::now() + patience;
    let departure = cluster.wait_until_gone(location, uid_of(going), deadline).await;
    let unknown = |error: Error| match error.is_interrupt() {
        true => messages::interrupted::deletion(held.key(), going),
        false => messages::deletion::not_deleted((&held.manifest).into(), &error),
    };
    match departure.map_err(unknown)? {
        Departure::Gone => Ok(None),
        Departure::StillThere(live) => Ok(Some(live)),
        Departure::NotServed(_) => {
            match unserved(&Targets::from(cluster), location, held.key()).await? {
                Unserved::Gone => Ok(None),
                Unserved::Moved(_) => Err(messages::served::kind_unserved(held.key()).into()),
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
