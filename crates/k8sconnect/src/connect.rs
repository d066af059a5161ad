//! The `cluster` attribute: how a resource says where its object lives.

use k8sconnect_cluster::Connection;
use tfplugin::{Attribute, AttributePath, Diagnostics, Nesting, Value, model};

use crate::messages;

model! {
    /// One way into a cluster, as the user wrote it.
    #[derive(Clone, Debug, PartialEq, Default)]
    pub(crate) struct ClusterModel {
        pub(crate) kubeconfig: Value<String>,
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
                Attribute::string().required().sensitive().describe(
                    "The text of a kubeconfig. File paths in it must be absolute, or better, \
                     their contents inlined.",
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
    match &cluster.kubeconfig {
        Value::Known(text) => {
            let connection = Connection::from_kubeconfig(text, context)
                .map_err(|error| messages::connection::unusable(&error, kubeconfig_path()))?;
            Ok(Reach::Ready(Box::new(connection)))
        }
        Value::Unknown => Ok(Reach::Unknown),
        Value::Null => Err(messages::connection::missing().into()),
    }
}

fn kubeconfig_path() -> AttributePath {
    AttributePath::root("cluster").attribute("kubeconfig")
}
