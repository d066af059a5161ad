//! Why an object is not as it is waited for, as data.

use super::picture::ConditionSeen;
use super::pods::Pod;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reason {
    Absent,
    /// Its kind is not served at the moment.
    NotServed,
    /// What the object shows of a sign that fails the wait.
    FailWhen(Vec<Reason>),
    /// Its status is final, and lacks something.
    Final {
        end: End,
        lacks: Vec<Reason>,
    },
    Ended(End),
    Field(String),
    NoField(String),
    EmptyField(String),
    /// A field with its value, unless that is hidden.
    Value {
        path: String,
        value: Option<String>,
    },
    /// What it is and what it should be, unless that is hidden.
    OtherValue {
        path: String,
        values: Option<[String; 2]>,
    },
    Condition(ConditionSeen),
    NoCondition(String),
    /// The condition is about an older generation.
    OldCondition(String),
    /// The controller has seen an older generation only.
    OldGeneration {
        generation: i64,
        observed: i64,
    },
    /// Nobody has asked for its deletion.
    NotDeleted,
    Terminating {
        finalizers: Vec<String>,
    },
    /// By the rules of its kind.
    NotReady(NotReady),
    /// No rollout is known of the kind.
    NoRollout,
    /// An image of a pod cannot be pulled.
    Image(Box<Pod>),
}

/// How a Job or a Pod ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum End {
    JobFailed(Option<ConditionSeen>),
    JobComplete,
    PodFailed,
    PodSucceeded,
}

/// Why an object of a built-in kind is not ready, or has not rolled out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NotReady {
    /// The controller has not seen the object yet.
    Unobserved,
    Replicas {
        count: i64,
        wanted: i64,
        state: &'static str,
    },
    TooManyReplicas(i64),
    /// Replicas of the template before.
    OldReplicas(i64),
    Paused {
        updated: i64,
        wanted: i64,
    },
    ProgressDeadline(ConditionSeen),
    /// The new ReplicaSet is not available.
    NewReplicaSet,
    Unavailable,
    /// Pods could not be created or deleted.
    ReplicaFailure,
    /// Not all pods have the new revision.
    OldRevision,
    Completions {
        succeeded: i64,
        wanted: i64,
        failed: i64,
    },
    Suspended,
    NotStarted,
    /// A pod runs and is not ready.
    Unready,
    /// Its containers keep crashing.
    Crashing(Vec<String>),
    Unscheduled(ConditionSeen),
    /// A phase that is not the awaited one; `None`: it has none.
    Phase(Option<String>),
    /// A Service without an address.
    NoAddress,
    /// A CRD is being installed.
    Installing,
}

impl From<NotReady> for Reason {
    fn from(reason: NotReady) -> Self {
        Self::NotReady(reason)
    }
}
