//! What tests stand on: a real control plane, rivals that write to it, a look into its
//! audit log, and a runner for Terraform and OpenTofu. It serves tests and `cargo xtask`
//! only; nothing of it is in the provider, and it uses no code of the provider's client,
//! so that it can be the referee.

pub mod assets;
pub mod audit;
mod built;
mod client;
pub mod control_plane;
mod descriptors;
pub mod faults;
mod household;
mod kept;
pub mod kstatus;
pub mod kubectl;
pub mod namespace;
pub mod owners;
pub mod proxy;
pub mod respell;
pub mod rewriter;
pub mod rival;
pub mod specimens;
pub mod states;
pub mod sweep;
pub mod target;
pub mod terraform;
pub mod tunnel;
pub mod twins;
pub mod ward;
pub mod webhook;

pub use assets::Product;
pub use audit::{Filter, Request};
pub use client::Answer;
pub use control_plane::{ControlPlane, Parts, Validity};
pub use descriptors::Descriptors;
pub use kept::{kept, reworded};
pub use namespace::TestNamespace;
pub use respell::respell;
pub use rewriter::{Means, Rewriter};
pub use rival::Rival;
pub use states::StateStore;
pub use target::{Manifest, Target};
pub use terraform::{Mirrored, Plan, PlanOutcome, Run, Runner, Tool};
pub use tunnel::{Speech, Tunnel};
pub use ward::{Usage, Warded};
pub use webhook::Webhook;
