//! The projection: the leaves that the user wrote, as the server holds them.
//!
//! Which leaves those are comes from the server itself, from the `managedFields` entry that it
//! keeps (or, in a dry-run, would keep) for our manager. It tells keyed lists, sets and atomics
//! apart, for custom resources too; we keep no table of merge keys. Nothing that other managers or
//! defaulting put into the object is shown.
//!
//! Values that must not be shown are carried apart ([`Leaf::Concealed`]) and come out as a keyed
//! hash, so that drift still shows.

use std::collections::BTreeMap;

use hmac::{Hmac, KeyInit, Mac};
use serde_json::{Map, Value};
use sha2::Sha256;

use crate::field::walk::Items;
use crate::field::{FieldPath, FieldSet, KeyFields, PathElement};
use crate::owners::Owners;
use crate::secrecy::Secrecy;
pub use crate::text::ABSENT;
use crate::text::{self, WITHHELD};

/// What is projected, and in whose light.
#[derive(Clone, Copy, Debug)]
pub struct View<'a> {
    /// The fields that are ours.
    pub ours: &'a FieldSet,
    /// The object as the server holds it, or would.
    pub object: &'a Value,
    /// Its owners, and the name among them that is ours.
    pub owners: &'a Owners,
    pub manager: &'a str,
    /// What the user wrote: tells an empty map from one that the server filled.
    pub written: &'a Value,
    /// Which leaves may not be shown.
    pub secrecy: &'a Secrecy,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Leaf {
    Shown(Value),
    Concealed(Value),
    /// Nothing is there, and that is what is wanted.
    Absent,
}

impl Leaf {
    /// The leaf as it is shown. One that is concealed has no text until there is a key.
    pub fn text(&self, path: &FieldPath, key: Option<&ConcealmentKey>) -> Option<String> {
        match self {
            Self::Shown(value) => Some(text::shown(value)),
            Self::Concealed(value) => key.map(|key| concealed(key, path, &text::shown(value))),
            Self::Absent => Some(ABSENT.to_owned()),
        }
    }

    /// The leaf as a notice tells it, which may come before there is a key.
    pub(crate) fn told(&self, path: &FieldPath, key: Option<&ConcealmentKey>) -> String {
        self.text(path, key).unwrap_or_else(|| CONCEALED_VALUE.to_owned())
    }
}

/// The key that concealed leaves are hashed with, one for each object.
#[derive(Clone, PartialEq, Eq)]
pub struct ConcealmentKey(pub [u8; 32]);

impl std::fmt::Debug for ConcealmentKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("ConcealmentKey(..)")
    }
}

/// Leaves as they are shown, by path.
pub type Texts = BTreeMap<FieldPath, String>;

/// The leaves, by path. The order of keys and of keyed items in the object plays no part.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Projection(pub BTreeMap<FieldPath, Leaf>);

impl Projection {
    pub fn get(&self, path: &FieldPath) -> Option<&Leaf> {
        self.0.get(path)
    }

    /// The leaves as notices tell them. Without a key those that are concealed all look alike.
    pub fn told(&self, key: Option<&ConcealmentKey>) -> Texts {
        self.0.iter().map(|(path, leaf)| (path.clone(), leaf.told(path, key))).collect()
    }

    /// The leaves as they are shown. Those that are concealed are left out without a key.
    pub fn texts(&self, key: Option<&ConcealmentKey>) -> Texts {
        self.0
            .iter()
            .filter_map(|(path, leaf)| Some((path.clone(), leaf.text(path, key)?)))
            .collect()
    }

    /// Whether it comes to these texts.
    pub fn shows(&self, texts: &Texts, key: Option<&ConcealmentKey>) -> bool {
        let mut texts = texts.iter();
        let mut shown =
            self.0.iter().filter_map(|(path, leaf)| Some((path, leaf.text(path, key)?)));
        let is_next = |(path, text): (_, String)| {
            texts.next().is_some_and(|(at, other)| path == at && text == *other)
        };
        shown.all(is_next) && texts.next().is_none()
    }
}

/// What is shown where not even a hash is to be had.
pub const CONCEALED_VALUE: &str = "(sensitive)";

/// Whether a text stands for a value that is not shown.
pub fn is_concealed(text: &str) -> bool {
    text.starts_with(WITHHELD)
}

/// A hash instead of a text. The path goes in, so that equal values of two fields do not show as
/// equal. What is hashed is the text and not the value, so that a leaf which was shown so far can
/// be compared with one that is hidden from now on.
fn concealed(key: &ConcealmentKey, path: &FieldPath, text: &str) -> String {
    format!("(sensitive, hash {})", key.hash(&format!("{path}\0{text}")))
}

impl ConcealmentKey {
    /// A hash that tells nothing to whoever lacks the key.
    pub fn hash(&self, text: &str) -> String {
        // HMAC pads a key to the length of a block with zeroes.
        let mut block = [0; 64];
        block[..32].copy_from_slice(&self.0);
        let mut mac = Hmac::<Sha256>::new(&block.into());
        mac.update(text.as_bytes());
        let hash = mac.finalize().into_bytes();
        hash[..16].iter().map(|byte| format!("{byte:02x}")).collect()
    }
}

/// Texts of an earlier time as they would stand under another secrecy, so that hiding a leaf, or
/// showing it again, does not look like a change of its value. `now` are the leaves under that
/// secrecy: only they know what is behind a hash.
pub fn retold(
    texts: &Texts,
    secrecy: &Secrecy,
    object: &Value,
    now: &Projection,
    key: Option<&ConcealmentKey>,
) -> Texts {
    let Some(key) = key else {
        return texts.clone();
    };
    let retell = |(path, text): (&FieldPath, &String)| {
        let text = match (is_concealed(text), secrecy.conceals(path, object), now.get(path)) {
            (false, true, _) => concealed(key, path, text),
            (true, false, Some(Leaf::Shown(value))) => {
                let shown = text::shown(value);
                if concealed(key, path, &shown) == *text { shown } else { text.clone() }
            }
            _ => text.clone(),
        };
        (path.clone(), text)
    };
    texts.iter().map(retell).collect()
}

pub fn project(view: View<'_>) -> Projection {
    let mut leaves = BTreeMap::new();
    let mut path = FieldPath::default();
    Walk { view, leaves: &mut leaves }.node(view.ours, view.object, Some(view.written), &mut path);
    Projection(leaves)
}

struct Walk<'a, 'out> {
    view: View<'a>,
    leaves: &'out mut BTreeMap<FieldPath, Leaf>,
}

impl Walk<'_, '_> {
    fn node(
        &mut self,
        set: &FieldSet,
        value: &Value,
        written: Option<&Value>,
        path: &mut FieldPath,
    ) {
        let (values, written) = (Items::new(value, set), written.map(|list| Items::new(list, set)));
        for (element, below) in set.children() {
            let written = written.as_ref().and_then(|written| written.step_written(element));
            path.push(element.clone());
            let Some(value) = values.step(element) else {
                // The server drops empty maps and lists, but goes on recording them as ours.
                if let Some(empty) = written.filter(|written| is_empty(written))
                    && below.is_leaf()
                    && (self.held_by_us(path) || self.others_at(path).next().is_some())
                {
                    self.emit(path, empty.clone());
                }
                path.pop();
                continue;
            };
            match element {
                PathElement::Value(_) => self.emit(path, value.clone()),
                _ if below.is_leaf() => self.leaf(value, written, path),
                PathElement::Key(keys) => {
                    let shown = self.leaves.len();
                    self.node(&without_keys(below, keys), value, written, path);
                    // The path tells the key. Where the server keeps nothing else of the item
                    // (an empty `value` of a variable), the key stands for it.
                    if self.leaves.len() == shown {
                        self.node(below, value, written, path);
                    }
                }
                _ => self.node(below, value, written, path),
            }
            path.pop();
        }
    }

    fn leaf(&mut self, value: &Value, written: Option<&Value>, path: &FieldPath) {
        // A list that is recorded as ours without its items is ours as a whole, with what the server
        // put in.
        let is_whole_list = value.is_array()
            && self.held_by_us(path)
            && self.others_at(path).all(FieldSet::is_leaf);
        let nothing = match written {
            Some(written) if is_empty(written) && holds_something(value) && !is_whole_list => {
                Some(written)
            }
            // No opinion was written; what is in it is others'.
            Some(Value::Null) if is_container(value) || value.is_null() => None,
            _ => return self.emit(path, value.clone()),
        };
        // Written empty, yet something is in it: defaults, or what others put into a map or a list
        // that is shared part by part. Neither is ours, and it must not matter whose it is, or when
        // it came. Only where it is no longer ours and somebody else holds it as a whole was an
        // atomic taken from us, and its content is the drift.
        let taken = is_container(value)
            && !self.held_by_us(path)
            && self.others_at(path).any(FieldSet::is_leaf)
            && self.others_at(path).all(FieldSet::is_leaf);
        match nothing {
            _ if taken => self.emit(path, value.clone()),
            Some(empty) => self.emit(path, empty.clone()),
            None => {}
        }
    }

    fn held_by_us(&self, path: &FieldPath) -> bool {
        let View { owners, manager, .. } = self.view;
        owners.0.iter().any(|o| o.manager.applies_as(manager) && o.fields.below(path).is_some())
    }

    fn others_at<'p>(&'p self, path: &'p FieldPath) -> impl Iterator<Item = &'p FieldSet> {
        self.view.owners.others(self.view.manager).filter_map(|other| other.fields.below(path))
    }

    fn emit(&mut self, path: &FieldPath, value: Value) {
        let leaf = if self.view.secrecy.conceals_within(path, &value, self.view.object) {
            Leaf::Concealed(value)
        } else {
            Leaf::Shown(value)
        };
        self.leaves.insert(path.clone(), leaf);
    }
}

fn is_empty(value: &Value) -> bool {
    is_empty_map(value) || value.as_array().is_some_and(Vec::is_empty)
}

fn is_container(value: &Value) -> bool {
    value.is_object() || value.is_array()
}

fn holds_something(value: &Value) -> bool {
    is_container(value) && !is_empty(value)
}

pub(crate) fn is_empty_map(value: &Value) -> bool {
    value.as_object().is_some_and(Map::is_empty)
}

/// An item without the fields that its path names already.
fn without_keys(item: &FieldSet, keys: &KeyFields) -> FieldSet {
    let mut rest = item.clone();
    for name in keys.keys() {
        rest.remove_tree(&FieldPath::fields([name.as_str()]));
    }
    rest
}

#[cfg(test)]
mod tests;
