//! Refresh: the object as it is now, seen through the fields that we left behind.
//!
//! Nothing is written, neither to the cluster nor to what is kept of the last write: that is what
//! the next plan compares with. Only what is missing is added: the cluster's UID, and what another
//! provider that wrote last did not keep (see `upgrade`). An object is dropped from state only if the server proved it
//! absent.

use k8sconnect_cluster::{Cluster, Location, Targets};
use k8sconnect_core::field::FieldSet;
use k8sconnect_core::ignore::Yielded;
use k8sconnect_core::owners::Owners;
use k8sconnect_core::plan::Condition;
use serde_json::Value as Json;
use tfplugin::{Diagnostics, Private, Read, ReadAnswer, Value};

use super::held::Held;
use super::model::ObjectModel;
use super::upgrade;
use super::whose::{Whose, uid_of, whose};
use crate::cluster_identity::Opened;
use crate::connection_origin::ConnectionOrigin;
use crate::leaves;
use crate::look::{Look, look_in_any_version};
use crate::messages;
use crate::object::terms::{Protection, Terms};
use crate::plan_ledger::{Fact, Name};
use crate::read_cache::ReadObject;
use crate::resource::refresh::Refresh;
use crate::session::Session;

/// The object in state, found in its own cluster.
struct Sighting {
    opened: Opened,
    location: Location,
    live: Json,
}

pub(crate) async fn read(
    session: &Session,
    request: Read<ObjectModel>,
    notices: &mut Diagnostics,
) -> Result<ReadAnswer<ObjectModel>, Diagnostics> {
    let Read { state, mut private, .. } = request;
    let mut held = Held::load(state, &private)?;
    let Sighting { opened, location, live } = match find(session, &held, &private, notices).await? {
        Refresh::Present(sighting) => sighting,
        Refresh::Gone => return Ok(ReadAnswer::Gone),
        Refresh::Unread => return unread(session, held, private),
    };
    let key = held.key().clone();
    let unreadable = |error| messages::object::ownership_unreadable(&key, &error);
    let yielded = match held.terms.yields_to().next() {
        Some(_) => seen_of(&held.terms, &Owners::of_object(&live).map_err(unreadable)?),
        None => Yielded::new(),
    };
    let seen = version_of(&live);
    let cluster_uid = opened.uid.or_else(|| held.stored.cluster.clone());
    if yielded != held.stored.yielded
        || seen != held.stored.seen
        || cluster_uid != held.stored.cluster
        || held.stored.unread
    {
        held.stored.yielded = yielded;
        held.stored.seen = seen;
        held.stored.cluster = cluster_uid;
        held.stored.unread = false;
        held.stored.save(&mut private, &held.model)?;
        held = Held::load(held.model, &private)?;
    }
    let mut condition = Condition::Otherwise;
    let projection = if upgrade::lacks_memory(&held) {
        let projection = upgrade::recover(&opened.cluster, &location, &mut held, &live).await?;
        held.stored.save(&mut private, &held.model)?;
        projection.map(|projection| leaves::map(&projection, held.stored.key.as_ref()))
    } else if held.stored.kept.is_some() {
        let found = held.planner().refreshed(held.prior(), &live).map_err(unreadable)?;
        condition = found.condition;
        Some(leaves::map(&found.projection, held.stored.key.as_ref()))
    } else {
        None
    };
    let mut state = held.model.clone();
    if let Some(projection) = projection {
        state.managed_state_projection = Value::Known(projection);
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

/// Finds the object through the connection in state.
async fn find(
    session: &Session,
    held: &Held,
    private: &Private,
    notices: &mut Diagnostics,
) -> Result<Refresh<Sighting>, Diagnostics> {
    let key = held.key();
    let origin = ConnectionOrigin::of(&held.model.cluster);
    let look = async |cluster: &Cluster| {
        let location = held.location(cluster).await?;
        let look = look_in_any_version(&Targets::from(cluster), &location, key, origin).await?;
        Ok::<_, Diagnostics>((location, look))
    };
    let Some((opened, found)) = session.refresh(held.recorded(), notices, look).await? else {
        return Ok(Refresh::Unread);
    };
    let (location, look) = found?;
    let live = match look {
        Look::Present(live) => live,
        Look::Moved(_) => return Err(messages::served::kind_unserved(key).into()),
        Look::Absent => return Ok(opened.not_found(key, notices)),
        Look::NotAllowed(error) => {
            notices.push(messages::unread::not_refreshed(key, &error, origin));
            return Ok(Refresh::Unread);
        }
    };
    let other = Some(uid_of(&live));
    match whose(held, &live, opened.identity) {
        _ if held.uid().is_empty() => upgrade::identify(held, &live, private)?,
        Whose::AnotherObject => {
            if !opened.identity.proves_absence_at_refresh() {
                return Ok(opened.unconfirmed(key, other, notices));
            }
            let name = Name::new(opened.cluster.host(), &location.key());
            session.ledger.note(Fact::Superseded(name));
            return Ok(Refresh::Gone);
        }
        Whose::Unconfirmed => {
            return Ok(opened.unconfirmed(key, other, notices));
        }
        Whose::Restored => notices.push(messages::object::restored(key)),
        Whose::Ours | Whose::AnotherState(_) => {}
    }
    Ok(Refresh::Present(Sighting { opened, location, live }))
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

pub(crate) fn version_of(object: &Json) -> Option<String> {
    object["metadata"]["resourceVersion"].as_str().map(ToOwned::to_owned)
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
