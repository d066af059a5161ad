//! Fields go back to those who held them.
//!
//! A write of ours takes fields from other managers. What each of them *lost* by it is recorded, in
//! its own API version: the same field may have another path there, and a co-owner of an equal value
//! loses nothing. To hand back is to edit `managedFields` and nothing else: our entry goes, and what
//! we still hold of each loss goes into the entry of the one who lost it. Values are not touched.
//!
//! What will become of each field is told by [`Outlook`], which asks the same function that works the
//! hand-back out.
//!
//! Not here: sending it. The edit is bound to the version of the object that was read, so whoever
//! sends it reads again and comes back when somebody wrote in between.

mod departure;
mod elsewhere;
mod holding;
mod outlook;
mod record;

use crate::field::{FieldPath, FieldSet};
use crate::identity::without_marks;
use crate::owners::{Manager, Operation, Owners, Ownership};

pub use departure::Departure;
use elsewhere::Words;
pub use elsewhere::{Readings, other_versions};
pub use holding::{Division, Extent};
pub use outlook::{Outlook, Patched, Prospect};
pub use record::{Company, Loss, Tenure, forget, record, rightful};

/// Where the server folds the oldest entries together once there are too many.
const ANCIENT: &str = "ancient-changes";

/// What a write takes from others: their fields before it that they lack after it.
pub fn lost(before: &Owners, after: &Owners, ours: &str) -> Owners {
    let ancient = after.0.iter().filter(|entry| entry.manager.name == ANCIENT);
    let folded = ancient.fold(FieldSet::default(), |all, entry| all.union(&entry.fields));
    let entries = before.0.iter().filter(|entry| entry.manager.name != ours).filter_map(|entry| {
        let kept = after.0.iter().find(|other| same_entry(&other.manager, &entry.manager));
        let mut fields = match kept {
            Some(kept) => entry.fields.difference(&kept.fields),
            None => entry.fields.clone(),
        };
        if entry.manager.name != ANCIENT {
            fields = fields.difference(&folded);
        }
        (!fields.is_empty()).then(|| Ownership { manager: entry.manager.clone(), fields })
    });
    Owners(entries.collect())
}

/// Which of our fields go back.
#[derive(Clone, Copy, Debug)]
pub enum Leaving<'a> {
    /// All of them, and our manager with them.
    All,
    /// These; the rest stays ours.
    Fields(&'a Departure),
}

/// A hand-back, worked out.
#[derive(Clone, Debug, PartialEq)]
pub struct Handback {
    /// The owners as they are to be.
    pub owners: Owners,
    /// What each former owner gets back.
    pub returned: Owners,
    /// The losses that stay on record.
    pub former: Owners,
}

/// Works out who owns what once our fields have gone back. `None` if nothing of ours is there.
pub fn hand_back(
    owners: &Owners,
    ours: &str,
    former: &Owners,
    leaving: Leaving<'_>,
    readings: Readings<'_>,
) -> Option<Handback> {
    let (mine, mut rest): (Vec<_>, Vec<_>) =
        owners.0.iter().cloned().partition(|entry| entry.manager.name == ours);
    let mut returned = Owners::default();
    let going: Vec<Ownership> = mine
        .iter()
        .map(|entry| {
            let fields = match leaving {
                Leaving::All => entry.fields.clone(),
                Leaving::Fields(leaving) => leaving.of_set(&entry.fields),
            };
            let kept = entry.fields.difference(&fields);
            if !kept.is_empty() {
                rest.push(Ownership { manager: entry.manager.clone(), fields: kept });
            }
            Ownership { manager: entry.manager.clone(), fields }
        })
        .filter(|entry| !entry.fields.is_empty())
        .collect();
    let version = &mine.first()?.manager.api_version;
    let words = Words { version, readings };
    for lost in &former.0 {
        let manager = &lost.manager;
        let back = words.still_ours(manager, &words.leaving(lost, leaving), &going);
        // Whoever came to hold it again of its own accord gets nothing.
        let held = owners.0.iter().find(|entry| same_entry(&entry.manager, manager));
        let back = held.map_or(back.clone(), |held| back.difference(&held.fields));
        if !back.is_empty() {
            give(&mut returned, manager, &back);
        }
    }
    // What was taken away and leaves is in no entry of ours, and may have been more to others.
    if going.is_empty() && returned.0.is_empty() {
        return None;
    }
    let remaining = match leaving {
        Leaving::All => Owners::default(),
        Leaving::Fields(leaving) => words.remaining(former, leaving),
    };
    let mut owners = Owners(rest);
    for Ownership { manager, fields } in &returned.0 {
        give(&mut owners, manager, fields);
    }
    Some(Handback { owners, returned, former: remaining })
}

impl Handback {
    /// Whether the server did what was asked: it answers well, and ignores the whole list, where
    /// one entry of it cannot be read.
    pub fn is_done(&self, answered: &Owners, ours: &str) -> bool {
        let holds = |wanted: &Ownership| {
            answered.0.iter().any(|entry| {
                same_entry(&entry.manager, &wanted.manager)
                    && wanted.fields.difference(&entry.fields).is_empty()
            })
        };
        let (stays, there) = (patched_by(&self.owners, ours), patched_by(answered, ours));
        stays.is_empty() == there.is_empty()
            && there.difference(&stays).is_empty()
            && self.returned.0.iter().all(holds)
    }
}

/// The fields that our manager owns, without the annotation in which a patch keeps its record: the
/// write that hands back may write it too, and becomes its owner.
fn patched_by(owners: &Owners, ours: &str) -> FieldSet {
    let annotations = FieldPath::fields(["metadata", "annotations"]);
    let mine = Owners(owners.0.iter().filter(|it| it.manager.name == ours).cloned().collect());
    let fields = without_marks(all_fields(&mine)).members().into_iter();
    fields.filter(|path| *path != annotations).collect()
}

/// The members of a set that are among these fields, or below one of them.
fn covered(set: &FieldSet, fields: &FieldSet) -> FieldSet {
    set.members().into_iter().filter(|path| covers(fields, path)).collect()
}

fn covers(fields: &FieldSet, path: &FieldPath) -> bool {
    let elements = path.elements();
    (1..=elements.len()).any(|n| {
        let start = FieldPath::new(elements[..n].iter().cloned());
        fields.contains(&start)
    })
}

/// Puts fields into a manager's entry, which is made if there is none. The server knows one entry
/// for each manager that applies, whatever version it applied in.
fn give(owners: &mut Owners, to: &Manager, fields: &FieldSet) {
    match owners.0.iter_mut().find(|entry| same_entry(&entry.manager, to)) {
        Some(entry) => entry.fields = entry.fields.union(fields),
        None => owners.0.push(Ownership { manager: to.clone(), fields: fields.clone() }),
    }
}

fn same_entry(one: &Manager, other: &Manager) -> bool {
    one.is(other) && (one.operation == Operation::Apply || one.api_version == other.api_version)
}

fn all_fields(owners: &Owners) -> FieldSet {
    owners.0.iter().fold(FieldSet::default(), |all, entry| all.union(&entry.fields))
}

#[cfg(test)]
mod tests;
