//! The generated protobuf types and services. They never leave the crate.
//!
//! Generated from `proto/` and checked in, so that building the crate needs no code generator;
//! `tests/it` generates them again and compares. To renew them after a change:
//! `UPDATE_GENERATED=1 cargo test -p tfplugin --test it generated`.

#[allow(
    clippy::all,
    clippy::allow_attributes_without_reason,
    unreachable_pub,
    dead_code,
    reason = "generated code keeps its own style; the client serves the harness only"
)]
#[path = "proto/generated/tfplugin6.rs"]
#[rustfmt::skip]
pub(crate) mod tfplugin6;

#[allow(
    clippy::all,
    clippy::allow_attributes_without_reason,
    unreachable_pub,
    dead_code,
    reason = "generated code keeps its own style; the client serves tests only"
)]
#[path = "proto/generated/plugin.rs"]
#[rustfmt::skip]
pub(crate) mod plugin;
