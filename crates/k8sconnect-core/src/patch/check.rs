//! What no patch may touch.

use serde_json::{Map, Value};

use super::operation::Operation;
use super::{Manner, PatchError, SecretError};
use crate::field::{FieldPath, PathElement};
use crate::identity::{DEFAULT_NAMESPACE, ObjectKey, reserved};
use crate::manifest::{SERVER_METADATA, may_be_data_of_a_secret};
use crate::pointer::Pointer;
use crate::secrecy::Secrecy;

/// A partial object without what merely repeats the target's identity.
pub(super) fn partial_object(
    value: Value,
    key: &ObjectKey,
    manner: Manner,
) -> Result<Value, Vec<PatchError>> {
    let mut errors = reserved_in(&value);
    directives(&value, &mut FieldPath::default(), &mut errors);
    let Value::Object(mut object) = value else {
        return Err(vec![PatchError::NotAMapping]);
    };
    let mut repeats =
        |map: &mut Map<String, Value>, name: &str, shown: &str, meant: &[&str]| match map
            .remove(name)
        {
            None => {}
            Some(Value::String(text)) if meant.contains(&text.as_str()) => {}
            Some(_) => errors.push(PatchError::Identity(shown.to_owned())),
        };
    repeats(&mut object, "apiVersion", "apiVersion", &[&key.gvk.api_version()]);
    repeats(&mut object, "kind", "kind", &[&key.gvk.kind]);
    match object.get_mut("metadata") {
        None => {}
        Some(Value::Object(metadata)) => {
            let namespace = key.namespace.as_deref().unwrap_or(DEFAULT_NAMESPACE);
            repeats(metadata, "name", "metadata.name", &[&key.name]);
            repeats(metadata, "namespace", "metadata.namespace", &[namespace]);
            repeats(metadata, "generateName", "metadata.generateName", &[]);
            for name in SERVER_METADATA {
                if metadata.contains_key(name) {
                    errors.push(PatchError::ServerOwned(format!("metadata.{name}")));
                }
            }
            if manner == Manner::Merge && metadata.get("annotations") == Some(&Value::Null) {
                errors.push(PatchError::AllAnnotations("metadata.annotations".to_owned()));
            }
            if metadata.is_empty() {
                object.remove("metadata");
            }
        }
        Some(_) => errors.push(PatchError::Identity("metadata".to_owned())),
    }
    if object.contains_key("status") {
        errors.push(PatchError::ServerOwned("status".to_owned()));
    }
    if manner == Manner::Merge && key.gvk.is_secret() {
        secret_data(&object, &mut errors);
    }
    errors.extend(not_base64(&object, key));
    if errors.is_empty() && object.is_empty() {
        errors.push(PatchError::Empty);
    }
    if errors.is_empty() { Ok(Value::Object(object)) } else { Err(errors) }
}

/// What a merge patch says of a Secret in `stringData`, where that cannot be said of `data` too.
fn secret_data(object: &Map<String, Value>, errors: &mut Vec<PatchError>) {
    let plain = match object.get("stringData") {
        None => return,
        Some(Value::Null) => return errors.push(PatchError::Secret(SecretError::NoStringData)),
        Some(plain) => plain.as_object(),
    };
    match object.get("data") {
        Some(Value::Null) => errors.push(PatchError::Secret(SecretError::AllOfData)),
        Some(Value::Object(data)) => {
            let gone = plain.into_iter().flatten().filter(|(_, text)| text.is_null());
            let both = gone.filter(|(name, _)| data.get(*name).is_some_and(|it| !it.is_null()));
            errors.extend(
                both.map(|(name, _)| PatchError::Secret(SecretError::BothWays(name.clone()))),
            );
        }
        _ => {}
    }
}

/// What the server would refuse without naming the field.
fn not_base64(object: &Map<String, Value>, key: &ObjectKey) -> Vec<PatchError> {
    let data = object.get("data").filter(|_| key.gvk.is_secret());
    let values = data.and_then(Value::as_object).into_iter().flatten();
    let wrong = values.filter(|(_, value)| !may_be_data_of_a_secret(value));
    let told = wrong.map(|(name, _)| FieldPath::fields(["data", name]).to_string());
    told.map(|at| PatchError::Secret(SecretError::NotBase64(at))).collect()
}

fn reserved_in(object: &Value) -> Vec<PatchError> {
    let reserved = reserved(object).into_iter();
    reserved.map(|names| PatchError::Reserved(FieldPath::fields(names))).collect()
}

/// Keys that mean something to strategic merge patches, and nothing to anybody else. Other names
/// with a dollar (`$ref` in a schema) are ordinary.
fn is_directive(name: &str) -> bool {
    matches!(name, "$patch" | "$retainKeys")
        || name.starts_with("$setElementOrder/")
        || name.starts_with("$deleteFromPrimitiveList/")
}

fn directives(value: &Value, at: &mut FieldPath, errors: &mut Vec<PatchError>) {
    match value {
        Value::Object(map) => {
            for (name, below) in map {
                at.push(PathElement::field(name.clone()));
                if is_directive(name) {
                    errors.push(PatchError::Directive(at.to_string()));
                } else {
                    directives(below, at, errors);
                }
                at.pop();
            }
        }
        Value::Array(items) => {
            for (n, item) in items.iter().enumerate() {
                at.push(PathElement::Index(n));
                directives(item, at, errors);
                at.pop();
            }
        }
        _ => {}
    }
}

pub(super) fn operations(
    value: &Value,
    key: &ObjectKey,
) -> Result<Vec<Operation>, Vec<PatchError>> {
    let Value::Array(items) = value else {
        return Err(vec![PatchError::NotAList]);
    };
    let mut operations = Vec::new();
    let mut errors = Vec::new();
    for (n, item) in items.iter().enumerate() {
        match Operation::read(item) {
            Ok(operation) => {
                errors.extend(operation.changes().into_iter().filter_map(|at| forbidden(at, key)));
                errors.extend(all_annotations(&operation));
                errors.extend(operation.places().iter().flat_map(reserved_in));
                errors.extend(betrayal(&operation, key));
                if let Some(Value::Object(object)) = operation.as_object() {
                    errors.extend(not_base64(&object, key));
                }
                in_operation(&operation, &mut errors);
                operations.push(operation);
            }
            Err(error) => errors.push(PatchError::BadOperation { n: n + 1, error }),
        }
    }
    if errors.is_empty() && operations.iter().all(|operation| operation.changes().is_empty()) {
        errors.push(PatchError::Empty);
    }
    if errors.is_empty() { Ok(operations) } else { Err(errors) }
}

fn in_operation(operation: &Operation, errors: &mut Vec<PatchError>) {
    for at in operation.changes() {
        if at.0.iter().any(|token| is_directive(token)) {
            errors.push(PatchError::Directive(at.to_string()));
        }
    }
    if let Some(value) = operation.value() {
        let mut path = FieldPath::fields(operation.at().0.iter().map(String::as_str));
        directives(value, &mut path, errors);
    }
}

/// An operation on all annotations would take those of k8sconnect and of every other manager along.
/// Only one that adds the map may stand: whether that takes any is seen on the object.
fn all_annotations(operation: &Operation) -> Option<PatchError> {
    let all = operation.changes().iter().any(|at| at.is_all_annotations());
    let adds_a_map = matches!(operation, Operation::Add { value: Value::Object(_), .. });
    (all && !adds_a_map).then(|| PatchError::AllAnnotations(operation.at().to_string()))
}

/// What an operation would bring from a place where it is hidden to one where everybody sees it, and
/// where nothing would know any more that it is to be hidden.
fn betrayal(operation: &Operation, key: &ObjectKey) -> Option<PatchError> {
    let (Operation::Copy { from, at } | Operation::Move { from, at }) = operation else {
        return None;
    };
    let secrecy = Secrecy::of(&key.gvk, &[]);
    let path = |place: &Pointer| FieldPath::fields(place.0.iter().map(String::as_str));
    let betrays =
        secrecy.reaches_secret_data(&path(from)) && !secrecy.conceals(&path(at), &Value::Null);
    betrays.then(|| {
        let from = if from.0.is_empty() { "\"\"".to_owned() } else { from.to_string() };
        PatchError::Secret(SecretError::Betrayal { from, to: at.to_string() })
    })
}

fn forbidden(at: &Pointer, key: &ObjectKey) -> Option<PatchError> {
    let shown = at.to_string();
    let tokens: Vec<_> = at.0.iter().map(String::as_str).collect();
    match tokens.as_slice() {
        [] => Some(PatchError::WholeObject),
        ["metadata"] | ["apiVersion", ..] | ["kind", ..] => Some(PatchError::Identity(shown)),
        ["metadata", "name" | "namespace" | "generateName", ..] => {
            Some(PatchError::Identity(shown))
        }
        ["metadata", name, ..] if SERVER_METADATA.contains(name) => {
            Some(PatchError::ServerOwned(shown))
        }
        ["status", ..] => Some(PatchError::ServerOwned(shown)),
        ["stringData", ..] if key.gvk.is_secret() => {
            Some(PatchError::Secret(SecretError::StringData(shown)))
        }
        _ => None,
    }
}
