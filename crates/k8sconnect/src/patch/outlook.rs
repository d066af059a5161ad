//! What a plan says of fields that go back: worked out as the hand-back itself is, on the object as
//! it was last seen.

use k8sconnect_cluster::{Found, Location, Targets};
use k8sconnect_core::field::FieldPath;
use k8sconnect_core::field::fields_v1::FieldsV1Error;
use k8sconnect_core::field::walk::at as value_at;
use k8sconnect_core::handback::{
    Departure, Division, Extent, Leaving, Outlook, Patched, Prospect, other_versions,
};
use k8sconnect_core::identity::ObjectKey;
use k8sconnect_core::owners::Owners;
use k8sconnect_core::patch::{Outcome, manager_of};
use serde_json::Value as Json;
use tfplugin::Diagnostics;

use super::elsewhere::Elsewhere;
use super::in_state::PatchInState;
use super::note::Note;
use crate::messages;
use crate::messages::patch::Going;
use crate::session::Session;

/// Where an object is found.
type At<'a> = (&'a Targets, &'a Location);

/// All of a patch, which ends on this object. Where the object cannot be looked at, nothing is said:
/// the hand-back will fail for the same reason, and say that.
pub(crate) async fn end(session: &Session, held: &PatchInState) -> Diagnostics {
    let Some(live) = last_seen(session, held).await else {
        return Diagnostics::new();
    };
    let mut all = messages::patch::going(&held.key, &live, Going::Ends);
    let former = held.former(&live);
    let elsewhere = match other_versions(&former, &held.key.gvk.api_version()).is_empty() {
        true => Elsewhere::default(),
        false => match whereabouts(session, held).await {
            Some((targets, location)) => seen((&targets, &location), &former).await,
            None => Elsewhere::default(),
        },
    };
    let (manager, leaving) = (held.manager(), Leaving::All);
    let outlook = outlook(&held.key, &live, &elsewhere, &manager, &former, leaving);
    all.extend(worded(&held.key, outlook.of_all(&held.patched(&live))));
    all
}

/// Some fields, which leave the patch, and what is left of it.
pub(crate) fn departure(
    elsewhere: &Elsewhere,
    held: &PatchInState,
    live: &Json,
    leaving: &Departure,
    left: &[FieldPath],
    next: &Outcome,
) -> Diagnostics {
    let mut fields = held.patched(live);
    fields.retain(|field| left.contains(&field.path));
    let kept = |field: &Patched| {
        let whole = next.whole_around(&field.path).filter(|whole| leaving.leaves_be(whole))?;
        value_at(live, &field.path).map(|_| (field.path.clone(), Prospect::Kept(whole)))
    };
    let stay: Vec<_> = fields.iter().filter_map(kept).collect();
    fields.retain(|field| stay.iter().all(|(path, _)| *path != field.path));
    if fields.is_empty() {
        return worded(&held.key, Ok(stay));
    }
    let (manager, former) = (held.manager(), held.former(live));
    let leaving = Leaving::Fields(leaving);
    let outlook = outlook(&held.key, live, elsewhere, &manager, &former, leaving);
    let told = outlook.of_all(&fields).map(|told| told.into_iter().chain(stay).collect());
    worded(&held.key, told)
}

/// The fields that a patch gives up when it is made anew by another text, as its note on the object
/// tells: state is not shown to the plan of what is tainted.
pub(crate) async fn remaking(
    at: At<'_>,
    key: &ObjectKey,
    live: &Json,
    id: &str,
    next: &Outcome,
) -> Diagnostics {
    let Some(Note { former, fields, .. }) = Note::on(live, id) else {
        return Diagnostics::new();
    };
    let division = Division::told_by([&former]).with_losses(&former, &key.gvk.api_version());
    let extent = Extent::Whole;
    let left = next.leaves_out(fields.members().iter()).into_iter();
    let fields: Vec<_> = left
        .map(|path| Patched { recorded: division.holders(&former, &path, extent), extent, path })
        .collect();
    let elsewhere = seen(at, &former).await;
    let manager = manager_of(id);
    let outlook = outlook(key, live, &elsewhere, &manager, &former, Leaving::All);
    worded(key, outlook.of(&fields))
}

/// The object in other versions. Where it cannot be read, that tells nothing.
pub(crate) async fn seen((targets, location): At<'_>, former: &Owners) -> Elsewhere {
    Elsewhere::read(targets, location, former).await.unwrap_or_default()
}

fn outlook<'a>(
    key: &'a ObjectKey,
    live: &'a Json,
    elsewhere: &'a Elsewhere,
    manager: &'a str,
    former: &'a Owners,
    leaving: Leaving<'a>,
) -> Outlook<'a> {
    Outlook { live, elsewhere: &elsewhere.0, gvk: &key.gvk, manager, former, leaving }
}

fn worded(key: &ObjectKey, told: Result<Vec<(FieldPath, Prospect)>, FieldsV1Error>) -> Diagnostics {
    match told {
        Ok(prospects) => messages::patch::returns(key, &prospects),
        Err(error) => messages::object::ownership_unreadable(key, &error).into(),
    }
}

async fn whereabouts(session: &Session, held: &PatchInState) -> Option<(Targets, Location)> {
    let entered = session.enter(held.model.cluster_args()).await;
    let targets = Targets::from(&*entered.ok()??);
    let location = held.location(&targets).await.ok()?;
    Some((targets, location))
}

/// The object as this process read it, or as it is now. Only the one that was patched tells.
async fn last_seen(session: &Session, held: &PatchInState) -> Option<Json> {
    if let Some(live) = session.reads.get(held.id()) {
        return Some(live).filter(|live| held.is_same_object(live));
    }
    let (targets, location) = whereabouts(session, held).await?;
    match targets.get(&location).await.ok()? {
        Found::Object(answer) => Some(answer.object).filter(|live| held.is_same_object(live)),
        Found::Absent(_) | Found::NotServed(_) => None,
    }
}
