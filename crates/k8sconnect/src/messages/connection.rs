//! What is said about the way to a cluster.

mod failed;
mod unusable;

use k8sconnect_cluster::{ConnectionError, Error, InvalidValue};
use tfplugin::{AttributePath, Diagnostic};

use super::{named, paragraphs};

pub(crate) use failed::explain;

/// An error in words.
pub(crate) struct Explanation {
    /// What happened.
    pub(crate) summary: String,
    pub(crate) cause: String,
    /// What to do.
    pub(crate) advice: String,
}

impl Explanation {
    fn new(
        summary: impl Into<String>,
        cause: impl Into<String>,
        advice: impl Into<String>,
    ) -> Self {
        Self { summary: summary.into(), cause: cause.into(), advice: advice.into() }
    }

    fn diagnostic(self) -> Diagnostic {
        Diagnostic::error(self.summary, paragraphs([&self.cause, &self.advice]))
    }
}

pub(crate) fn missing() -> Diagnostic {
    Diagnostic::error(
        "No cluster is given",
        "The object must be looked for somewhere, and nothing is assumed: neither your current \
         kubeconfig context nor the cluster that Terraform may run in.\n\n\
         Set `cluster`, for example `cluster = { config_path = \"…\", context = \"…\" }`, here or in \
         the provider block; or name one of the provider block's `clusters` in `cluster_name`.",
    )
    .at(AttributePath::root("cluster"))
}

pub(crate) fn stored_credential() -> Diagnostic {
    Diagnostic::warning(
        "A `cluster` outside of the provider block puts a credential into state",
        "Terraform stores this `cluster` in state, as it does with every argument of a resource. \
         Everybody who can read the state can use the credential. Everybody who can write the state \
         can choose the command (`exec`) that the next refresh or destroy runs on this machine.\n\n\
         Describe the cluster in the provider block, in `cluster` or `clusters`, of which nothing is \
         stored. This warning is shown once, however many resources it is about.",
    )
}

/// What is said of a cluster in the provider block, to somebody who looks at a resource.
pub(crate) fn in_provider_block(mut diagnostic: Diagnostic, at: &AttributePath) -> Diagnostic {
    let where_it_stands = format!("It stands in the provider block, at `{at}`.");
    diagnostic.detail = paragraphs([&diagnostic.detail, &where_it_stands]);
    diagnostic
}

/// What is said of one of several clusters, or of a part of a part.
pub(crate) fn deep_inside(mut diagnostic: Diagnostic, at: &AttributePath) -> Diagnostic {
    let where_it_stands = format!("It stands at `{at}`.");
    diagnostic.detail = paragraphs([&diagnostic.detail, &where_it_stands]);
    diagnostic
}

pub(crate) fn empty() -> Diagnostic {
    Diagnostic::error(
        "The cluster is not described",
        "It says nothing of how to get there.\n\n\
         Set `host` with `token`, `client_certificate` and `client_key`, or `exec`; or set \
         `kubeconfig = file(\"…\")` or `config_path = \"…\"`.",
    )
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

pub(crate) fn empty_name() -> Diagnostic {
    Diagnostic::error(
        "`cluster_name` is empty",
        "It names one of the provider block's `clusters`.\n\n\
         Name one; or leave it out, or set it to `null`, for the provider block's own `cluster`.",
    )
    .at(AttributePath::root("cluster_name"))
}

pub(crate) fn unheard_of(name: &str, entry: Entry, known: &[String]) -> Diagnostic {
    let known: Vec<_> = known.iter().map(|name| named(name)).collect();
    let known = match (entry, known.as_slice()) {
        (Entry::Missing, []) => "The provider block names no clusters.".to_owned(),
        (Entry::Missing, names) => format!("The provider block names {}.", names.join(", ")),
        (Entry::Null, []) => {
            format!("`clusters[\"{name}\"]` in the provider block is null, and it names no others.")
        }
        (Entry::Null, names) => format!(
            "`clusters[\"{name}\"]` in the provider block is null. Besides, it names {}.",
            names.join(", ")
        ),
    };
    let advice = format!(
        "Add {} to `clusters` in the provider block, or correct `cluster_name`.",
        named(name)
    );
    let summary = format!("There is no cluster named {}", named(name));
    Diagnostic::error(summary, paragraphs([&known, &advice]))
        .at(AttributePath::root("cluster_name"))
}

/// What the provider block has under a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Entry {
    Missing,
    Null,
}

pub(crate) fn two_kubeconfigs() -> Diagnostic {
    Diagnostic::error(
        "The cluster is given twice",
        "`kubeconfig` holds the text of a kubeconfig and `config_path` the path of one; which of \
         them is meant cannot be told.\n\n\
         Remove one of the two.",
    )
}

/// A kubeconfig, and parts beside it.
pub(crate) fn two_ways(kubeconfig: &str, beside: &[&str]) -> Diagnostic {
    let beside: Vec<_> = beside.iter().map(|name| format!("`{name}`")).collect();
    let beside = beside.join(", ");
    Diagnostic::error(
        "The cluster is given twice",
        format!(
            "`{kubeconfig}` says all of how to get there, and beside it stand parts of another \
             way: {beside}. Nothing is mixed.\n\n\
             Remove `{kubeconfig}`, or put what is missing into the kubeconfig and remove the rest."
        ),
    )
}

pub(crate) fn context_alone() -> Diagnostic {
    Diagnostic::error(
        "`context` is given without a kubeconfig",
        "It chooses one of a kubeconfig's contexts, and there is no kubeconfig: your current one \
         is never taken unasked.\n\n\
         Add `config_path = \"~/.kube/config\"` or `kubeconfig = file(\"…\")`, or remove `context`.",
    )
}

pub(crate) fn empty_context() -> Diagnostic {
    Diagnostic::error(
        "`context` is empty",
        "It names one of the kubeconfig's contexts.\n\n\
         Name one; or leave it out, or set it to `null`, for the kubeconfig's own `current-context`.",
    )
}

/// One of the provider block's `clusters`, under a name that nobody can ask for.
pub(crate) fn nameless() -> Diagnostic {
    Diagnostic::error(
        "A cluster in `clusters` has an empty name",
        "Resources ask for it by `cluster_name`, which cannot be empty.\n\n\
         Give it a name; or describe it in `cluster`, for resources that name none.",
    )
    .at(AttributePath::root("clusters"))
}

pub(crate) fn no_host(part: &str) -> Diagnostic {
    Diagnostic::error(
        format!("`{part}` is given without `host`"),
        "It says something of how to talk to a server, and not which server.\n\n\
         Add `host = \"https://…\"`.",
    )
}

pub(crate) fn insecure_with_authority() -> Diagnostic {
    Diagnostic::error(
        "`insecure` contradicts `cluster_ca_certificate`",
        "The one takes any certificate, the other just those of an authority.\n\n\
         Remove `insecure`. If the server's certificate is for another name than the host's, name \
         that one in `tls_server_name`.",
    )
}

pub(crate) fn insecure() -> Diagnostic {
    Diagnostic::warning(
        "The server's certificate is not checked",
        "With `insecure = true` whoever stands between here and the cluster can pose as its API \
         server, and is shown your credentials.\n\n\
         Set `cluster_ca_certificate` instead; a kubeconfig has it as \
         `certificate-authority-data`.",
    )
}

/// The same, said by a kubeconfig.
pub(crate) fn insecure_kubeconfig() -> Diagnostic {
    Diagnostic::warning(
        "The server's certificate is not checked",
        "With `insecure-skip-tls-verify` in the kubeconfig whoever stands between here and the \
         cluster can pose as its API server, and is shown your credentials.\n\n\
         Put `certificate-authority-data` into the kubeconfig instead.",
    )
}

/// Credentials for a server that is spoken to without TLS, by this attribute.
pub(crate) fn in_clear(attribute: &str) -> Diagnostic {
    Diagnostic::warning(
        "The credentials are sent without encryption",
        format!(
            "The server in `{attribute}` begins with `http://`: whoever listens between here and \
             there reads your credentials, and all that is asked and answered.\n\n\
             Write it with `https://`. A proxy that logs in itself, as `kubectl proxy` does, needs \
             no credentials."
        ),
    )
}

pub(crate) fn empty_path() -> Diagnostic {
    Diagnostic::error(
        "`config_path` is empty",
        "It is the path of a kubeconfig, or of several, and names none; your current kubeconfig is \
         never taken unasked.\n\n\
         Write the path, for example `~/.kube/config`; or leave it out, or set it to `null`, for \
         another way to the cluster.",
    )
}

pub(crate) fn two_logins() -> Diagnostic {
    Diagnostic::error(
        "Two logins are given",
        "`token` is a credential, and `exec` fetches one; a request can carry only one of them.\n\n\
         Remove one of the two.",
    )
}

pub(crate) fn half_a_pair(half: &str, other: &str) -> Diagnostic {
    Diagnostic::error(
        format!("`{half}` is given without `{other}`"),
        format!("A certificate and its key prove who you are only together.\n\nAdd `{other}`."),
    )
}

pub(crate) fn nobody() -> Diagnostic {
    Diagnostic::error(
        "The cluster is described without a login",
        "`host` says where the server is, and nothing says who you are: the server would take you \
         for anybody.\n\n\
         Set `token`, `client_certificate` with `client_key`, or `exec`.",
    )
}

pub(crate) fn no_tls(part: &str) -> Diagnostic {
    Diagnostic::error(
        format!("`{part}` has no use with an `http://` host"),
        "Over plain HTTP nobody shows a certificate, and nothing is encrypted.\n\n\
         Write the host with `https://`, or remove what concerns certificates.",
    )
}

pub(crate) fn unusable(error: &ConnectionError) -> Diagnostic {
    explain_connection(error).diagnostic()
}

pub(crate) fn explain_connection(error: &ConnectionError) -> Explanation {
    unusable::explain(error)
}

/// A part of a connection that is written out, by the name of its attribute.
pub(crate) fn unusable_part(attribute: &str, problem: &InvalidValue) -> Diagnostic {
    unusable::value(attribute, problem).diagnostic()
}

pub(crate) fn failed(error: &Error) -> Diagnostic {
    explain(error).diagnostic()
}
