//! Tests of the crate from outside, and of the files checked in beside it.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on ends there")]

mod generated;
mod plugin;
mod process;
mod shop;
mod walk;
