//! A set of fields, as one manager owns it.
//!
//! A tree: each node says whether the field itself is a member, and which children it has. A node
//! without children is a leaf and always a member (the root excepted). Every operation keeps this
//! so: nothing empty is left hanging in the tree, so two equal sets are equal as trees.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::path::{FieldPath, PathElement};

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FieldSet {
    pub(super) member: bool,
    pub(super) children: Children,
}

/// What is below a node. Copies share it until one of them is changed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Children(Option<Arc<BTreeMap<PathElement, FieldSet>>>);

impl Children {
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_none()
    }

    pub(super) fn len(&self) -> usize {
        self.0.as_ref().map_or(0, |children| children.len())
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (&PathElement, &FieldSet)> {
        self.0.iter().flat_map(|children| children.iter())
    }

    pub(super) fn keys(&self) -> impl Iterator<Item = &PathElement> {
        self.iter().map(|(element, _)| element)
    }

    fn get(&self, element: &PathElement) -> Option<&FieldSet> {
        self.0.as_ref()?.get(element)
    }

    /// To put something in.
    fn edit(&mut self) -> &mut BTreeMap<PathElement, FieldSet> {
        Arc::make_mut(self.0.get_or_insert_default())
    }

    /// Takes something out, or out of what is there.
    fn reduce(&mut self, element: &PathElement, then: impl FnOnce(&mut FieldSet)) {
        if self.get(element).is_none() {
            return;
        }
        let children = self.edit();
        if let Some(child) = children.get_mut(element) {
            then(child);
            if child.is_empty() {
                children.remove(element);
            }
        }
        if children.is_empty() {
            self.0 = None;
        }
    }
}

impl From<BTreeMap<PathElement, FieldSet>> for Children {
    fn from(children: BTreeMap<PathElement, FieldSet>) -> Self {
        Self((!children.is_empty()).then(|| Arc::new(children)))
    }
}

impl FieldSet {
    pub fn is_empty(&self) -> bool {
        !self.member && self.children.is_empty()
    }

    /// Whether the field this node stands for is itself owned, apart from what is below.
    pub fn is_member(&self) -> bool {
        self.member
    }

    pub fn is_leaf(&self) -> bool {
        self.member && self.children.is_empty()
    }

    pub fn children(&self) -> impl Iterator<Item = (&PathElement, &FieldSet)> {
        self.children.iter()
    }

    pub fn child(&self, element: &PathElement) -> Option<&FieldSet> {
        self.children.get(element)
    }

    /// The part of the set at and below a path.
    pub fn below(&self, path: &FieldPath) -> Option<&FieldSet> {
        path.elements().iter().try_fold(self, |node, element| node.child(element))
    }

    pub fn contains(&self, path: &FieldPath) -> bool {
        self.below(path).is_some_and(|node| node.member)
    }

    pub fn insert(&mut self, path: &FieldPath) {
        let mut node = self;
        for element in path.elements() {
            node = node.children.edit().entry(element.clone()).or_default();
        }
        node.member = true;
    }

    /// Takes out a field and everything below it.
    pub fn remove_tree(&mut self, path: &FieldPath) {
        fn remove(node: &mut FieldSet, elements: &[PathElement]) {
            let Some((first, rest)) = elements.split_first() else {
                return;
            };
            node.children.reduce(first, |child| match rest {
                [] => *child = FieldSet::default(),
                rest => remove(child, rest),
            });
        }
        remove(self, path.elements());
    }

    /// Every member, in order.
    pub fn members(&self) -> Vec<FieldPath> {
        fn collect(node: &FieldSet, at: &mut FieldPath, into: &mut Vec<FieldPath>) {
            if node.member {
                into.push(at.clone());
            }
            for (element, child) in node.children.iter() {
                at.push(element.clone());
                collect(child, at, into);
                at.pop();
            }
        }
        let mut members = Vec::new();
        collect(self, &mut FieldPath::default(), &mut members);
        members
    }

    /// The members below which the set has nothing, in order.
    pub fn leaves(&self) -> Vec<FieldPath> {
        let mut members = self.members();
        members.retain(|path| self.below(path).is_some_and(FieldSet::is_leaf));
        members
    }

    #[must_use]
    pub fn union(&self, other: &FieldSet) -> FieldSet {
        let mut children = self.children.clone();
        for (element, theirs) in other.children.iter() {
            children
                .edit()
                .entry(element.clone())
                .and_modify(|ours| *ours = ours.union(theirs))
                .or_insert_with(|| theirs.clone());
        }
        FieldSet { member: self.member || other.member, children }
    }

    /// The members that the other set lacks.
    #[must_use]
    pub fn difference(&self, other: &FieldSet) -> FieldSet {
        self.combine(other, |ours, theirs| ours && !theirs)
    }

    /// The members that both have.
    #[must_use]
    pub fn intersection(&self, other: &FieldSet) -> FieldSet {
        self.combine(other, |ours, theirs| ours && theirs)
    }

    fn combine(&self, other: &FieldSet, keep: impl Fn(bool, bool) -> bool + Copy) -> FieldSet {
        let nothing = FieldSet::default();
        let children: BTreeMap<_, _> = self
            .children
            .iter()
            .map(|(element, ours)| {
                let theirs = other.child(element).unwrap_or(&nothing);
                (element.clone(), ours.combine(theirs, keep))
            })
            .filter(|(_, child)| !child.is_empty())
            .collect();
        FieldSet { member: keep(self.member, other.member), children: children.into() }
    }
}

impl FromIterator<FieldPath> for FieldSet {
    fn from_iter<I: IntoIterator<Item = FieldPath>>(paths: I) -> Self {
        let mut set = FieldSet::default();
        for path in paths {
            set.insert(&path);
        }
        set
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use proptest::prelude::*;

    use super::super::path::tests::any_path;
    use super::*;

    pub(crate) fn any_set() -> impl Strategy<Value = FieldSet> {
        proptest::collection::vec(any_path(), 0..12)
            .prop_map(|paths| paths.into_iter().collect::<FieldSet>())
    }

    fn nothing_hangs_empty(set: &FieldSet) -> bool {
        set.children().all(|(_, child)| !child.is_empty() && nothing_hangs_empty(child))
    }

    proptest! {
        #[test]
        fn holds_just_what_was_put_in(set in any_set(), path in any_path()) {
            let members = set.members();
            prop_assert_eq!(members.contains(&path), set.contains(&path));
            prop_assert_eq!(members.into_iter().collect::<FieldSet>(), set);
        }

        #[test]
        fn union_is_commutative_and_holds_both(a in any_set(), b in any_set()) {
            let both = a.union(&b);
            prop_assert_eq!(&both, &b.union(&a));
            prop_assert!(both.members().iter().all(|p| a.contains(p) || b.contains(p)));
            prop_assert!(a.difference(&both).is_empty() && b.difference(&both).is_empty());
        }

        #[test]
        fn difference_and_intersection_part_the_set(a in any_set(), b in any_set()) {
            let only = a.difference(&b);
            let shared = a.intersection(&b);
            prop_assert_eq!(only.union(&shared), a);
            prop_assert!(only.intersection(&shared).is_empty());
            prop_assert!(nothing_hangs_empty(&only) && nothing_hangs_empty(&shared));
        }

        #[test]
        fn a_removed_tree_is_gone_whole(set in any_set(), path in any_path()) {
            let mut rest = set.clone();
            rest.remove_tree(&path);
            prop_assert!(rest.members().iter().all(|p| !p.starts_with(&path)));
            prop_assert!(nothing_hangs_empty(&rest));
            prop_assert!(rest.difference(&set).is_empty());
        }
    }
}
