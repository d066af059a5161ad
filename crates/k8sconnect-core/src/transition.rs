//! Who takes what from whom: fields then, now and next compared.
//!
//! *Then* is what we left behind at our last write, *now* is the object as it stands, *next* is
//! the object as the dry-run says it will be. Told is only what concerns fields that we manage or
//! used to manage. Equal values held together are calm and never told.

use serde_json::Value;

use crate::field::walk::at;
use crate::field::{FieldPath, FieldSet};
use crate::owners::{Manager, Owners};
use crate::projection::Texts;

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
}

impl Notices {
    pub fn is_empty(&self) -> bool {
        self.reverts.is_empty() && self.takes.is_empty() && self.stays.is_empty()
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
    for (path, text_next) in next.texts {
        let (text_then, text_now) = (texts_then.get(path), now.texts.get(path));
        let notice = |holders| FieldNotice {
            path: path.clone(),
            holders,
            then: text_then.cloned(),
            now: text_now.cloned(),
            next: Some(text_next.clone()),
        };
        let drifted = text_then.is_some() && text_now != text_then;
        if drifted && text_now != Some(text_next) {
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
    let dropped = then.fields.difference(&next.owners.applied_by(manager));
    for path in dropped.members() {
        // A map or item goes with its last member; only leaves are worth a line.
        if !texts_then.contains_key(&path) || at(next_object, &path).is_none() {
            continue;
        }
        let holders: Vec<_> = next.owners.holders(&path).cloned().collect();
        if !holders.is_empty() {
            notices.stays.push(FieldNotice {
                then: texts_then.get(&path).cloned(),
                now: now.texts.get(&path).cloned(),
                next: now.texts.get(&path).cloned(),
                path,
                holders,
            });
        }
    }
    notices
}

#[cfg(test)]
mod tests;
