//! What will become of each patched field when it is handed back, for a plan to say.
//!
//! Nothing here is remembered or guessed: the hand-back is worked out on the object as it is, by the
//! function that does it, and what comes out is told field by field.

use std::collections::BTreeMap;

use serde_json::Value;

use super::elsewhere::{Readings, Words};
use super::holding::{Division, Extent};
use super::{Handback, Leaving, hand_back};
use crate::field::FieldPath;
use crate::field::fields_v1::FieldsV1Error;
use crate::field::walk::at;
use crate::identity::Gvk;
use crate::owners::{Manager, Owners, Ownership};

/// A hand-back that is to be told of.
#[derive(Clone, Copy, Debug)]
pub struct Outlook<'a> {
    pub live: &'a Value,
    /// The same in other versions.
    pub elsewhere: &'a BTreeMap<String, Value>,
    /// What the object is, in the version in which it was patched.
    pub gvk: &'a Gvk,
    pub manager: &'a str,
    pub former: &'a Owners,
    pub leaving: Leaving<'a>,
}

/// A patched field.
#[derive(Clone, Debug, PartialEq)]
pub struct Patched {
    pub path: FieldPath,
    pub extent: Extent,
    /// Who is on record as having held it before.
    pub recorded: Vec<Manager>,
}

/// What becomes of a field.
#[derive(Clone, Debug, PartialEq)]
pub enum Prospect {
    /// It is not on the object, so that nobody can get it.
    Absent,
    /// It stays in a list or a map that we go on holding as a whole.
    Kept(FieldPath),
    /// It stays as it is: with those who get it back and those who hold it besides us and go on
    /// doing so. With nobody where there are neither.
    Stays { returns_to: Vec<Manager>, stays_with: Vec<Manager> },
    /// Nobody holds it until everything goes back: its former owners have other words for it, and for
    /// what stays.
    Waits { for_the_end: Vec<Manager> },
    /// It goes back under the path that it has in the version of its former owner.
    Elsewhere { returns_to: Manager },
}

impl Outlook<'_> {
    /// What becomes of these fields.
    pub fn of(&self, fields: &[Patched]) -> Result<Vec<(FieldPath, Prospect)>, FieldsV1Error> {
        let now = Owners::of_object(self.live)?;
        let Handback { owners: mut after, returned, former } = self.worked_out(&now);
        after.0.retain(|entry| entry.manager.name != self.manager);
        if self.gvk.is_secret() {
            after = after.with_string_data_as_data();
        }
        let version = self.gvk.api_version();
        let division =
            Division::told_by([&now, &after, &returned]).with_losses(&returned, &version);
        let prospect = |field: &Patched| {
            if at(self.live, &field.path).is_none() {
                return Prospect::Absent;
            }
            let mut returns_to = division.holders(&returned, &field.path, field.extent);
            let mut stays_with = division.holders(&after, &field.path, field.extent);
            // Of a map nobody may hold that it is there, and some what is in it.
            if returns_to.is_empty() && stays_with.is_empty() && field.extent == Extent::Itself {
                stays_with = division.holders(&after, &field.path, Extent::Whole);
            }
            if returns_to.is_empty() && stays_with.is_empty() {
                returns_to = as_a_part(&returned, field);
            }
            if returns_to.is_empty() && stays_with.is_empty() {
                returns_to = self.in_other_words(&returned, field);
            }
            if returns_to.is_empty() && stays_with.is_empty() {
                let for_the_end = self.in_the_end(&former, field);
                if !for_the_end.is_empty() {
                    return Prospect::Waits { for_the_end };
                }
            }
            stays_with.retain(|holder| !returns_to.iter().any(|it| it.is(holder)));
            Prospect::Stays { returns_to, stays_with }
        };
        Ok(fields.iter().map(|field| (field.path.clone(), prospect(field))).collect())
    }

    /// What becomes of these fields, which are all that go, and what goes back besides: what left
    /// earlier, and had to wait.
    pub fn of_all(&self, fields: &[Patched]) -> Result<Vec<(FieldPath, Prospect)>, FieldsV1Error> {
        let mut told = self.of(fields)?;
        let returned = self.worked_out(&Owners::of_object(self.live)?).returned;
        let mut besides: Vec<_> =
            returned.0.iter().flat_map(|entry| self.untold(entry, &told)).collect();
        besides.extend(around_the_absent(&returned, &told));
        told.extend(besides);
        Ok(told)
    }

    fn worked_out(&self, now: &Owners) -> Handback {
        let readings = Readings { ours: self.live, theirs: self.elsewhere };
        hand_back(now, self.manager, self.former, self.leaving, readings).unwrap_or_else(|| {
            Handback { owners: now.clone(), returned: Owners::default(), former: Owners::default() }
        })
    }

    /// Who has a field in another API version, where it has another path.
    fn in_other_words(&self, theirs: &Owners, field: &Patched) -> Vec<Manager> {
        let others = theirs.0.iter().filter(|entry| {
            field.recorded.iter().any(|it| it.is(&entry.manager))
                && !self.words(|words| words.are_theirs(&entry.manager, &field.path))
                && !self.other_words(entry).is_empty()
        });
        others.map(|entry| entry.manager.clone()).collect()
    }

    /// Who is on record for a field in another API version, where it has another path or is a part of
    /// what stays.
    fn in_the_end(&self, former: &Owners, field: &Patched) -> Vec<Manager> {
        let version = self.gvk.api_version();
        let division = Division::told_by([former]).with_losses(former, &version);
        let mut waiting = division.holders(former, &field.path, field.extent);
        waiting.retain(|it| it.api_version != version);
        match waiting.is_empty() {
            true => self.in_other_words(former, field),
            false => waiting,
        }
    }

    /// What goes back in other words, where there is more of it than fields were told to.
    fn untold(
        &self,
        entry: &Ownership,
        told: &[(FieldPath, Prospect)],
    ) -> Vec<(FieldPath, Prospect)> {
        let is_told = |(path, prospect): &&(FieldPath, Prospect)| {
            matches!(prospect, Prospect::Stays { returns_to, .. } if returns_to.contains(&entry.manager))
                && !self.words(|words| words.are_theirs(&entry.manager, path))
        };
        let other = self.other_words(entry);
        if other.len() <= told.iter().filter(is_told).count() {
            return vec![];
        }
        let elsewhere = |path| (path, Prospect::Elsewhere { returns_to: entry.manager.clone() });
        other.into_iter().map(elsewhere).collect()
    }

    /// The fields of an entry that have another path in our version.
    fn other_words(&self, entry: &Ownership) -> Vec<FieldPath> {
        let leaves = entry.fields.leaves().into_iter();
        leaves.filter(|path| !self.words(|words| words.are_ours(&entry.manager, path))).collect()
    }

    fn words<T>(&self, ask: impl FnOnce(Words<'_>) -> T) -> T {
        let readings = Readings { ours: self.live, theirs: self.elsewhere };
        ask(Words { version: &self.gvk.api_version(), readings })
    }
}

/// Wholes that go back though all that was patched in them is absent.
fn around_the_absent(
    returned: &Owners,
    told: &[(FieldPath, Prospect)],
) -> impl Iterator<Item = (FieldPath, Prospect)> {
    let mut wholes = BTreeMap::<_, Vec<Manager>>::new();
    for Ownership { manager, fields } in &returned.0 {
        for whole in fields.leaves() {
            let mut parts = told.iter().filter(|(path, _)| path.starts_with(&whole));
            let is_untold = |(path, prospect): &(FieldPath, Prospect)| {
                *prospect == Prospect::Absent && *path != whole
            };
            if parts.clone().next().is_some() && parts.all(is_untold) {
                wholes.entry(whole).or_default().push(manager.clone());
            }
        }
    }
    wholes
        .into_iter()
        .map(|(whole, returns_to)| (whole, Prospect::Stays { returns_to, stays_with: vec![] }))
}

/// Who gets back a whole that the field came to be a part of: it was a single value before.
fn as_a_part(returned: &Owners, field: &Patched) -> Vec<Manager> {
    let mut holders = Division::told_by([returned]).holders(returned, &field.path, field.extent);
    holders.retain(|holder| field.recorded.iter().any(|it| it.is(holder)));
    holders
}
