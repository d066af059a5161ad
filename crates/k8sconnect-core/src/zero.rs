//! Zero values: what servers leave out, and what they allocate another value for.

use serde_json::Value;

/// Whether a value is the zero of its type, which servers leave out.
pub(crate) fn is_zero(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(false) => true,
        Value::Bool(true) => false,
        Value::Number(number) => number.as_f64() == Some(0.0),
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(map) => map.is_empty(),
    }
}

/// Whether the server has allocated a value in the place of a zero one. `0` as a quantity is only another
/// spelling.
pub(crate) fn is_allocated(written: &Value, value: &Value) -> bool {
    may_be_allocated(written) && written != value && !value.is_null() && value.as_str() != Some("0")
}

/// Whether a server may allocate another value for it: the zero of its type, or a list of zeros.
fn may_be_allocated(written: &Value) -> bool {
    match written {
        Value::Null => true,
        Value::String(text) => text.is_empty(),
        Value::Number(number) => number.as_i64() == Some(0),
        Value::Array(items) => items.iter().all(may_be_allocated),
        Value::Bool(_) | Value::Object(_) => false,
    }
}
