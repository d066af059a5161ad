//! Delete: every field goes back to those who held it, and our manager goes. The object stays.
//!
//! It is one guarded write. Whoever comes too late, because somebody else wrote or because an
//! earlier try was answered and the answer lost, reads again: where nothing of ours is left, there
//! is nothing to do.

use k8sconnect_cluster::{Edit, Error, Found, Location, Mark, Targets};
use k8sconnect_core::handback::{Handback, Leaving, hand_back};
use k8sconnect_core::identity::{ObjectKey, patch_annotation};
use k8sconnect_core::owners::Owners;
use k8sconnect_core::patch::manager_of;
use k8sconnect_core::rejection::Rejection;
use serde_json::Value as Json;
use tfplugin::{Delete, Diagnostics, PlanDestroy, Private};

use super::elsewhere::Elsewhere;
use super::in_state::PatchInState;
use super::model::PatchModel;
use super::note::Note;
use super::outlook;
use super::plan::{ReadFor, enter_kept, look};
use crate::look::{Unserved, unserved};
use crate::messages;
use crate::resource::live::{NamesObject, uid_of, version_of};
use crate::resource::retry::{Attempt, Tries};
use crate::session::Session;

pub(crate) async fn plan(
    session: &Session,
    request: PlanDestroy<PatchModel>,
    notices: &mut Diagnostics,
) -> Result<Private, Diagnostics> {
    let held = PatchInState::load(request.prior, &request.private)?;
    let opened = session.open_in_state(held.recorded(), notices).await?;
    if let Some(opened) = opened.filter(|_| held.stored.unread) {
        let targets = Targets::from(&*opened.cluster);
        let found = look(session, &targets, &held.key, ReadFor::Reconnected(&held)).await?;
        held.confirm(&opened, found.as_ref().map(|(_, live, _)| live))?;
    }
    // A new patch that takes its fields in the same run cannot know whether it is destroyed first.
    enter_kept(session, &held)?;
    notices.extend(outlook::end(session, &held).await);
    Ok(request.private)
}

pub(crate) async fn delete(
    session: &Session,
    request: Delete<PatchModel>,
    notices: &mut Diagnostics,
) -> Result<(), Diagnostics> {
    let held = PatchInState::load(request.prior, &request.private)?;
    let key = &held.key;
    let opened = session.open_in_state(held.recorded(), notices).await?;
    let opened = opened.ok_or_else(messages::connection::missing)?;
    let targets = Targets::from(&*opened.cluster);
    let location = held.location(&targets).await?;
    let mut tries = Tries::of(key);
    loop {
        tries.begin()?;
        let found = targets.get(&location).await;
        let live = match found.map_err(|error| messages::patch::not_handed_back(key, &error))? {
            Found::Object(answer) => answer.object,
            Found::Absent(_) => return held.confirm(&opened, None),
            Found::NotServed(_) => match unserved(&targets, &location, key).await? {
                Unserved::Gone => return held.confirm(&opened, None),
                Unserved::Moved(at) => {
                    return Err(messages::served::target_moved(key, &at.kind.gvk).into());
                }
            },
        };
        held.confirm(&opened, Some(&live))?;
        let former = held.former(&live);
        if let Attempt::Done(()) = end(&targets, &location, key, &live, held.id(), &former).await? {
            return Ok(());
        }
    }
}

/// Ends the patch with this id on an object: its fields go back, and its note goes.
pub(crate) async fn end(
    targets: &Targets,
    location: &Location,
    key: &ObjectKey,
    live: &Json,
    id: &str,
    former: &Owners,
) -> Result<Attempt<()>, Diagnostics> {
    let owners = Owners::of_object(live).naming(key)?;
    let (manager, annotation) = (manager_of(id), patch_annotation(id));
    let mark = Mark::Removed { annotation: &annotation };
    let elsewhere = Elsewhere::read(targets, location, former).await;
    let elsewhere = elsewhere.map_err(|error| messages::patch::not_handed_back(key, &error))?;
    let Some(readings) = elsewhere.beside(live) else {
        return Ok(Attempt::Conflict);
    };
    let released = match hand_back(&owners, &manager, former, Leaving::All, readings) {
        Some(back) => release(targets, location, key, live, &back, mark, &manager).await?,
        // Others took everything meanwhile; only the note is left.
        None if Note::is_on(live, id) => {
            let edit = Edit { read: live, managed_fields: None, mark };
            let is_done = |now: &Json| !Note::is_on(now, id);
            edited(targets, location, key, &edit, &manager, is_done).await?
        }
        None => return Ok(Attempt::Done(())),
    };
    Ok(if released.is_some() { Attempt::Done(()) } else { Attempt::Conflict })
}

/// Hands fields back in one write; the object after it, or `None` if somebody wrote in between.
pub(crate) async fn release(
    targets: &Targets,
    location: &Location,
    key: &ObjectKey,
    live: &Json,
    back: &Handback,
    mark: Mark<'_>,
    manager: &str,
) -> Result<Option<Json>, Diagnostics> {
    let list = back.owners.to_managed_fields();
    let edit = Edit { read: live, managed_fields: Some(&list), mark };
    let is_done = |now: &Json| {
        Owners::of_object(now).is_ok_and(|owners| back.is_done(&owners, manager))
            && version_of(now) != version_of(live)
    };
    let edited = edited(targets, location, key, &edit, manager, is_done).await?;
    let Some(answer) = edited else {
        return Ok(None);
    };
    if !back.is_done(&Owners::of_object(&answer).naming(key)?, manager) {
        return Err(messages::patch::hand_back_ignored(key).into());
    }
    Ok(Some(answer))
}

/// The object after an edit; `None` if it was not the one that was read any more. Where the server
/// does not say whether it was made, the object tells.
async fn edited(
    targets: &Targets,
    location: &Location,
    key: &ObjectKey,
    edit: &Edit<'_>,
    manager: &str,
    is_done: impl Fn(&Json) -> bool,
) -> Result<Option<Json>, Diagnostics> {
    let error = match targets.release(location, edit, manager).await {
        Ok(answer) => return Ok(Some(answer.object)),
        Err(Error::Refused(status)) if is_disturbance(&status.rejection()) => return Ok(None),
        Err(error) => error,
    };
    match targets.read_after_ambiguous_write(location, &error).await {
        Some(Found::Absent(_)) => Ok(None),
        Some(Found::Object(now)) if uid_of(&now.object) != uid_of(edit.read) => Ok(None),
        Some(Found::Object(now)) if is_done(&now.object) => Ok(Some(now.object)),
        _ => Err(messages::patch::not_handed_back(key, &error).into()),
    }
}

/// A failed test of the uid is an invalid request without causes; gone is gone. The next look
/// tells which.
fn is_disturbance(rejection: &Rejection) -> bool {
    match rejection {
        Rejection::Conflict | Rejection::AnotherObject | Rejection::NotFound => true,
        Rejection::Invalid(causes) => causes.is_empty(),
        _ => false,
    }
}
