//! Connections that lead to another cluster than state names, or to one that cannot be identified.

use k8sconnect_cluster::{Error, Host};
use k8sconnect_core::identity::ObjectKey;
use tfplugin::Diagnostic;

use super::connection::explain;
use super::paragraphs;

/// A refresh found another cluster. The plan has the last word, since it knows the configuration.
pub(crate) fn not_refreshed(key: &ObjectKey, host: &Host) -> Diagnostic {
    Diagnostic::warning(
        format!("{key} was not refreshed: its connection leads to another cluster"),
        paragraphs([
            &another_uid(host),
            "The resource stays in state as it is. The plan uses the connection in the \
             configuration.",
        ]),
    )
}

/// A plan, an apply or a destroy would take place in another cluster.
pub(crate) fn different(key: &ObjectKey, host: &Host) -> Diagnostic {
    Diagnostic::error(
        format!("The connection of {key} leads to another cluster"),
        paragraphs([
            &format!("{} Nothing was changed.", another_uid(host)),
            "If this is a mistake, correct `cluster`, `cluster_name`, the provider block or the \
             context of the kubeconfig. If this cluster replaces the old one, run `terraform state \
             rm ADDRESS` (or `tofu state rm ADDRESS`) and apply: that starts over in this cluster. \
             It deletes nothing in the old cluster, and hands no patched fields back there.",
        ]),
    )
}

fn another_uid(host: &Host) -> String {
    format!(
        "The UID of namespace `kube-system` at `{host}` differs from the one in state, which is of \
         the cluster that the resource was last applied to."
    )
}

/// The server does not say which cluster it is. Shown once per connection.
pub(crate) fn unreadable(host: &Host, error: &Error) -> Diagnostic {
    let explained = explain(error);
    let advice = match error.code() {
        Some(403) => "Grant the credentials `get` on the namespace `kube-system`.".to_owned(),
        _ => explained.advice,
    };
    Diagnostic::warning(
        format!("The cluster at `{host}` could not be identified"),
        paragraphs([
            &explained.cause,
            "The UID of namespace `kube-system` shows whether a connection still leads to the \
             cluster in state. Without it, a connection to another cluster goes unnoticed, and \
             objects that are not found stay in state.",
            &advice,
        ]),
    )
}

/// The object in state is not there, and no UID is stored that would show whether this is its cluster.
/// `other` is the UID of the object that has its name.
pub(crate) fn not_found_unrecorded(
    key: &ObjectKey,
    host: &Host,
    other: Option<&str>,
) -> Diagnostic {
    let cause = format!(
        "No UID is recorded to compare with namespace `kube-system` at `{host}`: Terraform passes none \
         to the deletion of a tainted resource."
    );
    let advice = "Check the connection. If the resource is tainted, plan again: its refresh has the \
                  recorded UID.";
    not_found(key, other, &cause, advice)
}

/// The same, where the UID of this cluster cannot be read.
pub(crate) fn not_found_unreadable(
    key: &ObjectKey,
    host: &Host,
    other: Option<&str>,
) -> Diagnostic {
    let cause = format!("The UID of namespace `kube-system` at `{host}` could not be read.");
    let advice = "Grant the credentials `get` on the namespace `kube-system`, and plan again.";
    not_found(key, other, &cause, advice)
}

fn not_found(key: &ObjectKey, other: Option<&str>, cause: &str, advice: &str) -> Diagnostic {
    let (what, found) = match other {
        Some(other) => (
            "is another object",
            format!("The object of this name has the UID `{other}`, which does not match state."),
        ),
        None => ("not found", "There is no object of this name.".to_owned()),
    };
    Diagnostic::error(
        format!("{key} {what}, and the cluster could not be identified"),
        paragraphs([
            &format!(
                "{found} {cause} So this may be another cluster. Nothing was changed, and the \
                 resource stays in state."
            ),
            &format!(
                "{advice} If the connection is right, you can also run `terraform state rm \
                 ADDRESS` (or `tofu state rm ADDRESS`)."
            ),
        ]),
    )
}
