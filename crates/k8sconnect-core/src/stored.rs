//! The forms in which private state stores the types of this crate: short, because Terraform copies
//! and compares the state of every instance for each object that it applies.

use std::fmt::{Debug, Display};
use std::str::FromStr;

use base64::Engine;
use base64::engine::general_purpose::STANDARD as BASE64;
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

use crate::field::{FieldPath, FieldSet, fields_v1};
use crate::owners::{Manager, Operation, Owners, Ownership};
use crate::patch::{Mark, Stood};
use crate::projection::ConcealmentKey;

fn write_text<T: Display, S: Serializer>(it: &T, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(it)
}

fn read_text<'de, T: FromStr<Err: Debug>, D: Deserializer<'de>>(from: D) -> Result<T, D::Error> {
    let text = String::deserialize(from)?;
    text.parse().map_err(|error| D::Error::custom(format!("{error:?}")))
}

macro_rules! stored_as_text {
    ($($ty:ty),*) => {$(
        impl Serialize for $ty {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                write_text(self, serializer)
            }
        }

        impl<'de> Deserialize<'de> for $ty {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                read_text(deserializer)
            }
        }
    )*};
}

stored_as_text!(FieldPath, Mark, Stood);

impl Serialize for FieldSet {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        fields_v1::encode(self).serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for FieldSet {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let tree = Value::deserialize(deserializer)?;
        fields_v1::decode(&tree).map_err(|error| D::Error::custom(format!("{error:?}")))
    }
}

/// Name, operation, API version, fields, subresource, time.
type StoredOwner = (String, Operation, String, FieldSet, String, Option<String>);

impl Serialize for Owners {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.iter().map(|Ownership { manager, fields }| {
            let Manager { name, operation, subresource, api_version, time } = manager;
            (name, operation, api_version, fields, subresource, time)
        }))
    }
}

impl<'de> Deserialize<'de> for Owners {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let owner = |(name, operation, api_version, fields, subresource, time): StoredOwner| {
            let manager = Manager { name, operation, subresource, api_version, time };
            Ownership { manager, fields }
        };
        let stored = Vec::<StoredOwner>::deserialize(deserializer)?;
        Ok(Self(stored.into_iter().map(owner).collect()))
    }
}

impl Serialize for ConcealmentKey {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&BASE64.encode(self.0))
    }
}

impl<'de> Deserialize<'de> for ConcealmentKey {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let bytes = BASE64.decode(String::deserialize(deserializer)?).ok();
        let key = bytes.and_then(|bytes| bytes.try_into().ok());
        key.map(Self).ok_or_else(|| D::Error::custom("not 32 bytes"))
    }
}
