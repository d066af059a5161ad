//! What is said about imports, and about the first plan after one.

use k8sconnect_cluster::{ConnectionError, Error};
use k8sconnect_core::identity::{Gvk, IdentityChange, ObjectKey};
use k8sconnect_core::import_body::NoSuchManager;
use k8sconnect_core::import_id::{Chosen, ImportIdError};
use k8sconnect_core::plan::Takeover;
use k8sconnect_core::rejection::Status;
use tfplugin::Diagnostic;

use super::connection::{explain, explain_connection};
use super::ownership::values;
use super::refusal::Subject;
use super::{count, paragraphs, refusal};

pub(crate) fn unreadable(id: &str, error: &ImportIdError) -> Diagnostic {
    Diagnostic::error(
        format!("`{id}` names no object to import"),
        format!(
            "{}.\n\n\
             Write it as one of these, the kind as kubectl takes it:\n\n  \
             shop/deployment/web\n  \
             shop/deployment.v1.apps/web\n  \
             clusterrole/reader\n\n\
             and add what you need of `?cluster_name=NAME` or `?context=NAME`, `?manager=NAME` or \
             `?unowned`, and `?values`, more than one joined by `&`.",
            id_problem(error)
        ),
    )
}

fn id_problem(error: &ImportIdError) -> String {
    match error {
        ImportIdError::Form => {
            "The import id has neither the form `namespace/kind/name` nor `kind/name`".into()
        }
        ImportIdError::UnknownOption(name) => format!("The option `?{name}` does not exist"),
        ImportIdError::NoValue(name) => {
            format!("The option `?{name}` needs a value, as in `?{name}=NAME`")
        }
        ImportIdError::NeedlessValue(name) => format!("The option `?{name}` takes no value"),
        ImportIdError::Twice(name) => format!("The option `?{name}` is given twice"),
        ImportIdError::Contradiction => "`?unowned` and `?manager` exclude each other".into(),
        ImportIdError::TwoContexts => {
            "The import id names a context twice, in front and in `?context`".into()
        }
        ImportIdError::TwoClusters => {
            "The import id names a cluster twice, by a context and by `?cluster_name`".into()
        }
    }
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

pub(crate) fn identity_of_two_clusters() -> Diagnostic {
    Diagnostic::error(
        "The identity names a cluster twice",
        "`cluster_name` means one of the provider block's clusters, `context` one of a \
         kubeconfig's.\n\n\
         Remove one of the two.",
    )
}

pub(crate) fn no_cluster(names: &[String]) -> Diagnostic {
    let named = match names {
        [] => String::new(),
        [first, ..] => {
            let listed: Vec<_> = names.iter().map(|name| format!("`{name}`")).collect();
            format!(
                "The provider block names {}. Add `?cluster_name={first}` to the id for one of \
                 those.",
                listed.join(", ")
            )
        }
    };
    Diagnostic::error(
        "No cluster is given to import from",
        paragraphs([
            "An import does not look at the resource's own `cluster`, and nothing is assumed: \
             neither `~/.kube/config` nor the cluster that Terraform may run in.",
            &named,
            "Set `cluster` in the provider block, or the environment variable `KUBECONFIG` to the \
             path of a kubeconfig: then path and context, and no credential, are kept in state.",
        ]),
    )
}

pub(crate) fn context_of_nothing() -> Diagnostic {
    Diagnostic::error(
        "A context is named, and no kubeconfig to find it in",
        "A context in an import id is one of what the environment variable `KUBECONFIG` names, and \
         that is not set.\n\n\
         Set it to the path of a kubeconfig; or leave the context out to import from the provider \
         block's `cluster`, or name one of its `clusters` with `?cluster_name=NAME`.",
    )
}

pub(crate) fn cluster_unknown() -> Diagnostic {
    Diagnostic::error(
        "The cluster to import from is not known yet",
        "The provider block's cluster depends on something that is made in the same run, so \
         nothing can be looked up in it.\n\n\
         Apply that first (`-target`), then import; or set the environment variable `KUBECONFIG` \
         and name a context behind the id with `?context=NAME`.",
    )
}

pub(crate) fn kubeconfig_unusable(error: &ConnectionError) -> Diagnostic {
    let explained = explain_connection(error);
    Diagnostic::error(
        explained.summary,
        paragraphs([
            &explained.cause,
            "Where the provider block has no `cluster`, or a context is named, an import takes its \
             connection from the environment variable `KUBECONFIG`, and its context from \
             `?context=NAME` behind the id. Set them right and run again.",
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

/// Group, version and kind are named as a manifest does, and there is no such kind.
pub(crate) fn no_such_gvk(gvk: &Gvk, nearest: Option<&str>) -> Diagnostic {
    let (kind, version) = (&gvk.kind, gvk.api_version());
    let advice = match nearest {
        Some(nearest) => format!("Did you mean `{nearest}`?"),
        None => "`kubectl api-resources` lists the kinds and versions there are.".to_owned(),
    };
    Diagnostic::error(
        format!("The cluster has no kind `{kind}` of `{version}`"),
        paragraphs([
            "Beside its version, a kind is named as in a manifest: in the singular, and with its \
             capitals.",
            &advice,
        ]),
    )
}

/// A kind that is nowhere to be found, where some group versions did not answer.
pub(crate) fn perhaps_in(word: &str, silent: &[String], error: &Error) -> Diagnostic {
    let silent: Vec<_> = silent.iter().map(|api_version| format!("`{api_version}`")).collect();
    let silent = silent.join(", ");
    Diagnostic::error(
        format!("The kind `{word}` cannot be found"),
        paragraphs([
            &format!(
                "No API that answers has it, and {silent} did not answer. {}",
                explain(error).cause
            ),
            &format!(
                "If you mean another kind, check the spelling: `kubectl api-resources` lists all. \
                 If it is one of {silent}, see to the server behind that API: `kubectl get \
                 apiservices` tells what is wrong with it."
            ),
        ]),
    )
}

pub(crate) fn not_there(key: &ObjectKey, source: &Source) -> Diagnostic {
    let (which, choice) = match source {
        Source::Context(name) => {
            (format!("The cluster of the context `{name}`"), "the context (`?context=NAME`)")
        }
        Source::Named(name) => {
            (format!("The provider block's cluster `{name}`"), "the cluster (`?cluster_name=NAME`)")
        }
        Source::Default => (
            "The provider block's cluster".to_owned(),
            "the cluster (`?cluster_name=NAME` for another of the provider block's)",
        ),
    };
    Diagnostic::error(
        format!("{key} does not exist"),
        format!(
            "{which} has no such object in `{}`, so there is nothing to import.\n\n\
             Check name, namespace (`default` where none is written), group (`KIND.GROUP` names \
             one) and {choice}. To have it created, remove the import.",
            key.gvk.api_version()
        ),
    )
}

/// Which cluster an import looks in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Source {
    /// The provider block's own.
    Default,
    /// One of the provider block's, by name.
    Named(String),
    /// One of a kubeconfig's, by context.
    Context(String),
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

/// What is to be applied of what was imported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Body {
    AsImported,
    Another,
}

/// The first plan after an import.
pub(crate) fn takes_over(key: &ObjectKey, takeover: &Takeover, body: Body) -> Diagnostic {
    let mut names: Vec<_> =
        takeover.owners.iter().map(|manager| format!("`{}`", manager.name)).collect();
    names.sort();
    names.dedup();
    let fields = count(takeover.fields, "field");
    let whose = match names.as_slice() {
        _ if takeover.fields == 0 => {
            "`yaml_body` names the object and none of its fields, so you become the manager of none."
                .to_owned()
        }
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
    let changes = match (takeover.changes.as_slice(), takeover.taken) {
        ([], 0) => "No value changes; an annotation with the k8sconnect id is added.".to_owned(),
        ([], _) => {
            "Your `yaml_body` is not what was imported, and changes values. They are listed in \
                    a warning of their own, with those who hold them."
                .to_owned()
        }
        (changes, taken) => {
            let besides = match taken {
                0 => "",
                _ => ", besides those that are listed with their holders",
            };
            format!(
                "Your `yaml_body` is not what was imported, and changes values{besides}:\n\n{}",
                values(changes)
            )
        }
    };
    let summary = match takeover.changes.len() + takeover.taken {
        0 => format!("{key} was imported and will be taken over as it is"),
        n => format!("{key} was imported and {} will change", count(n, "field")),
    };
    Diagnostic::warning(
        summary,
        paragraphs([
            &whose,
            &other,
            &changes,
            match body {
                Body::AsImported => "",
                Body::Another => {
                    "What was imported and your `yaml_body` leaves out stays on the object as long as \
                     another manager holds it."
                }
            },
            match takeover.fields {
                0 => "",
                _ => "To leave a field to others, remove it from `yaml_body` before you apply.",
            },
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
pub(crate) fn not_as_it_is(subject: Subject<'_>, status: &Status) -> Diagnostic {
    let mut refused = refusal::refused(subject, status);
    if status.leaves_open() {
        return refused;
    }
    refused.detail = paragraphs([
        &refused.detail,
        "The object was imported and has not been written since, so it is never replaced for \
         this. Write the fields in `yaml_body` as the object has them.",
    ]);
    refused
}
