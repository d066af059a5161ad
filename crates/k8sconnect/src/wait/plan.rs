//! Plan: nothing is asked of the cluster, unless the refresh could not. What is waited for is known
//! once it was waited for.
//!
//! A wait that must be made again although nothing was written differently plans its result as
//! unknown, also where it will be null: without a difference Terraform does not call.

use k8sconnect_core::readiness::Goal;
use tfplugin::{Data, Diagnostics, Plan, Planned, Value};

use super::asked::Asked;
use super::model::{WaitFor, WaitModel};
use super::read::{Look, look};
use super::stored::{Outcome, Waited};
use crate::connect::Reach;
use crate::guard::Unread;
use crate::memory::Outlook;
use crate::session::Session;
use crate::{dynamic, messages};

pub(crate) async fn plan(
    session: &Session,
    request: Plan<WaitModel>,
) -> Result<Planned<WaitModel>, Diagnostics> {
    let Plan { config, prior, proposed, private } = request;
    let asked = Asked::read(&config)?;
    if prior.is_none() {
        // The way is looked for, not gone: one that is not there is better told before the apply.
        session.reach(&config.cluster, &config.cluster_name)?;
    }
    let awaited = match &asked {
        Some(asked) if !asked.goal.hands_on() => Value::Null,
        _ => Value::Unknown,
    };
    let last = Waited::load(&private)?;
    let failed = last.as_ref().is_some_and(|last| last.outcome == Outcome::Failed);
    let touched = asked.as_ref().is_some_and(|asked| {
        let handed_on = prior.as_ref().map(|prior| &prior.result);
        is_touched(session, &config, asked, handed_on)
    });
    let lost = match &asked {
        Some(asked) if prior.is_some() && Unread::load(&private)?.is_some() => {
            is_lost(session, &config, asked, last.as_ref()).await?
        }
        _ => false,
    };
    let state = match prior {
        None => WaitModel { id: Value::Unknown, result: awaited, ..proposed },
        Some(prior) if failed || touched || lost => {
            WaitModel { id: prior.id, result: Value::Unknown, ..proposed }
        }
        Some(prior) if waits_again(session, &prior, &config) => {
            WaitModel { id: prior.id, result: awaited, ..proposed }
        }
        Some(prior) => WaitModel { id: prior.id, result: prior.result, ..proposed },
    };
    Ok(Planned { state, private, requires_replace: vec![], identity: None })
}

/// Whether what was waited for is not there any more, where the refresh could not look.
async fn is_lost(
    session: &Session,
    config: &WaitModel,
    asked: &Asked,
    last: Option<&Waited>,
) -> Result<bool, Diagnostics> {
    if asked.goal == Goal::Deleted {
        return Ok(false);
    }
    let Some(cluster) = session.enter(&config.cluster, &config.cluster_name).await? else {
        return Ok(false);
    };
    match look(&cluster, asked).await {
        Ok(Look::Present(object)) => {
            Ok(asked.goal.is_lost(&object) || last.is_some_and(|it| it.was_for_another(&object)))
        }
        Ok(Look::Absent) => Ok(true),
        Ok(Look::NotServed) => Ok(false),
        Err(error) => Err(messages::whereabouts::seen_by_nobody(&asked.key, &error).into()),
    }
}

/// Whether this run makes the object, changes what the last wait handed on, or puts leaves of it
/// right that are among the triggers: what somebody else changed meanwhile and is now changed back
/// leaves no trace in them. Terraform plans what a wait refers to before the wait.
fn is_touched(
    session: &Session,
    config: &WaitModel,
    asked: &Asked,
    handed_on: Option<&Value<Data>>,
) -> bool {
    if asked.goal == Goal::Deleted {
        return false;
    }
    let Ok(Reach::Ready(connection)) = session.reach(&config.cluster, &config.cluster_name) else {
        return false;
    };
    let triggers = config.triggers.known().into_iter().flatten();
    let triggers = triggers.filter_map(|(name, value)| Some((name.as_str(), value.as_str()?)));
    session.memory.is_made(&connection.host, &asked.key)
        || session.memory.mends_any(&connection.host, &asked.key, triggers)
        || session
            .memory
            .outlook(&connection.host, &asked.key)
            .is_some_and(|outlook| hands_on_otherwise(asked, &outlook, handed_on))
}

/// Whether there will be something else to hand on. Where nobody wrote since the object was read,
/// what was handed on is what it held then.
fn hands_on_otherwise(asked: &Asked, outlook: &Outlook, handed_on: Option<&Value<Data>>) -> bool {
    let next = asked.goal.excerpt(&outlook.next);
    match (&outlook.seen, handed_on) {
        (Some(seen), _) => asked.goal.excerpt(seen) != next,
        (None, Some(handed_on)) => next.map_or(Value::Null, dynamic::from_json) != *handed_on,
        (None, None) => false,
    }
}

/// Whether a change means that the object is to be waited for once more. How long to wait and when
/// to give up does not, nor do new credentials for the same server.
pub(super) fn waits_again(session: &Session, before: &WaitModel, after: &WaitModel) -> bool {
    let goal = |model: &WaitModel| model.wait_for.as_ref().map(WaitFor::goal_alone);
    before.object_ref != after.object_ref
        || goal(before) != goal(after)
        || before.triggers != after.triggers
        || moved(session, before, after)
}

/// Whether the two may live in different clusters.
fn moved(session: &Session, before: &WaitModel, after: &WaitModel) -> bool {
    if (&before.cluster, &before.cluster_name) == (&after.cluster, &after.cluster_name) {
        return false;
    }
    let host = |model: &WaitModel| match session.reach(&model.cluster, &model.cluster_name) {
        Ok(Reach::Ready(connection)) => Some(connection.host),
        Ok(Reach::Unknown) | Err(_) => None,
    };
    match (host(before), host(after)) {
        (Some(before), Some(after)) => before != after,
        _ => true,
    }
}
