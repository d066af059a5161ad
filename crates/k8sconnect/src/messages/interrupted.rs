//! What is said when the user asks Terraform to stop while the provider waits.

use k8sconnect_cluster::NotYet;
use k8sconnect_core::identity::ObjectKey;
use serde_json::Value;
use tfplugin::Diagnostic;

use super::object::not_yet;
use super::paragraphs;
use super::stuck::{commands, what_holds};

/// The kind or the namespace of the object was not there yet.
pub(crate) fn creation(key: &ObjectKey, why: &NotYet) -> Diagnostic {
    Diagnostic::error(
        format!("{key} was not created: the run was interrupted"),
        paragraphs([
            &format!("{} The provider was waiting for it.", not_yet(why)),
            "State does not have the object. Run again to create it.",
        ]),
    )
}

/// The former object of the same name was still being deleted.
pub(crate) fn recreation(key: &ObjectKey, live: &Value) -> Diagnostic {
    Diagnostic::error(
        format!("{key} was not created: the run was interrupted"),
        paragraphs([
            "The provider was waiting for the former object of this name to go.",
            &what_holds(live),
            "State does not have the new object. Run again to create it.",
        ]),
    )
}

/// The API server accepted the deletion, and the object was still there.
pub(crate) fn deletion(key: &ObjectKey, live: &Value) -> Diagnostic {
    Diagnostic::error(
        format!("{key} is still being deleted: the run was interrupted"),
        paragraphs([
            "The API server accepted the deletion, and the provider was waiting for the object to go.",
            &what_holds(live),
            &commands(key),
            "State keeps the object. Run again: the object leaves state when it is gone.",
        ]),
    )
}

/// The target of a patch was not there yet.
pub(crate) fn patch(key: &ObjectKey) -> Diagnostic {
    Diagnostic::error(
        format!("{key} was not patched: the run was interrupted"),
        "The provider was waiting for the target to exist. Nothing was written, and state does not \
         have the patch.\n\nRun again to make it.",
    )
}
