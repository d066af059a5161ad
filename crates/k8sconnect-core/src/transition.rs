//! Who takes what from whom: fields then, now and next compared.
//!
//! *Then* is what we left behind at our last write, *now* is the object as it stands, *next* is
//! the object as the dry-run says it will be. Told is only what concerns fields that we manage or
//! used to manage. Equal values held together are calm and never told.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::field::walk::{Items, at};
use crate::field::{FieldPath, FieldSet, PathElement};
use crate::owners::{Manager, Owners};
use crate::projection::{ConcealmentKey, Leaf, Texts};
use crate::secrecy::Secrecy;
use crate::spelling::order;

/// What was ours after our last write.
#[derive(Clone, Copy, Debug)]
pub struct Then<'a> {
    pub texts: &'a Texts,
    pub fields: &'a FieldSet,
}

/// The object at one of the later moments.
#[derive(Clone, Copy, Debug)]
pub struct Side<'a> {
    pub texts: &'a Texts,
    pub owners: &'a Owners,
    /// What may not be shown of the object, and the key to hide it with.
    pub secrecy: &'a Secrecy,
    pub key: Option<&'a ConcealmentKey>,
}

/// What happens to one field, with those who hold it besides us.
#[derive(Clone, Debug, PartialEq)]
pub struct FieldNotice {
    pub path: FieldPath,
    pub holders: Vec<Manager>,
    pub then: Option<String>,
    pub now: Option<String>,
    pub next: Option<String>,
}

/// Everything worth telling about one object, a list for each kind of event.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Notices {
    /// Changed by others since our last write; will be set back.
    pub reverts: Vec<FieldNotice>,
    /// Held by others now, and no longer after the apply.
    pub takes: Vec<FieldNotice>,
    /// No longer written by us, but kept on the object by others.
    pub stays: Vec<FieldNotice>,
    /// No longer written by us and held by others since, and gone with the item or the map in which
    /// they are.
    pub goes: Vec<FieldNotice>,
    /// No longer written by us and held by nobody: the server falls back to a value of its own.
    pub falls_back: Vec<FieldNotice>,
    /// Lists whose items others brought into another order, which will be undone.
    pub reorders: Vec<Reorder>,
    /// What a former owner of the whole object applied, and our body lacks.
    pub deletes: Vec<FieldNotice>,
}

/// A list whose items stand in another order now than they will.
#[derive(Clone, Debug, PartialEq)]
pub struct Reorder {
    pub path: FieldPath,
    pub now: Vec<PathElement>,
    pub next: Vec<PathElement>,
}

impl Notices {
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// Compares the three sides. `then` is absent for an object that we never wrote.
pub fn compare(
    manager: &str,
    then: Option<Then<'_>>,
    now: Side<'_>,
    next: Side<'_>,
    next_object: &Value,
) -> Notices {
    let mut notices = Notices::default();
    let none = Texts::new();
    let texts_then = then.map_or(&none, |then| then.texts);
    let others_now = |path: &FieldPath| -> Vec<Manager> {
        now.owners.holders(path).filter(|m| !m.applies_as(manager)).cloned().collect()
    };
    // The server drops zeros (`paused: false`): such a leaf is ours without being there.
    let ours_next = next.owners.applied_by(manager);
    let unseen = now.texts.keys().filter(|path| ours_next.contains(path) && !path.names_its_item());
    let paths: BTreeSet<_> = next.texts.keys().chain(unseen).collect();
    for path in paths {
        let (text_then, text_now) = (texts_then.get(path), now.texts.get(path));
        let text_next = next.texts.get(path);
        let notice = |holders| FieldNotice {
            path: path.clone(),
            holders,
            then: text_then.cloned(),
            now: text_now.cloned(),
            next: text_next.cloned(),
        };
        let ours_then = then.is_some_and(|then| then.fields.contains(path));
        if ours_then && text_now != text_then && text_now != text_next {
            notices.reverts.push(notice(others_now(path)));
            continue;
        }
        let robbed: Vec<_> = others_now(path)
            .into_iter()
            .filter(|holder| !next.owners.holders(path).any(|m| m.is(holder)))
            .collect();
        if !robbed.is_empty() {
            notices.takes.push(notice(robbed));
        }
    }
    let Some(then) = then else {
        return notices;
    };
    let dropped = then.fields.difference(&ours_next);
    for path in dropped.members() {
        // A map or item goes with its last member; only leaves are worth a line. A map that was
        // written empty and is filled by us now has not been dropped.
        let leaf = texts_then.contains_key(&path) || now.texts.contains_key(&path);
        let kept = ours_next.below(&path).is_some();
        if !leaf || kept {
            continue;
        }
        let Some(after) = at(next_object, &path) else {
            let (holders, now) = (others_now(&path), now.texts.get(&path).cloned());
            if !holders.is_empty() {
                let then = texts_then.get(&path).cloned();
                notices.goes.push(FieldNotice { path, holders, then, now, next: None });
            }
            continue;
        };
        let leaf_of = |value: &Value| match next.secrecy.conceals_within(&path, value, next_object)
        {
            true => Leaf::Concealed(value.clone()),
            false => Leaf::Shown(value.clone()),
        };
        let holders: Vec<_> = next.owners.holders(&path).cloned().collect();
        let text_now = now.texts.get(&path).cloned();
        let list = if holders.is_empty() { &mut notices.falls_back } else { &mut notices.stays };
        list.push(FieldNotice {
            then: texts_then.get(&path).cloned(),
            next: Some(leaf_of(after).told(&path, next.key)),
            now: text_now,
            path,
            holders,
        });
    }
    notices.falls_back.retain(|notice| notice.now != notice.next);
    notices
}

/// What others changed since our last write, whatever is to become of it.
pub fn changed(manager: &str, then: &Texts, now: &Texts, owners: &Owners) -> Vec<FieldNotice> {
    let paths: BTreeSet<_> = then.keys().chain(now.keys()).collect();
    let changed = paths.into_iter().filter(|path| then.get(path) != now.get(path));
    changed
        .map(|path| FieldNotice {
            path: path.clone(),
            holders: owners.holders(path).filter(|m| !m.applies_as(manager)).cloned().collect(),
            then: then.get(path).cloned(),
            now: now.get(path).cloned(),
            next: now.get(path).cloned(),
        })
        .collect()
}

/// Lists of ours whose items stand otherwise on the live object than they will, though nobody asked
/// for it: others brought them into that order.
pub fn reorders(fields: &FieldSet, live: &Value, answer: &Value) -> Vec<Reorder> {
    fn walk(
        fields: &FieldSet,
        live: &Value,
        answer: &Value,
        path: &mut FieldPath,
        found: &mut Vec<Reorder>,
    ) {
        let owned = |order: Vec<&PathElement>| order.into_iter().cloned().collect::<Vec<_>>();
        let (now, next) = (owned(order(fields, live)), owned(order(fields, answer)));
        if now.len() == next.len() && now != next {
            found.push(Reorder { path: path.clone(), now, next });
        }
        let (live, answer) = (Items::new(live, fields), Items::new(answer, fields));
        for (element, below) in fields.children() {
            if let (Some(live), Some(answer)) = (live.step(element), answer.step(element)) {
                path.push(element.clone());
                walk(below, live, answer, path, found);
                path.pop();
            }
        }
    }
    let mut found = Vec::new();
    walk(fields, live, answer, &mut FieldPath::default(), &mut found);
    found
}

/// Fields that a former owner under our own name applied, that our body lacks and nobody else
/// holds: they go with the takeover.
pub fn deletes(
    former: &FieldSet,
    ours: &FieldSet,
    live: &Value,
    answer: &Value,
) -> Vec<FieldNotice> {
    former
        .difference(ours)
        .members()
        .into_iter()
        .filter(|path| former.below(path).is_some_and(FieldSet::is_leaf))
        .filter(|path| at(answer, path).is_none())
        .filter_map(|path| {
            at(live, &path)?;
            Some(FieldNotice { path, holders: vec![], then: None, now: None, next: None })
        })
        .collect()
}

#[cfg(test)]
mod tests;
