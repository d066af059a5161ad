//! Kinds whose definition the same run makes anew.
//!
//! What the server says of a kind's objects is void then: the next definition may put them into no
//! namespace, or serve them a moment later. Until it is there nothing is promised. Once this process
//! has written the definition, which only an apply does, what was promised must hold: the kind is
//! waited for, and what was known is not made unknown. One that merely changes leaves its objects where
//! they are, but may fill in or sort their fields in another way.

use std::time::Duration;

use k8sconnect_cluster::{Cluster, Kind, Location, NotYet, Placed};
use k8sconnect_core::identity::{Gvk, ObjectKey};
use tfplugin::Diagnostics;
use tokio::time::Instant;

use crate::place::place;
use crate::plan_phase::PlanPhase;
use crate::session::Session;

/// How long the server may take to serve a kind whose definition is there.
const SERVED_SOON: Duration = Duration::from_secs(15);

/// Notes that this process has made, changed or deleted an object, which may be a definition.
pub(super) fn note_written(session: &Session, cluster: &Cluster, location: &Location) {
    let definition = Gvk::definition();
    let gvk = &location.kind.gvk;
    if gvk.group != definition.group || gvk.kind != definition.kind {
        return;
    }
    if let Some((_, group)) = location.name.split_once('.') {
        session.memory.note_defined(cluster.host(), group);
        cluster.forget_kinds(group);
    }
}

/// Whether the definition of a kind is planned to be made, and has not been made yet.
pub(super) fn is_to_be_remade(
    phase: &PlanPhase,
    session: &Session,
    cluster: &Cluster,
    kind: &Kind,
) -> bool {
    let (memory, host) = (&session.memory, cluster.host());
    let key = ObjectKey { gvk: Gvk::definition(), namespace: None, name: kind.definition_name() };
    memory.is_made(host, &key) && !memory.has_defined(host, &kind.gvk.group) && !phase.is_apply()
}

/// Whether another definition than the one that the server answers by will judge what is planned. Only
/// for a plan that the user sees: what it promised, the plan of the apply must promise as well.
pub(super) fn is_to_change(
    session: &Session,
    cluster: &Cluster,
    kind: &Kind,
    phase: &PlanPhase,
) -> bool {
    let (memory, host) = (&session.memory, cluster.host());
    *phase == PlanPhase::Plan
        && memory.redefines(host, kind)
        && !memory.has_defined(host, &kind.gvk.group)
}

/// Finds the kind of what is to be made. In an apply, one that has a definition is waited for.
pub(super) async fn placed(
    phase: &PlanPhase,
    session: &Session,
    cluster: &Cluster,
    key: &ObjectKey,
    patience: Duration,
) -> Result<Placed, Diagnostics> {
    let placed = place(cluster, key).await?;
    let Placed::NotYet(NotYet::Kind { .. }) = &placed else {
        return Ok(placed);
    };
    let written = session.memory.has_defined(cluster.host(), &key.gvk.group);
    let expected =
        written || phase.is_apply() && matches!(cluster.is_defined(&key.gvk).await, Ok(true));
    if !expected {
        return Ok(placed);
    }
    let deadline = Instant::now() + patience.min(SERVED_SOON);
    // What cannot be told here, the write that follows tells.
    match cluster.await_kind(&key.gvk, deadline).await {
        Ok(Some(kind)) => Ok(Placed::At(kind)),
        Ok(None) | Err(_) => Ok(placed),
    }
}
