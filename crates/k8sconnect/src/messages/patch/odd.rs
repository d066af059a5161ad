//! What is said of a patch that can be made, and may not be meant.

use k8sconnect_core::field::FieldPath;
use k8sconnect_core::identity::ObjectKey;
use k8sconnect_core::patch::{Finalizers, Manner, Oddity, Unheard};
use serde_json::Value;
use tfplugin::{Diagnostic, Diagnostics};

use super::{attribute, on};
use crate::messages::manifest::read_as_boolean;
use crate::messages::ownership::named;
use crate::messages::paragraphs;
use crate::messages::stuck::what_holds;

pub(crate) fn oddities(key: &ObjectKey, manner: Manner, found: &[Oddity]) -> Diagnostics {
    let attribute = attribute(manner);
    found
        .iter()
        .map(|oddity| match oddity {
            Oddity::BooleanKey { written, position } => {
                on(read_as_boolean(key, written, *position), attribute, key)
            }
            Oddity::OwnerReferences => on(owners(key), attribute, key),
        })
        .collect()
}

/// Fields that were written null, and have a value all the same.
pub(crate) fn undaunted(key: &ObjectKey, fields: &[FieldPath]) -> Diagnostics {
    let mut told = Diagnostics::new();
    if !fields.is_empty() {
        let warning = Diagnostic::warning(
            format!("{key}: `null` in `patch` removes nothing"),
            format!(
                "A partial object is applied, and of these fields without a value the API server \
                 makes an empty one, or a default, or takes no notice of them:\n\n{}\n\nTo remove \
                 a field, use `merge_patch`, where `null` means that, or `json_patch` with `remove`.",
                indented(fields)
            ),
        );
        told.push(on(warning, attribute(Manner::Apply), key));
    }
    told
}

/// Lists that were applied empty, and keep what is in them, or what others will put into them.
pub(crate) fn unheard(key: &ObjectKey, lists: &Unheard) -> Diagnostics {
    let mut told = Diagnostics::new();
    let Unheard { full, empty } = lists;
    if !full.is_empty() {
        let warning = Diagnostic::warning(
            format!("{key}: an empty list in `patch` removes nothing"),
            format!(
                "A partial object is applied, and these lists are merged item by item: one without \
                 items asks for nothing, and what is in it stays:\n\n{}\n\nTo empty a list, use \
                 `merge_patch`; to remove an item, `json_patch` with `remove`.",
                indented(full)
            ),
        );
        told.push(on(warning, attribute(Manner::Apply), key));
    }
    if !empty.is_empty() {
        let warning = Diagnostic::warning(
            format!("{key}: an empty list in `patch` asks for nothing"),
            format!(
                "A partial object is applied, and these lists are merged item by item: one without \
                 items is neither made nor held, and what others put into it later stays:\n\n{}\n\n\
                 To keep a list empty, use `merge_patch`. Otherwise remove these lines.",
                indented(empty)
            ),
        );
        told.push(on(warning, attribute(Manner::Apply), key));
    }
    told
}

/// Maps that a merge patch makes though it only removes something in them.
pub(crate) fn hollow(key: &ObjectKey, maps: &[FieldPath]) -> Diagnostics {
    let mut told = Diagnostics::new();
    if !maps.is_empty() {
        let warning = Diagnostic::warning(
            format!(
                "{key}: {} will be made, as an empty map",
                named(maps.iter().map(ToString::to_string))
            ),
            format!(
                "`null` removes a field, but a merge patch makes the map around it where there is \
                 none:\n\n{}\n\nNobody sees to it that it goes again. To leave the object as it is, \
                 remove these lines from the patch.",
                indented(maps)
            ),
        );
        told.push(on(warning, attribute(Manner::Merge), key));
    }
    told
}

/// Finalizers that come or go: the object stays for as long as there is one.
pub(crate) fn finalizers(key: &ObjectKey, live: &Value, answer: &Value) -> Diagnostics {
    let Finalizers { added, removed } = Finalizers::between(live, answer);
    let list = |names: &[String]| names.join("\n  ");
    let mut told = Diagnostics::new();
    let is_going = !live["metadata"]["deletionTimestamp"].is_null();
    if is_going && !removed.is_empty() {
        let last = answer["metadata"]["finalizers"].as_array().is_none_or(Vec::is_empty);
        let then = match last {
            true => "These are the last ones: the object goes at once, and the patch with it.",
            false => "Once the others are removed too, the object goes, and the patch with it.",
        };
        told.push(Diagnostic::warning(
            format!("{key}: the patch removes finalizers of an object that is being deleted"),
            paragraphs([
                &format!(
                    "A finalizer holds the object until whoever set it has cleaned up. Without it \
                     nobody does:\n\n  {}",
                    list(&removed)
                ),
                then,
                "Leave them to their controllers, unless these are gone for good.",
            ]),
        ));
    }
    if !added.is_empty() {
        told.push(Diagnostic::warning(
            format!("{key}: the patch adds finalizers, which stay when it is destroyed"),
            paragraphs([
                &format!(
                    "The object cannot be deleted for as long as it has one:\n\n  {}",
                    list(&added)
                ),
                "Values stay when a patch is destroyed. If no controller removes them, do so first, \
                 with a `json_patch` or `kubectl edit`.",
            ]),
        ));
    }
    told
}

fn indented(paths: &[FieldPath]) -> String {
    paths.iter().map(|path| format!("  {path}")).collect::<Vec<_>>().join("\n")
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
