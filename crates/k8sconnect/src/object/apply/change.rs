//! Writing an object that state holds.

use std::borrow::Cow;

use k8sconnect_cluster::{Answer, Conflicts, Error, Found, Location, Observation};
use k8sconnect_core::outgoing::{Guard, Outgoing};
use k8sconnect_core::owners::Owners;
use k8sconnect_core::plan::Planner;
use k8sconnect_core::rejection::Rejection;
use k8sconnect_core::spelling::{Respellings, respell};
use serde_json::Value as Json;
use tfplugin::Diagnostics;

use super::ObjectApply;
use crate::messages::ownership::Whose;
use crate::messages::refusal::{Subject, not_changed};
use crate::object::held::Held;
use crate::object::read::seen_of;
use crate::read_cache::ObjectWrite;
use crate::resource::live::{NamesObject, uid_of, version_of};
use crate::resource::retry::Tries;
use crate::{MANAGER, messages};

/// Applies the manifest. The write carries the version of the object that the plan has seen, or that was
/// read for the ignored fields. If another manager writes in between, the object is read again, and the
/// fields that the write takes are reported.
pub(super) async fn make(
    work: &ObjectApply<'_>,
    held: &Held,
    location: &Location,
    notices: &mut Diagnostics,
) -> Result<Answer, Diagnostics> {
    if held.is_untouched() {
        return first(work, held, location).await;
    }
    let ObjectWrite { live, mut spelling, mut version } =
        work.session.reads.take_object_write(held.id());
    let mut seen = match live {
        None if work.terms.ignores_any() => Some(look(work, location).await?),
        live => live,
    };
    let mut is_reread = false;
    let mut tries = Tries::of(work.manifest.key());
    loop {
        tries.begin()?;
        version = seen.as_ref().and_then(version_of).or(version);
        let content = content(work, held, location, seen.as_ref(), spelling.as_ref()).await?;
        let guard = match &version {
            Some(resource_version) => Guard::Version { uid: held.uid(), resource_version },
            None => Guard::Uid(held.uid()),
        };
        let error = match work.write(location, content, held.id(), guard).await {
            Ok(answer) => {
                if let Some(live) = seen.filter(|_| is_reread) {
                    notices.extend(taken(work, held, &live, &answer.object));
                }
                return Ok(answer);
            }
            Err(error) => error,
        };
        if rejection(&error) != Rejection::Conflict {
            return Err(not_written(work, held, location, seen, &error).await);
        }
        seen = Some(look(work, location).await?);
        (spelling, is_reread) = (None, true);
    }
}

/// What the write has taken from managers that wrote after the plan.
fn taken(work: &ObjectApply<'_>, held: &Held, live: &Json, answer: &Json) -> Diagnostics {
    let (ignoring, _) = work.terms.ignoring(&work.manifest, &held.stored.yielded);
    let planner = Planner { manager: MANAGER, ignoring: &ignoring };
    match planner.decide(&work.manifest, Some(held.prior()), Some(live), answer) {
        Ok(decision) => {
            messages::ownership::reports(work.manifest.key(), &decision.changes, Whose::Object)
        }
        // What the answer says of owners is read once more, for private state.
        Err(_) => Diagnostics::new(),
    }
}

fn rejection(error: &Error) -> Rejection {
    match error {
        Error::Refused(status) => status.rejection(),
        _ => Rejection::Other,
    }
}

/// What is reported of a write that failed.
async fn not_written(
    work: &ObjectApply<'_>,
    held: &Held,
    location: &Location,
    seen: Option<Json>,
    error: &Error,
) -> Diagnostics {
    let seen = match rejection(error) {
        // Who owns the fields now is asked again.
        Rejection::FieldConflicts(_) => match look(work, location).await {
            Ok(live) => Some(live),
            Err(problems) => return problems,
        },
        Rejection::AnotherObject | Rejection::NamespaceMissing | Rejection::NamespaceGoing
            if matches!(work.cluster.get(location).await, Ok(Found::Absent(_))) =>
        {
            return messages::object::gone_meanwhile(work.manifest.key()).into();
        }
        _ => seen,
    };
    let former = seen.as_ref().unwrap_or(held.manifest.value());
    not_changed(Subject { manifest: &work.manifest, former: Some(former) }, error).into()
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
