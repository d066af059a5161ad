//! The state that core proposes: the configuration, with what the provider computed before.

use std::collections::BTreeMap;

use crate::schema::{Attribute, Mode, Nesting, Shape};
use crate::value::{Data, Value};

type Attributes = BTreeMap<String, Attribute>;
type Object = BTreeMap<String, Value>;

/// Both values are objects of the attributes, or null.
pub(super) fn proposed(attributes: &Attributes, prior: &Value, config: &Value) -> Value {
    match config {
        Value::Known(Data::Object(config)) => {
            Value::Known(Data::Object(object(attributes, as_object(prior), config)))
        }
        other => other.clone(),
    }
}

fn as_object(value: &Value) -> Option<&Object> {
    match value {
        Value::Known(Data::Object(object)) => Some(object),
        _ => None,
    }
}

fn object(attributes: &Attributes, prior: Option<&Object>, config: &Object) -> Object {
    let get = |object: Option<&Object>, name: &String| {
        object.and_then(|object| object.get(name)).cloned().unwrap_or_default()
    };
    attributes
        .iter()
        .map(|(name, attribute)| {
            let (prior, config) = (get(prior, name), get(Some(config), name));
            (name.clone(), one(attribute, prior, config))
        })
        .collect()
}

fn one(attribute: &Attribute, prior: Value, config: Value) -> Value {
    match attribute.shape() {
        _ if attribute.is_computed() && config.is_null() => {
            // What a user wrote before and has removed now was not computed.
            if was_configured(attribute, &prior) { config } else { prior }
        }
        Shape::Nested(nesting, inner) => nested(*nesting, inner, &prior, config),
        Shape::Plain(_) => config,
    }
}

fn was_configured(attribute: &Attribute, prior: &Value) -> bool {
    let Shape::Nested(_, inner) = attribute.shape() else {
        return false;
    };
    attribute.mode() == Some(Mode::OptionalComputed) && holds_configured(inner, prior)
}

fn holds_configured(attributes: &Attributes, value: &Value) -> bool {
    match value {
        Value::Known(Data::Object(object)) => object.iter().any(|(name, value)| {
            attributes.get(name).is_some_and(|attribute| {
                !value.is_null() && (!attribute.is_computed() || was_configured(attribute, value))
            })
        }),
        Value::Known(Data::List(items) | Data::Set(items)) => {
            items.iter().any(|item| holds_configured(attributes, item))
        }
        Value::Known(Data::Map(entries)) => {
            entries.values().any(|entry| holds_configured(attributes, entry))
        }
        _ => false,
    }
}

fn nested(nesting: Nesting, inner: &Attributes, prior: &Value, config: Value) -> Value {
    config.map(|config| match (nesting, config) {
        (Nesting::Single, Data::Object(config)) => {
            Data::Object(object(inner, as_object(prior), &config))
        }
        (Nesting::List, Data::List(items)) => {
            let before = match prior {
                Value::Known(Data::List(before)) => before.as_slice(),
                _ => &[],
            };
            let one = |(at, item)| proposed(inner, before.get(at).unwrap_or(&Value::Null), &item);
            Data::List(items.into_iter().enumerate().map(one).collect())
        }
        (Nesting::Map, Data::Map(entries)) => {
            let before = |key: &String| match prior {
                Value::Known(Data::Map(before)) => before.get(key).cloned().unwrap_or_default(),
                _ => Value::Null,
            };
            let one = |(key, entry): (String, Value)| {
                let entry = proposed(inner, &before(&key), &entry);
                (key, entry)
            };
            Data::Map(entries.into_iter().map(one).collect())
        }
        (Nesting::Set, Data::Set(items)) => {
            let before = match prior {
                Value::Known(Data::Set(before)) => before.as_slice(),
                _ => &[],
            };
            let one = |item: Value| {
                let same = before.iter().find(|before| could_be(inner, before, &item));
                proposed(inner, same.unwrap_or(&Value::Null), &item)
            };
            Data::Set(items.into_iter().map(one).collect())
        }
        (_, other) => other,
    })
}

/// Whether an element of a set may be what became of this configuration.
fn could_be(attributes: &Attributes, before: &Value, config: &Value) -> bool {
    let (Some(before), Some(config)) = (as_object(before), as_object(config)) else {
        return false;
    };
    attributes.iter().all(|(name, attribute)| {
        let (before, config) = (before.get(name), config.get(name));
        before == config
            || (attribute.is_computed() && config.is_none_or(Value::is_null))
            || attribute.is_write_only()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::Schema;

    fn schema() -> Schema {
        let inner =
            [("name", Attribute::string().required()), ("id", Attribute::string().computed())];
        Schema::new(0)
            .attribute("id", Attribute::string().computed())
            .attribute("size", Attribute::string().optional_computed())
            .attribute("parts", Attribute::nested(Nesting::Set, inner).optional())
    }

    fn part(name: &str, id: Value) -> Value {
        Value::Known(Data::object([("name", name.into()), ("id", id)]))
    }

    fn whole(id: Value, size: Value, parts: Vec<Value>) -> Value {
        let parts = Value::Known(Data::Set(parts));
        Value::Known(Data::object([("id", id), ("size", size), ("parts", parts)]))
    }

    #[test]
    fn takes_computed_attributes_from_the_state_before() {
        let prior = whole("1".into(), "big".into(), vec![part("a", "x".into())]);
        let config =
            whole(Value::Null, Value::Null, vec![part("b", Value::Null), part("a", Value::Null)]);
        let expected =
            whole("1".into(), "big".into(), vec![part("b", Value::Null), part("a", "x".into())]);
        assert_eq!(proposed(schema().attributes(), &prior, &config), expected);
    }

    #[test]
    fn takes_what_is_configured_from_the_configuration() {
        let prior = whole("1".into(), "big".into(), vec![]);
        let config = whole(Value::Null, "small".into(), vec![]);
        let expected = whole("1".into(), "small".into(), vec![]);
        assert_eq!(proposed(schema().attributes(), &prior, &config), expected);
    }
}
