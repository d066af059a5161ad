//! What a user may write in a `k8sconnect_patch`, and what it answers with.

use tfplugin::{Attribute, Nesting, Schema, Type};

use crate::connect;

/// Versions below 10 belong to the Go provider of this name.
pub(crate) const VERSION: i64 = 10;

pub(crate) fn schema() -> Schema {
    let text = |description: &str| Attribute::string().optional().describe(description);
    let part = |description: &str| Attribute::string().required().describe(description);
    let owner = ["manager", "operation", "subresource", "api_version", "time"];
    connect::attributes(Schema::new(VERSION))
        .describe(
            "Some fields of an object that somebody else owns: a cloud's DaemonSet, an operator's \
             object, a field under an autoscaler. The plan tells from whom each field is taken, \
             and destroying the patch gives each back to its own former owner, with its value \
             untouched. The object itself is never created and never deleted.",
        )
        .attribute(
            "target",
            Attribute::nested(
                Nesting::Single,
                [
                    ("api_version", part("Group and version, e.g. `apps/v1`.")),
                    ("kind", part("Kind, e.g. `DaemonSet`.")),
                    ("name", part("Name.")),
                    (
                        "namespace",
                        text("Namespace; `default` if not set. Says nothing for a kind without."),
                    ),
                ],
            )
            .required()
            .describe(
                "The object to patch. Another target gives the fields of the old one back and \
                 patches the new one.",
            ),
        )
        .attribute(
            "patch",
            text(
                "A partial object, as YAML or JSON: the fields to set and nothing else. Lists with \
                 keys (containers, env, ports) are merged by key. Sent by server-side apply. \
                 Exactly one of `patch`, `json_patch` and `merge_patch` is set.",
            ),
        )
        .attribute(
            "json_patch",
            text(
                "Operations of RFC 6902 (`add`, `remove`, `replace`, `move`, `copy`, `test`), as \
                 JSON or YAML. Each is carried out once; afterwards what it came to is kept up.",
            ),
        )
        .attribute(
            "merge_patch",
            text(
                "A merge patch of RFC 7386, as YAML or JSON: `null` removes a field, a list \
                 replaces a list.",
            ),
        )
        .attribute(
            "adopt",
            Attribute::bool().optional().describe(
                "Whether fields that another patch holds are taken over from it, instead of being \
                 an error. For what a killed run left behind.",
            ),
        )
        .attribute(
            "id",
            Attribute::string()
                .computed()
                .describe("A random id; the field manager is `k8sconnect-patch-<id>`."),
        )
        .attribute(
            "managed_fields",
            Attribute::map(Type::String)
                .computed()
                .describe("The patched fields, by path; nothing else of the object."),
        )
        .attribute(
            "previous_owners",
            Attribute::map(Type::list(Type::object(owner.map(|name| (name, Type::String)))))
                .computed()
                .describe(
                    "Who held each field before the patch, by path, and gets it back. Empty for a \
                     field that was held by nobody.",
                ),
        )
        .attribute(
            "managed_state_projection",
            Attribute::map(Type::String).computed().describe(
                "The patched fields, as the API server holds them: path to value, one entry a \
                 leaf. `(absent)` stands for a field that the patch removes.",
            ),
        )
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_schema_keeps_terraforms_rules() {
        assert_eq!(super::schema().check(), []);
    }
}
