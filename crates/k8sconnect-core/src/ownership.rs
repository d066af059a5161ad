//! The ownership table: one row for each field that a write concerns.
//!
//! A row compares the last apply, the live object and the answer to a dry-run, by value and by owners.
//! [`Row::class`] gives each row exactly one class. Every report about field owners is a filter over the
//! classes: drift, takeover, retained and defaulted fields, removal with a parent, adoption and import.
//! How rows are made from objects is in [`table`].

mod order;
mod table;

use crate::field::FieldPath;
use crate::owners::Manager;
use crate::projection::{ConcealmentKey, Leaf};

pub use order::reorders;
pub use table::{LastApply, Snapshot, Table, VersionedOwners, taken_elsewhere, written_empty};

/// What a row is: the one word for what happens to a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Class {
    /// Somebody changed the field since the last apply; the write sets it back.
    Drifted,
    /// Another manager owns the field now, and does not after the write.
    TakenFrom,
    /// The value is as it was applied, but our manager no longer owns the field; the write makes our
    /// manager a co-owner.
    OwnershipLost,
    /// We no longer write the field; other managers own it, and it stays.
    RetainedBy,
    /// A field of other managers that is removed with the item or map that it is in.
    RemovedWithParent,
    /// We no longer write the field and nobody owns it; the server sets another value.
    Defaulted,
    /// We no longer write the field, nobody owns it in this API version, and its value stays. Managers
    /// that wrote in another version may own it.
    OwnedElsewhere,
    /// We no longer write the field and nobody owns it; its value stays.
    Released,
    /// The field was ignored until now and is removed, since the body does not have it.
    Unignored,
    /// Applied under our name by another configuration, and removed, since the body does not have it.
    Deleted,
    /// The items of a list get back the order of the body.
    Reordered,
    /// Our manager becomes a co-owner of an equal value.
    Joined,
    /// The body changes the field, and nobody loses it.
    Edited,
    /// We no longer write the field, and it goes.
    Removed,
    /// Value and owners are equal before and after the write.
    Unchanged,
}

impl Class {
    /// Whether a plan reports the field. Of the rest, the diff of the plan shows what changes.
    pub fn is_reported(self) -> bool {
        !matches!(
            self,
            Self::Released | Self::Joined | Self::Edited | Self::Removed | Self::Unchanged
        )
    }
}

/// What the last apply left of a field.
#[derive(Clone, Debug, PartialEq)]
pub enum Applied {
    /// The field was not ours.
    NotOurs,
    /// It was ours and ignored, so that no value is on record.
    Unrecorded,
    /// It was ours and had no value to show.
    Absent,
    /// Parts of it were ours.
    Parts,
    /// Parts of it were ours and have no place now: their item is missing, or another value stands there.
    Displaced,
    Shown(String),
}

/// The field after the write.
#[derive(Clone, Debug, PartialEq)]
pub enum After {
    /// No dry-run has answered.
    Unknown,
    Absent,
    Value(Leaf),
}

/// One field, before and after a write. Owners are other managers than ours.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    pub path: FieldPath,
    pub applied: Applied,
    pub live: Option<Leaf>,
    pub after: After,
    /// Whether our manager owns the field now, and after the write.
    pub ours_live: bool,
    pub ours_after: bool,
    pub owners_live: Vec<Manager>,
    pub owners_after: Vec<Manager>,
    /// Whether other managers wrote the object in another API version. Which fields of ours they own,
    /// nothing says.
    pub owned_elsewhere: bool,
}

impl Row {
    /// The one class of the row.
    pub fn class(&self, key: Option<&ConcealmentKey>) -> Class {
        let was_ours = self.applied != Applied::NotOurs;
        match (was_ours, self.ours_after) {
            _ if self.after == After::Unknown => match self.is_as_applied(key) {
                true => Class::Unchanged,
                false => Class::Drifted,
            },
            (_, true) if !self.is_as_applied(key) && !self.keeps_its_value() => Class::Drifted,
            (_, true) if !self.lose().is_empty() => Class::TakenFrom,
            (_, true) if !self.ours_live && self.keeps_its_value() => {
                match was_ours && self.is_as_applied(key) {
                    true => Class::OwnershipLost,
                    false => Class::Joined,
                }
            }
            (_, true) if self.keeps_its_value() => Class::Unchanged,
            (_, true) => Class::Edited,
            (_, false) if self.after == After::Absent => self.class_of_absent(),
            (true, false) if !self.owners_after.is_empty() => Class::RetainedBy,
            (true, false) if !self.keeps_its_value() => Class::Defaulted,
            (true, false) if self.owned_elsewhere => Class::OwnedElsewhere,
            (true, false) => Class::Released,
            (false, false) if !self.lose().is_empty() => Class::TakenFrom,
            (false, false) => Class::Unchanged,
        }
    }

    fn class_of_absent(&self) -> Class {
        match self.applied {
            _ if self.live.is_none() && self.applied == Applied::NotOurs => Class::Unchanged,
            _ if !self.lose().is_empty() => Class::RemovedWithParent,
            Applied::NotOurs if self.ours_live => Class::Deleted,
            Applied::NotOurs => Class::Removed,
            Applied::Unrecorded => Class::Unignored,
            Applied::Absent | Applied::Parts | Applied::Displaced | Applied::Shown(_) => {
                Class::Removed
            }
        }
    }

    /// The managers that own the field now and do not after the write.
    pub fn lose(&self) -> Vec<Manager> {
        let keeps = |owner: &Manager| self.owners_after.iter().any(|after| after.is(owner));
        self.owners_live.iter().filter(|owner| !keeps(owner)).cloned().collect()
    }

    /// Whether the write leaves the value as it is.
    pub fn keeps_its_value(&self) -> bool {
        match &self.after {
            After::Unknown => true,
            After::Absent => self.live.is_none(),
            After::Value(after) => self.live.as_ref() == Some(after),
        }
    }

    /// Whether the live value is the one of the last apply, where one is on record.
    fn is_as_applied(&self, key: Option<&ConcealmentKey>) -> bool {
        match &self.applied {
            Applied::NotOurs | Applied::Unrecorded | Applied::Parts => true,
            Applied::Absent => self.live.is_none(),
            Applied::Displaced => false,
            Applied::Shown(text) => {
                self.live.as_ref().map(|live| live.told(&self.path, key)).as_ref() == Some(text)
            }
        }
    }
}

/// A row in words that can be shown: what happens to one field, and whom it concerns.
#[derive(Clone, Debug, PartialEq)]
pub struct FieldChange {
    pub class: Class,
    pub path: FieldPath,
    /// The API version of the path, if it is another one than that of the body.
    pub api_version: Option<String>,
    /// The other managers that the class is about.
    pub owners: Vec<Manager>,
    /// Whether managers that wrote in another API version may be among the owners.
    pub owned_elsewhere: bool,
    pub last_applied: Option<String>,
    pub live: Option<String>,
    pub after: Option<String>,
}

impl FieldChange {
    /// Whether the write changes the value.
    pub fn changes_value(&self) -> bool {
        self.live != self.after
    }
}

/// The changes of these classes.
pub fn of_class(changes: &[FieldChange], classes: &[Class]) -> Vec<FieldChange> {
    changes.iter().filter(|change| classes.contains(&change.class)).cloned().collect()
}

#[cfg(test)]
mod tests;
