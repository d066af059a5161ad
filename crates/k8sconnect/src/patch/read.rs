//! Refresh: the patched fields as they are now, and nothing else of the object.
//!
//! Nothing is written, neither to the cluster nor to what is kept of the last write.

use k8sconnect_cluster::{Cluster, Location, Targets};
use k8sconnect_core::plan::Condition;
use serde_json::Value as Json;
use tfplugin::{Diagnostics, Private, Read, ReadAnswer, Value};

use super::foresight;
use super::in_state::PatchInState;
use super::model::PatchModel;
use super::stored::{SeenTarget, SinceApply};
use super::upgrade;
use crate::cluster_identity::{ClusterIdentity, Opened};
use crate::look::{Look, look};
use crate::object::new_key;
use crate::read_cache::ReadObject;
use crate::resource::live::{NamesObject, uid_of, version_of};
use crate::resource::refresh::{self, LiveObject, Refresh};
use crate::session::Session;
use crate::{leaves, messages};

pub(crate) async fn read(
    session: &Session,
    request: Read<PatchModel>,
    notices: &mut Diagnostics,
) -> Result<ReadAnswer<PatchModel>, Diagnostics> {
    let Read { state, mut private, .. } = request;
    let mut held = PatchInState::load(state, &private)?;
    let LiveObject { opened, location, live } = match find(session, &held, notices).await? {
        Refresh::Present(found) => found,
        // Where there is no object there is nothing to hand back.
        Refresh::Gone => return Ok(ReadAnswer::Gone),
        Refresh::Unread => return unread(session, held, private),
    };
    let lost = held.stored.kept.is_none();
    held.recover(&live);
    if held.is_foreign() {
        take_over(&mut held, &opened, &location, &live).await?;
    }
    if lost && held.stored.kept.is_some() {
        held.stored.save(&mut private)?;
    }
    let mut state = held.model.clone();
    if let Some((patch, kept)) = held.past() {
        let leaves = patch.refreshed(kept, &live, &held.manager()).naming(&held.key)?;
        let map = leaves::map(&leaves, held.stored.key.as_ref());
        // Where the key of a hash was lost, state keeps what it has until the next apply.
        if map.values().all(Value::is_known) {
            state.managed_state_projection = Value::Known(map);
        }
    }
    let seen = version_of(&live);
    let was_unread = std::mem::take(&mut held.stored.unread);
    if let Some(target) = &held.stored.target
        && (target.resource_version != seen || was_unread || held.stored.cluster.is_none())
    {
        let content = foresight::content(&live, held.stored.key.as_ref());
        let uid = Some(uid_of(&live)).filter(|uid| *uid != target.uid);
        held.stored.cluster = opened.uid.or(held.stored.cluster);
        held.stored.target = Some(SeenTarget {
            resource_version: seen,
            content,
            successor: uid.map(ToOwned::to_owned),
            since_apply: since_apply(&held, &live)?,
            ..target.clone()
        });
        held.stored.save(&mut private)?;
    }
    session.reads.keep(held.id(), ReadObject { live, condition: Condition::Otherwise });
    Ok(ReadAnswer::Present { state, private, identity: None })
}

/// Finds anew what another provider did not keep, and which object it patched.
async fn take_over(
    held: &mut PatchInState,
    opened: &Opened,
    location: &Location,
    live: &Json,
) -> Result<(), Diagnostics> {
    let targets = &Targets::from(&*opened.cluster);
    if held.stored.key.is_none() {
        held.stored.key = Some(new_key()?);
    }
    let Some(fields) = upgrade::recover(held, targets, location, live).await else {
        return Ok(());
    };
    held.model.managed_fields = fields;
    held.model.previous_owners = Value::Known([].into());
    held.stored.target = Some(SeenTarget {
        kind: location.kind.clone(),
        uid: uid_of(live).to_owned(),
        // What is amiss with this version was not told yet.
        resource_version: None,
        content: None,
        successor: None,
        since_apply: SinceApply::Changed,
    });
    held.stored.cluster = opened.uid.clone();
    Ok(())
}

/// For a plan that does not read.
fn since_apply(held: &PatchInState, live: &Json) -> Result<SinceApply, Diagnostics> {
    let Some((patch, kept)) = held.past().filter(|_| held.is_same_object(live)) else {
        return Ok(SinceApply::Changed);
    };
    let settled = patch.is_settled(kept, held.stored.key.as_ref(), live, &held.manager());
    match settled.naming(&held.key)? {
        true => Ok(SinceApply::Unchanged),
        false => Ok(SinceApply::Changed),
    }
}

/// Finds the target. One that was recreated counts only in its own cluster: every cluster may have the
/// name.
async fn find(
    session: &Session,
    held: &PatchInState,
    notices: &mut Diagnostics,
) -> Result<Refresh<LiveObject>, Diagnostics> {
    let (key, origin) = (&held.key, held.model.cluster_args().origin());
    let look = async |cluster: &Cluster| {
        let targets = Targets::from(cluster);
        let location = held.location(&targets).await?;
        match look(&targets, &location, key, origin).await? {
            Look::Moved(at) => Err(messages::served::target_moved(key, &at.kind.gvk).into()),
            look => Ok((location, look)),
        }
    };
    match refresh::find(session, held.recorded(), notices, look).await? {
        Refresh::Present(LiveObject { opened, live, .. })
            if opened.identity != ClusterIdentity::Confirmed && !held.is_same_object(&live) =>
        {
            Ok(opened.unconfirmed(key, Some(uid_of(&live)), notices))
        }
        found => Ok(found),
    }
}

/// Keeps what state has, and marks it for the plan.
fn unread(
    session: &Session,
    mut held: PatchInState,
    mut private: Private,
) -> Result<ReadAnswer<PatchModel>, Diagnostics> {
    session.reads.note_unreadable(held.id());
    held.stored.unread = true;
    held.stored.save(&mut private)?;
    Ok(ReadAnswer::Present { state: held.model, private, identity: None })
}
