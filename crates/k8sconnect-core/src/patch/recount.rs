//! Operations that are written as before, save for positions that were counted anew.
//!
//! Once others put items into a list, the positions of those behind mean other ones, and whoever wrote
//! them counts again. Where several operations count in one list, a new position of one may be the old
//! position of another, which meant another item. So the place where an operation works is not enough to
//! tell what it was before: what it does tells, and that what it named stands at the new place.

use super::mark::{Footprint, Mark};
use super::operation::Operation;
use super::position::Whereabouts;
use super::script::{Standing, Writer};
use crate::field::FieldPath;
use crate::pointer::{Pointer, index};

impl Writer<'_> {
    /// Whether an operation follows an item to where that stands now, and is the same otherwise or has
    /// the same turn.
    pub(super) fn is_counted_anew(&self, n: usize, operation: &Operation) -> bool {
        let mut past = self.past.footprints.iter();
        let is_same = |was: &Footprint| was.operation.value() == operation.value();
        past.any(|was| is_same(was) && self.follows(was, operation))
            || self.counts_anew(n, operation)
    }

    /// The same of one that may look like another of before: only its turn tells which it was.
    pub(super) fn counts_anew(&self, n: usize, operation: &Operation) -> bool {
        self.past.footprints.get(n - 1).is_some_and(|was| self.follows(was, operation))
    }

    fn follows(&self, was: &Footprint, operation: &Operation) -> bool {
        let Some(Mark::Set(then)) = was.marks.last() else {
            return false;
        };
        let is_kin = std::mem::discriminant(&was.operation) == std::mem::discriminant(operation);
        let at = operation.at();
        is_kin
            && counts_otherwise(was.operation.at(), at)
            && self.shape.place(at, &self.object).is_ok_and(|now| now == self.stands_at(then))
    }

    /// Where a field stands now that was named by a position.
    fn stands_at(&self, then: &FieldPath) -> FieldPath {
        let Standing::Recorded { positions, key: Some(key), .. } = self.past.standing else {
            return then.clone();
        };
        let footprints = self.past.footprints;
        let moved = positions.iter().find_map(|(position, stood)| {
            let within = then.elements().strip_prefix(position.elements())?;
            match stood.moved(position, self.live, footprints, key)? {
                Whereabouts::At(now) => {
                    Some(FieldPath::new(now.elements().iter().chain(within).cloned()))
                }
                Whereabouts::Untold => None,
            }
        });
        moved.unwrap_or_else(|| then.clone())
    }
}

/// Whether two places differ, and only in positions.
fn counts_otherwise(one: &Pointer, other: &Pointer) -> bool {
    let counts = |token: &str| index(token).is_some();
    one != other
        && one.0.len() == other.0.len()
        && one.0.iter().zip(&other.0).all(|(a, b)| a == b || (counts(a) && counts(b)))
}
