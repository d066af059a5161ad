//! Where an import looks for its object, and what state remembers of the way.
//!
//! A cluster that the id names comes first, then the provider block's own, then what `KUBECONFIG`
//! names. Of the provider block nothing is stored but a name; of a kubeconfig its path and the
//! context.

use k8sconnect_cluster::Connection;
use k8sconnect_core::import_id::ImportId;
use tfplugin::{Diagnostics, Value};

use crate::connect::{self, ClusterArgs, ClusterModel, Reach};
use crate::messages;
use crate::messages::import::Source;
use crate::session::Session;

pub(super) struct ImportOrigin {
    pub(super) connection: Box<Connection>,
    /// The namespace that the id names.
    pub(super) namespace: Option<String>,
    pub(super) source: Source,
    pub(super) cluster: Value<ClusterModel>,
    pub(super) cluster_name: Value<String>,
}

pub(super) fn find(
    session: &Session,
    id: &str,
    asked: &ImportId,
) -> Result<ImportOrigin, Diagnostics> {
    let directory = session.directory();
    if asked.names_a_context() || (asked.cluster_name.is_none() && directory.default.is_null()) {
        return from_environment(id, asked, &directory.names());
    }
    let cluster_name = Value::from(asked.cluster_name.clone());
    let connection =
        match directory.reach(ClusterArgs { cluster: &Value::Null, name: &cluster_name })? {
            Reach::Ready(connection) => connection,
            Reach::Unknown => return Err(messages::import::cluster_unknown().into()),
        };
    let source = match &asked.cluster_name {
        Some(name) => Source::Named(name.clone()),
        None => Source::Default,
    };
    let namespace = asked.places(&[]).1.map(ToOwned::to_owned);
    Ok(ImportOrigin { connection, namespace, source, cluster: Value::Null, cluster_name })
}

fn from_environment(
    id: &str,
    asked: &ImportId,
    names: &[String],
) -> Result<ImportOrigin, Diagnostics> {
    let files = connect::from_environment()?.ok_or_else(|| match asked.names_a_context() {
        true => messages::import::context_of_nothing(),
        false => messages::import::no_cluster(names),
    })?;
    let contexts = files.contexts();
    let (context, namespace) = asked.places(&contexts);
    let context = match (context, contexts.as_slice()) {
        (Some(context), _) => context.to_owned(),
        (None, [only]) => only.clone(),
        (None, _) => return Err(messages::import::no_context(id, &contexts).into()),
    };
    let way = ClusterModel {
        config_path: Value::Known(files.needed_for(&context)),
        context: Value::Known(context.clone()),
        ..ClusterModel::default()
    };
    let connection = files.connection(Some(&context)).map_err(|flaws| {
        flaws.iter().map(messages::import::kubeconfig_unusable).collect::<Diagnostics>()
    })?;
    Ok(ImportOrigin {
        connection: Box::new(connection),
        namespace: namespace.map(ToOwned::to_owned),
        source: Source::Context(context),
        cluster: Value::Known(way),
        cluster_name: Value::Null,
    })
}
