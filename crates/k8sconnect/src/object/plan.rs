//! Plan: wire to model, model to cluster, cluster to core, core to messages, and back.
//!
//! This file knows the order of things and little else.

use k8sconnect_cluster::{Answer, Cluster, Found, Location, Observation, Placed};
use k8sconnect_core::identity::LivesIn;
use k8sconnect_core::manifest::Manifest;
use k8sconnect_core::outgoing::Guard;
use k8sconnect_core::plan::{Decision, Glance, Planner, Spelling};
use serde_json::Value as Json;
use tfplugin::{AttributePath, Diagnostics, Plan, Planned, Value};

use super::held::Held;
use super::leaves;
use super::model::{ObjectModel, ObjectRef};
use super::place::{location, outgoing, place};
use crate::connect::{self, Reach};
use crate::memory::Recollection;
use crate::session::Session;
use crate::{MANAGER, messages};

const PLANNER: Planner<'_> = Planner { manager: MANAGER };

pub(crate) async fn plan(
    session: &Session,
    request: Plan<ObjectModel>,
    notices: &mut Diagnostics,
) -> Result<Planned<ObjectModel>, Diagnostics> {
    let Plan { config, prior, proposed, private } = request;
    let held = prior.map(|prior| Held::load(prior, &private)).transpose()?;
    let planned = |state| Planned { state, private, requires_replace: vec![], identity: None };

    let Some(body) = config.yaml_body.known() else {
        return Ok(planned(later(proposed, held.as_ref())));
    };
    let desired = Manifest::parse(body).map_err(|errors| messages::manifest::unusable(&errors))?;
    if let Some(held) = &held
        && let changes = held.manifest.key().changes_to(desired.key(), lives_in(held))
        && !changes.is_empty()
    {
        notices.push(messages::object::identity_changes(held.manifest.key(), &changes));
        let mut replaced = planned(later(proposed, None));
        replaced.requires_replace.push(AttributePath::root("yaml_body"));
        return Ok(replaced);
    }
    let Reach::Ready(connection) = connect::reach(&config.cluster)? else {
        return Ok(planned(later(proposed, held.as_ref())));
    };
    let cluster = session.cluster(&connection).await?;
    let state = match &held {
        Some(held) => update(session, &cluster, held, &desired, proposed, notices).await?,
        None => create(session, &cluster, &desired, proposed, notices).await?,
    };
    Ok(planned(state))
}

async fn create(
    session: &Session,
    cluster: &Cluster,
    desired: &Manifest,
    proposed: ObjectModel,
    notices: &mut Diagnostics,
) -> Result<ObjectModel, Diagnostics> {
    let key = desired.key();
    let mut state = later(proposed, None);
    let kind = match place(cluster, key).await? {
        Placed::At(kind) => kind,
        Placed::NotYet(why) => {
            notices.push(messages::object::planned_blind(key, &why));
            return Ok(state);
        }
    };
    let location = location(kind, desired);
    state.object_ref = Value::Known(ObjectRef::to(&location));
    let body = outgoing(desired, &location, None, Guard::Absent);
    match observe(cluster, &location, desired, &body).await? {
        Observation::Answered(answer) => {
            let decision = decide(desired, None, None, &answer, notices)?;
            state.managed_state_projection = Value::Known(leaves::map(&decision.projection, None));
        }
        Observation::NotYet(why) => notices.push(messages::object::planned_blind(key, &why)),
        // The predecessor of a replacement, which is there until the apply deletes it.
        Observation::Exists(live) if session.memory.holds(uid_of(&live)) => {}
        Observation::Exists(live) => return Err(messages::object::exists(key, &live).into()),
        Observation::Refused(status) => return Err(messages::object::refused(key, &status).into()),
    }
    Ok(state)
}

async fn update(
    session: &Session,
    cluster: &Cluster,
    held: &Held,
    desired: &Manifest,
    proposed: ObjectModel,
    notices: &mut Diagnostics,
) -> Result<ObjectModel, Diagnostics> {
    let key = desired.key();
    let location = held.location(cluster).await?;
    let live = recall(session, cluster, held, &location).await?;
    if glance(held, desired, live.as_ref())? == Glance::Settled {
        return Ok(settled(proposed, held));
    }
    let body = outgoing(desired, &location, Some(held.id()), Guard::Uid(held.uid()));
    let mut state = later(proposed, Some(held));
    match observe(cluster, &location, desired, &body).await? {
        Observation::Answered(answer) => {
            let decision = decide(desired, Some(held), live.as_ref(), &answer, notices)?;
            if decision.spelling == Spelling::Former {
                state.yaml_body = held.model.yaml_body.clone();
            }
            let map = leaves::map(&decision.projection, held.stored.key.as_ref());
            state.managed_state_projection = Value::Known(map);
        }
        Observation::NotYet(why) => notices.push(messages::object::planned_blind(key, &why)),
        Observation::Exists(_) => return Err(messages::object::changed_meanwhile(key).into()),
        Observation::Refused(status) => return Err(messages::object::refused(key, &status).into()),
    }
    Ok(state)
}

async fn observe(
    cluster: &Cluster,
    location: &Location,
    desired: &Manifest,
    body: &Json,
) -> Result<Observation, Diagnostics> {
    let observed = cluster.observe(location, MANAGER, body).await;
    observed.map_err(|error| messages::object::unanswered(desired.key(), &error).into())
}

/// The object as this process read it; read once more if that is too long ago. A process that
/// never read it plans again what was planned before, and has no need to.
async fn recall(
    session: &Session,
    cluster: &Cluster,
    held: &Held,
    location: &Location,
) -> Result<Option<Json>, Diagnostics> {
    match session.memory.recall(held.id()) {
        Recollection::Seen(live) => Ok(Some(live)),
        Recollection::NeverRead => Ok(None),
        Recollection::Faded => {
            let found = cluster.get(location).await;
            match found.map_err(|error| messages::object::unanswered(held.key(), &error))? {
                Found::Object(answer) => Ok(Some(answer.object)),
                Found::Absent(_) | Found::NotServed(_) => Ok(None),
            }
        }
    }
}

fn glance(held: &Held, desired: &Manifest, live: Option<&Json>) -> Result<Glance, Diagnostics> {
    let Some(live) = live else {
        let shown = leaves::texts(&held.model.managed_state_projection);
        return Ok(PLANNER.trust(desired, held.prior(), shown.as_ref()));
    };
    PLANNER
        .glance(desired, held.prior(), live)
        .map_err(|error| messages::object::ownership_unreadable(desired.key(), &error).into())
}

fn decide(
    desired: &Manifest,
    held: Option<&Held>,
    live: Option<&Json>,
    answer: &Answer,
    notices: &mut Diagnostics,
) -> Result<Decision, Diagnostics> {
    let key = desired.key();
    let decision = PLANNER
        .decide(desired, held.map(Held::prior), live, &answer.object)
        .map_err(|error| messages::object::ownership_unreadable(key, &error))?;
    notices.extend(messages::object::server_warnings(key, &answer.warnings));
    notices.extend(messages::ownership::told(key, &decision.notices));
    Ok(decision)
}

fn lives_in(held: &Held) -> LivesIn {
    match held.model.object_ref.known() {
        Some(object_ref) if object_ref.namespace.is_null() => LivesIn::Cluster,
        _ => LivesIn::Namespace,
    }
}

fn uid_of(object: &Json) -> &str {
    object["metadata"]["uid"].as_str().unwrap_or_default()
}

/// What is planned where only the apply can tell the leaves.
fn later(proposed: ObjectModel, held: Option<&Held>) -> ObjectModel {
    let former = held.map_or_else(ObjectModel::unmade, |held| held.model.clone());
    ObjectModel {
        id: former.id,
        uid: former.uid,
        object_ref: former.object_ref,
        managed_state_projection: Value::Unknown,
        ..proposed
    }
}

/// What is planned where nothing would change in the cluster.
fn settled(proposed: ObjectModel, held: &Held) -> ObjectModel {
    ObjectModel {
        yaml_body: held.model.yaml_body.clone(),
        managed_state_projection: held.model.managed_state_projection.clone(),
        ..later(proposed, Some(held))
    }
}
