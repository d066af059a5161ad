//! Former owners who wrote in another API version than ours.
//!
//! What they lost stands in their own words, and nothing in ours tells which of our fields that is. So
//! all of it goes back, except what the object itself tells, read in their version: what is no longer
//! there at all, since an entry for it would be a claim that others run into; and what has the same path
//! and value in ours, and that we do not hold, since others have taken it meanwhile.

use std::collections::BTreeSet;

use serde_json::Value;

use super::covers;
use crate::field::walk::at;
use crate::field::{FieldPath, FieldSet};
use crate::owners::{Owners, Ownership};

/// The versions other than ours in which losses are on record.
pub fn other_versions(former: &Owners, ours: &str) -> BTreeSet<String> {
    let versions = former.0.iter().map(|entry| &entry.manager.api_version);
    versions.filter(|version| *version != ours).cloned().collect()
}

/// One object, in another version and in ours.
#[derive(Clone, Copy, Debug)]
pub struct Readings<'a> {
    pub version: &'a str,
    pub theirs: &'a Value,
    pub ours: &'a Value,
}

/// The losses that can go back, as far as they were written down in that version. `ours` is our name
/// among those who hold the object now.
#[must_use]
pub fn still_there(former: Owners, readings: Readings<'_>, now: &Owners, ours: &str) -> Owners {
    let mine = now.0.iter().filter(|entry| entry.manager.name == ours);
    let held = mine.fold(FieldSet::default(), |all, entry| all.union(&entry.fields));
    let leaves: FieldSet = held.leaves().into_iter().collect();
    let is_ours = |path: &FieldPath| covers(&leaves, path) || held.below(path).is_some();
    let goes_back = |path: &FieldPath| {
        let found = at(readings.theirs, path);
        found.is_some() && (found != at(readings.ours, path) || is_ours(path))
    };
    let there = |Ownership { manager, mut fields }: Ownership| {
        if manager.api_version == readings.version {
            fields = fields.members().into_iter().filter(goes_back).collect();
        }
        (!fields.is_empty()).then_some(Ownership { manager, fields })
    };
    Owners(former.0.into_iter().filter_map(there).collect())
}
