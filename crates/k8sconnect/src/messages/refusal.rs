//! What is said when the server says no, or nothing at all.
//!
//! The server is quoted, never paraphrased: its words are what people search for. What it quotes of
//! values that must not be shown is cut out first.

mod subject;

use std::collections::{BTreeMap, BTreeSet};

use k8sconnect_cluster::Error;
use k8sconnect_core::conflict;
use k8sconnect_core::field::{FieldPath, walk};
use k8sconnect_core::identity::ObjectKey;
use k8sconnect_core::manifest::Manifest;
use k8sconnect_core::owners::Owners;
use k8sconnect_core::projection::CONCEALED_VALUE;
use k8sconnect_core::rejection::{Cause, Rejection, Status};
use k8sconnect_core::text;
use serde_json::Value;
use tfplugin::{AttributePath, Diagnostic};

use super::WITHHELD;
use super::connection::{Explanation, explain};
use super::manifest::words_read_as_booleans;
use super::ownership::manager;
use super::{by_turns, count, in_brief, paragraphs};
use crate::MANAGER;

pub(crate) use subject::Subject;

/// A question about an object was not answered.
pub(crate) fn unanswered(key: &ObjectKey, error: &Error) -> Diagnostic {
    match error {
        Error::Refused(status) => {
            let (what, advice) = advised(status);
            let words = said(status.code, &status.message);
            Diagnostic::error(format!("{key} {what}"), paragraphs([&words, advice]))
        }
        error => unreached(key, error),
    }
}

/// A body was sent, and not taken.
pub(crate) fn not_taken<'a>(subject: impl Into<Subject<'a>>, error: &Error) -> Diagnostic {
    let subject = subject.into();
    match error {
        Error::Refused(status) => refused(subject, status),
        error => unreached(subject.key(), error),
    }
}

/// A creation was not answered as it should. Where it may have been carried out all the same, that is
/// said: state knows nothing of it.
pub(crate) fn not_created<'a>(subject: impl Into<Subject<'a>>, error: &Error) -> Diagnostic {
    let doubt = match error {
        Error::NotCreated { .. } => {
            "The object has the values of `yaml_body` now, and state does not know it. Import it, or set \
             `adopt = true`, to manage it as it is."
        }
        error if error.may_be_done() => {
            "The object may have been created all the same, and state does not know it. If it is there, \
             the next plan says that it exists already, and `adopt = true` takes it over as it is."
        }
        _ => "",
    };
    in_doubt(not_taken(subject, error), doubt)
}

/// The same of a change.
pub(crate) fn not_changed<'a>(subject: impl Into<Subject<'a>>, error: &Error) -> Diagnostic {
    let doubt = match error.may_be_done() {
        true => {
            "The object may have been changed all the same: the next plan shows what is still to be done."
        }
        false => "",
    };
    in_doubt(not_taken(subject, error), doubt)
}

fn in_doubt(mut told: Diagnostic, doubt: &str) -> Diagnostic {
    told.detail = paragraphs([&told.detail, doubt]);
    told
}

/// Points to no attribute: Terraform would print the whole `cluster`, with a token that is written
/// out in it.
pub(super) fn unreached(key: &ObjectKey, error: &Error) -> Diagnostic {
    let Explanation { summary, cause, advice } = explain(error);
    Diagnostic::error(format!("{key}: {summary}"), paragraphs([&cause, &advice]))
}

/// Words that are shorter than this are quoted as they are.
const WHOLE: usize = 1000;

/// The server refused a body.
pub(crate) fn refused<'a>(subject: impl Into<Subject<'a>>, status: &Status) -> Diagnostic {
    let subject = subject.into();
    if let Rejection::FieldConflicts(causes) = status.rejection() {
        return conflicts(&causes, subject.manifest, subject.former);
    }
    // Several causes are told one by one.
    let words = subject.quoted(&status.message);
    let withheld = words == WITHHELD;
    let words = match words.chars().count() {
        0..WHOLE => said(status.code, &words),
        _ => said(status.code, &in_brief(&words)),
    };
    let named: Vec<_> =
        status.details.causes.iter().filter(|cause| !cause.field.is_empty()).cloned().collect();
    let lines = subject.by_field(&named);
    // One cause is in the message already, if that is shown.
    let by_field = match lines.as_slice() {
        [] | [_] if !withheld => String::new(),
        [] => String::new(),
        lines => format!("By field:\n{}", lines.join("\n")),
    };
    let (what, advice) = advised(status);
    let custom =
        status.rejection() == Rejection::SchemaMismatch && subject.key().gvk.may_still_appear();
    let definition = if custom { DEFINITION_FIRST } else { "" };
    let destroy = if custom && subject.former.is_some() { DESTROY_AS_IT_IS } else { "" };
    let booleans = match status.blames_the_body() {
        true => words_read_as_booleans(subject.manifest.boolean_words()),
        false => String::new(),
    };
    let unseen = if withheld { TO_SEE_WHAT_IT_SAID } else { "" };
    let nulled = emptied_by_null(subject, status);
    let detail =
        paragraphs([&words, &by_field, &nulled, advice, unseen, &booleans, definition, destroy]);
    on_body(subject.manifest, Diagnostic::error(format!("{} {what}", subject.key()), detail))
}

/// A null or an empty text is sent, and empties what the server or others have filled in since.
pub(super) fn emptied_by_null(subject: Subject<'_>, status: &Status) -> String {
    let mut by_word: BTreeMap<_, Vec<_>> = BTreeMap::new();
    for (field, word) in subject.nulled(status) {
        by_word.entry(word).or_default().push(format!("`{field}`"));
    }
    if by_word.is_empty() {
        return String::new();
    }
    let says = by_word.iter().map(|(word, fields)| format!("`{word}` for {}", fields.join(", ")));
    format!(
        "`yaml_body` says {}, which asks the server to empty what the object has there. To leave it as \
         it is, remove that from `yaml_body`.",
        says.collect::<Vec<_>>().join(" and ")
    )
}

const TO_SEE_WHAT_IT_SAID: &str = "To see the message, run `kubectl apply --server-side \
     --dry-run=server` with the same body.";

const DEFINITION_FIRST: &str = "If this configuration also changes the CustomResourceDefinition so that it has the field, let \
     this resource `depends_on` the definition, or apply that alone first with `-target`.";

const DESTROY_AS_IT_IS: &str =
    "To destroy the object as it is, leave the refresh out: `terraform destroy -refresh=false`.";

/// The server refuses a body by a definition that is planned to change.
pub(crate) fn redefined<'a>(subject: impl Into<Subject<'a>>, status: &Status) -> Diagnostic {
    let subject = subject.into();
    let diagnostic = Diagnostic::warning(
        format!("{} cannot be planned in full: its definition changes too", subject.key()),
        paragraphs([
            &format!(
                "By the CustomResourceDefinition as it is now, the body is refused. {}",
                said(status.code, &subject.quoted(&status.message))
            ),
            "This run changes the definition, so the body is tried again once that is done; its \
             fields are shown as known after apply. If the new definition refuses it as well, the \
             apply fails here.",
        ]),
    );
    on_body(subject.manifest, diagnostic)
}

/// Fields that others hold, where nothing is to be taken by force. What the object tells of them is
/// told, which is more than the server does.
pub(crate) fn conflicts(causes: &[Cause], desired: &Manifest, live: Option<&Value>) -> Diagnostic {
    let wanted = desired.as_applied();
    let live = live.unwrap_or(&Value::Null);
    let owners = Owners::of_object(live).unwrap_or_default();
    let found = conflict::conflicts(causes, &owners, MANAGER, &wanted, live);
    let shown = |path: &FieldPath, value: &Value| match desired
        .secrecy()
        .conceals_within(path, value, live)
    {
        true => CONCEALED_VALUE.to_owned(),
        false => text::shown(value),
    };
    let known = found.fields.iter().map(|(path, holders)| {
        let holders: Vec<_> = holders.iter().map(manager).collect();
        let values = [walk::at(live, path), walk::at_written(&wanted, path)];
        let values = values.map(|value| value.map(|value| shown(path, value)));
        let [now, yours] = by_turns(values.each_ref().map(Option::as_deref));
        let holders = holders.join(", ");
        format!("  {path}\n    held by  {holders}\n    is now   {now}\n    yours    {yours}")
    });
    let elsewhere = found.in_other_versions.iter().map(|(path, holders)| {
        let versions: BTreeSet<_> =
            holders.iter().map(|holder| format!("`{}`", holder.api_version)).collect();
        let versions: Vec<_> = versions.into_iter().collect();
        let holders: Vec<_> = holders.iter().map(manager).collect();
        let (versions, holders) = (versions.join(", "), holders.join(", "));
        format!("  {path}, as {versions} has it\n    held by  {holders}")
    });
    let told = found.unmatched.iter().map(|cause| {
        let holder = cause.message.strip_prefix("conflict with ").unwrap_or(&cause.message);
        format!("  {}\n    held by  {holder}", cause.field.trim_start_matches('.'))
    });
    let lines: Vec<_> = known.chain(elsewhere).chain(told).collect();
    let mut refusal = nothing_taken(desired.key(), lines.len(), &lines.join("\n"));
    if !found.in_other_versions.is_empty() {
        let advice = in_our_words(&desired.gvk().api_version());
        refusal.detail = paragraphs([&refusal.detail, &advice]);
    }
    on_body(desired, refusal)
}

/// A field of another version cannot be named as it is there.
fn in_our_words(version: &str) -> String {
    format!(
        "A field that is listed as another version has it stands under another path in `{version}`: \
         remove or list the field of `yaml_body` that means the same."
    )
}

/// Nothing is to be taken by force, and these fields would have to be.
pub(super) fn nothing_taken(key: &ObjectKey, fields: usize, listed: &str) -> Diagnostic {
    Diagnostic::error(
        format!("{key}: {} held by other managers", count(fields, "field")),
        format!(
            "`force_conflicts = false` says that nothing is taken from others:\n\n{listed}\n\n\
             To take the fields, set `force_conflicts = true`. To leave them to the others, remove \
             them from `yaml_body`, or list them in `ignore_fields`."
        ),
    )
}

/// Terraform prints the lines of the attribute that a diagnostic points to. A body that holds
/// secrets is better not printed.
pub(super) fn on_body(manifest: &Manifest, diagnostic: Diagnostic) -> Diagnostic {
    match manifest.secrecy().is_open() {
        true => diagnostic.at(AttributePath::root("yaml_body")),
        false => diagnostic,
    }
}

pub(super) fn said(code: u16, words: &str) -> String {
    if words.is_empty() {
        return format!("The API server gave no reason (HTTP {code}).");
    }
    format!("The API server said (HTTP {code}): {}", words.trim_end())
}

const AGAIN: &str = "Run again: the next plan starts from the live object.";

/// What a refusal comes to, and what to do about it.
pub(super) fn advised(status: &Status) -> (&'static str, &'static str) {
    match status.rejection() {
        Rejection::SchemaMismatch => (
            "does not fit its schema",
            "Mend the field that the server names; `kubectl explain` shows what it takes.",
        ),
        Rejection::Invalid(_) => {
            ("is refused by the API server", "Change the values that the server names.")
        }
        Rejection::Forbidden => (
            "may not be written",
            "Either the credentials lack a permission, or an admission rule or quota forbids it: \
             the server's words tell which.",
        ),
        Rejection::Unauthorized => (
            "cannot be asked about",
            "The credentials are not accepted. Check that they belong to this cluster and have \
             not expired.",
        ),
        Rejection::NamespaceMissing => (
            "has no namespace to live in",
            "Create the namespace first. If it is in this configuration too, let this resource \
             `depends_on` it.",
        ),
        Rejection::NamespaceGoing => (
            "cannot be created: its namespace is being deleted",
            "Nothing is made in a namespace that is being deleted. Wait until it is gone, see that \
             it is made anew, and run again. If this configuration makes the namespace, let this \
             resource `depends_on` it.",
        ),
        Rejection::FieldConflicts(_) => (
            "has fields that others hold",
            "Remove the fields that the server names from `yaml_body`, or let the other manager \
             give them up.",
        ),
        Rejection::Conflict => ("changed while it was being written", AGAIN),
        Rejection::AnotherObject => ("is not the object that state knows", AGAIN),
        Rejection::NotFound => (
            "cannot be found",
            "There is nothing at this address that could be written: check name, namespace and \
             kind. If the object was deleted meanwhile, the next plan creates it.",
        ),
        Rejection::WebhookUnreachable => (
            "needs a webhook that does not answer",
            "Mend the webhook that the server names, or wait until it is up.",
        ),
        Rejection::Other if status.leaves_open() => (
            "could not be dealt with by the API server",
            "The server failed, which is no verdict on the object. Run again; if it fails again, \
             look at the server and at the store behind it.",
        ),
        Rejection::Other => (
            "is refused by the API server",
            "The server's words tell why; if they tell of a passing trouble, run again.",
        ),
    }
}
