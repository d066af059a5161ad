//! Planning an object that state holds.

use k8sconnect_cluster::{Found, Location, Observation};
use k8sconnect_core::identity::Gvk;
use k8sconnect_core::manifest::Manifest;
use k8sconnect_core::outgoing::Guard;
use k8sconnect_core::owners::Owners;
use k8sconnect_core::plan::{Condition, Decision, Glance, Planner, Spelling};
use k8sconnect_core::rejection::Rejection;
use serde_json::Value as Json;
use tfplugin::{Diagnostic, Diagnostics, Value};

use super::immutability::{self, Attempt, Refusal};
use super::shared::Recipient;
use super::swallowed;
use super::{Asked, Change, Update, later};
use crate::leaves::{self, ProjectionMap};
use crate::messages::import::Body;
use crate::messages::refusal::Subject;
use crate::object::definitions;
use crate::object::held::Held;
use crate::object::model::ObjectModel;
use crate::object::read::seen_of;
use crate::object::terms::{Protection, Terms};
use crate::object::unread;
use crate::plan_phase::PlanPhase;
use crate::read_cache::{Cached, ReadObject};
use crate::resource::live::version_of;
use crate::session::Session;
use crate::{MANAGER, messages};

pub(super) async fn plan(
    asked: &Asked<'_>,
    held: &Held,
    proposed: ObjectModel,
    notices: &mut Diagnostics,
) -> Result<Change, Diagnostics> {
    let key = asked.key();
    let unreadable = |error| messages::object::ownership_unreadable(key, &error);
    let location = held.location(asked.cluster()).await?;
    let read = recall(asked, held, &location).await?;
    if let Some(ReadObject { live, .. }) = &read {
        // A read that had to go by another version says so.
        let served = Gvk::new(live["apiVersion"].as_str().unwrap_or_default(), &key.gvk.kind);
        if served != held.key().gvk {
            if !asked.desired.is_same_body(&held.manifest) {
                return Err(messages::served::cannot_change(asked.desired, &served).into());
            }
            // Nothing is asked for, and a destruction is planned after a plan like this one.
            notices.push(messages::served::has_moved(asked.desired, &served));
            return Ok(Change::InPlace(unchanged(proposed, held)));
        }
        // Of an import, what it takes over is told with the rest.
        if !held.is_untouched() {
            notices.extend(messages::object::bears_another_id(key, held.id(), live));
        }
        notices.extend(messages::object::is_being_deleted(key, live));
    }
    let (mut ignoring, unseen) = asked.terms.ignoring(asked.desired, &held.stored.yielded);
    let planner = Planner { manager: MANAGER, ignoring: &ignoring };
    if unseen.is_empty() && glance(planner, asked, held, read.as_ref())? == Glance::Settled {
        return Ok(Change::InPlace(unchanged(proposed, held)));
    }
    let read = read.map(|seen| seen.live);
    if !asked.desired.is_whole() {
        notices.push(messages::object::body_unknown());
        tell_at_stake(held, read.as_ref(), notices)?;
        definitions::note_change(asked.session, asked.cluster(), held.key(), None);
        let state = Box::new(later(proposed, Some(held)));
        return Ok(Change::InPlace(Update { state, compared: None }));
    }
    let for_write = match &read {
        None if asked.terms.ignores_any() => for_write(asked, held, &location).await?,
        _ => None,
    };
    let live = read.as_ref().or(for_write.as_ref());
    if let Some(live) = live
        && !unseen.is_empty()
    {
        let owners = Owners::of_object(live).map_err(unreadable)?;
        ignoring = asked.terms.ignoring(asked.desired, &seen_of(asked.terms, &owners)).0;
    }
    let planner = Planner { manager: MANAGER, ignoring: &ignoring };
    let mut content = planner.content(asked.desired, live).map_err(unreadable)?;
    let guard = Guard::Uid(held.uid());
    let mut state = later(proposed, Some(held));
    let mut compared = None;
    let to = Recipient { location: &location, held: Some(held), guard, live };
    let observation = asked.observe_shared(planner, to, &mut content).await?;
    match observation {
        Observation::Answered(answer) => {
            let told = match read {
                None if is_to_be_told(asked.phase, held, &answer.object) => match for_write {
                    Some(live) => Some(live),
                    None => look(asked, &location).await?,
                },
                read => read,
            };
            let decision = asked.decide(planner, Some(held), told.as_ref(), &answer, notices)?;
            compared = version_of(told.as_ref().unwrap_or(&answer.object));
            if let Some(live) = &told {
                let attempt = Attempt { location: &location, live, content: &content };
                let told = swallowed::told(asked, planner, held, attempt, &answer.object).await?;
                notices.extend(told);
                notices.extend(unsent(asked, planner, held, attempt)?);
            }
            let sides = told.as_ref().map(|live| [live, &answer.object]);
            definitions::note_change(asked.session, asked.cluster(), held.key(), sides);
            if let Some(live) = &told
                && held.is_untouched()
            {
                let takeover = planner.takeover(&decision, live, &answer.object);
                let takeover = takeover.map_err(unreadable)?;
                let body = match asked.desired.is_same_body(&held.manifest) {
                    true => Body::AsImported,
                    false => Body::Another,
                };
                notices.push(messages::import::takes_over(key, &takeover, body));
            }
            if decision.spelling == Spelling::Former {
                state.yaml_body = held.model.yaml_body.clone();
            }
            if let Some(live) = &told
                && !unseen.is_empty()
            {
                let owners = Owners::of_object(live).map_err(unreadable)?;
                notices.push(messages::terms::yields_anew(key, &unseen, &owners));
            }
            // Whose fields are yielded is settled by the next read; until then nothing is promised.
            // Nor for a body that is never stored, which may hold other values when it is applied.
            if unseen.is_empty() && asked.desired.is_stored() {
                let map = leaves::planned(&decision, held.stored.key.as_ref());
                let changes = held.model.managed_state_projection.known() != Some(&map);
                state.managed_state_projection = match held.stored.unread {
                    false if changes && is_redefined(asked, &location) => {
                        notices.push(messages::object::planned_before_its_definition(key));
                        Value::Unknown
                    }
                    false if changes || decision.spelling == Spelling::New => Value::Known(map),
                    false => {
                        let decision = match &told {
                            None if held.stored.drifted => {
                                let live = look(asked, &location).await?;
                                let (live, prior) = (live.as_ref(), Some(held.prior()));
                                planner
                                    .decide(asked.desired, prior, live, &answer.object)
                                    .map_err(unreadable)?
                            }
                            _ => decision,
                        };
                        changing_owners(&decision, map)
                    }
                    true => unrefreshed(asked, held, told.as_ref(), map)?,
                };
            }
        }
        Observation::NotYet(why) => {
            notices.push(asked.blindly(why, asked.phase)?);
            tell_at_stake(held, read.as_ref(), notices)?;
            definitions::note_change(asked.session, asked.cluster(), held.key(), None);
        }
        Observation::Exists(_) => return Err(messages::object::changed_meanwhile(key).into()),
        Observation::Refused(status) if asked.is_redefined(&location, &status) => {
            let subject = Subject { manifest: asked.desired, former: live };
            notices.push(messages::refusal::redefined(subject, &status));
            tell_at_stake(held, read.as_ref(), notices)?;
            definitions::note_change(asked.session, asked.cluster(), held.key(), None);
        }
        Observation::Refused(status) => {
            // An object in the way would have been found.
            if status.rejection() == Rejection::Conflict {
                return Err(messages::object::gone_meanwhile(key).into());
            }
            // The server may quote what is there, and what may not be shown of that must be known.
            let looked = match live {
                None => look(asked, &location).await?,
                Some(_) => None,
            };
            let live = live.or(looked.as_ref());
            if let Rejection::FieldConflicts(causes) = status.rejection() {
                return Err(messages::refusal::conflicts(&causes, asked.desired, live).into());
            }
            if held.is_untouched() {
                let subject = Subject { manifest: asked.desired, former: live };
                return Err(messages::import::not_as_it_is(subject, &status).into());
            }
            let Some(live) = live else {
                return Err(messages::object::gone_meanwhile(key).into());
            };
            let attempt = Attempt { location: &location, live, content: &content };
            let warning =
                match immutability::classify_refusal(asked, held, attempt, &status).await? {
                    Refusal::Replace(warning) => warning,
                    Refusal::Error(error) => return Err(error),
                };
            match asked.phase {
                PlanPhase::ApplyReplan(_) if is_protected(asked, held) => {
                    return Err(messages::deletion::protected_from_replacement(key).into());
                }
                PlanPhase::ApplyReplan(_) => {
                    let late = messages::replacement::immutable_known_late(asked.desired, &warning);
                    return Err(late.into());
                }
                PlanPhase::Unknown => notices.push(messages::object::if_applying(key)),
                PlanPhase::Plan => {}
            }
            notices.push(warning);
            return Ok(Change::Replacement(Box::new(later(state, None))));
        }
    }
    Ok(Change::InPlace(Update { state: Box::new(state), compared }))
}

/// Whether a process that did not read the object reports who loses what. An apply does not repeat what
/// its plan has reported for the version that the plan compared. Where the client does not hand that
/// over, it is taken to be the version that the last read found.
fn is_to_be_told(phase: &PlanPhase, held: &Held, answer: &Json) -> bool {
    let version = version_of(answer);
    match phase {
        PlanPhase::ApplyReplan(record) => !record.has_compared(version.as_deref()),
        PlanPhase::Plan => true,
        PlanPhase::Unknown => version != held.stored.seen,
    }
}

fn tell_at_stake(
    held: &Held,
    read: Option<&Json>,
    notices: &mut Diagnostics,
) -> Result<(), Diagnostics> {
    match read {
        Some(live) => super::tell_at_stake(held, live, notices),
        None => Ok(()),
    }
}

/// What is said of new fields that nothing sends. Of a body that is never stored, the former is not known.
fn unsent(
    asked: &Asked<'_>,
    planner: Planner<'_>,
    held: &Held,
    attempt: Attempt<'_>,
) -> Result<Option<Diagnostic>, Diagnostics> {
    if !held.manifest.is_stored() {
        return Ok(None);
    }
    let former = Some(&held.manifest).filter(|_| !held.is_untouched());
    let unsent = planner.ignored_unsent(asked.desired, former, attempt.live, attempt.content);
    let unsent =
        unsent.map_err(|error| messages::object::ownership_unreadable(asked.key(), &error))?;
    Ok(messages::terms::ignored_unsent(asked.key(), &unsent))
}

/// The projection where the write changes no value. Terraform applies a plan only if an attribute changes,
/// so that leaves which get another owner are known after apply.
fn changing_owners(decision: &Decision, mut map: ProjectionMap) -> Value<ProjectionMap> {
    if !decision.writes() {
        return Value::Known(map);
    }
    let mut leaves = decision.change_of_owners().peekable();
    if leaves.peek().is_none() {
        return Value::Unknown;
    }
    map.extend(leaves.map(|path| (path.shown(), Value::Unknown)));
    Value::Known(map)
}

/// What can be promised of leaves where no read has shown in state how they are. What state shows
/// as it is to be may have to be put right nevertheless, which must not look like no change. In the
/// apply all may be told: what is known then need not have been known before, but not the other way
/// round.
fn unrefreshed(
    asked: &Asked<'_>,
    held: &Held,
    live: Option<&Json>,
    mut map: ProjectionMap,
) -> Result<Value<ProjectionMap>, Diagnostics> {
    let Some(former) = held.model.managed_state_projection.known().filter(|it| **it != map) else {
        return Ok(Value::Unknown);
    };
    if *asked.phase != PlanPhase::Plan {
        return Ok(Value::Known(map));
    }
    let Some(live) = live.filter(|_| held.stored.kept.is_some()) else {
        return Ok(Value::Unknown);
    };
    let live = held
        .planner()
        .refreshed(held.prior(), live)
        .map_err(|error| messages::object::ownership_unreadable(asked.key(), &error))?;
    let live = leaves::map(&live.projection, held.stored.key.as_ref());
    for (path, text) in &mut map {
        if former.get(path) == Some(text) && live.get(path) != Some(text) {
            *text = Value::Unknown;
        }
    }
    Ok(Value::Known(map))
}

/// Whether the definition of the kind will be another one by the time that this is applied.
fn is_redefined(asked: &Asked<'_>, location: &Location) -> bool {
    definitions::is_to_change(asked.session, asked.cluster(), &location.kind, asked.phase)
}

/// Whether a replacement is forbidden, as it was configured or as it is now.
fn is_protected(asked: &Asked<'_>, held: &Held) -> bool {
    let all = [asked.terms, &held.terms];
    all.iter().any(|terms| terms.deletion.protection == Protection::Protected)
}

/// The object as this process read it; read once more if that is too long ago. A process that
/// never read it plans again what was planned before, and has no need to, unless the answer to the
/// dry-run shows that the object changed meanwhile.
async fn recall(
    asked: &Asked<'_>,
    held: &Held,
    location: &Location,
) -> Result<Option<ReadObject>, Diagnostics> {
    let live = match asked.session.reads.take(held.id()) {
        Cached::Read(read) => return Ok(Some(read)),
        Cached::NeverRead if held.stored.unread => {
            Some(unread::read_to_plan(asked.opened, held, location).await?)
        }
        Cached::NeverRead => None,
        Cached::Evicted => look(asked, location).await?,
    };
    Ok(live.map(|live| ReadObject { live, condition: Condition::Otherwise }))
}

/// What ignored fields hold now must be known to send it. The write that follows needs it too.
async fn for_write(
    asked: &Asked<'_>,
    held: &Held,
    location: &Location,
) -> Result<Option<Json>, Diagnostics> {
    let live = look(asked, location).await?;
    if let Some(live) = &live {
        asked.session.reads.for_write(held.id(), |write| write.live = Some(live.clone()));
    }
    Ok(live)
}

pub(super) async fn look(
    asked: &Asked<'_>,
    location: &Location,
) -> Result<Option<Json>, Diagnostics> {
    let found = asked.cluster().get(location).await;
    match found.map_err(|error| messages::refusal::unanswered(asked.key(), &error))? {
        Found::Object(answer) => Ok(Some(answer.object)),
        Found::Absent(_) | Found::NotServed(_) => Ok(None),
    }
}

/// Whether a plan without a refresh has nothing to do, by what the last apply left: it asks the cluster
/// nothing.
pub(super) fn is_as_left(
    session: &Session,
    held: &Held,
    desired: &Manifest,
    terms: &Terms,
) -> bool {
    let is_uncertain = held.stored.unread || held.stored.drifted;
    if is_uncertain || held.uid().is_empty() || session.reads.has_read(held.id()) {
        return false;
    }
    let (ignoring, unseen) = terms.ignoring(desired, &held.stored.yielded);
    let shown = leaves::texts(&held.model.managed_state_projection);
    let planner = Planner { manager: MANAGER, ignoring: &ignoring };
    let glance = planner.trust(desired, held.prior(), shown.as_ref());
    unseen.is_empty() && glance == Glance::Settled
}

fn glance(
    planner: Planner<'_>,
    asked: &Asked<'_>,
    held: &Held,
    read: Option<&ReadObject>,
) -> Result<Glance, Diagnostics> {
    let (desired, prior) = (asked.desired, held.prior());
    match read {
        None if held.stored.drifted => Ok(Glance::Ask),
        None => {
            let shown = leaves::texts(&held.model.managed_state_projection);
            Ok(planner.trust(desired, prior, shown.as_ref()))
        }
        Some(ReadObject { condition: Condition::AsLeft, .. }) => {
            Ok(planner.glance_after(desired, prior, Condition::AsLeft))
        }
        Some(ReadObject { live, condition: Condition::Otherwise }) => planner
            .glance(desired, prior, live)
            .map_err(|error| messages::object::ownership_unreadable(asked.key(), &error).into()),
    }
}

/// Nothing would change in the cluster, and there is nothing to report for the version that the last
/// read or write found.
pub(super) fn unchanged(proposed: ObjectModel, held: &Held) -> Update {
    let state = Box::new(settled(proposed, held));
    Update { state, compared: held.stored.seen.clone() }
}

/// What is planned where nothing would change in the cluster.
fn settled(proposed: ObjectModel, held: &Held) -> ObjectModel {
    ObjectModel {
        yaml_body: held.model.yaml_body.clone(),
        managed_state_projection: held.model.managed_state_projection.clone(),
        ..later(proposed, Some(held))
    }
}
