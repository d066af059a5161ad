//! From a position to a name: a pointer counts list items, a [`FieldPath`] names them.
//!
//! Which lists have keys, and which fields these are, is told by the `managedFields` of the object:
//! whoever wrote an item left its key there. Where nobody did, a dry-run of the whole object tells;
//! asking for it is up to whoever calls.

use std::borrow::Cow;
use std::collections::BTreeSet;

use serde_json::Value;

use crate::field::walk::step;
use crate::field::{Atom, FieldPath, FieldSet, PathElement};
use crate::owners::Owners;
use crate::pointer::{Pointer, index};

/// What is known of the lists of an object.
#[derive(Clone, Debug)]
pub struct Shape {
    fields: FieldSet,
    knowledge: Knowledge,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Knowledge {
    /// What the writers of the object left behind.
    Partial,
    /// Everything: a list that is not told of is one that is held as a whole.
    Whole,
}

/// A list of which nobody has told how its items are named.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unplaced(pub Pointer);

/// How the items of a list are told apart.
enum Items {
    ByKey(BTreeSet<String>),
    ByValue,
    /// The list is one value; its items have positions and nothing else.
    Atomic,
    Untold,
}

impl Shape {
    pub fn told_by(owners: &Owners) -> Self {
        let all = owners.0.iter().fold(FieldSet::default(), |all, it| all.union(&it.fields));
        Self { fields: all, knowledge: Knowledge::Partial }
    }

    /// With what a dry-run of the whole object told.
    #[must_use]
    pub fn made_whole_by(&self, owners: &Owners) -> Self {
        let more = Self::told_by(owners);
        Self { fields: self.fields.union(&more.fields), knowledge: Knowledge::Whole }
    }

    /// With what the answer to a write tells besides.
    #[must_use]
    pub fn and(&self, owners: &Owners) -> Self {
        let more = Self::told_by(owners);
        Self { fields: self.fields.union(&more.fields), knowledge: self.knowledge }
    }

    /// The name of what stands at a pointer in this object.
    pub fn place(&self, pointer: &Pointer, root: &Value) -> Result<FieldPath, Unplaced> {
        let mut path = FieldPath::default();
        let mut node = Some(Cow::Borrowed(&self.fields));
        let mut value = Some(root);
        for (n, token) in pointer.0.iter().enumerate() {
            let element = match value {
                Some(Value::Array(items)) => {
                    let last = n + 1 == pointer.0.len();
                    let at = index(token);
                    let item = at.and_then(|at| items.get(at));
                    match (self.items(node.as_deref()), item) {
                        (Items::Untold, _) => return Err(Unplaced(pointer.clone())),
                        (Items::ByKey(names), Some(item)) => PathElement::key(keys(&names, item)),
                        (Items::ByValue | Items::Atomic, Some(item)) if last => {
                            PathElement::Value(Atom(item.clone()))
                        }
                        _ => match at {
                            Some(at) => PathElement::Index(at),
                            None => PathElement::field(token.clone()),
                        },
                    }
                }
                _ => PathElement::field(token.clone()),
            };
            value = value.and_then(|value| step(value, &element));
            node = below(node, &element);
            path.push(element);
        }
        Ok(path)
    }

    /// The name of an item in the list at a path.
    pub(super) fn name_item(&self, list: &FieldPath, item: &Value) -> PathElement {
        let elements = list.elements().iter();
        let node = elements.fold(Some(Cow::Borrowed(&self.fields)), below);
        match self.items(node.as_deref()) {
            Items::ByKey(names) => PathElement::key(keys(&names, item)),
            _ => PathElement::Value(Atom(item.clone())),
        }
    }

    /// What positions hang on: the lists of an object, with the names of their items in order. A list
    /// that is held as a whole has no names, so its items stand for themselves.
    pub fn lists(&self, object: &Value) -> Value {
        self.lists_below(object, &mut FieldPath::default()).unwrap_or_default()
    }

    fn lists_below(&self, value: &Value, path: &mut FieldPath) -> Option<Value> {
        match value {
            Value::Object(fields) => {
                let mut below = serde_json::Map::new();
                for (name, value) in fields {
                    path.push(PathElement::field(name.clone()));
                    let lists = self.lists_below(value, path);
                    path.pop();
                    below.extend(lists.map(|lists| (name.clone(), lists)));
                }
                (!below.is_empty()).then_some(Value::Object(below))
            }
            Value::Array(items) => {
                let item = |item: &Value| {
                    let element = self.name_item(path, item);
                    let name = FieldPath::new([element.clone()]).to_string();
                    path.push(element);
                    let below = self.lists_below(item, path);
                    path.pop();
                    Value::Array([name.into()].into_iter().chain(below).collect())
                };
                Some(items.iter().map(item).collect())
            }
            _ => None,
        }
    }

    /// The items of one list that the other lacks.
    pub(super) fn missing_in(&self, list: &FieldPath, now: &[Value], next: &Value) -> Vec<Value> {
        let gone = |item: &&Value| step(next, &self.name_item(list, item)).is_none();
        now.iter().filter(gone).cloned().collect()
    }

    fn items(&self, node: Option<&FieldSet>) -> Items {
        let told = node.and_then(|node| {
            let mut elements = node.children().map(|(element, _)| element);
            elements.find_map(|element| match element {
                PathElement::Key(fields) => Some(Items::ByKey(fields.keys().cloned().collect())),
                PathElement::Value(_) => Some(Items::ByValue),
                _ => None,
            })
        });
        match told {
            Some(items) => items,
            None if node.is_some_and(FieldSet::is_leaf) => Items::Atomic,
            None => match self.knowledge {
                Knowledge::Partial => Items::Untold,
                Knowledge::Whole => Items::Atomic,
            },
        }
    }
}

/// What is known below one step. Items of a list are alike, so what is told of one holds for all;
/// and below what is held as a whole, everything is.
fn below<'a>(node: Option<Cow<'a, FieldSet>>, element: &PathElement) -> Option<Cow<'a, FieldSet>> {
    let node = node?;
    if node.is_leaf() {
        return Some(node);
    }
    match element {
        PathElement::Key(_) => {
            let items = node.children().filter(|(it, _)| matches!(it, PathElement::Key(_)));
            let all = items.fold(FieldSet::default(), |all, (_, item)| all.union(item));
            (!all.is_empty()).then_some(Cow::Owned(all))
        }
        _ => node.child(element).cloned().map(Cow::Owned),
    }
}

fn keys(names: &BTreeSet<String>, item: &Value) -> crate::field::KeyFields {
    names.iter().map(|name| (name.clone(), Atom(item[name.as_str()].clone()))).collect()
}

/// The pointer to what a path names in this object.
pub(super) fn pointer_to(path: &FieldPath, root: &Value) -> Option<Pointer> {
    let mut pointer = Pointer(Vec::new());
    let mut value = root;
    for element in path.elements() {
        let found = step(value, element)?;
        pointer.0.push(match element {
            PathElement::Field(name) => name.to_string(),
            _ => {
                let position = value.as_array()?.iter().position(|it| std::ptr::eq(it, found))?;
                position.to_string()
            }
        });
        value = found;
    }
    Some(pointer)
}
