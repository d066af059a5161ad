//! What the server does not take: a field that it keeps as it was, whatever a patch says of it.
//!
//! Some fields are written by the server alone, or through a subresource; a write to them is
//! accepted and comes to nothing. It is told apart from a value that only has another spelling, and
//! from one that somebody changes on the way: what was not taken stands as it stood before.

use std::collections::BTreeMap;

use serde_json::Value;

use super::mark::Mark;
use super::meaning::may_come_of;
use super::outcome::{Outcome, leaf};
use super::{Form, Patch};
use crate::atom::same;
use crate::field::walk::{at, at_written};
use crate::field::{FieldPath, PathElement};
use crate::projection::{ABSENT, Leaf};
use crate::text;

/// A field that stays as it is.
#[derive(Clone, Debug, PartialEq)]
pub struct Ignored {
    pub path: FieldPath,
    pub wanted: String,
    pub stays: String,
}

impl Patch {
    /// The fields of which the answer to a write says what was there before, though the patch says
    /// something else.
    pub fn ignored(&self, live: &Value, answer: &Value, outcome: &Outcome) -> Vec<Ignored> {
        let ignored = |(path, wanted): (FieldPath, Option<Value>)| {
            let stays = at(answer, &path)?;
            let taken =
                wanted.as_ref().map_or(stays.is_null(), |wanted| may_come_of(stays, wanted));
            if taken || !at(live, &path).is_some_and(|before| same(before, stays)) {
                return None;
            }
            let shown = |value: &Value| match self.secrecy.conceals_within(&path, value, answer) {
                true => Leaf::Concealed(value.clone()).told(&path, None),
                false => text::shown(value),
            };
            let stays = leaf(&path, None, answer, &self.secrecy).told(&path, None);
            let wanted = wanted.as_ref().map_or(ABSENT.to_owned(), shown);
            Some(Ignored { path, wanted, stays })
        };
        self.wishes(outcome).into_iter().filter_map(ignored).collect()
    }

    /// What the patch says of each field; of one that is to go, nothing.
    pub(super) fn wishes(&self, outcome: &Outcome) -> BTreeMap<FieldPath, Option<Value>> {
        let mut wishes = BTreeMap::new();
        match &self.form {
            Form::Apply(manifest) => {
                let written = manifest.as_applied();
                for path in outcome.leaves.0.keys() {
                    let wanted = at_written(&written, path).cloned();
                    wishes.extend(wanted.map(|wanted| (path.clone(), Some(wanted))));
                }
            }
            Form::Merge(value) => wish(value, &mut FieldPath::default(), &mut wishes),
            Form::Json(_) => {
                for footprint in &outcome.footprints {
                    for mark in &footprint.marks {
                        // What comes later has the last word, of a part as of the whole.
                        wishes.retain(|path, _| !overrides(mark.path(), path));
                        match (mark, footprint.operation.value()) {
                            (Mark::Absent(path), _) => {
                                wishes.insert(path.clone(), None);
                            }
                            (Mark::Set(path), Some(value)) => {
                                wish(value, &mut path.clone(), &mut wishes);
                            }
                            (Mark::Item(path), Some(value)) if is_keyed(path) => {
                                wish(value, &mut path.clone(), &mut wishes);
                            }
                            // What it brings from elsewhere is another one's value, and an item
                            // without a key is known by its value.
                            (Mark::Set(_) | Mark::Item(_), _) => {}
                        }
                    }
                }
            }
        }
        wishes
    }
}

/// What a value says of each field. An empty map says no more than that there is one.
fn wish(value: &Value, path: &mut FieldPath, wishes: &mut BTreeMap<FieldPath, Option<Value>>) {
    match value {
        Value::Object(map) => {
            for (name, below) in map {
                path.push(PathElement::field(name.clone()));
                wish(below, path, wishes);
                path.pop();
            }
        }
        Value::Null => {
            wishes.insert(path.clone(), None);
        }
        other => {
            wishes.insert(path.clone(), Some(other.clone()));
        }
    }
}

fn is_keyed(item: &FieldPath) -> bool {
    matches!(item.elements().last(), Some(PathElement::Key(_)))
}

/// Whether what an operation did at one place leaves nothing to be said of what an earlier one wished
/// at another: it is the same, a part of it or the whole around it, or an item was put in or taken out
/// before one that is only counted.
fn overrides(later: &FieldPath, earlier: &FieldPath) -> bool {
    let counted = || match later.elements() {
        [list @ .., PathElement::Key(_) | PathElement::Value(_) | PathElement::Index(_)] => earlier
            .elements()
            .strip_prefix(list)
            .is_some_and(|below| matches!(below.first(), Some(PathElement::Index(_)))),
        _ => false,
    };
    earlier.starts_with(later) || later.starts_with(earlier) || counted()
}
