//! What gives way to a map: a value that stands where a patch names a field.
//!
//! A field without a schema may be a number today and a map tomorrow. A patch that names a field in
//! the map does not name the number, and no leaf of it tells that there was one: so the place itself
//! is told, with who held it and what becomes of it.

use std::collections::BTreeSet;

use serde_json::Value;

use super::outcome::leaf;
use crate::field::FieldPath;
use crate::field::walk::at;
pub(super) use crate::field::walk::in_the_way;
use crate::handback::{Division, Extent};
use crate::owners::Owners;
use crate::ownership::{Class, FieldChange};
use crate::projection::{ConcealmentKey, Projection};
use crate::secrecy::Secrecy;

/// All such places of a patch.
pub(super) fn places(leaves: &Projection, live: &Value) -> BTreeSet<FieldPath> {
    leaves.0.keys().filter_map(|path| in_the_way(live, path)).collect()
}

/// An object before and after.
pub(super) struct Change<'a> {
    pub(super) live: &'a Value,
    pub(super) answer: &'a Value,
    /// What others lose.
    pub(super) lost: &'a Owners,
    pub(super) division: &'a Division,
    pub(super) secrecy: &'a Secrecy,
    pub(super) key: Option<&'a ConcealmentKey>,
}

impl Change<'_> {
    /// What becomes of a value at one of these places; nothing where it stays.
    pub(super) fn at(&self, place: &FieldPath) -> Option<FieldChange> {
        let holders = self.division.holders(self.lost, place, Extent::Whole);
        let told = |object| {
            let leaf = leaf(place, None, object, self.secrecy);
            at(object, place).map(|_| leaf.told(place, self.key))
        };
        let stays = at(self.live, place) == at(self.answer, place);
        (!stays || !holders.is_empty()).then(|| FieldChange {
            class: Class::TakenFrom,
            path: place.clone(),
            api_version: None,
            owned_elsewhere: false,
            owners: holders,
            last_applied: None,
            live: told(self.live),
            after: told(self.answer),
        })
    }
}
