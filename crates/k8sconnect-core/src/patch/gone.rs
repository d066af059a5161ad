//! What goes with a patch that does not name it.
//!
//! An operation puts a value in the place of another one, and so does a list that is replaced as a
//! whole: whatever the old value held besides is gone, whoever held it. And the server takes away what makes no sense any more: the node ports of a
//! Service that is no longer of that type. The object before and after must tell.
//! A field that the patch names is told as its own, and items of a list that it names with the list;
//! but not what goes within an item that stays.

use serde_json::Value;

use super::outcome::Outcome;
use super::place::Shape;
use super::successor::successors;
use crate::field::walk::{at, step};
use crate::field::{Atom, FieldPath, PathElement};
use crate::identity::is_reserved;
use crate::manifest::SERVER_METADATA;
use crate::projection::{Leaf, Projection};

/// Every field of one object that the other lacks, though the patch does not say so.
pub(super) fn gone(
    shape: &Shape,
    live: &Value,
    answer: &Value,
    leaves: &Projection,
) -> Vec<FieldPath> {
    let mut search = Search { shape, answer, leaves, found: vec![] };
    search.compare(live, answer, &mut FieldPath::default());
    search.found
}

impl Outcome {
    /// Whether something was put in the place of what held a field: by an operation, or with a list.
    /// Of an item that has no name, the list tells.
    pub(super) fn puts_in_place_of(&self, path: &FieldPath) -> bool {
        let within = path.elements();
        let mut around = (1..within.len()).map(|n| FieldPath::new(within[..n].iter().cloned()));
        let is_list = |leaf: Option<&Leaf>| {
            matches!(leaf, Some(Leaf::Shown(Value::Array(_)) | Leaf::Concealed(Value::Array(_))))
        };
        if around.any(|around| is_list(self.leaves.get(&around))) {
            return true;
        }
        let mut marks = self.footprints.iter().flat_map(|footprint| &footprint.marks);
        marks.any(|mark| {
            let around = match mark.path().elements() {
                [list @ .., PathElement::Value(_) | PathElement::Index(_)] => list,
                elements => elements,
            };
            path.elements().starts_with(around)
        })
    }
}

struct Search<'a> {
    shape: &'a Shape,
    answer: &'a Value,
    leaves: &'a Projection,
    found: Vec<FieldPath>,
}

impl Search<'_> {
    fn compare(&mut self, now: &Value, next: &Value, path: &mut FieldPath) {
        if self.told_elsewhere(path) {
            if let (Value::Array(items), Value::Array(_)) = (now, next) {
                self.within_items(items, next, path);
            }
            return;
        }
        match (now, next) {
            (Value::Object(fields), _) => {
                for (name, now) in fields {
                    path.push(PathElement::field(name.clone()));
                    match next.get(name) {
                        _ if is_the_servers(path) => {}
                        Some(next) => self.compare(now, next, path),
                        None => self.all_of(now, path),
                    }
                    path.pop();
                }
            }
            (Value::Array(items), Value::Array(others)) => self.items(items, others, next, path),
            (Value::Array(_), _) => self.all_of(now, path),
            _ => {}
        }
    }

    fn items(&mut self, items: &[Value], others: &[Value], next: &Value, path: &mut FieldPath) {
        let elements: Vec<_> = items.iter().map(|it| self.shape.name_item(path, it)).collect();
        let is_named = |item: &Value| {
            let mut path = path.clone();
            path.push(PathElement::Value(Atom(item.clone())));
            self.leaves.0.contains_key(&path)
        };
        let successors = match elements.first() {
            Some(PathElement::Value(_)) => successors(items, others, is_named),
            _ => vec![None; items.len()],
        };
        for (n, (item, element)) in items.iter().zip(elements).enumerate() {
            let (element, other) = match successors[n] {
                Some(other) => (PathElement::Index(n), Some(other)),
                None => {
                    let other = step(next, &element);
                    (element, other)
                }
            };
            path.push(element);
            match other {
                Some(other) => self.compare(item, other, path),
                None if self.told_elsewhere(path) => {}
                None => self.found.push(path.clone()),
            }
            path.pop();
        }
    }

    /// What goes within items that have a name and stay.
    fn within_items(&mut self, items: &[Value], next: &Value, path: &mut FieldPath) {
        for item in items {
            let element = self.shape.name_item(path, item);
            if let (PathElement::Key(_), Some(other)) = (&element, step(next, &element)) {
                path.push(element);
                self.compare(item, other, path);
                path.pop();
            }
        }
    }

    /// A map goes entry by entry, since each may have an owner of its own.
    fn all_of(&mut self, value: &Value, path: &mut FieldPath) {
        if self.told_elsewhere(path) {
            return;
        }
        match value {
            Value::Object(fields) if !fields.is_empty() => {
                for (name, below) in fields {
                    path.push(PathElement::field(name.clone()));
                    self.all_of(below, path);
                    path.pop();
                }
            }
            _ => self.found.push(path.clone()),
        }
    }

    fn told_elsewhere(&self, path: &FieldPath) -> bool {
        self.leaves.0.contains_key(path)
            && at(self.answer, path).is_none_or(|value| !value.is_object())
    }
}

fn is_the_servers(path: &FieldPath) -> bool {
    let names: Vec<_> = path
        .elements()
        .iter()
        .filter_map(|element| match element {
            PathElement::Field(name) => Some(name.as_str()),
            _ => None,
        })
        .collect();
    match names.as_slice() {
        ["status"] => true,
        ["metadata", name] => SERVER_METADATA.contains(name),
        ["metadata", "annotations", name] => is_reserved(name),
        _ => false,
    }
}
