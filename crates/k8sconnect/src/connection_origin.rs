//! Which block of the configuration a connection comes from. Advice and refresh depend on it.

use tfplugin::Value;

/// Which block describes the connection of a resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ConnectionOrigin {
    Resource,
    Provider,
}

impl ConnectionOrigin {
    pub(crate) fn of(cluster: &Value<impl Sized>) -> Self {
        match cluster {
            Value::Known(_) => Self::Resource,
            Value::Null | Value::Unknown => Self::Provider,
        }
    }
}
