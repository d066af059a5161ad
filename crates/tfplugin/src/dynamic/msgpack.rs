//! Msgpack, the form in which values cross the wire.

use std::collections::BTreeMap;

use rmp::Marker;
use rmp::{decode, encode};

use super::{NESTING_LIMIT, too_deep};
use crate::mismatch::Mismatch;
use crate::path::Step;
use crate::value::{Data, Number, Type, Value};

/// An extension of one byte. The reader takes every extension for an unknown value.
const UNKNOWN: [u8; 3] = [0xd4, 0, 0];

/// Writes a value. It is brought into the form of its type first.
pub(crate) fn to_msgpack(value: Value, ty: &Type) -> Result<Vec<u8>, Mismatch> {
    let value = value.conform(ty)?;
    // Grown step by step, a value of megabytes would take three times its size on the way.
    let mut out = Vec::with_capacity(room(&value));
    write(&value, &mut out);
    Ok(out)
}

/// How many bytes a value takes at the most, save for the types in it.
fn room(value: &Value) -> usize {
    const MARK: usize = 9;
    let inside = match value.known() {
        None => 0,
        Some(Data::Bool(_)) => 0,
        Some(Data::Number(number)) => number.as_str().len(),
        Some(Data::String(text)) => text.len(),
        Some(Data::List(items) | Data::Set(items) | Data::Tuple(items)) => {
            items.iter().map(room).sum()
        }
        Some(Data::Map(entries) | Data::Object(entries)) => {
            entries.iter().map(|(key, entry)| MARK + key.len() + room(entry)).sum()
        }
        Some(Data::Dynamic(_, inner)) => room(inner),
    };
    MARK + inside
}

/// Reads a value of a type.
pub(crate) fn from_msgpack(bytes: &[u8], ty: &Type) -> Result<Value, Mismatch> {
    let mut input = Input { bytes, depth: 0 };
    let value = input.value(ty)?;
    if input.bytes.is_empty() {
        Ok(value)
    } else {
        Err(Mismatch::new("one value", "more data behind it"))
    }
}

/// Writing to memory cannot fail, and a conforming value says by itself what it is.
fn write(value: &Value, out: &mut Vec<u8>) {
    let data = match value {
        Value::Null => return out.push(Marker::Null.to_u8()),
        Value::Unknown => return out.extend(UNKNOWN),
        Value::Known(data) => data,
    };
    match data {
        Data::Bool(truth) => {
            let _ = encode::write_bool(out, *truth);
        }
        Data::Number(number) => write_number(number, out),
        Data::String(text) => {
            let _ = encode::write_str(out, text);
        }
        Data::List(items) | Data::Set(items) | Data::Tuple(items) => {
            let _ = encode::write_array_len(out, items.len() as u32);
            items.iter().for_each(|item| write(item, out));
        }
        Data::Map(entries) | Data::Object(entries) => {
            let _ = encode::write_map_len(out, entries.len() as u32);
            for (key, entry) in entries {
                let _ = encode::write_str(out, key);
                write(entry, out);
            }
        }
        Data::Dynamic(ty, inner) => {
            let _ = encode::write_array_len(out, 2);
            let _ = encode::write_bin(out, &ty.to_json());
            write(inner, out);
        }
    }
}

/// The same choice as the reference implementation makes: whole numbers never travel as floats.
fn write_number(number: &Number, out: &mut Vec<u8>) {
    let whole = !number.as_str().contains(['.', 'e']);
    if let Some(integer) = number.as_i64() {
        let _ = encode::write_sint(out, integer);
    } else if let Some(float) = number.as_exact_f64().filter(|_| !whole) {
        let _ = encode::write_f64(out, float);
    } else {
        let _ = encode::write_str(out, number.as_str());
    }
}

struct Input<'a> {
    bytes: &'a [u8],
    /// How many values are open.
    depth: usize,
}

impl<'a> Input<'a> {
    fn value(&mut self, ty: &Type) -> Result<Value, Mismatch> {
        if self.depth == NESTING_LIMIT {
            return Err(too_deep(ty));
        }
        self.depth += 1;
        let value = self.one_value(ty)?;
        self.depth -= 1;
        Ok(value)
    }

    fn one_value(&mut self, ty: &Type) -> Result<Value, Mismatch> {
        let marker = self.peek(ty)?;
        if self.skip_extension(marker, ty)? {
            return Ok(Value::Unknown);
        }
        if marker == Marker::Null {
            self.bytes = &self.bytes[1..];
            return Ok(Value::Null);
        }
        Ok(Value::Known(match ty {
            Type::Bool => {
                Data::Bool(decode::read_bool(&mut self.bytes).map_err(|_| wrong(ty, marker))?)
            }
            Type::Number => Data::Number(self.number(ty, marker)?),
            Type::String => Data::String(self.text(ty)?),
            Type::List(element) => Data::List(self.items(ty, element)?),
            Type::Set(element) => Data::Set(self.items(ty, element)?),
            Type::Tuple(elements) => Data::Tuple(self.tuple(ty, elements)?),
            Type::Map(element) => Data::Map(self.entries(ty, element)?),
            Type::Object(attributes) => Data::Object(self.attributes(ty, attributes)?),
            Type::Dynamic => return self.dynamic(),
        }))
    }

    fn peek(&self, ty: &Type) -> Result<Marker, Mismatch> {
        self.bytes.first().map(|byte| Marker::from_u8(*byte)).ok_or_else(|| truncated(ty))
    }

    /// Refinements of an unknown value are a promise to us that we need not use.
    fn skip_extension(&mut self, marker: Marker, ty: &Type) -> Result<bool, Mismatch> {
        let is_extension = matches!(
            marker,
            Marker::FixExt1
                | Marker::FixExt2
                | Marker::FixExt4
                | Marker::FixExt8
                | Marker::FixExt16
                | Marker::Ext8
                | Marker::Ext16
                | Marker::Ext32
        );
        if is_extension {
            let header = decode::read_ext_meta(&mut self.bytes).map_err(|_| truncated(ty))?;
            self.take(header.size as usize, ty)?;
        }
        Ok(is_extension)
    }

    fn take(&mut self, len: usize, ty: &Type) -> Result<&'a [u8], Mismatch> {
        let (taken, rest) = self.bytes.split_at_checked(len).ok_or_else(|| truncated(ty))?;
        self.bytes = rest;
        Ok(taken)
    }

    fn text(&mut self, ty: &Type) -> Result<String, Mismatch> {
        let marker = self.peek(ty)?;
        let len = decode::read_str_len(&mut self.bytes).map_err(|_| wrong(ty, marker))?;
        let bytes = self.take(len as usize, ty)?;
        let text = std::str::from_utf8(bytes)
            .map_err(|_| Mismatch::new(ty.kind(), "text that is not UTF-8"))?;
        Ok(text.to_owned())
    }

    fn number(&mut self, ty: &Type, marker: Marker) -> Result<Number, Mismatch> {
        match marker {
            Marker::F32 => {
                let float = decode::read_f32(&mut self.bytes).map_err(|_| truncated(ty))?;
                Number::from_f64(float.into()).ok_or_else(|| Mismatch::new(ty.kind(), "infinity"))
            }
            Marker::F64 => {
                let float = decode::read_f64(&mut self.bytes).map_err(|_| truncated(ty))?;
                Number::from_f64(float).ok_or_else(|| Mismatch::new(ty.kind(), "infinity"))
            }
            Marker::U64 => {
                decode::read_u64(&mut self.bytes).map(Into::into).map_err(|_| truncated(ty))
            }
            Marker::FixStr(_) | Marker::Str8 | Marker::Str16 | Marker::Str32 => {
                let text = self.text(ty)?;
                Number::parse(&text).map_err(|_| Mismatch::new(ty.kind(), "other text"))
            }
            _ => {
                let integer: i64 =
                    decode::read_int(&mut self.bytes).map_err(|_| wrong(ty, marker))?;
                Ok(integer.into())
            }
        }
    }

    fn array_len(&mut self, ty: &Type) -> Result<usize, Mismatch> {
        let marker = self.peek(ty)?;
        let len = decode::read_array_len(&mut self.bytes).map_err(|_| wrong(ty, marker))?;
        Ok(len as usize)
    }

    fn map_len(&mut self, ty: &Type) -> Result<usize, Mismatch> {
        let marker = self.peek(ty)?;
        let len = decode::read_map_len(&mut self.bytes).map_err(|_| wrong(ty, marker))?;
        Ok(len as usize)
    }

    /// No room is set aside by the announced length: it may be a lie, and every element takes at
    /// least a byte, so a lie is found out before it costs memory.
    fn items(&mut self, ty: &Type, element: &Type) -> Result<Vec<Value>, Mismatch> {
        let mut items = Vec::new();
        for at in 0..self.array_len(ty)? {
            items.push(self.value(element).map_err(|err| err.under(Step::Index(at as i64)))?);
        }
        Ok(items)
    }

    fn tuple(&mut self, ty: &Type, elements: &[Type]) -> Result<Vec<Value>, Mismatch> {
        let len = self.array_len(ty)?;
        if len != elements.len() {
            let expected = format!("a tuple of {} elements", elements.len());
            return Err(Mismatch::new(expected, format!("one of {len}")));
        }
        let read = |(at, element): (usize, &Type)| {
            self.value(element).map_err(|err| err.under(Step::Index(at as i64)))
        };
        elements.iter().enumerate().map(read).collect()
    }

    fn entries(&mut self, ty: &Type, element: &Type) -> Result<BTreeMap<String, Value>, Mismatch> {
        let mut entries = BTreeMap::new();
        for _ in 0..self.map_len(ty)? {
            let key = self.text(&Type::String)?;
            let entry = self.value(element).map_err(|err| err.under(Step::Key(key.clone())))?;
            entries.insert(key, entry);
        }
        Ok(entries)
    }

    fn attributes(
        &mut self,
        ty: &Type,
        attributes: &BTreeMap<String, Type>,
    ) -> Result<BTreeMap<String, Value>, Mismatch> {
        let len = self.map_len(ty)?;
        let mut found = BTreeMap::new();
        for _ in 0..len {
            let name = self.text(&Type::String)?;
            let Some(ty) = attributes.get(&name) else {
                let problem = Mismatch::new("an attribute of the schema", "another");
                return Err(problem.under(Step::Attribute(name)));
            };
            let value = self.value(ty).map_err(|err| err.under(Step::Attribute(name.clone())))?;
            found.insert(name, value);
        }
        match attributes.iter().find(|(name, _)| !found.contains_key(*name)) {
            None => Ok(found),
            Some((name, ty)) => {
                Err(Mismatch::new(ty.kind(), "nothing").under(Step::Attribute(name.clone())))
            }
        }
    }

    fn dynamic(&mut self) -> Result<Value, Mismatch> {
        let ty = &Type::Dynamic;
        if self.array_len(ty)? != 2 {
            return Err(Mismatch::new(
                "a pair of a type and a value",
                "another number of elements",
            ));
        }
        let marker = self.peek(ty)?;
        let len = match marker {
            Marker::FixStr(_) | Marker::Str8 | Marker::Str16 | Marker::Str32 => {
                decode::read_str_len(&mut self.bytes).map_err(|_| truncated(ty))?
            }
            _ => decode::read_bin_len(&mut self.bytes).map_err(|_| wrong(ty, marker))?,
        };
        let json = self.take(len as usize, ty)?;
        let own = Type::from_json(json)
            .map_err(|_| Mismatch::new("a type in front of a dynamic value", "something else"))?;
        let value = self.value(&own)?;
        // Without a type of its own the value is what stands inside: null, unknown, or typed.
        Ok(if own == Type::Dynamic {
            value
        } else {
            Value::Known(Data::Dynamic(own, Box::new(value)))
        })
    }
}

fn truncated(ty: &Type) -> Mismatch {
    Mismatch::new(ty.kind(), "the end of the data")
}

fn wrong(ty: &Type, marker: Marker) -> Mismatch {
    let found = match marker {
        Marker::True | Marker::False => "a bool",
        Marker::FixStr(_) | Marker::Str8 | Marker::Str16 | Marker::Str32 => "a string",
        Marker::FixArray(_) | Marker::Array16 | Marker::Array32 => "a list",
        Marker::FixMap(_) | Marker::Map16 | Marker::Map32 => "a map",
        Marker::Bin8 | Marker::Bin16 | Marker::Bin32 => "bytes",
        Marker::Null => "nothing",
        Marker::Reserved => "something that is not msgpack",
        _ => "a number",
    };
    Mismatch::new(ty.kind(), found)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn object() -> Type {
        Type::object([("name", Type::String), ("sizes", Type::list(Type::Number))])
    }

    fn bytes() -> Vec<u8> {
        let sizes = Data::List(vec![Value::from(1), Value::Unknown]);
        let value = Data::object([("name", "n".into()), ("sizes", Value::Known(sizes))]);
        to_msgpack(Value::Known(value), &object()).unwrap()
    }

    #[test]
    fn refuses_data_cut_off_anywhere() {
        let whole = bytes();
        assert!(from_msgpack(&whole, &object()).is_ok());
        for len in 0..whole.len() {
            assert!(from_msgpack(&whole[..len], &object()).is_err(), "{len} bytes");
        }
    }

    #[test]
    fn refuses_data_behind_the_value() {
        let mut long = bytes();
        long.push(0xc0);
        assert!(from_msgpack(&long, &object()).is_err());
    }

    #[test]
    fn names_the_attribute_that_is_damaged() {
        let mut damaged = bytes();
        let at = damaged.len() - 4;
        damaged[at] = 0xc3;
        let problem = from_msgpack(&damaged, &object()).unwrap_err();
        assert_eq!(problem.to_string(), "`sizes[0]`: a number is required, not a bool");
    }

    #[test]
    fn names_the_attribute_that_is_missing() {
        let smaller = Type::object([("name", Type::String)]);
        let bytes = to_msgpack(Value::Known(Data::object([("name", "n".into())])), &smaller);
        let problem = from_msgpack(&bytes.unwrap(), &object()).unwrap_err();
        assert_eq!(problem.path.to_string(), "sizes");
    }

    #[test]
    fn believes_no_announced_length() {
        let announced = [0xdd, 0xff, 0xff, 0xff, 0xff, 0xc0];
        assert!(from_msgpack(&announced, &Type::list(Type::String)).is_err());
        let announced = [0xdb, 0xff, 0xff, 0xff, 0xff, b'a'];
        assert!(from_msgpack(&announced, &Type::String).is_err());
    }

    #[test]
    fn reads_every_extension_as_unknown() {
        for bytes in [&[0xd4, 0, 0][..], &[0xc7, 3, 12, 0x81, 1, 0xc2], &[0xc7, 0, 99]] {
            assert_eq!(from_msgpack(bytes, &Type::String), Ok(Value::Unknown));
        }
    }
}
