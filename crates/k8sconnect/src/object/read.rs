//! Refresh: the object as it is now, seen through the fields that we left behind.
//!
//! Nothing is written, neither to the cluster nor to what is kept of the last write: that is what
//! the next plan compares with. Only what is missing is added: the cluster's UID, and what another
//! provider that wrote last did not keep (see `upgrade`). An object is dropped from state only if the server proved it
//! absent.

use k8sconnect_cluster::{Cluster, Targets};
use k8sconnect_core::field::FieldSet;
use k8sconnect_core::ignore::Yielded;
use k8sconnect_core::owners::Owners;
use k8sconnect_core::plan::Condition;
use tfplugin::{Diagnostics, Private, Read, ReadAnswer, Value};

use super::held::Held;
use super::model::ObjectModel;
use super::upgrade;
use super::whose::{FoundObject, whose};
use crate::leaves;
use crate::look::look_in_any_version;
use crate::messages;
use crate::object::terms::{Protection, Terms};
use crate::plan_ledger::{Fact, Name};
use crate::read_cache::ReadObject;
use crate::resource::LastApply;
use crate::resource::live::{NamesObject, uid_of, version_of};
use crate::resource::refresh::{self, LiveObject, Refresh};
use crate::session::Session;

pub(crate) async fn read(
    session: &Session,
    request: Read<ObjectModel>,
    notices: &mut Diagnostics,
) -> Result<ReadAnswer<ObjectModel>, Diagnostics> {
    let Read { state, mut private, .. } = request;
    let mut held = Held::load(state, &private)?;
    let LiveObject { opened, location, live } =
        match find(session, &held, &private, notices).await? {
            Refresh::Present(found) => found,
            Refresh::Gone => return Ok(ReadAnswer::Gone),
            Refresh::Unread => return unread(session, held, private),
        };
    let before = (held.stored.clone(), held.model.managed_state_projection.clone());
    let yielded = match held.terms.yields_to().next() {
        Some(_) => seen_of(&held.terms, &Owners::of_object(&live).naming(held.key())?),
        None => Yielded::new(),
    };
    held.saw(version_of(&live), yielded);
    held.stored.cluster = opened.uid.or(held.stored.cluster);
    held.stored.unread = false;
    let mut condition = Condition::Otherwise;
    let projection = match held.last_apply() {
        LastApply::Never => None,
        LastApply::Known(_) => {
            let found = held.planner().refreshed(held.prior(), &live).naming(held.key())?;
            condition = found.condition;
            held.stored.drifted = condition == Condition::Otherwise;
            Some(found.projection)
        }
        LastApply::Lost | LastApply::ByGoProvider => {
            upgrade::recover(&opened.cluster, &location, &mut held, &live).await?
        }
    };
    let mut state = held.model.clone();
    if let Some(projection) = projection {
        let map = leaves::map(&projection, held.stored.key.as_ref());
        state.managed_state_projection = Value::Known(map);
    }
    // What the projection shows is not stored, so that another one needs another form.
    if (&held.stored, &state.managed_state_projection) != (&before.0, &before.1) {
        held.stored.save(&mut private, &state)?;
    }
    let uid = uid_of(&live).to_owned();
    session.ledger.note_id_annotation(&uid, &live);
    session.ledger.note(Fact::InState(uid.clone()));
    if held.terms.deletion.protection == Protection::Protected {
        session.ledger.note(Fact::Protected(uid.clone()));
    }
    session.reads.keep(held.id(), ReadObject { live, condition });
    state.uid = Value::Known(uid);
    Ok(ReadAnswer::Present { state, private, identity: None })
}

/// Finds the object, and makes sure that it is the one in state.
async fn find(
    session: &Session,
    held: &Held,
    private: &Private,
    notices: &mut Diagnostics,
) -> Result<Refresh<LiveObject>, Diagnostics> {
    let (key, origin) = (held.key(), held.model.cluster_args().origin());
    let look = async |cluster: &Cluster| {
        let location = held.location(cluster).await?;
        let targets = Targets::from(cluster);
        let look = look_in_any_version(&targets, &location, key, origin).await?;
        Ok((location, look))
    };
    let found = match refresh::find(session, held.recorded(), notices, look).await? {
        Refresh::Present(found) => found,
        other => return Ok(other),
    };
    let LiveObject { opened, location, live } = &found;
    let other = Some(uid_of(live));
    match whose(held, live, opened.identity) {
        _ if held.uid().is_empty() => upgrade::identify(held, live, private)?,
        FoundObject::AnotherObject if opened.identity.proves_absence_at_refresh() => {
            let name = Name::new(opened.cluster.host(), &location.key());
            session.ledger.note(Fact::Superseded(name));
            return Ok(Refresh::Gone);
        }
        FoundObject::AnotherObject | FoundObject::Unconfirmed => {
            return Ok(opened.unconfirmed(key, other, notices));
        }
        FoundObject::Restored => notices.push(messages::object::restored(key)),
        FoundObject::Ours | FoundObject::AnotherState(_) => {}
    }
    Ok(Refresh::Present(found))
}

/// Keeps what state has, and marks it for the plan.
fn unread(
    session: &Session,
    mut held: Held,
    mut private: Private,
) -> Result<ReadAnswer<ObjectModel>, Diagnostics> {
    session.reads.note_unreadable(held.id());
    held.stored.unread = true;
    held.stored.save(&mut private, &held.model)?;
    Ok(ReadAnswer::Present { state: held.model, private, identity: None })
}

/// What the managers that the user yields to hold now.
pub(crate) fn seen_of(terms: &Terms, owners: &Owners) -> Yielded {
    terms
        .yields_to()
        .map(|name| {
            let held = owners.0.iter().filter(|owner| owner.manager.name == name);
            let fields = held.fold(FieldSet::default(), |all, owner| all.union(&owner.fields));
            (name.to_owned(), fields)
        })
        .collect()
}
