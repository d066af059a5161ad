//! What is said about the choice between a body that is stored and one that is not, and about what
//! is to be hidden of it.

use k8sconnect_core::field::{FieldPath, PathElement};
use k8sconnect_core::identity::{IdentityChange, ObjectKey};
use tfplugin::{AttributePath, Diagnostic, Diagnostics};

use super::count;
use super::manifest::Attribute;

/// What becomes of the words about `yaml_body` where the body is in this attribute.
pub(crate) fn said_of(attribute: Attribute) -> fn(Diagnostics) -> Diagnostics {
    match attribute {
        Attribute::Body => std::convert::identity,
        Attribute::SecretBody => said_of_secret,
        Attribute::WriteOnly => said_of_write_only,
    }
}

/// What is said of `yaml_body` where the body stands in `yaml_body_wo`.
fn said_of_write_only(told: Diagnostics) -> Diagnostics {
    let rename = |text: &str| text.replace("`yaml_body`", "`yaml_body_wo`");
    said_of_secret(told)
        .into_iter()
        .map(|one| Diagnostic { summary: rename(&one.summary), detail: rename(&one.detail), ..one })
        .collect()
}

/// What is said of a body that may hold secrets, and points elsewhere: Terraform prints the lines of
/// an attribute that is pointed at.
fn said_of_secret(told: Diagnostics) -> Diagnostics {
    let body = AttributePath::root("yaml_body");
    let elsewhere =
        |one: Diagnostic| Diagnostic { path: one.path.filter(|path| *path != body), ..one };
    told.into_iter().map(elsewhere).collect()
}

pub(crate) fn none() -> Diagnostic {
    Diagnostic::error(
        "The object has no body",
        "What the object is to be stands in `yaml_body`, or in `yaml_body_wo` where it is secret \
         and must not come into state. Neither is set.\n\n\
         Set one of them.",
    )
}

pub(crate) fn both() -> Diagnostic {
    Diagnostic::error(
        "The object has two bodies",
        "`yaml_body` is stored in state, `yaml_body_wo` never is; only one of them can be meant. \
         Keep `yaml_body_wo` if the body holds secrets, `yaml_body` otherwise.",
    )
}

pub(crate) fn no_version() -> Diagnostic {
    Diagnostic::error(
        "`yaml_body_wo` needs a version",
        "Nothing of `yaml_body_wo` is stored, so that a change of it can be told by nothing but \
         `yaml_body_wo_version`. It is not set.\n\n\
         Set `yaml_body_wo_version`, to `1` for example, and change it whenever the body is to be \
         applied again.",
    )
}

pub(crate) fn version_alone() -> Diagnostic {
    Diagnostic::error(
        "`yaml_body_wo_version` is set without `yaml_body_wo`",
        "It is the version of a body that is never stored, and there is none. A `yaml_body` needs \
         no version: state holds it.\n\n\
         Remove `yaml_body_wo_version`, or move the body to `yaml_body_wo`.",
    )
}

/// A body that is never stored means another object, and its version says that it is the same.
pub(crate) fn another_object(key: &ObjectKey, changes: &[IdentityChange]) -> Diagnostic {
    let lines: Vec<_> =
        changes.iter().map(|(field, old, new)| format!("  {field}: {old} -> {new}")).collect();
    Diagnostic::error(
        format!("{key}: `yaml_body_wo` means another object, and its version is the same"),
        format!(
            "These fields say which object is meant:\n\n{}\n\n\
             A body that is never stored is applied anew when `yaml_body_wo_version` changes, and \
             it has not. Change it, and the plan replaces the object; or restore the old values.",
            lines.join("\n")
        ),
    )
    .at(AttributePath::root("yaml_body_wo_version"))
}

/// Paths that mean none of the fields that are written.
pub(crate) fn hides_nothing(key: &ObjectKey, paths: &[String]) -> Diagnostic {
    let lines: Vec<_> = paths.iter().map(|path| format!("  {path}")).collect();
    Diagnostic::warning(
        format!(
            "{key}: nothing is hidden by {} of `sensitive_fields`",
            count(paths.len(), "entry")
        ),
        format!(
            "They mean no field that you write:\n\n{}\n\n\
             Compare them with the paths in `managed_state_projection`, or remove them. If a value \
             was to be hidden by them, it is shown.",
            lines.join("\n")
        ),
    )
    .at(AttributePath::root("sensitive_fields"))
}

/// Fields that are to be hidden, and stand in their own paths.
pub(crate) fn shown_by_its_path(key: &ObjectKey, fields: &[FieldPath]) -> Diagnostic {
    let mut lines: Vec<_> = fields.iter().map(|field| format!("  {}", place(field))).collect();
    lines.dedup();
    Diagnostic::error(
        format!("{key}: {} cannot be hidden", count(lines.len(), "field")),
        format!(
            "The API server names members of a set, and items of a list, by these values, in the \
             object's own `metadata.managedFields` too; they would show in every path:\n\n{}\n\n\
             Leave them out of `sensitive_fields`, and a body that holds them out of \
             `yaml_body_wo`; or keep the secret in a Secret, and refer to it by name.",
            lines.join("\n")
        ),
    )
}

/// The path without the value that must not be shown.
fn place(field: &FieldPath) -> String {
    let mut place = String::new();
    for element in field.elements() {
        match element {
            PathElement::Field(name) if place.is_empty() => {
                place = FieldPath::fields([name.as_str()]).to_string();
            }
            PathElement::Field(name) => {
                let name = FieldPath::fields([name.as_str()]).to_string();
                let joint = if name.starts_with('[') { "" } else { "." };
                place.push_str(&format!("{joint}{name}"));
            }
            PathElement::Key(_) | PathElement::Value(_) | PathElement::Index(_) => {
                place.push_str("[*]");
            }
        }
    }
    place
}
