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
pub(crate) fn in_provider_block(diagnostic: Diagnostic, at: &AttributePath) -> Diagnostic {
    with_place(diagnostic, &format!("It stands in the provider block, at `{at}`."))
}

/// What is said of one of several clusters, or of a part of a part.
pub(crate) fn deep_inside(diagnostic: Diagnostic, at: &AttributePath) -> Diagnostic {
    with_place(diagnostic, &format!("It stands at `{at}`."))
}

fn with_place(mut diagnostic: Diagnostic, place: &str) -> Diagnostic {
    diagnostic.detail = paragraphs([&diagnostic.detail, place]);
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

pub(crate) fn no_text(attribute: &str) -> Diagnostic {
    Diagnostic::error(
        format!("`{attribute}` is empty"),
        "Give it a value; or leave it out, or set it to `null`, where there is none.",
    )
}

/// The provider block has no cluster of this name, or `null` under it.
pub(crate) fn unknown_cluster(name: &str, known: &[String]) -> Diagnostic {
    let known = match known {
        [] => "The provider block names no clusters.".to_owned(),
        known => {
            let known: Vec<_> = known.iter().map(|name| named(name)).collect();
            format!("The provider block names {}.", known.join(", "))
        }
    };
    let name = named(name);
    let advice =
        format!("Add {name} to `clusters` in the provider block, or correct `cluster_name`.");
    Diagnostic::error(format!("There is no cluster named {name}"), paragraphs([&known, &advice]))
        .at(AttributePath::root("cluster_name"))
}

/// Parts beside what describes a cluster by itself.
pub(crate) fn given_twice(whole: &str, beside: &[&str]) -> Diagnostic {
    let beside: Vec<_> = beside.iter().map(|name| format!("`{name}`")).collect();
    let beside = beside.join(", ");
    Diagnostic::error(
        "The cluster is given twice",
        format!(
            "`{whole}` describes the cluster by itself, and is not combined with {beside}.\n\n\
             Remove one of the two."
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

/// `setting`: as it is written, in the configuration or in a kubeconfig.
pub(crate) fn insecure(setting: &str) -> Diagnostic {
    Diagnostic::warning(
        "The server's certificate is not checked",
        format!(
            "With `{setting}` whoever stands between here and the cluster can pose as its API server, \
             and is shown your credentials.\n\n\
             Set `cluster_ca_certificate` (in a kubeconfig `certificate-authority-data`) instead."
        ),
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

pub(crate) fn two_logins() -> Diagnostic {
    Diagnostic::error(
        "Two logins are given",
        "`token` is a credential, and `exec` fetches one; a request can carry only one of them.\n\n\
         Remove one of the two.",
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
