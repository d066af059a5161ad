//! Paths as users write them to mean fields: with wildcards, and items chosen by what they hold.
//!
//! | written | means |
//! |---|---|
//! | `spec.replicas`, `data["app.conf"]` | a field, and all below it |
//! | `spec.containers[name=app].image` | in the item whose `name` is `app` |
//! | `spec.containers[*].image` | in every item |
//! | `metadata.annotations.*` | every key |
//! | `spec.containers[?(@.name=="app")].image` | as kubectl's JSONPath has it |
//! | `metadata.annotations.example.com/x` | a key with dots, where no quotes were written |
//! | `spec.containers[0].image` | in the item that stands there in what the user wrote, where allowed |
//!
//! A pattern is matched against an object, because only the object knows what its items hold. What
//! comes out is a set of ordinary paths.

mod read;

use serde_json::Value;

use super::path::{FieldPath, PathElement};
use super::set::FieldSet;
use super::walk::{Items, step, step_written, written_index};
use crate::atom::{Atom, same};
use crate::reserved::is_reserved;
use crate::text::nfc;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pattern {
    text: String,
    steps: Vec<Step>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Step {
    Field(String),
    AnyField,
    /// An item by fields that it holds, merge keys or not.
    Holding(Vec<(String, Atom)>),
    AnyItem,
    Member(Atom),
    /// An item by its place, which means nothing until it is looked up in what the user wrote.
    Position(usize),
    /// The item at this place of this list, as written.
    Placed(Value, usize),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PatternError {
    pub text: String,
    pub problem: PatternProblem,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PatternProblem {
    Empty,
    /// `]` is missing.
    Unclosed,
    /// A field name, or the `.` before it, is missing.
    Name,
    /// The text in brackets names no item.
    Item,
    /// A filter that does more than name items.
    Filter,
    /// An item is named by its position where that is not allowed.
    ByPosition,
    /// It means fields that say which object is meant.
    Identity,
    /// It means fields that only k8sconnect writes.
    Reserved,
    /// `manager=` without a name, or where no manager is allowed.
    Manager,
    /// The manager is k8sconnect itself.
    OwnManager,
}

impl Pattern {
    /// Reads a path in which items are named by what they hold.
    pub fn parse(text: &str) -> Result<Self, PatternError> {
        let pattern = Self::parse_with_places(text)?;
        if pattern.has_places() {
            return Err(PatternError {
                text: text.to_owned(),
                problem: PatternProblem::ByPosition,
            });
        }
        Ok(pattern)
    }

    /// The same, with items by their places too: see [`Pattern::placed`].
    pub fn parse_with_places(text: &str) -> Result<Self, PatternError> {
        let refuse = |problem| PatternError { text: text.to_owned(), problem };
        let steps = read::steps(text).map_err(refuse)?;
        Ok(Self { text: text.to_owned(), steps })
    }

    /// The pattern as it was written.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Whether items are named by their places.
    pub fn has_places(&self) -> bool {
        self.steps.iter().any(|step| matches!(step, Step::Position(_) | Step::Placed(..)))
    }

    /// The pattern with its places looked up in what the user wrote; several, where a wildcard
    /// stands before one. A place that is not there means nothing.
    pub fn placed(&self, written: &Value) -> Vec<Self> {
        let mut found = Vec::new();
        placed(&self.steps, written, &mut Vec::new(), &mut found);
        let pattern = |steps| Self { text: self.text.clone(), steps };
        match found.is_empty() {
            true => vec![self.clone()],
            false => found.into_iter().map(pattern).collect(),
        }
    }

    /// The same pattern under another name of its first field.
    pub fn renamed(&self, from: &str, to: &str) -> Self {
        let mut renamed = self.clone();
        if let Some(Step::Field(name)) = renamed.steps.first_mut()
            && name == from
        {
            *name = to.to_owned();
        }
        renamed
    }

    /// How many steps it takes; a key with dots and without quotes takes several.
    pub fn length(&self) -> usize {
        self.steps.len()
    }

    /// Whether it means every item of a list, and none by name.
    pub fn means_any_item(&self) -> bool {
        self.steps.contains(&Step::AnyItem)
    }

    /// Whether the pattern takes in what says which object is meant.
    pub fn means_identity(&self) -> bool {
        let field = |n: usize| match self.steps.get(n) {
            Some(Step::Field(name)) => name.as_str(),
            _ => "",
        };
        match (field(0), self.steps.len()) {
            ("apiVersion" | "kind", _) => true,
            ("metadata", 1) => true,
            ("metadata", 2) => matches!(field(1), "name" | "namespace"),
            _ => self.steps.first() == Some(&Step::AnyField),
        }
    }

    /// Whether the pattern names an annotation or label that is reserved for k8sconnect. A wildcard
    /// names none.
    pub fn names_reserved(&self) -> bool {
        let names: Option<Vec<_>> = self.steps.iter().map(Step::name).collect();
        match names.as_deref() {
            // A key with dots and without quotes takes several steps.
            Some(["metadata", "annotations" | "labels", key @ ..]) => is_reserved(&key.join(".")),
            _ => false,
        }
    }

    /// The fields of `set` that the pattern means, seen on `object`: each match with all that the
    /// set has below it.
    pub fn matched(&self, set: &FieldSet, object: &Value) -> FieldSet {
        let mut found = FieldSet::default();
        matched(&self.steps, set, Some(object), &mut FieldPath::default(), &mut found);
        found
    }

    /// How the pattern stands to a field, seen on an object.
    pub fn relation(&self, path: &FieldPath, object: &Value) -> Option<Relation> {
        relation(&self.steps, path.elements(), Some(object), step)
    }

    /// The same, seen on what a user wrote, who may leave out key fields of items.
    pub fn relation_as_written(&self, path: &FieldPath, written: &Value) -> Option<Relation> {
        relation(&self.steps, path.elements(), Some(written), step_written)
    }
}

/// How a pattern stands to a field that it has to do with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Relation {
    /// It means this very field.
    Means,
    /// It means something above it.
    Covers,
    /// It means something inside of it.
    ReachesInto,
}

/// How a value is entered.
type Stepping = for<'a> fn(&'a Value, &PathElement) -> Option<&'a Value>;

fn relation(
    steps: &[Step],
    elements: &[PathElement],
    object: Option<&Value>,
    step: Stepping,
) -> Option<Relation> {
    match (steps.split_first(), elements.split_first()) {
        (None, None) => Some(Relation::Means),
        (None, Some(_)) => Some(Relation::Covers),
        (Some(_), None) => Some(Relation::ReachesInto),
        (Some((first, rest)), Some((element, below))) => {
            let value = object.and_then(|object| step(object, element));
            let named = first.admits(element, value).then(|| relation(rest, below, value, step));
            named.flatten().or_else(|| relation(bare_key(steps, element)?, below, value, step))
        }
    }
}

impl Step {
    fn name(&self) -> Option<&str> {
        match self {
            Self::Field(name) => Some(name),
            _ => None,
        }
    }

    fn admits(&self, element: &PathElement, item: Option<&Value>) -> bool {
        match (self, element) {
            (Step::Field(name), PathElement::Field(field)) => same_name(name, field),
            (Step::AnyField, PathElement::Field(_)) => true,
            (Step::AnyItem, PathElement::Field(_)) => false,
            (Step::AnyItem, _) => true,
            (Step::Member(member), PathElement::Value(value)) => member == value,
            (Step::Placed(list, index), PathElement::Key(_) | PathElement::Value(_)) => {
                written_index(list, element) == Some(*index)
            }
            (Step::Position(index) | Step::Placed(_, index), PathElement::Index(other)) => {
                index == other
            }
            (Step::Holding(wanted), PathElement::Key(keys)) => {
                wanted.iter().all(|(name, value)| {
                    let held = keys.get(name).map(|key| &key.0).or_else(|| item?.get(name));
                    held.is_some_and(|held| same(held, &value.0))
                })
            }
            // An item of a list whose keys nobody has told yet.
            (Step::Member(member), PathElement::Index(_)) => {
                item.is_some_and(|item| same(item, &member.0))
            }
            (Step::Holding(wanted), PathElement::Index(_)) => wanted.iter().all(|(name, value)| {
                item.and_then(|item| item.get(name)).is_some_and(|held| same(held, &value.0))
            }),
            _ => false,
        }
    }
}

fn placed(steps: &[Step], value: &Value, before: &mut Vec<Step>, found: &mut Vec<Vec<Step>>) {
    let is_place = |step: &Step| matches!(step, Step::Position(_));
    let Some((first, rest)) = steps.split_first().filter(|_| steps.iter().any(is_place)) else {
        found.push([before.as_slice(), steps].concat());
        return;
    };
    let mut go = |step: Step, value: &Value| {
        before.push(step);
        placed(rest, value, before, found);
        before.pop();
    };
    match (first, value) {
        (Step::Field(name), Value::Object(map)) => {
            if let Some(value) = map.get(name) {
                go(first.clone(), value);
            }
        }
        (Step::AnyField, Value::Object(map)) => {
            map.iter().for_each(|(name, value)| go(Step::Field(name.clone()), value));
        }
        (Step::Position(index), Value::Array(items)) => {
            if let Some(item) = items.get(*index) {
                go(Step::Placed(value.clone(), *index), item);
            }
        }
        (Step::AnyItem, Value::Array(items)) => {
            for (index, item) in items.iter().enumerate() {
                go(Step::Placed(value.clone(), index), item);
            }
        }
        (Step::Holding(wanted), Value::Array(items)) => {
            let held = |item: &&Value| {
                wanted.iter().all(|(name, it)| item.get(name).is_some_and(|v| same(v, &it.0)))
            };
            items.iter().filter(held).for_each(|item| go(first.clone(), item));
        }
        _ => {}
    }
}

fn matched(
    steps: &[Step],
    set: &FieldSet,
    object: Option<&Value>,
    at: &mut FieldPath,
    found: &mut FieldSet,
) {
    let Some((first, rest)) = steps.split_first() else {
        for member in set.members() {
            let whole = at.elements().iter().chain(member.elements()).cloned();
            found.insert(&FieldPath::new(whole));
        }
        return;
    };
    let items = object.map(|object| Items::new(object, set));
    for (element, below) in set.children() {
        let value = items.as_ref().and_then(|items| items.step(element));
        let mut go = |steps: &[Step]| {
            at.push(element.clone());
            matched(steps, below, value, at, found);
            at.pop();
        };
        if first.admits(element, value) {
            go(rest);
        } else if let Some(after) = bare_key(steps, element) {
            go(after);
        }
    }
}

/// Paths are shown, and written by users, in normal form C; keys of objects need not be in it.
fn same_name(written: &str, name: &str) -> bool {
    written == name || !name.is_ascii() && nfc(written) == nfc(name)
}

/// A key with dots, written without quotes, comes apart into several names. Where a real key is
/// just those names with dots between, it is meant.
fn bare_key<'a>(steps: &'a [Step], element: &PathElement) -> Option<&'a [Step]> {
    let PathElement::Field(key) = element else {
        return None;
    };
    let mut joined = String::new();
    for (n, step) in steps.iter().enumerate() {
        let Step::Field(name) = step else {
            return None;
        };
        if n > 0 {
            joined.push('.');
        }
        joined.push_str(name);
        if n > 0 && same_name(&joined, key) {
            return Some(&steps[n + 1..]);
        }
        if joined.len() > key.len() {
            return None;
        }
    }
    None
}

#[cfg(test)]
mod tests;
