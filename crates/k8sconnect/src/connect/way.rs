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
    let ways = Ways {
        parts: inline::parts(cluster).to_vec(),
        kubeconfigs: [
            ("kubeconfig", Presence::of(&cluster.kubeconfig)),
            ("config_path", Presence::of(&cluster.config_path)),
        ],
        context: Presence::of(&cluster.context),
    };
    let mut problems = ways.contradictions(place);
    problems.extend(unusable_texts(cluster, place));
    let inline = match ways.parts.iter().any(|part| part.1 == Presence::Set) {
        true => inline::connection(cluster, ways.kubeconfig(), place, &mut problems),
        false => None,
    };
    problems.into_result()?;
    match inline {
        _ if !Value::Known(cluster.clone().into_data()).is_wholly_known() => Ok(Reach::Unknown),
        Some(connection) => Ok(Reach::Ready(Box::new(connection))),
        None => by_kubeconfig(cluster, place, files),
    }
}

/// Which parts of which way in are written.
struct Ways {
    parts: Vec<(&'static str, Presence)>,
    kubeconfigs: [(&'static str, Presence); 2],
    context: Presence,
}

impl Ways {
    fn kubeconfig(&self) -> Presence {
        let [text, path] = self.kubeconfigs.map(|way| way.1);
        match (text, path) {
            (Presence::Set, _) | (_, Presence::Set) => Presence::Set,
            (Presence::Unset, Presence::Unset) => Presence::Unset,
            (Presence::NotKnown, _) | (_, Presence::NotKnown) => Presence::NotKnown,
        }
    }

    /// None or several where there must be one.
    fn contradictions(&self, place: &Place) -> Diagnostics {
        let is_set = |way: &&(&'static str, Presence)| way.1 == Presence::Set;
        let chosen: Vec<_> = self.kubeconfigs.iter().filter(is_set).map(|way| way.0).collect();
        let written: Vec<_> = self.parts.iter().filter(is_set).map(|part| part.0).collect();
        let mut problems = Diagnostics::new();
        let mut refuse = |name: &str, why| problems.push(place.attribute(name).point(why));
        if let [_, second] = chosen[..] {
            refuse(second, said::given_twice("kubeconfig", &["config_path"]));
        }
        let all = self.parts.iter().chain(&self.kubeconfigs);
        match (chosen.first(), written.first()) {
            (None, None) if all.clone().any(|part| part.1 == Presence::NotKnown) => {}
            (None, None) if self.context != Presence::Set => {
                problems.push(place.point(said::empty()));
            }
            (None, None) => refuse("context", said::context_alone()),
            (None, Some(_)) if self.kubeconfig() == Presence::Unset => {
                if self.context == Presence::Set {
                    refuse("context", said::context_alone());
                }
            }
            (None, Some(_)) | (Some(_), None) => {}
            (Some(name), Some(first)) => refuse(first, said::given_twice(name, &written)),
        }
        problems
    }
}

/// Texts that name nothing.
fn unusable_texts(cluster: &ClusterModel, place: &Place) -> Diagnostics {
    let mut problems = Diagnostics::new();
    if let Value::Known(list) = &cluster.config_path {
        let at = place.attribute("config_path");
        if std::env::split_paths(list.trim()).all(|path| path.as_os_str().is_empty()) {
            problems.push(at.point(said::no_text("config_path")));
        }
        if let Err(error) = KubeconfigFiles::check("config_path", list) {
            problems.push(at.point(said::unusable(&error)));
        }
    }
    if cluster.context.as_str() == Some("") {
        problems.push(place.attribute("context").point(said::no_text("context")));
    }
    problems
}

fn by_kubeconfig(
    cluster: &ClusterModel,
    place: &Place,
    files: Files,
) -> Result<Reach, Diagnostics> {
    let context = cluster.context.known().map(String::as_str);
    let (source, connection) = match (&cluster.kubeconfig, &cluster.config_path) {
        (Value::Known(text), _) => ("kubeconfig", Connection::from_kubeconfig(text, context)),
        (_, Value::Known(list)) if files == Files::Read => {
            let files = KubeconfigFiles::load("config_path", list).map_err(|error| vec![error]);
            ("config_path", files.and_then(|files| files.connection(context)))
        }
        _ => return Ok(Reach::Unknown),
    };
    let at_fault = |error: &ConnectionError| {
        let name = match error {
            // The kubeconfig's own `current-context` may be the one that is not there.
            ConnectionError::UnknownContext { .. } if context.is_some() => "context",
            _ => source,
        };
        place.attribute(name).point(said::unusable(error))
    };
    match connection {
        Ok(connection) => Ok(Reach::Ready(Box::new(connection))),
        Err(errors) => Err(errors.iter().map(at_fault).collect()),
    }
}
