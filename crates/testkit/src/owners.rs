//! Reads `managedFields` the way a test asserts on it: who holds this field? Not a parser
//! of FieldsV1, which the core has; a test that used the core's would agree with its faults.

use std::collections::BTreeSet;

use serde_json::Value;

/// One entry of `managedFields`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Owner {
    pub manager: String,
    pub operation: String,
    pub subresource: Option<String>,
    pub fields: Value,
}

/// Everyone who holds a part of `object`.
pub fn owners(object: &Value) -> Vec<Owner> {
    let text = |value: &Value| value.as_str().map(str::to_owned);
    object["metadata"]["managedFields"]
        .as_array()
        .into_iter()
        .flatten()
        .map(|entry| Owner {
            manager: text(&entry["manager"]).unwrap_or_default(),
            operation: text(&entry["operation"]).unwrap_or_default(),
            subresource: text(&entry["subresource"]),
            fields: entry["fieldsV1"].clone(),
        })
        .collect()
}

/// The managers that hold the field at `path`, whose elements are written as FieldsV1
/// writes them: `["f:spec", "f:replicas"]`.
pub fn managers_of(object: &Value, path: &[&str]) -> BTreeSet<String> {
    owners(object)
        .into_iter()
        .filter(|owner| {
            path.iter().try_fold(&owner.fields, |fields, element| fields.get(element)).is_some()
        })
        .map(|owner| owner.manager)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn names_every_manager_of_a_field_and_nobody_else() {
        let object = json!({ "metadata": { "managedFields": [
            { "manager": "a", "operation": "Apply", "fieldsV1": { "f:spec": { "f:replicas": {} } } },
            { "manager": "b", "operation": "Update", "subresource": "scale",
              "fieldsV1": { "f:spec": { "f:replicas": {} } } },
            { "manager": "c", "operation": "Update", "fieldsV1": { "f:spec": { "f:paused": {} } } },
        ] } });
        let held = managers_of(&object, &["f:spec", "f:replicas"]);
        assert_eq!(held.into_iter().collect::<Vec<_>>(), ["a", "b"]);
        assert_eq!(owners(&object)[1].subresource.as_deref(), Some("scale"));
    }
}
