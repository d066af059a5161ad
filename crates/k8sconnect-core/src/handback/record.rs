//! Who is on record as the former owner of what.
//!
//! A field goes back to who held it before *us*. So what somebody loses to us is a loss on record
//! only where the field was not ours already: whoever took it from us meanwhile, and lost it again,
//! is no former owner. Where such a one took it from a co-owner too, it is the co-owner who would
//! still have it without us. A field that leaves us takes the record of its losses along.

use super::departure::Departure;
use super::elsewhere::{Readings, Words};
use super::holding::{Division, Extent};
use super::outlook::Patched;
use super::{all_fields, covered, give, same_entry};
use crate::field::{FieldPath, FieldSet};
use crate::owners::{Manager, Owners, Ownership};

/// What a write of ours takes.
#[derive(Clone, Copy, Debug)]
pub struct Loss<'a> {
    pub lost: &'a Owners,
    /// Everyone after the write.
    pub after: &'a Owners,
    /// What was ours already; `None` where nothing was.
    pub tenure: Option<Tenure<'a>>,
}

/// What our last write left behind.
#[derive(Clone, Copy, Debug)]
pub struct Tenure<'a> {
    /// Our own name, and the version in which we write.
    pub ours: &'a str,
    pub version: &'a str,
    /// The fields that were ours and stay so, with who is on record as having held them before.
    pub fields: &'a [Patched],
    /// Everyone's fields then.
    pub then: &'a Owners,
    pub company: Company,
}

/// Whether a write takes fields that were not ours before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Company {
    /// Only fields that were ours are written.
    None,
    /// Others join them.
    Newcomers,
}

/// Adds a loss to those on record.
#[must_use]
pub fn record(former: &Owners, loss: Loss<'_>) -> Owners {
    let known = all_fields(former);
    let mut recorded = former.clone();
    let mut regained = Owners::default();
    for Ownership { manager, fields } in &loss.lost.0 {
        let again = loss.tenure.map(|it| it.of(manager, fields)).unwrap_or_default();
        let fresh = fields.difference(&known).difference(&again);
        if !fresh.is_empty() {
            give(&mut recorded, manager, &fresh);
        }
        if !again.is_empty() {
            give(&mut regained, manager, &again);
        }
    }
    let tenure = loss.tenure.into_iter();
    for Ownership { manager, fields } in tenure.flat_map(|it| it.bereft(&regained, loss.after).0) {
        let fields = fields.difference(&known);
        if !fields.is_empty() {
            give(&mut recorded, &manager, &fields);
        }
    }
    recorded
}

/// Who had a field before us, of those who hold it when a write of ours takes it. Whoever loses it and
/// is not on record took it from us, with the list around it: who is on record had it before. `version`
/// is the one in which we write.
#[must_use]
pub fn rightful(
    record: &Owners,
    lost: &Owners,
    version: &str,
    path: &FieldPath,
    holders: &[Manager],
) -> Vec<Manager> {
    let of = |owners: &Owners| {
        let division = Division::told_by([owners]).with_losses(owners, version);
        division.holders(owners, path, Extent::Whole)
    };
    let (on_record, robbed) = (of(record), of(lost));
    let is_among = |all: &[Manager], one: &Manager| all.iter().any(|it| it.is(one));
    let passing = |one: &Manager| is_among(&robbed, one) && !is_among(&on_record, one);
    let mut had: Vec<_> = holders.iter().filter(|one| !passing(one)).cloned().collect();
    if had.is_empty() || had.len() < holders.len() {
        let more: Vec<_> = on_record.into_iter().filter(|one| !is_among(&had, one)).collect();
        had.extend(more);
    }
    had
}

/// The losses that stay on record once these fields are no longer ours. `version` is the one in which
/// we write.
#[must_use]
pub fn forget(
    former: &Owners,
    leaving: &Departure,
    version: &str,
    readings: Readings<'_>,
) -> Owners {
    Words { version, readings }.remaining(former, leaving)
}

impl Tenure<'_> {
    /// Of what a manager loses, what was ours before it took it.
    fn of(&self, manager: &Manager, lost: &FieldSet) -> FieldSet {
        // Which field that is in our version, only its path may tell; there is no need to know where
        // all that is written was ours.
        if manager.api_version != self.version && self.company == Company::None {
            return lost.clone();
        }
        let mine = self.then.0.iter().filter(|entry| entry.manager.name == self.ours);
        let mine = mine.fold(FieldSet::default(), |all, entry| all.union(&entry.fields));
        // What had our value before is not ours, and is told to be a whole by those whose it was.
        let spoken = self.then.0.iter().filter(|it| it.manager.api_version == self.version);
        let everybody = spoken.fold(FieldSet::default(), |all, entry| all.union(&entry.fields));
        // What nobody held is told to be one by whoever has it now: nobody loses a map to who puts
        // something into it.
        let taken = lost.leaves().into_iter().filter(|_| manager.api_version == self.version);
        let wholes = everybody.leaves().into_iter().chain(taken).collect();
        of_fields(self.fields.iter(), lost, &mine.union(&wholes))
    }

    /// Those who held beside us what somebody took from all of us, and who do not get it by our write.
    fn bereft(&self, regained: &Owners, after: &Owners) -> Owners {
        let mut heirs = Owners::default();
        let before = self.then.0.iter().filter(|entry| entry.manager.name != self.ours);
        for Ownership { manager, fields } in before {
            let words =
                regained.0.iter().filter(|it| it.manager.api_version == manager.api_version);
            let taken = words.fold(FieldSet::default(), |all, it| all.union(&it.fields));
            let taken = taken.intersection(fields);
            let theirs = self.fields.iter().filter(|it| it.recorded.iter().any(|m| m.is(manager)));
            let mut bereft = of_fields(theirs, &taken, &taken);
            if let Some(kept) = after.0.iter().find(|it| same_entry(&it.manager, manager)) {
                bereft = bereft.difference(&kept.fields);
            }
            if !bereft.is_empty() {
                give(&mut heirs, manager, &bereft);
            }
        }
        heirs
    }
}

/// What of a set is one of these fields, a part of one, or a whole, among `wholes`, that one is a part
/// of.
fn of_fields<'a>(
    fields: impl Iterator<Item = &'a Patched>,
    set: &FieldSet,
    wholes: &FieldSet,
) -> FieldSet {
    let (mut entire, mut alone) = (FieldSet::default(), FieldSet::default());
    for Patched { path, extent, .. } in fields {
        match extent {
            Extent::Whole => entire.insert(path),
            Extent::Itself => alone.insert(path),
        }
    }
    let around = set.intersection(wholes).members().into_iter();
    let around = around.filter(|whole| entire.below(whole).is_some()).collect();
    covered(set, &entire).union(&set.intersection(&alone)).union(&around)
}
