//! What is said where an object must be deleted and made anew, or might have to be.

use k8sconnect_core::field::FieldPath;
use k8sconnect_core::manifest::Manifest;
use k8sconnect_core::owners::Owners;
use k8sconnect_core::rejection::{Cause, Status};
use tfplugin::Diagnostic;

use super::ownership::manager;
use super::refusal::{Subject, on_body, refused, said};
use super::{count, paragraphs};
use crate::MANAGER;

/// A field that can never change, proved to be so.
pub(crate) fn immutable(
    subject: Subject<'_>,
    status: &Status,
    causes: &[Cause],
    changed: &[FieldPath],
) -> Diagnostic {
    let lines = subject.by_field(causes);
    let changed: Vec<_> = changed.iter().map(|path| format!("  {}", path.shown())).collect();
    let changed = match changed.is_empty() {
        true => String::new(),
        false => format!("\n\nChanged in `yaml_body`:\n\n{}", changed.join("\n")),
    };
    Diagnostic::warning(
        format!("{} must be replaced", subject.key()),
        format!(
            "What you changed cannot change once the object exists. The API server said (HTTP \
             {}):\n\n{}{changed}{}\n\nTerraform deletes the object and creates it again. To keep it, restore \
             the old values in `yaml_body`.",
            status.code,
            lines.join("\n"),
            lost_by_others(subject)
        ),
    )
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
            lines.push(format!("  {}\n    held by  {}", path.shown(), manager(&other.manager)));
        }
    }
    let more = lines.len().saturating_sub(FIRST_FIELDS);
    lines.truncate(FIRST_FIELDS);
    if more > 0 {
        lines.push(format!("  … and {} more", count(more, "field")));
    }
    match lines.is_empty() {
        true => String::new(),
        false => format!("\n\nSet by others, and gone with the object:\n\n{}", lines.join("\n")),
    }
}

/// A change that was refused, and that a replacement might or might not get past.
pub(crate) fn unproved(subject: Subject<'_>, status: &Status, obstacle: &Status) -> Diagnostic {
    let quoted = |status: &Status| match status.code {
        0 => "No clear answer came.".to_owned(),
        code => said(code, &subject.quoted(&status.message)),
    };
    let diagnostic = Diagnostic::error(
        format!("{} cannot be changed like this", subject.key()),
        paragraphs([
            &quoted(status),
            &format!(
                "Whether it could be replaced instead cannot be told without deleting it. Tried \
                 beside the old one: {}",
                quoted(obstacle)
            ),
            "If the object may be deleted and made anew, and what stands in the way goes with it (a \
             port or an address that it holds itself), say so with `terraform taint ADDRESS` (or \
             `tofu taint ADDRESS`) and apply again. Otherwise restore the old values in \
             `yaml_body`.",
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
pub(crate) fn successor_untold(subject: Subject<'_>, status: &Status) -> Diagnostic {
    let words = match status.code {
        0 => "No clear answer came.".to_owned(),
        code => said(code, &subject.quoted(&status.message)),
    };
    let diagnostic = Diagnostic::warning(
        format!("{} may not come back once it is deleted", subject.key()),
        paragraphs([
            &format!(
                "It is to be deleted and made anew. Whether the new one will be accepted could not \
                 be told: tried beside the old one, it is not. {words}"
            ),
            "Apply only if that goes with the old object, such as a port or an address that it holds \
             itself, or a place in a quota.",
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
