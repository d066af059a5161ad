//! A change was refused: is it one that the object can never take?

use k8sconnect_cluster::{Location, NotYet, Observation};
use k8sconnect_core::field::{FieldPath, PathElement};
use k8sconnect_core::immutable::{self, Succession, Suspicion, Trial, Verdict};
use k8sconnect_core::manifest::Manifest;
use k8sconnect_core::outgoing::Guard;
use k8sconnect_core::owners::Owners;
use k8sconnect_core::rejection::Status;
use serde_json::Value as Json;
use tfplugin::Diagnostics;

use super::Asked;
use crate::messages::refusal::Subject;
use crate::object::held::Held;
use crate::{MANAGER, messages};

/// What follows from the refusal of a change.
pub(super) enum Refusal {
    /// The object must be replaced; the warning that says so.
    Replace(tfplugin::Diagnostic),
    Error(Diagnostics),
}

/// Tries the former body on the object, and the new one beside it.
pub(super) async fn weigh(
    asked: &Asked<'_>,
    held: &Held,
    location: &Location,
    live: Option<&Json>,
    refused: &Status,
) -> Result<Refusal, Diagnostics> {
    let desired = asked.desired;
    let subject = Subject { manifest: desired, former: live };
    let mistake = || Refusal::Error(messages::refusal::refused(subject, refused).into());
    if desired.is_same_body(&held.manifest) {
        return Ok(mistake());
    }
    let suspects = match immutable::suspects(refused, desired.value()) {
        Suspicion::Fields(causes) => causes,
        Suspicion::None => return Ok(mistake()),
        Suspicion::Emptied(cause, how) => {
            let error = messages::refusal::emptied(subject, refused, &cause, how);
            return Ok(Refusal::Error(error.into()));
        }
    };
    let former = held
        .planner()
        .former_content(held.prior(), live)
        .map_err(|error| messages::object::ownership_unreadable(asked.key(), &error))?;
    let guard = Guard::Uid(held.uid());
    let former = match former {
        Some(former) => trial(asked.observe(location, former, Some(held.id()), guard).await?),
        // Gone meanwhile, and its body was never stored.
        None => Trial::Refused(Box::default()),
    };
    let creation = beside(asked, location).await?;
    Ok(match immutable::judge(suspects, &former, &creation) {
        Verdict::Immutable(causes) => {
            asked.session.memory.note_replaceable(held.uid());
            // Of a body that is never stored, the former is not known.
            let changed = match desired.is_stored() && held.manifest.is_stored() {
                true => changed(held, desired, location, live),
                false => Vec::new(),
            };
            Refusal::Replace(messages::replacement::immutable(subject, refused, &causes, &changed))
        }
        Verdict::Invalid(status) => {
            Refusal::Error(messages::refusal::refused(subject, &status).into())
        }
        // A server that failed says nothing of the object, and nobody should delete it for that.
        Verdict::Unproved(obstacle) if obstacle.leaves_open() => {
            Refusal::Error(messages::refusal::refused(subject, &obstacle).into())
        }
        Verdict::Unproved(obstacle) => {
            Refusal::Error(messages::replacement::unproved(subject, refused, &obstacle).into())
        }
    })
}

/// What the user changed, as the object's own managers name it. A namespace means nothing to a kind
/// that has none.
fn changed(
    held: &Held,
    desired: &Manifest,
    location: &Location,
    live: Option<&Json>,
) -> Vec<FieldPath> {
    let owners = live.and_then(|live| Owners::of_object(live).ok()).unwrap_or_default();
    let fields = owners.applied_by(MANAGER);
    let mut changed = immutable::changed(held.manifest.value(), desired.value(), &fields);
    let namespace = FieldPath::new(["metadata", "namespace"].map(PathElement::field));
    changed.retain(|path| location.namespace.is_some() || *path != namespace);
    changed
}

/// Whether an object of ours that is to be deleted first can be made anew: a tainted one, of which
/// nothing was asked before, one that `-replace` names, or one that changes its version. What is
/// certain to be refused afterwards must not cost the object.
pub(super) async fn succession(
    asked: &Asked<'_>,
    location: &Location,
    live: &Json,
    notices: &mut Diagnostics,
) -> Result<(), Diagnostics> {
    let uid = live["metadata"]["uid"].as_str().unwrap_or_default();
    if asked.session.memory.is_replaceable(uid) {
        return Ok(());
    }
    let creation = beside(asked, location).await?;
    let change = match creation {
        Trial::Accepted => return Ok(()),
        Trial::Refused(_) => {
            let content = asked.desired.as_applied().into_owned();
            trial(asked.observe(location, content, None, Guard::Uid(uid)).await?)
        }
    };
    let subject = Subject { manifest: asked.desired, former: Some(live) };
    match immutable::succession(&creation, &change) {
        Succession::Possible => Ok(()),
        Succession::Invalid(status) => {
            Err(messages::replacement::no_successor(subject, &status).into())
        }
        Succession::Unproved(status) => {
            notices.push(messages::replacement::successor_untold(subject, &status));
            Ok(())
        }
    }
}

/// Tries the body as a creation, under a name that nobody has.
async fn beside(asked: &Asked<'_>, location: &Location) -> Result<Trial, Diagnostics> {
    let token = uuid::Uuid::new_v4().simple().to_string()[..8].to_owned();
    let body = immutable::beside(&asked.desired.as_applied(), asked.desired.gvk(), &token);
    let mut elsewhere = location.clone();
    elsewhere.name = body["metadata"]["name"].as_str().unwrap_or_default().to_owned();
    let tried = trial(asked.observe(&elsewhere, body, None, Guard::Absent).await?);
    Ok(match tried {
        // Nobody knows the name under which it was tried.
        Trial::Refused(mut status) => {
            status.message = status.message.replace(&elsewhere.name, &location.name);
            Trial::Refused(status)
        }
        Trial::Accepted => Trial::Accepted,
    })
}

fn trial(observation: Observation) -> Trial {
    match observation {
        Observation::Answered(_) => Trial::Accepted,
        Observation::Refused(status)
        | Observation::NotYet(NotYet::NamespaceGoing { status, .. }) => Trial::Refused(status),
        Observation::NotYet(_) | Observation::Exists(_) => Trial::Refused(Box::default()),
    }
}
