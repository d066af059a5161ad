//! No input makes the core panic, overflow its stack or take long, and what it takes keeps its
//! promises. Inputs are valid ones, damaged; the crate `damage` says how, and how many.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

mod answers;
mod bodies;
mod depth;
mod patches;
mod paths;
mod samples;
