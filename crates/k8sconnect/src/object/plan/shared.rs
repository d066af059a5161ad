//! The dry-run of a body, and of the same body in the spelling of the managers that co-own a field.

use k8sconnect_cluster::{Conflicts, Location, Observation};
use k8sconnect_core::field::FieldPath;
use k8sconnect_core::outgoing::{Guard, Outgoing};
use k8sconnect_core::plan::Planner;
use k8sconnect_core::projection::is_concealed;
use k8sconnect_core::rejection::Rejection;
use k8sconnect_core::spelling::{Respelling, Respellings, respell};
use k8sconnect_core::text;
use serde_json::Value as Json;
use tfplugin::Diagnostics;

use super::{Asked, UNBORN};
use crate::object::held::Held;
use crate::resource::live::version_of;
use crate::{MANAGER, messages};

/// The object that a body is sent to.
#[derive(Clone, Copy)]
pub(super) struct Recipient<'a> {
    pub(super) location: &'a Location,
    pub(super) held: Option<&'a Held>,
    pub(super) guard: Guard<'a>,
    pub(super) live: Option<&'a Json>,
}

impl Asked<'_> {
    /// Sends the dry-run. Puts each leaf that another manager co-owns in another spelling into the
    /// server's spelling: the written one would take the leaf without changing it.
    pub(super) async fn observe_shared(
        &self,
        planner: Planner<'_>,
        to: Recipient<'_>,
        content: &mut Json,
    ) -> Result<Observation, Diagnostics> {
        let (observation, shared) = self.find_shared(planner, to, content).await?;
        respell(content, &shared);
        if let (Some(held), Observation::Answered(answer)) = (to.held, &observation) {
            self.session.reads.for_write(held.id(), |write| {
                write.spelling = Some(shared);
                write.version = version_of(&answer.object);
            });
        }
        Ok(observation)
    }

    /// The answer that counts, and the leaves that others co-own in another spelling.
    async fn find_shared(
        &self,
        planner: Planner<'_>,
        to: Recipient<'_>,
        content: &Json,
    ) -> Result<(Observation, Respellings), Diagnostics> {
        let unreadable = |error| messages::object::ownership_unreadable(self.key(), &error);
        let none = Respellings::new;
        let first = self.first_try(planner, to);
        let mut as_written = self.ask(to, content, first).await?;
        let mut by_force = None;
        if is_conflict(&as_written) {
            let forced = self.ask(to, content, Conflicts::Force).await?;
            match self.terms.conflicts {
                Conflicts::Force => as_written = forced,
                Conflicts::Refuse => by_force = Some(forced),
            }
        } else if first == Conflicts::Refuse {
            // No other manager loses a field.
            return Ok((as_written, none()));
        }
        let Observation::Answered(answer) = by_force.as_ref().unwrap_or(&as_written) else {
            return Ok((as_written, none()));
        };
        let mut respelt = planner.respelt(content, &answer.object).map_err(unreadable)?;
        match to.live {
            Some(live) => respelt = planner.shared(respelt, live).map_err(unreadable)?,
            None => respelt.retain(|path, respelling| may_stay(to.held, path, respelling)),
        }
        if respelt.is_empty() {
            return Ok((as_written, none()));
        }
        let mut respelled = content.clone();
        respell(&mut respelled, &respelt);
        let again = self.ask(to, &respelled, self.terms.conflicts).await?;
        let Observation::Answered(other) = &again else {
            return Ok((if by_force.is_some() { again } else { as_written }, none()));
        };
        let answers = [&answer.object, &other.object];
        let shared = planner.shared_by_answers(respelt, answers).map_err(unreadable)?;
        Ok((if shared.is_empty() { as_written } else { again }, shared))
    }

    /// How the first dry-run deals with conflicts. A process that has not read the object does not
    /// know who co-owns a leaf. If a leaf is likely to be answered in another spelling, and no other
    /// manager owned it at the last write, a dry-run without force shows whether one owns it now.
    fn first_try(&self, planner: Planner<'_>, to: Recipient<'_>) -> Conflicts {
        match (to.live, to.held) {
            (None, Some(held)) if planner.was_respelt_alone(held.prior()) => Conflicts::Refuse,
            _ => self.terms.conflicts,
        }
    }

    async fn ask(
        &self,
        to: Recipient<'_>,
        content: &Json,
        conflicts: Conflicts,
    ) -> Result<Observation, Diagnostics> {
        let namespace = to.location.namespace.as_deref();
        let id = Some(to.held.map_or(UNBORN, Held::id));
        let body = Outgoing { content: content.clone(), namespace, id, guard: to.guard }.body();
        let observed = self.cluster().observe(to.location, MANAGER, &body, conflicts).await;
        observed.map_err(|error| messages::refusal::not_taken(self.desired, &error).into())
    }
}

fn is_conflict(observation: &Observation) -> bool {
    matches!(observation, Observation::Refused(status)
        if matches!(status.rejection(), Rejection::FieldConflicts(_)))
}

/// Whether the object may have a leaf in this spelling already. If state shows another value, the leaf
/// changes.
fn may_stay(held: Option<&Held>, path: &FieldPath, respelling: &Respelling) -> bool {
    let shown = held.and_then(|held| held.model.managed_state_projection.known());
    let is = shown.and_then(|shown| shown.get(&path.shown())).and_then(|text| text.known());
    is.is_none_or(|is| is_concealed(is) || *is == text::shown(&respelling.answered))
}
