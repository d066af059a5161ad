//! What is said about a body that cannot be read.

use k8sconnect_core::identity::ObjectKey;
use k8sconnect_core::manifest::{Manifest, ManifestCause, ManifestError};
use k8sconnect_core::yaml::Position;
use tfplugin::{AttributePath, Diagnostic, Diagnostics};

use super::ownership::{LISTED, more};
use super::{Explained, problems, yaml};

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
    attribute.on(Diagnostic::error(
        format!("`{}` is not one Kubernetes object", attribute.name()),
        problems(errors.iter().map(placed)),
    ))
}

/// The problem with its place in the text.
pub(super) fn placed(error: &ManifestError) -> Explained {
    let (problem, advice) = explained(error);
    match &error.cause {
        ManifestCause::Yaml(error) => (format!("{}: {problem}", error.position), advice),
        ManifestCause::Empty => (problem, advice),
        _ => (format!("line {}: {problem}", error.line), advice),
    }
}

pub(super) fn explained(error: &ManifestError) -> Explained {
    const ONE_EACH: &str = "One resource manages one object. For several objects use \
        `for_each = provider::k8sconnect::yaml_split(…)` and `yaml_body = each.value`.";
    let field = &error.field;
    match &error.cause {
        ManifestCause::Yaml(error) => yaml::explained(&error.kind),
        ManifestCause::Empty => (
            "the text contains no object".into(),
            "Write one object, with `apiVersion`, `kind` and `metadata.name`.",
        ),
        ManifestCause::SeveralDocuments(count) => {
            (format!("the second of {count} documents starts here"), ONE_EACH)
        }
        ManifestCause::IsAList(kind) => {
            (format!("`kind: {kind}` is a list of objects, not an object"), ONE_EACH)
        }
        ManifestCause::NotAMapping if field.is_empty() => (
            "the document is not a mapping of fields".into(),
            "Check the indentation and the quotes around that line.",
        ),
        ManifestCause::NotAMapping => (
            format!("`{field}` is not a mapping of fields"),
            "Check the indentation and the quotes around that line.",
        ),
        ManifestCause::NotText => (format!("`{field}` is not text"), "Put the value in quotes."),
        ManifestCause::Missing => (
            format!("`{field}` is missing"),
            "Every object needs `apiVersion`, `kind` and `metadata.name`.",
        ),
        ManifestCause::NotBase64 { written } => {
            let key = written.as_ref().map(|key| format!(" (the key `{key}`)")).unwrap_or_default();
            (format!("`{field}`{key} is not base64"), NOT_BASE64)
        }
        ManifestCause::GenerateName => (
            format!("`{field}` cannot be used"),
            "Terraform must know which object it manages. Write `metadata.name` instead.",
        ),
        ManifestCause::Reserved => (
            format!("`{field}` is reserved for k8sconnect"),
            "Remove the annotations and labels under `k8sconnect.terraform.io/`; k8sconnect sets \
             them itself. To take over an object that k8sconnect manages elsewhere, set `adopt = \
             true` or import it.",
        ),
        ManifestCause::ObjectName(name) => (
            format!("no object can have the name `{name}`"),
            "A name contains neither `/` nor `%`, and is neither `.` nor `..`.",
        ),
        ManifestCause::NamespaceName(name) => (
            format!("no namespace can have the name `{name}`"),
            "A namespace has at most 63 lower-case letters, digits and `-`, with a letter or digit at \
             both ends.",
        ),
        ManifestCause::ServerOwned => (
            format!("`{field}` is written by the API server"),
            "Remove the fields that the API server writes; `kubectl get -o yaml` prints them. The \
             documentation of `yaml_split` shows how to leave them out of files that you cannot change.",
        ),
    }
}

/// What to do about `data` of a Secret.
pub(super) const NOT_BASE64: &str = "`data` of a Secret holds base64. Write plain text in \
    `stringData`, or encode it with `base64encode(…)`.";

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
