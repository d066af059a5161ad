//! Plan: nothing is asked of the cluster, unless the refresh could not, or there was none. What is
//! waited for is known once it was waited for.
//!
//! A wait that must be made again although nothing was written differently plans its result as
//! unknown, also where it will be null: without a difference Terraform does not call. So does one
//! of which something is not known yet: once it is, it may be as it was, and whether the object is
//! still the one that was waited for shows only then.

use std::sync::Arc;
use std::time::Duration;

use k8sconnect_cluster::Cluster;
use k8sconnect_core::readiness::Goal;
use tfplugin::{Diagnostics, FromData, Plan, Planned, Value};
use tokio::time::Instant;

use super::model::{WaitFor, WaitModel};
use super::read::{WaitLook, look};
use super::recorded;
use super::stored::StoredWait;
use super::terms::WaitTerms;
use crate::connect::Reach;
use crate::plan_ledger::{Fact, Name};
use crate::plan_phase::PlanPhase;
use crate::session::Session;

/// What a plan looks at by itself is worth a moment.
const PATIENCE: Duration = Duration::from_secs(5);

pub(crate) async fn plan(
    phase: &PlanPhase,
    session: &Session,
    request: Plan<WaitModel>,
    notices: &mut Diagnostics,
) -> Result<Planned<WaitModel>, Diagnostics> {
    let Plan { config, prior, proposed, private, .. } = request;
    let asked = WaitTerms::read(&config)?;
    let awaited = match &asked {
        Some(asked) if !asked.goal.hands_on() => Value::Null,
        _ => Value::Unknown,
    };
    let planned = |state| Planned {
        state,
        private: private.clone(),
        requires_replace: vec![],
        identity: None,
    };
    let Some(prior) = prior else {
        // The way is looked for, not gone: one that is not there is better told before the apply.
        session.reach(config.cluster_args())?;
        return Ok(planned(WaitModel { id: Value::Unknown, result: awaited, ..proposed }));
    };
    let result = match asked.filter(|_| is_known(&config)) {
        None => Value::Unknown,
        Some(asked) => {
            let last = StoredWait::load(&private)?;
            let failed = last.has_failed();
            // What was planned as a change and comes to none, by what is known now, had something
            // unknown in it: what another process did to the object, only the object tells.
            let may_apply = *phase != PlanPhase::Plan;
            let is_same = is_same(&prior, &proposed);
            let unseen = last.unread || (may_apply && is_same);
            let was_read = prior.id.as_str().is_some_and(|id| session.reads.has_read(id));
            let cluster = match is_same && !unseen && !was_read {
                // Nothing is asked without a refresh where nothing is to be done.
                true => None,
                false => enter(session, &config, &asked, &last, notices).await?,
            };
            if waits_again(session, &prior, &config) {
                awaited
            } else if failed
                || is_touched(session, &config, &asked)
                || (unseen && is_lost(cluster.as_deref(), &asked, &last).await)
            {
                Value::Unknown
            } else {
                prior.result.clone()
            }
        }
    };
    Ok(planned(WaitModel { id: prior.id, result, ..proposed }))
}

/// Whether all that the user wrote is known.
fn is_known(config: &WaitModel) -> bool {
    Value::Known(config.clone().into_data()).is_wholly_known()
}

/// Whether nothing is written differently, not even how long to wait.
fn is_same(prior: &WaitModel, proposed: &WaitModel) -> bool {
    let (id, result) = (prior.id.clone(), prior.result.clone());
    *prior == WaitModel { id, result, ..proposed.clone() }
}

/// The cluster in the configuration; `None` where there is no usable connection, which is no error:
/// a wait whose plan fails would stand in the way of a destroy. Another cluster is one.
async fn enter(
    session: &Session,
    config: &WaitModel,
    asked: &WaitTerms,
    last: &StoredWait,
    notices: &mut Diagnostics,
) -> Result<Option<Arc<Cluster>>, Diagnostics> {
    match session.reach(config.cluster_args()) {
        Ok(Reach::Ready(connection)) if session.cluster(&connection).await.is_ok() => {
            let recorded = Some(recorded(asked, config, last));
            let opened = session.open(&connection, recorded, notices).await?;
            Ok(Some(opened.cluster))
        }
        Ok(_) | Err(_) => Ok(None),
    }
}

/// Whether what was waited for is not there any more, where no refresh could look. Who cannot look
/// either knows no more than before, and nothing hangs on it: there is nothing to be written.
async fn is_lost(cluster: Option<&Cluster>, asked: &WaitTerms, last: &StoredWait) -> bool {
    let Some(cluster) = cluster.filter(|_| asked.goal != Goal::Deleted) else {
        return false;
    };
    match look(&cluster.until(Instant::now() + PATIENCE), asked).await {
        Ok(WaitLook::Present(object)) => {
            asked.goal.is_lost(&object) || last.was_for_another(&object)
        }
        Ok(WaitLook::Absent) => true,
        Ok(WaitLook::NotServed) | Err(_) => false,
    }
}

/// Whether this run creates the object, or changes it for a wait that depends on its fields: because
/// of its result or its triggers. Where this run sets back what another manager has changed, the
/// triggers show nothing. Terraform plans what a wait refers to before the wait.
fn is_touched(session: &Session, config: &WaitModel, asked: &WaitTerms) -> bool {
    let Ok(Reach::Ready(connection)) = session.reach(config.cluster_args()) else {
        return false;
    };
    let name = Name::new(&connection.host, &asked.key);
    let has_triggers = config.triggers.known().is_some_and(|triggers| !triggers.is_empty());
    let depends_on_fields = asked.goal.hands_on() || has_triggers;
    asked.goal != Goal::Deleted
        && (session.ledger.knows(&Fact::Created(name.clone()))
            || depends_on_fields && session.ledger.knows(&Fact::Changed(name)))
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
    if before.cluster_args() == after.cluster_args() {
        return false;
    }
    let host = |model: &WaitModel| match session.reach(model.cluster_args()) {
        Ok(Reach::Ready(connection)) => Some(connection.host),
        Ok(Reach::Unknown) | Err(_) => None,
    };
    match (host(before), host(after)) {
        (Some(before), Some(after)) => before != after,
        _ => true,
    }
}
