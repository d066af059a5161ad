//! The schema of `k8sconnect_object`. Its attributes stand in the model.

use tfplugin::{Attribute, Nesting, Schema};

use super::model::ObjectModel;
use crate::connect;

/// Versions below 10 belong to the Go provider of this name.
pub(crate) const VERSION: i64 = 10;

pub(crate) fn schema() -> Schema {
    let part = |name, text: &str| (name, Attribute::string().computed().describe(text));
    let object_ref = [
        part("api_version", "Group and version, e.g. `apps/v1`."),
        part("kind", "Kind, e.g. `Deployment`."),
        part("name", "Name."),
        part("namespace", "Namespace; null for a cluster-scoped object."),
    ];
    connect::attributes(Schema::of::<ObjectModel>(VERSION))
        .describe(
            "One Kubernetes object of any kind, custom resources included, from plain YAML, \
             applied by server-side apply. The plan shows what the API server answers to a \
             dry-run, for the fields that you wrote and no others.",
        )
        .attribute(
            "object_ref",
            Attribute::nested(Nesting::Single, object_ref)
                .computed()
                .describe("Names the object, for other resources to refer to."),
        )
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_schema_keeps_terraforms_rules() {
        assert_eq!(super::schema().check(), []);
    }
}
