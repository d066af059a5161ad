//! YAML as `kubectl` reads it: agreement with the Go library, errors, limits, places, writing.

mod agreement;
mod errors;
mod limits;
mod places;
mod round_trip;
