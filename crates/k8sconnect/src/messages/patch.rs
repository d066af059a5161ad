//! What is said about a patch and its target.

mod give_and_take;
mod moves;
mod namesakes;
mod odd;
mod operations;
mod refused;
mod rivals;

use std::time::Duration;

use k8sconnect_cluster::Error;
use k8sconnect_core::identity::{Gvk, ID_ANNOTATION, ObjectKey};
use k8sconnect_core::patch::{Claimed, Manner};
use serde_json::{Value, json};
use tfplugin::{AttributePath, Diagnostic};

use super::stuck::spelt;
use super::unread::not_ended;
use super::{interrupted, paragraphs, refusal, span};

pub(crate) use give_and_take::{ignored, outdone, returns, spared, takes};
pub(crate) use moves::{another_target, if_applying, target_known_late};
pub(crate) use namesakes::namesakes;
pub(crate) use odd::{Going, finalizers, going, hollow, oddities, undaunted, unheard};
pub(crate) use operations::{Stage, cannot};
pub(crate) use refused::{Sent, not_taken, too_many_fields, unusable};
pub(crate) use rivals::{held_by_patches, taken_from_patches, wanted_twice};

/// Has a diagnostic point at the text of a patch. Terraform prints the lines that are pointed at,
/// which are better not printed for a Secret.
fn on(diagnostic: Diagnostic, attribute: &str, key: &ObjectKey) -> Diagnostic {
    // Also of a Secret that is misspelt.
    if key.gvk.kind.to_ascii_lowercase().contains("secret") {
        return diagnostic;
    }
    diagnostic.at(AttributePath::root(attribute))
}

/// A part of `target` can be no name.
pub(crate) fn no_name(part: &str, name: &str) -> Diagnostic {
    Diagnostic::error(
        format!("No object can be meant by `target.{part} = {name:?}`"),
        "It is one step of the object's address, so that it can be neither empty nor hold `/` or \
         `%`. A patch changes an object as such, never one of its subresources.\n\n\
         Write the name as `kubectl get` shows it.",
    )
    .at(AttributePath::root("target").attribute(part))
}

/// No object of the kind can have the name.
pub(crate) fn no_host_name(gvk: &Gvk, name: &str) -> Diagnostic {
    Diagnostic::error(
        format!("No {} can be meant by `target.name = {name:?}`", gvk.kind),
        "Names of this kind have lower-case letters, digits, `-` and `.` only.\n\n\
         Write the name as `kubectl get` shows it.",
    )
    .at(AttributePath::root("target").attribute("name"))
}

/// A namespace is given for a kind that lives in none.
pub(crate) fn no_namespace(key: &ObjectKey) -> Diagnostic {
    let (kind, name) = (&key.gvk.kind, &key.name);
    let namespace = key.namespace.as_deref().unwrap_or_default();
    Diagnostic::warning(
        format!("{kind} `{name}` lives in no namespace"),
        format!(
            "Objects of this kind belong to the whole cluster, so that `target.namespace = \
             {namespace:?}` says nothing.\n\nRemove it."
        ),
    )
    .at(AttributePath::root("target").attribute("namespace"))
}

pub(crate) fn one_of_three(found: usize) -> Diagnostic {
    Diagnostic::error(
        "Exactly one of `patch`, `json_patch` and `merge_patch` must be set",
        format!(
            "{found} of them are. `patch` is a partial object whose lists are merged by key and is \
             right for most; `json_patch` is a list of operations; `merge_patch` can remove fields \
             with `null`."
        ),
    )
}

/// The summary names no object, so that many of these are shown as one.
pub(crate) fn unknown() -> Diagnostic {
    Diagnostic::warning(
        "Patches whose target or content is not known yet are planned without the cluster",
        "Something in them is known only after apply, so that the API server cannot be asked about \
         them now. It is asked, and the patch checked, during the apply.",
    )
}

pub(crate) fn not_there_yet(key: &ObjectKey) -> Diagnostic {
    Diagnostic::warning(
        format!("{key} does not exist, so its patch cannot be planned in full"),
        "A patch never creates its target. If this very run makes it (a Helm release, an operator \
         with its objects), let the patch `depends_on` what makes it: the patch is then checked and \
         made during the apply. Otherwise the apply will fail; check `target`.",
    )
    .at(AttributePath::root("target"))
}

/// The kind is that of a custom resource, and the API server does not serve it.
pub(crate) fn kind_not_there_yet(key: &ObjectKey) -> Diagnostic {
    Diagnostic::warning(
        format!(
            "{key}: `{}` of `{}` is not served, so the patch cannot be planned in full",
            key.gvk.kind,
            key.gvk.api_version()
        ),
        "The API server knows no such kind yet. If this very run makes it (an operator with its \
         CustomResourceDefinitions), let the patch `depends_on` what makes it and the object: the \
         patch is then checked and made during the apply. Otherwise the apply will fail; check \
         `target`.",
    )
    .at(AttributePath::root("target"))
}

/// Objects of this kind are questions, which nobody keeps.
pub(crate) fn kind_unreadable(key: &ObjectKey) -> Diagnostic {
    let (kind, version) = (&key.gvk.kind, key.gvk.api_version());
    Diagnostic::error(
        format!("{key} cannot be patched: no object of its kind can be read"),
        format!(
            "The API server serves `{kind}` of `{version}` without letting anybody read it: such \
             objects are questions that are answered and not kept.\n\n\
             Check `target`; `kubectl api-resources -o wide` lists what can be done with each kind."
        ),
    )
    .at(AttributePath::root("target"))
}

pub(crate) fn kind_missing(key: &ObjectKey, waited: Duration) -> Diagnostic {
    Diagnostic::error(
        format!(
            "{key} cannot be patched: `{}` of `{}` is not served",
            key.gvk.kind,
            key.gvk.api_version()
        ),
        format!(
            "The API server knows no such kind. Apply waited {} for it.\n\n\
             Check `target`. If this configuration makes the kind, let the patch `depends_on` what \
             makes it and the object.",
            span(waited)
        ),
    )
    .at(AttributePath::root("target"))
}

/// The target was waited for, and the wait did not come to its end.
pub(crate) fn not_awaited(key: &ObjectKey, error: &Error) -> Diagnostic {
    match error.is_interrupt() {
        true => interrupted::patch(key),
        false => refusal::unanswered(key, error),
    }
}

pub(crate) fn missing(key: &ObjectKey, waited: Duration) -> Diagnostic {
    let waited = match waited.as_secs() {
        0 => String::new(),
        _ => format!(" Apply waited {} for it.", span(waited)),
    };
    Diagnostic::error(
        format!("{key} does not exist and cannot be patched"),
        format!(
            "A patch never creates its target.{waited}\n\n\
             Check `target`. If this configuration makes the object, let the patch `depends_on` what \
             makes it.",
        ),
    )
    .at(AttributePath::root("target"))
}

/// The object belongs to a `k8sconnect_object`, of this state or another.
pub(crate) fn managed_as_object(key: &ObjectKey, claimed: &Claimed, stage: Stage) -> Diagnostic {
    let why = match &claimed.id {
        Some(id) => format!("It bears the k8sconnect id `{id}`"),
        None => "Some of its fields are held by the field manager `k8sconnect`".to_owned(),
    };
    let mut operations = Vec::new();
    if claimed.id.is_some() {
        let name = ID_ANNOTATION.replace('/', "~1");
        operations.push(json!({"op": "remove", "path": format!("/metadata/annotations/{name}")}));
    }
    for n in &claimed.entries {
        let path = format!("/metadata/managedFields/{n}/manager");
        operations.push(json!({"op": "test", "path": path, "value": "k8sconnect"}));
        operations.push(json!({"op": "replace", "path": path, "value": "former-k8sconnect"}));
    }
    let command =
        format!("  kubectl patch {} --type=json -p '{}'", spelt(key), Value::Array(operations));
    Diagnostic::error(
        format!("{key} is managed by a `k8sconnect_object` and cannot be patched"),
        paragraphs([
            &format!(
                "{why}: a `k8sconnect_object` of this configuration or another manages it as a \
                 whole, and the two would undo each other's work."
            ),
            match stage {
                Stage::New | Stage::Anew => {
                    "Write the fields in the `yaml_body` of that resource instead."
                }
                Stage::Made => {
                    "Write the fields in the `yaml_body` of that resource, and remove this patch. A \
                     destroy plans first and meets this error too; with `-refresh=false` it does \
                     not."
                }
            },
            "If no state holds the object any more, clear what is left on it and run again:",
            &command,
        ]),
    )
    .at(AttributePath::root("target"))
}

/// The attribute that a patch of this manner is written in.
pub(crate) fn attribute(manner: Manner) -> &'static str {
    match manner {
        Manner::Apply => "patch",
        Manner::Merge => "merge_patch",
        Manner::Json => "json_patch",
    }
}

/// Positions in a list may mean other items than the plan showed.
pub(crate) fn changed_since(key: &ObjectKey) -> Diagnostic {
    Diagnostic::error(
        format!("{key} changed since the plan was made"),
        "`json_patch` counts list items, and the positions may mean other items by now than those \
         that the plan showed.\n\n\
         Nothing was changed. Plan again, with a refresh.",
    )
    .at(AttributePath::root("target"))
}

/// Under the name of the target there is another object now.
pub(crate) fn recreated(key: &ObjectKey) -> Diagnostic {
    Diagnostic::warning(
        format!("{key} was deleted and made anew"),
        "It is another object now, without the patch. Applying patches it again, and takes down \
         anew who holds each field.",
    )
}

/// The same, beside the reason why the patch cannot be made on the new object.
pub(crate) fn recreated_in_vain(key: &ObjectKey) -> Diagnostic {
    Diagnostic::warning(
        format!("{key} was deleted and made anew"),
        "It is another object now, on which the patch is made from the beginning, and which may lack \
         what the patch needs. Have the object made with that, or change the patch.\n\n\
         To destroy the patch, destroy it with `-refresh=false`: the new object stays as it is.",
    )
}

/// The Go provider made the patch.
pub(crate) fn no_former_owners(key: &ObjectKey) -> Diagnostic {
    Diagnostic::warning(
        format!("{key}: who held the patched fields before is not known"),
        "The patch was made by the Go provider of this name, which kept no record of it. Fields that \
         this apply takes from others will be given back to them; those that the patch holds \
         already will stay on the object when it is destroyed, held by nobody.",
    )
}

pub(crate) fn not_handed_back(key: &ObjectKey, error: &Error) -> Diagnostic {
    let on_refusal =
        "Remove what forbids the write, or ask for the permission to `patch`, and run again.";
    let (why, advice) = not_ended(error, str::to_owned, on_refusal, "A hand-back");
    Diagnostic::error(
        format!("{key}: the patched fields were not handed back"),
        paragraphs([&why, &format!("State keeps the patch. {advice}")]),
    )
}

/// The server accepted a hand-back and did not do it.
pub(crate) fn hand_back_ignored(key: &ObjectKey) -> Diagnostic {
    Diagnostic::error(
        format!("{key}: the API server did not hand the patched fields back"),
        "It accepted the request, but the owners of the fields are not those that were asked for. It \
         does so when an entry of `managedFields` cannot be read, for instance because its API \
         version is no longer served.\n\n\
         State keeps the patch. Look at `kubectl get --show-managed-fields`, and please report this \
         as a bug.",
    )
}

pub(crate) fn not_imported() -> Diagnostic {
    Diagnostic::error(
        "A `k8sconnect_patch` cannot be imported",
        "Who held the fields before cannot be found out afterwards.\n\n\
         Write the patch and apply it. If a killed run left a patch behind on the object, set \
         `adopt = true`: it is handed back and made anew.",
    )
}
