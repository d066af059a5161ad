//! JSON, the form in which values are stored in the state file.
//!
//! The text is taken apart level by level, each under its type, and never through
//! `serde_json::Value`: its numbers are floats, and a number that comes back changed is a
//! difference in every plan from then on.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::value::RawValue;

use super::{NESTING_LIMIT, too_deep};
use crate::mismatch::Mismatch;
use crate::path::Step;
use crate::value::{Data, Number, Type, Value};

/// How strictly an object's attributes are those of its type.
#[derive(Clone, Copy, PartialEq)]
enum Attributes {
    /// All of them and no others.
    Exact,
    /// Stored by another release: what is no longer known is dropped, what is new is null.
    AsStored,
}

/// How a value is read, and how many values are open around it.
#[derive(Clone, Copy)]
struct Reading {
    attributes: Attributes,
    depth: usize,
}

/// Reads a value whose attributes are exactly those of the type.
pub(crate) fn from_json(json: &[u8], ty: &Type) -> Result<Value, Mismatch> {
    read(parse(json, ty)?, ty, Reading { attributes: Attributes::Exact, depth: 0 })
}

/// Reads stored state, maybe of another release.
pub(crate) fn from_state_json(json: &[u8], ty: &Type) -> Result<Value, Mismatch> {
    read(parse(json, ty)?, ty, Reading { attributes: Attributes::AsStored, depth: 0 })
}

fn parse<'a, T: Deserialize<'a>>(json: &'a [u8], ty: &Type) -> Result<T, Mismatch> {
    serde_json::from_slice(json).map_err(|_| Mismatch::new(ty.kind(), found(json)))
}

fn parse_raw<'a, T: Deserialize<'a>>(json: &'a RawValue, ty: &Type) -> Result<T, Mismatch> {
    parse(json.get().as_bytes(), ty)
}

/// What kind of JSON it is, without its content.
fn found(json: &[u8]) -> &'static str {
    if serde_json::from_slice::<serde::de::IgnoredAny>(json).is_err() {
        return "something that is not JSON";
    }
    match json.trim_ascii_start().first() {
        Some(b'"') => "a string",
        Some(b'{') => "an object",
        Some(b'[') => "a list",
        Some(b't' | b'f') => "a bool",
        Some(b'n') => "null",
        _ => "a number",
    }
}

fn read(json: &RawValue, ty: &Type, how: Reading) -> Result<Value, Mismatch> {
    if how.depth == NESTING_LIMIT {
        return Err(too_deep(ty));
    }
    let how = Reading { depth: how.depth + 1, ..how };
    if json.get() == "null" {
        return Ok(Value::Null);
    }
    Ok(Value::Known(match ty {
        Type::Bool => Data::Bool(read_bool(json)?),
        Type::Number => Data::Number(read_number(json)?),
        Type::String => Data::String(read_string(json)?),
        Type::List(element) => Data::List(read_items(json, ty, element, how)?),
        Type::Set(element) => Data::Set(read_items(json, ty, element, how)?),
        Type::Tuple(elements) => Data::Tuple(read_tuple(json, ty, elements, how)?),
        Type::Map(element) => {
            let mut entries = BTreeMap::new();
            for (key, entry) in parse_raw::<BTreeMap<String, &RawValue>>(json, ty)? {
                let entry =
                    read(entry, element, how).map_err(|err| err.under(Step::Key(key.clone())))?;
                entries.insert(key, entry);
            }
            Data::Map(entries)
        }
        Type::Object(attributes) => {
            Data::Object(read_object(parse_raw(json, ty)?, attributes, how)?)
        }
        Type::Dynamic => return read_dynamic(json, how),
    }))
}

/// A state file may hold a value in the form of another primitive type, after the type of an
/// attribute was changed; the reference implementation converts, so we do.
fn read_bool(json: &RawValue) -> Result<bool, Mismatch> {
    match json.get() {
        "true" | "\"true\"" => Ok(true),
        "false" | "\"false\"" => Ok(false),
        other => Err(Mismatch::new("a bool", found(other.as_bytes()))),
    }
}

fn read_number(json: &RawValue) -> Result<Number, Mismatch> {
    let text = json.get();
    let text = text.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')).unwrap_or(text);
    Number::parse(text).map_err(|_| Mismatch::new("a number", found(json.get().as_bytes())))
}

fn read_string(json: &RawValue) -> Result<String, Mismatch> {
    let text = json.get();
    match text.as_bytes().first() {
        Some(b'"') => parse_raw(json, &Type::String),
        Some(b'{' | b'[') => Err(Mismatch::new("a string", found(text.as_bytes()))),
        _ => Ok(text.to_owned()),
    }
}

fn read_items(
    json: &RawValue,
    ty: &Type,
    element: &Type,
    how: Reading,
) -> Result<Vec<Value>, Mismatch> {
    let read =
        |(at, item)| read(item, element, how).map_err(|err| err.under(Step::Index(at as i64)));
    parse_raw::<Vec<&RawValue>>(json, ty)?.into_iter().enumerate().map(read).collect()
}

fn read_tuple(
    json: &RawValue,
    ty: &Type,
    elements: &[Type],
    how: Reading,
) -> Result<Vec<Value>, Mismatch> {
    let items: Vec<&RawValue> = parse_raw(json, ty)?;
    if items.len() != elements.len() {
        let expected = format!("a tuple of {} elements", elements.len());
        return Err(Mismatch::new(expected, format!("one of {}", items.len())));
    }
    let read = |(at, (item, ty)): (usize, (&RawValue, &Type))| {
        read(item, ty, how).map_err(|err| err.under(Step::Index(at as i64)))
    };
    items.into_iter().zip(elements).enumerate().map(read).collect()
}

fn read_object(
    mut stored: BTreeMap<String, &RawValue>,
    attributes: &BTreeMap<String, Type>,
    how: Reading,
) -> Result<BTreeMap<String, Value>, Mismatch> {
    let mut values = BTreeMap::new();
    for (name, ty) in attributes {
        let under = |err: Mismatch| err.under(Step::Attribute(name.clone()));
        let value = match (stored.remove(name), how.attributes) {
            (Some(json), _) => read(json, ty, how).map_err(under)?,
            (None, Attributes::AsStored) => Value::Null,
            (None, Attributes::Exact) => return Err(under(Mismatch::new(ty.kind(), "nothing"))),
        };
        values.insert(name.clone(), value);
    }
    match stored.pop_first() {
        Some((name, _)) if how.attributes == Attributes::Exact => {
            let problem = Mismatch::new("an attribute of the schema", "another");
            Err(problem.under(Step::Attribute(name)))
        }
        _ => Ok(values),
    }
}

fn read_dynamic(json: &RawValue, how: Reading) -> Result<Value, Mismatch> {
    #[derive(Deserialize)]
    struct Typed<'a> {
        r#type: Type,
        #[serde(borrow)]
        value: &'a RawValue,
    }
    let typed: Typed<'_> = parse_raw(json, &Type::Dynamic)?;
    let value = read(typed.value, &typed.r#type, how)?;
    Ok(if typed.r#type == Type::Dynamic {
        value
    } else {
        Value::Known(Data::Dynamic(typed.r#type, Box::new(value)))
    })
}

/// Writes a value as the state file holds it. An unknown value cannot be stored.
#[cfg(any(test, feature = "harness"))]
pub(crate) fn to_json(value: Value, ty: &Type) -> Result<String, Mismatch> {
    let mut out = String::new();
    write(&value.conform(ty)?, &mut out)?;
    Ok(out)
}

#[cfg(any(test, feature = "harness"))]
fn write(value: &Value, out: &mut String) -> Result<(), Mismatch> {
    let data = match value {
        Value::Null => {
            out.push_str("null");
            return Ok(());
        }
        Value::Unknown => return Err(Mismatch::new("a known value", "an unknown one")),
        Value::Known(data) => data,
    };
    match data {
        Data::Bool(truth) => out.push_str(if *truth { "true" } else { "false" }),
        Data::Number(number) => out.push_str(number.as_str()),
        Data::String(text) => write_text(text, out),
        Data::List(items) | Data::Set(items) | Data::Tuple(items) => {
            out.push('[');
            for (at, item) in items.iter().enumerate() {
                if at > 0 {
                    out.push(',');
                }
                write(item, out).map_err(|err| err.under(Step::Index(at as i64)))?;
            }
            out.push(']');
        }
        Data::Map(entries) | Data::Object(entries) => {
            out.push('{');
            for (at, (key, entry)) in entries.iter().enumerate() {
                if at > 0 {
                    out.push(',');
                }
                write_text(key, out);
                out.push(':');
                write(entry, out).map_err(|err| err.under(Step::Attribute(key.clone())))?;
            }
            out.push('}');
        }
        Data::Dynamic(ty, inner) => {
            out.push_str("{\"value\":");
            write(inner, out)?;
            out.push_str(",\"type\":");
            out.push_str(&String::from_utf8_lossy(&ty.to_json()));
            out.push('}');
        }
    }
    Ok(())
}

#[cfg(any(test, feature = "harness"))]
fn write_text(text: &str, out: &mut String) {
    // A string always has a JSON form.
    out.push_str(&serde_json::to_string(text).unwrap_or_default());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keeps_numbers_that_no_float_holds() {
        let digits = "123456789012345678901234567890";
        let value = from_state_json(digits.as_bytes(), &Type::Number).unwrap();
        assert_eq!(value, Value::Known(Data::Number(Number::parse(digits).unwrap())));
        assert_eq!(to_json(value, &Type::Number).unwrap(), digits);
    }

    #[test]
    fn drops_what_is_no_longer_known_and_fills_what_is_new() {
        let ty = Type::object([("kept", Type::String), ("new", Type::Bool)]);
        let json = br#"{"kept":"a","old":{"deep":[1]}}"#;
        let expected = Data::object([("kept", "a".into()), ("new", Value::Null)]);
        assert_eq!(from_state_json(json, &ty), Ok(Value::Known(expected)));
        assert!(from_json(json, &ty).is_err());
    }

    #[test]
    fn converts_primitives_as_terraform_does() {
        let text = |json: &str| from_state_json(json.as_bytes(), &Type::String).unwrap();
        assert_eq!(text("1.50"), Value::from("1.50"));
        assert_eq!(text("true"), Value::from("true"));
        assert_eq!(from_state_json(b"\"3\"", &Type::Number), Ok(Value::from(3)));
        assert_eq!(from_state_json(b"\"true\"", &Type::Bool), Ok(Value::from(true)));
    }

    #[test]
    fn names_the_place_and_never_the_value() {
        let ty = Type::object([("list", Type::list(Type::Bool))]);
        let problem = from_state_json(br#"{"list":[true,"hunter2"]}"#, &ty).unwrap_err();
        assert_eq!(problem.to_string(), "`list[1]`: a bool is required, not a string");
        let problem = from_state_json(b"{\"list\":", &ty).unwrap_err();
        assert!(problem.to_string().contains("not JSON"), "{problem}");
    }

    #[test]
    fn refuses_to_store_an_unknown() {
        assert!(to_json(Value::Unknown, &Type::String).is_err());
    }
}
