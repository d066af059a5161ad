//! Requests and answers in their envelopes, seen from Terraform's side.

use super::{Failure, State};
use crate::diagnostic::{Diagnostic, Diagnostics, Severity};
use crate::dynamic;
use crate::path::{AttributePath, Step};
use crate::private::Private;
use crate::proto::tfplugin6 as proto;
use crate::value::{Type, Value};

pub(super) fn encode(value: &Value, ty: &Type) -> Result<proto::DynamicValue, Failure> {
    let msgpack = dynamic::to_msgpack(value.clone(), ty)
        .map_err(|mismatch| Failure::Broken(format!("the test's own value: {mismatch}")))?;
    Ok(proto::DynamicValue { msgpack, json: Vec::new() })
}

pub(super) fn decode(envelope: Option<proto::DynamicValue>, ty: &Type) -> Result<Value, Failure> {
    let Some(envelope) = envelope else {
        return Ok(Value::Null);
    };
    dynamic::from_msgpack(&envelope.msgpack, ty)
        .map_err(|mismatch| Failure::Broken(format!("the provider's answer: {mismatch}")))
}

pub(super) fn encode_identity(
    identity: Option<&Value>,
    ty: Option<&Type>,
) -> Result<Option<proto::IdentityData>, Failure> {
    let (Some(identity), Some(ty)) = (identity, ty) else {
        return Ok(None);
    };
    Ok(Some(proto::IdentityData { identity_data: Some(encode(identity, ty)?) }))
}

pub(super) fn decode_identity(
    envelope: Option<proto::IdentityData>,
    ty: Option<&Type>,
) -> Result<Option<Value>, Failure> {
    match (envelope.and_then(|data| data.identity_data), ty) {
        (Some(data), Some(ty)) => Ok(Some(decode(Some(data), ty)?)),
        _ => Ok(None),
    }
}

pub(super) fn decode_private(bytes: &[u8]) -> Result<Private, Failure> {
    Private::from_bytes(bytes).map_err(|err| Failure::Broken(err.to_string()))
}

/// A gRPC error reaches users as "Plugin error" and is never right.
pub(super) fn answered<T>(answer: Result<tonic::Response<T>, tonic::Status>) -> Result<T, Failure> {
    match answer {
        Ok(response) => Ok(response.into_inner()),
        Err(status) => Err(Failure::Broken(format!("Plugin error: {status}"))),
    }
}

/// The warnings of a request that succeeded, or else the failure.
pub(super) fn accepted(
    told: Vec<proto::Diagnostic>,
    stored: Option<State>,
) -> Result<Diagnostics, Failure> {
    let diagnostics = diagnostics(told);
    if diagnostics.has_errors() {
        Err(Failure::Refused { diagnostics, stored: stored.map(Box::new) })
    } else {
        Ok(diagnostics)
    }
}

pub(super) fn diagnostics(told: Vec<proto::Diagnostic>) -> Diagnostics {
    let read = |told: proto::Diagnostic| Diagnostic {
        severity: match told.severity() {
            proto::diagnostic::Severity::Warning => Severity::Warning,
            _ => Severity::Error,
        },
        summary: told.summary,
        detail: told.detail,
        path: told.attribute.map(path),
    };
    told.into_iter().map(read).collect()
}

pub(super) fn path(path: proto::AttributePath) -> AttributePath {
    use proto::attribute_path::step::Selector;
    let read = |step: proto::attribute_path::Step| {
        step.selector.map(|selector| match selector {
            Selector::AttributeName(name) => Step::Attribute(name),
            Selector::ElementKeyString(key) => Step::Key(key),
            Selector::ElementKeyInt(index) => Step::Index(index),
        })
    };
    path.steps.into_iter().filter_map(read).collect()
}

pub(super) fn no_such(kind: &str, name: &str) -> Failure {
    Failure::Broken(format!("The provider has no {kind} `{name}`"))
}
