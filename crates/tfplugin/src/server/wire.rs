//! Protobuf's envelopes around values, private state and identities.

use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::dynamic;
use crate::mismatch::Mismatch;
use crate::private::Private;
use crate::proto::tfplugin6 as proto;
use crate::value::{Data, Type, Value};

/// Reads a value. `what` says whose it is, for the message.
pub(super) fn decode(
    what: &str,
    envelope: Option<proto::DynamicValue>,
    ty: &Type,
) -> Result<Value, Diagnostics> {
    let unreadable = |mismatch| {
        Diagnostics::from(Diagnostic::mismatch(&format!("The {what} cannot be read"), &mismatch))
    };
    // A missing value must not pass for null: null means "delete" in some places.
    let missing = || unreadable(Mismatch::new(ty.kind(), "no value at all"));
    let envelope = envelope.ok_or_else(missing)?;
    if !envelope.msgpack.is_empty() {
        dynamic::from_msgpack(&envelope.msgpack, ty).map_err(unreadable)
    } else if !envelope.json.is_empty() {
        dynamic::from_json(&envelope.json, ty).map_err(unreadable)
    } else {
        Err(missing())
    }
}

/// Reads an object that may be null but never wholly unknown.
pub(super) fn decode_object(
    what: &str,
    envelope: Option<proto::DynamicValue>,
    ty: &Type,
) -> Result<Option<Data>, Diagnostics> {
    match decode(what, envelope, ty)? {
        Value::Known(data) => Ok(Some(data)),
        Value::Null => Ok(None),
        Value::Unknown => Err(unusable(what, "unknown as a whole")),
    }
}

/// Reads an object that must be there.
pub(super) fn decode_present(
    what: &str,
    envelope: Option<proto::DynamicValue>,
    ty: &Type,
) -> Result<Data, Diagnostics> {
    decode_object(what, envelope, ty)?.ok_or_else(|| unusable(what, "null"))
}

fn unusable(what: &str, how: &str) -> Diagnostics {
    let detail = format!(
        "It is {how}, which must not be at this point. This is a bug in the program that called \
         the provider; please report it there."
    );
    Diagnostic::error(format!("The {what} cannot be used"), detail).into()
}

/// Writes a value that the provider answered with.
pub(super) fn encode(
    what: &str,
    value: Value,
    ty: &Type,
) -> Result<proto::DynamicValue, Diagnostics> {
    let msgpack = dynamic::to_msgpack(value, ty).map_err(|mismatch| {
        Diagnostic::mismatch(&format!("The {what} does not fit the schema"), &mismatch)
    })?;
    Ok(proto::DynamicValue { msgpack, json: Vec::new() })
}

/// The null that says "there is no object".
pub(super) fn null() -> proto::DynamicValue {
    proto::DynamicValue { msgpack: vec![0xc0], json: Vec::new() }
}

/// Reads private state. What cannot be read is refused rather than lost.
pub(super) fn decode_private(bytes: &[u8]) -> Result<Private, Diagnostics> {
    Private::from_bytes(bytes).map_err(|err| {
        let detail = format!(
            "What the provider stored beside the state is damaged: {err}.\n\n\
             Going on would lose it. Restore the state from a backup. Where there is none, take \
             the resource out of the state (`terraform state rm ADDRESS`) and have it taken up \
             again, as its documentation says: by an import, or by an argument for that."
        );
        Diagnostic::error("The private state cannot be read", detail).into()
    })
}

/// Reads an identity, if there is one and the resource has identities at all.
pub(super) fn decode_identity(
    envelope: Option<proto::IdentityData>,
    ty: Option<&Type>,
) -> Result<Option<Value>, Diagnostics> {
    let (Some(envelope), Some(ty)) = (envelope.and_then(|data| data.identity_data), ty) else {
        return Ok(None);
    };
    let value = decode("identity", Some(envelope), ty)?;
    Ok(Some(value).filter(Value::is_known))
}

/// Writes an identity, if there is one and the resource has identities at all.
pub(super) fn encode_identity(
    identity: Option<Value>,
    ty: Option<&Type>,
) -> Result<Option<proto::IdentityData>, Diagnostics> {
    let (Some(identity), Some(ty)) = (identity, ty) else {
        return Ok(None);
    };
    let data = encode("identity", identity, ty)?;
    Ok(Some(proto::IdentityData { identity_data: Some(data) }))
}
