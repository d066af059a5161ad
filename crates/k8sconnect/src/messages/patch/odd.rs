//! What is said of a patch that can be made, and may not be meant.

use k8sconnect_core::identity::ObjectKey;
use k8sconnect_core::patch::{Manner, Oddity};
use serde_json::Value;
use tfplugin::{Diagnostic, Diagnostics};

use super::{attribute, on};
use crate::messages::manifest::read_as_boolean;
use crate::messages::paragraphs;
use crate::messages::stuck::what_holds;

pub(crate) fn oddities(key: &ObjectKey, manner: Manner, found: &[Oddity]) -> Diagnostics {
    let attribute = attribute(manner);
    let nulls: Vec<_> = found
        .iter()
        .filter_map(|oddity| match oddity {
            Oddity::Null(path) => Some(format!("  {path}")),
            _ => None,
        })
        .collect();
    let mut told: Diagnostics = found
        .iter()
        .filter_map(|oddity| match oddity {
            Oddity::BooleanKey { written, position } => {
                Some(on(read_as_boolean(key, written, *position), attribute, key))
            }
            Oddity::OwnerReferences => Some(on(owners(key), attribute, key)),
            Oddity::Null(_) => None,
        })
        .collect();
    if !nulls.is_empty() {
        let warning = Diagnostic::warning(
            format!("{key}: `null` in `patch` removes nothing"),
            format!(
                "A partial object is applied, and of a field without a value the API server makes \
                 an empty one, or a default, or takes no notice of it:\n\n{}\n\nTo remove a field, use `merge_patch`, where `null` means that, or \
                 `json_patch` with `remove`.",
                nulls.join("\n")
            ),
        );
        told.push(on(warning, attribute, key));
    }
    told
}

fn owners(key: &ObjectKey) -> Diagnostic {
    Diagnostic::warning(
        format!("{key}: the patch says who owns the object"),
        "By `metadata.ownerReferences` the garbage collector deletes an object once its owner is \
         gone, or if the owner is not to be found under the uid that is given: with this patch the \
         target may go, and the patch with it.\n\n\
         Leave the owners to whoever made the object, unless that is just what you want.",
    )
}

/// What becomes of a patch whose target is on its way out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Going {
    /// It is made.
    Made,
    /// It stands, and nothing is to be done.
    Stands,
    /// It ends before its target does.
    Ends,
}

/// The target is on its way out.
pub(crate) fn going(key: &ObjectKey, live: &Value, patch: Going) -> Diagnostics {
    let mut told = Diagnostics::new();
    if live["metadata"]["deletionTimestamp"].is_null() {
        return told;
    }
    let anew = "Once it is gone, the patch is gone with it, and is planned anew for the object that \
                has the name then.";
    let (what, then) = match patch {
        Going::Made => (", and is patched all the same", anew),
        Going::Stands => (", and the patch goes with it", anew),
        Going::Ends => (
            "; the patch is handed back all the same",
            "Nothing needs to be done: if it is gone before, there is nothing to hand back.",
        ),
    };
    told.push(Diagnostic::warning(
        format!("{key} is being deleted{what}"),
        paragraphs([&what_holds(live), then]),
    ));
    told
}
