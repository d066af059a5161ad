//! What is said about objects and tokens that are fetched for the length of a run.

use k8sconnect_cluster::{Error, NotYet};
use k8sconnect_core::identity::ObjectKey;
use tfplugin::{AttributePath, Diagnostic};

use super::data::{Asked, unanswered};
use super::object::not_yet;
use super::paragraphs;
use super::refusal::said;

/// `depends_on` does not put the opening off; only something that is not known does.
const WAIT: &str = "If this configuration creates it, set `uid` to the `uid` of the resource that \
    does: the run then waits until it is there. `depends_on` alone does not.";

/// Another one bears the name.
pub(crate) fn another(key: &ObjectKey) -> Diagnostic {
    Diagnostic::error(
        format!("{key} is not the one that is meant"),
        "Its uid is not the one that `uid` says: it was deleted and made anew meanwhile, or `uid` is \
         that of another object.\n\n\
         Plan again, so that the resource that `uid` comes from is refreshed; or leave `uid` out.",
    )
}

/// The token does not say whose it is.
pub(crate) fn unnamed(key: &ObjectKey) -> Diagnostic {
    Diagnostic::error(
        format!("Whether {key} is the one that is meant cannot be told"),
        "The token that the server made does not tell the uid of its account, which `uid` is to be \
         compared with.\n\n\
         Leave `uid` out.",
    )
}

pub(crate) fn empty_uid() -> Diagnostic {
    Diagnostic::error(
        "`uid` is empty",
        "No object has an empty uid.\n\n\
         Give it the `uid` of the resource that makes the object; or leave it out, or set it to \
         `null`, where any object of this name will do.",
    )
    .at(AttributePath::root("uid"))
}

pub(crate) fn no_audience(n: i64) -> Diagnostic {
    let audiences = AttributePath::root("audiences");
    Diagnostic::error(
        "An audience is empty",
        "Each of `audiences` names somebody that the token is for; the API server would take an empty \
         one for a name, and `null` is none.\n\n\
         Write its name, or take it out of the list. Without `audiences` the token is for the API \
         server.",
    )
    .at(audiences.index(n))
}

/// The provider block depends on something that is not there yet.
pub(crate) fn cluster_unknown() -> Diagnostic {
    Diagnostic::error(
        "What is ephemeral must be read, and its cluster is not known yet",
        "The provider block takes the way to the cluster from something that this run has yet to \
         create, so that nothing can be read from it now.\n\n\
         Give the ephemeral resource a `cluster` of its own that refers to it: Terraform then \
         opens it when all of that is known.",
    )
    .at(AttributePath::root("cluster"))
}

pub(crate) fn no_kind(key: &ObjectKey, why: &NotYet) -> Diagnostic {
    Diagnostic::error(
        format!("{key} cannot be read"),
        paragraphs([
            &not_yet(why),
            "Check `api_version` and `kind`; `kubectl api-resources` lists those there are.",
            WAIT,
        ]),
    )
}

pub(crate) fn no_object(key: &ObjectKey) -> Diagnostic {
    Diagnostic::error(
        format!("{key} does not exist"),
        paragraphs([
            "The cluster has no such object, so there is nothing to read.",
            "Check name and namespace (`default` where none is set).",
            WAIT,
        ]),
    )
}

pub(crate) fn no_account(key: &ObjectKey) -> Diagnostic {
    Diagnostic::error(
        format!("{key} does not exist"),
        paragraphs([
            "Nobody has a token of an account that is not there.",
            "Check `service_account` and `namespace` (`default` where none is set).",
            WAIT,
        ]),
    )
}

/// The account may be there, and gives no token.
pub(crate) fn no_token(key: &ObjectKey, error: &Error) -> Diagnostic {
    match error {
        Error::Refused(status) => Diagnostic::error(
            format!("{key} gives no token"),
            paragraphs([
                &said(status.code, &status.message),
                "To ask for one, the credentials need the verb `create` on \
                 `serviceaccounts/token`.",
            ]),
        ),
        error => unanswered(&Asked::Object(key), error),
    }
}

/// A number that is no count of seconds, or too large a one.
pub(crate) fn no_lifetime(asked: &str, longest: i64) -> Diagnostic {
    Diagnostic::error(
        format!("No token can be asked for `expiration_seconds = {asked}`"),
        format!(
            "It is a whole number of seconds, and the API server takes none above {longest}.\n\n\
             Write such a number, or leave `expiration_seconds` out."
        ),
    )
}

pub(crate) fn too_short(seconds: i64, shortest: i64) -> Diagnostic {
    Diagnostic::error(
        "The token would be too short-lived",
        format!(
            "The API server grants no token for less than {shortest} seconds, and {seconds} are \
             asked for.\n\n\
             Ask for more, or leave `expiration_seconds` out."
        ),
    )
}
