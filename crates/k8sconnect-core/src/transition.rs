//! Who takes what from whom: fields then, now and next compared.
//!
//! *Then* is what we left behind at our last write, *now* is the object as it stands, *next* is
//! the object as the dry-run says it will be. Told is only what concerns fields that we manage or
//! used to manage. Equal values held together are calm and never told.

mod displaced;
mod elsewhere;
mod items;
mod nulls;

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::field::walk::{Items, at, in_the_way};
use crate::field::{FieldPath, FieldSet, PathElement};
use crate::other_words::OtherWords;
use crate::owners::{Manager, Owners, Ownership};
use crate::projection::{ConcealmentKey, Leaf, Texts};
use crate::secrecy::Secrecy;
use crate::spelling::order;

pub use displaced::displaced;
pub use items::{by_item, left_items};
pub use nulls::filled_in;

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

impl Side<'_> {
    /// A value as it is told of, seen or written at a place of an object.
    fn told(&self, path: &FieldPath, value: &Value, object: &Value) -> String {
        let leaf = match self.secrecy.conceals_within(path, value, object) {
            true => Leaf::Concealed(value.clone()),
            false => Leaf::Shown(value.clone()),
        };
        leaf.told(path, self.key)
    }
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
    /// The same, or no more than a default: words of others that lead nowhere in ours may mean it.
    pub perhaps_stays: Vec<FieldNotice>,
    /// Held by others, and gone with the item or the map in which they are and which we no longer
    /// write.
    pub goes: Vec<FieldNotice>,
    /// No longer written by us and held by nobody: the server falls back to a value of its own.
    pub falls_back: Vec<FieldNotice>,
    /// Lists whose items others brought into another order, which will be undone.
    pub reorders: Vec<Reorder>,
    /// Ignored until now, not written and held by nobody else.
    pub unignored: Vec<FieldNotice>,
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

    /// The fields that are told of.
    pub fn paths(&self) -> impl Iterator<Item = &FieldPath> {
        let lists = [&self.reverts, &self.takes, &self.stays, &self.goes, &self.falls_back];
        let more = [&self.perhaps_stays, &self.unignored, &self.deletes];
        lists.into_iter().chain(more).flatten().map(|notice| &notice.path)
    }
}

/// Compares the three sides, of which the objects show the later two. `then` is absent for an object
/// that we never wrote. `elsewhere` is what others hold next in other words than ours.
pub fn compare(
    manager: &str,
    then: Option<Then<'_>>,
    [now, next]: [Side<'_>; 2],
    [live, answer]: [&Value; 2],
    elsewhere: &OtherWords,
) -> Notices {
    let mut notices = Notices::default();
    let none = Texts::new();
    let texts_then = then.map_or(&none, |then| then.texts);
    let others_now = |path: &FieldPath| others(now.owners, manager, path);
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
            if !is_only_named_otherwise(path, texts_then, now.texts) {
                let holders = match text_now {
                    Some(_) => others_now(path),
                    None => in_the_place_of(now.owners, manager, path, live),
                };
                notices.reverts.push(notice(holders));
            }
            continue;
        }
        // What becomes ours as a whole, parts of which others held, is taken from them as well.
        let whole = ours_next.below(path).is_some_and(FieldSet::is_leaf);
        let holds =
            |o: &&Ownership| o.fields.contains(path) || whole && o.fields.below(path).is_some();
        let holders_next: Vec<_> = next.owners.0.iter().filter(holds).collect();
        let robbed: Vec<_> = now
            .owners
            .others(manager)
            .filter(holds)
            .map(|holder| &holder.manager)
            .filter(|holder| !holders_next.iter().any(|next| next.manager.is(holder)))
            .cloned()
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
        let Some(after) = at(answer, &path) else {
            let (holders, now) = (others_now(&path), now.texts.get(&path).cloned());
            let then = texts_then.get(&path).cloned();
            let list = match (holders.is_empty(), &then) {
                (false, _) => &mut notices.goes,
                // What state shows, a plan shows as going.
                (true, Some(_)) => continue,
                (true, None) if path.names_its_item() => continue,
                (true, None) => &mut notices.unignored,
            };
            list.push(FieldNotice { path, holders, then, now, next: None });
            continue;
        };
        let mut holders: Vec<_> = next.owners.holders(&path).cloned().collect();
        let text_next = Some(next.told(&path, after, answer));
        // Of what was written empty no more shows than that; what is in it is others', and stays.
        let text_now = match now.texts.get(&path).map(String::as_str) {
            Some("{}" | "[]") if after.is_object() || after.is_array() => text_next.clone(),
            text => text.map(ToOwned::to_owned),
        };
        let is_as_before = holders.is_empty() && text_now == text_next;
        if is_as_before {
            holders = elsewhere.around(&path);
        }
        let mut list =
            if holders.is_empty() { &mut notices.falls_back } else { &mut notices.stays };
        if is_as_before && holders.is_empty() {
            holders = elsewhere.perhaps(&path);
            list = &mut notices.perhaps_stays;
        }
        list.push(FieldNotice {
            then: texts_then.get(&path).cloned(),
            next: text_next,
            now: text_now,
            path,
            holders,
        });
    }
    notices.falls_back.retain(|notice| notice.now != notice.next);
    notices.perhaps_stays.retain(|notice| !notice.holders.is_empty());
    notices
}

/// What others changed since our last write, whatever is to become of it.
pub fn changed(
    manager: &str,
    then: &Texts,
    now: &Texts,
    owners: &Owners,
    live: &Value,
    elsewhere: &OtherWords,
) -> Vec<FieldNotice> {
    let holders = |path: &FieldPath| {
        let holders = in_the_place_of(owners, manager, path, live);
        if holders.is_empty() && now.contains_key(path) { elsewhere.holders(path) } else { holders }
    };
    let paths: BTreeSet<_> = then.keys().chain(now.keys()).collect();
    let changed = paths.into_iter().filter(|path| then.get(path) != now.get(path));
    changed
        .filter(|path| !is_only_named_otherwise(path, then, now))
        .map(|path| FieldNotice {
            path: path.clone(),
            holders: holders(path),
            then: then.get(path).cloned(),
            now: now.get(path).cloned(),
            next: now.get(path).cloned(),
        })
        .collect()
}

fn others(owners: &Owners, manager: &str, path: &FieldPath) -> Vec<Manager> {
    owners.holders(path).filter(|m| !m.applies_as(manager)).cloned().collect()
}

/// Who holds a field or, where somebody put something else in the place of the map or the item that
/// it was in, who holds that. An empty map makes room for it, and who holds one took nothing away.
fn in_the_place_of(owners: &Owners, manager: &str, path: &FieldPath, live: &Value) -> Vec<Manager> {
    let holders = others(owners, manager, path);
    match in_the_way(live, path).filter(|_| holders.is_empty()) {
        Some(place) => others(owners, manager, &place),
        None => holders,
    }
}

/// Whether only the way of telling an item changed: its key stands for it while there is nothing else
/// to show, and steps back for what others put there.
fn is_only_named_otherwise(path: &FieldPath, then: &Texts, now: &Texts) -> bool {
    if !path.names_its_item() {
        return false;
    }
    let mut item = path.clone();
    item.pop();
    let is_shown = |texts: &Texts| {
        texts.range(&item..).next().is_some_and(|(first, _)| first.starts_with(&item))
    };
    is_shown(then) && is_shown(now)
}

/// Fields of others that are on the object and will not be: they go with what they are in, which we
/// made and no longer write.
pub fn goes_along(manager: &str, now: Side<'_>, live: &Value, answer: &Value) -> Vec<FieldNotice> {
    let mut found: BTreeMap<FieldPath, FieldNotice> = BTreeMap::new();
    for other in now.owners.others(manager) {
        let mut lost = Vec::new();
        vanishing(&other.fields, live, Some(answer), &mut FieldPath::default(), &mut lost);
        // Who holds a map that others hold parts of holds no more than that it is there.
        lost.retain(|(path, value)| !holds_parts(value) || !is_divided(now.owners, path));
        for (path, value) in lost {
            let notice = found.entry(path.clone()).or_insert_with(|| FieldNotice {
                now: Some(now.told(&path, value, live)),
                path,
                holders: Vec::new(),
                then: None,
                next: None,
            });
            notice.holders.push(other.manager.clone());
        }
    }
    // The path of what else goes of an item names its key.
    let paths: BTreeSet<_> = found.keys().cloned().collect();
    let is_named_by_another = |path: &FieldPath| {
        let mut item = path.clone();
        item.pop();
        let mut of_item = paths.range(&item..).take_while(|other| other.starts_with(&item));
        of_item.any(|other| !other.names_its_item())
    };
    found.retain(|path, _| !path.names_its_item() || !is_named_by_another(path));
    found.into_values().collect()
}

fn holds_parts(value: &Value) -> bool {
    value.as_object().is_some_and(|map| !map.is_empty())
}

fn is_divided(owners: &Owners, path: &FieldPath) -> bool {
    let has_parts = |entry: &Ownership| entry.fields.below(path).is_some_and(|it| !it.is_leaf());
    owners.0.iter().any(has_parts)
}

/// The leaves of a set that one object has and the other lacks, with what they hold.
fn vanishing<'v>(
    fields: &FieldSet,
    live: &'v Value,
    answer: Option<&Value>,
    path: &mut FieldPath,
    found: &mut Vec<(FieldPath, &'v Value)>,
) {
    if fields.is_leaf() && answer.is_none() {
        found.push((path.clone(), live));
    }
    let (live, answer) = (Items::new(live, fields), answer.map(|it| Items::new(it, fields)));
    for (element, below) in fields.children() {
        if let Some(live) = live.step(element) {
            path.push(element.clone());
            let answer = answer.as_ref().and_then(|answer| answer.step(element));
            vanishing(below, live, answer, path, found);
            path.pop();
        }
    }
}

/// Lists of ours whose items stand otherwise on the live object than they will, though nobody asked
/// for it: others brought them into that order. `before` is the order that we wrote last.
pub fn reorders(fields: &FieldSet, before: &Value, live: &Value, answer: &Value) -> Vec<Reorder> {
    fn walk(
        fields: &FieldSet,
        [before, live, answer]: [&Value; 3],
        path: &mut FieldPath,
        found: &mut Vec<Reorder>,
    ) {
        let orders = [before, live, answer].map(|list| order(fields, list));
        let sets = orders.clone().map(BTreeSet::from_iter);
        let shared = |it: &&PathElement| sets.iter().all(|set: &BTreeSet<_>| set.contains(it));
        let [then, now, next] =
            orders.map(|order| order.into_iter().filter(shared).cloned().collect::<Vec<_>>());
        if now != next && then == next {
            found.push(Reorder { path: path.clone(), now, next });
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
    let mut found = Vec::new();
    walk(fields, [before, live, answer], &mut FieldPath::default(), &mut found);
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
