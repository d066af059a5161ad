//! What k8sconnect decides, as pure functions over values.
//!
//! Everything that can be reasoned about without a network lives here: what the user wrote
//! ([`manifest`]), which fields that makes ours ([`field`], [`owners`]), what of the object is
//! shown ([`projection`]), what the server meant by a refusal ([`rejection`]), who took what from
//! whom ([`ownership`]) and what is to be done about all of it ([`plan`]).
//!
//! There is no async, no I/O, no clock, no randomness and no hash-ordered map in this crate: the
//! same input gives the same bytes. It never says Terraform.

#![cfg_attr(not(test), deny(clippy::disallowed_methods))]

pub mod adoption;
pub mod atom;
pub mod blast;
pub mod changed;
pub mod conflict;
pub mod documents;
pub mod field;
pub mod footprint;

pub mod handback;
pub mod identity;
pub mod ignore;
pub mod immutability;
pub mod import_body;
pub mod import_id;
pub mod jsonpath;
pub mod leaf_texts;
pub mod manifest;
pub mod outgoing;
pub mod overlay;
pub mod owners;
pub mod ownership;
pub mod patch;
pub mod plan;
pub mod pointer;
pub mod probe_name;
pub mod projection;
pub mod readiness;
pub mod recent;
pub mod rejection;
pub mod reserved;
pub mod scrub;
pub mod secrecy;
pub mod service_addresses;
#[cfg(test)]
mod specimen;
pub mod spelling;
mod stored;
pub mod swallowed;
pub mod text;
pub mod time;
pub mod yaml;
mod zero;
