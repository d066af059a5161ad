//! Refresh: what was waited for, as it is now.
//!
//! One look, and no judgement: that a goal was met is a fact of the past, and a Pod that has run to
//! its end is not waited for again because it is no longer running. Two things do count as gone, so
//! that the next apply waits again: the object itself, also where another has its name, and what
//! others were handed.
//!
//! What cannot be looked at is kept, with a warning, whatever the reason: a wait has nothing in the
//! cluster, and is never to stand in the way of a destroy, which begins with a refresh.

use k8sconnect_cluster::{Cluster, Error, Found, Location, Served, Targets};
use k8sconnect_core::readiness::Goal;
use serde_json::Value as Json;
use tfplugin::{Diagnostics, Read, ReadAnswer, Value};

use super::asked::Asked;
use super::model::WaitModel;
use super::stored::Waited;
use crate::guard::{self, Unread, Verdict};
use crate::messages::whereabouts::Way;
use crate::session::{Entry, Session};
use crate::{dynamic, messages};

pub(crate) async fn read(
    session: &Session,
    request: Read<WaitModel>,
    notices: &mut Diagnostics,
) -> Result<ReadAnswer<WaitModel>, Diagnostics> {
    let Read { mut state, mut private, .. } = request;
    if let Some(id) = state.id.as_str() {
        session.memory.note_read(id);
    }
    // State that an older release left may ask in ways that are errors now; the configuration is
    // where they are told.
    let Ok(Some(asked)) = Asked::read(&state) else {
        return Ok(ReadAnswer::Present { state, private, identity: None });
    };
    if asked.goal == Goal::Deleted {
        return Ok(ReadAnswer::Present { state, private, identity: None });
    }
    let whose = Way::of(&state.cluster);
    let cluster = match session.enter_by_state(&state.cluster, &state.cluster_name).await? {
        Entry::Open(cluster) => cluster,
        Entry::Unknown => return Ok(ReadAnswer::Present { state, private, identity: None }),
        Entry::Shut(problems) => {
            notices.push(messages::whereabouts::way_unusable(&asked.key, &problems, whose));
            Unread::save(Some(Unread::NoEntry), &mut private)?;
            return Ok(ReadAnswer::Present { state, private, identity: None });
        }
    };
    let last = Waited::load(&private)?;
    let home = last.as_ref().and_then(|last| last.cluster.as_deref());
    let targets = Targets::from(&*cluster);
    match look(&cluster, &asked).await {
        Ok(Look::Present(object))
            if last.as_ref().is_some_and(|it| it.was_for_another(&object)) =>
        {
            let place = guard::recognise(&targets, home).await;
            notices.push(messages::wait::made_anew(&asked.key, place));
            return Ok(ReadAnswer::Gone);
        }
        Ok(Look::Present(object)) if asked.goal.is_lost(&object) => {
            notices.push(messages::wait::it_is_lost(&asked.key, &asked.goal));
            return Ok(ReadAnswer::Gone);
        }
        Ok(Look::Present(object)) => {
            let found = asked.goal.excerpt(&object);
            state.result = found.map_or(Value::Null, dynamic::from_json);
            Unread::save(None, &mut private)?;
            if last.is_none() {
                Waited::met(Some(&object), None).keep(&mut private)?;
            }
        }
        Ok(Look::Absent) => {
            if guard::recognise(&targets, home).await == Verdict::Another {
                notices.push(messages::wait::elsewhere(&asked.key));
            }
            return Ok(ReadAnswer::Gone);
        }
        Ok(Look::NotServed) => {}
        Err(error) => {
            notices.push(messages::whereabouts::not_refreshed(&asked.key, &error, whose));
            Unread::save(Some(Unread::NoEntry), &mut private)?;
        }
    }
    Ok(ReadAnswer::Present { state, private, identity: None })
}

pub(super) enum Look {
    Present(Json),
    Absent,
    /// Whether there is such an object is not known.
    NotServed,
}

pub(super) async fn look(cluster: &Cluster, asked: &Asked) -> Result<Look, Error> {
    let Served::Yes(kind) = cluster.kind(&asked.key.gvk).await? else {
        let gone = asked.key.gvk.may_still_appear() && !cluster.is_defined(&asked.key.gvk).await?;
        return Ok(if gone { Look::Absent } else { Look::NotServed });
    };
    let at =
        Location { kind, namespace: asked.key.namespace.clone(), name: asked.key.name.clone() };
    Ok(match cluster.get(&at).await? {
        Found::Object(answer) => Look::Present(answer.object),
        Found::Absent(_) => Look::Absent,
        Found::NotServed(_) => Look::NotServed,
    })
}
