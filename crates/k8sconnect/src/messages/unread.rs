//! Objects that could not be read: by a refresh, by the plan that follows, or before a deletion.

use k8sconnect_cluster::Error;
use k8sconnect_core::identity::ObjectKey;
use tfplugin::{Diagnostic, Diagnostics};

use super::connection::{Explanation, explain};
use super::refusal::said;
use super::{named, paragraphs, refusal};
use crate::connection_origin::ConnectionOrigin;

const KEPT: &str = "The resource stays in state with its last known values. Whether the object \
                    changed or was deleted is not known.";

/// What to do about objects of a cluster that no longer exists.
const CLUSTER_GONE: &str = "If the cluster no longer exists, remove the resource from \
                                       state with `terraform state rm ADDRESS` (or `tofu state rm \
                                       ADDRESS`).";

/// The credentials do not suffice to read the object.
pub(crate) fn not_refreshed(
    key: &ObjectKey,
    error: &Error,
    origin: ConnectionOrigin,
) -> Diagnostic {
    let explained = explain(error);
    let advice = match (error.code(), origin) {
        _ if matches!(error, Error::Anonymous { .. } | Error::CredentialsIgnored { .. }) => {
            explained.advice.as_str()
        }
        // A wait is kept whatever keeps the server from answering.
        _ if !is_about_credentials(error) => explained.advice.as_str(),
        (Some(403), _) => "Grant the credentials `get` on the object.",
        (_, ConnectionOrigin::Provider) => {
            "Use credentials in the provider block that the server accepts."
        }
        (_, ConnectionOrigin::Resource) => {
            "A refresh uses the `cluster` in state, from the last apply. If the configuration has \
             new credentials, the plan uses them and the apply stores them. Put credentials that \
             expire soon in the provider block, of which nothing is stored."
        }
    };
    Diagnostic::warning(
        format!("{key} could not be refreshed"),
        paragraphs([&explained.cause, KEPT, advice]),
    )
}

fn is_about_credentials(error: &Error) -> bool {
    matches!(error, Error::Connection(_)) || matches!(error.code(), Some(401 | 403))
}

/// A refresh got no answer.
pub(crate) fn unanswered(key: &ObjectKey, error: &Error, origin: ConnectionOrigin) -> Diagnostic {
    let mut diagnostic = refusal::unanswered(key, error);
    if let Error::Unreachable { .. } = error {
        let new_connection = match origin {
            ConnectionOrigin::Resource => {
                "A refresh uses the `cluster` in state, from the last apply. If the configuration \
                 has a new connection to the same cluster, apply once with `-refresh=false`."
            }
            ConnectionOrigin::Provider => "",
        };
        diagnostic.detail = paragraphs([&diagnostic.detail, new_connection, CLUSTER_GONE]);
    }
    diagnostic
}

/// The connection in state cannot be used any more.
pub(crate) fn connection_unusable(
    key: &ObjectKey,
    problems: &Diagnostics,
    origin: ConnectionOrigin,
) -> Diagnostic {
    let used = match origin {
        ConnectionOrigin::Resource => {
            "A refresh uses the `cluster` in state, from the last apply. It cannot be used any \
             more."
        }
        ConnectionOrigin::Provider => {
            "A refresh uses the cluster in the provider block that was used at the last apply. The \
             provider block does not have it any more."
        }
    };
    Diagnostic::warning(
        format!("{key} could not be refreshed"),
        paragraphs([
            used,
            &first_of(problems),
            KEPT,
            "If the configuration has a new connection to the same cluster, the plan uses it and \
             the apply stores it.",
        ]),
    )
}

/// The first problem and its reason, without the advice.
fn first_of(problems: &Diagnostics) -> String {
    problems.iter().next().map_or(String::new(), |problem| {
        let why = problem.detail.split("\n\n").next().unwrap_or_default();
        format!("{}: {why}", problem.summary)
    })
}

/// The plan read the object, because the refresh could not or used another connection, and did not
/// find it.
pub(crate) fn not_found_at_plan(key: &ObjectKey) -> Diagnostic {
    Diagnostic::error(
        format!("{key} not found through the connection in the configuration"),
        "The refresh could not read the object, or read it through another connection. So the plan \
         read it, and did not find it: it was deleted, or this is another cluster. Nothing was \
         changed.\n\n\
         Correct the connection. If the object was deleted, plan again: a refresh that can read \
         removes it from state. If the refresh still cannot read, run `terraform state rm ADDRESS` \
         (or `tofu state rm ADDRESS`); the next apply creates the object.",
    )
}

/// Neither the refresh nor the plan could read the object.
pub(crate) fn unreadable_at_plan(key: &ObjectKey, error: &Error) -> Diagnostic {
    let explained = explain(error);
    let advice = match error.code() {
        _ if matches!(error, Error::Anonymous { .. } | Error::CredentialsIgnored { .. }) => {
            explained.advice
        }
        Some(401) => "Check the credentials in `cluster` or in the provider block: that they \
                      belong to this cluster and have not expired."
            .to_owned(),
        Some(403) => "Grant the credentials `get` on the object.".to_owned(),
        _ => return refusal::unanswered(key, error),
    };
    Diagnostic::error(
        format!("{key} could not be read, so nothing can be planned for it"),
        paragraphs([
            &explained.cause,
            "Whether the object changed or was deleted is not known, and state may be out of date. \
             Nothing was changed.",
            &format!("{advice} {CLUSTER_GONE}"),
        ]),
    )
}

/// An object is to be deleted, or fields are to be handed back, and the provider block does not have the
/// cluster of this name any more; no name: its `cluster`.
pub(crate) fn not_configured(key: &ObjectKey, name: Option<&str>) -> Diagnostic {
    let (missing, place) = match name {
        Some(name) => (format!("the cluster {}", named(name)), "to `clusters` in "),
        None => ("`cluster`".to_owned(), "to "),
    };
    let connection = format!("{missing} of the provider block, which is missing");
    no_connection(key, &connection, "", &format!("Add {missing} {place}the provider block again"))
}

/// The same, and the connection in state cannot be used.
pub(crate) fn unusable_in_state(
    key: &ObjectKey,
    origin: ConnectionOrigin,
    problems: &Diagnostics,
) -> Diagnostic {
    let connection = match origin {
        ConnectionOrigin::Resource => "the `cluster` in state, which cannot be used",
        ConnectionOrigin::Provider => "the provider block, which cannot be used",
    };
    no_connection(key, connection, &first_of(problems), "Correct this")
}

fn no_connection(key: &ObjectKey, connection: &str, problem: &str, advice: &str) -> Diagnostic {
    Diagnostic::error(
        format!("No connection to the cluster of {key}"),
        paragraphs([
            &format!(
                "A deletion, a replacement and a hand-back use the connection of the last apply: \
                 {connection}. Nothing was changed, and the resource stays in state."
            ),
            problem,
            &format!(
                "{advice}, or first apply a new connection to the same cluster, with the resource \
                 in the configuration. {CLUSTER_GONE}"
            ),
        ]),
    )
}

/// Why a deletion or a hand-back (`operation`) failed, and what to do. `words`: what the server said, as
/// far as it may be shown.
pub(super) fn not_ended(
    error: &Error,
    words: impl Fn(&str) -> String,
    on_refusal: &str,
    operation: &str,
) -> (String, String) {
    let Explanation { cause, advice, .. } = explain(error);
    match error {
        Error::Refused(status) => {
            let advice = match status.leaves_open() {
                true => "The server failed, and did not say no. Run again.",
                false => on_refusal,
            };
            (said(status.code, &words(&status.message)), advice.to_owned())
        }
        Error::Unauthorized { .. } => (cause, refused_credentials(operation)),
        Error::Unreachable { .. } => (cause, format!("{advice} {CLUSTER_GONE}")),
        _ => (cause, advice),
    }
}

/// What to do where the server refuses the credentials that a deletion or hand-back uses.
fn refused_credentials(operation: &str) -> String {
    format!(
        "{operation} uses the connection in state. If its `cluster` has expired credentials, apply \
         once with new ones and with the resource in the configuration, then delete. If the \
         provider block has the credentials, check that they belong to this cluster and have not \
         expired."
    )
}
