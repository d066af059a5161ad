//! What is said about the way to a cluster.

use k8sconnect_cluster::{ConnectionError, Error};
use tfplugin::{AttributePath, Diagnostic};

use super::paragraphs;

pub(crate) fn missing() -> Diagnostic {
    Diagnostic::error(
        "No cluster is given",
        "The object must be looked for somewhere, and nothing is assumed: neither your current \
         kubeconfig context nor the cluster that Terraform may run in.\n\n\
         Set `cluster = { kubeconfig = file(\"…\") }`.",
    )
    .at(AttributePath::root("cluster"))
}

pub(crate) fn unusable(error: &ConnectionError, path: AttributePath) -> Diagnostic {
    Diagnostic::error(error.what(), paragraphs([&error.why(), &error.advice()])).at(path)
}

pub(crate) fn failed(error: &Error) -> Diagnostic {
    Diagnostic::error(error.what(), paragraphs([&error.why(), &error.advice()]))
        .at(AttributePath::root("cluster"))
}
