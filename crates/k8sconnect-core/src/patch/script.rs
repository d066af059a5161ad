//! Which operations are still to be sent, and what each of them has touched.
//!
//! A list of operations is no wish but a deed: carried out twice, it appends twice, and removes the
//! next item too. So each operation leaves a [`Footprint`], the names of the fields that it touched
//! when it was first carried out. From then on it is a wish about these fields: one that holds is
//! not carried out again, one that no longer holds is brought back to what it came to.

use serde_json::{Value, json};

use super::item::Namesakes;
use super::mark::{Footprint, Mark};
use super::meaning::{covers, may_come_of};
use super::operation::{Operation, Trouble};
use super::place::{Shape, Unplaced};
use super::position::{Positions, Whereabouts};
use crate::atom::same;
use crate::field::walk;
use crate::field::{FieldPath, PathElement};
use crate::identity::is_reserved;
use crate::owners::Manager;
use crate::pointer::{Pointer, index};
use crate::projection::{ConcealmentKey, Texts, is_empty_map};
use crate::secrecy::Secrecy;

/// What earlier writes of the same patch left behind.
#[derive(Clone, Copy, Debug)]
pub struct Past<'a> {
    pub footprints: &'a [Footprint],
    pub standing: Standing<'a>,
    pub secrecy: &'a Secrecy,
}

#[derive(Clone, Copy, Debug)]
pub enum Standing<'a> {
    /// What the fields held then, to be compared with what they hold now.
    Recorded { texts: &'a Texts, positions: &'a Positions, key: Option<&'a ConcealmentKey> },
    /// The write landed and its answer was lost: everything is done.
    Landed,
}

/// The operations to be sent, in order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Script {
    pub send: Vec<Operation>,
    /// Maps that were to be made, and that are there with something in them: they stay.
    pub spared: Vec<FieldPath>,
    steps: Vec<(Operation, Vec<Trace>)>,
}

/// A mark, or one that only the answer can tell: the server may fill in key fields.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Trace {
    Known(Mark),
    ItemOf { list: FieldPath, value: Value },
}

/// Why there is no script. Operations are counted from 1.
#[derive(Clone, Debug, PartialEq)]
pub enum Problem {
    Unplaced(Unplaced),
    /// An operation that cannot be carried out.
    Cannot {
        n: usize,
        trouble: Trouble,
    },
    /// An item that would stand beside another one of the same key, which is at a place of its own.
    Beside {
        n: usize,
        item: FieldPath,
        at: Pointer,
        holders: Vec<Manager>,
    },
    /// An item that is there more than once, and one of which is meant.
    Namesakes {
        n: usize,
        found: Namesakes,
    },
    /// A position that has another item now than at the first apply.
    Elsewhere {
        n: usize,
        at: Pointer,
        then: FieldPath,
        now: FieldPath,
    },
    /// A position in a list without keys that has another item now than at the last apply.
    Moved {
        n: usize,
        at: Pointer,
        position: FieldPath,
        now: Whereabouts,
    },
    /// A list item in which something was changed, and that is no longer there.
    Gone {
        n: usize,
        item: FieldPath,
    },
    /// A value that was found and not written, that is another one now, and that is not kept
    /// because it is secret.
    Forgotten {
        n: usize,
        path: FieldPath,
    },
}

impl From<Unplaced> for Problem {
    fn from(unplaced: Unplaced) -> Self {
        Self::Unplaced(unplaced)
    }
}

impl Script {
    pub fn write(
        operations: &[Operation],
        live: &Value,
        past: Past<'_>,
        shape: &Shape,
    ) -> Result<Self, Problem> {
        let left: Vec<_> = past.footprints.iter().collect();
        let mut writer = Writer {
            live,
            object: live.clone(),
            past,
            shape,
            left,
            departed: departed(past.footprints, operations),
            anew: vec![],
            script: Self::default(),
            copied: 0,
        };
        for (n, operation) in operations.iter().enumerate() {
            writer.operation(n + 1, operation)?;
        }
        Ok(writer.script)
    }

    /// What each operation touched, now that the answer is there.
    pub fn footprints(&self, answer: &Value, shape: &Shape) -> Vec<Footprint> {
        let mark = |trace: &Trace| match trace {
            Trace::Known(mark) => mark.clone(),
            Trace::ItemOf { list, value } => {
                let items = walk::at(answer, list).and_then(Value::as_array);
                let items = || items.into_iter().flatten();
                let found = items().find(|item| covers(item, value));
                let found = found.or_else(|| items().rfind(|item| may_come_of(item, value)));
                let mut path = list.clone();
                path.push(shape.name_item(list, found.unwrap_or(value)));
                Mark::Item(path)
            }
        };
        self.steps
            .iter()
            .map(|(operation, traces)| Footprint {
                operation: operation.clone(),
                marks: traces.iter().map(mark).collect(),
            })
            .collect()
    }
}

pub(super) struct Writer<'a> {
    pub(super) live: &'a Value,
    /// The object as it is after what has been written so far.
    pub(super) object: Value,
    pub(super) past: Past<'a>,
    pub(super) shape: &'a Shape,
    /// Footprints that no operation has claimed yet.
    pub(super) left: Vec<&'a Footprint>,
    /// The fields of operations that are written no more. What is recorded of them is their work.
    pub(super) departed: Vec<&'a FieldPath>,
    /// Places that operations have changed which were not carried out so before.
    anew: Vec<Pointer>,
    script: Script,
    /// How much was copied so far.
    pub(super) copied: usize,
}

impl Writer<'_> {
    fn operation(&mut self, n: usize, operation: &Operation) -> Result<(), Problem> {
        if let Operation::Test { at, .. } = operation {
            self.test(n, operation, at)?;
            self.script.steps.push((operation.clone(), vec![]));
            return Ok(());
        }
        let known = self.left.iter().position(|it| it.operation == *operation);
        let known = known.map(|known| self.left.remove(known));
        let is_done = |_: &&Footprint| {
            !self.finds_something_else(operation) && !self.counts_anew(n, operation)
        };
        let traces = match known.filter(is_done) {
            Some(footprint) => {
                self.restore(n, footprint)?;
                footprint.marks.iter().cloned().map(Trace::Known).collect()
            }
            None => {
                let before = self.script.send.len();
                let traces = match self.change_item(n, operation)? {
                    Some(traces) => traces,
                    None => self.carry_out(n, operation)?,
                };
                if self.script.send.len() > before {
                    self.anew.extend(operation.changes().into_iter().cloned());
                }
                traces
            }
        };
        self.script.steps.push((operation.clone(), traces));
        Ok(())
    }

    /// Whether an operation that takes a value from elsewhere finds one there that another operation,
    /// written otherwise than before, has just put there.
    fn finds_something_else(&self, operation: &Operation) -> bool {
        match operation {
            Operation::Move { from, .. } | Operation::Copy { from, .. } => {
                self.anew.iter().any(|at| at.overlaps(from)) && from.find(&self.object).is_some()
            }
            _ => false,
        }
    }

    pub(super) fn send(&mut self, n: usize, operation: Operation) -> Result<(), Problem> {
        self.stays_in_bounds(n, &operation)?;
        operation.carry_out(&mut self.object).map_err(|trouble| Problem::Cannot { n, trouble })?;
        self.script.send.push(operation);
        Ok(())
    }

    /// Asks a test whenever something is to be written. What the patch has changed already tells
    /// nothing of how it was before, and neither does what a write that landed has met.
    fn test(&mut self, n: usize, operation: &Operation, at: &Pointer) -> Result<(), Problem> {
        if matches!(self.past.standing, Standing::Landed) {
            return Ok(());
        }
        let mut past = self.past.footprints.iter();
        let changed = past.any(|Footprint { operation, .. }| {
            let moves = !matches!(operation, Operation::Replace { .. });
            let mut changes = operation.changes().into_iter();
            changes.any(|changed| changed.overlaps(at) || (moves && self.shifts(changed, at)))
        });
        if changed {
            return Ok(());
        }
        operation.carry_out(&mut self.object).map_err(|trouble| Problem::Cannot { n, trouble })
    }

    /// Whether a change at one place may have brought another item to the other.
    fn shifts(&self, changed: &Pointer, at: &Pointer) -> bool {
        changed.split().is_some_and(|(list, _)| {
            at.0.len() > list.0.len()
                && at.overlaps(&list)
                && list.find(&self.object).is_some_and(Value::is_array)
        })
    }

    /// Carries an operation out for the first time.
    fn carry_out(&mut self, n: usize, operation: &Operation) -> Result<Vec<Trace>, Problem> {
        let known = |path| vec![Trace::Known(path)];
        if !self.is_counted_anew(n, operation) {
            self.points_as_before(n, operation.at())?;
        }
        match operation {
            Operation::Remove { at } => {
                let gone = at.find(&self.object).is_none();
                let held_in_list = at
                    .split()
                    .and_then(|(parent, _)| parent.find(&self.object).map(Value::is_array));
                if gone && held_in_list != Some(true) {
                    return Ok(known(Mark::Absent(self.shape.place(at, &self.object)?)));
                }
                let path = self.shape.place(at, &self.object)?;
                self.is_one(n, &path)?;
                self.send(n, operation.clone())?;
                Ok(known(Mark::Absent(path)))
            }
            Operation::Move { from, at } => {
                let path = self.shape.place(from, &self.object)?;
                self.is_one(n, &path)?;
                let value = from.find(&self.object).cloned();
                let list = self.list_entered(at)?;
                let entered = list.as_ref().map(|(list, _)| list);
                self.stands_alone(n, operation, entered, value.as_ref())?;
                self.has_annotations(n, at)?;
                self.send(n, operation.clone())?;
                let mut traces = known(Mark::Absent(path));
                traces.push(self.trace(at, list, value)?);
                Ok(traces)
            }
            Operation::Copy { from, at } => {
                let value = from.find(&self.object).cloned();
                let list = self.list_entered(at)?;
                let entered = list.as_ref().map(|(list, _)| list);
                self.stands_alone(n, operation, entered, value.as_ref())?;
                self.has_annotations(n, at)?;
                self.send(n, operation.clone())?;
                Ok(vec![self.trace(at, list, value)?])
            }
            Operation::Add { at, value } => {
                let list = self.list_entered(at)?;
                let there = match &list {
                    Some((_, items)) => items.iter().any(|item| covers(item, value)),
                    None if is_empty_map(value) && self.stands(at)? => true,
                    None => at.find(&self.object).is_some_and(|found| same(found, value)),
                };
                if list.is_none() {
                    self.is_one(n, &self.shape.place(at, &self.object)?)?;
                }
                if !there {
                    let entered = list.as_ref().map(|(list, _)| list);
                    self.stands_alone(n, operation, entered, Some(value))?;
                    self.spares_annotations(n, at)?;
                    self.has_annotations(n, at)?;
                    self.send(n, operation.clone())?;
                }
                Ok(vec![self.trace(at, list, Some(value.clone()))?])
            }
            Operation::Replace { at, value } => {
                let before = self.shape.place(at, &self.object)?;
                self.is_one(n, &before)?;
                if !at.find(&self.object).is_some_and(|found| same(found, value)) {
                    self.send(n, operation.clone())?;
                }
                let after = self.shape.place(at, &self.object)?;
                let ousted = self.ousted(&before, &after).map(Mark::Absent);
                Ok(ousted.into_iter().chain([Mark::Set(after)]).map(Trace::Known).collect())
            }
            Operation::Test { .. } => Ok(vec![]),
        }
    }

    /// Whether a map stands where an empty one is to be made. Whoever adds one wants to have it there,
    /// for what comes after: what others put into it since is not taken away.
    fn stands(&mut self, at: &Pointer) -> Result<bool, Problem> {
        let Some(Value::Object(map)) = at.find(&self.object) else {
            return Ok(false);
        };
        if !map.keys().all(|name| at.is_all_annotations() && is_reserved(name)) {
            let path = self.shape.place(at, &self.object)?;
            self.script.spared.push(path);
        }
        Ok(true)
    }

    /// Has the object bear annotations where one is to be put: our own mark would make the map anyway.
    fn has_annotations(&mut self, n: usize, at: &Pointer) -> Result<(), Problem> {
        match at.split() {
            Some((map, _)) if map.is_all_annotations() && map.find(&self.object).is_none() => {
                self.send(n, Operation::Add { at: map, value: json!({}) })
            }
            _ => Ok(()),
        }
    }

    /// Refuses to put a new map in the place of annotations that are there.
    fn spares_annotations(&self, n: usize, at: &Pointer) -> Result<(), Problem> {
        let found = at.find(&self.object).filter(|_| at.is_all_annotations());
        match found.and_then(Value::as_object) {
            Some(map) if !map.is_empty() => {
                Err(Problem::Cannot { n, trouble: Trouble::Annotated(at.clone()) })
            }
            _ => Ok(()),
        }
    }

    /// The item that another one has replaced: one that others had put there, and that is nowhere
    /// else in the list.
    fn ousted(&self, before: &FieldPath, after: &FieldPath) -> Option<FieldPath> {
        let (before, after) = (before.elements(), after.elements());
        let n = before.iter().zip(after).position(|(before, after)| before != after)?;
        let item = FieldPath::new(before[..=n].iter().cloned());
        let mut past = self.past.footprints.iter().flat_map(|footprint| &footprint.marks);
        let ours = past.any(|mark| mark.path().elements().starts_with(item.elements()));
        let ousted = names_an_item(&item) && !ours && walk::at(&self.object, &item).is_none();
        ousted.then_some(item)
    }

    /// The list that an addition at this place puts an item into, and its items now.
    pub(super) fn list_entered(
        &self,
        at: &Pointer,
    ) -> Result<Option<(FieldPath, Vec<Value>)>, Problem> {
        let Some((parent, _)) = at.split() else {
            return Ok(None);
        };
        match parent.find(&self.object) {
            Some(Value::Array(items)) => {
                let list = self.shape.place(&parent, &self.object)?;
                Ok(Some((list, items.clone())))
            }
            _ => Ok(None),
        }
    }

    fn trace(
        &self,
        at: &Pointer,
        list: Option<(FieldPath, Vec<Value>)>,
        value: Option<Value>,
    ) -> Result<Trace, Problem> {
        Ok(match (list, value) {
            (Some((list, _)), Some(value)) => Trace::ItemOf { list, value },
            _ => Trace::Known(Mark::Set(self.shape.place(at, &self.object)?)),
        })
    }

    /// An operation at a place that another one, now changed, named before must find the same item
    /// there.
    fn points_as_before(&self, n: usize, at: &Pointer) -> Result<(), Problem> {
        for footprint in self.past.footprints {
            if footprint.operation.at() == at
                && let Some(Mark::Set(then)) = footprint.marks.last()
            {
                self.points_to(n, at, then)?;
            }
        }
        Ok(())
    }

    pub(super) fn points_to(
        &self,
        n: usize,
        at: &Pointer,
        then: &FieldPath,
    ) -> Result<(), Problem> {
        // Of an item that is gone, the position is all that is left.
        let gone = names_an_item(then) && walk::at(&self.object, then).is_none();
        if gone || !at.0.iter().any(|token| index(token).is_some()) {
            return Ok(());
        }
        let now = self.shape.place(at, &self.object)?;
        if now == *then {
            return self.means_the_same(n, at, then);
        }
        Err(Problem::Elsewhere { n, at: at.clone(), then: then.clone(), now })
    }

    /// Every position on the way to a field must have the item that it had: on the object as it was
    /// found, or as operations before this one leave it, since they may count other items themselves.
    pub(super) fn means_the_same(
        &self,
        n: usize,
        at: &Pointer,
        path: &FieldPath,
    ) -> Result<(), Problem> {
        let Standing::Recorded { positions, key: Some(key), .. } = self.past.standing else {
            return Ok(());
        };
        let footprints = self.past.footprints;
        for (position, stood) in positions {
            let moved = |object| stood.moved(position, object, footprints, key);
            if path.elements().starts_with(position.elements())
                && let Some(now) = moved(self.live)
                && moved(&self.object).is_some()
            {
                let (at, position) = (at.clone(), position.clone());
                return Err(Problem::Moved { n, at, position, now });
            }
        }
        Ok(())
    }
}

/// The fields that operations touched which are not among these any more.
fn departed<'a>(past: &'a [Footprint], operations: &[Operation]) -> Vec<&'a FieldPath> {
    let mut stay: Vec<_> = operations.iter().collect();
    let has_left = |footprint: &&Footprint| {
        let at = stay.iter().position(|operation| **operation == footprint.operation);
        at.map(|at| stay.swap_remove(at)).is_none()
    };
    past.iter().filter(has_left).flat_map(|it| &it.marks).map(Mark::path).collect()
}

/// Whether a path ends in a list item that has a name, be it a key or its value.
pub(super) fn names_an_item(path: &FieldPath) -> bool {
    matches!(path.elements().last(), Some(PathElement::Key(_) | PathElement::Value(_)))
}
