//! What is said about imports, and about the first plan after one.

use k8sconnect_cluster::ConnectionError;
use k8sconnect_core::identity::{IdentityChange, ObjectKey};
use k8sconnect_core::import_body::NoSuchManager;
use k8sconnect_core::import_id::{Chosen, ImportIdError};
use k8sconnect_core::manifest::Manifest;
use k8sconnect_core::plan::Takeover;
use k8sconnect_core::rejection::Status;
use tfplugin::Diagnostic;

use super::{ABSENT, count, one_line, paragraphs, refusal};

/// More fields than this are counted, not listed.
const LISTED: usize = 20;

pub(crate) fn unreadable(id: &str, error: &ImportIdError) -> Diagnostic {
    Diagnostic::error(
        format!("`{id}` names no object to import"),
        format!(
            "As an import id, {error}.\n\n\
             Write it as one of these, the kind as kubectl takes it:\n\n  \
             shop/deployment/web\n  \
             shop/deployment.v1.apps/web\n  \
             clusterrole/reader\n\n\
             and add what you need of `?context=NAME`, `?manager=NAME` or `?unowned`, and \
             `?values`, more than one joined by `&`."
        ),
    )
}

pub(crate) fn no_identity() -> Diagnostic {
    Diagnostic::error(
        "The identity names no object to import",
        "An object is named by `api_version`, `kind` and `name`, and by `namespace` where it lives \
         in one. Some of that is missing.\n\n\
         Write, for example, `identity = { api_version = \"v1\", kind = \"ConfigMap\", namespace = \
         \"shop\", name = \"settings\" }`.",
    )
}

pub(crate) fn no_named_cluster(name: &str) -> Diagnostic {
    Diagnostic::error(
        format!("There is no cluster named `{name}`"),
        "`cluster_name` in an identity means a cluster that the provider block names, and this \
         release of the provider knows no such names.\n\n\
         Leave it out: the connection comes from the environment variable `KUBECONFIG`. Name the \
         context in `context`.",
    )
}

pub(crate) fn no_kubeconfig() -> Diagnostic {
    Diagnostic::error(
        "No kubeconfig is given to import from",
        "An import has no configuration yet that says where the object lives, and nothing is \
         assumed: neither `~/.kube/config` nor the cluster that Terraform may run in.\n\n\
         Set the environment variable `KUBECONFIG` to the path of a kubeconfig. Path and context, \
         and no credential, are kept in state.",
    )
}

pub(crate) fn kubeconfig_unusable(error: &ConnectionError) -> Diagnostic {
    Diagnostic::error(
        error.what(),
        paragraphs([
            &error.why(),
            "An import takes its connection from the environment variable `KUBECONFIG`, and its \
             context from `?context=NAME` behind the id. Set them right and run again.",
        ]),
    )
}

pub(crate) fn no_context(id: &str, contexts: &[String]) -> Diagnostic {
    let lines: Vec<_> = contexts.iter().map(|name| format!("  {name}")).collect();
    let why = match contexts {
        [] => "What `KUBECONFIG` names has no context at all.".to_owned(),
        _ => format!(
            "What `KUBECONFIG` names has several contexts, and which of them is current today \
             says nothing about where this object lives:\n\n{}",
            lines.join("\n")
        ),
    };
    let example = contexts.first().map_or("NAME", String::as_str);
    let joint = if id.contains('?') { '&' } else { '?' };
    Diagnostic::error(
        format!("`{id}` does not say which cluster is meant"),
        paragraphs([&why, &format!("Name the context: `{id}{joint}context={example}`.")]),
    )
}

pub(crate) fn no_such_kind(id: &str, word: &str) -> Diagnostic {
    Diagnostic::error(
        format!("The cluster has no kind `{word}`"),
        format!(
            "`{id}` was to be imported, and no API group serves a kind that goes by this name \
             and can be read.\n\n\
             `kubectl api-resources` lists the names. Write the group too where two have the \
             same: `deployment.apps`."
        ),
    )
}

pub(crate) fn not_there(key: &ObjectKey, context: &str) -> Diagnostic {
    Diagnostic::error(
        format!("{key} does not exist"),
        format!(
            "The cluster of the context `{context}` has no such object, so there is nothing to \
             import.\n\n\
             Check name and namespace (`default` where none is written) and the context \
             (`?context=NAME`). To have it created, remove the import."
        ),
    )
}

pub(crate) fn is_going(key: &ObjectKey) -> Diagnostic {
    Diagnostic::error(
        format!("{key} is being deleted and cannot be imported"),
        "It will be gone soon, and then state would hold nothing.\n\n\
         Remove the import: Terraform then waits until the object is gone, and creates yours.",
    )
}

pub(crate) fn no_such_manager(
    key: &ObjectKey,
    chosen: &Chosen,
    none: &NoSuchManager,
) -> Diagnostic {
    let name = match chosen {
        Chosen::HeldBy(name) => name.as_str(),
        Chosen::All | Chosen::Unowned => "",
    };
    let managers: Vec<_> = none.managers.iter().map(|name| format!("`{name}`")).collect();
    let who = match managers.as_slice() {
        [] => "No manager is recorded on it.".to_owned(),
        managers => format!("Its fields are held by {}.", managers.join(", ")),
    };
    Diagnostic::error(
        format!("{key} has no field of the manager `{name}`"),
        paragraphs([
            &who,
            "Name one of those in `?manager=NAME`, or leave the option out to import all fields.",
        ]),
    )
}

/// The first plan after an import.
pub(crate) fn takes_over(key: &ObjectKey, takeover: &Takeover) -> Diagnostic {
    let mut names: Vec<_> =
        takeover.holders.iter().map(|manager| format!("`{}`", manager.name)).collect();
    names.sort();
    names.dedup();
    let fields = count(takeover.fields, "field");
    let whose = match names.as_slice() {
        [] => format!("You become the manager of {fields}, which nobody holds now."),
        names => format!(
            "You become a manager of {fields}. Managers of some or all of them now: {}.",
            names.join(", ")
        ),
    };
    let other = match &takeover.other_id {
        Some(id) => format!(
            "It bears the k8sconnect id `{id}`. A state that still holds it loses it with the \
             apply, and leaves it alone from then on."
        ),
        None => String::new(),
    };
    let mut lines: Vec<_> = takeover
        .changes
        .iter()
        .take(LISTED)
        .map(|change| {
            let shown = |text: &Option<String>| text.as_deref().map_or(ABSENT.to_owned(), one_line);
            let (now, next) = (shown(&change.now), shown(&change.next));
            format!("  {}\n    is now   {now}\n    will be  {next}", change.path)
        })
        .collect();
    if takeover.changes.len() > LISTED {
        let rest = count(takeover.changes.len() - LISTED, "field");
        lines.push(format!("  … and {rest} more"));
    }
    let changes = match lines.as_slice() {
        [] => "No value changes; an annotation with the k8sconnect id is added.".to_owned(),
        lines => format!(
            "Your `yaml_body` is not what was imported, and changes values:\n\n{}",
            lines.join("\n")
        ),
    };
    let summary = match takeover.changes.len() {
        0 => format!("{key} was imported and will be taken over as it is"),
        n => format!("{key} was imported and {} will change", count(n, "field")),
    };
    Diagnostic::warning(
        summary,
        paragraphs([
            &whose,
            &other,
            &changes,
            "To leave a field to others, remove it from `yaml_body` before you apply.",
        ]),
    )
}

/// The body is of another object than the one that was imported.
pub(crate) fn another_object(key: &ObjectKey, changes: &[IdentityChange]) -> Diagnostic {
    let lines: Vec<_> =
        changes.iter().map(|(field, old, new)| format!("  {field}: {old} -> {new}")).collect();
    Diagnostic::error(
        format!("{key} was imported, and `yaml_body` describes another object"),
        format!(
            "These fields say which object is meant:\n\n{}\n\n\
             An object that was only just imported is never replaced. Write in `yaml_body` what \
             was imported, or remove the object from state (`terraform state rm ADDRESS`) and \
             import the other one. A kind is imported in another version by its full name, as in \
             `deployment.v1.apps`.",
            lines.join("\n")
        ),
    )
}

/// The server refuses the first write.
pub(crate) fn not_as_it_is(manifest: &Manifest, status: &Status) -> Diagnostic {
    let mut refused = refusal::refused(manifest, status);
    refused.detail = paragraphs([
        &refused.detail,
        "The object was imported and has not been written since, so it is never replaced for \
         this. Write the fields in `yaml_body` as the object has them.",
    ]);
    refused
}
