//! The provider against a real API server, called in this process by a stand-in for Terraform
//! core: fast enough to try every field of every kind.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

mod addresses;
mod adoption;
mod allocated;
mod answers;
mod as_written;
mod calm;
mod characters;
mod contested;
mod coverage;
mod created;
mod data;
mod deletion;
mod drift;
mod edits;

mod emptied;
mod endless;
mod entangled;
mod faults;
mod field_sets;
mod functions;
mod ignoring;
mod interrupts;
mod keeping;
mod kubectl;
mod logins;
mod malformed;
mod model;
mod nulls;
mod ownership;
mod parity;
mod passing;
mod patch;
mod plan_phase;
mod proof;
mod readiness;
mod redefined;
mod reserved;
mod room;
mod secrecy;
mod service_addresses;
mod shapes;
mod succession;
mod swallowed;
mod things;
mod unseen;
mod unserved;
mod upgraded;
mod waiting;
mod ways;
mod words;
mod world;
mod wrong_cluster;
