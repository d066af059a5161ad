//! Tests of the crate from outside, and of the files checked in beside it.

mod generated;
