//! Making an object that state does not hold, or taking over the one that is there.

use k8sconnect_cluster::{
    Answer, Conflicts, Departure, Edit, Error, Found, Kind, Location, Mark, NotYet, Observation,
    Placed,
};
use k8sconnect_core::adoption;
use k8sconnect_core::identity::ID_ANNOTATION;
use k8sconnect_core::outgoing::{Guard, Outgoing};
use k8sconnect_core::owners::Owners;
use k8sconnect_core::plan::Planner;
use k8sconnect_core::rejection::Rejection;
use k8sconnect_core::spelling::respell;
use serde_json::Value as Json;
use tfplugin::Diagnostics;
use tokio::time::Instant;

use super::ObjectApply;
use crate::apply_slots::{Slot, SlotsExhausted};
use crate::messages::addresses::Stage;
use crate::messages::refusal::{Subject, not_created, not_taken, refused};
use crate::object::obstacle::Obstacle;
use crate::object::read::seen_of;
use crate::object::terms::Adoption;
use crate::place::{location, place};
use crate::plan_ledger::{Fact, Name, Target};
use crate::resource::live::{NamesObject, uid_of};
use crate::resource::retry::{Attempt, Tries};
use crate::{MANAGER, messages};

pub(super) struct Made {
    pub(super) id: String,
    pub(super) location: Location,
    pub(super) answer: Answer,
}

/// Creates the object. What it needs and is not there yet is waited for, all in all as long as the
/// terms allow; anything else that the server refuses is an error at once.
pub(super) async fn make(work: &ObjectApply<'_>) -> Result<Made, Diagnostics> {
    let deadline = Instant::now() + work.terms.apply_timeout();
    let mut slot = work.session.slots.take();
    let id = uuid::Uuid::new_v4().to_string();
    let (host, key) = (work.cluster.host(), work.manifest.key());
    let ledger = &work.session.ledger;
    ledger.note(Fact::OwnId(id.clone()));
    let name = |key| Target::Name(Name::new(host, key));
    let kind = kind(work, &mut slot, deadline).await;
    // Where the kind was not there yet, it was planned under the name as it is written.
    ledger.end_creation([name(key)]);
    let location = location(kind?, key);
    let answer = write(work, &mut slot, &id, &location, deadline).await;
    ledger.end_creation([name(&location.key())]);
    let answer = answer?;
    ledger.end_creation([Target::Object(uid_of(&answer.object).to_owned())]);
    Ok(Made { answer, id, location })
}

async fn write(
    work: &ObjectApply<'_>,
    slot: &mut Slot<'_>,
    id: &str,
    location: &Location,
    deadline: Instant,
) -> Result<Answer, Diagnostics> {
    loop {
        let content = work.manifest.as_applied().into_owned();
        let error = match work.write(location, content, id, Guard::Absent).await {
            Ok(answer) => return Ok(answer),
            Err(error) => error,
        };
        let status = match &error {
            Error::Refused(status) if !status.leaves_open() => status,
            _ => return Err(not_created(&work.manifest, &error).into()),
        };
        match status.rejection() {
            Rejection::NamespaceMissing => namespace(work, slot, location, deadline).await?,
            Rejection::Conflict => {
                if let Some(answer) = in_the_way(work, location, id, deadline).await? {
                    return Ok(answer);
                }
            }
            _ => return Err(refused(&work.manifest, status).into()),
        }
        if Instant::now() >= deadline {
            return Err(refused(&work.manifest, status).into());
        }
    }
}

async fn kind(
    work: &ObjectApply<'_>,
    slot: &mut Slot<'_>,
    deadline: Instant,
) -> Result<Kind, Diagnostics> {
    let key = work.manifest.key();
    let why = match place(&work.cluster, key).await? {
        Placed::At(kind) => return Ok(kind),
        Placed::NotYet(why) => why,
    };
    let arrived = wait(work, slot, &why, work.cluster.await_kind(&key.gvk, deadline)).await?;
    arrived.ok_or_else(|| {
        messages::object::not_there_at_apply(key, &why, work.terms.apply_timeout()).into()
    })
}

async fn namespace(
    work: &ObjectApply<'_>,
    slot: &mut Slot<'_>,
    location: &Location,
    deadline: Instant,
) -> Result<(), Diagnostics> {
    let key = work.manifest.key();
    let name = location.namespace.clone().unwrap_or_default();
    let why = NotYet::Namespace { name: name.clone() };
    if wait(work, slot, &why, work.cluster.await_namespace(&name, deadline)).await? {
        return Ok(());
    }
    Err(messages::object::not_there_at_apply(key, &why, work.terms.apply_timeout()).into())
}

/// Waits for what does not exist yet, unless all slots of the apply wait.
async fn wait<T>(
    work: &ObjectApply<'_>,
    slot: &mut Slot<'_>,
    why: &NotYet,
    arrival: impl Future<Output = Result<T, Error>>,
) -> Result<T, Diagnostics> {
    let key = work.manifest.key();
    let began = Instant::now();
    let arrived = match work.terms.chooses_timeout() {
        true => Ok(arrival.await),
        false => slot.wait(arrival).await,
    };
    let arrived = arrived
        .map_err(|SlotsExhausted| messages::object::slots_exhausted(key, why, began.elapsed()))?;
    arrived.map_err(|error| match error.is_interrupt() {
        true => messages::interrupted::creation(key, why).into(),
        false => messages::refusal::unanswered(key, &error).into(),
    })
}

/// Deals with the object that stands in the way of a creation: our own, if an earlier try was
/// answered and the answer lost; one that is going; one to be taken over. `None` means: try again.
async fn in_the_way(
    work: &ObjectApply<'_>,
    location: &Location,
    id: &str,
    deadline: Instant,
) -> Result<Option<Answer>, Diagnostics> {
    let key = work.manifest.key();
    let found = work.cluster.get(location).await;
    let answer = match found.map_err(|error| messages::refusal::unanswered(key, &error))? {
        Found::Object(answer) => answer,
        Found::Absent(_) | Found::NotServed(_) => return Ok(None),
    };
    let metadata = &answer.object["metadata"];
    if metadata["annotations"][ID_ANNOTATION] == id {
        return Ok(Some(answer));
    }
    let other = metadata["annotations"][ID_ANNOTATION].as_str().unwrap_or_default();
    if work.session.ledger.knows(&Fact::OwnId(other.to_owned())) {
        return Err(messages::addresses::made_twice(key).into());
    }
    if !metadata["deletionTimestamp"].is_null() {
        let uid = uid_of(&answer.object);
        let departure = work.cluster.wait_until_gone(location, uid, deadline).await;
        let unknown = |error: Error| match error.is_interrupt() {
            true => messages::interrupted::recreation(key, &answer.object),
            false => messages::refusal::unanswered(key, &error),
        };
        return match departure.map_err(unknown)? {
            Departure::StillThere(live) => {
                Err(messages::object::predecessor_stays(key, &live, work.terms.apply_timeout())
                    .into())
            }
            Departure::Gone | Departure::NotServed(_) => Ok(None),
        };
    }
    let live = answer.object;
    let refused = match work.terms.adoption {
        Adoption::TakeOver if !work.session.ledger.is_adopted(uid_of(&live)) => {
            return Err(messages::addresses::appeared(key, &live).into());
        }
        Adoption::TakeOver => match take_over(work, location, id, live.clone()).await {
            Ok(taken) => return Ok(taken),
            Err(refused) => refused,
        },
        Adoption::Refuse => messages::addresses::exists(&work.manifest, &live, Stage::Apply).into(),
    };
    let (cluster, conflicts) = (&work.cluster, work.terms.conflicts);
    let obstacle = Obstacle::of(cluster, &work.manifest, conflicts, location, &live).await;
    match obstacle {
        Ok(Some(obstacle)) => {
            let subject = Subject { manifest: &work.manifest, former: Some(&live) };
            Err(messages::addresses::cannot_follow(subject, &live, obstacle.words()).into())
        }
        Ok(None) | Err(_) => Err(refused),
    }
}

/// Takes over the object that was read; `None` if it is gone meanwhile.
pub(super) async fn take_over(
    work: &ObjectApply<'_>,
    location: &Location,
    id: &str,
    mut live: Json,
) -> Result<Option<Answer>, Diagnostics> {
    let key = work.manifest.key();
    let mut tries = Tries::of(key);
    loop {
        tries.begin()?;
        let written = attempt(work, location, id, &live).await?;
        if let Attempt::Done(answer) = work.attempted(written, &live)? {
            return Ok(Some(answer));
        }
        let found = work.cluster.get(location).await;
        match found.map_err(|error| messages::refusal::unanswered(key, &error))? {
            Found::Object(answer) => live = answer.object,
            Found::Absent(_) | Found::NotServed(_) => return Ok(None),
        }
    }
}

/// Claims what kubectl's client-side entries hold of our leaves, then applies.
async fn attempt(
    work: &ObjectApply<'_>,
    location: &Location,
    id: &str,
    live: &Json,
) -> Result<Result<Answer, Error>, Diagnostics> {
    let key = work.manifest.key();
    let owners = Owners::of_object(live).naming(key)?;
    let (ignoring, _) = work.terms.ignoring(&work.manifest, &seen_of(&work.terms, &owners));
    let planner = Planner { manager: MANAGER, ignoring: &ignoring };
    let mut content = planner.content(&work.manifest, Some(live)).naming(key)?;
    let guard = Guard::Uid(uid_of(live));
    let namespace = location.namespace.as_deref();
    let body = Outgoing { content: content.clone(), namespace, id: Some(id), guard }.body();
    let observed = work.cluster.observe(location, MANAGER, &body, Conflicts::Force).await;
    let answer = match observed {
        Ok(Observation::Answered(answer)) => answer,
        Ok(Observation::Refused(status)) if status.rejection() == Rejection::Conflict => {
            return Ok(Err(Error::Refused(status)));
        }
        Ok(Observation::Refused(status)) => return Err(refused(&work.manifest, &status).into()),
        Ok(_) => return Err(messages::object::changed_meanwhile(key).into()),
        // Nothing was written yet.
        Err(error) => return Err(not_taken(&work.manifest, &error).into()),
    };
    let after = Owners::of_object(&answer.object).naming(key)?;
    let ours = after.applied_by(MANAGER);
    let api_version = key.gvk.api_version();
    // Where nobody is on record, the first apply puts `before-first-apply` there for all that is.
    let before = if owners.0.is_empty() { &after } else { &owners };
    if let Some(claimed) = adoption::claim(before, MANAGER, &ours, &api_version) {
        let list = claimed.to_managed_fields();
        let edit = Edit { read: live, managed_fields: Some(&list), mark: Mark::AsItIs };
        if let Err(error) = work.cluster.replace_owners(location, &edit, MANAGER).await {
            return Ok(Err(error));
        }
    }
    let respelt = planner.respelt(&content, &answer.object).naming(key)?;
    respell(&mut content, &planner.shared(respelt, live).naming(key)?);
    Ok(work.write(location, content, id, guard).await)
}
