//! What gives way to a map or a list of ours: a value of others that stands where a field of ours
//! has to go in.
//!
//! A field without a schema may be a number today and a map tomorrow. What is written names a field
//! in the map, and no leaf of it tells that there was a number.

use std::collections::BTreeSet;

use serde_json::Value;

use super::{FieldNotice, Side, others};
use crate::field::walk::{Items, at};
use crate::field::{FieldPath, FieldSet, PathElement};
use crate::projection::Leaf;

/// Values of others that give way to what is wanted, with who holds them.
pub fn displaced(
    manager: &str,
    now: Side<'_>,
    next: Side<'_>,
    live: &Value,
    answer: &Value,
) -> Vec<FieldNotice> {
    let ours = next.owners.applied_by(manager);
    let mut places = Places { now, next, found: BTreeSet::new() };
    places.collect(&ours, live, &mut FieldPath::default());
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
        if holders.is_empty() {
            return None;
        }
        let (now, next) = (told(now, live, &path), told(next, answer, &path));
        Some(FieldNotice { path, holders, then: None, now, next })
    };
    places.found.into_iter().filter_map(notice).collect()
}

struct Places<'a> {
    now: Side<'a>,
    next: Side<'a>,
    found: BTreeSet<FieldPath>,
}

impl Places<'_> {
    /// Where something stands that cannot hold what is ours. Ignored fields show nowhere, nor does a
    /// key of which only such are left; they make room for themselves all the same.
    fn collect(&mut self, set: &FieldSet, value: &Value, path: &mut FieldPath) {
        let can_hold = |element: &PathElement| match element {
            PathElement::Field(_) => value.is_object(),
            _ => value.is_array(),
        };
        if !set.children().all(|(element, _)| can_hold(element)) {
            self.found.insert(path.clone());
            return;
        }
        let items = Items::new(value, set);
        for (element, below) in set.children() {
            let Some(value) = items.step(element) else {
                continue;
            };
            path.push(element.clone());
            if !below.is_leaf() {
                self.collect(below, value, path);
            } else if !path.names_its_item() && !self.is_shown(path) {
                self.found.insert(path.clone());
            }
            path.pop();
        }
    }

    fn is_shown(&self, path: &FieldPath) -> bool {
        [self.now, self.next].iter().any(|side| side.texts.contains_key(path))
    }
}
