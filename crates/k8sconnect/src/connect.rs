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

use k8sconnect_cluster::{Auth, KubeconfigFiles, Trust};
use tfplugin::{AttributePath, Diagnostic, Diagnostics, Value};

use crate::connection_origin::ConnectionOrigin;
use crate::messages;
use place::Place;
use way::Files;

pub(crate) use directory::Directory;
pub(crate) use former::carry_over;
pub(crate) use schema::{ClusterModel, attributes};
pub(crate) use way::Reach;

/// The two arguments by which a block names its cluster.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct ClusterArgs<'a> {
    pub(crate) cluster: &'a Value<ClusterModel>,
    pub(crate) name: &'a Value<String>,
}

impl ClusterArgs<'_> {
    pub(crate) fn origin(self) -> ConnectionOrigin {
        ConnectionOrigin::of(self.cluster)
    }
}

/// Gives the model of a block its [`ClusterArgs`].
macro_rules! names_its_cluster {
    ($model:ty) => {
        impl $model {
            pub(crate) fn cluster_args(&self) -> crate::connect::ClusterArgs<'_> {
                crate::connect::ClusterArgs { cluster: &self.cluster, name: &self.cluster_name }
            }
        }
    };
}
pub(crate) use names_its_cluster;

/// Judges how a block names its cluster: warns of what is allowed and better known, and returns what is
/// wrong. It is called before anything runs: the provider block is not known then, and a file may be
/// there only where the plan is made.
pub(crate) fn validate(args: ClusterArgs<'_>, notices: &mut Diagnostics) -> Diagnostics {
    let ClusterArgs { cluster, name } = args;
    notices.extend(warnings(cluster));
    let mut problems = Diagnostics::new();
    if cluster.is_known() && name.is_known() {
        problems.push(also_named());
    }
    if name.as_str() == Some("") {
        problems.push(
            messages::connection::no_text("cluster_name").at(AttributePath::root("cluster_name")),
        );
    }
    problems.extend(check_one(cluster, AttributePath::root("cluster")).err().into_iter().flatten());
    problems
}

fn also_named() -> Diagnostic {
    messages::connection::given_twice("cluster", &["cluster_name"])
        .at(AttributePath::root("cluster_name"))
}

/// The same for the provider block, all clusters at once.
pub(crate) fn check_all(
    default: &Value<ClusterModel>,
    named: &Value<BTreeMap<String, Value<ClusterModel>>>,
) -> Result<(), Diagnostics> {
    let nameless = named.known().is_some_and(|named| named.contains_key(""));
    let nameless = nameless.then(|| Err(messages::connection::nameless().into()));
    let default = check_one(default, AttributePath::root("cluster"));
    let named = named
        .known()
        .into_iter()
        .flatten()
        .map(|(name, cluster)| check_one(cluster, AttributePath::root("clusters").key(name)));
    let problems: Diagnostics = nameless
        .into_iter()
        .chain([default])
        .chain(named)
        .filter_map(Result::err)
        .flatten()
        .collect();
    problems.into_result().map(|_| ())
}

fn warnings(cluster: &Value<ClusterModel>) -> Diagnostics {
    warnings_at(cluster, AttributePath::root("cluster"))
}

/// The same for the provider block.
pub(crate) fn all_warnings(
    default: &Value<ClusterModel>,
    named: &Value<BTreeMap<String, Value<ClusterModel>>>,
) -> Diagnostics {
    let named = named.known().into_iter().flatten().flat_map(|(name, cluster)| {
        warnings_at(cluster, AttributePath::root("clusters").key(name))
    });
    warnings(default).into_iter().chain(named).collect()
}

fn warnings_at(cluster: &Value<ClusterModel>, at: AttributePath) -> Diagnostics {
    let Some(cluster) = cluster.known() else {
        return Diagnostics::new();
    };
    let place = Place::Here(at);
    let kubeconfig = match (&cluster.kubeconfig, &cluster.config_path) {
        (Value::Known(_), _) => "kubeconfig",
        _ => "config_path",
    };
    // Beside an authority it is an error, which says all.
    if cluster.insecure == Value::Known(true) && cluster.cluster_ca_certificate.is_null() {
        return place
            .attribute("insecure")
            .point(messages::connection::insecure("insecure = true"))
            .into();
    }
    match way::reach(cluster, &place, Files::Read) {
        Ok(Reach::Ready(connection)) if connection.tls.trust == Trust::Anyone => place
            .attribute(kubeconfig)
            .point(messages::connection::insecure("insecure-skip-tls-verify"))
            .into(),
        Ok(Reach::Ready(connection))
            if !connection.host.is_encrypted() && connection.auth != Auth::None =>
        {
            let at = if cluster.host.is_known() { "host" } else { kubeconfig };
            place.attribute(at).point(messages::connection::in_clear(at)).into()
        }
        // A kubeconfig may be there only where the plan is made, or not yet.
        _ => Diagnostics::new(),
    }
}

fn check_one(cluster: &Value<ClusterModel>, at: AttributePath) -> Result<(), Diagnostics> {
    match cluster.known() {
        Some(cluster) => way::reach(cluster, &Place::Here(at), Files::Leave).map(|_| ()),
        None => Ok(()),
    }
}

/// The kubeconfigs that the environment names, for an import, which has no configuration to ask;
/// `None` if it names none.
pub(crate) fn from_environment() -> Result<Option<KubeconfigFiles>, Diagnostics> {
    match std::env::var("KUBECONFIG") {
        Ok(list) if !list.is_empty() => KubeconfigFiles::load("KUBECONFIG", &list)
            .map(Some)
            .map_err(|error| messages::import::kubeconfig_unusable(&error).into()),
        _ => Ok(None),
    }
}

#[cfg(test)]
mod tests;
