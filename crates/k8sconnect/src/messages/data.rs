//! What is said about objects that are only read.

use k8sconnect_cluster::{Error, Location, Scope};
use k8sconnect_core::identity::{DEFAULT_NAMESPACE, Gvk, ObjectKey};
use tfplugin::{AttributePath, Diagnostic, Diagnostics};

use super::connection::{Explanation, explain};
use super::paragraphs;
use super::refusal::said;

/// What was asked for.
pub(crate) enum Asked<'a> {
    Object(&'a ObjectKey),
    List(&'a Gvk),
}

impl Asked<'_> {
    /// As a subject that takes a singular verb.
    fn named(&self) -> String {
        match self {
            Self::Object(key) => key.to_string(),
            Self::List(gvk) => format!("The list of `{}`", gvk.kind),
        }
    }
}

pub(crate) fn not_there(at: &Location) -> Diagnostic {
    let Location { kind, namespace, name } = at;
    let namespace = match kind.scope {
        Scope::Namespaced => {
            Some(namespace.clone().unwrap_or_else(|| DEFAULT_NAMESPACE.to_owned()))
        }
        Scope::Cluster => None,
    };
    let place = match &namespace {
        Some(namespace) => format!(" in the namespace `{namespace}`"),
        None => String::new(),
    };
    let kind_name = &kind.gvk.kind;
    let key = ObjectKey { gvk: kind.gvk.clone(), namespace, name: name.clone() };
    Diagnostic::error(
        format!("{key} does not exist"),
        format!(
            "The API server knows the kind `{kind_name}` and has none named `{name}`{place}.\n\n\
             Check name, namespace and cluster. If this configuration creates it, let this data \
             source `depends_on` that resource: it is then read while applying. If it may be \
             missing, use `k8sconnect_objects`, which answers with none."
        ),
    )
    .at(AttributePath::root("name"))
}

/// A text that can be the name of no object, or of no namespace.
pub(crate) fn no_name(name: &str, path: AttributePath) -> Diagnostic {
    Diagnostic::error(
        format!("No object can be meant by `{path} = {}`", quoted(name)),
        "A name is one step of an address, so that it can be neither empty nor hold `/` or `%`.\n\n\
         Write the name as `kubectl get` shows it.",
    )
    .at(path)
}

/// A text that can be the name of no namespace.
pub(crate) fn no_namespace(name: &str, path: AttributePath) -> Diagnostic {
    Diagnostic::error(
        format!("No namespace can be meant by `{path} = {}`", quoted(name)),
        "The name of a namespace is made of small letters, digits and `-`, with a letter or a digit \
         at both ends, and is at most 63 long.\n\n\
         Write the name as `kubectl get namespaces` shows it.",
    )
    .at(path)
}

/// A text that can be no group and version.
pub(crate) fn no_api_version(text: &str, path: AttributePath) -> Diagnostic {
    Diagnostic::error(
        format!("No version can be meant by `{path} = {}`", quoted(text)),
        "It is a version alone, such as `v1`, or a group and a version, such as `apps/v1`.\n\n\
         Write what stands under `apiVersion` in a manifest of the kind; `kubectl api-resources` \
         lists them.",
    )
    .at(path)
}

/// A text that can be no kind.
pub(crate) fn no_kind(text: &str, path: AttributePath) -> Diagnostic {
    Diagnostic::error(
        format!("No kind can be meant by `{path} = {}`", quoted(text)),
        "A kind is one word of letters and digits, such as `ConfigMap`.\n\n\
         Write what stands under `kind` in a manifest; `kubectl api-resources` lists them.",
    )
    .at(path)
}

/// A text in quotes, and not all of one that would fill the screen.
fn quoted(text: &str) -> String {
    const LONGEST: usize = 80;
    let mut shown: String = text.chars().take(LONGEST).collect();
    if shown.len() < text.len() {
        shown.push('…');
    }
    format!("{shown:?}")
}

pub(crate) fn no_such_kind(asked: &Asked<'_>, gvk: &Gvk, nearest: Option<&str>) -> Diagnostic {
    let advice = match nearest {
        Some(nearest) => format!("Did you mean `{nearest}`?"),
        None if gvk.may_still_appear() => {
            "Check `api_version` and `kind`. If this configuration installs the definition of the \
             kind, let this data source `depends_on` that resource."
                .to_owned()
        }
        None => "Check `api_version` and `kind`; `kubectl api-resources` lists those there are."
            .to_owned(),
    };
    Diagnostic::error(
        format!("{} cannot be read: there is no such kind", asked.named()),
        paragraphs([
            &format!("The API server does not serve `{}` of `{}`.", gvk.kind, gvk.api_version()),
            &advice,
        ]),
    )
    .at(AttributePath::root("kind"))
}

/// Objects of the kind are taken in and answered, and kept nowhere.
pub(crate) fn unreadable(asked: &Asked<'_>, gvk: &Gvk) -> Diagnostic {
    Diagnostic::error(
        format!("{} cannot be read: no object of its kind can", asked.named()),
        paragraphs([
            &format!(
                "The API server serves `{}` of `{}` without letting anybody read it: such objects \
                 are questions that are answered and not kept.",
                gvk.kind,
                gvk.api_version()
            ),
            "Check `api_version` and `kind`; `kubectl api-resources -o wide` lists what can be done \
             with each.",
        ]),
    )
    .at(AttributePath::root("kind"))
}

/// A list is asked for within a namespace where there is none.
pub(crate) fn listed_nowhere(gvk: &Gvk, namespace: &str) -> Diagnostic {
    Diagnostic::warning(
        format!("`{}` lives in no namespace", gvk.kind),
        format!(
            "Objects of this kind belong to the whole cluster, so that `namespace = \
             {namespace:?}` says nothing, and `objects` holds all of them.\n\nRemove it."
        ),
    )
    .at(AttributePath::root("namespace"))
}

/// The question was not answered.
pub(crate) fn unanswered(asked: &Asked<'_>, error: &Error) -> Diagnostic {
    match error {
        Error::Refused(status) => {
            let (what, advice) = match status.code {
                403 => ("may not be read", "Give the credentials leave to read it."),
                _ => (
                    "could not be read",
                    "The server's words tell why; if they tell of a passing trouble, run again.",
                ),
            };
            Diagnostic::error(
                format!("{} {what}", asked.named()),
                paragraphs([&said(status.code, &status.message), advice]),
            )
        }
        error => {
            let Explanation { summary, cause, advice } = explain(error);
            let summary = format!("{} cannot be read: {summary}", asked.named());
            Diagnostic::error(summary, paragraphs([&cause, &advice]))
        }
    }
}

/// A list was refused; selectors are the likeliest fault, where the server calls it a bad request.
pub(crate) fn unlisted(gvk: &Gvk, error: &Error, selectors: &[&str]) -> Diagnostic {
    let asked = Asked::List(gvk);
    let (Error::Refused(status), Some(first)) = (error, selectors.first()) else {
        return unanswered(&asked, error);
    };
    if status.code != 400 {
        return unanswered(&asked, error);
    }
    Diagnostic::error(
        format!("{} cannot be chosen like this", asked.named()),
        paragraphs([
            &said(status.code, &status.message),
            "Mend the selector. Labels: `app=web`, `tier in (a, b)`, `!legacy`. Fields: \
             `metadata.name=web`, `metadata.namespace!=kube-system`; which others can be asked for \
             differs by kind. Commas join several, and all must hold.",
        ]),
    )
    .at(AttributePath::root(*first))
}

pub(crate) fn cluster_unknown() -> Diagnostic {
    Diagnostic::error(
        "The cluster is not known yet",
        "The provider block describes it by values that are known only once something else is \
         applied, and a data source is read while planning.\n\n\
         Let this data source `depends_on` the resource that makes the cluster, or write `cluster` \
         on the data source itself: it is then read while applying.",
    )
    .at(AttributePath::root("cluster"))
}

pub(crate) fn list_warnings(gvk: &Gvk, warnings: &[String]) -> Diagnostics {
    let warning = |words: &String| {
        Diagnostic::warning(
            format!("The API server warns about the list of `{}`", gvk.kind),
            format!("It says: {words}\n\nThe list was read."),
        )
    };
    warnings.iter().map(warning).collect()
}
