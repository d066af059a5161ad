//! What is said about the arguments that say how an object is managed.

use k8sconnect_core::field::FieldPath;
use k8sconnect_core::field::pattern::PatternError;
use k8sconnect_core::identity::ObjectKey;
use tfplugin::{AttributePath, Diagnostic};

use super::paragraphs;

const FORMS: &str = "Fields are written as in `spec.replicas`, \
    `spec.template.spec.containers[name=app].image`, `metadata.annotations[\"example.com/x\"]` or \
    `spec.ports[*].nodePort`; `manager=NAME` stands for all that a manager holds.";

pub(crate) fn no_path(error: &PatternError) -> Diagnostic {
    Diagnostic::error("`ignore_fields` names no field", paragraphs([&format!("{error}."), FORMS]))
}

pub(crate) fn null_path() -> Diagnostic {
    Diagnostic::error("`ignore_fields` holds a null", paragraphs(["Every entry is a text.", FORMS]))
}

pub(crate) fn no_duration(text: &str, problem: &str) -> Diagnostic {
    Diagnostic::error("This is no length of time", format!("`{text}`: {problem}."))
}

pub(crate) fn no_propagation(text: &str) -> Diagnostic {
    Diagnostic::error(
        "There is no such way to delete",
        format!("`{text}` is not one of `background`, `foreground` and `orphan`."),
    )
}

pub(crate) fn protected_and_forced() -> Diagnostic {
    Diagnostic::error(
        "`delete_protection` and `force_destroy` contradict each other",
        "The one says that the object must not go, the other that it must at any price. Keep one \
         of them.",
    )
}

/// Ignored paths that reach into something that is owned whole or not at all.
pub(crate) fn ignored_in_vain(key: &ObjectKey, reaching: &[(String, FieldPath)]) -> Diagnostic {
    let lines: Vec<_> =
        reaching.iter().map(|(path, leaf)| format!("  `{path}` is inside of `{leaf}`")).collect();
    Diagnostic::error(
        format!("{key}: a part of an atomic field cannot be ignored"),
        format!(
            "The API server gives these fields to one manager as a whole:\n\n{}\n\n\
             Whoever sends a part of it takes all of it. Ignore the whole field, or none of it.",
            lines.join("\n")
        ),
    )
    .at(AttributePath::root("ignore_fields"))
}
