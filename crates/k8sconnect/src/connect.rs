//! How a resource says where its object lives: by a `cluster` of its own, by the name of one in
//! the provider block, or by neither, which means the provider block's own.
//!
//! Nothing is assumed that is not written: neither a current context nor the cluster that Terraform
//! may run in.

mod directory;
mod former;
mod inline;
mod place;
mod schema;
mod way;

use std::collections::BTreeMap;

use k8sconnect_cluster::KubeconfigFiles;
use tfplugin::{AttributePath, Diagnostics, Value};

use crate::messages;
use place::Place;
use way::Files;

pub(crate) use directory::Directory;
pub(crate) use former::carry_over;
pub(crate) use schema::{ClusterModel, attribute, attributes};
pub(crate) use way::Reach;

/// Checks what can be checked before anything runs: the provider block is not known then, and a
/// file may be there only where the plan is made.
pub(crate) fn check(
    cluster: &Value<ClusterModel>,
    name: &Value<String>,
) -> Result<(), Diagnostics> {
    let mut problems = Diagnostics::new();
    if cluster.is_known() && name.is_known() {
        problems.push(messages::connection::also_named());
    }
    problems.extend(check_one(cluster, AttributePath::root("cluster")).err().into_iter().flatten());
    problems.into_result().map(|_| ())
}

/// The same for the provider block, all clusters at once.
pub(crate) fn check_all(
    default: &Value<ClusterModel>,
    named: &Value<BTreeMap<String, Value<ClusterModel>>>,
) -> Result<(), Diagnostics> {
    let default = check_one(default, AttributePath::root("cluster"));
    let named = named
        .known()
        .into_iter()
        .flatten()
        .map(|(name, cluster)| check_one(cluster, AttributePath::root("clusters").key(name)));
    let problems: Diagnostics =
        std::iter::once(default).chain(named).filter_map(Result::err).flatten().collect();
    problems.into_result().map(|_| ())
}

fn check_one(cluster: &Value<ClusterModel>, at: AttributePath) -> Result<(), Diagnostics> {
    match cluster.known() {
        Some(cluster) => way::reach(cluster, &Place::Here(at), Files::Leave).map(|_| ()),
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

#[cfg(test)]
mod tests;
