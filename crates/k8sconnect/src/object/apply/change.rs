//! Writing an object that state holds.

use k8sconnect_cluster::{Answer, Error, Found, Location};
use k8sconnect_core::outgoing::Guard;
use k8sconnect_core::owners::Owners;
use k8sconnect_core::plan::Planner;
use k8sconnect_core::projection::Texts;
use k8sconnect_core::rejection::Rejection;
use k8sconnect_core::spelling;
use serde_json::Value as Json;
use tfplugin::Diagnostics;

use super::Work;
use crate::messages::refusal::{Deed, Subject, not_written, refused};
use crate::object::held::Held;
use crate::object::home;
use crate::object::read::seen_of;
use crate::{MANAGER, messages};

/// How often a write that others disturb is begun anew.
const TRIES: usize = 20;

/// Applies the manifest. Where fields are ignored, what they hold is read right before and the
/// write carries the version that was read: whoever changes them in between is not robbed, the
/// write is begun anew.
pub(super) async fn make(
    work: &Work<'_>,
    held: &Held,
    location: &Location,
) -> Result<Answer, Diagnostics> {
    let key = work.manifest.key();
    if held.is_untouched() {
        return first(work, held, location).await;
    }
    // The plan that this process has just made knows who holds what.
    let shared = work.session.memory.recall_spelling(held.id());
    if !work.terms.ignores_any() {
        let planner = held.planner();
        let mut content = planner
            .content(&work.manifest, Some(held.prior()), None)
            .map_err(|error| messages::object::ownership_unreadable(key, &error))?;
        spelling::as_it_stands(&mut content, &shared);
        let written = work.write(location, content, held.id(), Guard::Uid(held.uid())).await;
        let former = Subject { manifest: &work.manifest, former: Some(held.manifest.value()) };
        if let Err(Error::Refused(status)) = &written
            && home::is_miss(status)
        {
            home::missed_at_home(&work.cluster, held).await?;
            if matches!(work.cluster.get(location).await, Ok(Found::Absent(_))) {
                return Err(messages::object::gone_meanwhile(key).into());
            }
        }
        return match written {
            // Who holds the fields is asked anew: nothing was read for this write.
            Err(Error::Refused(status))
                if matches!(status.rejection(), Rejection::FieldConflicts(_)) =>
            {
                let live = look(work, held, location).await?;
                let subject = Subject { manifest: &work.manifest, former: Some(&live) };
                Err(refused(subject, &status).into())
            }
            written => written.map_err(|error| not_written(former, &error, Deed::Change).into()),
        };
    }
    let mut live = work.session.memory.recall_for_write(held.id());
    for _ in 0..TRIES {
        let seen = match live.take() {
            Some(seen) => seen,
            None => look(work, held, location).await?,
        };
        match attempt(work, held, location, &seen, &shared).await? {
            Ok(answer) => return Ok(answer),
            Err(Error::Refused(status)) if status.rejection() == Rejection::Conflict => {}
            Err(error) => {
                let former = Subject { manifest: &work.manifest, former: Some(&seen) };
                return Err(not_written(former, &error, Deed::Change).into());
            }
        }
    }
    Err(messages::object::never_still(key).into())
}

/// The first write after an import takes the fields over, as an adoption does.
async fn first(work: &Work<'_>, held: &Held, location: &Location) -> Result<Answer, Diagnostics> {
    let changed = || messages::object::changed_meanwhile(work.manifest.key());
    let live = look(work, held, location).await?;
    if live["metadata"]["uid"].as_str() != Some(held.uid()) {
        return Err(changed().into());
    }
    let taken = super::creation::take_over(work, location, held.id(), live).await?;
    taken.ok_or_else(|| changed().into())
}

async fn attempt(
    work: &Work<'_>,
    held: &Held,
    location: &Location,
    live: &Json,
    shared: &Texts,
) -> Result<Result<Answer, Error>, Diagnostics> {
    let key = work.manifest.key();
    let unreadable = |error| messages::object::ownership_unreadable(key, &error);
    let mut seen = held.stored.yielded.clone();
    for (name, fields) in seen_of(&work.terms, &Owners::of_object(live).map_err(unreadable)?) {
        seen.entry(name).or_insert(fields);
    }
    let (ignoring, _) = work.terms.ignoring(&work.manifest, &seen);
    let planner = Planner { manager: MANAGER, ignoring: &ignoring };
    let mut content =
        planner.content(&work.manifest, Some(held.prior()), Some(live)).map_err(unreadable)?;
    spelling::as_it_stands(&mut content, shared);
    let resource_version = live["metadata"]["resourceVersion"].as_str().unwrap_or_default();
    let guard = Guard::Version { uid: held.uid(), resource_version };
    Ok(work.write(location, content, held.id(), guard).await)
}

async fn look(work: &Work<'_>, held: &Held, location: &Location) -> Result<Json, Diagnostics> {
    let key = work.manifest.key();
    let found = work.cluster.get(location).await;
    match found.map_err(|error| messages::refusal::unanswered(key, &error))? {
        Found::Object(answer) => Ok(answer.object),
        Found::Absent(_) => {
            home::missed_at_home(&work.cluster, held).await?;
            Err(messages::object::gone_meanwhile(key).into())
        }
        Found::NotServed(_) => Err(messages::served::kind_unserved(key).into()),
    }
}
