//! The order of list items: lists of ours whose items others brought into another order.

use std::collections::BTreeSet;

use serde_json::Value;

use super::{Class, FieldChange};
use crate::field::walk::Items;
use crate::field::{FieldPath, FieldSet, PathElement};
use crate::spelling::order;

/// The lists that stand in another order on the live object than they will, though the body does not
/// ask for it. `before` is the order of the last apply.
pub fn reorders(
    fields: &FieldSet,
    before: &Value,
    live: &Value,
    answer: &Value,
) -> Vec<FieldChange> {
    let mut found = Vec::new();
    walk(fields, [before, live, answer], &mut FieldPath::default(), &mut found);
    found
}

fn walk(
    fields: &FieldSet,
    [before, live, answer]: [&Value; 3],
    path: &mut FieldPath,
    found: &mut Vec<FieldChange>,
) {
    let orders = [before, live, answer].map(|list| order(fields, list));
    let sets = orders.clone().map(BTreeSet::from_iter);
    let is_shared = |it: &&PathElement| sets.iter().all(|set: &BTreeSet<_>| set.contains(it));
    let [applied, now, after] =
        orders.map(|order| order.into_iter().filter(is_shared).collect::<Vec<_>>());
    if now != after && applied == after {
        found.push(FieldChange {
            class: Class::Reordered,
            path: path.clone(),
            api_version: None,
            owners: Vec::new(),
            owned_elsewhere: false,
            last_applied: None,
            live: Some(shown(&now)),
            after: Some(shown(&after)),
        });
    }
    let items = [before, live, answer].map(|list| Items::new(list, fields));
    let [before, live, answer] = &items;
    for (element, below) in fields.children() {
        if let (Some(before), Some(live), Some(answer)) =
            (before.step_written(element), live.step(element), answer.step(element))
        {
            path.push(element.clone());
            walk(below, [before, live, answer], path, found);
            path.pop();
        }
    }
}

fn shown(order: &[&PathElement]) -> String {
    let items = order.iter().map(|item| FieldPath::new([(*item).clone()]).to_string());
    items.collect::<Vec<_>>().join(" ")
}
