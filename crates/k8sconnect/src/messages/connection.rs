//! What is said about the way to a cluster.

use k8sconnect_cluster::{ConnectionError, Error};
use tfplugin::{AttributePath, Diagnostic};

use super::paragraphs;

pub(crate) fn missing() -> Diagnostic {
    Diagnostic::error(
        "No cluster is given",
        "The object must be looked for somewhere, and nothing is assumed: neither your current \
         kubeconfig context nor the cluster that Terraform may run in.\n\n\
         Set `cluster = { kubeconfig = file(\"…\") }` or `cluster = { config_path = \"…\" }`.",
    )
    .at(AttributePath::root("cluster"))
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
