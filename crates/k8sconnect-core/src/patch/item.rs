//! Items of lists that are told apart by their keys, and what an `add` means for them.
//!
//! To add an item beside another one of the same key is lawful JSON, and many lists take it. But then
//! nobody can tell the two apart: the server forgets who holds either, and nothing could be handed
//! back. So an item that this patch itself put there is changed where it stands, and beside anybody
//! else's nothing is put.

use serde_json::Value;

use super::mark::{Footprint, Mark};
use super::operation::Operation;
use super::outcome::Outcome;
use super::place::pointer_to;
use super::script::{Problem, Trace, Writer};
use crate::atom::same;
use crate::field::walk::{at, namesakes};
use crate::field::{FieldPath, PathElement};
use crate::handback::{Division, Extent};
use crate::owners::{Manager, Owners};
use crate::pointer::Pointer;

/// Several items of one key in a list, one of which a patch means.
#[derive(Clone, Debug, PartialEq)]
pub struct Namesakes {
    pub item: FieldPath,
    pub count: usize,
}

impl Namesakes {
    fn of(item: FieldPath, object: &Value) -> Option<Self> {
        let count = count(object, &item);
        (count > 1).then_some(Self { item, count })
    }
}

impl Writer<'_> {
    /// Changes the item that an earlier text of this patch has put into a list, where the text now
    /// adds another one of the same key. `None` where there is no such item.
    pub(super) fn change_item(
        &mut self,
        n: usize,
        operation: &Operation,
    ) -> Result<Option<Vec<Trace>>, Problem> {
        let Operation::Add { at: place, value } = operation else {
            return Ok(None);
        };
        let Some((list, _)) = self.list_entered(place)? else {
            return Ok(None);
        };
        let former = self.left.iter().position(|it| is_former(it, &list, value));
        let Some(former) = former else {
            return Ok(None);
        };
        let Some(Mark::Set(path) | Mark::Item(path)) = self.left[former].marks.last() else {
            return Ok(None);
        };
        let path = path.clone();
        if at(&self.object, &path).is_none() {
            return Ok(None);
        }
        let former = self.left.remove(former);
        self.alter(n, &path, former.operation.value(), value)?;
        Ok(Some(vec![Trace::Known(Mark::Item(path))]))
    }

    /// Makes of what we once wrote what is to be there now. What others put beside it stays.
    fn alter(
        &mut self,
        n: usize,
        path: &FieldPath,
        former: Option<&Value>,
        wanted: &Value,
    ) -> Result<(), Problem> {
        if former == Some(wanted) {
            return self.put(n, path, wanted);
        }
        let below = |name: &String| {
            let mut below = path.clone();
            below.push(PathElement::field(name.clone()));
            below
        };
        match (at(&self.object, path), wanted) {
            (Some(Value::Object(_)), Value::Object(wanted)) => {
                let written = former.and_then(Value::as_object).into_iter().flatten();
                for (name, _) in written.filter(|(name, _)| !wanted.contains_key(*name)) {
                    if let Some(at) = pointer_to(&below(name), &self.object) {
                        self.send(n, Operation::Remove { at })?;
                    }
                }
                for (name, wanted) in wanted {
                    let former = former.and_then(|former| former.get(name));
                    self.alter(n, &below(name), former, wanted)?;
                }
                Ok(())
            }
            (Some(found), wanted) if same(found, wanted) => Ok(()),
            (_, wanted) => match pointer_to(path, &self.object) {
                Some(at) => self.send(n, Operation::Replace { at, value: wanted.clone() }),
                None => self.make(n, path, wanted.clone()),
            },
        }
    }

    /// Refuses to touch an item, or what is in it, that has namesakes: which of them is meant, its
    /// name does not tell.
    pub(super) fn is_one(&self, n: usize, path: &FieldPath) -> Result<(), Problem> {
        let found = items_on(path).find_map(|item| Namesakes::of(item, &self.object));
        found.map_or(Ok(()), |found| Err(Problem::Namesakes { n, found }))
    }

    /// Refuses to put an item beside another one of the same key. Key fields that are left to the
    /// server are told by its answer alone.
    pub(super) fn stands_alone(
        &self,
        n: usize,
        operation: &Operation,
        list: Option<&FieldPath>,
        value: Option<&Value>,
    ) -> Result<(), Problem> {
        let (Some(list), Some(value)) = (list, value) else {
            return Ok(());
        };
        let PathElement::Key(keys) = self.shape.name_item(list, value) else {
            return Ok(());
        };
        if keys.values().any(|key| key.0.is_null()) {
            return Ok(());
        }
        let mut item = list.clone();
        item.push(PathElement::Key(keys));
        match (pointer_to(&item, &self.object), operation) {
            (None, _) => Ok(()),
            // It leaves its place before it comes to the other one.
            (Some(at), Operation::Move { from, .. }) if at == *from => Ok(()),
            (Some(at), _) => {
                let holders = holders(self.live, &item);
                Err(Problem::Beside { n, item, at, holders })
            }
        }
    }
}

/// Whether this put an item into the list that has the key of the value. A key field that both texts
/// leave to the server has the same value in both.
fn is_former(footprint: &Footprint, list: &FieldPath, value: &Value) -> bool {
    let Some(Mark::Set(path) | Mark::Item(path)) = footprint.marks.last() else {
        return false;
    };
    let Some((PathElement::Key(keys), around)) = path.elements().split_last() else {
        return false;
    };
    let written = footprint.operation.value();
    around == list.elements()
        && keys.iter().all(|(name, key)| match value.get(name) {
            Some(value) => same(value, &key.0),
            None => written.is_some_and(|written| written.get(name).is_none()),
        })
}

impl Outcome {
    /// An item that the patch means and that has namesakes on the object as it was found.
    pub fn namesakes(&self, live: &Value) -> Option<Namesakes> {
        self.items().find_map(|item| Namesakes::of(item, live))
    }

    /// An item that operations have put beside another one of the same key, whose key the server
    /// filled in.
    pub fn beside(&self, live: &Value, answer: &Value) -> Option<Problem> {
        let item = self.items().find(|item| count(answer, item) > 1)?;
        let place = pointer_to(&item, live).or_else(|| pointer_to(&item, answer));
        let touches = |mark: &Mark| mark.path().elements().starts_with(item.elements());
        let n = self.footprints.iter().rposition(|it| it.marks.iter().any(touches))? + 1;
        let holders = holders(live, &item);
        Some(Problem::Beside { n, at: place.unwrap_or(Pointer(vec![])), item, holders })
    }

    /// The items with keys that patched fields are, or are in.
    fn items(&self) -> impl Iterator<Item = FieldPath> {
        self.leaves.0.keys().flat_map(items_on)
    }
}

/// The items with keys that a path leads through.
fn items_on(path: &FieldPath) -> impl Iterator<Item = FieldPath> {
    let path = path.elements();
    let keyed = |n: &usize| matches!(path[n - 1], PathElement::Key(_));
    (1..=path.len()).filter(keyed).map(|n| FieldPath::new(path[..n].iter().cloned()))
}

/// Who holds an item. Where nothing tells, nobody does.
fn holders(object: &Value, item: &FieldPath) -> Vec<Manager> {
    let owners = Owners::of_object(object).unwrap_or_default();
    Division::told_by([&owners]).holders(&owners, item, Extent::Whole)
}

fn count(object: &Value, item: &FieldPath) -> usize {
    let mut list = item.clone();
    match (list.pop(), at(object, &list)) {
        (Some(element), Some(list)) => namesakes(list, &element),
        _ => 0,
    }
}
