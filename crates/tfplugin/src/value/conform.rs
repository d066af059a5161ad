//! Laying a type over a value that provider code put together.
//!
//! Provider code says `List` where the schema says set, leaves attributes out, or gives plain
//! data where the schema says `dynamic`. All of that has one meaning under the schema, and
//! this is where it gets it. What has no meaning is a [`Mismatch`] that names the place.

use std::collections::BTreeMap;

use super::{Data, Type, Value};
use crate::mismatch::Mismatch;
use crate::path::Step;

impl Value {
    /// The same value in exactly the form that the type asks for.
    pub fn conform(self, ty: &Type) -> Result<Self, Mismatch> {
        match self {
            // A value that carries its type may stand where exactly that type is asked for.
            Self::Known(Data::Dynamic(own, inner)) if own == *ty => inner.conform(ty),
            other => other.try_map(|data| data.conform(ty)),
        }
    }
}

impl Data {
    /// The same value in exactly the form that the type asks for.
    pub fn conform(self, ty: &Type) -> Result<Self, Mismatch> {
        match (ty, self) {
            (Type::Dynamic, data) => data.conform_dynamic(),
            (Type::Bool, Self::Bool(truth)) => Ok(Self::Bool(truth)),
            (Type::Number, Self::Number(number)) => Ok(Self::Number(number)),
            (Type::String, Self::String(text)) => Ok(Self::String(text)),
            (Type::List(element), Self::List(items) | Self::Set(items) | Self::Tuple(items)) => {
                Ok(Self::List(conform_items(items, element)?))
            }
            (Type::Set(element), Self::List(items) | Self::Set(items) | Self::Tuple(items)) => {
                Ok(Self::Set(conform_items(items, element)?))
            }
            (Type::Tuple(elements), Self::List(items) | Self::Tuple(items)) => {
                conform_tuple(items, elements)
            }
            (Type::Map(element), Self::Map(entries) | Self::Object(entries)) => {
                let mut conformed = BTreeMap::new();
                for (key, entry) in entries {
                    let entry =
                        entry.conform(element).map_err(|err| err.under(Step::Key(key.clone())))?;
                    conformed.insert(key, entry);
                }
                Ok(Self::Map(conformed))
            }
            (Type::Object(attributes), Self::Object(entries) | Self::Map(entries)) => {
                conform_object(entries, attributes)
            }
            (ty, other) => Err(Mismatch::new(ty.kind(), other.kind())),
        }
    }

    fn conform_dynamic(self) -> Result<Self, Mismatch> {
        let (ty, inner) = match self {
            Self::Dynamic(Type::Dynamic, inner) => match *inner {
                Value::Known(data) => return data.conform_dynamic(),
                Value::Null | Value::Unknown => {
                    return Err(Mismatch::new("a value with a type", "one without"));
                }
            },
            Self::Dynamic(ty, inner) => (ty, *inner),
            plain => (plain.inferred_type(), Value::Known(plain)),
        };
        let inner = inner.conform(&ty)?;
        Ok(Self::Dynamic(ty, Box::new(inner)))
    }

    /// The type that the value has as an expression in a configuration: its lists are tuples and
    /// its maps are objects, since nothing says that their elements are of one type.
    fn inferred_type(&self) -> Type {
        match self {
            Self::Bool(_) => Type::Bool,
            Self::Number(_) => Type::Number,
            Self::String(_) => Type::String,
            Self::List(items) | Self::Set(items) | Self::Tuple(items) => {
                Type::Tuple(items.iter().map(inferred_type).collect())
            }
            Self::Map(entries) | Self::Object(entries) => {
                Type::object(entries.iter().map(|(name, entry)| (name, inferred_type(entry))))
            }
            Self::Dynamic(ty, _) => ty.clone(),
        }
    }
}

fn inferred_type(value: &Value) -> Type {
    value.known().map_or(Type::Dynamic, Data::inferred_type)
}

fn conform_items(items: Vec<Value>, element: &Type) -> Result<Vec<Value>, Mismatch> {
    let conform = |(at, item): (usize, Value)| {
        item.conform(element).map_err(|err| err.under(Step::Index(at as i64)))
    };
    items.into_iter().enumerate().map(conform).collect()
}

fn conform_tuple(items: Vec<Value>, elements: &[Type]) -> Result<Data, Mismatch> {
    if items.len() != elements.len() {
        let expected = format!("a tuple of {} elements", elements.len());
        return Err(Mismatch::new(expected, format!("one of {}", items.len())));
    }
    let conform = |(at, (item, ty)): (usize, (Value, &Type))| {
        item.conform(ty).map_err(|err| err.under(Step::Index(at as i64)))
    };
    let items = items.into_iter().zip(elements).enumerate().map(conform);
    Ok(Data::Tuple(items.collect::<Result<_, _>>()?))
}

fn conform_object(
    mut entries: BTreeMap<String, Value>,
    attributes: &BTreeMap<String, Type>,
) -> Result<Data, Mismatch> {
    let mut conformed = BTreeMap::new();
    for (name, ty) in attributes {
        let entry = entries.remove(name).unwrap_or_default();
        let entry = entry.conform(ty).map_err(|err| err.under(Step::Attribute(name.clone())))?;
        conformed.insert(name.clone(), entry);
    }
    match entries.pop_first() {
        None => Ok(Data::Object(conformed)),
        Some((name, _)) => {
            let problem = Mismatch::new("no such attribute", "one that the schema does not have");
            Err(problem.under(Step::Attribute(name)))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settles_what_the_schema_says_and_fills_what_is_missing() {
        let ty = Type::object([("set", Type::set(Type::String)), ("other", Type::Bool)]);
        let given = Data::object([("set", Value::Known(Data::List(vec!["a".into()])))]);
        let expected = Data::object([
            ("set", Value::Known(Data::Set(vec!["a".into()]))),
            ("other", Value::Null),
        ]);
        assert_eq!(given.conform(&ty), Ok(expected));
    }

    #[test]
    fn refuses_attributes_that_the_schema_does_not_have() {
        let given = Data::object([("extra", Value::Null)]);
        let problem = given.conform(&Type::object::<String>([])).unwrap_err();
        assert_eq!(problem.path.to_string(), "extra");
    }

    #[test]
    fn infers_the_type_of_plain_data_where_any_type_may_stand() {
        let given = Data::List(vec!["a".into(), 1.into(), Value::Null]);
        let ty = Type::Tuple(vec![Type::String, Type::Number, Type::Dynamic]);
        let inner = Data::Tuple(vec!["a".into(), 1.into(), Value::Null]);
        let expected = Data::Dynamic(ty, Box::new(Value::Known(inner)));
        assert_eq!(given.conform(&Type::Dynamic), Ok(expected));
    }

    #[test]
    fn names_the_place_of_a_mismatch() {
        let ty = Type::object([("list", Type::list(Type::map(Type::Bool)))]);
        let map = Data::Map([("k".to_owned(), Value::from("text"))].into());
        let given = Data::object([("list", Value::Known(Data::List(vec![Value::Known(map)])))]);
        let problem = given.conform(&ty).unwrap_err();
        assert_eq!(problem.to_string(), "`list[0][\"k\"]`: a bool is required, not a string");
    }
}
