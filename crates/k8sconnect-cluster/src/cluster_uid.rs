//! The UID of the namespace `kube-system`, which identifies a cluster.
//!
//! Hosts, names and certificates can change while the cluster stays the same, and can stay the same
//! when the cluster is replaced. This UID does neither. It is read at most once per connection and
//! process.

use k8sconnect_core::identity::Gvk;

use crate::address::Location;
use crate::cluster::Cluster;
use crate::error::{BadAnswer, Error};
use crate::kinds::{Kind, Scope};
use crate::objects::Found;

/// What the API server answered when it was asked for the UID.
#[derive(Clone, Debug)]
pub enum ClusterUid {
    Known(String),
    /// The server refused this read, or failed at it. Other requests may well be answered.
    Unreadable(Error),
}

impl Cluster {
    /// An answer is kept for the life of the process, also a refusal. An error means that the
    /// connection itself does not work: it is not kept, and every other request meets it too.
    pub async fn cluster_uid(&self) -> Result<ClusterUid, Error> {
        self.kept_cluster_uid().get_or_try_init(|| self.read_cluster_uid()).await.cloned()
    }

    async fn read_cluster_uid(&self) -> Result<ClusterUid, Error> {
        let kind = Kind {
            gvk: Gvk::new("v1", "Namespace"),
            plural: "namespaces".into(),
            scope: Scope::Cluster,
        };
        let at = Location { kind, namespace: None, name: "kube-system".into() };
        match self.get(&at).await {
            Ok(Found::Object(answer)) => Ok(match answer.object["metadata"]["uid"].as_str() {
                Some(uid) => ClusterUid::Known(uid.to_owned()),
                None => ClusterUid::Unreadable(Error::BadAnswer {
                    host: self.server(),
                    request: "GET /api/v1/namespaces/kube-system".into(),
                    answer: BadAnswer::Shape,
                }),
            }),
            Ok(Found::Absent(status) | Found::NotServed(status)) => {
                Ok(ClusterUid::Unreadable(Error::Refused(Box::new(status))))
            }
            Err(
                error @ (Error::Refused(_)
                | Error::NotReady { .. }
                | Error::Timeout { .. }
                | Error::AnswerLost { .. }
                | Error::BadAnswer { .. }),
            ) => Ok(ClusterUid::Unreadable(error)),
            Err(error) => Err(error),
        }
    }
}
