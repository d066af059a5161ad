//! The provider as users meet it: real `terraform` and real `tofu`, against a real control plane.
//! One namespace a test; every story ends in an empty plan.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

mod between;
mod blast;
mod budget;
mod connecting;
mod contest;
mod deletion;
mod documented;
mod documents;
mod drift;
mod ephemeral;
mod hidden;
mod ignoring;
mod import;
mod in_one_apply;
mod kinds;
mod leaks;
mod life;
mod patch;
mod reading;
mod refusals;
mod replacement;
mod spelling;
mod upgrade;
mod waiting;
mod workspace;
mod write_only;
