//! What is said where an object has an address already, or is to have two.

use std::collections::BTreeSet;

use k8sconnect_core::identity::{ID_ANNOTATION, ObjectKey};
use k8sconnect_core::import_id;
use k8sconnect_core::manifest::Manifest;
use k8sconnect_core::owners::Owners;
use k8sconnect_core::rejection::Status;
use serde_json::Value;
use tfplugin::Diagnostic;

use super::refusal::{Subject, said};
use super::{paragraphs, patch};
use crate::plan_ledger::Conflict;

const MOVED: &str = "moved {\n    from = OLD_ADDRESS\n    to   = NEW_ADDRESS\n  }";

/// How the plans of two addresses contradict each other.
pub(crate) fn conflict(key: &ObjectKey, conflict: &Conflict) -> Diagnostic {
    match conflict {
        Conflict::DeletedAndKept => destroyed_and_made(key),
        Conflict::OwnedTwice => held_twice(key),
        Conflict::CreatedTwice => made_twice(key),
        Conflict::CreatedAndPatched => made_and_patched(key),
        Conflict::PatchedTwice(fields) => patch::wanted_twice(key, fields),
        Conflict::PatchKept(fields) => patch::held_by_patches(key, fields, patch::Stage::New),
    }
}

/// One address destroys what another takes over, in the same run.
pub(crate) fn destroyed_and_made(key: &ObjectKey) -> Diagnostic {
    Diagnostic::error(
        format!("{key} is to be destroyed and made by two addresses in the same run"),
        format!(
            "One resource address destroys the object, another makes it again, imports it, or takes \
             it over with `adopt = true`. Which comes first is chance, and the object might be \
             lost.\n\n\
             If only the address changed, say so, and nothing is destroyed:\n\n  {MOVED}\n\n\
             Where the new address holds another object so far, as in a `count` that lost an item, \
             move that one aside first, both with `terraform state mv`.\n\n\
             If the old object is shown as deposed, `create_before_destroy` set it aside and the \
             new one could not be made: let state forget it with `terraform state rm ADDRESS` (or \
             `tofu state rm ADDRESS`), restore the old values, and take the object over again with \
             `adopt = true`."
        ),
    )
}

/// One address has destroyed what another was to take over, as only the apply could show. That one has
/// failed to create the object instead.
pub(crate) fn deleted_before_taken(key: &ObjectKey) -> Diagnostic {
    Diagnostic::error(
        format!("{key} was deleted in this run before it could be taken over"),
        paragraphs([DELETED_FIRST, "Run again: the next apply creates it.", &moved_address()]),
    )
}

/// The same, where the object was created instead.
pub(crate) fn recreated_not_taken(key: &ObjectKey) -> Diagnostic {
    Diagnostic::warning(
        format!("{key} was deleted in this run, and created again instead of taken over"),
        paragraphs([
            DELETED_FIRST,
            "The new object has what you wrote, and nothing else that the old one had.",
            &moved_address(),
        ]),
    )
}

const DELETED_FIRST: &str = "Another resource address destroyed it, and this one was to take it over with \
     `adopt = true`. Only the apply could show that both mean the same object.";

fn moved_address() -> String {
    format!(
        "Where only the address of a resource changes, say so before the apply, and nothing is \
         destroyed:\n\n  {MOVED}"
    )
}

/// Two addresses of one configuration mean the same object.
pub(crate) fn made_twice(key: &ObjectKey) -> Diagnostic {
    Diagnostic::error(
        format!("{key} is made by two addresses in the same run"),
        "Two resource addresses, such as two keys of a `for_each`, have the same kind, namespace \
         and name. There can be one such object, and each address would overwrite what the other \
         wrote.\n\n\
         Give each its own `metadata.name` or namespace, or remove one of the two.",
    )
}

/// One address makes what another one patches.
pub(crate) fn made_and_patched(key: &ObjectKey) -> Diagnostic {
    Diagnostic::error(
        format!("{key} is made by a `k8sconnect_object` and changed by a `k8sconnect_patch`"),
        "Both are of this configuration. A patch is for fields of objects that others own: of an \
         object that is managed as a whole the two would undo each other's work.\n\n\
         Write the fields in the `yaml_body` of the object, and remove the patch. If the object is to \
         stay another's, remove the `k8sconnect_object` instead.",
    )
}

/// An address imports, takes over or makes what another one has.
pub(crate) fn held_twice(key: &ObjectKey) -> Diagnostic {
    Diagnostic::error(
        format!("{key} is held by two addresses of this state"),
        format!(
            "Two resource addresses have the same kind, namespace and name: one holds the object, \
             the other holds it too, imports it, or is to make it. Each would overwrite what the \
             other wrote, in every run.\n\n\
             Remove one of the two from the configuration, with its `import` block if it has one. \
             If both are in state, let it forget that one with `terraform state rm ADDRESS` (or \
             `tofu state rm ADDRESS`), so that the object is not deleted with it. If only the \
             address changed, say so:\n\n  {MOVED}"
        ),
    )
}

/// When an object is found in the way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stage {
    Plan,
    /// While it is applied; or nothing tells whether it is.
    Apply,
}

const ONE_OF_A_NAME: &str = "If it is the object that this resource is to replace (`terraform state show ADDRESS` tells its \
     id): `create_before_destroy` makes the new one before the old one goes, and there cannot be two \
     of one name. Give the new one another name, or remove the setting, here and from every \
     resource that depends on this one: they pass it on.";

/// There is an object that this address does not hold.
pub(crate) fn exists(desired: &Manifest, live: &Value, stage: Stage) -> Diagnostic {
    let key = desired.key();
    let take_over = match desired.is_stored() {
        true => format!(
            "To take it over as it is, set `adopt = true`, or import it:\n\n  \
             terraform import ADDRESS '{}'\n\n\
             The plan then tells what changes.",
            import_id::of(key)
        ),
        // An import writes down what it finds, which is what a body that is never stored is to
        // prevent.
        false => "To take it over as it is, set `adopt = true`: the plan then tells what changes, \
                  and nothing of the object comes into state. An import would store what the \
                  object holds, until the next apply."
            .to_owned(),
    };
    let (following, unasked, moving) = match (id_of(live), stage) {
        (None, _) => ("", "It is not in this state, so it is not taken over unasked.", ""),
        (Some(_), Stage::Plan) => ("", "It is not taken over unasked.", GIVEN_UP),
        (Some(_), Stage::Apply) => {
            (ONE_OF_A_NAME, "If it is another one: it is not taken over unasked.", GIVEN_UP)
        }
    };
    Diagnostic::error(
        format!("{key} exists already"),
        paragraphs([
            &whose(live),
            following,
            &format!("{unasked} {take_over} Otherwise give yours another name."),
            moving,
        ]),
    )
}

/// There is an object to be taken over that the plan did not show.
pub(crate) fn appeared(key: &ObjectKey, live: &Value) -> Diagnostic {
    Diagnostic::error(
        format!("{key} appeared after the plan was made"),
        paragraphs([
            &whose(live),
            "`adopt = true` takes over an object only after a plan has shown whose fields it takes. \
             When this plan was made, the object was not there, or could not be looked for. Nothing \
             was changed.",
            "Plan again, read what the plan takes over, and apply it.",
        ]),
    )
}

const GIVEN_UP: &str = "If another address of this state has it, and gives it up in the same run, let it do so first, \
     in an apply of its own.";

/// There is an object of ours that cannot become what is wanted, so that taking it over is no way
/// out. The server's words, where it has been asked.
pub(crate) fn cannot_follow(
    subject: Subject<'_>,
    live: &Value,
    status: Option<&Status>,
) -> Diagnostic {
    let words = match status {
        Some(status) => said(status.code, &subject.quoted(&status.message)),
        None => "It was written with another `apiVersion`.".to_owned(),
    };
    Diagnostic::error(
        format!("{} exists already and cannot be changed to what you wrote", subject.key()),
        paragraphs([
            &whose(live),
            &words,
            ONE_OF_A_NAME,
            "If it is another one, give yours another name, or delete that one first. Nothing was \
             written.",
        ]),
    )
}

/// The same, where it may be the one that is to be replaced, and nothing tells whether it is.
pub(crate) fn in_the_way(key: &ObjectKey, live: &Value) -> Diagnostic {
    Diagnostic::warning(
        format!("{key} exists already and cannot be changed to what you wrote"),
        paragraphs([
            &whose(live),
            "As long as it is there, the apply fails before anything is written, and tells the ways \
             out. Its fields are shown as known after apply.",
        ]),
    )
}

/// Who has the object now.
pub(super) fn whose(live: &Value) -> String {
    let owners = Owners::of_object(live).unwrap_or_default();
    let names: BTreeSet<_> =
        owners.0.iter().map(|owner| format!("`{}`", owner.manager.name)).collect();
    let mut who = if names.is_empty() {
        "No manager is recorded on it.".to_owned()
    } else {
        let names: Vec<_> = names.into_iter().collect();
        format!("Its fields are held by {}.", names.join(", "))
    };
    if let Some(id) = id_of(live) {
        who.push_str(&format!(
            " It bears the k8sconnect id `{id}`: another state may hold it, or another address of \
             this one."
        ));
    }
    who
}

fn id_of(live: &Value) -> Option<&str> {
    live["metadata"]["annotations"][ID_ANNOTATION].as_str()
}
