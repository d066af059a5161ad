//! What gives way to a map or a list of ours: a value of others that stands where a field of ours
//! has to go in.
//!
//! A field without a schema may be a number today and a map tomorrow. What is written names a field
//! in the map, and no leaf of it tells that there was a number.

use std::collections::BTreeSet;

use serde_json::Value;

use super::{FieldNotice, Side, others};
use crate::field::FieldPath;
use crate::field::walk::{at, in_the_way};
use crate::projection::Leaf;

/// Values of others that give way to what is wanted, with who holds them.
pub fn displaced(
    manager: &str,
    now: Side<'_>,
    next: Side<'_>,
    live: &Value,
    answer: &Value,
) -> Vec<FieldNotice> {
    // Ignored fields show nowhere, nor does a key of which only such are left; they make room for
    // themselves all the same.
    let is_shown = |path: &FieldPath| [now, next].iter().any(|side| side.texts.contains_key(path));
    let place = |path: FieldPath| match in_the_way(live, &path) {
        None => (!is_shown(&path)).then_some(path),
        place => place,
    };
    let ours = next.owners.applied_by(manager).leaves();
    let places: BTreeSet<_> = ours.into_iter().filter_map(place).collect();
    let told = |side: Side<'_>, object: &Value, place: &FieldPath| {
        let value = at(object, place)?.clone();
        let leaf = match side.secrecy.conceals_within(place, &value, object) {
            true => Leaf::Concealed(value),
            false => Leaf::Shown(value),
        };
        Some(leaf.told(place, side.key))
    };
    let notice = |path: FieldPath| {
        let robbed = others(now.owners, manager, &path).into_iter();
        let holders: Vec<_> =
            robbed.filter(|holder| !next.owners.holders(&path).any(|m| m.is(holder))).collect();
        let (now, next) = (told(now, live, &path), told(next, answer, &path));
        (!holders.is_empty()).then_some(FieldNotice { path, holders, then: None, now, next })
    };
    places.into_iter().filter_map(notice).collect()
}
