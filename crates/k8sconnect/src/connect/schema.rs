//! What a user may write to describe a cluster.

use std::collections::BTreeMap;

use tfplugin::{Attribute, Nesting, Schema, Type, Value, model};

model! {
    /// One way into a cluster, as the user wrote it.
    #[derive(Clone, Debug, PartialEq, Default)]
    pub(crate) struct ClusterModel {
        pub(crate) host: Value<String>,
        pub(crate) cluster_ca_certificate: Value<String>,
        pub(crate) insecure: Value<bool>,
        pub(crate) tls_server_name: Value<String>,
        pub(crate) proxy_url: Value<String>,
        pub(crate) token: Value<String>,
        pub(crate) client_certificate: Value<String>,
        pub(crate) client_key: Value<String>,
        pub(crate) exec: Value<ExecModel>,
        pub(crate) kubeconfig: Value<String>,
        pub(crate) config_path: Value<String>,
        pub(crate) context: Value<String>,
    }
}

impl ClusterModel {
    /// Whether it has a credential, or the command that brings one. A part that is not known yet counts.
    pub(crate) fn has_credential(&self) -> bool {
        let is_set = [&self.token, &self.client_key, &self.kubeconfig].map(|it| !it.is_null());
        is_set.contains(&true) || !self.exec().is_null()
    }

    /// The credential plugin. Generated configuration has `exec = {}` where none is set, because the
    /// attribute is sensitive.
    pub(super) fn exec(&self) -> Value<&ExecModel> {
        match &self.exec {
            Value::Known(exec) if *exec == ExecModel::default() => Value::Null,
            Value::Known(exec) => Value::Known(exec),
            Value::Null => Value::Null,
            Value::Unknown => Value::Unknown,
        }
    }
}

model! {
    /// A command that brings a credential.
    #[derive(Clone, Debug, PartialEq, Default)]
    pub(crate) struct ExecModel {
        pub(crate) api_version: Value<String>,
        pub(crate) command: Value<String>,
        pub(crate) args: Value<Vec<Value<String>>>,
        pub(crate) env: Value<BTreeMap<String, Value<String>>>,
    }
}

/// Adds both ways of naming a cluster to the schema of what talks to one.
pub(crate) fn attributes(schema: Schema) -> Schema {
    schema
        .attribute(
            "cluster",
            attribute(Nesting::Single)
                .optional()
                .describe("The cluster that the object lives in; the provider block's if not set."),
        )
        .attribute(
            "cluster_name",
            Attribute::string().optional().describe(
                "The name of a cluster among the provider block's `clusters`, instead of \
                 `cluster`. Nothing of how it is reached stands in state.",
            ),
        )
}

/// The shape of one way into a cluster.
pub(crate) fn attribute(nesting: Nesting) -> Attribute {
    let text = |description: &str| Attribute::string().optional().describe(description);
    let parts = [
        ("host", text("The API server's address, `https://host:port`.")),
        // No secret, but a page of letters that nobody reads in a plan.
        (
            "cluster_ca_certificate",
            text(
                "The authority that signed the server's certificate: PEM, or base64 of PEM. What \
                 this machine trusts if not set.",
            )
            .sensitive(),
        ),
        (
            "insecure",
            Attribute::bool().optional().describe(
                "Whether any certificate will do, whoever shows it. Never with \
                 `cluster_ca_certificate`.",
            ),
        ),
        (
            "tls_server_name",
            text("The name that the server's certificate must be for, where it is not the host's."),
        ),
        (
            "proxy_url",
            text(
                "A proxy that leads to the server: `http://`, `https://`, `socks5://` or \
                 `socks5h://`. If not set, `HTTPS_PROXY` and `NO_PROXY` in the environment decide.",
            )
            .sensitive(),
        ),
        ("token", text("A bearer token.").sensitive()),
        (
            "client_certificate",
            text("A client certificate: PEM, or base64 of PEM. With `client_key`.").sensitive(),
        ),
        (
            "client_key",
            text("The key of the client certificate: PEM, or base64 of PEM.").sensitive(),
        ),
        ("exec", exec()),
        (
            "kubeconfig",
            text(
                "The text of a kubeconfig. File paths in it must be absolute, or better, their \
                 contents inlined.",
            )
            .sensitive(),
        ),
        (
            "config_path",
            text(
                "The path of a kubeconfig, or of several, as `KUBECONFIG` lists them. Only the \
                 path stands in state.",
            ),
        ),
        (
            "context",
            text(
                "The context to use of the kubeconfig, wherever it stands; its `current-context` \
                 if not set.",
            ),
        ),
    ];
    Attribute::nested(nesting, parts)
}

fn exec() -> Attribute {
    let parts = [
        (
            "api_version",
            Attribute::string().optional().describe(
                "`client.authentication.k8s.io/v1` or `client.authentication.k8s.io/v1beta1`.",
            ),
        ),
        ("command", Attribute::string().optional().describe("The command, in `PATH` or by path.")),
        (
            "args",
            Attribute::list(Type::String).optional().describe("The arguments of the command."),
        ),
        (
            "env",
            Attribute::map(Type::String)
                .optional()
                .describe("Environment variables, beside those that Terraform runs with."),
        ),
    ];
    // Sensitive as a whole, as in state of the Go provider: Terraform plans a change of the marks otherwise.
    Attribute::nested(Nesting::Single, parts).optional().sensitive().describe(
        "A credential plugin: a command that prints a token or a client certificate. It is run \
         once for all objects of a connection, and again when the credential expires.",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_empty_exec_of_generated_configuration_is_no_credential() {
        let exec = |model| ClusterModel { exec: Value::Known(model), ..ClusterModel::default() };
        assert!(!exec(ExecModel::default()).has_credential());
        let command = Value::Known("login".to_owned());
        assert!(exec(ExecModel { command, ..ExecModel::default() }).has_credential());
    }
}
