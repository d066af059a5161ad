//! Fields that the user writes once and then leaves to others.
//!
//! An ignored field is sent when the object is created. After that it must neither be set back nor
//! be dropped: a field that we alone own and no longer send would be deleted, or fall back to its
//! default. So, leaf by leaf: what we alone own keeps being sent, with the value that it has now;
//! what others own, or nobody, is left out. Ignored fields are never shown and never compared.
//!
//! A key of a free map, or of a map of maps or lists, is owned apart from what it holds: whoever
//! stops sending it has the server delete it with all that others put there. So it is sent on, as
//! an empty one, where nothing in it is.
//!
//! An item of a list that is ignored whole, itself or with its list, may go as well, and then it
//! stays away. One of which only parts are ignored is the user's, and comes back.

mod edit;
mod unheld;

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use crate::field::pattern::{PatternError, PatternProblem, Relation};
use crate::field::walk::{Items, at, at_written, step};
use crate::field::{FieldPath, FieldSet, PathElement, Pattern};
use crate::manifest::Manifest;
use crate::owners::Owners;
use crate::text::distance;
use crate::zero::is_zero;

pub(crate) use edit::put;
use edit::take;
use unheld::{named, unheld};

/// One entry of what the user wants ignored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ignore {
    Fields(Pattern),
    /// Whatever this manager holds.
    Manager(String),
}

impl Ignore {
    pub fn parse(text: &str) -> Result<Self, PatternError> {
        let refuse = |problem| Err(PatternError { text: text.to_owned(), problem });
        match text.trim().strip_prefix("manager=") {
            Some("") => refuse(PatternProblem::Manager),
            Some(name) => Ok(Self::Manager(name.to_owned())),
            None => match Pattern::parse_with_places(text)? {
                pattern if pattern.means_identity() => refuse(PatternProblem::Identity),
                pattern if pattern.names_reserved() => refuse(PatternProblem::Reserved),
                pattern => Ok(Self::Fields(pattern)),
            },
        }
    }
}

/// Fields of managers that the user yields to, as they were last seen.
pub type Yielded = BTreeMap<String, FieldSet>;

/// All that is ignored on one object.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ignoring {
    patterns: Vec<Pattern>,
    yielded: Yielded,
}

impl Ignoring {
    /// What is ignored of the object that the user wrote. `seen` are the fields of managers as a
    /// read of the object saw them; one that nobody looked up yet is given back by name.
    pub fn new(ignores: &[Ignore], manifest: &Manifest, seen: &Yielded) -> (Self, Vec<String>) {
        let mut ignoring = Self::default();
        let mut unseen = Vec::new();
        for ignore in ignores {
            match ignore {
                Ignore::Fields(pattern) => {
                    // It is sent as `data`, which is where it can be left to others.
                    let pattern = match manifest.gvk().is_secret() {
                        true => pattern.renamed("stringData", "data"),
                        false => pattern.clone(),
                    };
                    ignoring.patterns.extend(pattern.placed(manifest.value()));
                }
                Ignore::Manager(name) => match seen.get(name) {
                    Some(fields) => {
                        ignoring.yielded.insert(name.clone(), fields.clone());
                    }
                    None => unseen.push(name.clone()),
                },
            }
        }
        (ignoring, unseen)
    }

    pub fn is_empty(&self) -> bool {
        self.patterns.is_empty() && self.yielded.is_empty()
    }

    /// What managers that the user yields to held once and do no longer.
    pub fn given_up_since(&self, then: &Owners) -> FieldSet {
        let mut given_up = FieldSet::default();
        for (name, fields) in &self.yielded {
            let theirs = then.0.iter().filter(|owner| owner.manager.name == *name);
            for held in theirs {
                given_up = given_up.union(&held.fields.difference(fields));
            }
        }
        given_up
    }

    /// The fields of a set that are ignored, seen on an object.
    pub fn among(&self, set: &FieldSet, object: &Value) -> FieldSet {
        let mut ignored = FieldSet::default();
        for pattern in &self.patterns {
            ignored = ignored.union(&pattern.matched(set, object));
        }
        for fields in self.yielded.values() {
            // Whoever holds a key, and parts of what is in it, does not hold it as a whole.
            let is_whole = |path: &FieldPath| {
                let is_leaf = set.below(path).is_some_and(FieldSet::is_leaf);
                !(is_leaf && has_parts(fields, path))
            };
            let held = set.intersection(fields).members().into_iter().filter(is_whole).collect();
            ignored = ignored.union(&held);
        }
        // An item stays ours by its key fields, unless it is ignored itself.
        let is_ignored =
            |path: &FieldPath| !path.names_its_item() || self.leaves_its_item(path, object);
        ignored.members().into_iter().filter(is_ignored).collect()
    }

    /// Whether the item that a key field names is left to others as a whole.
    fn leaves_its_item(&self, path: &FieldPath, object: &Value) -> bool {
        let item = &path.elements()[..path.elements().len().saturating_sub(1)];
        let item = FieldPath::new(item.iter().cloned());
        self.patterns.iter().any(|pattern| is_taken_in(pattern.relation(&item, object)))
    }

    /// Whether an item is, which stands at this place of what the user wrote.
    fn leaves_written(&self, path: &FieldPath, written: &Value) -> bool {
        let relation = |pattern: &Pattern| pattern.relation_as_written(path, written);
        self.patterns.iter().any(|pattern| is_taken_in(relation(pattern)))
    }

    /// The set without what is ignored, and without keys that nothing else is left of.
    pub fn rest(&self, set: FieldSet, object: &Value) -> FieldSet {
        if self.is_empty() {
            return set;
        }
        let mut rest = set.difference(&self.among(&set, object));
        for leaf in rest.leaves() {
            let holds = !at(object, &leaf).is_some_and(is_scalar);
            if holds && self.reaches_into(&leaf, object) {
                rest.remove_tree(&leaf);
            }
        }
        rest
    }

    fn reaches_into(&self, path: &FieldPath, object: &Value) -> bool {
        let into = Some(Relation::ReachesInto);
        self.patterns.iter().any(|pattern| pattern.relation(path, object) == into)
            || self.yielded.values().any(|fields| has_parts(fields, path))
    }

    /// Patterns that reach into a leaf, which is owned whole or not at all. Where anybody owns a
    /// part of one, it is none.
    pub fn reaching_into_leaves(
        &self,
        object: &Value,
        owners: &Owners,
        manager: &str,
    ) -> Vec<(String, FieldPath)> {
        let is_shared = |path: &FieldPath| owners.0.iter().any(|o| has_parts(&o.fields, path));
        let leaves: Vec<_> = owners
            .applied_by(manager)
            .leaves()
            .into_iter()
            .filter(|path| at(object, path).is_some_and(holds_something) && !is_shared(path))
            .collect();
        let mut reaching = Vec::new();
        for pattern in &self.patterns {
            let reaches =
                |leaf: &&FieldPath| pattern.relation(leaf, object) == Some(Relation::ReachesInto);
            let into = leaves.iter().find(reaches);
            reaching.extend(into.map(|leaf| (pattern.text().to_owned(), leaf.clone())));
        }
        reaching
    }

    /// What had better be written otherwise, seen on the object as it will be.
    pub fn oddities(&self, written: &Value, object: &Value, owners: &Owners) -> Oddities {
        let mut oddities = Oddities::default();
        if self.patterns.is_empty() {
            return oddities;
        }
        let known = owners.0.iter().fold(FieldSet::default(), |all, o| all.union(&o.fields));
        let told = known.union(&leaves_of(written, &known, object));
        let all = told.union(&leaves_of(object, &known, object));
        let wholes = all.leaves();
        let unheld = unheld(written, &known, object);
        let means_unheld = |text: &str| {
            let mut same = self.patterns.iter().filter(|pattern| pattern.text() == text);
            same.any(|p| unheld.iter().any(|at| is_taken_in(p.relation_as_written(at, written))))
        };
        for pattern in &self.patterns {
            let text = pattern.text();
            let meant = pattern.matched(&all, object).members().into_iter().next();
            match meant {
                Some(path) if pattern.has_places() => {
                    let path =
                        FieldPath::new(path.elements().iter().take(pattern.length()).cloned());
                    oddities.by_place.insert(text.to_owned(), path);
                }
                Some(_) => {}
                None if self.means(text, &all, object) || means_unheld(text) => {}
                None if reaches_into_any(pattern, &wholes, object) => {}
                None => {
                    oddities.idle.insert(text.to_owned(), nearest(text, &told));
                }
            }
        }
        oddities
    }

    /// Whether any of the patterns that an entry came apart into means a field.
    fn means(&self, text: &str, fields: &FieldSet, object: &Value) -> bool {
        let mut same = self.patterns.iter().filter(|pattern| pattern.text() == text);
        same.any(|pattern| !pattern.matched(fields, object).is_empty())
    }

    /// Whether a field is in an item that is no longer written. What is ignored in every item does not
    /// keep one; to name the item, or to ignore it itself, does.
    fn is_dropped_with_its_item(&self, path: &FieldPath, written: &Value, live: &Value) -> bool {
        let means = |place: &FieldPath| {
            let place = place.clone();
            let all = self.patterns.iter();
            all.filter(move |pattern| is_taken_in(pattern.relation(&place, live)))
        };
        let elements = path.elements();
        let is_item = |end: &usize| matches!(elements[end - 1], PathElement::Key(_));
        let mut items = (1..elements.len())
            .filter(is_item)
            .map(|end| FieldPath::new(elements[..end].iter().cloned()));
        means(path).all(Pattern::means_any_item)
            && items
                .any(|item| at_written(written, &item).is_none() && means(&item).next().is_none())
    }

    /// The body to send for an object that exists.
    pub fn body(&self, written: &Value, live: &Value, owners: &Owners, manager: &str) -> Value {
        let mut body = written.clone();
        if self.is_empty() {
            return body;
        }
        let ours = owners.applied_by(manager);
        let known = owners.0.iter().fold(FieldSet::default(), |all, o| all.union(&o.fields));
        // From behind, so that the places of the others stay as they are.
        for path in unheld(written, &known, live).iter().rev() {
            if self.leaves_written(path, written) {
                take(&mut body, path.elements());
            }
        }
        let mut candidates = leaves_of(written, &known, live);
        candidates = candidates.union(&ours.leaves().into_iter().collect());
        let mut left = Vec::new();
        for path in self.among(&candidates, live).members() {
            let held_by_others = owners.others(manager).any(|o| o.fields.below(&path).is_some());
            let held_by_us = ours.below(&path).is_some();
            match at(live, &path) {
                _ if self.is_dropped_with_its_item(&path, written, live) => {}
                Some(value) if held_by_us && !held_by_others => put(&mut body, &path, value),
                _ if path.names_its_item() => {}
                _ if item_is_there(live, &path) => {
                    take(&mut body, path.elements());
                    left.push(path);
                }
                // The item that held it is gone; to bring it back, the user's value is needed.
                _ => {}
            }
        }
        for path in left {
            keep_the_way(&mut body, &path, live, &ours, &known);
        }
        body
    }
}

/// What a body says for the first time, and what is sent of it has not: ignored from the start, it waits
/// for others to put it there.
pub fn unsent(
    [before, written, sent]: [&Value; 3],
    live: &Value,
    owners: &Owners,
) -> Vec<FieldPath> {
    let known = owners.0.iter().fold(FieldSet::default(), |all, o| all.union(&o.fields));
    let mut found = leaves_of(written, &known, live).leaves();
    let items = unheld(written, &known, live).into_iter();
    found.extend(items.filter_map(|place| named(&place, written, &known)));
    found.retain(|path| {
        at_written(sent, path).is_none()
            && at_written(before, path).is_none()
            && at(live, path).is_none()
            && !at_written(written, path).is_none_or(is_zero)
    });
    found
}

/// Entries that had better be written otherwise.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Oddities {
    /// Those that mean no field at all, and the field that is spelt most like it.
    pub idle: BTreeMap<String, Option<FieldPath>>,
    /// Those that name an item by its place, and the field that they mean.
    pub by_place: BTreeMap<String, FieldPath>,
}

fn is_taken_in(relation: Option<Relation>) -> bool {
    matches!(relation, Some(Relation::Means | Relation::Covers))
}

fn reaches_into_any(pattern: &Pattern, wholes: &[FieldPath], object: &Value) -> bool {
    wholes.iter().any(|leaf| {
        at(object, leaf).is_some_and(holds_something)
            && pattern.relation(leaf, object) == Some(Relation::ReachesInto)
    })
}

fn nearest(text: &str, fields: &FieldSet) -> Option<FieldPath> {
    let allowed = (text.chars().count() / 4).max(2);
    let far = |path: FieldPath| (distance(text, &path.to_string()), path);
    let near = fields.members().into_iter().map(far).filter(|(far, _)| *far <= allowed).min();
    near.map(|(_, path)| path)
}

/// Whether a map or a list that is owned as a leaf is one: while it is empty, nobody can tell.
fn holds_something(value: &Value) -> bool {
    match value {
        Value::Object(map) => !map.is_empty(),
        Value::Array(items) => !items.is_empty(),
        _ => false,
    }
}

/// The leaves of what was written, named by the keys that anybody's fields are known by. Items that
/// nobody knows yet are left out: they are new, and sent whole.
fn leaves_of(written: &Value, known: &FieldSet, live: &Value) -> FieldSet {
    fn collect(
        value: &Value,
        known: &FieldSet,
        live: Option<&Value>,
        path: &mut FieldPath,
        into: &mut FieldSet,
    ) {
        let nothing = FieldSet::default();
        let is_whole = known.is_leaf() && live.is_some_and(holds_something);
        match value {
            Value::Object(map) if !map.is_empty() && !is_whole => {
                for (name, value) in map {
                    let element = PathElement::field(name.clone());
                    let below = known.child(&element).unwrap_or(&nothing).clone();
                    let live = live.and_then(|live| step(live, &element));
                    path.push(element);
                    collect(value, &below, live, path, into);
                    path.pop();
                }
            }
            Value::Array(_) if known.children().next().is_some() => {
                let items = Items::new(value, known);
                for (element, below) in known.children() {
                    if let Some(item) = items.step_written(element) {
                        let live = live.and_then(|live| step(live, element));
                        path.push(element.clone());
                        collect(item, below, live, path, into);
                        path.pop();
                    }
                }
            }
            _ if !path.is_empty() => into.insert(path),
            _ => {}
        }
    }
    let mut found = FieldSet::default();
    collect(written, known, Some(live), &mut FieldPath::default(), &mut found);
    found
}

/// Whether the innermost list item that holds the field, if any, is on the object.
fn item_is_there(live: &Value, path: &FieldPath) -> bool {
    let elements = path.elements();
    let item = elements.iter().rposition(|element| !matches!(element, PathElement::Field(_)));
    match item {
        Some(last) => elements[..=last].iter().try_fold(live, step).is_some(),
        None => true,
    }
}

/// Goes on sending what is ours on the way to a field that is left to others.
fn keep_the_way(
    body: &mut Value,
    path: &FieldPath,
    live: &Value,
    ours: &FieldSet,
    known: &FieldSet,
) {
    let mut way = FieldPath::default();
    for element in path.elements() {
        way.push(element.clone());
        if !ours.contains(&way) || !has_parts(known, &way) || at_written(body, &way).is_some() {
            continue;
        }
        match at(live, &way) {
            Some(Value::Object(_)) => put(body, &way, &Value::Object(Map::new())),
            Some(Value::Array(_)) => put(body, &way, &Value::Array(Vec::new())),
            _ => {}
        }
    }
}

fn has_parts(fields: &FieldSet, path: &FieldPath) -> bool {
    fields.below(path).is_some_and(|node| node.children().next().is_some())
}

fn is_scalar(value: &Value) -> bool {
    !value.is_object() && !value.is_array()
}

#[cfg(test)]
mod tests;
