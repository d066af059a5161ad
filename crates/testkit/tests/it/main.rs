//! The testkit's own claims, tried on what it starts.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod control_plane;
mod life;
mod proxy;
mod terraform;
mod users;
