//! Fields that leave us, while others stay.
//!
//! What leaves and what stays need not be apart: a list that was meant as a whole leaves, and one of
//! its items is meant from now on, or the other way round. What stays does not go back for a moment,
//! or who had it before would be robbed of it once more. And an item of a list that is held as a whole
//! is nothing that could go back: the list does, once nothing in it is meant any more.

use super::covered;
use super::holding::Extent;
use crate::field::{FieldPath, FieldSet};
use crate::projection::Projection;

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Departure {
    fields: FieldSet,
    /// What stays with everything below it, and what stays alone.
    entire: FieldSet,
    alone: FieldSet,
}

impl Departure {
    /// These fields leave, and those stay. `ours` is what we hold.
    pub fn of(mut fields: FieldSet, stays: &Projection, ours: &FieldSet) -> Self {
        let (mut entire, mut alone) = (FieldSet::default(), FieldSet::default());
        for (path, leaf) in &stays.0 {
            match Extent::of(leaf) {
                Extent::Whole => entire.insert(path),
                Extent::Itself => alone.insert(path),
            }
        }
        for path in fields.members() {
            let elements = path.elements();
            for n in 1..elements.len() {
                let around = FieldPath::new(elements[..n].iter().cloned());
                let is_whole = ours.below(&around).is_some_and(FieldSet::is_leaf);
                if is_whole && entire.below(&around).or(alone.below(&around)).is_none() {
                    fields.insert(&around);
                }
            }
        }
        Self { fields, entire, alone }
    }

    pub fn is_empty(&self) -> bool {
        self.fields.is_empty()
    }

    /// What of a set goes.
    pub(super) fn of_set(&self, set: &FieldSet) -> FieldSet {
        let stays = covered(set, &self.entire).union(&set.intersection(&self.alone));
        covered(set, &self.fields).difference(&stays)
    }
}

/// These fields and what is below them.
impl From<FieldSet> for Departure {
    fn from(fields: FieldSet) -> Self {
        Self { fields, ..Self::default() }
    }
}
