//! Plan: what the patch would do to the object as it is now, and from whom it would take what.

mod asked;
mod contest;
mod target;

use k8sconnect_cluster::{Location, Scope, Targets};
use k8sconnect_core::field::FieldSet;
use k8sconnect_core::identity::ObjectKey;
use k8sconnect_core::patch::{Kept, Patch};
use serde_json::Value as Json;
use tfplugin::{AttributePath, Diagnostics, Plan, Planned, Value};

use super::in_state::PatchInState;
use super::model::PatchModel;
use super::stored::SinceApply;
use super::trial::PatchDryRun;
use super::{foresight, outlook, upgrade};
use crate::cluster_identity::Opened;
use crate::connect::Reach;
use crate::object_ref::ObjectRef;
use crate::plan_ledger::{Address, Fact, Name, PlannedAction, Target};
use crate::plan_phase::PlanPhase;
use crate::read_cache::PatchWrite;
use crate::resource::Adoption;
use crate::session::Session;
use crate::{leaves, messages};
use asked::{PatchPlan, settled};
pub(super) use target::{ReadFor, look};
use target::{Sighting, at_last, changed_parts, not_there, standing};

pub(crate) async fn plan(
    phase: &PlanPhase,
    session: &Session,
    request: Plan<PatchModel>,
    notices: &mut Diagnostics,
) -> Result<Planned<PatchModel>, Diagnostics> {
    let Plan { config, prior, proposed, private, .. } = request;
    let held = prior.map(|prior| PatchInState::load(prior, &private)).transpose()?;
    let predecessor = match &held {
        Some(held) => {
            enter_kept(session, held)?;
            None
        }
        None => session.ledger.replaced_by(&private),
    };
    let planning =
        Planning { phase, session, config: &config, predecessor: predecessor.as_deref() };
    let key = config.target.known().and_then(ObjectRef::key);
    if let (Some(held), Some(key)) = (&held, &key)
        && let changed = changed_parts(held, key)
        && !changed.is_empty()
    {
        planning.another_target(held, key, notices).await?;
        let part = |name| AttributePath::root("target").attribute(name);
        let requires_replace = changed.into_iter().map(part).collect();
        let state = later(proposed, None);
        return Ok(Planned { state, private, requires_replace, identity: None });
    }
    let state = planning.same_target(held, key, proposed, notices).await?;
    Ok(Planned { state, private, requires_replace: vec![], identity: None })
}

/// What is planned.
struct Planning<'a> {
    phase: &'a PlanPhase,
    session: &'a Session,
    config: &'a PatchModel,
    /// The id of the patch that a creation replaces.
    predecessor: Option<&'a str>,
}

impl Planning<'_> {
    /// The target in state gets its fields back, and another object is patched.
    async fn another_target(
        &self,
        held: &PatchInState,
        key: &ObjectKey,
        notices: &mut Diagnostics,
    ) -> Result<(), Diagnostics> {
        let Self { phase, session, config, .. } = self;
        session.open_in_state(held.recorded(), notices).await?;
        // What is handed back and what is patched instead belong into one cluster.
        let recorded = Some(held.recorded());
        let opened = session.open_configured(config.cluster_args(), recorded, notices).await?;
        if let Some(opened) = opened {
            let targets = Targets::from(&*opened.cluster);
            let reader = ReadFor::of(config, Some(held));
            let found = look(session, &targets, &held.key, reader).await?;
            held.confirm(&opened, found.as_ref().map(|(_, live, _)| live))?;
        }
        match phase {
            PlanPhase::ApplyReplan(_) => {
                return Err(messages::patch::target_known_late(&held.key, key).into());
            }
            PlanPhase::Unknown => notices.push(messages::patch::if_applying(&held.key)),
            PlanPhase::Plan => {}
        }
        notices.push(messages::patch::another_target(&held.key, key));
        notices.extend(outlook::end(session, held).await);
        foretell(session, config, key, held.id(), notices).await
    }

    async fn same_target(
        &self,
        held: Option<PatchInState>,
        key: Option<ObjectKey>,
        proposed: PatchModel,
        notices: &mut Diagnostics,
    ) -> Result<PatchModel, Diagnostics> {
        let Self { phase, session, config, .. } = *self;
        let (Some(key), Some(patch)) = (&key, read(config, key.as_ref())?) else {
            notices.push(messages::patch::unknown());
            if let Some(held) = &held {
                leave_open(session, config, held, notices).await?;
            }
            return Ok(later(proposed, held.as_ref()));
        };
        notices.extend(odd(phase, config, held.as_ref(), &patch));
        let Reach::Ready(connection) = session.reach(config.cluster_args())? else {
            notices.push(messages::object::terms_unknown(&["cluster"]));
            return Ok(later(proposed, held.as_ref()));
        };
        // The same object, and where it lives is known of the one in state.
        let key = &held.as_ref().map_or(key, |held| &held.key).clone();
        let address = config.address(held.as_ref().map(PatchInState::id));
        if let Some(held) = held.as_ref().filter(|it| is_as_left(session, it, &proposed, &patch)) {
            let targets = Targets::from(&*session.cluster(&connection).await?);
            enter(session, &targets, &held.location(&targets).await?.key(), &address)?;
            return Ok(settled(proposed, held));
        }
        let recorded = held.as_ref().map(PatchInState::recorded);
        let opened = session.open(&connection, recorded, notices).await?;
        let targets = Targets::from(&*opened.cluster);
        let found = self.find(&opened, key, held.as_ref(), &patch).await?;
        let means = match &found {
            Some((location, ..)) => location.key(),
            None => standing(&targets, key).await,
        };
        enter(session, &targets, &means, &address)?;
        match found {
            Some(found) => self.ask(&targets, found, patch, (held, proposed), notices).await,
            None => {
                notices.push(not_there(&targets, key).await);
                Ok(later(proposed, held.as_ref()))
            }
        }
    }

    /// Finds the target. What was known in the plan that the user saw must not become unknown in the
    /// apply. The target of a patch that state holds was there at the last read.
    async fn find(
        &self,
        opened: &Opened,
        key: &ObjectKey,
        held: Option<&PatchInState>,
        patch: &Patch,
    ) -> Result<Option<(Location, Json, Sighting)>, Diagnostics> {
        let targets = Targets::from(&*opened.cluster);
        let reader = ReadFor::of(self.config, held);
        let mut found = look(self.session, &targets, key, reader).await?;
        if let Some(held) = held {
            held.confirm(opened, found.as_ref().map(|(_, live, _)| live))?;
        }
        match (self.phase, held) {
            (PlanPhase::ApplyReplan(_), _) | (PlanPhase::Unknown, Some(_)) => {
                found = Some(at_last(&targets, key, held, found).await?);
            }
            (PlanPhase::Plan, _) | (PlanPhase::Unknown, None) => {}
        }
        if *self.phase != PlanPhase::Plan
            && let (Some(held), Some((_, live, _))) = (held, &found)
            && foresight::are_other_items(patch, held, live)
        {
            return Err(messages::patch::changed_since(key).into());
        }
        Ok(found)
    }

    async fn ask(
        &self,
        targets: &Targets,
        (location, live, seen): (Location, Json, Sighting),
        patch: Patch,
        (mut held, proposed): (Option<PatchInState>, PatchModel),
        notices: &mut Diagnostics,
    ) -> Result<PatchModel, Diagnostics> {
        let patch = &settled_in(&location, patch, notices, held.as_ref());
        if let Some(held) = &mut held {
            held.recover(&live);
            upgrade::recover(held, targets, &location, &live).await;
        }
        let Self { phase, session, config, predecessor } = *self;
        let (location, address) = (&location, config.address(held.as_ref().map(PatchInState::id)));
        let asked = PatchPlan { session, targets, location, patch, address, predecessor, phase };
        let adoption = Adoption::of(&config.adopt);
        match &held {
            Some(held) => asked.change(held, proposed, (live, seen), adoption, notices).await,
            None => asked.creation(proposed, live, adoption, notices).await,
        }
    }
}

/// Whether a plan that does not read has nothing to do: the last read or write found everything as the
/// patch left it, state shows that, and nothing else is wanted.
fn is_as_left(
    session: &Session,
    held: &PatchInState,
    proposed: &PatchModel,
    patch: &Patch,
) -> bool {
    let was_left = |(former, kept): (&Patch, &Kept)| {
        let kept = kept.texts.iter().map(|(path, text)| (path.shown(), text.clone())).collect();
        *former == held.scoped(patch.clone())
            && leaves::texts(&held.model.managed_state_projection) == Some(kept)
    };
    let target = held.stored.target.as_ref();
    !session.reads.has_read(held.id())
        && !held.stored.unread
        && settled(proposed.clone(), held) == held.model
        && target.is_some_and(|target| target.since_apply == SinceApply::Unchanged)
        && held.past().is_some_and(was_left)
}

/// Enters a patch of this object, and refuses one of an object that another address creates.
fn enter(
    session: &Session,
    targets: &Targets,
    key: &ObjectKey,
    address: &Address,
) -> Result<(), Diagnostics> {
    let name = Target::Name(Name::new(targets.host(), key));
    let patch = PlannedAction::Patch(FieldSet::default());
    let entered = session.ledger.plan(name, address.clone(), patch);
    entered.map_err(|conflict| messages::addresses::conflict(key, &conflict).into())
}

/// Enters a patch in state, and refuses it if a new patch takes it for tainted.
pub(super) fn enter_kept(session: &Session, held: &PatchInState) -> Result<(), Diagnostics> {
    let (patch, address) = (held.id().to_owned(), Address::InState(held.id().to_owned()));
    let entered = session.ledger.plan(Target::Patch(patch), address, PlannedAction::Keep);
    entered.map_err(|conflict| messages::addresses::conflict(&held.key, &conflict).into())
}

/// Compares the cluster, and notes that the target may become anything.
async fn leave_open(
    session: &Session,
    config: &PatchModel,
    held: &PatchInState,
    notices: &mut Diagnostics,
) -> Result<(), Diagnostics> {
    let recorded = Some(held.recorded());
    let opened = session.open_configured(config.cluster_args(), recorded, notices).await?;
    if let Some(opened) = opened {
        session.ledger.note(Fact::Changed(Name::new(opened.cluster.host(), &held.key)));
    }
    Ok(())
}

/// Tells what a patch that moves takes from its new target. Terraform plans that as a creation too,
/// but shows no warnings of it.
async fn foretell(
    session: &Session,
    config: &PatchModel,
    key: &ObjectKey,
    predecessor: &str,
    notices: &mut Diagnostics,
) -> Result<(), Diagnostics> {
    let (Some(patch), Reach::Ready(connection)) =
        (read(config, Some(key))?, session.reach(config.cluster_args())?)
    else {
        return Ok(());
    };
    let targets = Targets::from(&*session.cluster(&connection).await?);
    match look(session, &targets, key, ReadFor::Anew).await? {
        Some((location, live, _)) => {
            let patch = settled_in(&location, patch, notices, None);
            let (targets, location, patch) = (&targets, &location, &patch);
            let phase = &PlanPhase::Plan;
            let (address, predecessor) = (config.address(None), Some(predecessor));
            let asked =
                PatchPlan { session, targets, location, patch, address, predecessor, phase };
            let adoption = Adoption::of(&config.adopt);
            asked.creation(PatchModel::default(), live, adoption, notices).await.map(drop)
        }
        None => {
            notices.push(not_there(&targets, key).await);
            Ok(())
        }
    }
}

/// The patch, now that it is known where objects of its kind live. What is said about it is said
/// once.
fn settled_in(
    location: &Location,
    patch: Patch,
    notices: &mut Diagnostics,
    held: Option<&PatchInState>,
) -> Patch {
    if location.kind.scope == Scope::Namespaced {
        return patch;
    }
    if held.is_none() && patch.key().namespace.is_some() {
        notices.push(messages::patch::no_namespace(patch.key()));
    }
    patch.without_namespace()
}

/// What is odd about the text: told with the text that brings it, and not again by the apply.
/// Terraform validates twice a run, so it is not told there.
fn odd(
    phase: &PlanPhase,
    config: &PatchModel,
    held: Option<&PatchInState>,
    patch: &Patch,
) -> Diagnostics {
    let is_told =
        |held: &PatchInState| held.model.written() == config.written() || *phase != PlanPhase::Plan;
    if held.is_some_and(is_told) {
        return Diagnostics::new();
    }
    let texts = config.written();
    let texts = texts.iter().filter_map(|(_, _, text)| text.as_str());
    let found: Vec<_> = texts.flat_map(|text| patch.oddities(text)).collect();
    messages::patch::oddities(patch.key(), patch.manner(), &found)
}

/// Reads the patch that is configured; `None` while it is not known.
pub(crate) fn read(
    config: &PatchModel,
    key: Option<&ObjectKey>,
) -> Result<Option<Patch>, Diagnostics> {
    let written = config.written();
    let (known, unknown): (Vec<_>, Vec<_>) =
        written.iter().partition(|(_, _, text)| text.is_known());
    match (known.as_slice(), unknown.len()) {
        // What is not known yet may turn out to be null.
        ([] | [_], 1..) => Ok(None),
        ([(manner, attribute, text)], 0) => {
            let (Some(text), Some(key)) = (text.known(), key) else {
                return Ok(None);
            };
            Patch::read(*manner, text, key.clone())
                .map(Some)
                .map_err(|errors| messages::patch::unusable(&errors, attribute, key).into())
        }
        (several, _) => {
            let told = messages::patch::one_of_three(several.len());
            Err(match several.get(1) {
                Some((_, second, _)) => told.at(AttributePath::root(*second)).into(),
                None => told.into(),
            })
        }
    }
}

/// Keeps what the write needs, which may follow in this process.
fn remember(session: &Session, address: Address, live: &Json, trial: &PatchDryRun) {
    let (live, answer, manager) = (live.clone(), trial.answer.clone(), trial.manager.clone());
    session.reads.keep_patch_write(address, PatchWrite { live, answer, manager });
}

/// What is planned where only the apply can tell.
fn later(proposed: PatchModel, held: Option<&PatchInState>) -> PatchModel {
    let id = held.map_or(Value::Unknown, |held| held.model.id.clone());
    PatchModel {
        id,
        managed_fields: Value::Unknown,
        previous_owners: Value::Unknown,
        managed_state_projection: Value::Unknown,
        ..proposed
    }
}
