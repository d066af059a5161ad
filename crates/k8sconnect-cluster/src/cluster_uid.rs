//! The UID of the namespace `kube-system`, which identifies a cluster.
//!
//! Hosts, names and certificates can change while the cluster stays the same, and can stay the same
//! when the cluster is replaced. This UID does neither. It is read at most once per connection and
//! process.

use crate::address::{Kind, Location, Scope};
use crate::call::Call;
use crate::cluster::{Cluster, ClusterUid};
use crate::error::{BadAnswer, Error};
use crate::objects::Found;

impl Cluster {
    /// An answer is kept for the life of the process, also a refusal. An error means that the
    /// connection itself does not work: it is not kept, and every other request meets it too.
    pub async fn cluster_uid(&self) -> Result<ClusterUid, Error> {
        self.shared.cluster_uid.get_or_try_init(|| self.read_cluster_uid()).await.cloned()
    }

    async fn read_cluster_uid(&self) -> Result<ClusterUid, Error> {
        let kind = Kind::built_in("v1", "Namespace", "namespaces", Scope::Cluster);
        let at = Location { kind, namespace: None, name: "kube-system".into() };
        let error = match self.get(&at).await {
            Ok(Found::Object(answer)) => match answer.object["metadata"]["uid"].as_str() {
                Some(uid) => return Ok(ClusterUid::Known(uid.to_owned())),
                None => self.bad_answer(&Call::get(at.path()), BadAnswer::Shape),
            },
            Ok(Found::Absent(status) | Found::NotServed(status)) => {
                Error::Refused(Box::new(status))
            }
            Err(error) => error,
        };
        match error {
            Error::Refused(_)
            | Error::NotReady { .. }
            | Error::Timeout { .. }
            | Error::AnswerLost { .. }
            | Error::BadAnswer { .. } => Ok(ClusterUid::Unreadable(error)),
            error => Err(error),
        }
    }
}
