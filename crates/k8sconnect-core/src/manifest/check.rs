//! What must hold of a body before anybody is asked: it says which object it is, and nothing that
//! only the server may say.

use base64::Engine;
use base64::engine::general_purpose::STANDARD as BASE64;
use serde_json::{Map, Value};

use super::{ManifestCause, ManifestError, SERVER_METADATA};
use crate::field::FieldPath;
use crate::identity::{Gvk, ObjectKey, is_name, is_namespace, reserved};
use crate::yaml::{Document, Step};

/// Which object a part of a document is, the whole of it or an item of a list, and no more: whether
/// it could be applied is not asked.
pub(crate) fn identify(
    document: &Document,
    value: &Value,
    at: &[Step<'_>],
) -> Result<ObjectKey, Vec<ManifestError>> {
    let mut check = Check::of(document, value, at);
    match check.object_key() {
        Some(key) if check.errors.is_empty() => Ok(key),
        _ => Err(check.errors),
    }
}

pub(super) struct Check<'a> {
    document: &'a Document,
    value: &'a Value,
    /// The way from the document to the value.
    at: &'a [Step<'a>],
    pub(super) errors: Vec<ManifestError>,
}

impl<'a> Check<'a> {
    pub(super) fn of(document: &'a Document, value: &'a Value, at: &'a [Step<'a>]) -> Self {
        Self { document, value, at, errors: Vec::new() }
    }

    pub(super) fn object_key(&mut self) -> Option<ObjectKey> {
        let Some(object) = self.value.as_object() else {
            self.refuse(&[], ManifestCause::NotAMapping);
            return None;
        };
        let api_version = self.required_text(object, &[], "apiVersion");
        let kind = self.required_text(object, &[], "kind");
        if let (Some(kind), true) = (&kind, object.contains_key("items")) {
            self.refuse(&["kind"], ManifestCause::IsAList(kind.clone()));
            return None;
        }
        let metadata = match object.get("metadata") {
            Some(Value::Object(metadata)) => metadata,
            None | Some(Value::Null) => {
                self.refuse(&["metadata", "name"], ManifestCause::Missing);
                return None;
            }
            Some(_) => {
                self.refuse(&["metadata"], ManifestCause::NotAMapping);
                return None;
            }
        };
        if metadata.contains_key("generateName") {
            self.refuse(&["metadata", "generateName"], ManifestCause::GenerateName);
            return None;
        }
        let name = self.required_text(metadata, &["metadata"], "name");
        if let Some(name) = name.clone().filter(|name| !is_name(name)) {
            self.refuse(&["metadata", "name"], ManifestCause::ObjectName(name));
        }
        let namespace = match metadata.get("namespace") {
            None | Some(Value::Null) => None,
            Some(Value::String(namespace)) if namespace.is_empty() => None,
            Some(Value::String(namespace)) => {
                if !is_namespace(namespace) {
                    let cause = ManifestCause::NamespaceName(namespace.clone());
                    self.refuse(&["metadata", "namespace"], cause);
                }
                Some(namespace.clone())
            }
            Some(_) => {
                self.refuse(&["metadata", "namespace"], ManifestCause::NotText);
                None
            }
        };
        Some(ObjectKey { gvk: Gvk::new(&api_version?, &kind?), namespace, name: name? })
    }

    pub(super) fn refuse_what_cannot_be_sent(&mut self) {
        // Of a list it is enough to say that it is one.
        let Some(object) = self.value.as_object().filter(|it| !it.contains_key("items")) else {
            return;
        };
        let Some(metadata) = object.get("metadata").and_then(Value::as_object) else {
            return;
        };
        self.refuse_what_the_server_writes(object, metadata);
        if object.get("apiVersion").is_some_and(|it| it == "v1")
            && object.get("kind").is_some_and(|it| it == "Secret")
        {
            self.check_base64(object);
        }
    }

    fn refuse_what_the_server_writes(
        &mut self,
        object: &Map<String, Value>,
        metadata: &Map<String, Value>,
    ) {
        for name in SERVER_METADATA {
            if metadata.get(name).is_some_and(|value| !value.is_null()) {
                self.refuse(&["metadata", name], ManifestCause::ServerOwned);
            }
        }
        for names in reserved(self.value) {
            self.refuse(&names, ManifestCause::Reserved);
        }
        if object.contains_key("status") {
            self.refuse(&["status"], ManifestCause::ServerOwned);
        }
    }

    /// The server's own words about it name no field.
    fn check_base64(&mut self, object: &Map<String, Value>) {
        for (name, value) in object.get("data").and_then(Value::as_object).into_iter().flatten() {
            if !may_be_data_of_a_secret(value) {
                let line = self.line(&["data", name]);
                let written = self.document.boolean_key(line, name).map(ToOwned::to_owned);
                self.refuse(&["data", name], ManifestCause::NotBase64 { written });
            }
        }
    }

    fn required_text(
        &mut self,
        map: &Map<String, Value>,
        parents: &[&str],
        field: &str,
    ) -> Option<String> {
        let cause = match map.get(field) {
            Some(Value::String(text)) if !text.is_empty() => return Some(text.clone()),
            None | Some(Value::Null | Value::String(_)) => ManifestCause::Missing,
            Some(_) => ManifestCause::NotText,
        };
        let path: Vec<_> = parents.iter().copied().chain([field]).collect();
        self.refuse(&path, cause);
        None
    }

    fn refuse(&mut self, path: &[&str], cause: ManifestCause) {
        let (line, field) = (self.line(path), FieldPath::fields(path.iter().copied()));
        self.errors.push(ManifestError { line, field, cause });
    }

    fn line(&self, path: &[&str]) -> usize {
        let steps: Vec<_> =
            self.at.iter().copied().chain(path.iter().map(|name| Step::Key(name))).collect();
        let found =
            self.document.position_of(&steps).or_else(|| self.document.position_of(self.at));
        found.unwrap_or(self.document.position).line
    }
}

/// Whether a value can stand in `data` of a Secret, as far as base64 goes. What is no text is told by
/// its type.
pub(crate) fn may_be_data_of_a_secret(value: &Value) -> bool {
    let Some(text) = value.as_str() else {
        return true;
    };
    let bare: String = text.chars().filter(|c| !matches!(c, '\n' | '\r')).collect();
    BASE64.decode(&bare).is_ok()
}
