//! Planning an object that state does not hold.

use k8sconnect_cluster::{Location, Observation, Placed};
use k8sconnect_core::identity::ID_ANNOTATION;
use k8sconnect_core::ignore::Yielded;
use k8sconnect_core::outgoing::Guard;
use k8sconnect_core::owners::Owners;
use k8sconnect_core::plan::Planner;
use serde_json::Value as Json;
use tfplugin::{Diagnostics, Value};

use super::{Asked, later, proof};
use crate::leaves;
use crate::memory::{Claim, Outlook};
use crate::object::blast;
use crate::object::model::{ObjectModel, ObjectRef};
use crate::object::read::seen_of;
use crate::place::{location, place};
use crate::terms::Adoption;
use crate::{MANAGER, messages};

pub(super) async fn plan(
    asked: &Asked<'_>,
    proposed: ObjectModel,
    notices: &mut Diagnostics,
) -> Result<ObjectModel, Diagnostics> {
    let key = asked.key();
    let mut state = later(proposed, None);
    let body = asked.desired.value();
    let claim = |key| asked.session.memory.claim_creation(asked.cluster.host(), key, body);
    let kind = match place(asked.cluster, key).await? {
        Placed::At(kind) => kind,
        Placed::NotYet(_) if claim(key.clone()) == Claim::Contradicted => {
            return Err(messages::object::made_twice(key).into());
        }
        Placed::NotYet(why) => {
            notices.push(messages::object::planned_blind(key, &why));
            return Ok(state);
        }
    };
    let location = location(kind, asked.desired.key());
    if claim(location.key()) == Claim::Contradicted {
        return Err(messages::object::made_twice(key).into());
    }
    if asked.session.memory.may_stray(asked.cluster.host(), &location.key()).await {
        let host = Some(asked.cluster.host());
        return Err(messages::whereabouts::another_cluster(
            key,
            host,
            messages::ownership::Whose::Object,
        )
        .into());
    }
    state.object_ref = Value::Known(ObjectRef::to(&location));
    // All of it is sent: what is ignored is so from then on, and just not shown.
    let (ignoring, unseen) = asked.terms.ignoring(asked.desired, &Yielded::new());
    let planner = Planner { manager: MANAGER, ignoring: &ignoring };
    let content = asked.desired.to_applied();
    match asked.observe(&location, content, None, Guard::Absent).await? {
        Observation::Answered(answer) => {
            let decision = asked.decide(planner, None, None, &answer, notices)?;
            // Whose fields are yielded, only the object will show; what a body holds that is never
            // stored, only the apply.
            if unseen.is_empty() && asked.desired.is_stored() {
                let map = leaves::map(&decision.projection, None);
                state.managed_state_projection = Value::Known(map);
            }
        }
        Observation::NotYet(why) => notices.push(messages::object::planned_blind(key, &why)),
        Observation::Exists(live) if contradicted(asked, &live) => {
            return Err(messages::object::destroyed_and_made(key).into());
        }
        Observation::Exists(live)
            if id_of(&live).is_some_and(|id| asked.session.memory.has_created(id)) =>
        {
            return Err(messages::object::made_twice(key).into());
        }
        // The predecessor of a replacement, which is there until the apply deletes it, or an
        // object that is going anyway.
        Observation::Exists(live) if asked.session.memory.holds(uid_of(&live)) => {
            if !is_going(&live) {
                proof::succession(asked, &location, &live, notices).await?;
            }
            blast::tell_of_predecessor(asked, key, &live, notices).await;
        }
        Observation::Exists(live) if is_going(&live) => {
            notices.push(messages::object::waits_for_predecessor(key));
        }
        Observation::Exists(live) => match asked.terms.adoption {
            Adoption::TakeOver => {
                state.managed_state_projection = adoption(asked, &location, &live, notices).await?;
                return Ok(state);
            }
            Adoption::Refuse => {
                let (memory, host) = (&asked.session.memory, asked.cluster.host());
                return Err(match memory.was_recreated(host, &location.key()) {
                    true => messages::object::recreated(key, &live),
                    false => messages::object::exists(asked.desired, &live),
                }
                .into());
            }
        },
        Observation::Refused(status) if asked.is_redefined(&location, &status) => {
            notices.push(messages::refusal::redefined(asked.desired, &status));
        }
        Observation::Refused(status) => {
            return Err(messages::refusal::refused(asked.desired, &status).into());
        }
    }
    // Whoever waited for one of this name has to wait for the new one.
    asked.session.memory.note_made(asked.cluster.host(), location.key());
    Ok(state)
}

/// What taking over an object would come to.
async fn adoption(
    asked: &Asked<'_>,
    location: &Location,
    live: &Json,
    notices: &mut Diagnostics,
) -> Result<Value<leaves::ProjectionMap>, Diagnostics> {
    let key = asked.key();
    let unreadable = |error| messages::object::ownership_unreadable(key, &error);
    let owners = Owners::of_object(live).map_err(unreadable)?;
    let (ignoring, _) = asked.terms.ignoring(asked.desired, &seen_of(asked.terms, &owners));
    let planner = Planner { manager: MANAGER, ignoring: &ignoring };
    let content = planner.content(asked.desired, None, Some(live)).map_err(unreadable)?;
    let guard = Guard::Uid(uid_of(live));
    match asked.observe(location, content, None, guard).await? {
        Observation::Answered(answer) => {
            notices.push(messages::object::adopts(key, live));
            let decision = asked.decide(planner, None, Some(live), &answer, notices)?;
            let outlook = Outlook::Told { seen: Some(live.clone()), next: answer.object };
            let (memory, host) = (&asked.session.memory, asked.cluster.host());
            memory.note_changed(host, location.key(), uid_of(live), outlook);
            if !asked.desired.is_stored() {
                return Ok(Value::Unknown);
            }
            Ok(Value::Known(leaves::map(&decision.projection, None)))
        }
        Observation::NotYet(why) => {
            notices.push(messages::object::planned_blind(key, &why));
            Ok(Value::Unknown)
        }
        Observation::Exists(_) => Err(messages::object::changed_meanwhile(key).into()),
        Observation::Refused(status) => {
            Err(messages::refusal::refused(asked.desired, &status).into())
        }
    }
}

/// Whether another address of this configuration destroys what this one takes over, or makes anew
/// under the same name.
fn contradicted(asked: &Asked<'_>, live: &Json) -> bool {
    let (memory, uid) = (&asked.session.memory, uid_of(live));
    let claims = asked.terms.adoption == Adoption::TakeOver || memory.holds(uid);
    claims && memory.claim_name(uid) == Claim::Contradicted
}

fn id_of(object: &Json) -> Option<&str> {
    object["metadata"]["annotations"][ID_ANNOTATION].as_str()
}

fn uid_of(object: &Json) -> &str {
    object["metadata"]["uid"].as_str().unwrap_or_default()
}

fn is_going(object: &Json) -> bool {
    !object["metadata"]["deletionTimestamp"].is_null()
}
