//! Whether a connection still leads to the cluster that an object was written to.
//!
//! A kubeconfig whose current context moved on, or a provider block that names another cluster,
//! looks like a cluster from which everything is gone; planning it all anew there would be the
//! worst thing to do. So the cluster is remembered with what is written, and looked at again where
//! something is amiss: an object that is not there, or a connection that is described otherwise
//! than before. An object that is where it was costs nothing.

mod ending;

use std::time::Duration;

use k8sconnect_cluster::Targets;
use serde::{Deserialize, Serialize};
use tfplugin::{Diagnostics, Private, Value};
use tokio::time::Instant;

use crate::connect::ClusterModel;
use crate::envelope::{get, set};

pub(crate) use ending::Ending;

/// What can be told about where a connection leads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    Same,
    Another,
    /// Nothing is remembered, or the credentials may not ask.
    Unclear,
}

/// Whether the way to the cluster is described as it was at the last apply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    AsBefore,
    Changed,
}

impl Way {
    pub(crate) fn of(before: Description<'_>, now: Description<'_>) -> Self {
        if before == now { Self::AsBefore } else { Self::Changed }
    }
}

/// The `cluster` and the `cluster_name` of a resource.
type Description<'a> = (&'a Value<ClusterModel>, &'a Value<String>);

/// What it is worth that an object is missing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Absence {
    /// It was looked for where it was written; or nobody knows where that was, and the server's
    /// word is all there is.
    Proved,
    /// It was looked for in another cluster.
    Elsewhere,
    /// The cluster is remembered, and this connection cannot show which one it leads to.
    Unproved,
}

/// Why a read brought nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Unread {
    /// What state names leads nowhere any more, or is not known yet, or its credentials may not
    /// look.
    NoEntry,
    AnotherCluster,
    /// The object was not found, by a connection that cannot show where it leads.
    Unproved,
}

/// Where private state notes that the last read could not look at the object, and why.
pub(crate) const UNREAD: &str = "unread";

#[derive(Serialize, Deserialize)]
struct StoredUnread {
    why: Unread,
}

impl Unread {
    pub(crate) fn load(private: &Private) -> Result<Option<Self>, Diagnostics> {
        Ok(get::<StoredUnread>(private, UNREAD)?.map(|stored| stored.why))
    }

    /// Notes it, or ends the note.
    pub(crate) fn save(unread: Option<Self>, private: &mut Private) -> Result<(), Diagnostics> {
        match unread {
            Some(why) => set(private, UNREAD, StoredUnread { why }),
            None => {
                if private.contains(UNREAD) {
                    private.remove(UNREAD);
                }
                Ok(())
            }
        }
    }
}

/// Which cluster it is is worth a moment after a write, or before an end, and no more.
const PATIENCE: Duration = Duration::from_secs(5);

pub(crate) async fn recognise(cluster: &Targets, remembered: Option<&str>) -> Verdict {
    let Some(remembered) = remembered else {
        return Verdict::Unclear;
    };
    match cluster.fingerprint().await {
        Ok(Some(now)) if now == remembered => Verdict::Same,
        Ok(Some(_)) => Verdict::Another,
        Ok(None) | Err(_) => Verdict::Unclear,
    }
}

pub(crate) async fn absence(cluster: &Targets, remembered: Option<&str>) -> Absence {
    match (recognise(cluster, remembered).await, remembered) {
        (Verdict::Another, _) => Absence::Elsewhere,
        (Verdict::Unclear, Some(_)) => Absence::Unproved,
        (Verdict::Same, _) | (Verdict::Unclear, None) => Absence::Proved,
    }
}

/// The cluster that was just written to; as before, where it cannot be told.
pub(crate) async fn remember(cluster: &Targets, former: Option<String>) -> Option<String> {
    let known = cluster.until(Instant::now() + PATIENCE).fingerprint().await;
    known.ok().flatten().or(former)
}
