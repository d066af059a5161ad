//! Telling of edits that the server accepts and drops.

use k8sconnect_core::ignore::Ignoring;
use k8sconnect_core::plan::Planner;
use k8sconnect_core::swallowed::{Edit, emptied, unmoved};
use serde_json::Value as Json;
use tfplugin::{Diagnostic, Diagnostics};

use super::Asked;
use super::immutability::{Attempt, made_beside};
use crate::object::held::Held;
use crate::{MANAGER, messages};

/// What is said of an edit that the answer shows nothing of. Only where it may be another spelling
/// is the server asked once more. Of a body that is never stored, the former is not known.
pub(super) async fn told(
    asked: &Asked<'_>,
    planner: Planner<'_>,
    held: &Held,
    attempt: Attempt<'_>,
    answer: &Json,
) -> Result<Diagnostics, Diagnostics> {
    if held.is_untouched() {
        let told = emptied_at_first(asked, planner, attempt, answer).await?;
        return Ok(told.into_iter().collect());
    }
    let Attempt { location, live, content } = attempt;
    let desired = asked.desired;
    let is_known = desired.is_stored() && held.manifest.is_stored();
    if !is_known || desired.is_same_body(&held.manifest) {
        return Ok(Diagnostics::new());
    }
    let edit = Edit { before: held.manifest.value(), after: desired.value(), sent: content };
    let unreadable = |error| messages::object::ownership_unreadable(asked.key(), &error);
    let emptied = |anew: Option<&Json>, ignoring: &Ignoring| {
        emptied(edit, answer, anew, MANAGER, ignoring).map_err(unreadable)
    };
    let mut kept = emptied(None, planner.ignoring)?;
    let unmoved = unmoved(edit, live, answer, MANAGER).map_err(unreadable)?;
    // What is left to them is no edit that is lost.
    let unmoved = unmoved.besides(&emptied(None, &Ignoring::default())?);
    let anew = match unmoved.perhaps.is_empty() && kept.is_empty() {
        true => None,
        false => made_beside(asked, location, &desired.as_applied()).await?,
    };
    let mut told = Diagnostics::new();
    if let Some(anew) = &anew {
        kept = emptied(Some(anew), planner.ignoring)?;
        told.extend(messages::swallowed::dropped(desired, &unmoved.dropped_by(anew)));
    }
    told.extend(messages::swallowed::emptied(desired, answer, &kept));
    let swallowed = unmoved.told_by(&anew.unwrap_or_default());
    told.extend(messages::swallowed::swallowed(desired, live, &swallowed));
    Ok(told)
}

/// What is said of the first write to an object that others made, where it says that something is empty.
pub(super) async fn emptied_at_first(
    asked: &Asked<'_>,
    planner: Planner<'_>,
    attempt: Attempt<'_>,
    answer: &Json,
) -> Result<Option<Diagnostic>, Diagnostics> {
    let desired = asked.desired;
    let edit = Edit { before: &Json::Null, after: desired.value(), sent: attempt.content };
    let kept = |anew: Option<&Json>| {
        emptied(edit, answer, anew, MANAGER, planner.ignoring)
            .map_err(|error| messages::object::ownership_unreadable(asked.key(), &error))
    };
    if kept(None)?.is_empty() {
        return Ok(None);
    }
    let anew = made_beside(asked, attempt.location, &desired.as_applied()).await?;
    Ok(messages::swallowed::emptied(desired, answer, &kept(anew.as_ref())?))
}
