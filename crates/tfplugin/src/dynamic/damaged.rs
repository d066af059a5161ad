//! Values that are cut, spliced or nested without end are answered: neither a panic nor a stack that
//! overflows, which would take the whole process along.

use damage::{settings, swiftly};
use proptest::prelude::*;

use super::{from_json, from_msgpack, from_state_json, to_json, to_msgpack};
use crate::private::Private;
use crate::value::{Data, Number, Type, Value};

const DEEP: usize = 100_000;

/// Every type that there is, one in the other.
fn ty() -> Type {
    let inner = Type::object([
        ("flag", Type::Bool),
        ("number", Type::Number),
        ("texts", Type::set(Type::String)),
        ("open", Type::Dynamic),
    ]);
    Type::object([
        ("list", Type::list(inner)),
        ("map", Type::map(Type::list(Type::Dynamic))),
        ("pair", Type::Tuple(vec![Type::String, Type::Number])),
    ])
}

fn value(unknown: Value) -> Value {
    let open = Value::Known(Data::Dynamic(Type::list(Type::Bool), Box::new(Value::Null)));
    let item = Data::object([
        ("flag", Value::from(true)),
        (
            "number",
            Value::Known(Data::Number(Number::parse("123456789012345678901234567890").unwrap())),
        ),
        (
            "texts",
            Value::Known(Data::Set(vec![Value::from("é"), Value::from("x".repeat(40).as_str())])),
        ),
        ("open", open.clone()),
    ]);
    let list =
        Value::Known(Data::List(vec![Value::Known(item.clone()), unknown, Value::Known(item)]));
    let map = [("a".to_owned(), Value::Known(Data::List(vec![open, Value::Null])))].into();
    let pair = vec![Value::from("one"), Value::Known(Data::Number(Number::from(-7_i64)))];
    let attributes = [
        ("list", list),
        ("map", Value::Known(Data::Map(map))),
        ("pair", Value::Known(Data::Tuple(pair))),
    ];
    Value::Known(Data::object(attributes))
}

proptest! {
    #![proptest_config(settings())]

    #[test]
    fn damaged_msgpack_is_refused_or_goes_back_as_it_came(
        bytes in damage::bytes(vec![to_msgpack(value(Value::Unknown), &ty()).unwrap()])
    ) {
        if let Ok(value) = swiftly(|| from_msgpack(&bytes, &ty())) {
            let again = to_msgpack(value.clone(), &ty()).unwrap();
            prop_assert_eq!(from_msgpack(&again, &ty()).unwrap(), value);
        }
    }

    #[test]
    fn damaged_state_is_refused_or_goes_back_as_it_came(
        json in damage::text(vec![to_json(value(Value::Null), &ty()).unwrap()])
    ) {
        let _ = swiftly(|| from_json(json.as_bytes(), &ty()));
        if let Ok(value) = swiftly(|| from_state_json(json.as_bytes(), &ty())) {
            let again = to_json(value.clone(), &ty()).unwrap();
            prop_assert_eq!(from_json(again.as_bytes(), &ty()).unwrap(), value);
        }
    }

    #[test]
    fn a_damaged_type_is_refused_or_goes_back_as_it_came(
        json in damage::text(vec![String::from_utf8(ty().to_json()).unwrap()])
    ) {
        if let Ok(read) = swiftly(|| Type::from_json(json.as_bytes())) {
            prop_assert_eq!(Type::from_json(&read.to_json()).unwrap(), read);
        }
    }

    #[test]
    fn damaged_private_state_is_refused_or_kept(
        bytes in damage::bytes(vec![
            br#"{"baseline":"eyJyZXZpc2lvbiI6M30=",".internal":"dHJ1ZQ=="}"#.to_vec(),
            compressed(),
        ])
    ) {
        if let Ok(private) = Private::from_bytes(&bytes) {
            prop_assert_eq!(Private::from_bytes(&private.to_bytes()).unwrap(), private);
        }
    }
}

fn compressed() -> Vec<u8> {
    let mut private = Private::default();
    private.set("kept", &"abcd".repeat(20)).unwrap();
    private.to_bytes()
}

#[test]
fn values_without_end_are_refused() {
    let dynamic = [&[0x92, 0xc4, 9][..], b"\"dynamic\""].concat();
    let list = [&[0x92, 0xc4, 18][..], b"[\"list\",\"dynamic\"]", &[0x91]].concat();
    for piece in [dynamic, list, vec![0x91], vec![0x81, 0xa1, b'a'], vec![0x92]] {
        let deep = piece.repeat(DEEP);
        for ty in [Type::Dynamic, Type::list(Type::Dynamic), ty()] {
            assert!(swiftly(|| from_msgpack(&deep, &ty)).is_err());
        }
    }
    let nested = r#"{"type":"dynamic","value":"#;
    let json = format!("{}null{}", nested.repeat(DEEP / 10), "}".repeat(DEEP / 10));
    assert!(swiftly(|| from_json(json.as_bytes(), &Type::Dynamic)).is_err());
    for opening in ["[", "{\"a\":", "[\"list\",", nested] {
        let deep = opening.repeat(DEEP);
        assert!(swiftly(|| from_state_json(deep.as_bytes(), &ty())).is_err());
        assert!(swiftly(|| Type::from_json(deep.as_bytes())).is_err());
        assert!(swiftly(|| Private::from_bytes(deep.as_bytes())).is_err());
    }
}

#[test]
fn an_announced_length_sets_no_memory_aside() {
    for header in [
        [0xdd, 0xff, 0xff, 0xff, 0xff],
        [0xdf, 0xff, 0xff, 0xff, 0xff],
        [0xdb, 0xff, 0xff, 0xff, 0xff],
    ] {
        for ty in [
            Type::list(Type::Bool),
            Type::map(Type::String),
            Type::String,
            Type::Number,
            Type::Dynamic,
        ] {
            assert!(swiftly(|| from_msgpack(&header, &ty)).is_err());
        }
    }
}
