//! Who holds a field, as a person would say it.
//!
//! An entry of `managedFields` lists the very fields that its manager wrote. Whoever wrote a list as
//! a whole holds what is in it, though no item is listed; whoever wrote an empty map holds the map,
//! and none of the entries that others put there. An entry alone looks the same in both cases: only
//! what everybody holds, taken together, tells a whole from a map with parts.
//!
//! What is divided in one API version may be a whole in another, where no entry tells of the parts.
//! That somebody lost it there does: nobody loses an empty map to who puts something into it.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::field::{FieldPath, FieldSet, PathElement};
use crate::owners::{Manager, Owners, Ownership};
use crate::projection::Leaf;

/// How an object is divided among its managers.
pub struct Division {
    parts: FieldSet,
    /// What was lost in other API versions than ours.
    lost: BTreeMap<String, FieldSet>,
}

/// How much of what is below a field is meant by it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    /// A map that was written empty: that it is there, and nothing of what others put into it.
    Itself,
    Whole,
}

/// How a map without entries is shown.
const EMPTY_MAP: &str = "{}";

impl Extent {
    pub fn of(leaf: &Leaf) -> Self {
        match leaf {
            Leaf::Shown(Value::Object(map)) | Leaf::Concealed(Value::Object(map))
                if map.is_empty() =>
            {
                Self::Itself
            }
            _ => Self::Whole,
        }
    }

    /// The same for a leaf as state tells it.
    pub fn of_text(text: &str) -> Self {
        if text == EMPTY_MAP { Self::Itself } else { Self::Whole }
    }
}

impl Division {
    pub fn told_by<'a>(everybody: impl IntoIterator<Item = &'a Owners>) -> Self {
        let entries = everybody.into_iter().flat_map(|owners| &owners.0);
        let parts = entries.fold(FieldSet::default(), |all, entry| all.union(&entry.fields));
        Self { parts, lost: BTreeMap::new() }
    }

    /// The same, knowing what others lost by a write in this version.
    #[must_use]
    pub fn with_losses(mut self, lost: &Owners, ours: &str) -> Self {
        for Ownership { manager, fields } in &lost.0 {
            if manager.api_version != ours {
                let known = self.lost.entry(manager.api_version.clone()).or_default();
                *known = known.union(fields);
            }
        }
        self
    }

    /// Whether somebody holds a field, and nobody a part of it.
    pub fn is_whole(&self, path: &FieldPath) -> bool {
        self.parts.below(path).is_some_and(FieldSet::is_leaf)
    }

    /// Everyone who holds a field, a part of it, or the whole that it is a part of.
    pub fn holders(&self, owners: &Owners, path: &FieldPath, extent: Extent) -> Vec<Manager> {
        let holds = owners.0.iter().filter(|entry| self.holds(entry, path, extent));
        let holders: BTreeSet<_> = holds.map(|entry| entry.manager.clone()).collect();
        holders.into_iter().collect()
    }

    fn holds(&self, entry: &Ownership, path: &FieldPath, extent: Extent) -> bool {
        let (mut node, mut all) = (&entry.fields, Some(&self.parts));
        let mut lost = self.lost.get(&entry.manager.api_version);
        for element in path.elements() {
            match node.child(element) {
                Some(below) => node = below,
                None if node.is_leaf() && lost.is_some_and(FieldSet::is_leaf) => return true,
                // A member of a list that is held as a whole has no entry of its own.
                None => {
                    let whole = node.is_leaf() && all.is_none_or(FieldSet::is_leaf);
                    return whole && !matches!(element, PathElement::Key(_));
                }
            }
            all = all.and_then(|all| all.child(element));
            lost = lost.and_then(|lost| lost.child(element));
        }
        match extent {
            Extent::Itself => node.is_member(),
            Extent::Whole => true,
        }
    }
}
