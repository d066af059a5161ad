//! RFC 6902: one operation, and what it does to a value.
//!
//! Operations are carried out here too, on a copy: the server's answer to one that cannot be carried
//! out names neither the operation nor the reason.

use serde_json::{Value, json};

use crate::atom::same;
use crate::pointer::{Pointer, index};
use crate::yaml::NESTING_LIMIT;

#[derive(Clone, Debug, PartialEq)]
pub enum Operation {
    Add { at: Pointer, value: Value },
    Remove { at: Pointer },
    Replace { at: Pointer, value: Value },
    Move { from: Pointer, at: Pointer },
    Copy { from: Pointer, at: Pointer },
    Test { at: Pointer, value: Value },
}

/// Why a value is no operation.
#[derive(Clone, Debug, PartialEq)]
pub enum OperationError {
    NotAMapping,
    /// `op`, or a member that this operation needs.
    Missing(&'static str),
    UnknownOp(String),
    /// The text of a member is no JSON Pointer.
    NotAPointer {
        name: &'static str,
        text: String,
    },
    /// The pointer of a member has more steps than an object can be deep.
    TooDeep(&'static str),
    /// A value cannot move into a part of itself.
    IntoItself {
        from: Pointer,
        at: Pointer,
    },
}

/// Why an operation cannot be carried out.
#[derive(Clone, Debug, PartialEq)]
pub enum Trouble {
    /// Nothing is there to be removed, replaced, moved or copied.
    Missing(Pointer),
    /// What is to hold the new value is not there.
    NoParent(Pointer),
    /// The same, of a position.
    NoList(Pointer),
    /// The list has no such position, or what stands there is no position.
    NoPosition { at: Pointer, length: usize },
    /// All annotations would go, and our own marks with them.
    Annotated(Pointer),
    /// The object would become larger or deeper than any server takes.
    Overgrown(Pointer),
    /// A test found something else.
    Differs { at: Pointer, wanted: Value, found: Option<Value> },
}

impl Operation {
    pub fn read(value: &Value) -> Result<Self, OperationError> {
        let object = value.as_object().ok_or(OperationError::NotAMapping)?;
        let pointer = |name: &'static str| {
            let text = object.get(name).and_then(Value::as_str);
            let text = text.ok_or(OperationError::Missing(name))?;
            let refused = || OperationError::NotAPointer { name, text: text.to_owned() };
            let read = Pointer::parse(text).ok_or_else(refused)?;
            let fits = read.0.len() <= NESTING_LIMIT;
            fits.then_some(read).ok_or(OperationError::TooDeep(name))
        };
        let content = || object.get("value").cloned().ok_or(OperationError::Missing("value"));
        let at = pointer("path")?;
        match object.get("op").and_then(Value::as_str) {
            Some("add") => Ok(Self::Add { at, value: content()? }),
            Some("replace") => Ok(Self::Replace { at, value: content()? }),
            Some("test") => Ok(Self::Test { at, value: content()? }),
            Some("remove") => Ok(Self::Remove { at }),
            Some("move") => match pointer("from")? {
                from if at != from && at.0.starts_with(&from.0) => {
                    Err(OperationError::IntoItself { from, at })
                }
                from => Ok(Self::Move { from, at }),
            },
            Some("copy") => Ok(Self::Copy { from: pointer("from")?, at }),
            Some(other) => Err(OperationError::UnknownOp(other.to_owned())),
            None => Err(OperationError::Missing("op")),
        }
    }

    pub fn to_json(&self) -> Value {
        let path = self.at().to_string();
        match self {
            Self::Add { value, .. } => json!({"op": "add", "path": path, "value": value}),
            Self::Replace { value, .. } => json!({"op": "replace", "path": path, "value": value}),
            Self::Test { value, .. } => json!({"op": "test", "path": path, "value": value}),
            Self::Remove { .. } => json!({"op": "remove", "path": path}),
            Self::Move { from, .. } => {
                json!({"op": "move", "from": from.to_string(), "path": path})
            }
            Self::Copy { from, .. } => {
                json!({"op": "copy", "from": from.to_string(), "path": path})
            }
        }
    }

    pub fn at(&self) -> &Pointer {
        match self {
            Self::Add { at, .. }
            | Self::Remove { at }
            | Self::Replace { at, .. }
            | Self::Move { at, .. }
            | Self::Copy { at, .. }
            | Self::Test { at, .. } => at,
        }
    }

    /// The value that it writes, where the operation itself says it.
    pub fn value(&self) -> Option<&Value> {
        match self {
            Self::Add { value, .. } | Self::Replace { value, .. } => Some(value),
            _ => None,
        }
    }

    /// Every place that it changes.
    pub fn changes(&self) -> Vec<&Pointer> {
        match self {
            Self::Move { from, at } => vec![from, at],
            Self::Test { .. } => vec![],
            other => vec![other.at()],
        }
    }

    /// The value that it carries, under its path, as if it were an object.
    pub(super) fn as_object(&self) -> Option<Value> {
        match self {
            Self::Add { at, value } | Self::Replace { at, value } | Self::Test { at, value } => {
                Some(at.holding(value.clone()))
            }
            Self::Remove { .. } | Self::Move { .. } | Self::Copy { .. } => None,
        }
    }

    /// Every place that it names, as an object with the value that it carries there.
    pub(super) fn places(&self) -> Vec<Value> {
        match self {
            Self::Move { from, at } | Self::Copy { from, at } => {
                vec![from.holding(Value::Null), at.holding(Value::Null)]
            }
            Self::Remove { at } => vec![at.holding(Value::Null)],
            Self::Add { .. } | Self::Replace { .. } | Self::Test { .. } => {
                self.as_object().into_iter().collect()
            }
        }
    }

    /// The value that it brings to another place.
    pub(super) fn brings<'a>(&'a self, root: &'a Value) -> Option<&'a Value> {
        match self {
            Self::Add { value, .. } | Self::Replace { value, .. } => Some(value),
            Self::Move { from, .. } | Self::Copy { from, .. } => from.find(root),
            Self::Remove { .. } | Self::Test { .. } => None,
        }
    }

    /// Does it to a value.
    pub fn carry_out(&self, root: &mut Value) -> Result<(), Trouble> {
        match self {
            Self::Add { at, value } => add(root, at, value.clone()),
            Self::Remove { at } => remove(root, at).map(|_| ()),
            Self::Replace { at, value } => {
                if at.find(root).is_none() {
                    return Err(missing(root, at));
                }
                if let Some(found) = at.find_mut(root) {
                    *found = value.clone();
                }
                Ok(())
            }
            Self::Move { from, at } => {
                let value = remove(root, from)?;
                add(root, at, value)
            }
            Self::Copy { from, at } => {
                let value = from.find(root).cloned();
                add(root, at, value.ok_or_else(|| missing(root, from))?)
            }
            Self::Test { at, value } => match at.find(root) {
                Some(found) if same(found, value) => Ok(()),
                found => Err(Trouble::Differs {
                    at: at.clone(),
                    wanted: value.clone(),
                    found: found.cloned(),
                }),
            },
        }
    }
}

fn add(root: &mut Value, at: &Pointer, value: Value) -> Result<(), Trouble> {
    let Some((parent, last)) = at.split() else {
        *root = value;
        return Ok(());
    };
    match parent.find_mut(root) {
        Some(Value::Object(map)) => {
            map.insert(last.to_owned(), value);
            Ok(())
        }
        Some(Value::Array(items)) if last == "-" => {
            items.push(value);
            Ok(())
        }
        Some(Value::Array(items)) => match index(last).filter(|n| *n <= items.len()) {
            Some(n) => {
                items.insert(n, value);
                Ok(())
            }
            None => Err(Trouble::NoPosition { at: at.clone(), length: items.len() }),
        },
        _ if last == "-" || index(last).is_some() => Err(Trouble::NoList(parent)),
        _ => Err(Trouble::NoParent(parent)),
    }
}

/// Why there is nothing at a place: a list on the way may be too short.
fn missing(root: &Value, at: &Pointer) -> Trouble {
    let places = (1..=at.0.len()).map(|n| Pointer(at.0[..n].to_vec()));
    let mut short = places.filter_map(|place| match place.split()?.0.find(root)? {
        Value::Array(items) if place.find(root).is_none() => {
            Some(Trouble::NoPosition { at: place, length: items.len() })
        }
        _ => None,
    });
    short.next().unwrap_or_else(|| Trouble::Missing(at.clone()))
}

fn remove(root: &mut Value, at: &Pointer) -> Result<Value, Trouble> {
    let missing = || Trouble::Missing(at.clone());
    let (parent, last) = at.split().ok_or_else(missing)?;
    match parent.find_mut(root) {
        Some(Value::Object(map)) => map.remove(last).ok_or_else(missing),
        Some(Value::Array(items)) => match index(last).filter(|n| *n < items.len()) {
            Some(n) => Ok(items.remove(n)),
            None => Err(Trouble::NoPosition { at: at.clone(), length: items.len() }),
        },
        _ => Err(missing()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn done(object: Value, operations: Value) -> Result<Value, Trouble> {
        let mut object = object;
        for operation in operations.as_array().unwrap() {
            Operation::read(operation).unwrap().carry_out(&mut object)?;
        }
        Ok(object)
    }

    #[test]
    fn every_operation_does_what_the_standard_says() {
        let object = json!({"a": [1, 2], "b": {"c": "x"}});
        let after = done(
            object,
            json!([
                {"op": "add", "path": "/a/-", "value": 3},
                {"op": "add", "path": "/a/0", "value": 0},
                {"op": "remove", "path": "/a/1"},
                {"op": "replace", "path": "/b/c", "value": "y"},
                {"op": "copy", "from": "/b/c", "path": "/d"},
                {"op": "move", "from": "/b/c", "path": "/e"},
                {"op": "test", "path": "/d", "value": "y"},
            ]),
        );
        assert_eq!(after, Ok(json!({"a": [0, 2, 3], "b": {}, "d": "y", "e": "y"})));
    }

    #[test]
    fn what_cannot_be_done_is_told_apart() {
        let object = || json!({"a": [1], "b": "x"});
        let one = |operation: Value| done(object(), json!([operation])).unwrap_err();
        let at = |text: &str| Pointer::parse(text).unwrap();
        assert_eq!(
            one(json!({"op": "add", "path": "/m/x", "value": 1})),
            Trouble::NoParent(at("/m"))
        );
        assert_eq!(
            one(json!({"op": "add", "path": "/m/1", "value": 1})),
            Trouble::NoList(at("/m"))
        );
        assert_eq!(one(json!({"op": "remove", "path": "/m"})), Trouble::Missing(at("/m")));
        assert_eq!(
            one(json!({"op": "add", "path": "/a/3", "value": 1})),
            Trouble::NoPosition { at: at("/a/3"), length: 1 }
        );
        assert_eq!(
            one(json!({"op": "replace", "path": "/a/7/x", "value": 1})),
            Trouble::NoPosition { at: at("/a/7"), length: 1 }
        );
        assert_eq!(
            one(json!({"op": "test", "path": "/b", "value": "y"})),
            Trouble::Differs { at: at("/b"), wanted: json!("y"), found: Some(json!("x")) }
        );
    }

    #[test]
    fn what_is_read_is_written_back() {
        let written = json!({"op": "move", "from": "/a", "path": "/b~1c"});
        assert_eq!(Operation::read(&written).unwrap().to_json(), written);
        assert!(Operation::read(&json!({"op": "add", "path": "/a"})).is_err());
        assert!(Operation::read(&json!({"op": "put", "path": "/a", "value": 1})).is_err());
        for path in ["a", "/data/a~2b"] {
            let error = OperationError::NotAPointer { name: "path", text: path.to_owned() };
            assert_eq!(Operation::read(&json!({"op": "remove", "path": path})), Err(error));
        }
        assert_eq!(
            Operation::read(&json!({"op": "move", "from": "/a", "path": "/a/b"})),
            Err(OperationError::IntoItself {
                from: Pointer::parse("/a").unwrap(),
                at: Pointer::parse("/a/b").unwrap()
            })
        );
    }
}
