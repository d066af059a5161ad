//! What the plans of this run make of objects, for whoever waits for one of them.
//!
//! A run may change thousands, and of hardly one is it ever asked: each is kept as small as it can
//! be until then.

use std::borrow::Cow;
use std::collections::BTreeMap;

use k8sconnect_core::identity::ObjectKey;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::deflate::{deflated, inflated};

/// What a plan makes of an object.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) enum Outlook<'a> {
    /// Only the apply will tell.
    Open,
    Told {
        /// As it was last seen, if that is known and is not what the last read of this run found.
        seen: Option<Cow<'a, Value>>,
        /// As the server says that it will be.
        next: Cow<'a, Value>,
    },
}

impl<'a> Outlook<'a> {
    pub(crate) fn told(seen: Option<&'a Value>, next: &'a Value) -> Self {
        Self::Told { seen: seen.map(Cow::Borrowed), next: Cow::Borrowed(next) }
    }
}

/// By object, and by the id of the resource whose plan it is.
#[derive(Default)]
pub(super) struct Outlooks(BTreeMap<(String, ObjectKey), BTreeMap<String, Kept>>);

enum Kept {
    Open,
    Told(Box<[u8]>),
}

impl Outlooks {
    pub(super) fn note(&mut self, place: (String, ObjectKey), id: &str, outlook: &Outlook<'_>) {
        self.0.entry(place).or_default().insert(id.to_owned(), Kept::of(outlook));
    }

    /// Nothing where no plan changes the object.
    pub(super) fn of(&self, place: &(String, ObjectKey)) -> Option<Vec<Outlook<'static>>> {
        Some(self.0.get(place)?.values().map(Kept::outlook).collect())
    }
}

impl Kept {
    fn of(outlook: &Outlook<'_>) -> Self {
        match serde_json::to_vec(outlook) {
            Ok(plain) if *outlook != Outlook::Open => Self::Told(deflated(&plain).into()),
            Ok(_) | Err(_) => Self::Open,
        }
    }

    fn outlook(&self) -> Outlook<'static> {
        let told = match self {
            Self::Open => None,
            Self::Told(packed) => {
                inflated(packed).and_then(|plain| serde_json::from_slice(&plain).ok())
            }
        };
        told.unwrap_or(Outlook::Open)
    }
}

#[cfg(test)]
mod tests {
    use k8sconnect_core::identity::Gvk;
    use serde_json::json;

    use super::*;

    #[test]
    fn an_object_comes_back_as_it_was_told_and_takes_little_room_until_then() {
        let labels: BTreeMap<_, _> = (0..300).map(|n| (format!("label-{n}"), "same")).collect();
        let seen = json!({"metadata": {"labels": labels, "generation": 1}, "spec": {"a": 1.5}});
        let mut next = seen.clone();
        next["spec"]["a"] = json!(18_446_744_073_709_551_615_u64);
        let gvk = Gvk::new("v1", "ConfigMap");
        let place = ("a".to_owned(), ObjectKey { gvk, namespace: None, name: "a".into() });
        let mut outlooks = Outlooks::default();
        assert_eq!(outlooks.of(&place), None);
        let (known, unknown) = (Outlook::told(Some(&seen), &next), Outlook::told(None, &next));
        outlooks.note(place.clone(), "one", &known);
        outlooks.note(place.clone(), "three", &unknown);
        outlooks.note(place.clone(), "two", &Outlook::Open);
        assert_eq!(outlooks.of(&place).unwrap(), [known, unknown, Outlook::Open]);
        let Kept::Told(packed) = &outlooks.0[&place]["one"] else { panic!("it was told") };
        assert!(packed.len() * 5 < seen.to_string().len() * 2, "{}", packed.len());
    }
}
