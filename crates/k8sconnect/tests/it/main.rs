//! The provider against a real API server, called in this process by a stand-in for Terraform
//! core: fast enough to try every field of every kind.

mod answers;
mod calm;
mod coverage;
mod drift;
mod edits;
mod world;
