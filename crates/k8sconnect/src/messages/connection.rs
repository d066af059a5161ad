//! What is said about the way to a cluster.

use k8sconnect_cluster::{ConnectionError, Error};
use tfplugin::{AttributePath, Diagnostic};

use super::paragraphs;

pub(crate) fn missing() -> Diagnostic {
    Diagnostic::error(
        "No cluster is given",
        "The object must be looked for somewhere, and nothing is assumed: neither your current \
         kubeconfig context nor the cluster that Terraform may run in.\n\n\
         Set `cluster = { kubeconfig = file(\"…\") }` or `cluster = { config_path = \"…\" }`, here \
         or in the provider block.",
    )
    .at(AttributePath::root("cluster"))
}

pub(crate) fn empty(at: AttributePath) -> Diagnostic {
    Diagnostic::error(
        "The cluster is not described",
        "`cluster` says nothing of how to get there.\n\n\
         Set `kubeconfig = file(\"…\")` or `config_path = \"…\"` in it.",
    )
    .at(at)
}

pub(crate) fn also_named() -> Diagnostic {
    Diagnostic::error(
        "The cluster is given twice",
        "`cluster` describes a cluster and `cluster_name` names one of the provider block's; \
         which of them is meant cannot be told.\n\n\
         Remove one of the two.",
    )
    .at(AttributePath::root("cluster_name"))
}

pub(crate) fn unheard_of<'a>(name: &str, known: impl Iterator<Item = &'a String>) -> Diagnostic {
    let known: Vec<_> = known.map(|name| format!("`{name}`")).collect();
    let known = match known.as_slice() {
        [] => "The provider block names no clusters.".to_owned(),
        names => format!("The provider block names {}.", names.join(", ")),
    };
    let advice =
        format!("Add `{name}` to `clusters` in the provider block, or correct `cluster_name`.");
    let summary = format!("There is no cluster named `{name}`");
    Diagnostic::error(summary, paragraphs([&known, &advice]))
        .at(AttributePath::root("cluster_name"))
}

pub(crate) fn two_ways(path: AttributePath) -> Diagnostic {
    Diagnostic::error(
        "The cluster is given twice",
        "`kubeconfig` holds the text of a kubeconfig and `config_path` the path of one; which of \
         them is meant cannot be told.\n\n\
         Remove one of the two.",
    )
    .at(path)
}

pub(crate) fn unusable(error: &ConnectionError, path: AttributePath) -> Diagnostic {
    Diagnostic::error(error.what(), paragraphs([&error.why(), &error.advice()])).at(path)
}

pub(crate) fn failed(error: &Error) -> Diagnostic {
    Diagnostic::error(error.what(), paragraphs([&error.why(), &error.advice()]))
        .at(AttributePath::root("cluster"))
}
