//! Refresh: the patched fields as they are now, and nothing else of the object.
//!
//! Nothing is written, neither to the cluster nor to what is kept of the last write.

use k8sconnect_cluster::{Location, Targets};
use serde_json::Value as Json;
use tfplugin::{Diagnostics, Private, Read, ReadAnswer, Value};

use super::foresight;
use super::held::Held;
use super::model::PatchModel;
use super::stored::{SeenTarget, SinceApply};
use super::upgrade;
use crate::guard::{self, Absence, Unread};
use crate::look::{Look, look};
use crate::messages::whereabouts::Way;
use crate::object::new_key;
use crate::session::{Entry, Session};
use crate::{leaves, messages};

pub(crate) async fn read(
    session: &Session,
    request: Read<PatchModel>,
    notices: &mut Diagnostics,
) -> Result<ReadAnswer<PatchModel>, Diagnostics> {
    let Read { state, mut private, .. } = request;
    let mut held = Held::load(state, &private)?;
    let whose = Way::of(&held.model.cluster);
    let (named, name) = (&held.model.cluster, &held.model.cluster_name);
    let targets = match session.enter_by_state(named, name).await? {
        Entry::Open(cluster) => Targets::from(&*cluster),
        Entry::Unknown => return unread(session, held, Unread::NoEntry, private),
        Entry::Shut(problems) => {
            notices.push(messages::whereabouts::way_unusable(&held.key, &problems, whose));
            return unread(session, held, Unread::NoEntry, private);
        }
    };
    let location = held.location(&targets).await?;
    let live = match look(&targets, &location, &held.key, whose).await? {
        Look::Present(live) => Some(live),
        Look::Absent => None,
        Look::Moved(at) => {
            return Err(messages::served::target_moved(&held.key, &at.kind.gvk).into());
        }
        Look::NotAllowed(error) => {
            notices.push(messages::whereabouts::not_refreshed(&held.key, &error, whose));
            return unread(session, held, Unread::NoEntry, private);
        }
    };
    // Every cluster has objects of the same names; only here may another one count as made anew.
    if !live.as_ref().is_some_and(|live| held.is_same_object(live)) {
        match guard::absence(&targets, held.stored.cluster.as_deref()).await {
            Absence::Elsewhere => {
                notices.push(messages::whereabouts::refreshed_elsewhere(&held.key, targets.host()));
                session.memory.note_elsewhere(held.id(), targets.host(), location.key());
                return unread(session, held, Unread::AnotherCluster, private);
            }
            Absence::Unproved => {
                let host = targets.host();
                notices.push(messages::whereabouts::refreshed_who_knows_where(&held.key, host));
                return unread(session, held, Unread::Unproved, private);
            }
            Absence::Proved => {}
        }
    }
    let Some(live) = live else {
        // Where there is no object there is nothing to hand back.
        return Ok(ReadAnswer::Gone);
    };
    let lost = held.stored.kept.is_none();
    held.recover(&live);
    if held.is_foreign() {
        take_over(&mut held, &targets, &location, &live).await?;
    }
    if lost && held.stored.kept.is_some() {
        held.stored.save(&mut private)?;
    }
    let unreadable = |error| messages::object::ownership_unreadable(&held.key, &error);
    let mut state = held.model.clone();
    if let Some((patch, kept)) = held.past() {
        let leaves = patch.refreshed(kept, &live, &held.manager()).map_err(unreadable)?;
        let map = leaves::map(&leaves, held.stored.key.as_ref());
        // Where the key of a hash was lost, state keeps what it has until the next apply.
        if map.values().all(Value::is_known) {
            state.managed_state_projection = Value::Known(map);
        }
    }
    let seen = live["metadata"]["resourceVersion"].as_str().map(ToOwned::to_owned);
    let looked_away = held.stored.unread.take().is_some();
    if let Some(target) = &held.stored.target
        && (target.resource_version != seen || looked_away)
    {
        let content = foresight::content(&live, held.stored.key.as_ref());
        let uid = live["metadata"]["uid"].as_str().filter(|uid| *uid != target.uid);
        held.stored.target = Some(SeenTarget {
            resource_version: seen,
            content,
            successor: uid.map(ToOwned::to_owned),
            since_apply: since_apply(&held, &live)?,
            ..target.clone()
        });
        held.stored.save(&mut private)?;
    }
    session.memory.keep_target(held.id(), live);
    Ok(ReadAnswer::Present { state, private, identity: None })
}

/// Finds anew what another provider did not keep, and which object it patched.
async fn take_over(
    held: &mut Held,
    targets: &Targets,
    location: &Location,
    live: &Json,
) -> Result<(), Diagnostics> {
    if held.stored.key.is_none() {
        held.stored.key = Some(new_key()?);
    }
    let Some(fields) = upgrade::recover(held, targets, location, live).await else {
        return Ok(());
    };
    held.model.managed_fields = fields;
    held.model.previous_owners = Value::Known([].into());
    let metadata = &live["metadata"];
    held.stored.target = Some(SeenTarget {
        kind: location.kind.clone(),
        uid: metadata["uid"].as_str().unwrap_or_default().to_owned(),
        // What is amiss with this version was not told yet.
        resource_version: None,
        content: None,
        successor: None,
        since_apply: SinceApply::Changed,
    });
    held.stored.cluster = guard::remember(targets, held.stored.cluster.take()).await;
    Ok(())
}

/// For a plan that does not read.
fn since_apply(held: &Held, live: &Json) -> Result<SinceApply, Diagnostics> {
    let Some((patch, kept)) = held.past().filter(|_| held.is_same_object(live)) else {
        return Ok(SinceApply::Changed);
    };
    let settled = patch.is_settled(kept, held.stored.key.as_ref(), live, &held.manager());
    match settled.map_err(|error| messages::object::ownership_unreadable(&held.key, &error))? {
        true => Ok(SinceApply::Unchanged),
        false => Ok(SinceApply::Changed),
    }
}

/// Keeps what state has, and has the plan know that nobody looked.
fn unread(
    session: &Session,
    mut held: Held,
    why: Unread,
    mut private: Private,
) -> Result<ReadAnswer<PatchModel>, Diagnostics> {
    session.memory.note_looked_for(held.id());
    held.stored.unread = Some(why);
    held.stored.save(&mut private)?;
    Ok(ReadAnswer::Present { state: held.model, private, identity: None })
}
