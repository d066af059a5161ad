//! Items of lists that the user wrote and nobody holds: those that others removed, and those that
//! are new.
//!
//! No set of fields names them, so they are told by their places in what was written.

use serde_json::Value;

use super::holds_something;
use crate::field::walk::{Items, at_written, step};
use crate::field::{Atom, FieldPath, FieldSet, PathElement};

/// The paths of such items, in the order in which they are written. What is inside of one is a
/// part of it, and not told apart.
pub(super) fn unheld(written: &Value, known: &FieldSet, live: &Value) -> Vec<FieldPath> {
    let mut found = Vec::new();
    collect(written, known, Some(live), &mut FieldPath::default(), &mut found);
    found
}

/// The path of such an item by what the others in its list go by, where there are any.
pub(super) fn named(place: &FieldPath, written: &Value, known: &FieldSet) -> Option<FieldPath> {
    let mut path = place.clone();
    path.pop();
    let item = at_written(written, place)?;
    let name = known.below(&path)?.children().find_map(|(sibling, _)| match sibling {
        // A key field that is left out has a default, which only the server knows.
        PathElement::Key(keys) => {
            let given = keys.keys().filter(|name| !item[name.as_str()].is_null());
            let key = given.map(|name| (name.clone(), Atom(item[name.as_str()].clone())));
            Some(PathElement::key(key.collect()))
        }
        PathElement::Value(_) => Some(PathElement::Value(Atom(item.clone()))),
        PathElement::Field(_) | PathElement::Index(_) => None,
    })?;
    path.push(name);
    Some(path)
}

fn collect(
    written: &Value,
    known: &FieldSet,
    live: Option<&Value>,
    path: &mut FieldPath,
    found: &mut Vec<FieldPath>,
) {
    if known.is_leaf() && live.is_some_and(holds_something) {
        return;
    }
    let nothing = FieldSet::default();
    match written {
        Value::Object(map) => {
            for (name, value) in map {
                let element = PathElement::field(name.clone());
                let below = known.child(&element).unwrap_or(&nothing);
                let live = live.and_then(|live| step(live, &element));
                path.push(element);
                collect(value, below, live, path, found);
                path.pop();
            }
        }
        Value::Array(list) => {
            let items = Items::new(written, known);
            let mut held = vec![false; list.len()];
            for (element, below) in known.children() {
                let Some(index) = items.written_index(element) else {
                    continue;
                };
                held[index] = true;
                let live = live.and_then(|live| step(live, element));
                path.push(element.clone());
                collect(&list[index], below, live, path, found);
                path.pop();
            }
            for index in (0..list.len()).filter(|index| !held[*index]) {
                path.push(PathElement::Index(index));
                found.push(path.clone());
                path.pop();
            }
        }
        _ => {}
    }
}
