//! The steps from one value to many of its parts, each found without looking through all the
//! others: a list of ten thousand items is walked in one go, not ten thousand times.

use std::collections::BTreeMap;

use serde_json::Value;

use super::super::path::{KeyFields, PathElement};
use super::super::set::FieldSet;
use super::{step, step_written};
use crate::atom::Atom;

/// So few that looking through them is quicker than an index.
const FEW: usize = 12;

/// A value, made ready for the steps that a set asks for.
pub struct Items<'a> {
    value: &'a Value,
    /// Absent where the value is no list, or a short one.
    index: Option<Index>,
}

/// Places in a list. The first of several items that fit is the one that is meant.
#[derive(Default)]
struct Index {
    /// For each choice of fields that keys name.
    keyed: BTreeMap<Vec<String>, Keyed>,
    members: BTreeMap<Atom, usize>,
}

/// Places by the fields of one choice.
#[derive(Default)]
struct Keyed {
    /// An absent field counts as null.
    whole: BTreeMap<KeyFields, usize>,
    /// By those of the fields that an item has, grouped by which it has.
    partly: BTreeMap<Vec<String>, BTreeMap<KeyFields, usize>>,
}

impl<'a> Items<'a> {
    pub fn new(value: &'a Value, set: &FieldSet) -> Self {
        let long = |items: &&Vec<Value>| items.len() > FEW && set.children.len() > 1;
        let index = value.as_array().filter(long).map(|items| Index::of(items, set));
        Self { value, index }
    }

    /// As [`step`].
    pub fn step(&self, element: &PathElement) -> Option<&'a Value> {
        match &self.index {
            Some(index) => self.value.get(index.exact(element)?),
            None => step(self.value, element),
        }
    }

    /// As [`step_written`].
    pub fn step_written(&self, element: &PathElement) -> Option<&'a Value> {
        match &self.index {
            Some(index) => self.value.get(index.written(element)?),
            None => step_written(self.value, element),
        }
    }

    /// The place of an item in a list that a user wrote.
    pub fn written_index(&self, element: &PathElement) -> Option<usize> {
        match &self.index {
            Some(index) => index.written(element).filter(|at| self.value.get(at).is_some()),
            None => super::written_index(self.value, element),
        }
    }
}

impl Index {
    fn of(items: &[Value], set: &FieldSet) -> Self {
        let mut index = Self::default();
        for element in set.children.keys() {
            if let PathElement::Key(fields) = element
                && !index.keyed.contains_key(&names(fields))
            {
                index.keyed.insert(names(fields), Keyed::of(items, &names(fields)));
            }
        }
        if set.children.keys().any(|element| matches!(element, PathElement::Value(_))) {
            for (place, item) in items.iter().enumerate() {
                index.members.entry(Atom(item.clone())).or_insert(place);
            }
        }
        index
    }

    fn exact(&self, element: &PathElement) -> Option<usize> {
        match element {
            PathElement::Field(_) => None,
            PathElement::Key(fields) if fields.is_empty() => None,
            PathElement::Key(fields) => self.keyed.get(&names(fields))?.whole.get(fields).copied(),
            PathElement::Value(member) => self.members.get(member).copied(),
            PathElement::Index(index) => Some(*index),
        }
    }

    fn written(&self, element: &PathElement) -> Option<usize> {
        let (None, PathElement::Key(fields)) = (self.exact(element), element) else {
            return self.exact(element);
        };
        let groups = &self.keyed.get(&names(fields))?.partly;
        let fitting = groups.iter().filter_map(|(present, group)| {
            let wanted = fields.iter().filter(|(name, _)| present.contains(name));
            let wanted: KeyFields = wanted.map(|(name, key)| (name.clone(), key.clone())).collect();
            group.get(&wanted).copied()
        });
        fitting.min()
    }
}

impl Keyed {
    fn of(items: &[Value], names: &[String]) -> Self {
        let mut keyed = Self::default();
        for (place, item) in items.iter().enumerate() {
            let field = |name: &String| item.get(name).cloned();
            let whole = names
                .iter()
                .map(|name| (name.clone(), Atom(field(name).unwrap_or_default())))
                .collect();
            keyed.whole.entry(whole).or_insert(place);
            let present: KeyFields =
                names.iter().filter_map(|name| Some((name.clone(), Atom(field(name)?)))).collect();
            if !present.is_empty() {
                let group = keyed.partly.entry(present.keys().cloned().collect()).or_default();
                group.entry(present).or_insert(place);
            }
        }
        keyed
    }
}

fn names(fields: &KeyFields) -> Vec<String> {
    fields.keys().cloned().collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn any_item() -> impl Strategy<Value = Value> {
        let port = prop_oneof![Just(json!(null)), (80u16..90).prop_map(|port| json!(port))];
        let protocol = prop_oneof![Just(None), Just(Some("TCP")), Just(Some("UDP"))];
        let keyed = (port, protocol).prop_map(|(port, protocol)| match protocol {
            Some(protocol) => json!({"port": port, "protocol": protocol}),
            None => json!({"port": port}),
        });
        prop_oneof![4 => keyed, 1 => "[ab]".prop_map(Value::String), 1 => Just(json!({}))]
    }

    fn any_element() -> impl Strategy<Value = PathElement> {
        prop_oneof![
            4 => (80u16..90, prop_oneof![Just("TCP"), Just("UDP")]).prop_map(|(port, protocol)| {
                PathElement::key([
                    ("port".to_owned(), Atom(json!(port))),
                    ("protocol".to_owned(), Atom::text(protocol)),
                ].into())
            }),
            2 => (80u16..90).prop_map(|port| {
                PathElement::key([("port".to_owned(), Atom(json!(port)))].into())
            }),
            1 => "[abc]".prop_map(|text| PathElement::Value(Atom::text(text))),
            1 => (0usize..30).prop_map(PathElement::Index),
            1 => Just(PathElement::field("port")),
        ]
    }

    proptest! {
        #[test]
        fn finds_what_looking_through_all_items_finds(
            items in proptest::collection::vec(any_item(), 0..30),
            elements in proptest::collection::vec(any_element(), 2..12),
        ) {
            let list = Value::Array(items);
            let set = elements
                .iter()
                .map(|element| super::super::super::path::FieldPath::new([element.clone()]))
                .collect();
            let found = Items::new(&list, &set);
            for element in &elements {
                prop_assert_eq!(found.step(element), step(&list, element));
                prop_assert_eq!(found.step_written(element), step_written(&list, element));
                prop_assert_eq!(
                    found.written_index(element),
                    super::super::written_index(&list, element)
                );
            }
        }
    }
}
