//! What is said about state that cannot be used.

use k8sconnect_core::manifest::ManifestError;
use tfplugin::Diagnostic;

use super::manifest;

pub(crate) fn private_unreadable(key: &str, why: &str) -> Diagnostic {
    Diagnostic::error(
        "What k8sconnect keeps in state cannot be read",
        format!(
            "The private state under `{key}` is not what this release of the provider writes: \
             {why}.\n\n\
             A newer release may have written it: use that one. Nothing was changed."
        ),
    )
}

pub(crate) fn body_unreadable(errors: &[ManifestError]) -> Diagnostic {
    let why: Vec<_> = errors.iter().map(|error| manifest::placed(error).0).collect();
    Diagnostic::error(
        "The `yaml_body` in state is not one Kubernetes object",
        format!(
            "State should hold what was applied, but: {}.\n\n\
             Was the state edited by hand? Restore an earlier version of it. Nothing was changed.",
            why.join("; ")
        ),
    )
}

/// Nothing says which object it is.
pub(crate) fn unnamed() -> Diagnostic {
    Diagnostic::error(
        "State does not say which object it holds",
        "Its body was never stored, and `object_ref`, which names the object, is missing.\n\n\
         Was the state edited by hand? Restore an earlier version of it. Nothing was changed.",
    )
}

pub(crate) fn unknown_terms() -> Diagnostic {
    Diagnostic::error(
        "State holds arguments that are not known",
        "Everything in state was applied and should be known. Was the state edited by hand? \
         Restore an earlier version of it. Nothing was changed.",
    )
}

pub(crate) fn no_randomness(error: &getrandom::Error) -> Diagnostic {
    Diagnostic::error(
        "The operating system gives no random numbers",
        format!(
            "They are needed for the key that hides secret values in state: {error}.\n\n\
             Nothing was written. Run again once this is mended."
        ),
    )
}
