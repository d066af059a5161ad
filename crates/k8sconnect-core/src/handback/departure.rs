//! Fields that leave us, while others stay.
//!
//! What leaves and what stays need not be apart: a list that was meant as a whole leaves, and one of
//! its items is meant from now on, or the other way round. What stays does not go back for a moment,
//! or who had it before would be robbed of it once more. And an item of a list that is held as a whole
//! is nothing that could go back: the list does, once nothing in it is meant any more. So does a map, or
//! an item, that came to be ours because a field in it did.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use super::holding::Extent;
use super::{covered, covers};
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
        let starts = |path: FieldPath| -> Vec<FieldPath> {
            let elements = path.elements();
            (1..elements.len()).map(|n| FieldPath::new(elements[..n].iter().cloned())).collect()
        };
        let around: BTreeSet<_> = fields.members().into_iter().flat_map(starts).collect();
        let mut around: Vec<_> = around.into_iter().collect();
        // What is in a map decides whether the map goes.
        around.sort_by_key(|path| Reverse(path.elements().len()));
        for path in around {
            let is_meant = entire.below(&path).or(alone.below(&path)).is_some();
            if !is_meant && is_spent(&path, ours, &fields) {
                fields.insert(&path);
            }
        }
        Self { fields, entire, alone }
    }

    pub fn is_empty(&self) -> bool {
        self.fields.is_empty()
    }

    /// The fields that stay.
    pub(super) fn stays(&self) -> Vec<FieldPath> {
        self.entire.union(&self.alone).members()
    }

    /// Whether a field stays.
    pub fn leaves_be(&self, path: &FieldPath) -> bool {
        self.of_set(&[path.clone()].into_iter().collect()).is_empty()
    }

    /// Whether a whole goes with what leaves of it: nothing of it stays.
    pub(super) fn releases(&self, whole: &FieldPath) -> bool {
        let stays = |set: &FieldSet| set.below(whole).is_some() || covers(set, whole);
        self.fields.below(whole).is_some() && !stays(&self.entire) && !stays(&self.alone)
    }

    /// What of a set goes.
    pub(super) fn of_set(&self, set: &FieldSet) -> FieldSet {
        let stays = covered(set, &self.entire).union(&set.intersection(&self.alone));
        covered(set, &self.fields).difference(&stays)
    }
}

/// Whether we hold a field, and nothing in it besides what leaves and what names it.
fn is_spent(around: &FieldPath, ours: &FieldSet, leaving: &FieldSet) -> bool {
    let Some(held) = ours.below(around).filter(|held| held.is_member()) else {
        return false;
    };
    held.members().into_iter().all(|below| {
        let path = FieldPath::new(around.elements().iter().chain(below.elements()).cloned());
        path == *around || path.names_its_item() || covers(leaving, &path)
    })
}

/// These fields and what is below them.
impl From<FieldSet> for Departure {
    fn from(fields: FieldSet) -> Self {
        Self { fields, ..Self::default() }
    }
}
