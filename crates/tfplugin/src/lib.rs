//! Terraform's plugin protocol 6 for providers written in Rust.
//!
//! A provider is a type that implements [`Provider`] and registers what it offers: types that
//! implement [`Resource`], [`DataSource`], [`Ephemeral`] and [`Function`]. Each trait's methods
//! are the steps of the thing's life, with typed models in and out. [`serve`] is the rest of the
//! program. `examples/echo.rs` is the smallest provider there is, and the tutorial.
//!
//! # Values
//!
//! Terraform's values are known, null, or unknown until apply, and code that forgets one of the
//! three is wrong. [`Value`] makes them three variants; a model's fields are all `Value<T>`:
//!
//! ```
//! use tfplugin::{Attribute, Schema, Value};
//!
//! tfplugin::model! {
//!     #[derive(Clone, Debug, PartialEq, Default)]
//!     pub struct Greeting {
//!         pub name: Value<String>,
//!         pub id: Value<String>,
//!     }
//! }
//!
//! let schema = Schema::new(0)
//!     .describe("Says hello.")
//!     .attribute("name", Attribute::string().required().describe("To whom."))
//!     .attribute("id", Attribute::string().computed().describe("Made up on creation."));
//! assert!(schema.check().is_empty());
//! ```
//!
//! # Rules of Terraform
//!
//! Terraform checks what providers answer and blames them in public. The server keeps the rules
//! that can be kept for a provider: write-only values are taken out of plans and results, private
//! state that an answer does not mention is kept, an unknown left after apply is reported with its
//! path and the rest is stored, a panic is a diagnostic. The rules that need judgement (a plan
//! agrees with its configuration, a result with its plan, the second plan with the first) are
//! checked by `harness`, an in-process stand-in for Terraform core behind the feature of that
//! name, so that a provider's tests find a breach before its users do.
//!
//! # What it is not
//!
//! It knows nothing that a provider might manage. It has no blocks (nested attributes can do more), no defaults
//! and plan modifiers (a resource's `plan` is plain code), no protocol 5, no TCP and hence no
//! Windows. Protobuf stays inside. It does not normalise text: Terraform holds strings in Unicode's
//! NFC, and what a provider brings in from outside must be brought into it there.
//!
//! # The way through the crate
//!
//! `serve` (handshake, TLS, the life of the process) hands connections to `server` (one method is
//! look up, decode, call, encode), which finds types in `registry` (the traits, erased), reads and
//! writes values with `dynamic` (msgpack and JSON, led by the schema) and tells the user what
//! `diagnostic` renders.

#![cfg_attr(not(test), deny(clippy::disallowed_methods))]

pub mod model;

#[cfg(feature = "harness")]
pub mod harness;

mod context;
mod data_source;
mod diagnostic;
mod dynamic;
mod ephemeral;
mod function;
mod mismatch;
mod path;
mod private;
mod proto;
mod raw;
mod registry;
mod resource;
mod schema;
mod serve;
mod server;
mod value;

pub use context::{Capabilities, Context};
pub use data_source::DataSource;
pub use diagnostic::{Diagnostic, Diagnostics, Severity};
pub use ephemeral::{Ephemeral, Opened, Renewed};
pub use function::{Function, FunctionError, Parameter, Signature, Tolerance};
pub use mismatch::Mismatch;
pub use model::{FromData, Model};
pub use path::{AttributePath, Step};
pub use private::{Private, PrivateError};

pub use raw::RawState;
pub use registry::{Provider, Registry};
pub use resource::{
    Applied, ApplyFailure, Create, Delete, Import, Imported, MoveState, Moved, Plan, PlanDestroy,
    Planned, PlannedPrivate, Read, ReadAnswer, Resource, Update,
};
pub use schema::{
    Attribute, Flaw, IdentityAttribute, IdentityMode, IdentitySchema, Mode, Nesting, Schema,
    SchemaFlaw, Shape,
};
pub use serve::{Options, serve};
pub use value::{Data, Number, NumberError, Type, TypeError, Value};
