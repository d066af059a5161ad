//! Random and exhaustive sweeps. `cargo test` runs a few seeds; `cargo xtask test --all` runs the whole
//! sweep, as the nightly workflow does.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

mod twins;
