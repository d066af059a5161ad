//! What is said where an object cannot be found in the place that state names.

use k8sconnect_cluster::{Error, Host};
use k8sconnect_core::identity::ObjectKey;
use k8sconnect_core::scrub::quoted;
use tfplugin::{Diagnostic, Diagnostics, Value};

use super::ownership::Whose;
use super::{paragraphs, refusal};
use crate::connect::ClusterModel;
use crate::guard;

const KEPT: &str = "State keeps the object as it was last seen; whether it changed or is gone is \
                    not known.";

/// The way out for what lived in a cluster that is no more.
pub(super) const CLUSTER_GONE: &str = "If the cluster is no more, take the resource out of state \
                                       with `terraform state rm ADDRESS` (or `tofu state rm \
                                       ADDRESS`).";

/// The credentials do not suffice to look at the object.
pub(crate) fn not_refreshed(key: &ObjectKey, error: &Error, whose: Way) -> Diagnostic {
    let login = error.advice();
    let advice = match (error.code(), whose) {
        _ if matches!(error, Error::Anonymous { .. } | Error::LoginIgnored { .. }) => {
            login.as_str()
        }
        // A wait is kept whatever keeps the server from answering.
        _ if !is_about_credentials(error) => login.as_str(),
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

fn is_about_credentials(error: &Error) -> bool {
    matches!(error, Error::Connection(_)) || matches!(error.code(), Some(401 | 403))
}

/// A refresh got no answer.
pub(crate) fn unanswered(key: &ObjectKey, error: &Error, whose: Way) -> Diagnostic {
    let mut told = refusal::unanswered(key, error);
    if let Error::Unreachable { .. } = error {
        let other_way = match whose {
            Way::ItsOwn => {
                "A refresh uses the `cluster` that state holds, as it was at the last apply. If the \
                 cluster is reached in another way now, and the configuration says so, apply once \
                 with `-refresh=false`."
            }
            Way::ProviderBlocks => "",
        };
        told.detail = paragraphs([&told.detail, other_way, CLUSTER_GONE]);
    }
    told
}

/// What state says of the cluster leads nowhere any more.
pub(crate) fn way_unusable(key: &ObjectKey, problems: &Diagnostics, whose: Way) -> Diagnostic {
    let used = match whose {
        Way::ItsOwn => {
            "A refresh uses the `cluster` that state holds, as it was at the last apply, and that \
             one cannot be used here any more."
        }
        Way::ProviderBlocks => {
            "A refresh uses the cluster of the provider block that was used at the last apply, and \
             that one is not there any more."
        }
    };
    Diagnostic::warning(
        format!("{key} could not be refreshed"),
        paragraphs([
            used,
            &first_of(problems),
            KEPT,
            "If the configuration now describes another way to the same cluster, the plan uses \
             that, and the apply keeps it.",
        ]),
    )
}

/// What is wrong, without what to do about it.
fn first_of(problems: &Diagnostics) -> String {
    problems.iter().next().map_or(String::new(), |problem| {
        let why = problem.detail.split("\n\n").next().unwrap_or_default();
        format!("{}: {why}", problem.summary)
    })
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
            &another_uid(host),
            "What is there, or is not, says nothing of the object: state keeps it as it was last \
             seen.",
        ]),
    )
}

/// A plan, or a deletion, would take place in another cluster.
pub(crate) fn another_cluster(key: &ObjectKey, host: &Host, whose: Whose) -> Diagnostic {
    Diagnostic::error(
        format!("The connection of {key} leads to another cluster"),
        paragraphs([&format!("{} Nothing was changed.", another_uid(host)), &ways_out(whose)]),
    )
}

fn another_uid(host: &Host) -> String {
    format!(
        "The `kube-system` namespace has another uid at `{host}` than in the cluster that the object \
         was last written to, or imported from."
    )
}

/// A refresh found nothing, and cannot tell where it looked.
pub(crate) fn refreshed_who_knows_where(key: &ObjectKey, host: &Host) -> Diagnostic {
    Diagnostic::warning(
        format!("{key} was not found, which proves nothing"),
        paragraphs([
            &unrecognised(host),
            "The object may be gone, or live in another cluster: state keeps it as it was last \
             seen.",
        ]),
    )
}

/// A plan, or a deletion, would rest on an absence that is not proved.
pub(crate) fn absence_unproved(key: &ObjectKey, host: &Host) -> Diagnostic {
    Diagnostic::error(
        format!("{key} was not found, and whether this is its cluster cannot be told"),
        paragraphs([
            &format!("{} Nothing was changed.", unrecognised(host)),
            "Check that the connection leads to the object's cluster. Then \
             give the credentials leave to `get` the namespace `kube-system`: an object that is \
             gone is planned anew. Or take it out of state with `terraform state rm ADDRESS` (or \
             `tofu state rm ADDRESS`).",
        ]),
    )
}

fn unrecognised(host: &Host) -> String {
    format!(
        "Clusters are told apart by the uid of their `kube-system` namespace. State knows that of \
         the cluster that the object was last written to, or imported from; the credentials in use \
         at `{host}` could not read it."
    )
}

/// What a deletion came upon instead of its object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Met {
    Nothing,
    /// Another object of the same name.
    Namesake,
}

/// A deletion knows nothing of the cluster, and does not find what it is to end.
pub(crate) fn home_forgotten(key: &ObjectKey, host: &Host, met: Met) -> Diagnostic {
    let (summary, found) = match met {
        Met::Nothing => (
            format!("{key} was not found, and whether this is its cluster cannot be told"),
            format!("What is looked for is not at `{host}`"),
        ),
        Met::Namesake => (
            format!("{key} is another object, and whether this is its cluster cannot be told"),
            format!("The object of that name at `{host}` has another uid than the one in state"),
        ),
    };
    Diagnostic::error(
        summary,
        paragraphs([
            &format!(
                "{found}: the one that is looked for is gone, or the connection leads to another \
                 cluster. Which cluster it belongs to is kept in private state, which does not \
                 reach the deletion of a tainted resource. Nothing was changed."
            ),
            "Check that the connection leads to its cluster, then plan \
             again: a refresh can tell, and drops what is gone. Or clear the mark with `terraform \
             untaint ADDRESS` (or `tofu untaint ADDRESS`) and use `-replace=ADDRESS`, which keeps \
             what is remembered.",
        ]),
    )
}

/// The connection changed, and only the object itself could tell where to.
pub(crate) fn not_there_by_new_way(key: &ObjectKey, whose: Whose) -> Diagnostic {
    Diagnostic::error(
        format!("The connection of {key} leads to another cluster"),
        paragraphs([
            "The way to the cluster changed in the configuration. By the old way the object is \
             there, by the new one it is not. Nothing was changed.",
            &ways_out(whose),
        ]),
    )
}

/// The plan finds out what the refresh should have.
pub(crate) fn gone_unseen(key: &ObjectKey, way: guard::Way) -> Diagnostic {
    let advice = match way {
        // What kept the refresh from looking has passed.
        guard::Way::AsBefore => {
            "Run again: the refresh can look now, and takes it out of state. An apply then creates \
             it; a destroy has nothing to do."
        }
        guard::Way::Changed => {
            "Take it out of state with `terraform state rm ADDRESS` (or `tofu state rm ADDRESS`): \
             the next apply creates it, and a destroy is done with it. Where the cluster and its name in the provider block stay \
             as they are this does not happen: the refresh then uses the credentials of the \
             configuration."
        }
    };
    Diagnostic::error(
        format!("{key} is gone, and the refresh could not tell"),
        paragraphs([
            "The refresh could not look at the object; by the connection in the configuration it \
             is not there. It could only be planned anew if state did not hold it.",
            advice,
        ]),
    )
}

/// Neither the refresh nor the plan could look.
pub(crate) fn seen_by_nobody(key: &ObjectKey, error: &Error) -> Diagnostic {
    let advice = match error.code() {
        _ if matches!(error, Error::Anonymous { .. } | Error::LoginIgnored { .. }) => {
            error.advice()
        }
        Some(401) => {
            "Check the credentials that the configuration gives for it, in `cluster` or in \
                      the provider block: that they belong to this cluster and have not expired."
                .to_owned()
        }
        Some(403) => "Give the credentials leave to `get` it.".to_owned(),
        _ => return refusal::unanswered(key, error),
    };
    Diagnostic::error(
        format!("{key} could not be looked at, so nothing can be planned for it"),
        paragraphs([
            &error.why(),
            "The refresh could not look either. Whether the object changed or is gone nobody knows, \
             and what state remembers is no ground for a plan. Nothing was changed.",
            &format!("{advice} {CLUSTER_GONE}"),
        ]),
    )
}

/// Neither the refresh nor the plan of an end could look.
pub(crate) fn end_seen_by_nobody(key: &ObjectKey, error: &Error, whose: Whose) -> Diagnostic {
    let (deed, planned) = match whose {
        Whose::Object => ("A deletion", "its deletion cannot be planned"),
        Whose::Patch => ("A hand-back", "its hand-back cannot be planned"),
    };
    let advice = match error {
        Error::Unauthorized { .. } => stale_login(deed),
        _ if error.code() == Some(403) => format!("{deed} needs leave to `get` the object."),
        _ => error.advice(),
    };
    Diagnostic::error(
        format!("{key} could not be looked at, so {planned}"),
        paragraphs([
            &error.why(),
            "The refresh could not look either, and what state remembers is no ground for a plan. \
             Nothing was changed, and state keeps it.",
            &advice,
            CLUSTER_GONE,
        ]),
    )
}

/// Why what is to end cannot be reached.
pub(crate) enum NoWay<'a> {
    /// The provider block has no cluster of this name, or none of its own.
    Unlisted(Option<&'a str>),
    /// The `cluster` in state cannot be used.
    ByState(&'a Diagnostics),
    /// The provider block's cluster of this name, or its own, cannot be used.
    ByProviderBlock(Option<&'a str>, &'a Diagnostics),
}

/// What is to be deleted or handed back can be reached no more.
pub(crate) fn no_way_to_end(key: &ObjectKey, why: &NoWay<'_>) -> Diagnostic {
    let named = |name: Option<&str>| match name {
        Some(name) => format!("the cluster {}", quoted(name)),
        None => "the provider block's own `cluster`".to_owned(),
    };
    let again = |what: &str| {
        format!(
            "{what} until this is done; or apply the new way to the cluster first, by itself, with \
             the resource in the configuration."
        )
    };
    let (way, problem, back) = match why {
        NoWay::Unlisted(Some(name)) => (
            format!("{}, which the provider block does not name any more", named(Some(*name))),
            String::new(),
            again(&format!("Add {} to `clusters` in the provider block again", quoted(name))),
        ),
        NoWay::Unlisted(None) => (
            format!("{}, which is not there any more", named(None)),
            String::new(),
            again("Add `cluster` in the provider block again"),
        ),
        NoWay::ByState(problems) => (
            "the `cluster` that state holds, which cannot be used here any more".to_owned(),
            first_of(problems),
            again("Bring back what it needs"),
        ),
        NoWay::ByProviderBlock(name, problems) => (
            format!("{}, which cannot be used", named(*name)),
            first_of(problems),
            "Correct it there.".to_owned(),
        ),
    };
    Diagnostic::error(
        format!("There is no way to the cluster of {key}"),
        paragraphs([
            &format!(
                "What is deleted, replaced or handed back is reached as it was at the last apply: \
                 by {way}. Nothing was changed, and state keeps it."
            ),
            &problem,
            &format!("{back} {CLUSTER_GONE}"),
        ]),
    )
}

/// What to do where the credentials are refused that something is to be ended with.
pub(super) fn stale_login(deed: &str) -> String {
    format!(
        "{deed} uses the `cluster` that state holds, as it was at the last apply: where that has \
         credentials which have expired, apply once with the new ones and with the resource in the \
         configuration, then delete. Credentials in the provider block are those of the configuration; check that they belong to this cluster \
         and have not expired."
    )
}

/// What to do where a connection leads elsewhere.
fn ways_out(whose: Whose) -> String {
    let stay = match whose {
        Whose::Object => {
            "If the object is to live there from now on, or the old cluster is no more, take it out \
             of state with `terraform state rm ADDRESS` (or `tofu state rm ADDRESS`): the next \
             apply creates it there."
        }
        Whose::Patch => {
            "If the object of that name there is to be patched from now on, destroy the patch by \
             the old connection first, so that its fields are handed back. If the old cluster is no \
             more, take the patch out of state with `terraform state rm ADDRESS` (or `tofu state rm \
             ADDRESS`), which hands nothing back: the next apply patches the object there."
        }
    };
    format!(
        "If that is a mistake, correct `cluster`, `cluster_name`, the provider block or the \
         kubeconfig and its context. {stay}"
    )
}
