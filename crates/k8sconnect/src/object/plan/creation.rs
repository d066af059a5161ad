//! Planning an object that state does not hold.

use k8sconnect_cluster::{Location, Observation, Placed};
use k8sconnect_core::identity::{ID_ANNOTATION, ObjectKey};
use k8sconnect_core::ignore::Yielded;
use k8sconnect_core::outgoing::Guard;
use k8sconnect_core::owners::Owners;
use k8sconnect_core::plan::Planner;
use k8sconnect_core::swallowed;
use serde_json::Value as Json;
use tfplugin::{Diagnostics, Value};

use super::immutability::Attempt;
use super::shared::Recipient;
use super::swallowed::emptied_at_first;
use super::{Asked, UNBORN, immutability, later};
use crate::leaves;
use crate::messages::addresses::Stage;
use crate::messages::refusal::Subject;
use crate::object::blast;
use crate::object::definitions;
use crate::object::model::ObjectModel;
use crate::object::obstacle::Obstacle;
use crate::object::read::seen_of;
use crate::object::terms::{Adoption, Protection};
use crate::object_ref::ObjectRef;
use crate::place::location;
use crate::plan_ledger::{Address, Digest, Fact, Name, PlannedAction, Target};
use crate::plan_phase::{Found, PlanPhase};
use crate::resource::live::uid_of;
use crate::{MANAGER, messages};

/// A creation, planned.
pub(super) struct Creation {
    pub(super) state: ObjectModel,
    pub(super) found: Option<Found>,
}

/// Plans it. `predecessor` is the id of the object that it follows, if this is the second half of a
/// replacement; of a tainted one nothing is said.
pub(super) async fn plan(
    asked: &Asked<'_>,
    predecessor: Option<&str>,
    proposed: ObjectModel,
    notices: &mut Diagnostics,
) -> Result<Creation, Diagnostics> {
    let key = asked.key();
    let mut state = later(proposed, None);
    let (phase, session, cluster) = (asked.phase, asked.session, asked.cluster());
    let patience = asked.terms.apply_timeout();
    let kind = match definitions::placed(phase, session, cluster, key, patience).await? {
        Placed::At(kind) => kind,
        Placed::NotYet(why) => {
            enter(asked, key)?;
            notices.push(messages::object::planned_blind(key, &why));
            return Ok(Creation { state, found: None });
        }
    };
    let location = location(kind, asked.desired.key());
    enter(asked, &location.key())?;
    let remade = definitions::is_to_be_remade(phase, session, cluster, &location.kind);
    if !remade {
        state.object_ref = Value::Known(ObjectRef::to(&location));
    }
    // All of it is sent: what is ignored is so from then on, and just not shown.
    let (ignoring, _) = asked.terms.ignoring(asked.desired, &Yielded::new());
    let planner = Planner { manager: MANAGER, ignoring: &ignoring };
    let content = asked.desired.as_applied().into_owned();
    let observation =
        asked.observe(&location, content.clone(), Some(UNBORN), Guard::Absent).await?;
    // Decided once: the refresh of another address may note the object at any moment.
    let in_state = matches!(&observation, Observation::Exists(live) if is_in_state(asked, live));
    if let Observation::Exists(live) = &observation
        && (in_state || asked.terms.adoption == Adoption::TakeOver)
    {
        enter_object(asked, predecessor, live, PlannedAction::Create)?;
    }
    let found = found(&observation);
    match observation {
        Observation::Answered(answer) => {
            let decision = asked.decide(planner, None, None, &answer, notices)?;
            let dropped = swallowed::dropped(&content, &answer.object);
            notices.extend(messages::swallowed::dropped(asked.desired, &dropped));
            // Nobody holds anything yet of what is new. What a body holds that is never stored, only the
            // apply will show.
            let redefined = !remade && is_redefined(asked, &location);
            if redefined {
                notices.push(messages::object::planned_before_its_definition(key));
            }
            if let Some(replaced) = predecessor {
                immutability::successor_addresses(asked, &location, replaced, notices).await?;
            }
            // Of what follows another object nothing is promised: should the server answer otherwise by
            // then, the other one would be gone before anybody noticed.
            let follows = predecessor.is_some();
            if !follows && !redefined && asked.desired.is_stored() && !remade {
                let map = leaves::planned(&decision, None);
                state.managed_state_projection = Value::Known(map);
            }
        }
        Observation::NotYet(why) => notices.push(asked.blindly(why, creating(asked))?),
        Observation::Exists(live)
            if id_of(&live)
                .is_some_and(|id| asked.session.ledger.knows(&Fact::OwnId(id.to_owned()))) =>
        {
            return Err(messages::addresses::made_twice(key).into());
        }
        // The predecessor of a replacement, which is there until the apply deletes it, or an
        // object that is going anyway.
        Observation::Exists(live) if in_state => {
            protected(asked, key, &live)?;
            if !is_going(&live) && !remade {
                immutability::succession(asked, &location, &live, notices).await?;
            }
            if predecessor.is_none() {
                blast::tell_of_predecessor(asked, key, &live, notices).await;
            }
        }
        Observation::Exists(live) if is_going(&live) => {
            notices.push(messages::object::waits_for_predecessor(key));
        }
        Observation::Exists(live) => match asked.terms.adoption {
            // It goes with its definition.
            Adoption::TakeOver if remade => {}
            Adoption::TakeOver => {
                let taken = takeover(asked, &location, &live, notices).await?;
                if predecessor.is_none() {
                    state.managed_state_projection = taken;
                }
                return Ok(Creation { state, found });
            }
            Adoption::Refuse => {
                state.managed_state_projection =
                    refusal(asked, predecessor, &location, &live, notices).await?;
                return Ok(Creation { state, found });
            }
        },
        Observation::Refused(status) if asked.is_redefined(&location, &status) => {
            notices.push(messages::refusal::redefined(asked.desired, &status));
        }
        Observation::Refused(status) => {
            let refused = messages::refusal::refused(asked.desired, &status);
            return Err(match predecessor {
                Some(_) => messages::replacement::refused_beside(refused).into(),
                None => refused.into(),
            });
        }
    }
    if remade {
        notices.push(messages::object::planned_before_its_kind(key));
    }
    asked.session.ledger.note(Fact::Created(name(asked, &location)));
    Ok(Creation { state, found })
}

/// What a dry-run that may only create shows of the name.
fn found(observation: &Observation) -> Option<Found> {
    match observation {
        Observation::Answered(_) => Some(Found::Nothing),
        Observation::Exists(live) => Some(Found::Object(uid_of(live).to_owned())),
        Observation::NotYet(_) | Observation::Refused(_) => None,
    }
}

/// Takes over an object that is in the way, which an apply does only if its plan has shown it. What
/// the object cannot become is left to the write where this may be an apply, for the reason that
/// [`refusal`] gives.
async fn takeover(
    asked: &Asked<'_>,
    location: &Location,
    live: &Json,
    notices: &mut Diagnostics,
) -> Result<Value<leaves::ProjectionMap>, Diagnostics> {
    if let PlanPhase::ApplyReplan(record) = asked.phase
        && !record.may_have_found(uid_of(live))
    {
        return Err(messages::addresses::appeared(asked.key(), live).into());
    }
    let taken = adoption(asked, location, live, notices).await;
    let planning = *asked.phase == PlanPhase::Plan;
    if taken.is_ok() || planning || !must_be_replaced(asked, location, live).await? {
        return taken;
    }
    if *asked.phase == PlanPhase::Unknown {
        notices.push(messages::addresses::in_the_way(asked.key(), live));
    }
    Ok(Value::Unknown)
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
    let mut content = planner.content(asked.desired, Some(live)).map_err(unreadable)?;
    let guard = Guard::Uid(uid_of(live));
    let to = Recipient { location, held: None, guard, live: Some(live) };
    match asked.observe_shared(planner, to, &mut content).await? {
        Observation::Answered(answer) => {
            let mut others = Diagnostics::new();
            let decision = asked.decide(planner, None, Some(live), &answer, &mut others)?;
            let takeover = planner.takeover(&decision, live, &answer.object);
            let takeover = takeover.map_err(unreadable)?;
            notices.push(messages::object::adopts(key, live, &takeover));
            notices.extend(others);
            let attempt = Attempt { location, live, content: &content };
            notices.extend(emptied_at_first(asked, planner, attempt, &answer.object).await?);
            let unsent = planner.ignored_unsent(asked.desired, None, live, &content);
            notices.extend(messages::terms::ignored_unsent(key, &unsent.map_err(unreadable)?));
            asked.session.ledger.note(Fact::Changed(name(asked, location)));
            let sides = Some([live, &answer.object]);
            definitions::note_change(asked.session, asked.cluster(), key, sides);
            let redefined = is_redefined(asked, location);
            if redefined {
                notices.push(messages::object::planned_before_its_definition(key));
            }
            let yields: Vec<_> = asked.terms.yields_to().map(ToOwned::to_owned).collect();
            if !yields.is_empty() {
                notices.push(messages::terms::yields_anew(key, &yields, &owners));
            }
            if redefined || !yields.is_empty() || !asked.desired.is_stored() {
                return Ok(Value::Unknown);
            }
            Ok(Value::Known(leaves::planned(&decision, None)))
        }
        Observation::NotYet(why) => {
            notices.push(asked.blindly(why, creating(asked))?);
            Ok(Value::Unknown)
        }
        Observation::Exists(_) => Err(messages::object::changed_meanwhile(key).into()),
        Observation::Refused(status) => {
            let subject = Subject { manifest: asked.desired, former: Some(live) };
            Err(messages::refusal::refused(subject, &status).into())
        }
    }
}

fn is_redefined(asked: &Asked<'_>, location: &Location) -> bool {
    definitions::is_to_change(asked.session, asked.cluster(), &location.kind, asked.phase)
}

/// The phase of a creation. The first plan of a configuration reads nothing, as an apply does.
fn creating<'a>(asked: &Asked<'a>) -> &'a PlanPhase {
    match asked.phase {
        PlanPhase::Unknown => &PlanPhase::Plan,
        phase => phase,
    }
}

/// Enters the creation of an object of this name, and refuses what contradicts another address.
fn enter(asked: &Asked<'_>, key: &ObjectKey) -> Result<(), Diagnostics> {
    let name = Target::Name(Name::new(asked.cluster().host(), key));
    let entered = asked.session.ledger.plan(name, address(asked), PlannedAction::Create);
    entered.map_err(|conflict| messages::addresses::conflict(asked.key(), &conflict).into())
}

/// Enters what is planned for an object that exists, and refuses what contradicts another address.
fn enter_object(
    asked: &Asked<'_>,
    predecessor: Option<&str>,
    live: &Json,
    action: PlannedAction,
) -> Result<(), Diagnostics> {
    let by = match predecessor {
        Some(id) => Address::InState(id.to_owned()),
        None => address(asked),
    };
    // Not as in state: the object may be a stranger, whose name the successor wants.
    let entered = asked.session.ledger.plan(Target::Object(uid_of(live).to_owned()), by, action);
    entered.map_err(|conflict| messages::addresses::conflict(asked.key(), &conflict).into())
}

fn address(asked: &Asked<'_>) -> Address {
    Address::New(Digest::of([asked.desired.value().to_string()]))
}

fn name(asked: &Asked<'_>, location: &Location) -> Name {
    Name::new(asked.cluster().host(), &location.key())
}

fn is_in_state(asked: &Asked<'_>, live: &Json) -> bool {
    asked.session.ledger.knows(&Fact::InState(uid_of(live).to_owned()))
}

/// Refuses an object that is in the way. Not so during an apply, where it may be the one that this
/// resource replaces, which state has set aside because of `create_before_destroy`: an error in a
/// plan would leave it aside for good, one of the write that follows does not.
async fn refusal(
    asked: &Asked<'_>,
    predecessor: Option<&str>,
    location: &Location,
    live: &Json,
    notices: &mut Diagnostics,
) -> Result<Value<leaves::ProjectionMap>, Diagnostics> {
    if asked.session.ledger.knows(&Fact::Superseded(name(asked, location))) {
        return Err(messages::object::recreated(asked.key(), live).into());
    }
    // An address that destroys the object may be planned before this one or after.
    let exists = |stage| {
        let entered = enter_object(asked, predecessor, live, PlannedAction::CreateNamesake);
        Err(entered
            .err()
            .unwrap_or_else(|| messages::addresses::exists(asked.desired, live, stage).into()))
    };
    match asked.phase {
        _ if id_of(live).is_none() => exists(Stage::Plan),
        PlanPhase::Plan => exists(Stage::Plan),
        PlanPhase::ApplyReplan(_) => {
            // Whatever the plan that the user saw has promised for one that was not there then.
            let likely = adoption(asked, location, live, &mut Diagnostics::new()).await;
            Ok(likely.unwrap_or(Value::Unknown))
        }
        PlanPhase::Unknown if must_be_replaced(asked, location, live).await? => {
            notices.push(messages::addresses::in_the_way(asked.key(), live));
            Ok(Value::Unknown)
        }
        PlanPhase::Unknown => exists(Stage::Apply),
    }
}

/// Whether an object of ours could become what is wanted only by being replaced.
async fn must_be_replaced(
    asked: &Asked<'_>,
    location: &Location,
    live: &Json,
) -> Result<bool, Diagnostics> {
    let (cluster, conflicts) = (asked.cluster(), asked.terms.conflicts);
    let obstacle = Obstacle::of(cluster, asked.desired, conflicts, location, live).await?;
    Ok(obstacle.is_some())
}

/// What is tainted, or named by `-replace`, is planned as a creation, and protected all the same.
fn protected(asked: &Asked<'_>, key: &ObjectKey, live: &Json) -> Result<(), Diagnostics> {
    match asked.terms.deletion.protection {
        _ if asked.session.ledger.knows(&Fact::Protected(uid_of(live).to_owned())) => {
            Err(messages::deletion::protected_from_remaking(key).into())
        }
        Protection::Protected => Err(messages::deletion::protected_from_remaking(key).into()),
        Protection::Untold => Err(messages::deletion::protection_untold(key).into()),
        Protection::None => Ok(()),
    }
}

fn id_of(object: &Json) -> Option<&str> {
    object["metadata"]["annotations"][ID_ANNOTATION].as_str()
}

fn is_going(object: &Json) -> bool {
    !object["metadata"]["deletionTimestamp"].is_null()
}
