//! Which cluster this is, whatever way leads to it.
//!
//! Hosts, names and certificates change while a cluster stays, and stay while it is built anew.
//! The uid of its `kube-system` namespace does neither. It is asked for once for each connection
//! and process, and only by whoever needs it.

use k8sconnect_core::identity::Gvk;

use crate::address::Location;
use crate::cluster::Cluster;
use crate::error::Error;
use crate::kinds::{Kind, Scope};
use crate::objects::Found;

impl Cluster {
    /// `None`: these credentials may not ask, or there is no such namespace.
    pub async fn fingerprint(&self) -> Result<Option<String>, Error> {
        let known = self.known_fingerprint().get_or_try_init(|| self.ask_fingerprint()).await?;
        Ok(known.clone())
    }

    async fn ask_fingerprint(&self) -> Result<Option<String>, Error> {
        let kind = Kind {
            gvk: Gvk::new("v1", "Namespace"),
            plural: "namespaces".into(),
            scope: Scope::Cluster,
        };
        let found = self.get(&Location { kind, namespace: None, name: "kube-system".into() }).await;
        match found {
            Ok(Found::Object(answer)) => {
                Ok(answer.object["metadata"]["uid"].as_str().map(ToOwned::to_owned))
            }
            Ok(Found::Absent(_) | Found::NotServed(_)) => Ok(None),
            Err(error) if error.code() == Some(403) => Ok(None),
            Err(error) => Err(error),
        }
    }
}
