//! A patch that changes its target.

use k8sconnect_core::identity::ObjectKey;
use tfplugin::{AttributePath, Diagnostic};

use crate::messages::paragraphs;

pub(crate) fn another_target(old: &ObjectKey, new: &ObjectKey) -> Diagnostic {
    let summary = match (old.name == new.name, old.gvk == new.gvk) {
        // The two read alike, save for this.
        (true, false) => format!(
            "The patch of {old} (`{}`) will move to {new} (`{}`)",
            old.gvk.api_version(),
            new.gvk.api_version()
        ),
        _ => format!("The patch of {old} will move to {new}"),
    };
    Diagnostic::warning(
        summary,
        "The fields of the old target are handed back, then the new one is patched.",
    )
}

/// Another target became known only while applying.
pub(crate) fn target_known_late(old: &ObjectKey, new: &ObjectKey) -> Diagnostic {
    Diagnostic::error(
        format!("The patch of {old} would have to move to {new}"),
        paragraphs([
            "`target` was not known in full when this was planned, so an update was planned. Now it \
             is known, and means another object.",
            "Nothing was changed. Run apply again: it will plan the move, a replacement of this \
             patch.",
        ]),
    )
    .at(AttributePath::root("target"))
}

/// Said beside a move that may come up too late, where nothing tells whether it does.
pub(crate) fn if_applying(old: &ObjectKey) -> Diagnostic {
    Diagnostic::warning(
        format!("The patch of {old} is to move, without its target having been read before"),
        "In a plan with `-refresh=false` this is as it should be. During an apply it means that \
         `target` was not known in full when the plan was made: nothing is changed then. Run apply \
         again: it will plan the move, a replacement of this patch.",
    )
}
