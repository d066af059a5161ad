//! What stood at a position of a list whose items have no names.
//!
//! An operation that counts the items of such a list means the one that it met. Others may put items
//! before it, or take some away, and the position means another then. What the item held besides the
//! patched fields tells the two apart, and the length of the list where it held nothing else. Items
//! that are alike in this are told apart only while ours is as it was left, and no other one was
//! like it in everything: then it stands where that one is. If others have changed the patched
//! fields of ours, it is what stands at the position, since nothing speaks against it.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::str::FromStr;

use serde_json::Value;

use super::mark::Footprint;
use crate::field::walk::{at, at_written_mut};
use crate::field::{FieldPath, PathElement};
use crate::projection::ConcealmentKey;

/// What stood at positions, by the paths that end in them.
pub type Positions = BTreeMap<FieldPath, Stood>;

/// An item as it was, in a list as it was.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stood {
    length: usize,
    /// A hash of what is not patched, if there is anything.
    rest: Option<String>,
    /// A hash of all of it, if no other item of the list was equal to it.
    whole: Option<String>,
}

/// Where an item stands that has left its position.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Whereabouts {
    At(FieldPath),
    Untold,
}

/// What stands at every position that operations went through.
pub fn positions(footprints: &[Footprint], object: &Value, key: &ConcealmentKey) -> Positions {
    let counted: BTreeSet<_> = footprints.iter().flat_map(through_positions).collect();
    let stood = |position: FieldPath| {
        let patched = patched_in(&position, footprints);
        let (items, item) = (list_of(&position, object)?, at(object, &position)?);
        let is_one = items.iter().filter(|other| *other == item).count() == 1;
        let whole = is_one.then(|| key.hash(&item.to_string()));
        let rest = rest(item, &patched, key);
        Some((position, Stood { length: items.len(), rest, whole }))
    };
    counted.into_iter().filter_map(stood).collect()
}

impl Stood {
    /// Where the item stands if the position means another one by now. One that others changed in its
    /// place is the same; so is one that is gone, of which more is to be said elsewhere.
    pub(super) fn moved(
        &self,
        position: &FieldPath,
        object: &Value,
        footprints: &[Footprint],
        key: &ConcealmentKey,
    ) -> Option<Whereabouts> {
        let (items, now) = (list_of(position, object)?, at(object, position)?);
        let patched = patched_in(position, footprints);
        let is_as_left = |item: &Value| {
            self.whole.as_ref().is_some_and(|whole| key.hash(&item.to_string()) == *whole)
        };
        let is_alike = |item: &Value| self.rest.is_some() && rest(item, &patched, key) == self.rest;
        if is_as_left(now) {
            return None;
        }
        if items.iter().any(is_as_left) {
            return Some(whereabouts(position, items, is_as_left));
        }
        let moved = !is_alike(now) && (items.len() != self.length || items.iter().any(is_alike));
        moved.then(|| whereabouts(position, items, is_alike))
    }
}

/// The only item of which this holds.
fn whereabouts(
    position: &FieldPath,
    items: &[Value],
    is_it: impl Fn(&Value) -> bool,
) -> Whereabouts {
    let mut found = items.iter().enumerate().filter(|(_, item)| is_it(item));
    match (found.next(), found.next()) {
        (Some((n, _)), None) => {
            let mut at = position.clone();
            at.pop();
            at.push(PathElement::Index(n));
            Whereabouts::At(at)
        }
        _ => Whereabouts::Untold,
    }
}

/// The positions on the way to what an operation touched.
pub(super) fn through_positions(footprint: &Footprint) -> Vec<FieldPath> {
    let paths = footprint.marks.iter().map(|mark| mark.path().elements());
    let counted = paths.flat_map(|path| {
        let counts =
            |(_, element): &(usize, &PathElement)| matches!(element, PathElement::Index(_));
        path.iter().enumerate().filter(counts).map(|(n, _)| path[..=n].iter().cloned())
    });
    counted.map(FieldPath::new).collect()
}

fn list_of<'a>(position: &FieldPath, object: &'a Value) -> Option<&'a Vec<Value>> {
    let mut list = position.clone();
    list.pop();
    at(object, &list)?.as_array()
}

/// What operations touched in an item, by paths from there.
fn patched_in(position: &FieldPath, footprints: &[Footprint]) -> Vec<FieldPath> {
    let marks = footprints.iter().flat_map(|footprint| &footprint.marks);
    let below = marks.filter_map(|mark| mark.path().elements().strip_prefix(position.elements()));
    below.map(|path| FieldPath::new(path.iter().cloned())).collect()
}

/// What of an item no operation touched.
fn rest(item: &Value, patched: &[FieldPath], key: &ConcealmentKey) -> Option<String> {
    let mut item = item.clone();
    for path in patched {
        let mut parent = path.clone();
        let last = parent.pop();
        match (at_written_mut(&mut item, &parent), last) {
            (Some(Value::Object(map)), Some(PathElement::Field(name))) => {
                drop(map.remove(name.as_str()))
            }
            (Some(_), Some(_)) => {
                if let Some(touched) = at_written_mut(&mut item, path) {
                    touched.take();
                }
            }
            _ => {}
        }
    }
    let nothing = item.as_object().is_some_and(serde_json::Map::is_empty);
    (!nothing).then(|| key.hash(&item.to_string()))
}

/// A length and the hashes, an absent one as nothing, for keeping.
impl fmt::Display for Stood {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.length, self.rest.as_deref().unwrap_or_default())?;
        self.whole.as_ref().map_or(Ok(()), |whole| write!(f, " {whole}"))
    }
}

impl FromStr for Stood {
    type Err = std::num::ParseIntError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let mut parts = text.split(' ');
        let length = parts.next().unwrap_or_default().parse()?;
        let mut hash = || parts.next().filter(|hash| !hash.is_empty()).map(ToOwned::to_owned);
        Ok(Self { length, rest: hash(), whole: hash() })
    }
}
