//! Plan: wire to model, model to cluster, cluster to core, core to messages, and back.
//!
//! This file knows the order of things and little else. What is asked about an object that is to
//! be made is in [`creation`], about one that exists in [`change`].

mod change;
mod creation;
mod immutability;
mod shared;
mod swallowed;

use k8sconnect_cluster::{Cluster, Conflicts, Location, NotYet, Observation};
use k8sconnect_core::identity::{LivesIn, ObjectKey};
use k8sconnect_core::manifest::Manifest;
use k8sconnect_core::outgoing::{Guard, Outgoing};
use k8sconnect_core::plan::{Decision, Planner};
use k8sconnect_core::rejection::Status;
use serde_json::Value as Json;
use tfplugin::{AttributePath, Diagnostic, Diagnostics, Plan, Planned, Value};

use super::blast;
use super::body::{self, Given};
use super::definitions;
use super::held::Held;
use super::identity;
use super::model::ObjectModel;
use super::unread;
use crate::cluster_identity::{ClusterIdentity, Opened};
use crate::connect::Reach;
use crate::messages::blast::Fate;
use crate::messages::manifest::Attribute;
use crate::messages::ownership::Whose;
use crate::object::terms::{Protection, Terms};
use crate::plan_ledger::Fact;
use crate::plan_phase::{PlanPhase, PlanRecord};
use crate::session::Session;
use crate::{MANAGER, messages};

/// What a dry-run bears for the id that only the write will give: an annotation that is written there
/// beside the user's own makes another object of it.
const UNBORN: &str = "00000000-0000-0000-0000-000000000000";

pub(crate) async fn plan(
    phase: &PlanPhase,
    session: &Session,
    request: Plan<ObjectModel>,
    notices: &mut Diagnostics,
) -> Result<Planned<ObjectModel>, Diagnostics> {
    let Plan { config, prior, proposed, private, .. } = request;
    let held = prior.map(|prior| Held::load(prior, &private)).transpose()?;
    let identify = held.is_none();
    let predecessor = match identify {
        true => session.ledger.replaced_by(&private),
        false => None,
    };
    let planned = |state| {
        // One that is not known yet is given at apply: OpenTofu cannot store it.
        let identity = identify.then(|| identity::of(&state)).filter(Value::is_wholly_known);
        Planned { state, private, requires_replace: vec![], identity }
    };

    let desired = match (body::given(&config)?, &held) {
        (Given::Body(desired), _) => *desired,
        // Its version says that nothing changed; what it holds is asked for only to write it.
        (Given::Unknown, Some(held)) if is_same_version(&config, held) => held.manifest.clone(),
        (Given::Unknown, held) => {
            notices.push(messages::object::body_unknown());
            if let Some(held) = &held {
                leave_open(session, &config, held, notices).await?;
                if let Some(live) = session.reads.get(held.id()) {
                    tell_at_stake(held, &live, notices)?;
                }
            }
            return Ok(planned(later(proposed, held.as_ref())));
        }
    };
    let desired = match &held {
        Some(held) => held.named(desired),
        None => desired,
    };
    // Terraform validates twice a run, so it is told here, with the body that brings it.
    if held.as_ref().is_none_or(|held| brings_oddities(phase, &config, held, &desired)) {
        let attribute = match config.yaml_body_wo.is_null() {
            true => body::attribute(&config),
            false => Attribute::WriteOnly,
        };
        notices.extend(messages::manifest::oddities(&desired, attribute));
    }
    if let Some(held) = &held
        && let changes = held.key().changes_to(desired.key(), lives_in(held))
        && !changes.is_empty()
    {
        if desired.is_same_body(&held.manifest) {
            return Err(messages::body::another_object(held.key(), &changes).into());
        }
        if held.is_untouched() {
            return Err(messages::import::another_object(held.key(), &changes).into());
        }
        protected(&config, held)?;
        let in_state = session.open_in_state(held.recorded(), notices).await?;
        // The deleted object and its successor belong into one cluster.
        let opened = opened(session, &config, held, notices).await?;
        if let Some(opened) = opened.as_ref().filter(|_| held.stored.unread) {
            let location = held.location(&opened.cluster).await?;
            unread::read_to_plan(opened, held, &location).await?;
        }
        match phase {
            PlanPhase::ApplyReplan(_) => {
                return Err(messages::object::identity_known_late(held.key(), &changes).into());
            }
            PlanPhase::Unknown => notices.push(messages::object::if_applying(held.key())),
            PlanPhase::Plan => {}
        }
        notices.push(messages::object::identity_changes(held.key(), &changes));
        tell_of_late_terms(&config, held, notices);
        session.ledger.note(Fact::InState(held.uid().to_owned()));
        if !held.key().is_namesake(desired.key(), lives_in(held)) {
            session.ledger.note(Fact::Renamed(held.uid().to_owned()));
        }
        blast::tell(held, in_state.as_ref(), Fate::Replaced, notices).await;
        if let Some(opened) = &opened {
            let asked_by = (phase, session);
            tell_of_successor(asked_by, opened, &config, held, desired, &proposed, notices).await;
        }
        return Ok(replaced(planned(later(proposed, None)), Forcing::Body));
    }
    let (terms, reach) = (Terms::read(&config)?, session.reach(config.cluster_args())?);
    let unknown = unknown(&config, &reach);
    let (Some(terms), Reach::Ready(connection)) = (terms, reach) else {
        notices.push(messages::object::terms_unknown(&unknown));
        if let Some(held) = &held
            && let Some(live) = session.reads.get(held.id())
        {
            tell_at_stake(held, &live, notices)?;
        }
        return Ok(planned(later(proposed, held.as_ref())));
    };
    let desired = desired.hiding(&terms.hidden);
    if let Some(held) = &held
        && is_connected_as_before(&config, held)
        && change::is_as_left(session, held, &desired, &terms)
    {
        return in_place(planned, change::unchanged(proposed, held));
    }
    let recorded = held.as_ref().map(Held::recorded);
    let opened = session.open(&connection, recorded, notices).await?;
    let asked = Asked { phase, session, opened: &opened, desired: &desired, terms: &terms };
    let Some(held) = &held else {
        let predecessor = predecessor.as_deref();
        let creation = creation::plan(&asked, predecessor, proposed, notices).await?;
        let mut planned = planned(creation.state);
        PlanRecord::note_found(&mut planned.private, creation.found)?;
        return Ok(planned);
    };
    if held.uid().is_empty() {
        return Err(messages::upgrade::refresh_first(held.key()).into());
    }
    if opened.identity != ClusterIdentity::Confirmed && !is_connected_as_before(&config, held) {
        // Only the object itself can show that the new connection leads to its cluster.
        let location = held.location(&opened.cluster).await?;
        unread::read_to_plan(&opened, held, &location).await?;
    }
    match change::plan(&asked, held, proposed, notices).await? {
        Change::InPlace(update) => in_place(planned, update),
        Change::Replacement(state) => {
            protected(&config, held)?;
            let in_state = session.open_in_state(held.recorded(), notices).await?;
            session.ledger.note(Fact::InState(held.uid().to_owned()));
            tell_of_late_terms(&config, held, notices);
            blast::tell(held, in_state.as_ref(), Fate::Replaced, notices).await;
            let forcing = match desired.is_same_body(&held.manifest) {
                true => Forcing::Ignoring,
                false => Forcing::Body,
            };
            Ok(replaced(planned(*state), forcing))
        }
    }
}

/// Tells what the plan of the successor will tell: of the second half of a replacement the user hears
/// errors only. Those are left to it.
async fn tell_of_successor(
    (phase, session): (&PlanPhase, &Session),
    opened: &Opened,
    config: &ObjectModel,
    held: &Held,
    desired: Manifest,
    proposed: &ObjectModel,
    notices: &mut Diagnostics,
) {
    let Ok(Some(terms)) = Terms::read(config) else {
        return;
    };
    let desired = desired.hiding(&terms.hidden);
    let asked = Asked { phase, session, opened, desired: &desired, terms: &terms };
    let mut foretold = Diagnostics::new();
    let successor = creation::plan(&asked, Some(held.id()), proposed.clone(), &mut foretold).await;
    if successor.is_ok() {
        notices.extend(foretold);
    }
}

/// The arguments that keep a plan from asking the server.
fn unknown(config: &ObjectModel, reach: &Reach) -> Vec<&'static str> {
    let mut names = Terms::unknown(config);
    if matches!(reach, Reach::Unknown) {
        // What the resource does not say, the provider block does.
        names.push(if config.cluster_name.is_unknown() { "cluster_name" } else { "cluster" });
    }
    names
}

/// The connection in the configuration; `None` while it is unknown.
async fn opened(
    session: &Session,
    config: &ObjectModel,
    held: &Held,
    notices: &mut Diagnostics,
) -> Result<Option<Opened>, Diagnostics> {
    session.open_configured(config.cluster_args(), Some(held.recorded()), notices).await
}

/// Compares the cluster, and notes that a CRD may become anything.
async fn leave_open(
    session: &Session,
    config: &ObjectModel,
    held: &Held,
    notices: &mut Diagnostics,
) -> Result<(), Diagnostics> {
    if let Some(Opened { cluster, .. }) = opened(session, config, held, notices).await? {
        definitions::note_change(session, &cluster, held.key(), None);
    }
    Ok(())
}

/// Warns of what others have changed, where only the apply can compare it with the new body.
fn tell_at_stake(held: &Held, live: &Json, notices: &mut Diagnostics) -> Result<(), Diagnostics> {
    let stake = held.planner().drift(held.prior(), live);
    let stake =
        stake.map_err(|error| messages::object::ownership_unreadable(held.key(), &error))?;
    if !stake.is_empty() {
        notices.push(messages::ownership::at_stake(held.key(), &stake));
    }
    Ok(())
}

/// Whether the configuration describes the connection as state does, which the refresh used.
fn is_connected_as_before(config: &ObjectModel, held: &Held) -> bool {
    held.model.cluster_args() == config.cluster_args()
}

/// A replacement deletes, which protection forbids: the one that is configured, and the one in
/// state, which stands until it is taken back by an apply of its own.
fn protected(config: &ObjectModel, held: &Held) -> Result<(), Diagnostics> {
    let configured = Protection::of(&config.delete_protection);
    match (held.terms.deletion.protection, configured) {
        (Protection::Protected, _) | (_, Protection::Protected) => {
            Err(messages::deletion::protected_from_replacement(held.key()).into())
        }
        (_, Protection::Untold) => Err(messages::deletion::protection_untold(held.key()).into()),
        (_, Protection::None) => Ok(()),
    }
}

/// A deletion knows what state holds and nothing of the configuration.
fn tell_of_late_terms(config: &ObjectModel, held: &Held, notices: &mut Diagnostics) {
    let (now, before) = (config, &held.model);
    let forces = |model: &ObjectModel| model.force_destroy.known() == Some(&true);
    let propagation = |model: &ObjectModel| match model.delete_propagation.as_str() {
        Some("background") | None => None,
        Some(other) => Some(other.to_owned()),
    };
    let late: Vec<_> = [
        ("force_destroy", forces(now) && !forces(before)),
        (
            "delete_timeout",
            now.delete_timeout.is_known() && now.delete_timeout != before.delete_timeout,
        ),
        ("delete_propagation", propagation(now) != propagation(before)),
    ]
    .into_iter()
    .filter_map(|(name, late)| late.then_some(name))
    .collect();
    if !late.is_empty() {
        notices.push(messages::deletion::terms_count_later(held.key(), &late));
    }
}

/// How a change is to be made.
enum Change {
    InPlace(Update),
    Replacement(Box<ObjectModel>),
}

/// A change in place.
struct Update {
    state: Box<ObjectModel>,
    /// The version of the object whose owners were compared with those that this leaves.
    compared: Option<String>,
}

fn in_place(
    planned: impl FnOnce(ObjectModel) -> Planned<ObjectModel>,
    Update { state, compared }: Update,
) -> Result<Planned<ObjectModel>, Diagnostics> {
    let mut planned = planned(*state);
    PlanRecord::note_compared(&mut planned.private, compared)?;
    Ok(planned)
}

/// What of the configuration asks for a replacement.
enum Forcing {
    Body,
    /// What was ignored and is not any more.
    Ignoring,
}

/// A replacement counts only where the value at its path differs, which the body's does, or its
/// version's.
fn replaced(mut planned: Planned<ObjectModel>, forcing: Forcing) -> Planned<ObjectModel> {
    let attributes: &[_] = match forcing {
        Forcing::Body => &["yaml_body", "yaml_body_wo_version"],
        Forcing::Ignoring => &["ignore_fields"],
    };
    planned.requires_replace.extend(attributes.iter().copied().map(AttributePath::root));
    planned
}

/// Whether a plan is the one to tell what is odd about the body: not where the body has been told
/// of before, nor in an apply, whose plan has told it.
fn brings_oddities(
    phase: &PlanPhase,
    config: &ObjectModel,
    held: &Held,
    desired: &Manifest,
) -> bool {
    let odd = |manifest: &Manifest| {
        manifest.boolean_keys().iter().map(|(written, _)| written.clone()).collect::<Vec<_>>()
    };
    *phase == PlanPhase::Plan
        && !is_same_version(config, held)
        && odd(desired) != odd(&held.manifest)
}

/// Whether a body that is never stored is wanted as it was.
fn is_same_version(config: &ObjectModel, held: &Held) -> bool {
    config.yaml_body.is_null()
        && config.yaml_body_wo_version.is_known()
        && config.yaml_body_wo_version == held.model.yaml_body_wo_version
}

/// What a plan is asked to bring about, and where.
pub(crate) struct Asked<'a> {
    pub(crate) phase: &'a PlanPhase,
    pub(crate) session: &'a Session,
    pub(crate) opened: &'a Opened,
    pub(crate) desired: &'a Manifest,
    pub(crate) terms: &'a Terms,
}

impl Asked<'_> {
    pub(crate) fn cluster(&self) -> &Cluster {
        &self.opened.cluster
    }

    fn key(&self) -> &ObjectKey {
        self.desired.key()
    }

    /// Sends the dry-run.
    async fn observe(
        &self,
        location: &Location,
        content: Json,
        id: Option<&str>,
        guard: Guard<'_>,
    ) -> Result<Observation, Diagnostics> {
        let namespace = location.namespace.as_deref();
        let conflicts = self.terms.conflicts_under(&guard);
        let body = Outgoing { content, namespace, id, guard }.body();
        let observed = self.cluster().observe(location, MANAGER, &body, conflicts).await;
        observed.map_err(|error| messages::refusal::not_taken(self.desired, &error).into())
    }

    /// What is told where a dry-run has to wait for something. What was known in the plan that the user
    /// saw must not become unknown in that of the apply: a webhook that fails now fails the write too.
    fn blindly(&self, why: NotYet, phase: &PlanPhase) -> Result<Diagnostic, Diagnostics> {
        match (why, phase) {
            (NotYet::Webhook { status }, PlanPhase::ApplyReplan(_) | PlanPhase::Unknown) => {
                Err(messages::refusal::refused(self.desired, &status).into())
            }
            (why, _) => Ok(messages::object::planned_blind(self.key(), &why)),
        }
    }

    /// Whether a refusal may be over by the time of the apply, since the definition of the kind is
    /// planned to change.
    fn is_redefined(&self, location: &Location, status: &Status) -> bool {
        status.blames_the_body()
            && self.session.ledger.redefines(self.cluster().host(), &location.kind)
    }

    /// Judges its answer, and reports what it comes to.
    fn decide(
        &self,
        planner: Planner<'_>,
        held: Option<&Held>,
        live: Option<&Json>,
        answer: &k8sconnect_cluster::Answer,
        notices: &mut Diagnostics,
    ) -> Result<Decision, Diagnostics> {
        let key = self.key();
        let unreadable = |error| messages::object::ownership_unreadable(key, &error);
        let prior = held.map(Held::prior);
        let decision =
            planner.decide(self.desired, prior, live, &answer.object).map_err(unreadable)?;
        let vain = planner.ignored_in_vain(&answer.object).map_err(unreadable)?;
        if !vain.is_empty() {
            return Err(messages::terms::ignored_in_vain(key, &vain).into());
        }
        let vain = planner.hidden_in_vain(self.desired, &answer.object).map_err(unreadable)?;
        if !vain.betrayed.is_empty() {
            return Err(messages::body::shown_by_its_path(key, &vain.betrayed).into());
        }
        if !vain.unmatched.is_empty() && (held.is_none() || live.is_some()) {
            notices.push(messages::body::hides_nothing(key, &vain.unmatched));
        }
        if self.terms.conflicts == Conflicts::Refuse
            && let Some(contested) = messages::ownership::contested(key, &decision.changes)
        {
            // The server saw no conflict, because the other wrote the field under another name.
            return Err(contested.into());
        }
        // The plan that the user saw has told of it.
        if held.is_none() || live.is_some() {
            let odd = planner.ignored_oddly(self.desired, &answer.object).map_err(unreadable)?;
            notices.extend(messages::terms::ignored_oddly(key, &odd));
        }
        let warnings =
            self.session.ledger.new_warnings(self.cluster().host(), key, &answer.warnings);
        notices.extend(messages::object::warnings_about(self.desired, &warnings));
        notices.extend(messages::ownership::reports(key, &decision.changes, Whose::Object));
        Ok(decision)
    }
}

fn lives_in(held: &Held) -> LivesIn {
    match held.model.object_ref.known() {
        Some(object_ref) if object_ref.namespace.is_null() => LivesIn::Cluster,
        _ => LivesIn::Namespace,
    }
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
