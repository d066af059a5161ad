//! What a user may write to describe a cluster.

use std::collections::BTreeMap;

use tfplugin::model::AttributeType;
use tfplugin::{Attribute, Schema, Value, model};

model! {
    /// One way into a cluster, as the user wrote it.
    #[derive(Clone, Debug, PartialEq, Default)]
    pub(crate) struct ClusterModel {
        /// The API server's address, `https://host:port`.
        pub(crate) host: Value<String> => optional,
        /// The authority that signed the server's certificate: PEM, or base64 of PEM. What this
        /// machine trusts if not set.
        pub(crate) cluster_ca_certificate: Value<String> => optional sensitive,
        /// Whether any certificate will do, whoever shows it. Never with `cluster_ca_certificate`.
        pub(crate) insecure: Value<bool> => optional,
        /// The name that the server's certificate must be for, where it is not the host's.
        pub(crate) tls_server_name: Value<String> => optional,
        /// A proxy that leads to the server: `http://`, `https://`, `socks5://` or `socks5h://`. If
        /// not set, `HTTPS_PROXY` and `NO_PROXY` in the environment decide.
        pub(crate) proxy_url: Value<String> => optional sensitive,
        /// A bearer token.
        pub(crate) token: Value<String> => optional sensitive,
        /// A client certificate: PEM, or base64 of PEM. With `client_key`.
        pub(crate) client_certificate: Value<String> => optional sensitive,
        /// The key of the client certificate: PEM, or base64 of PEM.
        pub(crate) client_key: Value<String> => optional sensitive,
        /// A credential plugin: a command that prints a token or a client certificate. It is run
        /// once for all objects of a connection, and again when the credential expires.
        pub(crate) exec: Value<ExecModel> => optional sensitive,
        /// The text of a kubeconfig. File paths in it must be absolute, or better, their contents
        /// inlined.
        pub(crate) kubeconfig: Value<String> => optional sensitive,
        /// The path of a kubeconfig, or of several, as `KUBECONFIG` lists them. Only the path
        /// stands in state.
        pub(crate) config_path: Value<String> => optional,
        /// The context to use of the kubeconfig, wherever it stands; its `current-context` if not
        /// set.
        pub(crate) context: Value<String> => optional,
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
        /// `client.authentication.k8s.io/v1` or `client.authentication.k8s.io/v1beta1`.
        pub(crate) api_version: Value<String> => optional,
        /// The command, in `PATH` or by path.
        pub(crate) command: Value<String> => optional,
        /// The arguments of the command.
        pub(crate) args: Value<Vec<Value<String>>> => optional,
        /// Environment variables, beside those that Terraform runs with.
        pub(crate) env: Value<BTreeMap<String, Value<String>>> => optional,
    }
}

/// Adds both ways of naming a cluster to the schema of what talks to one.
pub(crate) fn attributes(schema: Schema) -> Schema {
    schema
        .attribute(
            "cluster",
            ClusterModel::attribute()
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
