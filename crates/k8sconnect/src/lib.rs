//! Where Terraform's words meet Kubernetes' words.
//!
//! Each resource is a folder with the same file names: `schema` (what the user may write), `model`
//! (the typed view of it), `plan`, `apply`, `read` and `delete` (one file a verb), `stored` (what
//! private state holds, versioned). What is only read is in [`data`], one file a data source, and
//! what is only computed in [`function`]. Every sentence that a user can read is in [`messages`].
//!
//! Nothing is decided here that could be decided without a network (that is the core's work), and
//! nothing here speaks HTTP (that is the cluster's).

#![cfg_attr(not(test), deny(clippy::disallowed_methods))]

mod apply_slots;
mod cluster_identity;
mod connect;
mod connection_origin;
mod data;
mod duration;
mod dynamic;
mod ephemeral;
mod function;
mod leaves;
mod look;
mod messages;
mod object;
mod object_ref;
mod patch;
mod place;
mod plan_ledger;
mod plan_phase;
mod provider;
mod read_cache;
mod resource;
mod session;
mod wait;
mod wait_failure;
mod yaml_source;

pub use provider::K8sConnect;

/// The provider's source address. It is part of every state that names the provider, so it never
/// changes.
pub const ADDRESS: &str = "registry.terraform.io/k8sconnect/k8sconnect";

/// The field manager of every object that we apply, in dry-run and apply alike.
pub const MANAGER: &str = "k8sconnect";
