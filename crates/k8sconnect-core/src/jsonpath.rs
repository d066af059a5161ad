//! JSONPath as kubectl takes it: a way into an object, with choices on the way.
//!
//! | written | means |
//! |---|---|
//! | `status.phase`, `.status.phase`, `$.status.phase`, `{.status.phase}` | a field |
//! | `metadata.labels['app.kubernetes.io/name']`, `metadata.labels.app\.kubernetes\.io/name` | a key with dots |
//! | `status.ingress[0]`, `[-1]`, `[0:2]`, `[0,2]`, `[*]`, `.*` | items by their place |
//! | `status.conditions[?(@.type=="Ready")].status` | items by what they hold |
//! | `..image` | wherever it is |
//!
//! A path finds values and changes none; a missing field is no match and no error. It is not the
//! path type of owned fields (`FieldPath`): those name one field each, by what
//! identifies it, and are never a question. Templates around a path (`text {.a} text`, `range`)
//! belong to kubectl's output and have no meaning here.

mod filter;
mod parse;

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};

pub(crate) use filter::{Comparison, Filter, Operand, Operator};
pub(crate) use parse::filter;
pub use parse::{JsonPathError, JsonPathProblem};

/// A path that was read and can be asked.
#[derive(Clone, Debug, PartialEq)]
pub struct JsonPath {
    text: String,
    steps: Vec<Step>,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Step {
    Field(String),
    /// Every value of a map, every item of a list.
    Any,
    Index(i64),
    Slice {
        start: Option<i64>,
        end: Option<i64>,
        every: i64,
    },
    Union(Vec<Step>),
    Filter(Filter),
    /// Here and everywhere below.
    Descent,
}

/// One value that a path leads to, and the way there.
#[derive(Clone, Debug, PartialEq)]
pub struct Match<'a> {
    way: Vec<Turn>,
    pub value: &'a Value,
}

/// One step of the way, with the choices made.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Turn {
    Key(String),
    /// An item that was asked for by its place.
    Place(usize),
    /// An item that was chosen; its place says nothing to whoever wrote the path.
    Chosen(usize),
}

impl JsonPath {
    pub fn parse(text: &str) -> Result<Self, JsonPathError> {
        Ok(Self { text: text.to_owned(), steps: parse::path(text)? })
    }

    /// The path as it was written.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Whether it leads into the field of this name at the top of an object.
    pub fn begins_in(&self, field: &str) -> bool {
        matches!(self.steps.first(), Some(Step::Field(name)) if name == field)
    }

    /// All that it leads to, in the order of the object.
    pub fn find<'a>(&self, object: &'a Value) -> Vec<Match<'a>> {
        find(&self.steps, object)
    }
}

fn find<'a>(steps: &[Step], from: &'a Value) -> Vec<Match<'a>> {
    let start = vec![Match { way: Vec::new(), value: from }];
    steps.iter().fold(start, |found, step| {
        let found = found.into_iter().flat_map(|here| step.from(&here));
        match step {
            Step::Descent | Step::Union(_) => once_each(found),
            _ => found.collect(),
        }
    })
}

/// What is found in several ways counts once, or a few steps would find it a million times.
fn once_each<'a>(found: impl Iterator<Item = Match<'a>>) -> Vec<Match<'a>> {
    let mut seen = BTreeSet::new();
    found.filter(|one| seen.insert(std::ptr::from_ref(one.value))).collect()
}

impl Step {
    fn from<'a>(&self, here: &Match<'a>) -> Vec<Match<'a>> {
        match (self, here.value) {
            (Self::Field(name), Value::Object(map)) => map
                .get(name)
                .map(|value| here.on(Turn::Key(name.clone()), value))
                .into_iter()
                .collect(),
            (Self::Any, Value::Object(map)) => {
                map.iter().map(|(key, value)| here.on(Turn::Key(key.clone()), value)).collect()
            }
            (Self::Any, Value::Array(items)) => {
                items.iter().enumerate().map(|(at, item)| here.on(Turn::Place(at), item)).collect()
            }
            (Self::Index(index), Value::Array(items)) => here.item(items, *index),
            (Self::Slice { start, end, every }, Value::Array(items)) => {
                let bound = |given: &Option<i64>, otherwise| {
                    given.map_or(otherwise, |at| {
                        from_end(at, items.len()).clamp(0, items.len() as i64)
                    })
                };
                let range = bound(start, 0)..bound(end, items.len() as i64);
                let every = usize::try_from(*every).unwrap_or(1).max(1);
                range.step_by(every).flat_map(|at| here.item(items, at)).collect()
            }
            (Self::Union(steps), _) => steps.iter().flat_map(|step| step.from(here)).collect(),
            (Self::Filter(filter), Value::Array(items)) => items
                .iter()
                .enumerate()
                .filter(|(_, item)| filter.holds(item))
                .map(|(at, item)| here.on(Turn::Chosen(at), item))
                .collect(),
            (Self::Descent, _) => {
                let below = Self::Any.from(here);
                let deeper = below.iter().flat_map(|child| Self::Descent.from(child));
                std::iter::once(here.clone()).chain(deeper).collect()
            }
            _ => Vec::new(),
        }
    }
}

/// A place counted from the end where it is negative.
fn from_end(at: i64, length: usize) -> i64 {
    if at < 0 { at + length as i64 } else { at }
}

impl<'a> Match<'a> {
    fn on(&self, turn: Turn, value: &'a Value) -> Self {
        let way = self.way.iter().cloned().chain([turn]).collect();
        Self { way, value }
    }

    fn item(&self, items: &'a [Value], index: i64) -> Vec<Self> {
        let Ok(at) = usize::try_from(from_end(index, items.len())) else {
            return Vec::new();
        };
        let turn = if index < 0 { Turn::Chosen(at) } else { Turn::Place(at) };
        items.get(at).map(|item| self.on(turn, item)).into_iter().collect()
    }
}

/// What was found, nested as it is in the object, and nothing else of it. An item asked for by its
/// place keeps that place, with nulls before it; chosen ones stand in their order.
pub fn excerpt<'a>(found: impl IntoIterator<Item = Match<'a>>) -> Value {
    let mut tree = Tree::default();
    for Match { way, value } in found {
        tree.put(&way, value);
    }
    tree.into_value()
}

#[derive(Default)]
struct Tree {
    leaf: Option<Value>,
    branches: BTreeMap<Turn, Tree>,
}

impl Tree {
    fn put(&mut self, way: &[Turn], value: &Value) {
        match way.split_first() {
            None => self.leaf = Some(value.clone()),
            Some((turn, rest)) => {
                self.branches.entry(turn.clone()).or_default().put(rest, value);
            }
        }
    }

    fn into_value(self) -> Value {
        if let Some(value) = self.leaf {
            return value;
        }
        let (mut map, mut list) = (Map::new(), Vec::new());
        for (turn, below) in self.branches {
            let below = below.into_value();
            match turn {
                Turn::Key(key) => drop(map.insert(key, below)),
                Turn::Place(at) => {
                    list.resize(list.len().max(at), Value::Null);
                    list.push(below);
                }
                Turn::Chosen(_) => list.push(below),
            }
        }
        if list.is_empty() { Value::Object(map) } else { Value::Array(list) }
    }
}

#[cfg(test)]
mod tests;
