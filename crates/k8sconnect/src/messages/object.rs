//! What is said about one object: why it cannot be planned, applied, read or deleted.

use std::collections::BTreeSet;
use std::time::Duration;

use k8sconnect_cluster::{Error, NotYet};
use k8sconnect_core::field::fields_v1::FieldsV1Error;
use k8sconnect_core::field::walk;
use k8sconnect_core::identity::{ID_ANNOTATION, IdentityChange, ObjectKey};
use k8sconnect_core::manifest::Manifest;
use k8sconnect_core::owners::Owners;
use k8sconnect_core::rejection::{Cause, Rejection, Status};
use k8sconnect_core::text;
use serde_json::Value;
use tfplugin::{AttributePath, Diagnostic, Diagnostics};

use super::{ABSENT, count, one_line, paragraphs};
use crate::object::Surprise;

pub(crate) fn identity_changes(key: &ObjectKey, changes: &[IdentityChange]) -> Diagnostic {
    let lines: Vec<_> =
        changes.iter().map(|(field, old, new)| format!("  {field}: {old} -> {new}")).collect();
    Diagnostic::warning(
        format!("{key} will be replaced by another object"),
        format!(
            "These fields say which object is meant, so the change means another one:\n\n{}\n\n\
             Terraform deletes the old object and creates the new one. To keep it, restore the \
             old values in `yaml_body`.",
            lines.join("\n")
        ),
    )
}

/// The server could not be asked, or gave no answer that means anything.
pub(crate) fn unanswered(key: &ObjectKey, error: &Error) -> Diagnostic {
    if let Error::Refused(status) = error {
        return refused(key, status);
    }
    Diagnostic::error(
        format!("{key}: {}", error.what()),
        paragraphs([&error.why(), &error.advice()]),
    )
    .at(AttributePath::root("cluster"))
}

/// The server said no.
pub(crate) fn refused(key: &ObjectKey, status: &Status) -> Diagnostic {
    let words = server_words(key, status);
    let (what, advice) = match status.rejection() {
        Rejection::SchemaMismatch => (
            "does not fit its schema",
            "Mend the field that the server names; `kubectl explain` lists those there are.",
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
        Rejection::FieldConflicts(_) => (
            "has fields that others hold",
            "Remove the fields that the server names from `yaml_body`, or let the other manager \
             give them up.",
        ),
        Rejection::Conflict => (
            "changed while it was being written",
            "Run again: the next plan starts from what is there now.",
        ),
        Rejection::NotFound => ("is not there", "Run again: the next plan creates it."),
        Rejection::WebhookUnreachable => (
            "needs a webhook that does not answer",
            "Mend the webhook that the server names, or wait until it is up.",
        ),
        Rejection::Other => (
            "is refused by the API server",
            "The server's words tell why; if they tell of a passing trouble, run again.",
        ),
    };
    Diagnostic::error(format!("{key} {what}"), paragraphs([&words, &causes(key, status), advice]))
        .at(AttributePath::root("yaml_body"))
}

/// What the server said. Of a Secret its words may quote the data, so they are left out.
fn server_words(key: &ObjectKey, status: &Status) -> String {
    let code = status.code;
    if holds_secrets(key) {
        return format!(
            "The API server refused it (HTTP {code}). Its words are not shown: they may quote the \
             Secret's data."
        );
    }
    if status.message.is_empty() {
        return format!("The API server gave no reason (HTTP {code}).");
    }
    format!("The API server said (HTTP {code}): {}", status.message)
}

fn causes(key: &ObjectKey, status: &Status) -> String {
    let line = |cause: &Cause| {
        if holds_secrets(key) {
            format!("  {} ({})", cause.field, cause.reason)
        } else {
            format!("  {}: {}", cause.field, one_line(&cause.message))
        }
    };
    let lines: Vec<_> =
        status.details.causes.iter().filter(|cause| !cause.field.is_empty()).map(line).collect();
    if lines.is_empty() { String::new() } else { format!("By field:\n{}", lines.join("\n")) }
}

fn holds_secrets(key: &ObjectKey) -> bool {
    key.gvk.group.is_empty() && key.gvk.kind == "Secret"
}

pub(crate) fn not_deleted(key: &ObjectKey, error: &Error) -> Diagnostic {
    let (why, advice) = match error {
        Error::Refused(status) => (
            server_words(key, status),
            "State keeps the object. Remove what forbids the deletion and run again.".to_owned(),
        ),
        other => (other.why(), format!("State keeps the object. {}", other.advice())),
    };
    Diagnostic::error(format!("{key} was not deleted"), paragraphs([&why, &advice]))
}

pub(crate) fn still_there(key: &ObjectKey, live: &Value, waited: Duration) -> Diagnostic {
    let finalizers: Vec<_> = live["metadata"]["finalizers"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|finalizer| Some(format!("  {}", finalizer.as_str()?)))
        .collect();
    let why = if finalizers.is_empty() {
        "It is marked for deletion, and no finalizer holds it; its dependents may.".to_owned()
    } else {
        format!(
            "It is marked for deletion, but waits for whoever serves {}:\n{}",
            count(finalizers.len(), "finalizer"),
            finalizers.join("\n")
        )
    };
    Diagnostic::error(
        format!("{key} is still there after {} seconds", waited.as_secs()),
        paragraphs([
            &why,
            "State keeps the object. See that the controller behind the finalizer runs, then run \
             again.",
        ]),
    )
}

/// The object that is to be made again is still being deleted.
pub(crate) fn predecessor_stays(key: &ObjectKey, live: &Value, waited: Duration) -> Diagnostic {
    let mut stays = still_there(key, live, waited);
    stays.summary = format!("{key} cannot be created: the old one is still being deleted");
    stays
}

/// Others write the object faster than it can be read and written.
pub(crate) fn never_still(key: &ObjectKey) -> Diagnostic {
    Diagnostic::error(
        format!("{key} changes faster than it can be written"),
        "Because of `ignore_fields` it is read before it is written, and each time someone else \
         wrote in between. Nothing was changed.\n\n\
         Run again; if it happens again, see who writes it so often.",
    )
}

pub(crate) fn replaced_by_others(key: &ObjectKey) -> Diagnostic {
    Diagnostic::warning(
        format!("{key} is another object now and was left alone"),
        "The object that Terraform created is gone, and someone made another one under its name. \
         It is not ours to delete; only state forgets it.",
    )
}

pub(crate) fn restored(key: &ObjectKey) -> Diagnostic {
    Diagnostic::warning(
        format!("{key} was recreated with our mark on it"),
        format!(
            "Its uid is not the one in state, but its annotation `{ID_ANNOTATION}` is ours, as \
             after restoring a backup. It is kept and managed as before."
        ),
    )
}

/// The plan goes on without knowing what the server will make of the object.
pub(crate) fn planned_blind(key: &ObjectKey, why: &NotYet) -> Diagnostic {
    Diagnostic::warning(
        format!("{key} cannot be planned in full yet"),
        format!("{}\n\nIts fields are shown as known after apply, and checked then.", not_yet(why)),
    )
}

/// It did not come in time.
pub(crate) fn not_there_at_apply(key: &ObjectKey, why: &NotYet, waited: Duration) -> Diagnostic {
    Diagnostic::error(
        format!("{key} cannot be created yet"),
        format!(
            "{} Apply waited {} seconds for it.\n\nIf this configuration creates what is \
             missing, let this resource `depends_on` it: Terraform works on ten resources at a \
             time, and those that wait may keep the one that is waited for from its turn. \
             Otherwise create it first, or set a longer `apply_timeout`.",
            not_yet(why),
            waited.as_secs()
        ),
    )
}

fn not_yet(why: &NotYet) -> String {
    match why {
        NotYet::Kind { gvk, nearest } => {
            let nearest = nearest
                .as_ref()
                .map(|nearest| format!(" Did you mean `{nearest}`?"))
                .unwrap_or_default();
            format!(
                "The API server does not serve `{}` of `{}` at the moment.{nearest}",
                gvk.kind,
                gvk.api_version()
            )
        }
        NotYet::Namespace { name } => {
            format!("The namespace `{name}` does not exist at the moment.")
        }
        NotYet::Webhook { .. } => "A webhook that must be asked cannot be reached.".to_owned(),
    }
}

pub(crate) fn no_such_kind(key: &ObjectKey, nearest: Option<&str>) -> Diagnostic {
    let advice = match nearest {
        Some(nearest) => format!("Did you mean `{nearest}`?"),
        None => "Check `apiVersion` and `kind`; `kubectl api-resources` lists those there are."
            .to_owned(),
    };
    Diagnostic::error(
        format!("{key}: there is no such kind"),
        format!(
            "The API server does not serve `{}` of `{}`, and a group of Kubernetes' own cannot \
             gain kinds while it runs.\n\n{advice}",
            key.gvk.kind,
            key.gvk.api_version()
        ),
    )
    .at(AttributePath::root("yaml_body"))
}

pub(crate) fn kind_no_longer_served(key: &ObjectKey) -> Diagnostic {
    Diagnostic::error(
        format!("{key} cannot be looked at"),
        format!(
            "The API server does not serve `{}` of `{}` at the moment, which does not mean that \
             the object is gone: its definition exists, or cannot be asked about.\n\n\
             State keeps the object. See that the version is served, or that the extension \
             server behind it is up, and run again.",
            key.gvk.kind,
            key.gvk.api_version()
        ),
    )
}

/// Who has the object now.
fn whose(live: &Value) -> String {
    let owners = Owners::of_object(live).unwrap_or_default();
    let names: BTreeSet<_> =
        owners.0.iter().map(|owner| format!("`{}`", owner.manager.name)).collect();
    let mut who = if names.is_empty() {
        "No manager is recorded on it.".to_owned()
    } else {
        let names: Vec<_> = names.into_iter().collect();
        format!("Its fields are held by {}.", names.join(", "))
    };
    if let Some(id) = live["metadata"]["annotations"][ID_ANNOTATION].as_str() {
        who.push_str(&format!(" It bears the k8sconnect id `{id}`: another state may hold it."));
    }
    who
}

pub(crate) fn adopts(key: &ObjectKey, live: &Value) -> Diagnostic {
    Diagnostic::warning(
        format!("{key} exists already and will be taken over"),
        paragraphs([
            &whose(live),
            "`adopt = true` says so. It is not made anew: it keeps its uid, and only what you \
             wrote changes.",
        ]),
    )
}

/// An object of the same name is still being deleted.
pub(crate) fn waits_for_predecessor(key: &ObjectKey) -> Diagnostic {
    Diagnostic::warning(
        format!("{key} is being deleted at the moment"),
        "Apply waits until the old one is gone, and then creates yours. Its fields are shown as \
         known after apply.",
    )
}

/// Fields that others hold, where nothing is to be taken by force.
pub(crate) fn conflicts(
    key: &ObjectKey,
    causes: &[Cause],
    desired: &Manifest,
    live: Option<&Value>,
) -> Diagnostic {
    let lines: Vec<_> = causes.iter().map(|cause| conflict(key, cause, desired, live)).collect();
    Diagnostic::error(
        format!("{key}: {} held by other managers", count(causes.len(), "field")),
        format!(
            "`force_conflicts = false` says that nothing is taken from others:\n\n{}\n\n\
             To take the fields, set `force_conflicts = true`. To leave them to the others, remove \
             them from `yaml_body`, or list them in `ignore_fields`.",
            lines.join("\n")
        ),
    )
    .at(AttributePath::root("yaml_body"))
}

fn conflict(key: &ObjectKey, cause: &Cause, desired: &Manifest, live: Option<&Value>) -> String {
    let mut lines = vec![
        format!("  {}", cause.field.trim_start_matches('.')),
        format!("    held by  {}", cause.message),
    ];
    if !holds_secrets(key)
        && let (Ok(path), Some(live)) = (cause.field.trim_start_matches('.').parse(), live)
    {
        let shown = |value: Option<&Value>| {
            value.map_or(ABSENT.to_owned(), |value| one_line(&text::shown(value)))
        };
        lines.push(format!("    is now   {}", shown(walk::at(live, &path))));
        lines.push(format!("    yours    {}", shown(walk::at_written(desired.value(), &path))));
    }
    lines.join("\n")
}

pub(crate) fn exists(key: &ObjectKey, live: &Value) -> Diagnostic {
    Diagnostic::error(
        format!("{key} exists already"),
        paragraphs([
            &whose(live),
            "It is not in this state, so it is not taken over unasked. To take it over as it is, \
             set `adopt = true`; the plan then tells what changes. Otherwise give yours another \
             name.",
        ]),
    )
}

pub(crate) fn changed_meanwhile(key: &ObjectKey) -> Diagnostic {
    Diagnostic::error(
        format!("{key} is not the object that state knows"),
        "It was deleted, or deleted and made anew, while this plan was made.\n\n\
         Run again: the next plan starts from what is there now.",
    )
}

pub(crate) fn ownership_unreadable(key: &ObjectKey, error: &FieldsV1Error) -> Diagnostic {
    Diagnostic::error(
        format!("{key}: its field ownership cannot be read"),
        format!(
            "{error}.\n\nThis release of the provider may be too old for the API server. Nothing \
             was changed."
        ),
    )
}

pub(crate) fn answered_otherwise(key: &ObjectKey, surprises: &[Surprise]) -> Diagnostic {
    let shown = |text: &Option<String>| text.as_deref().map_or(ABSENT.to_owned(), one_line);
    let lines: Vec<_> = surprises
        .iter()
        .map(|Surprise { path, planned, answered }| {
            format!("  {path}\n    planned  {}\n    is now   {}", shown(planned), shown(answered))
        })
        .collect();
    Diagnostic::warning(
        format!("{key} came out otherwise than planned"),
        format!(
            "Something changed {} between plan and apply, most likely an admission webhook:\n\n\
             {}\n\nThe next plan shows what there is to do.",
            count(surprises.len(), "field"),
            lines.join("\n")
        ),
    )
}

/// The server's own warnings, on the object that caused them.
pub(crate) fn server_warnings(key: &ObjectKey, warnings: &[String]) -> Diagnostics {
    let mut notices = Diagnostics::new();
    for warning in warnings {
        notices.push(
            Diagnostic::warning(
                format!("{key}: the API server warns"),
                format!("{warning}\n\nThis is the server's own advice; nothing was refused."),
            )
            .at(AttributePath::root("yaml_body")),
        );
    }
    notices
}
