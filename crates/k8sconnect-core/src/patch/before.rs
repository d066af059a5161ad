//! Who held the fields of a patch before it took them.

use serde_json::Value;

use super::Written;
use super::judge::without_ours;
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
        let division = Division::told_by([&owners, &Owners::of_object(self.after.object)?]);
        let elsewhere = self.lost_in_other_words(leaves);
        let held = leaves.0.iter().map(|(path, leaf)| {
            let mut holders = division.holders(&owners, path, Extent::of(leaf));
            if holders.is_empty() && at(self.before, path).is_some() {
                holders.clone_from(&elsewhere);
            }
            (path.clone(), holders)
        });
        Ok(held.collect())
    }

    /// Who lost something under a path that it has in another API version only: which of the leaves
    /// that is, nothing tells.
    fn lost_in_other_words(&self, leaves: &Projection) -> Vec<Manager> {
        let version = self.gvk.api_version();
        let lost = self.lost.0.iter().filter(|entry| {
            let unknown = |path: &FieldPath| !leaves.0.contains_key(path);
            entry.manager.api_version != version && entry.fields.leaves().iter().any(unknown)
        });
        lost.map(|entry| entry.manager.clone()).collect()
    }
}
