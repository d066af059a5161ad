//! What a user may write in a `k8sconnect_wait`, and what it answers with.

use tfplugin::{Attribute, Nesting, Schema, Type};

use crate::connect;

/// Versions below 10 belong to the Go provider of this name.
pub(crate) const VERSION: i64 = 10;

pub(crate) fn schema() -> Schema {
    connect::attributes(Schema::new(VERSION))
        .describe(
            "Waits until an object is as it should be, and hands on what was waited for. It \
             writes nothing to the cluster, and its failure leaves the object as it is, in the \
             cluster and in state.",
        )
        .attribute("object_ref", object_ref())
        .attribute("wait_for", wait_for())
        .attribute(
            "triggers",
            Attribute::map(Type::String).optional().describe(
                "Any values; when one of them changes, the object is waited for again, in place.",
            ),
        )
        .attribute("id", Attribute::string().computed().describe("A random id."))
        .attribute(
            "result",
            Attribute::dynamic().computed().describe(
                "What was waited for, nested as in the object and with its own types: with `field \
                 = \"status.loadBalancer.ingress\"` there is \
                 `result.status.loadBalancer.ingress[0].ip`. Of a condition: its type, status and \
                 reason. Null for `rollout`, `ready` and `deleted`. Kept current by every refresh.",
            ),
        )
}

fn object_ref() -> Attribute {
    let text = |describe: &str| Attribute::string().describe(describe);
    Attribute::nested(
        Nesting::Single,
        [
            ("api_version", text("Group and version, e.g. `apps/v1`.").required()),
            ("kind", text("Kind, e.g. `Deployment`.").required()),
            ("name", text("Name.").required()),
            (
                "namespace",
                text("Namespace; `default` if not set, ignored for a cluster-scoped kind.")
                    .optional(),
            ),
        ],
    )
    .required()
    .describe(
        "The object, as `k8sconnect_object.NAME.object_ref` names it. It need not be managed by \
         Terraform, and need not be there yet.",
    )
}

fn wait_for() -> Attribute {
    let path = "JSONPath as kubectl takes it";
    Attribute::nested(
        Nesting::Single,
        [
            (
                "field",
                Attribute::string()
                    .optional()
                    .describe(format!("A field that must be there and not be empty, as a {path}.")),
            ),
            (
                "field_value",
                Attribute::map(Type::String)
                    .optional()
                    .describe(format!("Fields that must have these values: {path}, to value.")),
            ),
            (
                "condition",
                Attribute::string().optional().describe(
                    "A condition that must be `True`, e.g. `Ready`, or have the status that is \
                     named, e.g. `Ready=False`.",
                ),
            ),
            (
                "rollout",
                Attribute::bool().optional().describe(
                    "Whether a Deployment, StatefulSet, DaemonSet or Job must have rolled out: \
                     all of its pods of the last template and available, or the Job complete.",
                ),
            ),
            (
                "ready",
                Attribute::bool().optional().describe(
                    "Whether the object must be ready by the rules of its kind, those of kstatus.",
                ),
            ),
            ("deleted", Attribute::bool().optional().describe("Whether the object must be gone.")),
            ("fail_when", fail_when()),
            (
                "timeout",
                Attribute::string()
                    .optional()
                    .describe("How long to wait, such as `90s` or `1h30m`; `10m` if not set."),
            ),
        ],
    )
    .required()
    .describe(
        "What to wait for: exactly one of `field`, `field_value`, `condition`, `rollout`, `ready` \
         and `deleted`.",
    )
}

fn fail_when() -> Attribute {
    Attribute::nested(
        Nesting::Single,
        [
            (
                "field",
                Attribute::string().optional().describe("A field that is there and not empty."),
            ),
            (
                "field_value",
                Attribute::map(Type::String).optional().describe("Fields with these values, all."),
            ),
            (
                "condition",
                Attribute::string()
                    .optional()
                    .describe("A condition that is `True`, or has the status that is named."),
            ),
        ],
    )
    .optional()
    .describe(
        "What the wait fails on at once, instead of at its timeout. Several are alternatives: any \
         of them suffices.",
    )
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_schema_keeps_terraforms_rules() {
        assert_eq!(super::schema().check(), []);
    }
}
