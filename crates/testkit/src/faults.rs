//! Nothing is lost, whatever breaks: every operation of every resource, with every fault at every
//! request that it makes, and what must hold afterwards.
//!
//! An operation is run once in peace, which tells its requests; then once for each request and
//! fault, through the [`Proxy`](crate::proxy::Proxy); then in peace again, until all is as it
//! should be. The provider is called in process, as Terraform would call it, so that thousands of
//! cases cost minutes; only where it is killed does real Terraform run it, because that needs a
//! process of its own.
//!
//! The tables ([`operation`], [`fault`]) say what is tried, `judge` what must hold. None of them
//! knows how the provider works: it is the referee.

pub mod fault;
mod judge;
pub mod life;
pub mod operation;
pub mod outage;
pub mod sweep;
pub mod table;

pub use fault::Fault;
pub use life::Means;
pub use operation::{Operation, operations};
pub use outage::Outage;
pub use sweep::{Case, Report, Scene, Verdict};
pub use table::Table;
