//! Messages about objects that must be deleted and created again, or perhaps must.

use k8sconnect_core::field::FieldPath;
use k8sconnect_core::immutability::MissingProof;
use k8sconnect_core::manifest::Manifest;
use k8sconnect_core::overlay::OthersField;
use k8sconnect_core::owners::Owners;
use k8sconnect_core::rejection::{Cause, Status};
use k8sconnect_core::service_addresses::TakenAddress;
use tfplugin::Diagnostic;

use super::ownership::{manager, managers};
use super::refusal::{Subject, emptied_by_null, on_body, refused, said};
use super::stuck::spelt;
use super::{count, paragraphs};
use crate::MANAGER;

/// A field that is proved to be immutable. `changed` is empty where only `ignore_fields` changed, and where
/// the former body is not known.
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
    Diagnostic::warning(
        format!("{} must be replaced", subject.key()),
        paragraphs([
            &format!(
                "What you changed cannot change once the object exists. The API server said (HTTP {}):",
                status.code
            ),
            &subject.by_field(causes).join("\n"),
            &changed,
            &emptied_by_null(subject, status),
            &lost_by_others(subject),
            "Terraform deletes the object and creates it again. To keep it, restore the old values in \
             `yaml_body`, or list the fields in `ignore_fields`.",
        ]),
    )
}

/// A change that is refused only for its combination with fields of others or defaults of the server.
pub(crate) fn entangled(
    subject: Subject<'_>,
    status: &Status,
    fields: &[OthersField],
) -> Diagnostic {
    let lines = fields.iter().map(|it| (it.path.shown(), managers(&it.managers)));
    let listed = match listed(lines.collect()) {
        Some(listed) => format!("Fields of others that `yaml_body` does not have:\n\n{listed}"),
        None => String::new(),
    };
    let diagnostic = Diagnostic::error(
        format!("{} cannot combine the change with its other fields", subject.key()),
        paragraphs([
            &said(status.code, &subject.quoted(&status.message)),
            "The values of `yaml_body` alone are accepted, so nothing here is immutable. They are refused \
             together with fields of other managers or defaults of the API server, which an apply keeps.",
            &listed,
            &format!(
                "Make the change once with `kubectl edit {}`, without the fields that the server names, \
                 and plan again. {}",
                spelt(subject.key()),
                TO_REPLACE
            ),
        ]),
    );
    on_body(subject.manifest, diagnostic)
}

const TO_REPLACE: &str = "To delete the object and create it again, run `terraform taint ADDRESS` (or \
     `tofu taint ADDRESS`) and apply.";

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
        Some(listed) => format!("Set by others, and deleted with the object:\n\n{listed}"),
        None => String::new(),
    }
}

/// Fields with their owners.
fn listed(fields: Vec<(String, String)>) -> Option<String> {
    let more = fields.len().saturating_sub(FIRST_FIELDS);
    let first = fields.into_iter().take(FIRST_FIELDS);
    let mut lines: Vec<_> =
        first.map(|(path, owner)| format!("  {path}\n    owned by  {owner}")).collect();
    if more > 0 {
        lines.push(format!("  … and {} more", count(more, "field")));
    }
    if lines.is_empty() { None } else { Some(lines.join("\n")) }
}

/// A change that is refused, where it is not proved that a replacement would help.
pub(crate) fn unproved(
    subject: Subject<'_>,
    status: &Status,
    missing: &MissingProof,
) -> Diagnostic {
    let diagnostic = Diagnostic::error(
        format!("{} cannot be changed like this", subject.key()),
        paragraphs([
            &said(status.code, &subject.quoted(&status.message)),
            &emptied_by_null(subject, status),
            &format!(
                "Whether a replacement would help cannot be determined without deleting the object. {}",
                reason(subject, Some(status), missing)
            ),
            &format!(
                "{TO_REPLACE} The new object may be refused. To keep the object, restore the old values in \
                 `yaml_body`."
            ),
        ]),
    );
    on_body(subject.manifest, diagnostic)
}

/// What is missing for the proof, with the words of the server unless they were quoted before.
fn reason(subject: Subject<'_>, quoted: Option<&Status>, missing: &MissingProof) -> String {
    let (what, status) = match missing {
        MissingProof::NotAboutTheBody => {
            return "The refusal may depend on the status, which a new object does not have: first do what \
                    the message asks for."
                .to_owned();
        }
        MissingProof::StoredBody(status) => {
            ("The body of the last apply is refused as well.", status)
        }
        MissingProof::Creation(status) => (
            "A dry-run as a new object is refused, perhaps for what the old object has itself (a port, \
             an address, a quota).",
            status,
        ),
        MissingProof::Overlay(status) => {
            ("Without the fields of others, the values are not refused for the same.", status)
        }
        MissingProof::Addresses(status) => (
            "Whether another Service has the addresses in `yaml_body` could not be checked.",
            status,
        ),
    };
    let words = match status.code {
        _ if quoted == Some(&**status) => String::new(),
        0 => "No clear answer came.".to_owned(),
        code => said(code, &subject.quoted(&status.message)),
    };
    format!("{what} {words}").trim_end().to_owned()
}

/// A Service would be deleted, and could not be created again.
pub(crate) fn address_taken(subject: Subject<'_>, taken: &[TakenAddress]) -> Diagnostic {
    let lines = taken.iter().map(|it| {
        let service = format!("Service `{}/{}`", it.namespace, it.name);
        (format!("{} {}", it.field, it.value), service)
    });
    let diagnostic = Diagnostic::error(
        format!("{} cannot be replaced: another Service has its address", subject.key()),
        paragraphs([
            "The replacement would delete the Service, and the API server would refuse to create it again. \
             A dry-run may accept the body, because it allocates nothing.",
            &listed(lines.collect()).unwrap_or_default(),
            "Write another address in `yaml_body`, or delete the other Service first.",
        ]),
    );
    on_body(subject.manifest, diagnostic)
}

/// An object that is to be replaced has a body that is refused to a new object.
pub(crate) fn no_successor(subject: Subject<'_>, status: &Status) -> Diagnostic {
    let refused = refused(subject, status);
    let detail = paragraphs([
        "The object is to be deleted and created again. The new one would be refused, so nothing is \
         planned.",
        &refused.detail,
    ]);
    let summary = format!("{} could not be created again", subject.key());
    on_body(subject.manifest, Diagnostic::error(summary, detail))
}

/// It is not proved that an object can be created again.
pub(crate) fn successor_unproved(subject: Subject<'_>, missing: &MissingProof) -> Diagnostic {
    let diagnostic = Diagnostic::warning(
        format!("{} may not come back once it is deleted", subject.key()),
        paragraphs([
            &format!(
                "The object is to be deleted and created again. {}",
                reason(subject, None, missing)
            ),
            "Apply only if the new object is not refused once the old one is deleted.",
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
