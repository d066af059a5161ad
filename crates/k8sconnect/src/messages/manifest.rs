//! What is said about a body that cannot be read.

use k8sconnect_core::identity::ObjectKey;
use k8sconnect_core::manifest::{Manifest, ManifestError};
use k8sconnect_core::yaml::Position;
use tfplugin::{AttributePath, Diagnostic, Diagnostics};

use super::ownership::{LISTED, more};
use super::{count, paragraphs};

/// Which attribute a body stands in, and whether it may be pointed to: Terraform prints the lines
/// of an attribute that a diagnostic points to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Attribute {
    Body,
    /// A `yaml_body` that may hold secrets.
    SecretBody,
    WriteOnly,
}

impl Attribute {
    fn name(self) -> &'static str {
        match self {
            Self::Body | Self::SecretBody => "yaml_body",
            Self::WriteOnly => "yaml_body_wo",
        }
    }

    fn on(self, diagnostic: Diagnostic) -> Diagnostic {
        match self {
            Self::Body => diagnostic.at(AttributePath::root(self.name())),
            Self::SecretBody | Self::WriteOnly => diagnostic,
        }
    }
}

pub(crate) fn unusable(errors: &[ManifestError], attribute: Attribute) -> Diagnostic {
    let lines: Vec<_> = errors.iter().map(|error| format!("  - {error}")).collect();
    let mut advice: Vec<_> = errors.iter().map(advice).collect();
    advice.dedup();
    let found = format!("{} found:\n{}", count(errors.len(), "problem"), lines.join("\n"));
    attribute.on(Diagnostic::error(
        format!("`{}` is not one Kubernetes object", attribute.name()),
        paragraphs([&found, &advice.join("\n\n")]),
    ))
}

fn advice(error: &ManifestError) -> &'static str {
    match error {
        ManifestError::Yaml(_) => "Mend the YAML there; it is read as kubectl reads it.",
        ManifestError::Empty => {
            "Give it one object: `apiVersion`, `kind`, `metadata.name` and whatever the kind needs."
        }
        ManifestError::SeveralDocuments { .. } => {
            "One resource holds one object. For many documents use \
             `for_each = provider::k8sconnect::yaml_split(…)` and `yaml_body = each.value`."
        }
        ManifestError::IsAList { .. } => {
            "One resource holds one object. For the items of a list use \
             `for_each = provider::k8sconnect::yaml_split(…)` and `yaml_body = each.value`."
        }
        ManifestError::NotAMapping { .. } | ManifestError::WrongType { .. } => {
            "Check the indentation and the quotes around that line."
        }
        ManifestError::Missing { .. } => "Every object needs `apiVersion`, `kind` and a name.",
        ManifestError::NotBase64 { .. } => {
            "`data` of a Secret holds base64. Write plain text in `stringData`, or encode it with \
             `base64encode(…)`."
        }
        ManifestError::GenerateName { .. } => {
            "Terraform must know which object is meant: give it a `metadata.name`."
        }
        ManifestError::Reserved { .. } => {
            "Remove these lines: annotations and labels under `k8sconnect.terraform.io/` are \
             reserved for k8sconnect, which sets them itself. They usually come from \
             `kubectl get -o yaml` of an object that k8sconnect manages. To take over such an \
             object, set `adopt = true` or import it."
        }
        ManifestError::ObjectName { .. } => {
            "A name is one step of an address: it holds neither `/` nor `%`, and is neither `.` nor \
             `..`."
        }
        ManifestError::NamespaceName { .. } => {
            "A namespace is named with lower-case letters, digits and `-`, begins and ends with a \
             letter or a digit, and has at most 63 characters."
        }
        ManifestError::ServerOwned { .. } => {
            "Remove these lines: the API server writes them, and would take them from nobody else. \
             They usually come from `kubectl get -o yaml`. How to leave them out of a file that is \
             not yours to change stands with the function `yaml_split`."
        }
    }
}

/// What is legal, but seldom meant.
pub(crate) fn oddities(manifest: &Manifest, attribute: Attribute) -> Diagnostics {
    let mut notices = Diagnostics::new();
    for (written, position) in manifest.boolean_keys() {
        notices.push(attribute.on(read_as_boolean(manifest.key(), written, *position)));
    }
    notices
}

/// What may be behind the refusal of a body: words that became booleans. Which they are is not
/// shown, since a Secret may hold them.
pub(super) fn words_read_as_booleans(places: &[Position]) -> String {
    if places.is_empty() {
        return String::new();
    }
    let mut lines: Vec<_> = places.iter().take(LISTED).map(|at| format!("  - {at}")).collect();
    lines.extend(more(places.len()));
    format!(
        "YAML, as kubectl reads it, makes a boolean of `y`, `yes`, `on`, `n`, `no` and `off` without \
         quotes. One of them is the value at:\n{}\nPut it in quotes if you mean the word.",
        lines.join("\n")
    )
}

pub(super) fn read_as_boolean(key: &ObjectKey, written: &str, position: Position) -> Diagnostic {
    Diagnostic::warning(
        format!("A key of {key} is read as a boolean"),
        format!(
            "At {position} the key `{written}` stands without quotes. YAML, as kubectl reads it, \
             makes a boolean of it, so that the object gets a key named `true` or `false`.\n\n\
             Put it in quotes if you mean the word."
        ),
    )
}
