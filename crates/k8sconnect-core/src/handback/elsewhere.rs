//! Former owners who wrote in another API version than ours.
//!
//! What they lost stands in their own words. The object, read in both versions, tells which of them are
//! ours too: a path at which the same stands in both means the same field, and that field goes back like
//! any other. It may be a whole there that has parts here: it goes once no part of it stays with us. What
//! has another path or value there is nothing of ours that could be named: all of it goes back together,
//! once nothing stays with us that it could be a part of. What is no longer there at all does not: an
//! entry for it would be a claim that others run into.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::departure::Departure;
use super::{Leaving, covers};
use crate::field::walk::at;
use crate::field::{FieldPath, FieldSet};
use crate::owners::{Manager, Owners, Ownership};

/// The versions other than ours in which losses are on record.
pub fn other_versions(former: &Owners, ours: &str) -> BTreeSet<String> {
    let versions = former.0.iter().map(|entry| &entry.manager.api_version);
    versions.filter(|version| *version != ours).cloned().collect()
}

/// One object in our version, and in those others in which it could be read.
#[derive(Clone, Copy, Debug)]
pub struct Readings<'a> {
    pub ours: &'a Value,
    pub theirs: &'a BTreeMap<String, Value>,
}

impl Readings<'_> {
    /// Of an object that nobody read.
    pub const NONE: Readings<'static> = Readings { ours: &Value::Null, theirs: &BTreeMap::new() };

    /// What stands at a path in our version; `None` where that was not read.
    fn here(&self, path: &FieldPath) -> Option<Option<&Value>> {
        (!self.ours.is_null()).then(|| at(self.ours, path))
    }

    /// What stands at a path in another version; `None` where that was not read.
    fn there(&self, version: &str, path: &FieldPath) -> Option<Option<&Value>> {
        self.theirs.get(version).map(|theirs| at(theirs, path))
    }
}

/// What paths mean to whom.
#[derive(Clone, Copy, Debug)]
pub(super) struct Words<'a> {
    /// Our version.
    pub(super) version: &'a str,
    pub(super) readings: Readings<'a>,
}

impl Words<'_> {
    /// Whether a path of another manager means the field that it means in our version.
    pub(super) fn are_ours(&self, manager: &Manager, path: &FieldPath) -> bool {
        let there = || self.readings.there(&manager.api_version, path);
        manager.api_version == self.version
            || there().is_some_and(|there| there == at(self.readings.ours, path))
    }

    /// Whether a field of ours has the same path in the version of another manager.
    pub(super) fn are_theirs(&self, manager: &Manager, path: &FieldPath) -> bool {
        self.are_ours(manager, path)
            && (manager.api_version == self.version || at(self.readings.ours, path).is_some())
    }

    /// Of what a manager lost, what leaves us: in our words and in other ones.
    pub(super) fn leaving(
        &self,
        Ownership { manager, fields }: &Ownership,
        leaving: Leaving<'_>,
    ) -> (FieldSet, FieldSet) {
        let (ours, other): (Vec<_>, Vec<_>) =
            fields.members().into_iter().partition(|path| self.are_ours(manager, path));
        let (ours, other): (FieldSet, _) = (ours.into_iter().collect(), other.into_iter());
        match leaving {
            Leaving::All => (ours, other.collect()),
            Leaving::Fields(leaving) => {
                let goes = self.readings.theirs.contains_key(&manager.api_version)
                    && leaving.stays().iter().all(|path| self.are_theirs(manager, path));
                let wholes = self.wholes(manager, &ours).filter(|path| leaving.releases(path));
                let ours = leaving.of_set(&ours).union(&wholes.collect());
                (ours, other.filter(|_| goes).collect())
            }
        }
    }

    /// Of what a manager lost, what is a whole in its version and may have parts in ours.
    fn wholes(&self, manager: &Manager, lost: &FieldSet) -> impl Iterator<Item = FieldPath> {
        let is_elsewhere = manager.api_version != self.version;
        lost.leaves().into_iter().filter(move |_| is_elsewhere)
    }

    /// Of what leaves us, what its former owner can be given.
    pub(super) fn still_ours(
        &self,
        manager: &Manager,
        (ours, other): &(FieldSet, FieldSet),
        going: &[Ownership],
    ) -> FieldSet {
        let held = going.iter().fold(FieldSet::default(), |all, entry| all.union(&entry.fields));
        let is_there = |path: &FieldPath| !self.is_gone(manager, path);
        if manager.api_version == self.version {
            return ours.intersection(&held).members().into_iter().filter(is_there).collect();
        }
        let leaves: FieldSet = held.leaves().into_iter().collect();
        let is_ours = |path: &FieldPath| covers(&leaves, path) || held.below(path).is_some();
        let ours = ours.members().into_iter().filter(is_ours);
        ours.chain(other.members()).filter(is_there).collect()
    }

    /// Whether a field is known not to be on the object: an entry of ours may hold it all the same, as
    /// what a `null` took away.
    fn is_gone(&self, manager: &Manager, path: &FieldPath) -> bool {
        let there = match manager.api_version == self.version {
            true => self.readings.here(path),
            false => self.readings.there(&manager.api_version, path),
        };
        there == Some(None)
    }

    /// The losses that stay on record once these fields are no longer ours.
    pub(super) fn remaining(&self, former: &Owners, leaving: &Departure) -> Owners {
        let stays = |entry: &Ownership| {
            let (ours, other) = self.leaving(entry, Leaving::Fields(leaving));
            let fields = entry.fields.difference(&ours).difference(&other);
            (!fields.is_empty()).then(|| Ownership { manager: entry.manager.clone(), fields })
        };
        Owners(former.0.iter().filter_map(stays).collect())
    }
}
