//! How a resource says where its object lives: by a `cluster` of its own, by the name of one in
//! the provider block, or by neither, which means the provider block's own.

mod directory;

use k8sconnect_cluster::{Connection, KubeconfigFiles};
use tfplugin::{Attribute, AttributePath, Diagnostics, Nesting, Schema, Value, model};

use crate::messages;

pub(crate) use directory::Directory;

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
    Attribute::nested(
        nesting,
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
}

/// Turns what the user wrote at `at` into a connection.
fn reach(cluster: &ClusterModel, at: &AttributePath) -> Result<Reach, Diagnostics> {
    let path = |attribute: &str| at.clone().attribute(attribute);
    let context = match &cluster.context {
        Value::Known(context) => Some(context.as_str()),
        Value::Null => None,
        Value::Unknown => return Ok(Reach::Unknown),
    };
    let connection = match (&cluster.kubeconfig, &cluster.config_path) {
        (Value::Unknown, _) | (_, Value::Unknown) => return Ok(Reach::Unknown),
        (Value::Null, Value::Null) => return Err(messages::connection::empty(at.clone()).into()),
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

/// Checks what can be checked before anything runs: the provider block is not known then, and a
/// file may be there only where the plan is made.
pub(crate) fn check(
    cluster: &Value<ClusterModel>,
    name: &Value<String>,
) -> Result<(), Diagnostics> {
    if !cluster.is_null() && !name.is_null() {
        return Err(messages::connection::also_named().into());
    }
    check_one(cluster, &AttributePath::root("cluster"))
}

/// The same for one way in, wherever it stands.
pub(crate) fn check_one(
    cluster: &Value<ClusterModel>,
    at: &AttributePath,
) -> Result<(), Diagnostics> {
    match cluster.known() {
        Some(cluster) if cluster.kubeconfig.is_null() && cluster.config_path.is_known() => Ok(()),
        Some(cluster) => reach(cluster, at).map(|_| ()),
        None => Ok(()),
    }
}

/// The kubeconfigs that the environment names, for an import: it has no configuration to ask.
pub(crate) fn from_environment() -> Result<KubeconfigFiles, Diagnostics> {
    let list = std::env::var("KUBECONFIG").ok().filter(|list| !list.is_empty());
    let list = list.ok_or_else(messages::import::no_kubeconfig)?;
    KubeconfigFiles::load(&list)
        .map_err(|error| messages::import::kubeconfig_unusable(&error).into())
}
