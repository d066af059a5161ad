//! Who held the fields of a patch before it took them.

use std::collections::BTreeSet;

use serde_json::Value;

use super::displaced::in_the_way;
use super::judge::{Verdict, without_ours};
use super::outcome::Written;
use crate::field::FieldPath;
use crate::field::fields_v1::FieldsV1Error;
use crate::field::walk::at;
use crate::handback::{Division, Extent};
use crate::identity::Gvk;
use crate::owners::{Manager, Owners};
use crate::projection::Projection;

/// A patch that was written.
#[derive(Clone, Copy, Debug)]
pub struct Taking<'a> {
    pub before: &'a Value,
    pub after: Written<'a>,
    /// What others lost by it.
    pub lost: &'a Owners,
    /// What the object is, in the version in which it was patched.
    pub gvk: &'a Gvk,
}

impl Taking<'_> {
    /// Who held each of these leaves.
    pub fn held_before(
        &self,
        leaves: &Projection,
    ) -> Result<Vec<(FieldPath, Vec<Manager>)>, FieldsV1Error> {
        let mut owners = without_ours(&Owners::of_object(self.before)?, self.after.manager);
        if self.gvk.is_secret() {
            owners = owners.with_string_data_as_data();
        }
        let version = self.gvk.api_version();
        let division = Division::told_by([&owners, &Owners::of_object(self.after.object)?])
            .with_losses(self.lost, &version);
        // Where nobody held a part of a map that was there, whoever held the map held all of it.
        let alone = Division::told_by([&Owners::of_object(self.before)?]);
        let held = leaves.0.iter().map(|(path, leaf)| {
            let mut holders = match in_the_way(self.before, path) {
                Some(place) => division.holders(&owners, &place, Extent::Whole),
                None => division.holders(&owners, path, Extent::of(leaf)),
            };
            if holders.is_empty() && at(self.before, path).is_some() {
                holders = alone.holders(&owners, path, Extent::of(leaf));
            }
            (path.clone(), holders)
        });
        Ok(held.collect())
    }
}

impl Verdict {
    /// The same once patches that hold these fields now are gone: what they hand back is taken from
    /// who gets it. Where the value stays, nothing is taken.
    pub fn once_gone(&mut self, gone: &[Manager], returned: &Owners, gvk: &Gvk) {
        let is_gone = |holder: &Manager| gone.iter().any(|it| it == holder);
        self.contested.retain(|(holder, _)| !is_gone(holder));
        let version = gvk.api_version();
        let division = Division::told_by([returned]).with_losses(returned, &version);
        for change in &mut self.changes {
            if !change.owners.iter().any(is_gone) {
                continue;
            }
            let stay = change.owners.iter().filter(|it| !is_gone(it)).cloned();
            let mut owners: BTreeSet<_> = stay.collect();
            if change.changes_value() {
                owners.extend(division.holders(returned, &change.path, Extent::Whole));
            }
            change.owners = owners.into_iter().collect();
        }
        self.changes.retain(|change| !change.owners.is_empty() || change.changes_value());
    }
}
