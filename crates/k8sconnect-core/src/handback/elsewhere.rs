//! Former owners who wrote in another API version than ours.
//!
//! What they lost stands in their own words, and nothing in ours tells which of our fields that is. So
//! all of it goes back, except what is no longer there at all: the object, read in their version, tells
//! that. An entry for what is on nobody's object would be a claim that others run into.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::field::walk::at;
use crate::owners::{Owners, Ownership};

/// The versions other than ours in which losses are on record.
pub fn other_versions(former: &Owners, ours: &str) -> BTreeSet<String> {
    let versions = former.0.iter().map(|entry| &entry.manager.api_version);
    versions.filter(|version| *version != ours).cloned().collect()
}

/// The losses that can go back: those in this version without what the object lacks, read in it.
#[must_use]
pub fn still_there(former: Owners, version: &str, object: &Value) -> Owners {
    let there = |Ownership { manager, mut fields }: Ownership| {
        if manager.api_version == version {
            let members = fields.members().into_iter();
            fields = members.filter(|path| at(object, path).is_some()).collect();
        }
        (!fields.is_empty()).then_some(Ownership { manager, fields })
    };
    Owners(former.0.into_iter().filter_map(there).collect())
}
