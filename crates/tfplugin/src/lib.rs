//! Terraform's plugin protocol 6 for providers written in Rust.

pub mod model;

mod context;
mod data_source;
mod diagnostic;
mod dynamic;
mod ephemeral;
mod function;
#[cfg(feature = "harness")]
pub mod harness;
mod path;
mod private;
mod proto;
mod provider;
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
pub use model::{FromData, Mismatch, Model};
pub use path::{AttributePath, Step};
pub use private::{Private, PrivateError};
pub use provider::Provider;
pub use raw::RawState;
pub use registry::Registry;
pub use resource::{
    Applied, ApplyFailure, Create, Delete, Import, Imported, MoveState, Moved, Plan, PlanDestroy,
    Planned, Read, ReadAnswer, Resource, Update,
};
pub use schema::{
    Attribute, Flaw, IdentityAttribute, IdentityMode, IdentitySchema, Mode, Nesting, Schema,
    SchemaFlaw, Shape,
};
pub use serve::{Options, serve};
pub use value::{Data, Number, NumberError, Type, TypeError, Value};
