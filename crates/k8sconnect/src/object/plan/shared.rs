//! The dry-run, in the letters of those who hold a field together with us.

use k8sconnect_cluster::{Conflicts, Location, Observation};
use k8sconnect_core::outgoing::{Guard, Outgoing};
use k8sconnect_core::plan::Planner;
use k8sconnect_core::projection::Texts;
use k8sconnect_core::rejection::Rejection;
use k8sconnect_core::spelling;
use serde_json::Value as Json;
use tfplugin::Diagnostics;

use super::{Asked, UNBORN};
use crate::object::held::Held;
use crate::{MANAGER, messages};

/// Whom a body is sent to, and what is known of it.
#[derive(Clone, Copy)]
pub(super) struct Recipient<'a> {
    pub(super) location: &'a Location,
    pub(super) held: Option<&'a Held>,
    pub(super) guard: Guard<'a>,
    pub(super) live: Option<&'a Json>,
}

impl Asked<'_> {
    /// Asks what a body comes to. What others hold, and what only means the same as theirs, is put
    /// into the server's spelling and asked again: written otherwise it would be taken from them for
    /// nothing.
    pub(super) async fn observe_shared(
        &self,
        planner: Planner<'_>,
        to: Recipient<'_>,
        content: &mut Json,
    ) -> Result<Observation, Diagnostics> {
        let id = Some(to.held.map_or(UNBORN, Held::id));
        let observation = self.observe(to.location, content.clone(), id, to.guard).await?;
        let unreadable = |error| messages::object::ownership_unreadable(self.key(), &error);
        let forced = match &observation {
            Observation::Refused(status)
                if matches!(status.rejection(), Rejection::FieldConflicts(_)) =>
            {
                Some(self.forced(to, content.clone()).await?)
            }
            _ => None,
        };
        let Observation::Answered(answer) = forced.as_ref().unwrap_or(&observation) else {
            return Ok(observation);
        };
        let mut respelt = planner.respelt(content, &answer.object).map_err(unreadable)?;
        respelt.retain(|path, spelt| may_stay(to.held, &path.shown(), spelt));
        if respelt.is_empty() {
            return Ok(observation);
        }
        let shared = match to.live {
            Some(live) => planner.shared(respelt, live),
            None => match super::change::look(self, to.location).await? {
                Some(live) => planner.shared(respelt, &live),
                None => Ok(Texts::new()),
            },
        };
        let shared = shared.map_err(unreadable)?;
        if shared.is_empty() {
            return Ok(observation);
        }
        spelling::as_it_stands(content, &shared);
        if let Some(held) = to.held {
            self.session.memory.keep_spelling(held.id(), shared);
        }
        self.observe(to.location, content.clone(), id, to.guard).await
    }

    /// What would come of it by force, which a dry-run may use without harm.
    async fn forced(&self, to: Recipient<'_>, content: Json) -> Result<Observation, Diagnostics> {
        let namespace = to.location.namespace.as_deref();
        let id = Some(to.held.map_or(UNBORN, Held::id));
        let body = Outgoing { content, namespace, id, guard: to.guard }.body();
        let observed = self.cluster.observe(to.location, MANAGER, &body, Conflicts::Force).await;
        observed.map_err(|error| messages::refusal::not_taken(self.desired, &error).into())
    }
}

/// Whether a leaf may be on the object in this spelling already: what state shows of it is otherwise
/// only if it changes, or if nothing is known of it.
fn may_stay(held: Option<&Held>, path: &str, spelt: &str) -> bool {
    let shown = held.and_then(|held| held.model.managed_state_projection.known());
    let is = shown.and_then(|shown| shown.get(path)).and_then(|text| text.known());
    is.is_none_or(|is| is == spelt)
}
