//! State of the Go provider of this name, brought into our form.
//!
//! What both have is carried over, the id included: the field manager is called after it. What that
//! provider computed is in other words and is found anew by the first plan. It kept no record of
//! former owners that could be trusted, so there are none, and the plan says so.

use serde_json::{Map, Value as Json};
use tfplugin::{Diagnostics, FromData, RawState, Value};

use super::model::PatchModel;
use super::schema;
use crate::{connect, messages};

/// The versions that the Go provider wrote.
const FORMER_VERSIONS: std::ops::RangeInclusive<i64> = 0..=2;
const COMPUTED: [&str; 3] = ["managed_fields", "previous_owners", "managed_state_projection"];

pub(crate) fn upgrade(version: i64, raw: &RawState) -> Result<PatchModel, Diagnostics> {
    if !FORMER_VERSIONS.contains(&version) {
        return Err(messages::upgrade::unknown_version(version).into());
    }
    let mut attributes: Map<String, Json> = raw.deserialize()?;
    connect::carry_over(&mut attributes);
    for name in COMPUTED {
        attributes.remove(name);
    }
    let raw = RawState::new(Json::Object(attributes).to_string());
    match raw.decode(&schema::schema().value_type())? {
        Value::Known(data) => PatchModel::from_data(data)
            .map_err(|mismatch| messages::upgrade::misshapen(&mismatch).into()),
        Value::Null | Value::Unknown => Ok(PatchModel::default()),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_both_have_is_carried_over_and_what_was_computed_is_not() {
        let state = json!({
            "id": "0123456789ab",
            "target": {"api_version": "apps/v1", "kind": "DaemonSet", "name": "aws-node",
                "namespace": "kube-system"},
            "patch": "{\"spec\":{}}", "json_patch": null, "merge_patch": null,
            "cluster_connection": {"kubeconfig": "some text", "context": null, "host": null},
            "managed_fields": "{\"spec.x\":\"y\"}", "previous_owners": {"spec.x": "helm"},
            "field_ownership": {"a": "b"},
        });
        let model = upgrade(1, &RawState::new(state.to_string())).unwrap();
        assert_eq!(model.id.as_str(), Some("0123456789ab"));
        assert_eq!(model.target.known().unwrap().key().unwrap().name, "aws-node");
        assert_eq!(model.cluster.known().unwrap().kubeconfig.as_str(), Some("some text"));
        assert!(model.previous_owners.is_null() && model.managed_fields.is_null());
        assert!(upgrade(3, &RawState::new(state.to_string())).is_err());
    }
}
