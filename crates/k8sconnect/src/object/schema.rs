//! What a user may write in a `k8sconnect_object`, and what it answers with.

use tfplugin::{Attribute, Nesting, Schema, Type};

use crate::connect;

/// Versions below 10 belong to the Go provider of this name.
pub(crate) const VERSION: i64 = 10;

pub(crate) fn schema() -> Schema {
    connect::attributes(Schema::new(VERSION))
        .describe(
            "One Kubernetes object of any kind, custom resources included, from plain YAML, \
             applied by server-side apply. The plan shows what the API server answers to a \
             dry-run, for the fields that you wrote and no others.",
        )
        .attribute(
            "yaml_body",
            Attribute::string().optional().describe(
                "The object, as one YAML document. Read exactly as kubectl reads it. Comments, \
                 key order and quoting may change without a change being planned. Either this or \
                 `yaml_body_wo` is set.",
            ),
        )
        .attribute(
            "yaml_body_wo",
            // Not sensitive as well: nobody is shown it anyway, and Terraform would go through the
            // values of every object to mark one that is never there.
            Attribute::string().optional().write_only().describe(
                "The object, as `yaml_body` has it, but never stored, neither in a plan nor in \
                 state, and with all its values hidden. It may hold ephemeral values. Needs \
                 Terraform or OpenTofu 1.11 or later.",
            ),
        )
        .attribute(
            "yaml_body_wo_version",
            Attribute::string().optional().describe(
                "Any text that stands for the content of `yaml_body_wo`: the body is applied \
                 again when this changes.",
            ),
        )
        .attribute(
            "force_conflicts",
            Attribute::bool().optional().describe(
                "Whether fields that other managers hold with other values are taken from them; \
                 `true` unless set. The plan tells from whom. With `false` such a field is a plan \
                 error.",
            ),
        )
        .attribute(
            "ignore_fields",
            Attribute::list(Type::String).optional().describe(
                "Fields that are sent when the object is created and left alone afterwards, such \
                 as `spec.replicas` under an autoscaler. `[name=x]`, `[*]` and \
                 `[?(@.name==\"x\")]` choose list items, `*` any key; `manager=NAME` stands for \
                 all that a manager holds.",
            ),
        )
        .attribute(
            "sensitive_fields",
            Attribute::list(Type::String).optional().describe(
                "Fields whose values are shown nowhere: in the projection stands a hash instead, \
                 so that a change still shows. Paths as in `ignore_fields`. The values of a \
                 Secret are always hidden.",
            ),
        )
        .attribute(
            "adopt",
            Attribute::bool().optional().describe(
                "Whether an object that exists already is taken over instead of being an error. \
                 The plan tells from whom.",
            ),
        )
        .attribute(
            "apply_timeout",
            Attribute::string().optional().describe(
                "How long an apply waits for a kind or a namespace that is not there yet, e.g. \
                 `90s` or `5m`; `5m` unless set.",
            ),
        )
        .attribute(
            "delete_protection",
            Attribute::bool()
                .optional()
                .describe("Whether destroying or replacing the object is a plan error."),
        )
        .attribute(
            "delete_timeout",
            Attribute::string().optional().describe(
                "How long to wait until the object is gone, e.g. `90s`; `5m` unless set, `10m` for \
                 a Namespace, a CustomResourceDefinition, a PersistentVolume or a \
                 PersistentVolumeClaim. `0s` does not wait.",
            ),
        )
        .attribute(
            "delete_propagation",
            Attribute::string().optional().describe(
                "What becomes of the objects that this one owns: `background` (the default) \
                 deletes them afterwards, `foreground` before, `orphan` leaves them.",
            ),
        )
        .attribute(
            "force_destroy",
            Attribute::bool().optional().describe(
                "Whether finalizers are removed if the object is still there after \
                 `delete_timeout`. What they were to clean up is then left behind.",
            ),
        )
        .attribute(
            "id",
            Attribute::string()
                .computed()
                .describe("A random id, also kept in an annotation of the object."),
        )
        .attribute(
            "uid",
            Attribute::string().computed().describe("The uid that the API server gave the object."),
        )
        .attribute(
            "object_ref",
            Attribute::nested(
                Nesting::Single,
                [
                    ("api_version", computed("Group and version, e.g. `apps/v1`.")),
                    ("kind", computed("Kind, e.g. `Deployment`.")),
                    ("name", computed("Name.")),
                    ("namespace", computed("Namespace; null for a cluster-scoped object.")),
                ],
            )
            .computed()
            .describe("Names the object, for other resources to refer to."),
        )
        .attribute(
            "managed_state_projection",
            Attribute::map(Type::String).computed().describe(
                "The fields that you wrote, as the API server holds them: path to value, one \
                 entry a leaf. What others put into the object never stands here.",
            ),
        )
}

fn computed(description: &str) -> Attribute {
    Attribute::string().computed().describe(description)
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_schema_keeps_terraforms_rules() {
        assert_eq!(super::schema().check(), []);
    }
}
