//! What is said about the deletion of an object: refused, stuck, forced, not waited for, forbidden.

use std::time::Duration;

use k8sconnect_cluster::Error;
use k8sconnect_core::identity::ObjectKey;
use serde_json::Value;
use tfplugin::{AttributePath, Diagnostic};

use super::refusal::Subject;
use super::stuck::{commands, what_holds};
use super::unread::not_ended;
use super::{paragraphs, span};

pub(crate) fn not_deleted(subject: Subject<'_>, error: &Error) -> Diagnostic {
    let key = subject.manifest.key();
    let words = |words: &str| subject.quoted(words);
    let on_refusal = "Remove what forbids the deletion and run again.";
    let (why, advice) = not_ended(error, words, on_refusal, "A deletion");
    let advice = format!("State keeps the object. {advice}");
    Diagnostic::error(format!("{key} was not deleted"), paragraphs([&why, &advice]))
}

pub(crate) fn still_there(
    key: &ObjectKey,
    live: &Value,
    inside: &str,
    waited: Duration,
) -> Diagnostic {
    Diagnostic::error(
        format!("{key} is still there after {}", span(waited)),
        paragraphs([
            &what_holds(live),
            inside,
            &commands(key),
            "State keeps the object. See that whoever should let it go is running, then run again.",
            // What is inside a namespace is no finalizer of the object's own.
            match live["metadata"]["finalizers"].as_array().is_none_or(Vec::is_empty) {
                true => "",
                false => {
                    "`force_destroy = true` removes finalizers that nobody serves any more. It \
                     counts only once it is applied: set it, apply that alone, with the old \
                     values, and then delete or replace the object."
                }
            },
        ]),
    )
}

/// Finalizers were removed, and the object does not go.
pub(crate) fn still_there_by_force(key: &ObjectKey, live: &Value) -> Diagnostic {
    Diagnostic::error(
        format!("{key} is still there, though its finalizers were removed"),
        paragraphs([
            &what_holds(live),
            "State keeps the object. Somebody may put the finalizers back: stop the controller \
             that does, then run again.",
        ]),
    )
}

pub(crate) fn finalizers_removed(key: &ObjectKey, live: &Value, waited: Duration) -> Diagnostic {
    Diagnostic::warning(
        format!("{key}: its finalizers were removed by force"),
        paragraphs([
            &what_holds(live),
            &format!(
                "It was still there after {}, and `force_destroy` is set, so they were \
                 removed. What they were to clean up is left behind; look after it.",
                span(waited)
            ),
        ]),
    )
}

pub(crate) fn not_waited_for(key: &ObjectKey) -> Diagnostic {
    Diagnostic::warning(
        format!("{key} is being deleted and may still be there"),
        "`delete_timeout = \"0s\"` says not to wait. State forgets the object; whether it goes, \
         `kubectl get` tells.",
    )
}

pub(crate) fn protected(key: &ObjectKey) -> Diagnostic {
    Diagnostic::error(
        format!("{key} is protected from deletion"),
        "`delete_protection = true` stands in state.\n\n\
         To delete the object, set `delete_protection = false`, apply that, and then destroy. A \
         resource that is tainted has to be untainted before that, with `terraform untaint \
         ADDRESS` (or `tofu untaint ADDRESS`).",
    )
}

pub(crate) fn protected_from_replacement(key: &ObjectKey) -> Diagnostic {
    Diagnostic::error(
        format!("{key} would have to be replaced, but is protected from deletion"),
        "The change cannot be made in place, and `delete_protection = true` forbids to delete the \
         object.\n\n\
         Restore the old values in `yaml_body`; or set `delete_protection = false`, apply that \
         alone, and then make the change.",
    )
}

/// An object is to be replaced, and whether it may be deleted is not known.
pub(crate) fn protection_untold(key: &ObjectKey) -> Diagnostic {
    Diagnostic::error(
        format!("{key} would be deleted and made anew, and may be protected from that"),
        "`delete_protection` becomes known only while applying, when the object may be gone \
         already.\n\n\
         Write `true` or `false`, or apply first what it is computed from, with `-target`. Then plan \
         again.",
    )
    .at(AttributePath::root("delete_protection"))
}

/// Terms of a deletion were set together with the change that replaces the object.
pub(crate) fn terms_count_later(key: &ObjectKey, names: &[&str]) -> Diagnostic {
    let names: Vec<_> = names.iter().map(|name| format!("`{name}`")).collect();
    let names = names.join(", ");
    Diagnostic::warning(
        format!("{key} is replaced on its former terms, without {names}"),
        "An object is deleted on the terms that stand in state, those of the last apply. What you \
         set now counts for the object that follows.\n\n\
         To delete this one on the new terms, apply them alone first, with the old values in \
         `yaml_body`, and then make the change.",
    )
}

/// A replacement that no change of the body asks for.
pub(crate) fn protected_from_remaking(key: &ObjectKey) -> Diagnostic {
    Diagnostic::error(
        format!("{key} would be deleted and made anew, but is protected from deletion"),
        "The resource is tainted, or `-replace` names it, and `delete_protection = true` forbids to \
         delete the object.\n\n\
         To keep it, run `terraform untaint ADDRESS` (or `tofu untaint ADDRESS`), or leave \
         `-replace` out. To have it made anew, set `delete_protection = false` after that, apply \
         it alone, and then run with `-replace=ADDRESS`.",
    )
}
