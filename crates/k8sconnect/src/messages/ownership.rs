//! What is said about other managers: one warning for each object and kind of event.

use k8sconnect_core::identity::ObjectKey;
use k8sconnect_core::owners::{Manager, Operation};
use k8sconnect_core::transition::{FieldNotice, Notices};
use tfplugin::{Diagnostic, Diagnostics};

use super::{ABSENT, count, one_line};

/// More fields than this are counted, not listed.
const LISTED: usize = 20;

pub(crate) fn told(key: &ObjectKey, notices: &Notices) -> Diagnostics {
    let mut told = Diagnostics::new();
    if !notices.reverts.is_empty() {
        told.push(reverts(key, &notices.reverts));
    }
    if !notices.takes.is_empty() {
        told.push(takes(key, &notices.takes));
    }
    if !notices.stays.is_empty() {
        told.push(stays(key, &notices.stays));
    }
    told
}

fn reverts(key: &ObjectKey, fields: &[FieldNotice]) -> Diagnostic {
    Diagnostic::warning(
        format!("{key}: {} changed outside of Terraform", count(fields.len(), "field")),
        format!(
            "Applying sets what you wrote again:\n\n{}\n\n\
             To let the other manager have a field, remove it from `yaml_body`. To keep the new \
             value, write it there.",
            listed(fields)
        ),
    )
}

fn takes(key: &ObjectKey, fields: &[FieldNotice]) -> Diagnostic {
    Diagnostic::warning(
        format!("{key}: {} will be taken from other managers", count(fields.len(), "field")),
        format!(
            "Others hold them now, and will not after apply:\n\n\
             {}\n\nThe other manager may set them back. To leave a field to it, remove the field \
             from `yaml_body`.",
            listed(fields)
        ),
    )
}

fn stays(key: &ObjectKey, fields: &[FieldNotice]) -> Diagnostic {
    Diagnostic::warning(
        format!("{key}: {} will stay, held by others", count(fields.len(), "removed field")),
        format!(
            "You no longer write them, but other managers hold them too, so the API server keeps \
             them on the object:\n\n{}\n\nTo be rid of a field, remove it with the manager that \
             holds it.",
            listed(fields)
        ),
    )
}

fn listed(fields: &[FieldNotice]) -> String {
    let mut lines: Vec<_> = fields.iter().take(LISTED).map(field).collect();
    if fields.len() > LISTED {
        lines.push(format!("  … and {} more", count(fields.len() - LISTED, "field")));
    }
    lines.join("\n")
}

/// Indented, so that Terraform does not wrap it.
fn field(notice: &FieldNotice) -> String {
    let shown = |text: &Option<String>| text.as_deref().map_or(ABSENT.to_owned(), one_line);
    let holders = match notice.holders.as_slice() {
        [] => "nobody".to_owned(),
        holders => holders.iter().map(manager).collect::<Vec<_>>().join(", "),
    };
    let mut lines = vec![format!("  {}", notice.path), format!("    held by  {holders}")];
    if notice.then.is_some() && notice.then != notice.now && notice.then != notice.next {
        lines.push(format!("    was      {}", shown(&notice.then)));
    }
    lines.push(format!("    is now   {}", shown(&notice.now)));
    if notice.next != notice.now {
        lines.push(format!("    will be  {}", shown(&notice.next)));
    }
    lines.join("\n")
}

fn manager(manager: &Manager) -> String {
    let operation = match manager.operation {
        Operation::Apply => "Apply",
        Operation::Update => "Update",
    };
    let mut about = vec![operation.to_owned()];
    if !manager.subresource.is_empty() {
        about.push(format!("through `{}`", manager.subresource));
    }
    about.extend(manager.time.clone());
    format!("`{}` ({})", manager.name, about.join(", "))
}
