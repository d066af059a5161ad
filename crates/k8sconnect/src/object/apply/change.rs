//! Writing an object that state holds.

use std::borrow::Cow;

use k8sconnect_cluster::{Answer, Conflicts, Error, Found, Location, Observation};
use k8sconnect_core::outgoing::{Guard, Outgoing};
use k8sconnect_core::owners::Owners;
use k8sconnect_core::plan::Planner;
use k8sconnect_core::rejection::{Rejection, Status};
use k8sconnect_core::spelling::{Respellings, respell};
use serde_json::Value as Json;
use tfplugin::Diagnostics;

use super::ObjectApply;
use crate::messages::refusal::{Subject, not_changed, refused};
use crate::object::held::Held;
use crate::object::read::seen_of;
use crate::read_cache::ObjectWrite;
use crate::resource::live::{NamesObject, uid_of};
use crate::resource::retry::{Attempt, Tries};
use crate::{MANAGER, messages};

/// Applies the manifest. Where fields are ignored, what they hold is read right before and the
/// write carries the version that was read: whoever changes them in between is not robbed, the
/// write is begun anew.
pub(super) async fn make(
    work: &ObjectApply<'_>,
    held: &Held,
    location: &Location,
) -> Result<Answer, Diagnostics> {
    let key = work.manifest.key();
    if held.is_untouched() {
        return first(work, held, location).await;
    }
    // The plan that this process has just made knows who holds what.
    let ObjectWrite { mut live, spelling: shared } =
        work.session.reads.take_object_write(held.id());
    if !work.terms.ignores_any() {
        let content = content(work, held, location, None, shared.as_ref()).await?;
        let written = work.write(location, content, held.id(), Guard::Uid(held.uid())).await;
        let former = Subject { manifest: &work.manifest, former: Some(held.manifest.value()) };
        if let Err(Error::Refused(status)) = &written
            && is_miss(status)
            && matches!(work.cluster.get(location).await, Ok(Found::Absent(_)))
        {
            return Err(messages::object::gone_meanwhile(key).into());
        }
        return match written {
            // Who holds the fields is asked anew: nothing was read for this write.
            Err(Error::Refused(status))
                if matches!(status.rejection(), Rejection::FieldConflicts(_)) =>
            {
                let live = look(work, location).await?;
                let subject = Subject { manifest: &work.manifest, former: Some(&live) };
                Err(refused(subject, &status).into())
            }
            written => written.map_err(|error| not_changed(former, &error).into()),
        };
    }
    let mut tries = Tries::of(key);
    loop {
        tries.begin()?;
        let seen = match live.take() {
            Some(seen) => seen,
            None => look(work, location).await?,
        };
        let resource_version = seen["metadata"]["resourceVersion"].as_str().unwrap_or_default();
        let guard = Guard::Version { uid: held.uid(), resource_version };
        let content = content(work, held, location, Some(&seen), shared.as_ref()).await?;
        let written = work.write(location, content, held.id(), guard).await;
        if let Attempt::Done(answer) = work.attempted(written, &seen)? {
            return Ok(answer);
        }
    }
}

/// The first write after an import takes the fields over, as an adoption does.
async fn first(
    work: &ObjectApply<'_>,
    held: &Held,
    location: &Location,
) -> Result<Answer, Diagnostics> {
    let changed = || messages::object::changed_meanwhile(work.manifest.key());
    let live = look(work, location).await?;
    if uid_of(&live) != held.uid() {
        return Err(changed().into());
    }
    let taken = super::creation::take_over(work, location, held.id(), live).await?;
    taken.ok_or_else(|| changed().into())
}

/// The content to send. `shared` are the leaves that other managers co-own, in the spelling of the
/// dry-run that this process has sent. If the plan sent no dry-run, this function does.
async fn content(
    work: &ObjectApply<'_>,
    held: &Held,
    location: &Location,
    live: Option<&Json>,
    shared: Option<&Respellings>,
) -> Result<Json, Diagnostics> {
    let key = work.manifest.key();
    let mut seen = held.stored.yielded.clone();
    if let Some(live) = live {
        for (name, fields) in seen_of(&work.terms, &Owners::of_object(live).naming(key)?) {
            seen.entry(name).or_insert(fields);
        }
    }
    let (ignoring, _) = work.terms.ignoring(&work.manifest, &seen);
    let planner = Planner { manager: MANAGER, ignoring: &ignoring };
    let mut content = planner.content(&work.manifest, live).naming(key)?;
    if let Some(shared) = shared {
        respell(&mut content, shared);
        return Ok(content);
    }
    let namespace = location.namespace.as_deref();
    let (id, guard) = (Some(held.id()), Guard::Uid(held.uid()));
    let body = Outgoing { content: content.clone(), namespace, id, guard }.body();
    // The write reports a refusal.
    if let Ok(Observation::Answered(answer)) =
        work.cluster.observe(location, MANAGER, &body, Conflicts::Force).await
        && let respelt = planner.respelt(&content, &answer.object).naming(key)?
        && !respelt.is_empty()
    {
        let live = match live {
            Some(live) => Cow::Borrowed(live),
            None => Cow::Owned(look(work, location).await?),
        };
        respell(&mut content, &planner.shared(respelt, &live).naming(key)?);
    }
    Ok(content)
}

async fn look(work: &ObjectApply<'_>, location: &Location) -> Result<Json, Diagnostics> {
    let key = work.manifest.key();
    let found = work.cluster.get(location).await;
    match found.map_err(|error| messages::refusal::unanswered(key, &error))? {
        Found::Object(answer) => Ok(answer.object),
        Found::Absent(_) => Err(messages::object::gone_meanwhile(key).into()),
        Found::NotServed(_) => Err(messages::served::kind_unserved(key).into()),
    }
}

/// Whether a write may have been refused because its object is not there.
fn is_miss(status: &Status) -> bool {
    matches!(
        status.rejection(),
        Rejection::Conflict
            | Rejection::AnotherObject
            | Rejection::NamespaceMissing
            | Rejection::NamespaceGoing
    )
}
