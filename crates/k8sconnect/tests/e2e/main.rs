//! The provider as users meet it: real `terraform` and real `tofu`, against a real control plane.
//! One namespace a test; every story ends in an empty plan.

mod budget;
mod documented;
mod drift;
mod life;
mod refusals;
mod spelling;
mod workspace;
