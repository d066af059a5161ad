//! Judging a description of a cluster: one way in, with all that it needs and nothing against it.
//!
//! All that is wrong is told at once. A part that is not known yet may turn out to be anything,
//! nothing included, so it neither contradicts others nor is missing.

use k8sconnect_cluster::{Connection, ConnectionError, KubeconfigFiles};
use tfplugin::{Diagnostics, FromData, Value};

use super::inline;
use super::place::Place;
use super::schema::ClusterModel;
use crate::messages::connection as said;

/// Where a connection stands.
pub(crate) enum Reach {
    Ready(Box<Connection>),
    /// Something in it is known only once something else is applied.
    Unknown,
}

/// Whether the files that a description names are read. They may be there only where a plan is
/// made, or not yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Files {
    Read,
    Leave,
}

/// Whether a part is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Presence {
    Set,
    Unset,
    NotKnown,
}

impl Presence {
    pub(super) fn of<T>(value: &Value<T>) -> Self {
        match value {
            Value::Known(_) => Self::Set,
            Value::Null => Self::Unset,
            Value::Unknown => Self::NotKnown,
        }
    }
}

/// Turns what the user wrote into a connection.
pub(super) fn reach(
    cluster: &ClusterModel,
    place: &Place,
    files: Files,
) -> Result<Reach, Diagnostics> {
    let mut problems = Diagnostics::new();
    let whole = Value::Known(cluster.clone().into_data());
    let parts = inline::parts(cluster);
    let written: Vec<_> = parts.iter().filter(|part| part.1 == Presence::Set).collect();
    let kubeconfigs = [
        ("kubeconfig", Presence::of(&cluster.kubeconfig)),
        ("config_path", Presence::of(&cluster.config_path)),
    ];
    let chosen: Vec<_> = kubeconfigs.iter().filter(|way| way.1 == Presence::Set).collect();
    let kubeconfig_ruled_out = kubeconfigs.iter().all(|way| way.1 == Presence::Unset);
    let context = Presence::of(&cluster.context);
    match (chosen.as_slice(), written.first()) {
        ([], None) => {
            let open = parts.iter().chain(&kubeconfigs).any(|part| part.1 == Presence::NotKnown);
            match (open, context) {
                (true, _) => {}
                (false, Presence::Set) => {
                    problems.push(place.attribute("context").point(said::context_alone()));
                }
                (false, _) => problems.push(place.point(said::empty())),
            }
        }
        ([], Some(_)) if kubeconfig_ruled_out && context == Presence::Set => {
            problems.push(place.attribute("context").point(said::context_alone()));
        }
        ([], Some(_)) | ([_], None) => {}
        ([_, (second, _), ..], None) => {
            problems.push(
                place.attribute(second).point(said::given_twice("kubeconfig", &["config_path"])),
            );
        }
        ([(name, _), more @ ..], Some(first)) => {
            if let Some((second, _)) = more.first() {
                problems.push(
                    place
                        .attribute(second)
                        .point(said::given_twice("kubeconfig", &["config_path"])),
                );
            }
            let beside: Vec<_> = written.iter().map(|part| part.0).collect();
            problems.push(place.attribute(first.0).point(said::given_twice(name, &beside)));
        }
    }
    if let Value::Known(list) = &cluster.config_path
        && std::env::split_paths(list.trim()).all(|path| path.as_os_str().is_empty())
    {
        problems.push(place.attribute("config_path").point(said::no_text("config_path")));
    }
    if let Value::Known(list) = &cluster.config_path
        && let Err(error) = KubeconfigFiles::check("config_path", list)
    {
        problems.push(place.attribute("config_path").point(said::unusable(&error)));
    }
    if cluster.context.as_str() == Some("") {
        problems.push(place.attribute("context").point(said::no_text("context")));
    }
    let kubeconfig = match (chosen.is_empty(), kubeconfig_ruled_out) {
        (false, _) => Presence::Set,
        (true, true) => Presence::Unset,
        (true, false) => Presence::NotKnown,
    };
    let inline = match written.is_empty() {
        true => None,
        false => inline::connection(cluster, kubeconfig, place, &mut problems),
    };
    problems.into_result()?;
    if !whole.is_wholly_known() {
        return Ok(Reach::Unknown);
    }
    let context = cluster.context.known().map(String::as_str);
    let at_fault = |source: &str, errors: Vec<ConnectionError>| -> Diagnostics {
        let told = errors.iter().map(|error| {
            let name = match error {
                // The kubeconfig's own `current-context` may be the one that is not there.
                ConnectionError::UnknownContext { .. } if context.is_some() => "context",
                _ => source,
            };
            place.attribute(name).point(said::unusable(error))
        });
        told.collect()
    };
    let connection = match (inline, &cluster.kubeconfig, &cluster.config_path) {
        (Some(connection), _, _) => connection,
        (None, Value::Known(text), _) => Connection::from_kubeconfig(text, context)
            .map_err(|errors| at_fault("kubeconfig", errors))?,
        (None, _, Value::Known(list)) if files == Files::Read => {
            KubeconfigFiles::load("config_path", list)
                .map_err(|error| vec![error])
                .and_then(|files| files.connection(context))
                .map_err(|errors| at_fault("config_path", errors))?
        }
        (None, _, _) => return Ok(Reach::Unknown),
    };
    Ok(Reach::Ready(Box::new(connection)))
}
