//! What is said about state that the Go provider of this name wrote.

use k8sconnect_core::identity::{ID_ANNOTATION, ObjectKey};
use tfplugin::{Diagnostic, Mismatch};

use super::paragraphs;

pub(crate) fn unknown_version(version: i64) -> Diagnostic {
    Diagnostic::error(
        "This release does not know the form of the stored state",
        format!(
            "The state of this object has schema version {version}. This release reads its own \
             and versions 0 to 2, which the Go provider of this name wrote.\n\n\
             A newer release may have written it: use that one. Nothing was changed."
        ),
    )
}

pub(crate) fn misshapen(mismatch: &Mismatch) -> Diagnostic {
    Diagnostic::error(
        "The state of the Go provider cannot be read",
        format!(
            "It is not of the form in which that provider wrote it: {mismatch}.\n\n\
             If the state was edited by hand, restore an earlier version of it; otherwise please \
             report this as a bug. Nothing was changed."
        ),
    )
}

/// State that says nothing of where the object lives.
pub(crate) fn no_way_to_the_cluster() -> Diagnostic {
    Diagnostic::error(
        "The stored state names no cluster",
        "The Go provider of this name stored neither a host nor a kubeconfig with this object, so \
         nothing tells where it lives, and nothing is guessed.\n\n\
         If the state was edited by hand, restore an earlier version of it; otherwise apply once \
         more with the Go provider, then change to this one. Nothing was changed.",
    )
}

/// Nothing tells whether the object that bears the name is the one in state.
pub(crate) fn whose_is_it(key: &ObjectKey, id: &str, found: Option<&str>) -> Diagnostic {
    let why = match found {
        Some(other) => format!(
            "The state of the Go provider knows it by the id `{id}`, but the object bears the id \
             `{other}`: another state has taken it over, or two states hold it."
        ),
        None => format!(
            "The state of the Go provider knows it by the id `{id}`. The object bears no id, and no \
             field of it was applied by k8sconnect: somebody may have made it anew."
        ),
    };
    let todo = format!(
        "If it is the object that this configuration made, give it its id back (`kubectl annotate \
         --overwrite`, with `{ID_ANNOTATION}={id}`) and run again. If it is not, take it out of \
         this state with `terraform state rm`. Nothing was changed."
    );
    Diagnostic::error(
        format!("It is not certain that {key} is the object in state"),
        paragraphs([&why, &todo]),
    )
}

pub(crate) fn refresh_first(key: &ObjectKey) -> Diagnostic {
    Diagnostic::error(
        format!("{key} must be read before it can be planned"),
        "Its state was written by the Go provider of this name, which did not keep the uid of the \
         object. Without it nothing shows that the object in the cluster is still the same.\n\n\
         Run once without `-refresh=false`, with credentials that may read the object. Nothing was \
         changed.",
    )
}
