//! What is said where an object must be deleted and made anew, or might have to be.

use k8sconnect_core::field::FieldPath;
use k8sconnect_core::manifest::Manifest;
use k8sconnect_core::overwrite::{Cleared, Clearing};
use k8sconnect_core::owners::Owners;
use k8sconnect_core::rejection::{Cause, Status};
use serde_json::Value;
use tfplugin::Diagnostic;

use super::ownership::{manager, managers};
use super::refusal::{Subject, emptied_by_null, on_body, refused, said};
use super::stuck::{spelt, what_holds};
use super::{count, paragraphs};
use crate::MANAGER;

/// A field that can never change, proved to be so.
pub(crate) fn immutable(
    subject: Subject<'_>,
    status: &Status,
    causes: &[Cause],
    changed: &[FieldPath],
) -> Diagnostic {
    let changed: Vec<_> = changed.iter().map(|path| format!("  {}", path.shown())).collect();
    let changed = match changed.is_empty() {
        true => String::new(),
        false => format!("Changed in `yaml_body`:\n\n{}", changed.join("\n")),
    };
    must_be_replaced(
        subject,
        status,
        causes,
        "What you changed",
        &changed,
        "restore the old values in `yaml_body`",
    )
}

/// The same of what was ignored until now, and is to be as the body always said.
pub(crate) fn ignored_no_more(
    subject: Subject<'_>,
    status: &Status,
    causes: &[Cause],
) -> Diagnostic {
    let what = "What is in `ignore_fields` no more and differs from `yaml_body`";
    must_be_replaced(subject, status, causes, what, "", "list it in `ignore_fields` again")
}

fn must_be_replaced(
    subject: Subject<'_>,
    status: &Status,
    causes: &[Cause],
    what: &str,
    changed: &str,
    to_keep: &str,
) -> Diagnostic {
    Diagnostic::warning(
        format!("{} must be replaced", subject.key()),
        paragraphs([
            &format!(
                "{what} cannot change once the object exists. The API server said (HTTP {}):",
                status.code
            ),
            &subject.by_field(causes).join("\n"),
            changed,
            &emptied_by_null(subject, status),
            &lost_by_others(subject),
            &format!("Terraform deletes the object and creates it again. To keep it, {to_keep}."),
        ]),
    )
}

/// What an object can take only together with something that it has besides.
pub(crate) struct Obstacles {
    pub(crate) clearing: Clearing,
    /// The JSON patch that gets past them.
    pub(crate) operations: Vec<Value>,
}

/// A change that is refused only for what others hold beside it, or what the server filled in.
pub(crate) fn entangled(
    subject: Subject<'_>,
    status: &Status,
    obstacles: &Obstacles,
) -> Diagnostic {
    let Obstacles { clearing, operations } = obstacles;
    let Clearing { in_the_way: cleared, alongside } = clearing;
    let holders = |it: &Cleared| match it.holders.is_empty() {
        true => "nobody: the API server filled it in".to_owned(),
        false => managers(&it.holders),
    };
    let lines = cleared.iter().map(|it| (it.path.shown(), holders(it)));
    let listed = match listed(lines.collect()) {
        Some(listed) => format!("In the way:\n\n{listed}"),
        None => String::new(),
    };
    let is_filled_in = !cleared.is_empty() && cleared.iter().all(|it| it.holders.is_empty());
    // A command that takes along what others hold is none to copy.
    let robs = alongside.iter().any(|it| !it.holders.is_empty());
    let way_out = match command(subject, operations).filter(|_| is_filled_in && !robs) {
        Some(command) => format!(
            "Make the change once by hand, which takes along what was filled in, and plan again:\n\n\
             {command}"
        ),
        None if is_filled_in => format!(
            "Make the change once by hand, without what was filled in, and plan again: `kubectl edit \
             {}`.",
            spelt(subject.key())
        ),
        None => format!(
            "Let whoever holds the fields give them up, or remove them and make the change once by \
             hand, as with `kubectl edit {}`. Then plan again.",
            spelt(subject.key())
        ),
    };
    let diagnostic = Diagnostic::error(
        format!("{} cannot take the change together with what it has already", subject.key()),
        paragraphs([
            &said(status.code, &subject.quoted(&status.message)),
            "Nothing here is immutable: your values alone are accepted. They are refused only \
             together with what else the object has, which an apply leaves alone. It is not deleted \
             for that.",
            &listed,
            &way_out,
            "Should the object be made anew instead, say so with `terraform taint ADDRESS` (or `tofu \
             taint ADDRESS`) and apply.",
        ]),
    );
    on_body(subject.manifest, diagnostic)
}

/// Longer ones are nothing to copy.
const LONGEST_COMMAND: usize = 300;

/// The patch as kubectl takes it, where it can be shown and touches no metadata, ours among it.
fn command(subject: Subject<'_>, operations: &[Value]) -> Option<String> {
    let is_metadata =
        |it: &Value| it["path"].as_str().is_some_and(|it| it.starts_with("/metadata"));
    if !subject.manifest.secrecy().is_open() || operations.iter().any(is_metadata) {
        return None;
    }
    let patch = Value::from(operations.to_vec()).to_string();
    let is_plain = patch.len() <= LONGEST_COMMAND && !patch.contains('\'');
    is_plain.then(|| format!("  kubectl patch {} --type=json -p '{patch}'", spelt(subject.key())))
}

/// A change was refused to an object that is being deleted.
pub(crate) fn going(subject: Subject<'_>, status: &Status) -> Diagnostic {
    let holds = subject.former.map(what_holds).unwrap_or_default();
    let diagnostic = Diagnostic::error(
        format!("{} is being deleted and does not take the change", subject.key()),
        paragraphs([
            &said(status.code, &subject.quoted(&status.message)),
            &holds,
            "Once it is gone, the next plan creates it as it is in `yaml_body` now. Wait for that, or \
             leave `yaml_body` as it was until then.",
        ]),
    );
    on_body(subject.manifest, diagnostic)
}

/// As many fields of others as are shown.
const FIRST_FIELDS: usize = 10;

/// What others alone hold of an object that is to be replaced. It goes with the object, and may be
/// the very thing that forbids the change, such as `immutable: true`. What they report is no loss.
fn lost_by_others(subject: Subject<'_>) -> String {
    let Some(owners) = subject.former.and_then(|live| Owners::of_object(live).ok()) else {
        return String::new();
    };
    let ours = owners.applied_by(MANAGER);
    let mut lines = Vec::new();
    for other in owners.others(MANAGER).filter(|it| it.manager.subresource != "status") {
        for path in other.fields.difference(&ours).leaves() {
            lines.push((path.shown(), manager(&other.manager)));
        }
    }
    match listed(lines) {
        Some(listed) => format!("Set by others, and gone with the object:\n\n{listed}"),
        None => String::new(),
    }
}

/// Fields with their holders.
fn listed(fields: Vec<(String, String)>) -> Option<String> {
    let more = fields.len().saturating_sub(FIRST_FIELDS);
    let first = fields.into_iter().take(FIRST_FIELDS);
    let mut lines: Vec<_> =
        first.map(|(path, holder)| format!("  {path}\n    held by  {holder}")).collect();
    if more > 0 {
        lines.push(format!("  … and {} more", count(more, "field")));
    }
    if lines.is_empty() { None } else { Some(lines.join("\n")) }
}

/// What was tried in vain to prove that an object must be replaced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tried {
    /// The body as an object of its own.
    Beside,
    /// The body without what others hold.
    Over,
}

/// A change that was refused, and that a replacement might or might not get past.
pub(crate) fn unproved(
    subject: Subject<'_>,
    status: &Status,
    obstacle: &Status,
    tried: Tried,
) -> Diagnostic {
    let quoted = |status: &Status| match status.code {
        0 => "No clear answer came.".to_owned(),
        code => said(code, &subject.quoted(&status.message)),
    };
    let (what, provided) = match tried {
        Tried::Beside => (
            "Whether it could be replaced instead cannot be told without deleting it. Tried beside \
             the old one:",
            "what stands in the way goes with it (a port or an address that it holds itself)",
        ),
        Tried::Over => (
            "Whether it has to be replaced cannot be told. Tried in place of all that others hold in \
             it:",
            "a new one is not refused for that",
        ),
    };
    let diagnostic = Diagnostic::error(
        format!("{} cannot be changed like this", subject.key()),
        paragraphs([
            &quoted(status),
            &emptied_by_null(subject, status),
            &format!("{what} {}", quoted(obstacle)),
            &format!(
                "If the object may be deleted and made anew, and {provided}, say so with `terraform \
                 taint ADDRESS` (or `tofu taint ADDRESS`) and apply again. Otherwise restore the old \
                 values in `yaml_body`."
            ),
        ]),
    );
    on_body(subject.manifest, diagnostic)
}

/// A change that is refused by a rule of which nothing is known of a new object.
pub(crate) fn sees_more(subject: Subject<'_>, status: &Status) -> Diagnostic {
    let diagnostic = Diagnostic::error(
        format!("{} cannot be changed like this", subject.key()),
        paragraphs([
            &said(status.code, &subject.quoted(&status.message)),
            &emptied_by_null(subject, status),
            "Whether a new object would be refused for the same cannot be told without deleting this \
             one: the rule is of the object as a whole, and may go by its name or its status. What \
             is tried beside it has another name, and no status.",
            "If a new object of this name would be accepted, and this one may be deleted, say so with \
             `terraform taint ADDRESS` (or `tofu taint ADDRESS`) and apply again. Otherwise restore \
             the old values in `yaml_body`.",
        ]),
    );
    on_body(subject.manifest, diagnostic)
}

/// An object that is to be replaced has a body that no creation would get past.
pub(crate) fn no_successor(subject: Subject<'_>, status: &Status) -> Diagnostic {
    let refused = refused(subject, status);
    let detail = paragraphs([
        "It is to be deleted and made anew. The new one would be refused, so that nothing would be \
         left: nothing is planned.",
        &refused.detail,
    ]);
    let summary = format!("{} could not be made anew", subject.key());
    on_body(subject.manifest, Diagnostic::error(summary, detail))
}

/// Whether the successor of an object would be accepted cannot be told.
pub(crate) fn successor_untold(subject: Subject<'_>, status: &Status, tried: Tried) -> Diagnostic {
    let words = match status.code {
        0 => "No clear answer came.".to_owned(),
        code => said(code, &subject.quoted(&status.message)),
    };
    let (what, provided) = match tried {
        Tried::Beside => (
            "tried beside the old one, it is not",
            "that goes with the old object, such as a port or an address that it holds itself, or a \
             place in a quota",
        ),
        Tried::Over => (
            "under another name it is, but the old one does not take the body, by a rule that may go \
             by the name or the status",
            "a new object of this name is not refused for that",
        ),
    };
    let diagnostic = Diagnostic::warning(
        format!("{} may not come back once it is deleted", subject.key()),
        paragraphs([
            &format!(
                "It is to be deleted and made anew. Whether the new one will be accepted could not \
                 be told: {what}. {words}"
            ),
            &format!("Apply only if {provided}."),
        ]),
    );
    on_body(subject.manifest, diagnostic)
}

/// An immutable field became known only while applying.
pub(crate) fn immutable_known_late(manifest: &Manifest, warning: &Diagnostic) -> Diagnostic {
    Diagnostic::error(
        format!("{} would have to be replaced", manifest.key()),
        paragraphs([
            "`yaml_body` was not known in full when this was planned, so an update was planned. \
             Nothing was written. Run apply again: it will plan the replacement.",
            &warning.detail,
        ]),
    )
}

/// What is to follow another object is refused while that one is still there.
pub(crate) fn refused_beside(mut refused: Diagnostic) -> Diagnostic {
    refused.detail = paragraphs([
        &refused.detail,
        "The old object is still there while this is planned. If it holds what the new one is refused \
         for (a port, an address, a quota), delete it first, with `terraform apply -destroy \
         -target=ADDRESS` (or `tofu`), and apply again.",
    ]);
    refused
}
