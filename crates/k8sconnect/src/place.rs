//! Where an object lives.

use k8sconnect_cluster::{Cluster, Error, Kind, Location, NotYet, Placed, Scope, Served, Targets};
use k8sconnect_core::identity::{
    DEFAULT_NAMESPACE, ObjectKey, is_api_version, is_kind, is_name, is_namespace,
};
use tfplugin::{AttributePath, Diagnostics, Value};

use crate::messages;
use crate::messages::ownership::Whose;

/// Finds the kind. One that can never be served is an error at once, with the nearest that is.
pub(crate) async fn place(cluster: &Cluster, key: &ObjectKey) -> Result<Placed, Diagnostics> {
    judged(key, cluster.place(&key.gvk).await, Whose::Object)
}

/// The same for an answer that is there.
pub(crate) fn judged(
    key: &ObjectKey,
    placed: Result<Placed, Error>,
    whose: Whose,
) -> Result<Placed, Diagnostics> {
    match placed.map_err(|error| messages::refusal::unanswered(key, &error))? {
        Placed::NotYet(NotYet::Kind { nearest, .. }) if !key.gvk.may_still_appear() => {
            Err(messages::object::no_such_kind(key, nearest.as_deref(), whose).into())
        }
        placed => Ok(placed),
    }
}

/// What of a name and a namespace that the user wrote can be none. An empty namespace is one that is
/// left out.
pub(crate) fn misnamed(
    name: &Value<String>,
    namespace: &Value<String>,
    path: impl Fn(&str) -> AttributePath,
) -> Diagnostics {
    let name = name.as_str().filter(|name| !is_name(name));
    let namespace = namespace.as_str().filter(|it| !it.is_empty() && !is_namespace(it));
    let name = name.map(|name| messages::data::no_name(name, path("name")));
    let namespace = namespace.map(|it| messages::data::no_namespace(it, path("namespace")));
    name.into_iter().chain(namespace).collect()
}

/// What of a group, a version and a kind that the user wrote can be none.
pub(crate) fn miscalled(
    api_version: &Value<String>,
    kind: &Value<String>,
    path: impl Fn(&str) -> AttributePath,
) -> Diagnostics {
    let version = api_version.as_str().filter(|text| !is_api_version(text));
    let kind = kind.as_str().filter(|text| !is_kind(text));
    let version = version.map(|text| messages::data::no_api_version(text, path("api_version")));
    let kind = kind.map(|text| messages::data::no_kind(text, path("kind")));
    version.into_iter().chain(kind).collect()
}

/// The key of an object of this kind, as the server knows it.
pub(crate) fn scoped(key: ObjectKey, kind: &Kind) -> ObjectKey {
    match kind.scope {
        Scope::Namespaced => key,
        Scope::Cluster => ObjectKey { namespace: None, ..key },
    }
}

pub(crate) fn location(kind: Kind, key: &ObjectKey) -> Location {
    let namespace = match kind.scope {
        Scope::Namespaced => {
            Some(key.namespace.clone().unwrap_or_else(|| DEFAULT_NAMESPACE.to_owned()))
        }
        Scope::Cluster => None,
    };
    Location { kind, namespace, name: key.name.clone() }
}

/// Where an object of state lives. The server is asked for its kind, if none is remembered.
pub(crate) async fn remembered(
    targets: &Targets,
    kind: Option<&Kind>,
    key: &ObjectKey,
) -> Result<Location, Diagnostics> {
    let kind = match kind.filter(|kind| kind.gvk == key.gvk) {
        Some(kind) => kind.clone(),
        None => match targets.kind(&key.gvk).await {
            Ok(Served::Yes(kind)) => kind,
            Ok(_) => return Err(messages::served::kind_unserved(key).into()),
            Err(error) => return Err(messages::refusal::unanswered(key, &error).into()),
        },
    };
    Ok(location(kind, key))
}
