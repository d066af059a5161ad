//! The provider as users meet it: real `terraform` and real `tofu`, against a real control plane.
//! One namespace a test; every story ends in an empty plan.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

mod aliases;
mod between;
mod blast;
mod budget;
mod connecting;
mod contest;
mod dead_ends;
mod deletion;
mod documented;
mod documents;
mod drift;
mod endless;
mod ephemeral;
mod hidden;
mod ignoring;
mod import;
mod in_one_apply;
mod interrupts;
mod keeping;
mod killed;
mod kinds;
mod leaks;
mod life;
mod logins;
mod memory;
mod no_files;
mod passing;
mod patch;
mod plan_phase;
mod reading;
mod refusals;
mod replacement;
mod rewritten;
mod spelling;
mod upgrade;
mod waiting;
mod workspace;
mod write_only;
mod wrong_cluster;
