//! Bringing back what an operation came to, once others have undone it.
//!
//! An operation that was carried out is a wish about the fields that it touched. What is missing on
//! the way to such a field is made again; only an item that others took away as a whole is not: what
//! else it held is theirs to say.

use serde_json::{Value, json};

use super::mark::{Footprint, Mark};
use super::operation::Operation;
use super::outcome::leaf;
use super::place::pointer_to;
use super::script::{Problem, Standing, Writer, names_an_item};
use crate::atom::{is_scalar, same};
use crate::field::walk::at;
use crate::field::{Atom, FieldPath, PathElement};
use crate::manifest::same_shape;
use crate::pointer::{Pointer, index};
use crate::projection::{ABSENT, Leaf, is_concealed};
use crate::text;
use crate::zero::is_allocated;

impl Writer<'_> {
    /// Brings back what an operation came to, as far as it no longer holds.
    pub(super) fn restore(&mut self, n: usize, footprint: &Footprint) -> Result<(), Problem> {
        if matches!(self.past.standing, Standing::Landed) {
            return Ok(());
        }
        for mark in &footprint.marks {
            self.is_one(n, mark.path())?;
            match mark {
                Mark::Absent(path) => {
                    if let Some(at) = pointer_to(path, &self.object) {
                        self.means_the_same(n, footprint.operation.at(), path)?;
                        self.send(n, Operation::Remove { at })?;
                    }
                }
                Mark::Set(path) | Mark::Item(path) => {
                    let Some(value) = footprint.operation.value() else {
                        self.put_found(n, &footprint.operation, mark)?;
                        continue;
                    };
                    self.put_back(n, footprint.operation.at(), mark, path, value)?;
                }
            }
        }
        Ok(())
    }

    fn put_back(
        &mut self,
        n: usize,
        written: &Pointer,
        mark: &Mark,
        path: &FieldPath,
        value: &Value,
    ) -> Result<(), Problem> {
        let gone = names_an_item(path) && at(&self.object, path).is_none();
        if gone || matches!(mark, Mark::Item(_)) {
            return self.put_item(n, written, path, value);
        }
        if !self.holds(path, value) {
            self.points_to(n, written, path)?;
        }
        self.put(n, path, value)
    }

    /// Brings back a value that was found elsewhere on the object, as a whole and as it was then.
    fn put_found(&mut self, n: usize, operation: &Operation, mark: &Mark) -> Result<(), Problem> {
        let Standing::Recorded { texts, key, .. } = self.past.standing else {
            return Ok(());
        };
        let path = mark.path();
        let then = texts.get(path);
        if leaf(path, None, &self.object, self.past.secrecy).text(path, key).as_ref() == then {
            return Ok(());
        }
        let source = match operation {
            Operation::Copy { from, .. } => from.find(&self.object).cloned(),
            _ => None,
        };
        let kept = then.filter(|text| !is_concealed(text) && *text != ABSENT);
        let value = kept.map(|text| text::read(text)).or(source);
        let value = value.ok_or_else(|| Problem::Forgotten { n, path: path.clone() })?;
        match pointer_to(path, &self.object) {
            Some(at) => {
                self.points_to(n, operation.at(), path)?;
                self.send(n, Operation::Replace { at, value })
            }
            None => self.put_back(n, operation.at(), mark, path, &value),
        }
    }

    fn put_item(
        &mut self,
        n: usize,
        written: &Pointer,
        path: &FieldPath,
        value: &Value,
    ) -> Result<(), Problem> {
        if at(&self.object, path).is_some() {
            return match path.elements().last() {
                Some(PathElement::Key(_)) => self.put(n, path, value),
                _ => Ok(()),
            };
        }
        let mut list = path.clone();
        list.pop();
        let Some(found) = pointer_to(&list, &self.object) else {
            return self.make(n, &list, json!([value]));
        };
        let length = found.find(&self.object).and_then(Value::as_array).map_or(0, Vec::len);
        let last = written.0.last().and_then(|token| index(token)).filter(|at| *at <= length);
        let at = found.then(last.map_or("-".to_owned(), |at| at.to_string()));
        self.send(n, Operation::Add { at, value: value.clone() })
    }

    /// Sets a field, and of a map only what differs: what others put into it stays. A value that
    /// admission once put in the place of the written one does not count as that.
    pub(super) fn put(&mut self, n: usize, path: &FieldPath, value: &Value) -> Result<(), Problem> {
        let is_as_written = |found| !is_rewritten(found, value);
        if self.holds(path, value) && at(&self.object, path).is_none_or(is_as_written) {
            return Ok(());
        }
        if let (Some(Value::Object(_)), Value::Object(wanted)) = (at(&self.object, path), value) {
            for (name, value) in wanted {
                let mut below = path.clone();
                below.push(PathElement::field(name.clone()));
                self.put(n, &below, value)?;
            }
            return Ok(());
        }
        match pointer_to(path, &self.object) {
            Some(at) => self.send(n, Operation::Replace { at, value: value.clone() }),
            None => self.make(n, path, value.clone()),
        }
    }

    /// Makes a field that is not there, and the maps that hold it.
    pub(super) fn make(&mut self, n: usize, path: &FieldPath, value: Value) -> Result<(), Problem> {
        let (mut parent, mut value) = (path.clone(), value);
        while let Some(last) = parent.pop() {
            let PathElement::Field(name) = last else {
                parent.push(last);
                break;
            };
            let found = pointer_to(&parent, &self.object);
            if let Some(found) =
                found.filter(|it| it.find(&self.object).is_some_and(Value::is_object))
            {
                return self.send(n, Operation::Add { at: found.then(name), value });
            }
            value = json!({ name: value });
        }
        Err(Problem::Gone { n, item: parent })
    }

    /// Whether a field holds what the patch once made of it, in the server's own spelling.
    fn holds(&self, path: &FieldPath, value: &Value) -> bool {
        let Standing::Recorded { texts, key, .. } = self.past.standing else {
            return true;
        };
        if let (Some(Value::Object(found)), Value::Object(wanted)) = (at(&self.object, path), value)
            && !wanted.is_empty()
        {
            return wanted.iter().all(|(name, value)| {
                let mut below = path.clone();
                below.push(PathElement::field(name.clone()));
                self.holds(&below, value) || names_item(path, name, found.get(name))
            });
        }
        let leaf = leaf(path, Some(value), &self.object, self.past.secrecy);
        // What was recorded may be the work of an operation that is written no more.
        let mut departed = self.departed.iter();
        let undone = departed.any(|it| it.starts_with(path) || path.starts_with(it));
        match (leaf.text(path, key), texts.get(path)) {
            (Some(now), Some(then)) if !undone => now == *then,
            // Else, and where it was never shown apart, the value itself decides.
            _ => matches!(&leaf, Leaf::Shown(found) | Leaf::Concealed(found) if same(found, value)),
        }
    }
}

/// Whether something else stands where a value was written, and is not just what the server draws
/// or fills in beside it. Another spelling is something else too, and comes out the same again.
fn is_rewritten(found: &Value, written: &Value) -> bool {
    match (found, written) {
        (Value::Object(found), Value::Object(written)) => written
            .iter()
            .any(|(name, written)| found.get(name).is_some_and(|it| is_rewritten(it, written))),
        (Value::Array(items), Value::Array(all)) => {
            same_shape(found, written)
                && items.iter().zip(all).any(|(found, written)| is_rewritten(found, written))
        }
        _ => {
            is_scalar(found)
                && is_scalar(written)
                && !same(found, written)
                && !is_allocated(written, found)
        }
    }
}

/// Whether a field is one of those that name the item it is in.
fn names_item(path: &FieldPath, name: &str, found: Option<&Value>) -> bool {
    matches!(path.elements().last(), Some(PathElement::Key(keys))
        if keys.get(name).is_some_and(|key| found.is_some_and(|it| *key == Atom(it.clone()))))
}
