//! What a plan needs to know of the cluster, brought back as one value.
//!
//! A dry-run can be answered, be refused, be too early, or find another object in the way. Which
//! of these it is, is told by code and causes; what follows from it is the core's to judge.

use http::Method;
use k8sconnect_core::identity::Gvk;
use k8sconnect_core::rejection::{Rejection, Status};
use serde_json::Value;

use crate::address::{Kind, Location};
use crate::call::{Call, Content, Persistence, Repeat};
use crate::cluster::{Answer, Cluster};
use crate::error::Error;
use crate::kinds::Served;
use crate::objects::{Apply, Conflicts, Found};

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
        let call = Call::json_patch(at, &uid.into(), operations.iter().cloned(), None)?
            .query("fieldManager", manager)
            .persistence(Persistence::DryRun);
        let answer = self.send_for_object(&call).await;
        self.sorted(at, answer).await
    }

    /// Asks whether a body would be accepted as a new object, although an object of its name exists. The
    /// server validates and admits a new object first. Only then does it look for the name, and answer 409
    /// `AlreadyExists`. `None` if nothing but the name is refused.
    pub async fn observe_creation(
        &self,
        at: &Location,
        manager: &str,
        body: Value,
    ) -> Result<Option<Box<Status>>, Error> {
        at.address()?;
        let call = Call::new(Method::POST, at.collection_path())
            .body(Content::Json, body)
            .query("fieldManager", manager)
            .query("fieldValidation", "Strict")
            .persistence(Persistence::DryRun);
        let call = Call { repeat: Repeat::Harmless, ..call };
        match self.send_for_object(&call).await {
            Ok(_) => Ok(None),
            Err(Error::Refused(status)) if status.reason == "AlreadyExists" => Ok(None),
            Err(Error::Refused(status)) => Ok(Some(status)),
            Err(error) => Err(error),
        }
    }

    async fn sorted(
        &self,
        at: &Location,
        answer: Result<Answer, Error>,
    ) -> Result<Observation, Error> {
        let refused = match answer {
            Ok(answer) => return Ok(Observation::Answered(answer)),
            Err(error @ (Error::Refused(_) | Error::NotCreated { .. })) => error,
            Err(error) => return Err(error),
        };
        let rejection = match &refused {
            Error::Refused(status) => status.rejection(),
            _ => Rejection::Conflict,
        };
        if rejection == Rejection::Conflict
            && let Found::Object(answer) = self.get(at).await?
        {
            return Ok(Observation::Exists(answer.object));
        }
        let Error::Refused(status) = refused else { return Err(refused) };
        let name = || at.namespace.clone().unwrap_or_default();
        Ok(Observation::NotYet(match rejection {
            Rejection::NamespaceMissing => NotYet::Namespace { name: name() },
            Rejection::NamespaceGoing => NotYet::NamespaceGoing { name: name(), status },
            Rejection::WebhookUnreachable => NotYet::Webhook { status },
            _ => return Ok(Observation::Refused(status)),
        }))
    }
}
