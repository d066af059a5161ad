//! The service with answers and requests as no well-behaved program would send them.

mod bad_input;
mod ephemeral;
mod fixture;
mod offers;
mod rules;
