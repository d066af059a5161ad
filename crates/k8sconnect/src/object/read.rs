//! Refresh: the object as it is now, seen through the fields that we left behind.
//!
//! Nothing is written, neither to the cluster nor to what is kept of the last write: that is what
//! the next plan compares with. Only where another provider wrote last, and nothing is kept, is it
//! found anew (see `upgrade`). An object is dropped from state only if the server proved it
//! absent.

use k8sconnect_cluster::{Cluster, Location, Targets};
use k8sconnect_core::field::FieldSet;
use k8sconnect_core::identity::ID_ANNOTATION;
use k8sconnect_core::ignore::Yielded;
use k8sconnect_core::owners::Owners;
use k8sconnect_core::plan::Condition;
use serde_json::Value as Json;
use tfplugin::{Diagnostics, Private, Read, ReadAnswer, Value};

use super::held::Held;
use super::home;
use super::model::ObjectModel;
use super::upgrade;
use crate::guard::{self, Absence, Unread};
use crate::leaves;
use crate::look::{Look, look_in_any_version};
use crate::memory::Seen;
use crate::messages;
use crate::messages::whereabouts::Way;
use crate::session::{Entry, Session};
use crate::terms::{Protection, Terms};

pub(crate) async fn read(
    session: &Session,
    request: Read<ObjectModel>,
    notices: &mut Diagnostics,
) -> Result<ReadAnswer<ObjectModel>, Diagnostics> {
    let Read { state, mut private, .. } = request;
    let mut held = Held::load(state, &private)?;
    let key = held.key().clone();
    let whose = Way::of(&held.model.cluster);
    let (named, name) = (&held.model.cluster, &held.model.cluster_name);
    let cluster = match session.enter_by_state(named, name).await? {
        Entry::Open(cluster) => cluster,
        Entry::Unknown => return unread(session, held, Unread::NoEntry, private),
        Entry::Shut(problems) => {
            notices.push(messages::whereabouts::way_unusable(&key, &problems, whose));
            return unread(session, held, Unread::NoEntry, private);
        }
    };
    let location = held.location(&cluster).await?;
    let targets = Targets::from(&*cluster);
    let live = match look_in_any_version(&targets, &location, &key, whose).await? {
        Look::Present(live) => live,
        Look::Moved(_) => return Err(messages::served::kind_unserved(&key).into()),
        Look::Absent => {
            return gone(session, &cluster, &location, held, private, notices).await;
        }
        Look::NotAllowed(error) => {
            notices.push(messages::whereabouts::not_refreshed(&key, &error, whose));
            return unread(session, held, Unread::NoEntry, private);
        }
    };
    let uid = live["metadata"]["uid"].as_str().unwrap_or_default().to_owned();
    if held.uid().is_empty() {
        upgrade::identify(&held, &live, &private)?;
    } else if uid != held.uid() {
        // A backup may also have been restored into another cluster, which is not ours.
        if live["metadata"]["annotations"][ID_ANNOTATION].as_str() != Some(held.id())
            || home::absence(&cluster, &held).await != Absence::Proved
        {
            let read = gone(session, &cluster, &location, held, private, notices).await;
            if matches!(read, Ok(ReadAnswer::Gone)) {
                session.memory.note_recreated(cluster.host(), location.key());
            }
            return read;
        }
        notices.push(messages::object::restored(&key));
    }
    let unreadable = |error| messages::object::ownership_unreadable(&key, &error);
    let yielded = match held.terms.yields_to().next() {
        Some(_) => seen_of(&held.terms, &Owners::of_object(&live).map_err(unreadable)?),
        None => Yielded::new(),
    };
    let seen = version_of(&live);
    let unread = held.stored.unread.take();
    if yielded != held.stored.yielded || seen != held.stored.seen || unread.is_some() {
        held.stored.yielded = yielded;
        held.stored.seen = seen;
        held.stored.save_sight(&mut private)?;
        held = Held::load(held.model, &private)?;
    }
    let mut condition = Condition::Otherwise;
    let projection = if upgrade::lacks_memory(&held) {
        let projection = upgrade::recover(&cluster, &location, &mut held, &live).await?;
        held.stored.cluster = guard::remember(&Targets::from(&*cluster), held.stored.cluster).await;
        held.stored.save(&mut private)?;
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
    session.memory.note_mark(&uid, &live);
    session.memory.keep(held.id(), &uid, Seen { live, condition });
    if held.terms.deletion.protection == Protection::Protected {
        session.memory.note_protected(&uid);
    }
    state.uid = Value::Known(uid);
    Ok(ReadAnswer::Present { state, private, identity: None })
}

/// Keeps what state has, and has the plan know that nobody looked.
fn unread(
    session: &Session,
    mut held: Held,
    why: Unread,
    mut private: Private,
) -> Result<ReadAnswer<ObjectModel>, Diagnostics> {
    session.memory.note_looked_for(held.id());
    held.stored.unread = Some(why);
    held.stored.save_sight(&mut private)?;
    Ok(ReadAnswer::Present { state: held.model, private, identity: None })
}

/// Drops what is not there any more, if that was looked for in the right cluster.
async fn gone(
    session: &Session,
    cluster: &Cluster,
    location: &Location,
    held: Held,
    private: Private,
    notices: &mut Diagnostics,
) -> Result<ReadAnswer<ObjectModel>, Diagnostics> {
    match home::absence(cluster, &held).await {
        Absence::Elsewhere => {
            notices.push(messages::whereabouts::refreshed_elsewhere(held.key(), cluster.host()));
            session.memory.note_elsewhere(held.id(), cluster.host(), location.key());
            unread(session, held, Unread::AnotherCluster, private)
        }
        Absence::Unproved => {
            let host = cluster.host();
            notices.push(messages::whereabouts::refreshed_who_knows_where(held.key(), host));
            unread(session, held, Unread::Unproved, private)
        }
        Absence::Proved => Ok(ReadAnswer::Gone),
    }
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
