//! What a plan needs to know of the cluster, brought back as one value.
//!
//! A dry-run can be answered, be refused, be too early, or find another object in the way. Which
//! of these it is, is told by code and causes; what follows from it is the core's to judge.

use http::Method;
use k8sconnect_core::identity::Gvk;
use k8sconnect_core::rejection::{Rejection, Status};
use serde_json::{Value, json};

use crate::address::Location;
use crate::call::{Call, Content};
use crate::cluster::Cluster;
use crate::error::Error;
use crate::kinds::{Kind, Served};
use crate::objects::{Answer, Apply, Conflicts, Found, Persistence};
use crate::retry::Repeat;

/// Whether the kind of an object can be addressed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Placed {
    At(Kind),
    NotYet(NotYet),
}

/// Why the server cannot be asked yet about an object that may well be fine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NotYet {
    /// The kind is not served; `nearest` is the kind of its group version that looks most alike.
    Kind {
        gvk: Gvk,
        nearest: Option<String>,
    },
    Namespace {
        name: String,
    },
    /// The namespace is being deleted: the next one of its name is what there may be in time.
    NamespaceGoing {
        name: String,
        status: Box<Status>,
    },
    /// A webhook had to be asked and could not be reached.
    Webhook {
        status: Box<Status>,
    },
}

/// What a dry-run brought to light.
#[derive(Clone, Debug, PartialEq)]
pub enum Observation {
    Answered(Answer),
    NotYet(NotYet),
    /// The write was guarded, and an object stands in its way: this one.
    Exists(Value),
    Refused(Box<Status>),
}

impl Cluster {
    pub async fn place(&self, gvk: &Gvk) -> Result<Placed, Error> {
        let nearest = match self.kind(gvk).await? {
            Served::Yes(kind) => return Ok(Placed::At(kind)),
            Served::KindMissing { nearest } => nearest,
            Served::GroupVersionMissing => None,
        };
        Ok(Placed::NotYet(NotYet::Kind { gvk: gvk.clone(), nearest }))
    }

    /// Asks what an apply would do, in one request. Only an object in the way costs a second.
    pub async fn observe(
        &self,
        at: &Location,
        manager: &str,
        body: &Value,
        conflicts: Conflicts,
    ) -> Result<Observation, Error> {
        let apply = Apply { body, manager, conflicts, persistence: Persistence::DryRun };
        let answer = self.apply(at, &apply).await;
        self.sorted(at, answer).await
    }

    /// Asks what the operations of a JSON patch would do to this very object, whatever others wrote
    /// to it meanwhile.
    pub async fn observe_over(
        &self,
        at: &Location,
        manager: &str,
        uid: &str,
        operations: &[Value],
    ) -> Result<Observation, Error> {
        let guard = json!({"op": "test", "path": "/metadata/uid", "value": uid});
        let patch: Vec<_> = [guard].into_iter().chain(operations.iter().cloned()).collect();
        let mut call = Call::new(Method::PATCH, at.address()?)
            .query("fieldManager", manager)
            .query("dryRun", "All")
            .body(Content::JsonPatch, patch.into());
        call.repeat = Repeat::Harmless;
        let answer = match self.send(&call).await {
            Ok(reply) => self.answer(&call, reply),
            Err(error) => Err(error),
        };
        self.sorted(at, answer).await
    }

    async fn sorted(
        &self,
        at: &Location,
        answer: Result<Answer, Error>,
    ) -> Result<Observation, Error> {
        let status = match answer {
            Ok(answer) => return Ok(Observation::Answered(answer)),
            Err(Error::Refused(status)) => status,
            Err(error @ Error::NotCreated { .. }) => {
                return match self.get(at).await? {
                    Found::Object(answer) => Ok(Observation::Exists(answer.object)),
                    Found::Absent(_) | Found::NotServed(_) => Err(error),
                };
            }
            Err(error) => return Err(error),
        };
        match status.rejection() {
            Rejection::NamespaceMissing => {
                let name = at.namespace.clone().unwrap_or_default();
                Ok(Observation::NotYet(NotYet::Namespace { name }))
            }
            Rejection::NamespaceGoing => {
                let name = at.namespace.clone().unwrap_or_default();
                Ok(Observation::NotYet(NotYet::NamespaceGoing { name, status }))
            }
            Rejection::WebhookUnreachable => Ok(Observation::NotYet(NotYet::Webhook { status })),
            Rejection::Conflict => match self.get(at).await? {
                Found::Object(answer) => Ok(Observation::Exists(answer.object)),
                _ => Ok(Observation::Refused(status)),
            },
            _ => Ok(Observation::Refused(status)),
        }
    }
}
