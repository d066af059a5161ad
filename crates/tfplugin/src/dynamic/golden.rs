//! What we read and write is what the reference implementation writes and reads.

use std::sync::LazyLock;

use serde::Deserialize;

use super::{from_json, from_msgpack, from_state_json, to_json, to_msgpack};
use crate::value::{Data, Number, Type, Value};

#[derive(Deserialize)]
struct Golden {
    name: String,
    r#type: Type,
    msgpack: String,
    json: Option<String>,
    #[serde(default)]
    refined: bool,
}

impl Golden {
    fn msgpack(&self) -> Vec<u8> {
        let digits = self.msgpack.as_bytes().chunks_exact(2);
        let byte = |pair| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap();
        digits.map(byte).collect()
    }

    fn value(&self) -> Value {
        from_msgpack(&self.msgpack(), &self.r#type)
            .unwrap_or_else(|problem| panic!("{}: {problem}", self.name))
    }
}

static GOLDEN: LazyLock<Vec<Golden>> =
    LazyLock::new(|| serde_json::from_str(include_str!("../../tests/golden/golden.json")).unwrap());

fn named(name: &str) -> Value {
    GOLDEN.iter().find(|golden| golden.name == name).unwrap().value()
}

#[test]
fn writes_msgpack_byte_for_byte_as_the_reference_does() {
    for golden in GOLDEN.iter().filter(|golden| !golden.refined) {
        let written = to_msgpack(golden.value(), &golden.r#type).unwrap();
        assert_eq!(written, golden.msgpack(), "{}", golden.name);
    }
}

#[test]
fn reads_the_same_value_from_json_as_from_msgpack() {
    for golden in GOLDEN.iter() {
        let Some(json) = &golden.json else { continue };
        let strict = from_json(json.as_bytes(), &golden.r#type).unwrap();
        assert_eq!(strict, golden.value(), "{}", golden.name);
        let stored = from_state_json(json.as_bytes(), &golden.r#type).unwrap();
        assert_eq!(stored, golden.value(), "{}", golden.name);
    }
}

#[test]
fn writes_json_as_the_reference_does() {
    for golden in GOLDEN.iter() {
        let Some(json) = &golden.json else { continue };
        let written = to_json(golden.value(), &golden.r#type).unwrap();
        assert_eq!(&written, json, "{}", golden.name);
    }
}

#[test]
fn writes_types_as_the_reference_does() {
    #[derive(Deserialize)]
    struct TypeText<'a> {
        #[serde(borrow)]
        r#type: &'a serde_json::value::RawValue,
    }
    let texts: Vec<TypeText<'_>> =
        serde_json::from_str(include_str!("../../tests/golden/golden.json")).unwrap();
    for (golden, text) in GOLDEN.iter().zip(texts) {
        let written = String::from_utf8(golden.r#type.to_json()).unwrap();
        assert_eq!(written, text.r#type.get(), "{}", golden.name);
    }
}

#[test]
fn reads_refined_unknowns_as_plainly_unknown() {
    assert_eq!(named("string with a prefix"), Value::Unknown);
    assert_eq!(named("number in a range"), Value::Unknown);
    assert_eq!(named("list of a length"), Value::Unknown);
    let inside = Data::object([("a", Value::Unknown), ("b", true.into())]);
    assert_eq!(named("refined inside an object"), Value::Known(inside));
    let dynamic = Data::Dynamic(Type::String, Box::new(Value::Unknown));
    assert_eq!(named("refined inside a dynamic value"), Value::Known(dynamic));
}

#[test]
fn reads_the_values_that_were_written() {
    let digits = "123456789012345678901234567890";
    let number = Value::Known(Data::Number(Number::parse(digits).unwrap()));
    assert_eq!(named(&format!("number {digits}")), number);
    assert_eq!(
        named("dynamic number"),
        Value::Known(Data::Dynamic(Type::Number, Box::new(number)))
    );
    assert_eq!(named("number -129"), Value::from(-129));
    assert_eq!(named("string \"日本語\""), Value::from("日本語"));
    let set = Data::Set(vec!["a".into(), "b".into()]);
    assert_eq!(named("set"), Value::Known(set));
    let typed_null = Data::Dynamic(Type::String, Box::new(Value::Null));
    assert_eq!(named("dynamic null string"), Value::Known(typed_null));
    assert_eq!(named("dynamic null"), Value::Null);
    assert_eq!(named("dynamic unknown"), Value::Unknown);
}
