//! What a plan can say of operations, whose meaning hangs on the object as it is when they are
//! carried out: somebody may write between the plan that was shown and the apply.
//!
//! What a new `copy` or `move` brings is not promised, nor what the server draws. Positions are not to mean other items than
//! the plan showed, so an object whose lists changed meanwhile is refused.

use k8sconnect_core::owners::Owners;
use k8sconnect_core::patch::{Form, Kept, Mark, Operation, Patch, Shape};
use k8sconnect_core::projection::ConcealmentKey;
use serde_json::Value as Json;
use tfplugin::Value;

use super::in_state::PatchInState;
use super::trial::PatchDryRun;
use crate::leaves::{self, ProjectionMap};

/// The leaves as they are planned.
pub(crate) fn planned(
    patch: &Patch,
    live: &Json,
    trial: &PatchDryRun,
    kept: Option<&Kept>,
    key: Option<&ConcealmentKey>,
) -> ProjectionMap {
    let mut map = leaves::map(&trial.outcome.leaves, key);
    let brought = trial.outcome.footprints.iter().filter(|footprint| {
        matches!(footprint.operation, Operation::Copy { .. } | Operation::Move { .. })
    });
    for mark in brought.flat_map(|footprint| &footprint.marks) {
        let (Mark::Set(path) | Mark::Item(path)) = mark else {
            continue;
        };
        if kept.is_none_or(|kept| !kept.texts.contains_key(path))
            && let Some(text) = map.get_mut(&path.shown())
        {
            *text = Value::Unknown;
        }
    }
    for path in patch.open(live, &trial.answer, &trial.outcome) {
        let is_kept = |text: &Value<String>| {
            let kept = kept.and_then(|kept| kept.texts.get(&path));
            kept.is_some() && kept == text.known()
        };
        if let Some(text) = map.get_mut(&path.shown()).filter(|text| !is_kept(text)) {
            *text = Value::Unknown;
        }
    }
    map
}

/// Whether positions may mean other items than they did at the last refresh.
pub(crate) fn are_other_items(patch: &Patch, held: &PatchInState, live: &Json) -> bool {
    let Form::Json(operations) = patch.form() else {
        return false;
    };
    let counts = |operation: &Operation| {
        operation.at().0.iter().any(|name| name.bytes().all(|byte| byte.is_ascii_digit()))
    };
    let seen = held.stored.target.as_ref().and_then(|target| target.content.as_deref());
    operations.iter().any(counts)
        && seen.is_some_and(|seen| Some(seen) != content(live, held.stored.key.as_ref()).as_deref())
}

/// A short name for what positions in an object mean.
pub(crate) fn content(object: &Json, key: Option<&ConcealmentKey>) -> Option<String> {
    let shape = Shape::told_by(&Owners::of_object(object).ok()?);
    let mut content = object.clone();
    content.as_object_mut()?.remove("status");
    content["metadata"].as_object_mut()?.remove("managedFields");
    Some(key?.hash(&shape.lists(&content).to_string()))
}
