//! The clusters that the provider block names.

use std::collections::BTreeMap;

use tfplugin::{AttributePath, Diagnostics, Value};

use super::ClusterArgs;
use super::place::Place;
use super::schema::ClusterModel;
use super::way::{self, Files, Reach};
use crate::messages;

/// What the provider block says about clusters. None of it ever lands in state.
#[derive(Clone, Debug, Default)]
pub(crate) struct Directory {
    /// Where objects live that name no cluster.
    pub(crate) default: Value<ClusterModel>,
    pub(crate) named: Value<BTreeMap<String, Value<ClusterModel>>>,
}

impl Directory {
    pub(crate) fn names(&self) -> Vec<String> {
        let named = self.named.known().into_iter().flatten();
        named.filter(|(_, cluster)| !cluster.is_null()).map(|(name, _)| name.clone()).collect()
    }

    /// Finds the cluster that a resource names, and the way to it.
    pub(crate) fn reach(&self, args: ClusterArgs<'_>) -> Result<Reach, Diagnostics> {
        match (args.cluster, args.name) {
            (Value::Known(cluster), Value::Null) => {
                way::reach(cluster, &Place::Here(AttributePath::root("cluster")), Files::Read)
            }
            (Value::Unknown, _) | (_, Value::Unknown) => Ok(Reach::Unknown),
            (Value::Known(_), Value::Known(_)) => Err(super::also_named().into()),
            (Value::Null, Value::Known(name)) => self.named(name),
            (Value::Null, Value::Null) => match &self.default {
                Value::Known(cluster) => listed(cluster, AttributePath::root("cluster")),
                Value::Unknown => Ok(Reach::Unknown),
                Value::Null => Err(messages::connection::missing().into()),
            },
        }
    }

    /// Whether there is what a resource names, or goes by where it names nothing.
    pub(crate) fn lists(&self, args: ClusterArgs<'_>) -> bool {
        match (args.cluster, args.name) {
            (Value::Null, Value::Known(name)) => match &self.named {
                Value::Known(named) => named.get(name).is_some_and(|cluster| !cluster.is_null()),
                Value::Unknown => true,
                Value::Null => false,
            },
            (Value::Null, Value::Null) => !self.default.is_null(),
            _ => true,
        }
    }

    fn named(&self, name: &str) -> Result<Reach, Diagnostics> {
        let none = BTreeMap::new();
        let named = match &self.named {
            Value::Known(named) => named,
            Value::Unknown => return Ok(Reach::Unknown),
            Value::Null => &none,
        };
        match named.get(name) {
            Some(Value::Known(cluster)) => {
                listed(cluster, AttributePath::root("clusters").key(name))
            }
            Some(Value::Unknown) => Ok(Reach::Unknown),
            Some(Value::Null) | None => {
                Err(messages::connection::unknown_cluster(name, &self.names()).into())
            }
        }
    }
}

/// A cluster that is one of several is named in all that is told of its server.
fn listed(cluster: &ClusterModel, at: AttributePath) -> Result<Reach, Diagnostics> {
    let called = (at.steps().len() > 1).then(|| at.to_string());
    match way::reach(cluster, &Place::ProviderBlock(at), Files::Read)? {
        Reach::Ready(mut connection) => {
            connection.called = called;
            Ok(Reach::Ready(connection))
        }
        Reach::Unknown => Ok(Reach::Unknown),
    }
}
