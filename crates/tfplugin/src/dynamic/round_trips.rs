//! Random values of random types come back as they went out.

use proptest::collection::{btree_map, vec};
use proptest::prelude::*;

use super::{from_json, from_msgpack, from_state_json, to_json, to_msgpack};
use crate::value::{Data, Number, Type, Value};

fn types() -> impl Strategy<Value = Type> {
    let leaf =
        prop_oneof![Just(Type::Bool), Just(Type::Number), Just(Type::String), Just(Type::Dynamic)];
    leaf.prop_recursive(3, 16, 4, |inner| {
        prop_oneof![
            inner.clone().prop_map(Type::list),
            inner.clone().prop_map(Type::set),
            inner.clone().prop_map(Type::map),
            vec(inner.clone(), 0..4).prop_map(Type::Tuple),
            btree_map("[a-z_]{1,6}", inner, 0..4).prop_map(Type::Object),
        ]
    })
}

/// Whether unknowns may stand in a value: they have a msgpack form and no JSON form.
#[derive(Clone, Copy)]
enum Unknowns {
    Allowed,
    Left,
}

fn values(ty: &Type, unknowns: Unknowns) -> BoxedStrategy<Value> {
    let known = data(ty, unknowns).prop_map(Value::Known);
    match unknowns {
        Unknowns::Allowed => {
            prop_oneof![8 => known, 1 => Just(Value::Null), 1 => Just(Value::Unknown)].boxed()
        }
        Unknowns::Left => prop_oneof![8 => known, 1 => Just(Value::Null)].boxed(),
    }
}

fn data(ty: &Type, unknowns: Unknowns) -> BoxedStrategy<Data> {
    match ty {
        Type::Bool => any::<bool>().prop_map(Data::Bool).boxed(),
        Type::Number => numbers().prop_map(Data::Number).boxed(),
        Type::String => any::<String>().prop_map(Data::String).boxed(),
        Type::List(element) => vec(values(element, unknowns), 0..4).prop_map(Data::List).boxed(),
        Type::Set(element) => vec(values(element, unknowns), 0..4).prop_map(Data::Set).boxed(),
        Type::Map(element) => {
            btree_map(any::<String>(), values(element, unknowns), 0..4).prop_map(Data::Map).boxed()
        }
        Type::Tuple(elements) => {
            let elements: Vec<_> = elements.iter().map(|ty| values(ty, unknowns)).collect();
            elements.prop_map(Data::Tuple).boxed()
        }
        Type::Object(attributes) => {
            let names: Vec<String> = attributes.keys().cloned().collect();
            let values: Vec<_> = attributes.values().map(|ty| values(ty, unknowns)).collect();
            values
                .prop_map(move |values| Data::Object(names.iter().cloned().zip(values).collect()))
                .boxed()
        }
        // One level is enough: what stands inside is one of the others.
        Type::Dynamic => {
            let inner = prop_oneof![
                Just(Type::String),
                Just(Type::Number),
                Just(Type::list(Type::Bool)),
                Just(Type::object([("a", Type::String)])),
            ];
            inner
                .prop_flat_map(move |ty| {
                    let value = values(&ty, unknowns);
                    value.prop_map(move |value| Data::Dynamic(ty.clone(), Box::new(value)))
                })
                .boxed()
        }
    }
}

fn numbers() -> impl Strategy<Value = Number> {
    prop_oneof![
        any::<i64>().prop_map(Number::from),
        any::<u64>().prop_map(Number::from),
        any::<f64>().prop_filter_map("finite", Number::from_f64),
        "-?[0-9]{1,60}(\\.[0-9]{1,60})?".prop_map(|text| Number::parse(&text).unwrap()),
    ]
}

fn typed(unknowns: Unknowns) -> impl Strategy<Value = (Type, Value)> {
    types().prop_flat_map(move |ty| {
        let value = values(&ty, unknowns);
        (Just(ty), value)
    })
}

proptest! {
    #[test]
    fn types_come_back_from_json(ty in types()) {
        prop_assert_eq!(Type::from_json(&ty.to_json()).unwrap(), ty);
    }

    #[test]
    fn values_come_back_from_msgpack((ty, value) in typed(Unknowns::Allowed)) {
        let bytes = to_msgpack(value.clone(), &ty).unwrap();
        prop_assert_eq!(from_msgpack(&bytes, &ty).unwrap(), value);
    }

    #[test]
    fn known_values_come_back_from_json((ty, value) in typed(Unknowns::Left)) {
        let text = to_json(value.clone(), &ty).unwrap();
        prop_assert_eq!(from_json(text.as_bytes(), &ty).unwrap(), value.clone());
        prop_assert_eq!(from_state_json(text.as_bytes(), &ty).unwrap(), value);
    }

    #[test]
    fn damaged_msgpack_is_answered((ty, value) in typed(Unknowns::Allowed), at in any::<prop::sample::Index>(), byte in any::<u8>()) {
        let mut bytes = to_msgpack(value, &ty).unwrap();
        let at = at.index(bytes.len());
        bytes[at] = byte;
        // Either it is still a value or it is refused; it must not panic or run out of memory.
        if let Ok(value) = from_msgpack(&bytes, &ty) {
            prop_assert!(to_msgpack(value, &ty).is_ok());
        }
    }

    #[test]
    fn any_bytes_are_answered(ty in types(), bytes in vec(any::<u8>(), 0..200)) {
        let _ = from_msgpack(&bytes, &ty);
        let _ = from_state_json(&bytes, &ty);
    }
}
