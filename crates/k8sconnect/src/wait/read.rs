//! Refresh: what was waited for, as it is now.
//!
//! One look, and no judgement: that a goal was met is a fact of the past, and a Pod that has run to
//! its end is not waited for again because it is no longer running. Two things do count as gone, so
//! that the next apply waits again: the object itself, also where another has its name, and what
//! others were handed.
//!
//! What cannot be looked at is kept, with a warning, whatever the reason: a wait has nothing in the
//! cluster, and is never to stand in the way of a destroy, which begins with a refresh.

use k8sconnect_cluster::{Cluster, Error, Found, Location, Served};
use k8sconnect_core::readiness::Goal;
use serde_json::Value as Json;
use tfplugin::{Data, Diagnostics, Read, ReadAnswer, Value};

use super::model::WaitModel;
use super::recorded;
use super::stored::{StoredWait, Waited};
use super::terms::WaitTerms;
use crate::connection_origin::ConnectionOrigin;
use crate::resource::refresh::Refresh;
use crate::session::Session;
use crate::{dynamic, messages};

pub(crate) async fn read(
    session: &Session,
    request: Read<WaitModel>,
    notices: &mut Diagnostics,
) -> Result<ReadAnswer<WaitModel>, Diagnostics> {
    let Read { mut state, mut private, .. } = request;
    if let Some(id) = state.id.as_str() {
        session.reads.note_read(id);
    }
    // State that an older release left may ask in ways that are errors now; the configuration is
    // where they are told.
    let Ok(Some(asked)) = WaitTerms::read(&state) else {
        return Ok(ReadAnswer::Present { state, private, identity: None });
    };
    if asked.goal == Goal::Deleted {
        return Ok(ReadAnswer::Present { state, private, identity: None });
    }
    let stored = StoredWait::load(&private)?;
    let (result, last) = match refresh(session, &state, &asked, &stored, notices).await? {
        Refresh::Gone => return Ok(ReadAnswer::Gone),
        Refresh::Unread => {
            StoredWait { unread: true, ..stored }.save(&mut private)?;
            return Ok(ReadAnswer::Present { state, private, identity: None });
        }
        // Nothing is known, now as before.
        Refresh::Present(None) => {
            return Ok(ReadAnswer::Present { state, private, identity: None });
        }
        Refresh::Present(Some((result, last))) => (result, Some(last)),
    };
    state.result = result;
    StoredWait { last, unread: false }.save(&mut private)?;
    Ok(ReadAnswer::Present { state, private, identity: None })
}

/// What is waited for, and the last wait.
type Awaited = (Value<Data>, Waited);

/// Reads the object through the connection in state.
async fn refresh(
    session: &Session,
    state: &WaitModel,
    asked: &WaitTerms,
    stored: &StoredWait,
    notices: &mut Diagnostics,
) -> Result<Refresh<Option<Awaited>>, Diagnostics> {
    let key = &asked.key;
    let recorded = recorded(asked, state, stored);
    let look = async |cluster: &Cluster| look(cluster, asked).await;
    let Some((opened, look)) = session.refresh(recorded, notices, look).await? else {
        return Ok(Refresh::Unread);
    };
    let live = match look {
        Ok(WaitLook::Present(live)) => live,
        Ok(WaitLook::Absent) => return Ok(opened.not_found(key, notices)),
        Ok(WaitLook::NotServed) => return Ok(Refresh::Present(None)),
        Err(error) => {
            let origin = ConnectionOrigin::of(&state.cluster);
            notices.push(messages::unread::not_refreshed(key, &error, origin));
            return Ok(Refresh::Unread);
        }
    };
    if stored.was_for_another(&live) {
        if let Some(doubt) = opened.warn_of_absence(key, live["metadata"]["uid"].as_str()) {
            notices.push(doubt);
            return Ok(Refresh::Unread);
        }
        notices.push(messages::wait::recreated(key));
        return Ok(Refresh::Gone);
    }
    if asked.goal.is_lost(&live) {
        notices.push(messages::wait::it_is_lost(key, &asked.goal));
        return Ok(Refresh::Gone);
    }
    let result = asked.goal.excerpt(&live).map_or(Value::Null, dynamic::from_json);
    let waited = stored.last.clone().unwrap_or_else(|| Waited::met(Some(&live), None));
    let waited = Waited { cluster: opened.uid.or(waited.cluster), ..waited };
    Ok(Refresh::Present(Some((result, waited))))
}

pub(super) enum WaitLook {
    Present(Json),
    Absent,
    /// Whether there is such an object is not known.
    NotServed,
}

pub(super) async fn look(cluster: &Cluster, asked: &WaitTerms) -> Result<WaitLook, Error> {
    let Served::Yes(kind) = cluster.kind(&asked.key.gvk).await? else {
        let gone = asked.key.gvk.may_still_appear() && !cluster.is_defined(&asked.key.gvk).await?;
        return Ok(if gone { WaitLook::Absent } else { WaitLook::NotServed });
    };
    let at =
        Location { kind, namespace: asked.key.namespace.clone(), name: asked.key.name.clone() };
    Ok(match cluster.get(&at).await? {
        Found::Object(answer) => WaitLook::Present(answer.object),
        Found::Absent(_) => WaitLook::Absent,
        Found::NotServed(_) => WaitLook::NotServed,
    })
}
