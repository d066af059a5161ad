//! Plan: nothing is asked of the cluster. What is waited for is known once it was waited for.

use tfplugin::{Diagnostics, Plan, Planned, Value};

use super::asked::Asked;
use super::model::{WaitFor, WaitModel};
use crate::connect::Reach;
use crate::session::Session;

pub(crate) fn plan(
    session: &Session,
    request: Plan<WaitModel>,
) -> Result<Planned<WaitModel>, Diagnostics> {
    let Plan { config, prior, proposed, private } = request;
    let asked = Asked::read(&config)?;
    let awaited = match &asked {
        Some(asked) if !asked.goal.hands_on() => Value::Null,
        _ => Value::Unknown,
    };
    let state = match prior {
        None => WaitModel { id: Value::Unknown, result: awaited, ..proposed },
        Some(prior) if waits_again(session, &prior, &config) => {
            WaitModel { id: prior.id, result: awaited, ..proposed }
        }
        Some(prior) => WaitModel { id: prior.id, result: prior.result, ..proposed },
    };
    Ok(Planned { state, private, requires_replace: vec![], identity: None })
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
