//! The one walk of a field set through an object.
//!
//! A set says *which* fields, an object says *what* they hold; the walk brings the two together.
//! Whoever wants the value behind a field, or all values behind a set, comes here.

mod items;

use serde_json::{Map, Value};

use super::path::{FieldPath, KeyFields, PathElement};
use super::set::FieldSet;
use crate::atom::same;
pub use items::Items;

/// The value that one step leads to. A member of a set leads to the member itself.
pub fn step<'a>(value: &'a Value, element: &PathElement) -> Option<&'a Value> {
    match element {
        PathElement::Field(name) => value.as_object()?.get(name.as_str()),
        PathElement::Key(fields) => value.as_array()?.iter().find(|item| has_key(item, fields)),
        PathElement::Value(member) => value.as_array()?.iter().find(|item| same(item, &member.0)),
        PathElement::Index(index) => value.as_array()?.get(*index),
    }
}

/// A value that is walked beside others, by how its items are found.
#[derive(Clone, Copy, Debug)]
pub enum Walked<'v> {
    /// As the server stores it.
    Stored(Option<&'v Value>),
    /// As a user wrote it, who may leave out key fields.
    Written(Option<&'v Value>),
}

impl<'v> Walked<'v> {
    pub fn value(self) -> Option<&'v Value> {
        match self {
            Self::Stored(value) | Self::Written(value) => value,
        }
    }
}

/// Whether a walk goes on below a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Below {
    Visit,
    Skip,
}

/// Walks a set through several values at once, in the order of the paths.
pub fn zip<'v, const N: usize>(
    set: &FieldSet,
    values: [Walked<'v>; N],
    visit: &mut impl FnMut(&FieldPath, &FieldSet, [Option<&'v Value>; N]) -> Below,
) {
    zip_below(set, values, &mut FieldPath::default(), visit);
}

fn zip_below<'v, const N: usize>(
    set: &FieldSet,
    values: [Walked<'v>; N],
    path: &mut FieldPath,
    visit: &mut impl FnMut(&FieldPath, &FieldSet, [Option<&'v Value>; N]) -> Below,
) {
    if visit(path, set, values.map(Walked::value)) == Below::Skip {
        return;
    }
    let items = values.map(|walked| walked.value().map(|value| Items::new(value, set)));
    for (element, below) in set.children() {
        let mut inner = values;
        for (walked, items) in inner.iter_mut().zip(&items) {
            *walked = match walked {
                Walked::Stored(_) => Walked::Stored(items.as_ref().and_then(|it| it.step(element))),
                Walked::Written(_) => {
                    Walked::Written(items.as_ref().and_then(|it| it.step_written(element)))
                }
            };
        }
        path.push(element.clone());
        zip_below(below, inner, path, visit);
        path.pop();
    }
}

/// How many items of a list one step could lead to.
pub fn namesakes(list: &Value, element: &PathElement) -> usize {
    let items = list.as_array().into_iter().flatten();
    match element {
        PathElement::Key(fields) => items.filter(|item| has_key(item, fields)).count(),
        _ => usize::from(step(list, element).is_some()),
    }
}

/// The value at the end of a path.
pub fn at<'a>(value: &'a Value, path: &FieldPath) -> Option<&'a Value> {
    path.elements().iter().try_fold(value, step)
}

/// The place on the way to a field at which something stands that cannot hold it.
pub fn in_the_way(object: &Value, path: &FieldPath) -> Option<FieldPath> {
    let elements = path.elements();
    let mut value = object;
    for (n, element) in elements.iter().enumerate() {
        let can_hold = match element {
            PathElement::Field(_) => value.is_object(),
            _ => value.is_array(),
        };
        if !can_hold {
            return Some(FieldPath::new(elements[..n].iter().cloned()));
        }
        value = step(value, element)?;
    }
    None
}

/// The step in what a *user* wrote, who may leave out key fields that the server defaults
/// (`protocol` of a port).
pub fn step_written<'a>(value: &'a Value, element: &PathElement) -> Option<&'a Value> {
    let PathElement::Key(fields) = element else {
        return step(value, element);
    };
    // An item that names every key field wins over one that leaves some to the server.
    if let Some(exact) = step(value, element) {
        return Some(exact);
    }
    value.as_array()?.iter().find(|item| {
        item.as_object().is_some_and(|item| {
            fields.iter().any(|(name, _)| item.contains_key(name))
                && fields
                    .iter()
                    .all(|(name, key)| item.get(name).is_none_or(|written| same(written, &key.0)))
        })
    })
}

/// The value at the end of a path in what a user wrote.
pub fn at_written<'a>(value: &'a Value, path: &FieldPath) -> Option<&'a Value> {
    path.elements().iter().try_fold(value, step_written)
}

/// The same, to be changed.
pub fn at_written_mut<'a>(value: &'a mut Value, path: &FieldPath) -> Option<&'a mut Value> {
    path.elements().iter().try_fold(value, |value, element| match element {
        PathElement::Field(name) => value.as_object_mut()?.get_mut(name.as_str()),
        _ => {
            let index = written_index(value, element)?;
            value.as_array_mut()?.get_mut(index)
        }
    })
}

/// The place of an item in a list that a user wrote.
pub fn written_index(list: &Value, element: &PathElement) -> Option<usize> {
    let found = step_written(list, element)?;
    list.as_array()?.iter().position(|item| std::ptr::eq(item, found))
}

/// Whether an item is the one that the key fields name. An absent key field counts as null.
fn has_key(item: &Value, fields: &KeyFields) -> bool {
    let none = Map::new();
    let item = item.as_object().unwrap_or(&none);
    !fields.is_empty()
        && fields.iter().all(|(name, key)| same(item.get(name).unwrap_or(&Value::Null), &key.0))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn finds_items_by_key_and_not_by_place() {
        let object = json!({"env": [{"name": "B", "value": "2"}, {"name": "A", "value": "1"}]});
        let path: FieldPath = "env[name=A].value".parse().unwrap();
        assert_eq!(at(&object, &path), Some(&json!("1")));
        let gone: FieldPath = "env[name=C].value".parse().unwrap();
        assert_eq!(at(&object, &gone), None);
    }

    #[test]
    fn a_key_that_the_user_left_out_does_not_hide_the_item() {
        let written = json!([{"containerPort": 80}]);
        let path: FieldPath = "[containerPort=80,protocol=TCP]".parse().unwrap();
        assert_eq!(step(&written, &path.elements()[0]), None);
        assert_eq!(
            step_written(&written, &path.elements()[0]),
            Some(&json!({"containerPort": 80}))
        );
    }

    #[test]
    fn a_key_written_in_full_is_not_taken_for_one_that_is_left_to_the_server() {
        let written = json!([{"port": 80, "name": "a"}, {"port": 80, "protocol": "UDP"}]);
        let path: FieldPath = "[port=80,protocol=UDP]".parse().unwrap();
        assert_eq!(written_index(&written, &path.elements()[0]), Some(1));
        let path: FieldPath = "[port=80,protocol=TCP]".parse().unwrap();
        assert_eq!(written_index(&written, &path.elements()[0]), Some(0));
    }

    #[test]
    fn a_member_of_a_set_is_there_or_not() {
        let object = json!({"finalizers": ["a", "b"]});
        let there: FieldPath = r#"finalizers[="b"]"#.parse().unwrap();
        let gone: FieldPath = r#"finalizers[="c"]"#.parse().unwrap();
        assert_eq!(at(&object, &there), Some(&json!("b")));
        assert_eq!(at(&object, &gone), None);
    }

    #[test]
    fn what_stands_in_the_way_of_a_field_is_found_and_nothing_else() {
        let object = json!({"free": {"z": 1.5, "p": [1, {"name": "a"}], "m": {}}});
        let place =
            |path: &str| in_the_way(&object, &path.parse().unwrap()).map(|place| place.to_string());
        assert_eq!(place("free.z.a.b").as_deref(), Some("free.z"));
        assert_eq!(place("free.p.a").as_deref(), Some("free.p"));
        for path in ["free.z", "free.m.a.b", "free.p[name=a].b", "none.a"] {
            assert_eq!(place(path), None, "{path}");
        }
    }
}
