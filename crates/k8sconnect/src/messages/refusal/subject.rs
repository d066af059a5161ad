//! What a refusal is about, and what of the server's words on it may be shown.

use k8sconnect_core::field::{FieldPath, PathElement};
use k8sconnect_core::identity::ObjectKey;
use k8sconnect_core::manifest::Manifest;
use k8sconnect_core::rejection::{Cause, Status};
use k8sconnect_core::scrub::Secrets;
use serde_json::Value;

use crate::messages::{WITHHELD, in_brief, quoted};

/// What a refusal is about: a body, and another version of it that the server may quote as well.
#[derive(Clone, Copy)]
pub(crate) struct Subject<'a> {
    pub(crate) manifest: &'a Manifest,
    pub(crate) former: Option<&'a Value>,
}

impl<'a> From<&'a Manifest> for Subject<'a> {
    fn from(manifest: &'a Manifest) -> Self {
        Self { manifest, former: None }
    }
}

impl Subject<'_> {
    pub(in crate::messages) fn key(&self) -> &ObjectKey {
        self.manifest.key()
    }

    /// A server's message, as far as it may be shown.
    pub(in crate::messages) fn quoted(&self, message: &str) -> String {
        quoted(&self.secrets(), message)
    }

    fn secrets(&self) -> Secrets {
        let secrets = Secrets::of(self.manifest);
        match self.former {
            Some(former) => secrets.and(self.manifest.secrecy(), former),
            None => secrets,
        }
    }

    /// The fields that are written as null, or as no text, where the object has a value, of those that a
    /// refusal may be about. With each, how it is written.
    pub(in crate::messages) fn nulled(&self, status: &Status) -> Vec<(String, &'static str)> {
        let mut found = Vec::new();
        if let Some(former) = self.former {
            collect_nulled(self.manifest.value(), former, &mut FieldPath::default(), &mut found);
        }
        let causes = &status.details.causes;
        found.retain(|(field, _)| {
            let is_in = |around: &str| {
                field
                    .strip_prefix(around)
                    .is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
            };
            status.message.contains(field) || causes.iter().any(|cause| is_in(&cause.field))
        });
        found
    }

    /// One line a cause; several that come to the same are one.
    pub(in crate::messages) fn by_field(&self, causes: &[Cause]) -> Vec<String> {
        let secrets = self.secrets();
        let line = |cause: &Cause| {
            let words = secrets.shown(&cause.message).map(|words| in_brief(&words));
            let words = words.unwrap_or_else(|| reason(cause));
            format!("  {}: {words}", self.field(&secrets, cause))
        };
        let mut lines: Vec<String> = Vec::new();
        for line in causes.iter().map(line) {
            if !lines.contains(&line) {
                lines.push(line);
            }
        }
        lines
    }

    /// The field of a cause. A path into the object is no secret; any other text that a webhook puts
    /// there may be one.
    fn field(&self, secrets: &Secrets, cause: &Cause) -> String {
        let first = cause.field.split(['.', '[']).next().unwrap_or_default();
        let is_path = !cause.field.contains(char::is_whitespace)
            && (first == "metadata" || self.manifest.value().get(first).is_some());
        match is_path {
            true => cause.field.clone(),
            false => quoted(secrets, &cause.field),
        }
    }
}

/// Why a field was not taken, where the server's words for it cannot be shown.
fn reason(cause: &Cause) -> String {
    match cause.reason.as_str() {
        "FieldValueInvalid" => "its value is not valid".to_owned(),
        "FieldValueRequired" => "a value is required".to_owned(),
        "FieldValueNotSupported" => "its value is not one of those that are taken".to_owned(),
        "FieldValueDuplicate" => "its value is there already".to_owned(),
        "FieldValueTooLong" => "its value is too long".to_owned(),
        "FieldValueForbidden" => "it may not be set".to_owned(),
        "FieldValueTypeInvalid" => "its value is of another type".to_owned(),
        "" => WITHHELD.to_owned(),
        other => other.to_owned(),
    }
}
/// Items of lists have no place that would be the same in both.
fn collect_nulled(
    written: &Value,
    live: &Value,
    path: &mut FieldPath,
    found: &mut Vec<(String, &'static str)>,
) {
    for (name, written) in written.as_object().into_iter().flatten() {
        let Some(live) = live.get(name).filter(|live| !live.is_null()) else {
            continue;
        };
        path.push(PathElement::field(name.clone()));
        match written {
            Value::Null => found.push((path.shown(), "null")),
            Value::String(text) if text.is_empty() && live != written => {
                found.push((path.shown(), r#""""#));
            }
            _ => collect_nulled(written, live, path, found),
        }
        path.pop();
    }
}
