//! The `cluster` attribute: how a resource says where its object lives.

use k8sconnect_cluster::{Connection, KubeconfigFiles};
use tfplugin::{Attribute, AttributePath, Diagnostics, Nesting, Value, model};

use crate::messages;

model! {
    /// One way into a cluster, as the user wrote it.
    #[derive(Clone, Debug, PartialEq, Default)]
    pub(crate) struct ClusterModel {
        pub(crate) kubeconfig: Value<String>,
        pub(crate) config_path: Value<String>,
        pub(crate) context: Value<String>,
    }
}

/// Where a connection stands.
pub(crate) enum Reach {
    Ready(Box<Connection>),
    /// Something in it is known only once something else is applied.
    Unknown,
}

pub(crate) fn attribute() -> Attribute {
    Attribute::nested(
        Nesting::Single,
        [
            (
                "kubeconfig",
                Attribute::string().optional().sensitive().describe(
                    "The text of a kubeconfig. File paths in it must be absolute, or better, \
                     their contents inlined. Either this or `config_path` is set.",
                ),
            ),
            (
                "config_path",
                Attribute::string().optional().describe(
                    "The path of a kubeconfig, or of several, as `KUBECONFIG` lists them. Only \
                     the path stands in state.",
                ),
            ),
            (
                "context",
                Attribute::string().optional().describe(
                    "The context of the kubeconfig to use; its `current-context` if not set.",
                ),
            ),
        ],
    )
    .describe("The cluster that the object lives in.")
}

/// Turns what the user wrote into a connection.
pub(crate) fn reach(cluster: &Value<ClusterModel>) -> Result<Reach, Diagnostics> {
    let cluster = match cluster {
        Value::Known(cluster) => cluster,
        Value::Unknown => return Ok(Reach::Unknown),
        Value::Null => return Err(messages::connection::missing().into()),
    };
    let context = match &cluster.context {
        Value::Known(context) => Some(context.as_str()),
        Value::Null => None,
        Value::Unknown => return Ok(Reach::Unknown),
    };
    let connection = match (&cluster.kubeconfig, &cluster.config_path) {
        (Value::Unknown, _) | (_, Value::Unknown) => return Ok(Reach::Unknown),
        (Value::Null, Value::Null) => return Err(messages::connection::missing().into()),
        (Value::Known(_), Value::Known(_)) => {
            return Err(messages::connection::two_ways(path("config_path")).into());
        }
        (Value::Known(text), Value::Null) => Connection::from_kubeconfig(text, context)
            .map_err(|error| messages::connection::unusable(&error, path("kubeconfig")))?,
        (Value::Null, Value::Known(list)) => KubeconfigFiles::load(list)
            .and_then(|files| files.connection(context))
            .map_err(|error| messages::connection::unusable(&error, path("config_path")))?,
    };
    Ok(Reach::Ready(Box::new(connection)))
}

/// Checks what can be checked before anything runs: a file may be there only where the plan is
/// made.
pub(crate) fn check(cluster: &Value<ClusterModel>) -> Result<(), Diagnostics> {
    match cluster.known() {
        Some(cluster) if cluster.kubeconfig.is_null() && cluster.config_path.is_known() => Ok(()),
        _ => reach(cluster).map(|_| ()),
    }
}

/// The kubeconfigs that the environment names, for an import: it has no configuration to ask.
pub(crate) fn from_environment() -> Result<KubeconfigFiles, Diagnostics> {
    let list = std::env::var("KUBECONFIG").ok().filter(|list| !list.is_empty());
    let list = list.ok_or_else(messages::import::no_kubeconfig)?;
    KubeconfigFiles::load(&list)
        .map_err(|error| messages::import::kubeconfig_unusable(&error).into())
}

fn path(attribute: &str) -> AttributePath {
    AttributePath::root("cluster").attribute(attribute)
}
