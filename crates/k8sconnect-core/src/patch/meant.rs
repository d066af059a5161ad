//! Which fields a patch means, whoever holds them.
//!
//! A merge patch or an operation that writes what is there already gains no ownership, and one that
//! removes a field leaves nothing to own: `managedFields` do not tell that the patch will want them
//! so for as long as it stands. So each patch says on the object itself what it means, and two that
//! mean the same field are found by that.

use std::collections::BTreeSet;

use serde_json::Value;

use super::mark::{Footprint, Mark};
use super::outcome::Outcome;
use crate::field::{FieldPath, FieldSet, PathElement};
use crate::handback::Extent;
use crate::owners::{Manager, Owners};
use crate::ownership::FieldChange;
use crate::projection::Projection;

impl Outcome {
    /// The fields that the patch means. Of a map that is written empty, all others may have a part.
    pub fn meant(&self) -> FieldSet {
        whole(&self.leaves).cloned().collect()
    }

    /// The same with all that goes when the patch is made: an operation that sets a map takes the
    /// place of whatever is in it by then.
    pub fn reach(&self) -> FieldSet {
        self.reached().collect()
    }

    /// The list or map that whoever wrote holds as a whole, and that a field is a part of.
    pub fn whole_around(&self, path: &FieldPath) -> Option<FieldPath> {
        whole_around(&self.wholes, path)
    }

    /// A part of what the write holds as a whole stands for the whole.
    fn reached(&self) -> impl Iterator<Item = FieldPath> {
        let own = whole(&self.leaves).chain(self.replaced());
        own.map(|path| self.whole_around(path).unwrap_or_else(|| path.clone()))
    }

    /// The maps that operations set. One that is set empty only has to be there.
    fn replaced(&self) -> impl Iterator<Item = &FieldPath> {
        let sets_map = |footprint: &&Footprint| {
            let value = footprint.operation.value();
            value.and_then(Value::as_object).is_some_and(|map| !map.is_empty())
        };
        let marks = self.footprints.iter().filter(sets_map).flat_map(|it| &it.marks);
        marks.filter_map(|mark| match mark {
            Mark::Set(path) => Some(path),
            Mark::Item(_) | Mark::Absent(_) => None,
        })
    }
}

/// Adds what patches mean to what they hold, where leaves or what goes with them meet it.
pub(super) fn meet(
    contested: &mut Vec<(Manager, Vec<FieldPath>)>,
    meant: &Owners,
    leaves: &Projection,
    gone: &[&FieldChange],
) {
    for theirs in &meant.0 {
        let touched = whole(leaves).chain(gone.iter().map(|field| &field.path));
        let met: Vec<_> = touched.filter(|path| overlaps(&theirs.fields, path)).collect();
        if met.is_empty() {
            continue;
        }
        let known = contested.iter_mut().find(|(holder, _)| holder.name == theirs.manager.name);
        match known {
            Some((_, paths)) => {
                // The whole that they hold stands for its parts.
                let is_told = |path: &&FieldPath| paths.iter().any(|told| path.starts_with(told));
                let more: Vec<_> = met.into_iter().filter(|it| !is_told(it)).cloned().collect();
                let all: BTreeSet<_> = paths.drain(..).chain(more).collect();
                paths.extend(all);
            }
            None => contested.push((theirs.manager.clone(), met.into_iter().cloned().collect())),
        }
    }
}

/// The one of these wholes that a field is a part of: it has one holder, whoever put which part into
/// it. A key names an item of a list that has none.
pub(super) fn whole_around(wholes: &FieldSet, path: &FieldPath) -> Option<FieldPath> {
    let mut node = wholes;
    for (n, element) in path.elements().iter().enumerate() {
        if node.is_leaf() && !matches!(element, PathElement::Key(_)) {
            return Some(FieldPath::new(path.elements()[..n].iter().cloned()));
        }
        node = node.child(element)?;
    }
    None
}

fn whole(leaves: &Projection) -> impl Iterator<Item = &FieldPath> {
    let whole = leaves.0.iter().filter(|(_, leaf)| Extent::of(leaf) == Extent::Whole);
    whole.map(|(path, _)| path).filter(|path| !path.names_its_item())
}

/// The fields in the reach of one patch that are in the reach of another one too.
pub fn common_fields(reach: &FieldSet, other: &FieldSet) -> BTreeSet<FieldPath> {
    reach.members().into_iter().filter(|path| overlaps(other, path)).collect()
}

/// Whether a field is meant, a part of it, or the whole that it is a part of.
fn overlaps(meant: &FieldSet, path: &FieldPath) -> bool {
    let mut node = meant;
    for element in path.elements() {
        match node.child(element) {
            Some(below) => node = below,
            None => return node.is_member(),
        }
        if node.is_leaf() {
            return true;
        }
    }
    true
}
