//! Before something ends: whether there is a way to it, and whether that leads to its cluster.
//!
//! Whoever plans an end has what state holds and no configuration. Some versions of Terraform ask
//! for that plan before they refresh, others in a process of its own: what an earlier read noted
//! may be long mended, and what it did not note may have come up since. So a note is a reason to
//! look, never a verdict; and where this process has not seen the object itself, the cluster is
//! asked which one it is, once for all that ends there.

use k8sconnect_cluster::{Cluster, Found, Location, Targets};
use k8sconnect_core::identity::ObjectKey;
use tfplugin::{Diagnostics, Value};
use tokio::time::Instant;

use super::{PATIENCE, Unread, Verdict, recognise};
use crate::connect::{ClusterModel, Reach};
use crate::look::{Look, look};
use crate::messages;
use crate::messages::ownership::Whose;
use crate::session::Session;

/// What is to be deleted or handed back, as state knows it.
pub(crate) struct Ending<'a> {
    pub(crate) key: &'a ObjectKey,
    pub(crate) id: &'a str,
    pub(crate) way: (&'a Value<ClusterModel>, &'a Value<String>),
    /// The cluster that it was written to.
    pub(crate) remembered: Option<&'a str>,
    pub(crate) unread: Option<Unread>,
    pub(crate) whose: Whose,
}

impl Ending<'_> {
    /// Refuses an end that cannot be reached, or that would take place in another cluster.
    /// `location` and `uid` are asked for only where nothing but the object itself can tell.
    pub(crate) async fn check(
        &self,
        session: &Session,
        location: impl AsyncFnOnce(&Cluster) -> Result<Location, Diagnostics>,
        uid: &str,
    ) -> Result<(), Diagnostics> {
        let (cluster, name) = self.way;
        let Reach::Ready(connection) = session.way_to_end(self.key, cluster, name)? else {
            return Ok(());
        };
        if session.memory.has_read(self.id) {
            return Ok(());
        }
        let cluster = session.cluster(&connection).await?;
        let targets = Targets::from(&*cluster);
        let soon = targets.until(Instant::now() + PATIENCE);
        match (recognise(&soon, self.remembered).await, self.unread) {
            (Verdict::Another, _) => {
                let host = targets.host();
                Err(messages::whereabouts::another_cluster(self.key, host, self.whose).into())
            }
            // Where nobody may look, the deletion may not either, which looks before it acts.
            (Verdict::Same | Verdict::Unclear, Some(Unread::NoEntry)) => {
                let location = location(&cluster).await?;
                let way = messages::whereabouts::Way::of(self.way.0);
                match look(&targets, &location, self.key, way).await? {
                    Look::NotAllowed(error) => {
                        let (key, whose) = (self.key, self.whose);
                        Err(messages::whereabouts::end_seen_by_nobody(key, &error, whose).into())
                    }
                    Look::Present(_) | Look::Absent | Look::Moved(_) => Ok(()),
                }
            }
            (Verdict::Same, _) => Ok(()),
            (Verdict::Unclear, Some(Unread::AnotherCluster | Unread::Unproved)) => {
                let location = location(&cluster).await?;
                match targets.get(&location).await {
                    Ok(Found::Object(answer)) if answer.object["metadata"]["uid"] == uid => Ok(()),
                    Ok(_) => {
                        let host = targets.host();
                        Err(messages::whereabouts::absence_unproved(self.key, host).into())
                    }
                    Err(error) => Err(messages::refusal::unanswered(self.key, &error).into()),
                }
            }
            // What cannot be told now is told by the deletion itself, which looks before it acts.
            (Verdict::Unclear, None) => Ok(()),
        }
    }
}
