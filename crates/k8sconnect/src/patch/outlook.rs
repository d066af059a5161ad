//! What a plan says of fields that go back: worked out as the hand-back itself is, on the object as
//! it was last seen.

use k8sconnect_cluster::{Found, Targets};
use k8sconnect_core::field::FieldPath;
use k8sconnect_core::handback::{Departure, Division, Extent, Leaving, Outlook, Patched};
use k8sconnect_core::identity::ObjectKey;
use k8sconnect_core::patch::{Outcome, manager_of};
use serde_json::Value as Json;
use tfplugin::Diagnostics;

use super::held::Held;
use super::note::Note;
use crate::messages;
use crate::messages::patch::Going;
use crate::session::Session;

/// All of a patch, which ends on this object. Where the object cannot be looked at, nothing is said:
/// the hand-back will fail for the same reason, and say that.
pub(crate) async fn end(session: &Session, held: &Held) -> Diagnostics {
    match last_seen(session, held).await {
        Some(live) => {
            let mut all = messages::patch::going(&held.key, &live, Going::Ends);
            all.extend(told(held, &live, Leaving::All, &held.patched(&live)));
            all
        }
        None => Diagnostics::new(),
    }
}

/// Some fields, which leave the patch.
pub(crate) fn departure(
    held: &Held,
    live: &Json,
    leaving: &Departure,
    left: &[FieldPath],
) -> Diagnostics {
    let mut fields = held.patched(live);
    fields.retain(|field| left.contains(&field.path));
    told(held, live, Leaving::Fields(leaving), &fields)
}

/// The fields that a patch gives up when it is made anew by another text, as its note on the object
/// tells: state is not shown to the plan of what is tainted.
pub(crate) fn remaking(key: &ObjectKey, live: &Json, id: &str, next: &Outcome) -> Diagnostics {
    let Some(Note { former, fields, .. }) = Note::on(live, id) else {
        return Diagnostics::new();
    };
    let division = Division::told_by([&former]);
    let extent = Extent::Whole;
    let left = next.leaves_out(fields.members().iter()).into_iter();
    let fields: Vec<_> = left
        .map(|path| Patched { recorded: division.holders(&former, &path, extent), extent, path })
        .collect();
    let (manager, leaving) = (manager_of(id), Leaving::All);
    let outlook = Outlook { live, gvk: &key.gvk, manager: &manager, former: &former, leaving };
    worded(key, &outlook, &fields)
}

fn told(held: &Held, live: &Json, leaving: Leaving<'_>, fields: &[Patched]) -> Diagnostics {
    let (manager, former) = (held.manager(), held.former(live));
    let outlook = Outlook { live, gvk: &held.key.gvk, manager: &manager, former: &former, leaving };
    worded(&held.key, &outlook, fields)
}

fn worded(key: &ObjectKey, outlook: &Outlook<'_>, fields: &[Patched]) -> Diagnostics {
    match outlook.of(fields) {
        Ok(prospects) => messages::patch::returns(key, &prospects),
        Err(error) => messages::object::ownership_unreadable(key, &error).into(),
    }
}

/// The object as this process read it, or as it is now. Only the one that was patched tells.
async fn last_seen(session: &Session, held: &Held) -> Option<Json> {
    if let Some(live) = session.memory.look_up(held.id()) {
        return Some(live).filter(|live| held.is_same_object(live));
    }
    let entered = session.enter(&held.model.cluster, &held.model.cluster_name).await;
    let targets = Targets::from(&*entered.ok()??);
    let location = held.location(&targets).await.ok()?;
    match targets.get(&location).await.ok()? {
        Found::Object(answer) => Some(answer.object).filter(|live| held.is_same_object(live)),
        Found::Absent(_) | Found::NotServed(_) => None,
    }
}
