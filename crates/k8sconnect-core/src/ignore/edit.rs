//! Putting a field into a body that the user wrote, and taking one out.

use serde_json::{Map, Value};

use crate::field::walk::written_index;
use crate::field::{FieldPath, PathElement};

/// Sets a field, making what is missing on the way.
pub(crate) fn put(body: &mut Value, path: &FieldPath, value: &Value) {
    let mut place = body;
    for element in path.elements() {
        place = match element {
            PathElement::Field(name) => {
                if !place.is_object() {
                    *place = Value::Object(Map::new());
                }
                match place {
                    Value::Object(map) => map.entry(name.clone()).or_insert(Value::Null),
                    _ => return,
                }
            }
            _ => {
                if !place.is_array() {
                    *place = Value::Array(Vec::new());
                }
                let index = written_index(place, element);
                let Value::Array(items) = place else {
                    return;
                };
                let index = index.unwrap_or_else(|| {
                    items.push(new_item(element));
                    items.len() - 1
                });
                match items.get_mut(index) {
                    Some(item) => item,
                    None => return,
                }
            }
        };
    }
    *place = value.clone();
}

fn new_item(element: &PathElement) -> Value {
    match element {
        PathElement::Key(keys) => {
            Value::Object(keys.iter().map(|(name, key)| (name.clone(), key.0.clone())).collect())
        }
        PathElement::Value(member) => member.0.clone(),
        _ => Value::Null,
    }
}

/// Takes a field out, and maps and lists that become empty by it: an empty one would be a field of
/// its own.
pub(super) fn take(place: &mut Value, elements: &[PathElement]) {
    let Some((first, rest)) = elements.split_first() else {
        return;
    };
    match (place, first) {
        (Value::Object(map), PathElement::Field(name)) => {
            if rest.is_empty() {
                map.remove(name.as_str());
            } else if let Some(child) = map.get_mut(name.as_str()) {
                take(child, rest);
                let emptied = match child {
                    Value::Object(map) => map.is_empty(),
                    Value::Array(items) => items.is_empty(),
                    _ => false,
                };
                if emptied {
                    map.remove(name.as_str());
                }
            }
        }
        (place, element) => {
            let index = written_index(place, element);
            if let (Value::Array(items), Some(index)) = (place, index) {
                match rest {
                    [] => {
                        items.remove(index);
                    }
                    rest => {
                        if let Some(item) = items.get_mut(index) {
                            take(item, rest);
                        }
                    }
                }
            }
        }
    }
}
