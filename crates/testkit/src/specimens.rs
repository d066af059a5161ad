//! Manifests as specimens: their leaves, and copies in which one leaf is another. A provider that
//! plans nothing for such a copy has swallowed an edit of its user's.
//!
//! Beside it, how files become documents ([`documents`]) and documents a configuration
//! ([`Exhibition`]).

pub mod documents;
mod exhibition;
mod other;

use std::fmt;

use k8sconnect_core::field::walk::written_index;
use k8sconnect_core::field::{FieldPath, PathElement};
use serde_json::Value;

pub use exhibition::{Exhibit, Exhibition};

/// One step into a manifest, as written.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Step {
    Key(String),
    Index(usize),
}

/// Where a leaf stands in a manifest, as written.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place(pub Vec<Step>);

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (position, step) in self.0.iter().enumerate() {
            match step {
                Step::Index(index) => write!(f, "[{index}]")?,
                Step::Key(key) if key.chars().all(|c| c.is_ascii_alphanumeric()) => {
                    write!(f, "{}{key}", if position > 0 { "." } else { "" })?;
                }
                Step::Key(key) => write!(f, "[{key:?}]")?,
            }
        }
        Ok(())
    }
}

impl Place {
    /// Whether it is one of the fields that say which object is meant.
    pub fn is_identity(&self) -> bool {
        let keys: Vec<&str> = self
            .0
            .iter()
            .map(|step| match step {
                Step::Key(key) => key.as_str(),
                Step::Index(_) => "",
            })
            .collect();
        matches!(keys.as_slice(), ["apiVersion" | "kind"] | ["metadata", "name" | "namespace"])
    }

    pub fn value<'a>(&self, manifest: &'a Value) -> Option<&'a Value> {
        self.0.iter().try_fold(manifest, |value, step| match step {
            Step::Key(key) => value.get(key),
            Step::Index(index) => value.get(index),
        })
    }

    fn value_mut<'a>(&self, manifest: &'a mut Value) -> Option<&'a mut Value> {
        self.0.iter().try_fold(manifest, |value, step| match step {
            Step::Key(key) => value.get_mut(key),
            Step::Index(index) => value.get_mut(index),
        })
    }
}

/// Where a field stands in a manifest, as written; `None` if it does not.
pub fn place_of(manifest: &Value, path: &FieldPath) -> Option<Place> {
    let mut place = Vec::new();
    let mut value = manifest;
    for element in path.elements() {
        let step = match element {
            PathElement::Field(name) => Step::Key(name.to_string()),
            PathElement::Index(index) => Step::Index(*index),
            PathElement::Value(_) | PathElement::Key(_) => {
                Step::Index(written_index(value, element)?)
            }
        };
        value = Place(vec![step.clone()]).value(value)?;
        place.push(step);
    }
    Some(Place(place))
}

/// Every leaf of a manifest: its scalars, nulls and empty collections.
pub fn leaves(manifest: &Value) -> Vec<Place> {
    fn walk(value: &Value, place: &mut Vec<Step>, found: &mut Vec<Place>) {
        match value {
            Value::Object(map) if !map.is_empty() => {
                for (key, value) in map {
                    place.push(Step::Key(key.clone()));
                    walk(value, place, found);
                    place.pop();
                }
            }
            Value::Array(items) if !items.is_empty() => {
                for (index, item) in items.iter().enumerate() {
                    place.push(Step::Index(index));
                    walk(item, place, found);
                    place.pop();
                }
            }
            _ => found.push(Place(place.clone())),
        }
    }
    let mut found = Vec::new();
    walk(manifest, &mut Vec::new(), &mut found);
    found
}

/// Every leaf that holds text, a number or a truth value: those that can be edited.
pub fn scalars(manifest: &Value) -> Vec<Place> {
    let mut places = leaves(manifest);
    places.retain(|place| {
        place.value(manifest).is_some_and(|value| {
            matches!(value, Value::String(_) | Value::Number(_) | Value::Bool(_))
        })
    });
    places
}

/// The manifest with another value of the same type at `place`, one that a user might have
/// written. Nothing else differs.
pub fn edited(manifest: &Value, place: &Place) -> Value {
    let mut copy = manifest.clone();
    let encoded =
        manifest["kind"] == "Secret" && place.0.first() == Some(&Step::Key("data".into()));
    if let Some(value) = place.value_mut(&mut copy) {
        *value = if encoded { other::encoded(value) } else { other::value(value) };
    }
    copy
}

/// The manifest without what stands at `place`. Nothing else differs, save the places of the items
/// behind it.
pub fn without(manifest: &Value, place: &Place) -> Value {
    let mut copy = manifest.clone();
    let Some((last, above)) = place.0.split_last() else {
        return copy;
    };
    match (Place(above.to_vec()).value_mut(&mut copy), last) {
        (Some(Value::Object(map)), Step::Key(key)) => drop(map.remove(key)),
        (Some(Value::Array(items)), Step::Index(index)) if *index < items.len() => {
            items.remove(*index);
        }
        _ => {}
    }
    copy
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn manifest() -> Value {
        json!({"kind": "Pod", "metadata": {"name": "a", "labels": {"app.io/x": "y"}},
               "spec": {"list": [{"n": 1}, true], "empty": {}, "none": [], "null": null}})
    }

    fn shown(places: &[Place]) -> Vec<String> {
        places.iter().map(Place::to_string).collect()
    }

    #[test]
    fn finds_every_leaf() {
        assert_eq!(
            shown(&leaves(&manifest())),
            [
                "kind",
                "metadata.labels[\"app.io/x\"]",
                "metadata.name",
                "spec.empty",
                "spec.list[0].n",
                "spec.list[1]",
                "spec.none",
                "spec.null",
            ]
        );
        assert_eq!(scalars(&manifest()).len(), 5);
        assert_eq!(leaves(&manifest()).iter().filter(|place| place.is_identity()).count(), 2);
    }

    #[test]
    fn edits_one_leaf_and_nothing_else() {
        for place in scalars(&manifest()) {
            let mut copy = edited(&manifest(), &place);
            assert_ne!(copy, manifest(), "{place}");
            *place.value_mut(&mut copy).unwrap() = place.value(&manifest()).unwrap().clone();
            assert_eq!(copy, manifest(), "{place}");
        }
    }

    #[test]
    fn removes_one_leaf() {
        let mut copy = manifest();
        for place in leaves(&manifest()).iter().rev() {
            let next = without(&copy, place);
            assert_ne!(next, copy, "{place}");
            copy = next;
        }
        assert_eq!(copy, json!({"metadata": {"labels": {}}, "spec": {"list": [{}]}}));
    }

    #[test]
    fn a_secret_stays_well_encoded() {
        let secret = json!({"kind": "Secret", "data": {"a": "aGVsbG8="}});
        let copy = edited(&secret, &scalars(&secret)[0]);
        assert_eq!(copy["data"]["a"], "aGVsbG8teA==");
    }
}
