//! Finding the object that a plan is made for, and making sure that it is the one that is meant.

use k8sconnect_cluster::{Found, Location, NotYet, Placed, Scope, Served, Targets, Verb};
use k8sconnect_core::identity::{LivesIn, ObjectKey};
use serde_json::Value as Json;
use tfplugin::{Diagnostic, Diagnostics};
use tokio::time::Instant;

use crate::messages::ownership::Whose;
use crate::patch::PATIENCE;
use crate::patch::in_state::PatchInState;
use crate::patch::model::PatchModel;
use crate::session::Session;
use crate::{messages, place};

/// For which patch the target is read.
#[derive(Clone, Copy)]
pub(in crate::patch) enum ReadFor<'a> {
    /// One that is not in state.
    Anew,
    /// One whose refresh used the same connection, so that the object it read still counts.
    Refreshed(&'a PatchInState),
    /// One whose refresh used another connection.
    Reconnected(&'a PatchInState),
}

impl<'a> ReadFor<'a> {
    pub(super) fn of(config: &PatchModel, held: Option<&'a PatchInState>) -> Self {
        let is_same = |held: &PatchInState| held.model.cluster_args() == config.cluster_args();
        match held {
            None => Self::Anew,
            Some(held) if is_same(held) => Self::Refreshed(held),
            Some(held) => Self::Reconnected(held),
        }
    }
}

/// Who saw the object that a plan is made for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(in crate::patch) enum Sighting {
    /// This process read it before, to refresh.
    Refreshed,
    /// It was read for this plan, which may be the one that precedes a write.
    ForPlan,
}

/// The parts of the target that mean another object now.
pub(super) fn changed_parts(held: &PatchInState, key: &ObjectKey) -> Vec<&'static str> {
    let lives_in = match &held.stored.target {
        Some(target) if target.kind.scope == Scope::Cluster => LivesIn::Cluster,
        _ => LivesIn::Namespace,
    };
    let part = |field: &str| match field {
        "apiVersion" => "api_version",
        "kind" => "kind",
        "metadata.namespace" => "namespace",
        _ => "name",
    };
    held.key.changes_to(key, lives_in).iter().map(|(field, _, _)| part(field)).collect()
}

/// Finds the target. `None` while it, its kind or its namespace is not there.
pub(in crate::patch) async fn look(
    session: &Session,
    targets: &Targets,
    key: &ObjectKey,
    reader: ReadFor<'_>,
) -> Result<Option<(Location, Json, Sighting)>, Diagnostics> {
    let held = match reader {
        ReadFor::Anew => None,
        ReadFor::Refreshed(held) | ReadFor::Reconnected(held) => Some(held),
    };
    let location = match held {
        Some(held) => held.location(targets).await?,
        None => match place::judged(key, targets.place(&key.gvk).await, Whose::Patch)? {
            Placed::At(kind) => {
                let offered = targets.offers(&key.gvk, Verb::Get).await;
                match offered.map_err(|error| messages::refusal::unanswered(key, &error))? {
                    true => place::location(kind, key),
                    false => {
                        let key = place::scoped(key.clone(), &kind);
                        return Err(messages::patch::kind_unreadable(&key).into());
                    }
                }
            }
            Placed::NotYet(
                NotYet::Kind { .. }
                | NotYet::Namespace { .. }
                | NotYet::NamespaceGoing { .. }
                | NotYet::Webhook { .. },
            ) => {
                return Ok(None);
            }
        },
    };
    if let ReadFor::Refreshed(held) = reader
        && let Some(live) = session.reads.get(held.id())
    {
        return Ok(Some((location, live, Sighting::Refreshed)));
    }
    match targets.get(&location).await {
        Ok(Found::Object(answer)) => Ok(Some((location, answer.object, Sighting::ForPlan))),
        // A refresh would have told that the kind is gone.
        Ok(Found::NotServed(_)) if held.is_none_or(|held| !session.reads.has_read(held.id())) => {
            Err(messages::served::path_unknown(key).into())
        }
        Ok(Found::Absent(_) | Found::NotServed(_)) => Ok(None),
        Err(error) if held.is_some_and(|held| held.stored.unread) => {
            Err(messages::unread::unreadable_at_plan(key, &error).into())
        }
        Err(error) => Err(messages::refusal::unanswered(key, &error).into()),
    }
}

/// Where a target would stand that is not there.
pub(super) async fn standing(targets: &Targets, key: &ObjectKey) -> ObjectKey {
    match targets.kind(&key.gvk).await {
        Ok(Served::Yes(kind)) => place::location(kind, key).key(),
        _ => key.clone(),
    }
}

/// What is said of a target that is not there.
pub(super) async fn not_there(targets: &Targets, key: &ObjectKey) -> Diagnostic {
    match targets.kind(&key.gvk).await {
        Ok(Served::Yes(kind)) => messages::patch::not_there_yet(&place::scoped(key.clone(), &kind)),
        Err(_) => messages::patch::not_there_yet(key),
        Ok(_) => messages::patch::kind_not_there_yet(key),
    }
}

/// The target right before it is written: what this run makes is waited for, and what is no longer
/// the object that was planned for is refused.
pub(super) async fn at_last(
    targets: &Targets,
    key: &ObjectKey,
    held: Option<&PatchInState>,
    found: Option<(Location, Json, Sighting)>,
) -> Result<(Location, Json, Sighting), Diagnostics> {
    match (found, held) {
        (Some((_, live, _)), Some(held)) if !held.was_seen(&live) && held.past().is_some() => {
            Err(messages::object::changed_meanwhile(key).into())
        }
        (Some(found), _) => Ok(found),
        (None, Some(_)) => Err(messages::object::changed_meanwhile(key).into()),
        (None, None) => {
            let unserved = || messages::patch::kind_missing(key, PATIENCE);
            let unanswered = |error| messages::patch::not_awaited(key, &error);
            let deadline = Instant::now() + PATIENCE;
            let kind = targets.await_kind(&key.gvk, deadline).await.map_err(unanswered)?;
            let kind = kind.ok_or_else(unserved)?;
            let key = &place::scoped(key.clone(), &kind);
            let missing = || messages::patch::missing(key, PATIENCE);
            let location = place::location(kind, key);
            let live = targets.await_object(&location, deadline).await.map_err(unanswered)?;
            Ok((location, live.ok_or_else(missing)?, Sighting::ForPlan))
        }
    }
}
