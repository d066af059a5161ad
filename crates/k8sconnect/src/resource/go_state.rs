//! State of the Go provider of this name. What both providers have is carried over; what that provider
//! computed is in other words, and the first read finds it anew.

use serde_json::{Map, Value as Json};
use tfplugin::{Diagnostics, Model, RawState, Schema, Value};

use crate::{connect, messages};

/// The versions that the Go provider wrote.
const VERSIONS: std::ops::RangeInclusive<i64> = 0..=2;

/// Reads state of this version, without the attributes that do not count.
pub(crate) fn decode<M: Model + Default>(
    version: i64,
    raw: &RawState,
    schema: &Schema,
    computed: &[&str],
) -> Result<M, Diagnostics> {
    if !VERSIONS.contains(&version) {
        return Err(messages::upgrade::unknown_version(version).into());
    }
    let mut attributes: Map<String, Json> = raw.deserialize()?;
    connect::carry_over(&mut attributes);
    attributes.retain(|name, _| !computed.contains(&name.as_str()));
    let raw = RawState::new(Json::Object(attributes).to_string());
    match raw.decode(&schema.value_type())? {
        Value::Known(data) => {
            M::from_data(data).map_err(|mismatch| messages::upgrade::misshapen(&mismatch).into())
        }
        Value::Null | Value::Unknown => Ok(M::default()),
    }
}
