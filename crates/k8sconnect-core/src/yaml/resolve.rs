//! From the nodes of a document to its JSON value: scalars, lists, aliases.
//!
//! Mappings, with their keys and merges, are in [`super::mapping`].

use std::ops::Range;

use serde_json::Value;

use super::NESTING_LIMIT;
use super::budget::{Budget, StreamBudget};
use super::document::{Document, Mark, Position, Spot};
use super::error::{YamlError, YamlErrorKind};
use super::scalar::{self, Meaning};
use super::tree::{Body, Node, Scalar, Style, Tag};

pub(super) fn document(
    nodes: &[Node<'_>],
    extent: Range<usize>,
    stream: &mut StreamBudget,
) -> Result<Document, YamlError> {
    let mut resolver = Resolver {
        nodes,
        budget: Budget::new(stream),
        marks: Vec::with_capacity(nodes.len() / 2),
        boolean_keys: Vec::new(),
        boolean_words: Vec::new(),
        depth: 0,
    };
    let root = resolver.node(0)?;
    let spot = nodes[0].spot;
    resolver.marks.shrink_to_fit();
    Ok(Document {
        value: root.value,
        position: spot.into(),
        extent,
        root: Mark { spot, children: root.children },
        marks: resolver.marks,
        boolean_keys: resolver.boolean_keys,
        boolean_words: resolver.boolean_words,
    })
}

pub(super) struct Resolver<'a, 't> {
    pub(super) nodes: &'a [Node<'t>],
    pub(super) budget: Budget<'a>,
    pub(super) marks: Vec<Mark>,
    pub(super) boolean_keys: Vec<(String, Position)>,
    boolean_words: Vec<Position>,
    depth: usize,
}

/// A value, and where the marks of its children begin.
pub(super) struct Resolved {
    pub(super) value: Value,
    pub(super) children: u32,
}

impl Resolver<'_, '_> {
    pub(super) fn node(&mut self, index: u32) -> Result<Resolved, YamlError> {
        let nodes = self.nodes;
        let node = &nodes[index as usize];
        self.budget.node(node.spot)?;
        match &node.body {
            Body::Scalar(scalar) => {
                let value = self.scalar(scalar, node.spot)?;
                Ok(Resolved { value, children: 0 })
            }
            Body::Sequence => self.nested(node.spot, |this| this.sequence(index)),
            Body::Mapping => self.nested(node.spot, |this| this.mapping(index)),
            Body::Alias { target } => self.aliased(|this| this.node(*target)),
        }
    }

    pub(super) fn aliased<T>(
        &mut self,
        follow: impl FnOnce(&mut Self) -> Result<T, YamlError>,
    ) -> Result<T, YamlError> {
        self.budget.enter_alias();
        let followed = follow(self);
        self.budget.leave_alias();
        followed
    }

    /// The text itself was checked for depth when it was read; an alias may reach deeper.
    pub(super) fn nested<T>(
        &mut self,
        spot: Spot,
        inner: impl FnOnce(&mut Self) -> Result<T, YamlError>,
    ) -> Result<T, YamlError> {
        if self.depth == NESTING_LIMIT {
            return Err(YamlErrorKind::TooDeep.at(spot));
        }
        self.depth += 1;
        let found = inner(self);
        self.depth -= 1;
        found
    }

    /// Lays the marks of one node's children down side by side.
    pub(super) fn place(&mut self, marks: impl IntoIterator<Item = Mark>) -> u32 {
        let start = u32::try_from(self.marks.len()).unwrap_or(u32::MAX);
        self.marks.extend(marks);
        start
    }

    fn sequence(&mut self, index: u32) -> Result<Resolved, YamlError> {
        let mut items = Vec::new();
        let mut marks = Vec::new();
        let end = self.nodes[index as usize].end;
        let mut child = index + 1;
        while child < end {
            let Node { spot, end: after, .. } = self.nodes[child as usize];
            let item = self.node(child)?;
            items.push(item.value);
            marks.push(Mark { spot, children: item.children });
            child = after;
        }
        let children = self.place(marks);
        Ok(Resolved { value: Value::Array(items), children })
    }

    /// What an alias repeats was noted where it was written.
    fn note_boolean_word(&mut self, scalar: &Scalar<'_>, spot: Spot) {
        let plain = scalar.style == Style::Plain && scalar.tag == Tag::Absent;
        let says_so = ["true", "false"].iter().any(|it| scalar.text.eq_ignore_ascii_case(it));
        if plain && !says_so && !self.budget.in_alias() {
            self.boolean_words.push(spot.into());
        }
    }

    fn scalar(&mut self, scalar: &Scalar<'_>, spot: Spot) -> Result<Value, YamlError> {
        Ok(match self.meaning(scalar, spot)? {
            Meaning::Null => Value::Null,
            Meaning::Bool(truth) => {
                self.note_boolean_word(scalar, spot);
                Value::Bool(truth)
            }
            Meaning::Int(whole) => Value::from(whole),
            Meaning::Huge(whole) => Value::from(whole),
            Meaning::Float(float) => {
                scalar::float_to_json(float).ok_or_else(|| YamlErrorKind::NotFinite.at(spot))?
            }
            Meaning::Text(text) => Value::String(text.into_owned()),
        })
    }

    pub(super) fn meaning<'s>(
        &mut self,
        scalar: &'s Scalar<'_>,
        spot: Spot,
    ) -> Result<Meaning<'s>, YamlError> {
        self.budget.text(scalar.text.len(), spot)?;
        scalar::meaning(scalar)
            .map_err(|mismatch| YamlErrorKind::BadTag { tag: mismatch.0 }.at(spot))
    }
}
