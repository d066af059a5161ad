//! What a patch comes to: the fields that it names, as the server holds them.
//!
//! The fields come from the patch itself and not from `managedFields`: a merge patch or an operation
//! that writes an equal value gains no ownership, and one that removes leaves no trace. Only of a
//! partial object, which is applied, the server tells all.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::mark::{Footprint, Mark};
use super::place::Shape;
use super::script::Script;
use super::{Form, Patch};
use crate::field::fields_v1::FieldsV1Error;
use crate::field::walk::at;
use crate::field::{FieldPath, FieldSet, PathElement};
use crate::handback::Division;
use crate::identity::without_marks;
use crate::owners::Owners;
use crate::projection::{Leaf, Projection, View, is_empty_map, project};
use crate::secrecy::Secrecy;
use crate::zero::is_zero;

/// An object after a write, or a dry-run of it, and the manager that wrote.
#[derive(Clone, Copy, Debug)]
pub struct Written<'a> {
    pub object: &'a Value,
    pub manager: &'a str,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Outcome {
    pub leaves: Projection,
    /// What each operation touched; empty for the other forms.
    pub footprints: Vec<Footprint>,
    /// What whoever wrote holds after it, and nobody has a part of.
    pub wholes: FieldSet,
}

impl Patch {
    /// Reads the answer to a write.
    pub fn outcome(
        &self,
        written: Written<'_>,
        script: &Script,
        shape: &Shape,
    ) -> Result<Outcome, FieldsV1Error> {
        let owners = Owners::of_object(written.object)?;
        let footprints = script.footprints(written.object, &shape.and(&owners));
        let ours = without_marks(owners.applied_by(written.manager));
        let leaves = leaves_now(self, &ours, &footprints, written)?;
        let writers = owners.0.iter().filter(|entry| entry.manager.name == written.manager);
        let division = Division::told_by([&owners]);
        let wholes = writers
            .flat_map(|entry| entry.fields.leaves())
            .filter(|path| division.is_whole(path))
            .collect();
        Ok(Outcome { leaves, footprints, wholes })
    }
}

/// The fields of a patch on an object, whether it was written just now or long ago. `ours` is what
/// our entry held right after the write, of which others may have taken since.
pub fn leaves_now(
    patch: &Patch,
    ours: &FieldSet,
    footprints: &[Footprint],
    Written { object, manager }: Written<'_>,
) -> Result<Projection, FieldsV1Error> {
    let secrecy = &patch.secrecy;
    let mut leaves = BTreeMap::new();
    match &patch.form {
        Form::Apply(manifest) => {
            let mut leaves = project(View {
                ours,
                object,
                owners: &Owners::of_object(object)?,
                manager,
                written: &manifest.as_applied(),
                secrecy,
            });
            patch.add_stored_nulls(ours, object, &mut leaves);
            return Ok(leaves);
        }
        Form::Merge(value) => {
            expand(value, &mut FieldPath::default(), object, secrecy, &mut leaves);
        }
        Form::Json(_) => {
            for footprint in footprints {
                touched(footprint, object, secrecy, &mut leaves);
            }
        }
    }
    Ok(Projection(leaves))
}

fn touched(
    footprint: &Footprint,
    object: &Value,
    secrecy: &Secrecy,
    leaves: &mut BTreeMap<FieldPath, Leaf>,
) {
    for mark in &footprint.marks {
        let (path, value) = match mark {
            Mark::Absent(path) => (path, None),
            Mark::Set(path) | Mark::Item(path) => (path, footprint.operation.value()),
        };
        match (value, path.elements().last()) {
            // An item without a key is itself and nothing else.
            (None, _) | (_, Some(PathElement::Value(_))) => {
                leaves.insert(path.clone(), leaf(path, None, object, secrecy));
            }
            (Some(value), _) => expand(value, &mut path.clone(), object, secrecy, leaves),
        }
    }
}

/// Every leaf of a value that was written at a path. Lists are replaced as a whole, so they are
/// leaves; a field that names its item is told by the path.
fn expand(
    written: &Value,
    path: &mut FieldPath,
    object: &Value,
    secrecy: &Secrecy,
    leaves: &mut BTreeMap<FieldPath, Leaf>,
) {
    match written {
        Value::Object(map) if !map.is_empty() => {
            let nameless: Vec<_> = map.iter().filter(|(name, _)| !is_key(path, name)).collect();
            // Of zeros the server may leave nothing that would tell that the item is there.
            let is_told = nameless.iter().any(|(_, below)| !is_zero(below));
            let fields = if is_told { nameless } else { map.iter().collect() };
            for (name, below) in fields {
                path.push(PathElement::field(name.clone()));
                expand(below, path, object, secrecy, leaves);
                path.pop();
            }
        }
        other => {
            leaves.insert(path.clone(), leaf(path, Some(other), object, secrecy));
        }
    }
}

fn is_key(path: &FieldPath, name: &str) -> bool {
    matches!(path.elements().last(), Some(PathElement::Key(keys)) if keys.contains_key(name))
}

/// One leaf of an object. Of a map that was written empty, only that it is there.
pub(super) fn leaf(
    path: &FieldPath,
    written: Option<&Value>,
    object: &Value,
    secrecy: &Secrecy,
) -> Leaf {
    let Some(found) = at(object, path) else {
        return Leaf::Absent;
    };
    let shown = match written {
        Some(written) if is_empty_map(written) && found.is_object() => Value::Object(Map::new()),
        _ => found.clone(),
    };
    match secrecy.conceals_within(path, &shown, object) {
        true => Leaf::Concealed(shown),
        false => Leaf::Shown(shown),
    }
}
