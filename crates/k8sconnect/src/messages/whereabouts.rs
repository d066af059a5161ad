//! What is said where an object cannot be found in the place that state names.

use k8sconnect_cluster::{Error, Host};
use k8sconnect_core::identity::ObjectKey;
use tfplugin::{Diagnostic, Diagnostics, Value};

use super::{paragraphs, refusal};
use crate::connect::ClusterModel;

const KEPT: &str = "State keeps the object as it was last seen; whether it changed or is gone is \
                    not known.";

/// The credentials do not suffice to look at the object.
pub(crate) fn not_refreshed(key: &ObjectKey, error: &Error, whose: Way) -> Diagnostic {
    let login = error.advice();
    let advice = match (error.code(), whose) {
        _ if matches!(error, Error::Anonymous { .. }) => login.as_str(),
        (Some(403), _) => "Give the credentials leave to read it.",
        (_, Way::ProviderBlocks) => "Give the provider block credentials that the server accepts.",
        (_, Way::ItsOwn) => {
            "A refresh uses the `cluster` that state holds, as it was at the last apply. If the \
             configuration now has other credentials, the plan uses those, and the apply keeps \
             them. Credentials that expire soon are better kept in the provider block, of which \
             nothing is stored."
        }
    };
    let why = paragraphs([&error.why(), KEPT]);
    Diagnostic::warning(format!("{key} could not be refreshed"), paragraphs([&why, advice]))
}

/// A refresh got no answer.
pub(crate) fn unanswered(key: &ObjectKey, error: &Error, whose: Way) -> Diagnostic {
    let mut told = refusal::unanswered(key, error);
    if let (Error::Unreachable { .. }, Way::ItsOwn) = (error, whose) {
        told.detail = paragraphs([
            &told.detail,
            "A refresh uses the `cluster` that state holds, as it was at the last apply. If the \
             cluster is reached in another way now, and the configuration says so, apply once with \
             `-refresh=false`.",
        ]);
    }
    told
}

/// The `cluster` in state describes no connection any more.
pub(crate) fn way_unusable(key: &ObjectKey, problems: &Diagnostics) -> Diagnostic {
    let problem = problems.iter().next();
    let words = problem.map_or(String::new(), |problem| {
        let why = problem.detail.split("\n\n").next().unwrap_or_default();
        format!("{}: {why}", problem.summary)
    });
    Diagnostic::warning(
        format!("{key} could not be refreshed"),
        paragraphs([
            "A refresh uses the `cluster` that state holds, as it was at the last apply, and that \
             one cannot be used here any more.",
            &words,
            KEPT,
            "If the configuration now describes another way to the same cluster, the plan uses \
             that, and the apply keeps it.",
        ]),
    )
}

/// Whose connection it is that fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    ItsOwn,
    ProviderBlocks,
}

impl Way {
    pub(crate) fn of(cluster: &Value<ClusterModel>) -> Self {
        match cluster {
            Value::Known(_) => Self::ItsOwn,
            Value::Null | Value::Unknown => Self::ProviderBlocks,
        }
    }
}

/// A refresh found another cluster; what to do about it, the plan says.
pub(crate) fn refreshed_elsewhere(key: &ObjectKey, host: &Host) -> Diagnostic {
    Diagnostic::warning(
        format!("{key} was not refreshed: its connection leads to another cluster"),
        paragraphs([
            &another_uid(Some(host)),
            "That the object is missing there proves nothing: state keeps it as it was last seen.",
        ]),
    )
}

/// A plan, or a deletion, would take place in another cluster.
pub(crate) fn another_cluster(key: &ObjectKey, host: Option<&Host>) -> Diagnostic {
    Diagnostic::error(
        format!("The connection of {key} leads to another cluster"),
        paragraphs([&format!("{} Nothing was changed.", another_uid(host)), WAYS_OUT]),
    )
}

fn another_uid(host: Option<&Host>) -> String {
    let there = host.map_or("there".to_owned(), |host| format!("at `{host}`"));
    format!(
        "The `kube-system` namespace has another uid {there} than in the cluster that the object \
         was last written to."
    )
}

/// A refresh found nothing, and cannot tell where it looked.
pub(crate) fn refreshed_who_knows_where(key: &ObjectKey, host: &Host) -> Diagnostic {
    Diagnostic::warning(
        format!("{key} was not found, which proves nothing"),
        paragraphs([
            &unrecognised(Some(host)),
            "The object may be gone, or live in another cluster: state keeps it as it was last \
             seen.",
        ]),
    )
}

/// A plan, or a deletion, would rest on an absence that is not proved.
pub(crate) fn absence_unproved(key: &ObjectKey, host: Option<&Host>) -> Diagnostic {
    Diagnostic::error(
        format!("{key} was not found, and whether this is its cluster cannot be told"),
        paragraphs([
            &format!("{} Nothing was changed.", unrecognised(host)),
            "Check that the connection leads to the cluster that the object was written to. Then \
             give the credentials leave to `get` the namespace `kube-system`: an object that is \
             gone is planned anew. Or take it out of state with `terraform state rm ADDRESS` (or \
             `tofu state rm ADDRESS`).",
        ]),
    )
}

fn unrecognised(host: Option<&Host>) -> String {
    let there = host.map_or("there".to_owned(), |host| format!("at `{host}`"));
    format!(
        "Clusters are told apart by the uid of their `kube-system` namespace. State knows that of \
         the cluster that the object was last written to; the credentials in use {there} could not \
         read it."
    )
}

/// The connection changed, and only the object itself could tell where to.
pub(crate) fn not_there_by_new_way(key: &ObjectKey) -> Diagnostic {
    Diagnostic::error(
        format!("The connection of {key} leads to another cluster"),
        paragraphs([
            "The way to the cluster changed in the configuration. By the old way the object is \
             there, by the new one it is not. Nothing was changed.",
            WAYS_OUT,
        ]),
    )
}

/// The plan finds out what the refresh should have.
pub(crate) fn gone_unseen(key: &ObjectKey) -> Diagnostic {
    Diagnostic::error(
        format!("{key} is gone, and the refresh could not tell"),
        "By the connection that was refreshed with, nothing could be known of the object; by the \
         connection in the configuration it is not there. It could only be planned anew if state \
         did not hold it.\n\n\
         Take it out of state with `terraform state rm ADDRESS` (or `tofu state rm ADDRESS`): the \
         next apply creates it. With the connection in the provider block this does not happen, \
         for nothing of that is stored.",
    )
}

const WAYS_OUT: &str = "If that is a mistake, correct `cluster`, `cluster_name`, the provider block \
                        or the kubeconfig and its context. If the object is to live there from now \
                        on, or the old cluster is no more, take it out of state with `terraform \
                        state rm ADDRESS` (or `tofu state rm ADDRESS`): the next apply creates it \
                        there.";
