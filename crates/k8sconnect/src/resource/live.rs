//! What every object of the server says of itself.

use k8sconnect_core::field::fields_v1::FieldsV1Error;
use k8sconnect_core::identity::ObjectKey;
use serde_json::Value as Json;
use tfplugin::Diagnostics;

use crate::messages;

/// Empty only of what no server has seen.
pub(crate) fn uid_of(object: &Json) -> &str {
    object["metadata"]["uid"].as_str().unwrap_or_default()
}

pub(crate) fn version_of(object: &Json) -> Option<String> {
    object["metadata"]["resourceVersion"].as_str().map(ToOwned::to_owned)
}

/// What was read from `managedFields`.
pub(crate) trait NamesObject<T> {
    /// The same, or an error that names the object.
    fn naming(self, key: &ObjectKey) -> Result<T, Diagnostics>;
}

impl<T> NamesObject<T> for Result<T, FieldsV1Error> {
    fn naming(self, key: &ObjectKey) -> Result<T, Diagnostics> {
        self.map_err(|error| messages::object::ownership_unreadable(key, &error).into())
    }
}
