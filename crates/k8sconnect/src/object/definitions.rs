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
use serde_json::Value as Json;
use tfplugin::Diagnostics;
use tokio::time::Instant;

use crate::place::place;
use crate::plan_ledger::{Fact, Name};
use crate::plan_phase::PlanPhase;
use crate::session::Session;

/// How long the server may take to serve a kind whose definition is there.
const SERVED_SOON: Duration = Duration::from_secs(15);

/// Notes that this process has made, changed or deleted an object, which may be a definition.
pub(super) fn note_written(session: &Session, cluster: &Cluster, location: &Location) {
    if !is_definition(&location.kind.gvk) {
        return;
    }
    if let Some((_, group)) = location.name.split_once('.') {
        session.ledger.note(written(cluster, group));
        cluster.forget_kinds(group);
    }
}

fn is_definition(gvk: &Gvk) -> bool {
    let definition = Gvk::definition();
    gvk.group == definition.group && gvk.kind == definition.kind
}

fn written(cluster: &Cluster, group: &str) -> Fact {
    Fact::DefinitionWritten { host: cluster.host().to_string(), group: group.to_owned() }
}

/// Notes which versions a planned change of a CRD changes. Without the object before and after the
/// change it may be any.
pub(super) fn note_change(
    session: &Session,
    cluster: &Cluster,
    key: &ObjectKey,
    sides: Option<[&Json; 2]>,
) {
    if !is_definition(&key.gvk) {
        return;
    }
    let name = Name::new(cluster.host(), key);
    let redefined = |version| session.ledger.note(Fact::Redefined(name.clone(), version));
    let Some(sides) = sides else {
        redefined(None);
        return;
    };
    let [before, after] =
        sides.map(|it| it["spec"]["versions"].as_array().map_or(&[][..], |it| it));
    for version in before.iter().chain(after) {
        if !(before.contains(version) && after.contains(version)) {
            redefined(version["name"].as_str().map(ToOwned::to_owned));
        }
    }
}

/// Whether this run creates the CRD of a kind, and has not created it yet.
pub(super) fn is_to_be_remade(
    phase: &PlanPhase,
    session: &Session,
    cluster: &Cluster,
    kind: &Kind,
) -> bool {
    let created = Fact::Created(Name::of_definition(cluster.host(), kind));
    session.ledger.knows(&created)
        && !session.ledger.knows(&written(cluster, &kind.gvk.group))
        && !phase.is_apply()
}

/// Whether another definition than the one that the server answers by will judge what is planned. Only
/// for a plan that the user sees: what it promised, the plan of the apply must promise as well.
pub(super) fn is_to_change(
    session: &Session,
    cluster: &Cluster,
    kind: &Kind,
    phase: &PlanPhase,
) -> bool {
    *phase == PlanPhase::Plan
        && session.ledger.redefines(cluster.host(), kind)
        && !session.ledger.knows(&written(cluster, &kind.gvk.group))
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
    let is_written = session.ledger.knows(&written(cluster, &key.gvk.group));
    let expected =
        is_written || phase.is_apply() && matches!(cluster.is_defined(&key.gvk).await, Ok(true));
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
