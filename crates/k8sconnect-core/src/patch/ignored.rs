//! What the server does not take: a field that it keeps as it was, whatever a patch says of it.
//!
//! Some fields are written by the server alone, or through a subresource; a write to them is
//! accepted and comes to nothing. It is told apart from a value that only has another spelling, and
//! from one that somebody changes on the way: what was not taken stands as it stood before.

use std::collections::BTreeMap;

use serde_json::Value;

use super::mark::Mark;
use super::outcome::{Outcome, leaf};
use super::{Form, Patch};
use crate::field::atom::same;
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
            let taken = wanted.as_ref().map_or(stays.is_null(), |wanted| means(stays, wanted));
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
                            // What it brings from elsewhere is another one's value.
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

/// Whether a value of the server's means what was written, and maybe more: it fills in defaults,
/// and spells quantities in its own way.
fn means(value: &Value, written: &Value) -> bool {
    match (value, written) {
        (Value::Object(value), Value::Object(written)) => written.iter().all(|(name, written)| {
            value.get(name).map_or(written.is_null(), |value| means(value, written))
        }),
        (Value::Array(value), Value::Array(written)) => {
            value.len() == written.len() && value.iter().zip(written).all(|(a, b)| means(a, b))
        }
        (value, written) => {
            let amounts = amount(value).zip(amount(written));
            same(value, written) || amounts.is_some_and(|(a, b)| (a - b).abs() <= a.abs() * 1e-9)
        }
    }
}

/// A number, or a quantity such as `500m` and `1Gi`, as one number.
fn amount(value: &Value) -> Option<f64> {
    let text = match value {
        Value::Number(number) => number.to_string(),
        Value::String(text) => text.trim().to_owned(),
        _ => return None,
    };
    let units = [
        ("Ki", 1024_f64),
        ("Mi", 1024_f64.powi(2)),
        ("Gi", 1024_f64.powi(3)),
        ("Ti", 1024_f64.powi(4)),
        ("Pi", 1024_f64.powi(5)),
        ("Ei", 1024_f64.powi(6)),
        ("n", 1e-9),
        ("u", 1e-6),
        ("m", 1e-3),
        ("k", 1e3),
        ("M", 1e6),
        ("G", 1e9),
        ("T", 1e12),
        ("P", 1e15),
        ("E", 1e18),
    ];
    let unit = units.iter().find_map(|(unit, factor)| Some((text.strip_suffix(unit)?, *factor)));
    let (digits, factor) = unit.unwrap_or((&text, 1.0));
    let is_number = digits.starts_with(|c: char| c.is_ascii_digit() || "+-.".contains(c));
    is_number.then(|| digits.parse::<f64>().ok())?.map(|number| number * factor)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_only_has_another_spelling_means_the_same() {
        for (server, written) in [
            (json!("1"), json!("1000m")),
            (json!("1"), json!(1)),
            (json!("1Gi"), json!("1024Mi")),
            (json!("1500m"), json!("1.5")),
            (json!({"a": 1, "default": true}), json!({"a": 1.0})),
            (json!(["a"]), json!(["a"])),
        ] {
            assert!(means(&server, &written), "{server} {written}");
        }
        for (server, written) in [
            (json!("1"), json!("2")),
            (json!("1G"), json!("1Gi")),
            (json!("m"), json!("k")),
            (json!(["kubernetes"]), json!(["a.b/c"])),
            (json!({}), json!({"a": 1})),
            (json!(""), json!("0")),
        ] {
            assert!(!means(&server, &written), "{server} {written}");
        }
    }
}
