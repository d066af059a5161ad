//! Whether a plan is made in the cluster that the object lives in.

use k8sconnect_cluster::{Cluster, Error, Found, Location, Targets};
use serde_json::Value as Json;
use tfplugin::Diagnostics;

use crate::guard::{self, Unread, Verdict, Way};
use crate::messages;
use crate::messages::ownership;
use crate::object::delete::{Whose, whose};
use crate::object::held::Held;
use crate::object::home;
use crate::session::Session;

/// Refuses a plan in another cluster. Asks nothing where the way is the old one and led to the
/// object.
pub(super) async fn check(
    session: &Session,
    cluster: &Cluster,
    way: Way,
    held: &Held,
) -> Result<(), Diagnostics> {
    if way == Way::AsBefore && !is_amiss(held) {
        return Ok(());
    }
    recognise(session, cluster, held).await
}

/// The same for an object that another one is to replace. No dry-run follows that would miss it, so
/// that one which nobody read is asked about too.
pub(super) async fn check_before_replacing(
    session: &Session,
    cluster: &Cluster,
    way: Way,
    held: &Held,
) -> Result<(), Diagnostics> {
    if way == Way::AsBefore && !is_amiss(held) && session.memory.has_read(held.id()) {
        return Ok(());
    }
    recognise(session, cluster, held).await
}

/// Whether the last read was led astray, as far as it could tell.
fn is_amiss(held: &Held) -> bool {
    match held.stored.unread {
        Some(Unread::AnotherCluster | Unread::Unproved) => true,
        Some(Unread::NoEntry) | None => false,
    }
}

async fn recognise(session: &Session, cluster: &Cluster, held: &Held) -> Result<(), Diagnostics> {
    match guard::recognise(&Targets::from(cluster), held.stored.cluster.as_deref()).await {
        Verdict::Same => Ok(()),
        Verdict::Another => {
            let host = cluster.host();
            Err(messages::whereabouts::another_cluster(held.key(), host, ownership::Whose::Object)
                .into())
        }
        Verdict::Unclear if held.stored.unread == Some(Unread::Unproved) => {
            found_after_all(cluster, held).await
        }
        Verdict::Unclear => ask_the_object(session, cluster, held).await,
    }
}

/// Only the object itself can end the doubt that its absence left.
async fn found_after_all(cluster: &Cluster, held: &Held) -> Result<(), Diagnostics> {
    let location = held.location(cluster).await?;
    match cluster.get(&location).await {
        Ok(Found::Object(answer)) if answer.object["metadata"]["uid"] == held.uid() => Ok(()),
        Ok(_) => {
            let host = cluster.host();
            Err(messages::whereabouts::absence_unproved(held.key(), host).into())
        }
        Err(error) => Err(messages::refusal::unanswered(held.key(), &error).into()),
    }
}

/// The object itself tells too: one that was just read by the old way must be there by the new.
async fn ask_the_object(
    session: &Session,
    cluster: &Cluster,
    held: &Held,
) -> Result<(), Diagnostics> {
    if !session.memory.has_read(held.id()) {
        return Ok(());
    }
    let location = held.location(cluster).await?;
    let there = match cluster.get(&location).await {
        Ok(Found::Object(answer)) => !matches!(whose(held, &answer.object), Whose::AnotherObject),
        Ok(Found::Absent(_) | Found::NotServed(_)) => false,
        // Credentials that may not look prove nothing, and may still be meant.
        Err(Error::Refused(status)) if status.code == 403 => true,
        Err(error) => {
            return Err(messages::refusal::unanswered(held.key(), &error).into());
        }
    };
    if there {
        return Ok(());
    }
    Err(messages::whereabouts::not_there_by_new_way(held.key(), ownership::Whose::Object).into())
}

/// Refuses to replace an object that neither the refresh nor the plan could look at.
pub(super) async fn look_before_replacing(
    cluster: &Cluster,
    way: Way,
    held: &Held,
) -> Result<(), Diagnostics> {
    if held.stored.unread.is_none() {
        return Ok(());
    }
    let location = held.location(cluster).await?;
    catch_up(cluster, way, held, &location).await.map(drop)
}

/// The object as the plan itself sees it, where the refresh saw nothing. State may be far from the
/// truth then, and is no ground for a plan; that the object is gone can only be told, since it is
/// too late to plan it anew.
pub(super) async fn catch_up(
    cluster: &Cluster,
    way: Way,
    held: &Held,
    location: &Location,
) -> Result<Json, Diagnostics> {
    let key = held.key();
    let gone = match cluster.get(location).await {
        Ok(Found::Object(answer)) => match whose(held, &answer.object) {
            Whose::Ours | Whose::AnotherState(_) => return Ok(answer.object),
            Whose::AnotherObject => messages::whereabouts::gone_unseen(key, way),
        },
        Ok(Found::Absent(_)) => messages::whereabouts::gone_unseen(key, way),
        Ok(Found::NotServed(_)) => messages::served::kind_unserved(key),
        Err(error) => return Err(messages::whereabouts::seen_by_nobody(key, &error).into()),
    };
    home::looked_for_at_home(cluster, held).await?;
    Err(gone.into())
}
