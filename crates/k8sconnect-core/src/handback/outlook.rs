//! What will become of each patched field when it is handed back, for a plan to say.
//!
//! Nothing here is remembered or guessed: the hand-back is worked out on the object as it is, by the
//! function that does it, and what comes out is told field by field.

use serde_json::Value;

use super::holding::{Division, Extent};
use super::{Leaving, hand_back};
use crate::field::FieldPath;
use crate::field::fields_v1::FieldsV1Error;
use crate::field::walk::at;
use crate::identity::Gvk;
use crate::owners::{Manager, Owners};

/// A hand-back that is to be told of.
#[derive(Clone, Copy, Debug)]
pub struct Outlook<'a> {
    pub live: &'a Value,
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
    /// It stays as it is: with those who get it back and those who hold it besides us and go on
    /// doing so. With nobody where there are neither.
    Stays { returns_to: Vec<Manager>, stays_with: Vec<Manager> },
}

impl Outlook<'_> {
    pub fn of(&self, fields: &[Patched]) -> Result<Vec<(FieldPath, Prospect)>, FieldsV1Error> {
        let now = Owners::of_object(self.live)?;
        let back = hand_back(&now, self.manager, self.former, self.leaving);
        let (mut after, returned) = match back {
            Some(back) => (back.owners, back.returned),
            None => (now.clone(), Owners::default()),
        };
        after.0.retain(|entry| entry.manager.name != self.manager);
        if self.gvk.is_secret() {
            after = after.with_string_data_as_data();
        }
        let division = Division::told_by([&now, &after, &returned]);
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
            stays_with.retain(|holder| !returns_to.iter().any(|it| it.is(holder)));
            Prospect::Stays { returns_to, stays_with }
        };
        Ok(fields.iter().map(|field| (field.path.clone(), prospect(field))).collect())
    }

    /// Who gets a field back in another API version, where it has another path.
    fn in_other_words(&self, returned: &Owners, field: &Patched) -> Vec<Manager> {
        let version = self.gvk.api_version();
        let others = returned.0.iter().map(|entry| &entry.manager);
        others
            .filter(|it| it.api_version != version && field.recorded.iter().any(|r| r.is(it)))
            .cloned()
            .collect()
    }
}

/// Who gets back a whole that the field came to be a part of: it was a single value before.
fn as_a_part(returned: &Owners, field: &Patched) -> Vec<Manager> {
    let mut holders = Division::told_by([returned]).holders(returned, &field.path, field.extent);
    holders.retain(|holder| field.recorded.iter().any(|it| it.is(holder)));
    holders
}
