//! Mappings: keys become text as `sigs.k8s.io/yaml` makes them, and `<<` merges other mappings in.
//!
//! Go lets the later of two equal keys win, whether it was written or merged. Where that silently
//! drops something a person wrote, it is an error here; where the YAML merge rules and Go agree (a
//! written key overrides an earlier `<<`, and the first of a list of mappings wins) it is done.

use serde_json::Value;

use super::document::{Mark, Position, Spot};
use super::error::{KeyKind, YamlError, YamlErrorKind};
use super::resolve::{Resolved, Resolver};
use super::scalar::{self, Meaning};
use super::tree::{Body, Node, Scalar, Style, Tag};

struct Entry {
    key: String,
    value: Value,
    mark: Mark,
    origin: Origin,
}

#[derive(Clone, Copy)]
enum Origin {
    Written,
    /// By the `<<` at this place.
    Merged(Spot),
}

impl Resolver<'_, '_> {
    pub(super) fn mapping(&mut self, index: u32) -> Result<Resolved, YamlError> {
        let entries = self.entries(index)?;
        let children = self.place(entries.iter().map(|entry| entry.mark));
        let map = entries.into_iter().map(|entry| (entry.key, entry.value)).collect();
        Ok(Resolved { value: Value::Object(map), children })
    }

    /// The entries of a mapping, merges done, sorted by key.
    fn entries(&mut self, index: u32) -> Result<Vec<Entry>, YamlError> {
        let nodes = self.nodes;
        let mut entries = Vec::new();
        let end = nodes[index as usize].end;
        let mut key = index + 1;
        while key < end {
            let Node { spot, end: value, .. } = nodes[key as usize];
            if is_merge(&nodes[key as usize]) {
                self.merge(value, spot, &mut entries)?;
            } else {
                let text = self.key(key, spot)?;
                let Resolved { value, children } = self.node(value)?;
                let mark = Mark { spot, children };
                entries.push(Entry { key: text, value, mark, origin: Origin::Written });
            }
            key = nodes[value as usize].end;
        }
        settle(entries)
    }

    fn key(&mut self, index: u32, spot: Spot) -> Result<String, YamlError> {
        let nodes = self.nodes;
        let node = &nodes[index as usize];
        self.budget.node(node.spot)?;
        let refused = |found| Err(YamlErrorKind::NonStringKey { found }.at(spot));
        match &node.body {
            Body::Alias { target } => self.aliased(|this| this.key(*target, spot)),
            Body::Sequence => refused(KeyKind::Sequence),
            Body::Mapping => refused(KeyKind::Mapping),
            Body::Scalar(scalar) => match self.meaning(scalar, spot)? {
                Meaning::Null => refused(KeyKind::Null),
                Meaning::Huge(_) => refused(KeyKind::HugeInteger),
                Meaning::Bool(truth) => {
                    let key = if truth { "true" } else { "false" };
                    self.note_boolean_key(scalar, key, spot);
                    Ok(key.to_owned())
                }
                Meaning::Int(whole) => Ok(whole.to_string()),
                Meaning::Float(float) => Ok(scalar::float_to_key(float)),
                Meaning::Text(text) => Ok(text.into_owned()),
            },
        }
    }

    /// What an alias repeats was noted where it was written.
    fn note_boolean_key(&mut self, scalar: &Scalar<'_>, key: &str, spot: Spot) {
        let plain = scalar.style == Style::Plain && scalar.tag == Tag::Absent;
        if plain && scalar.text != key && !self.budget.in_alias() {
            self.boolean_keys.push((scalar.text.clone().into_owned(), spot.into()));
        }
    }

    fn merge(
        &mut self,
        source: u32,
        spot: Spot,
        entries: &mut Vec<Entry>,
    ) -> Result<(), YamlError> {
        let nodes = self.nodes;
        let node = &nodes[source as usize];
        if !matches!(node.body, Body::Sequence) {
            let merged = self.merged_mapping(source)?;
            entries.extend(merged.into_iter().map(|entry| entry.merged_by(spot)));
            return Ok(());
        }
        let mut item = source + 1;
        while item < node.end {
            let merged = self.merged_mapping(item)?;
            entries.extend(merged.into_iter().map(|entry| entry.merged_by(spot)));
            item = nodes[item as usize].end;
        }
        Ok(())
    }

    fn merged_mapping(&mut self, index: u32) -> Result<Vec<Entry>, YamlError> {
        let nodes = self.nodes;
        let node = &nodes[index as usize];
        match node.body {
            Body::Mapping => {
                self.budget.node(node.spot)?;
                self.nested(node.spot, |this| this.entries(index))
            }
            Body::Alias { target } if matches!(nodes[target as usize].body, Body::Mapping) => {
                self.budget.node(node.spot)?;
                self.aliased(|this| this.merged_mapping(target))
            }
            _ => Err(YamlErrorKind::MergeWithoutMapping.at(node.spot)),
        }
    }
}

impl Entry {
    fn merged_by(self, spot: Spot) -> Self {
        Self { origin: Origin::Merged(spot), ..self }
    }
}

fn is_merge(node: &Node<'_>) -> bool {
    let Body::Scalar(scalar) = &node.body else {
        return false;
    };
    scalar.text == "<<"
        && match scalar.tag {
            Tag::Absent => scalar.style == Style::Plain,
            Tag::NonSpecific | Tag::Merge => true,
            _ => false,
        }
}

/// Sorts by key and leaves one entry a key, or says which key is in the way first.
fn settle(mut entries: Vec<Entry>) -> Result<Vec<Entry>, YamlError> {
    entries.sort_by(|a, b| a.key.cmp(&b.key));
    let mut settled: Vec<Entry> = Vec::with_capacity(entries.len());
    let mut problem: Option<YamlError> = None;
    for entry in entries {
        match settled.last_mut().filter(|last| last.key == entry.key) {
            None => settled.push(entry),
            Some(last) => match clash(last, &entry) {
                Ok(Winner::Earlier) => {}
                Ok(Winner::Later) => *last = entry,
                Err(error) => {
                    if problem.as_ref().is_none_or(|known| error.position < known.position) {
                        problem = Some(error);
                    }
                }
            },
        }
    }
    problem.map_or(Ok(settled), Err)
}

enum Winner {
    Earlier,
    Later,
}

fn clash(earlier: &Entry, later: &Entry) -> Result<Winner, YamlError> {
    let key = || later.key.clone();
    let first = Position::from(earlier.mark.spot);
    match (earlier.origin, later.origin) {
        (Origin::Written, Origin::Written) => {
            Err(YamlErrorKind::DuplicateKey { key: key(), first }.at(later.mark.spot))
        }
        (Origin::Merged(_), Origin::Written) => Ok(Winner::Later),
        (Origin::Merged(one), Origin::Merged(other)) if one == other => Ok(Winner::Earlier),
        (Origin::Written, Origin::Merged(spot)) => {
            Err(YamlErrorKind::MergedKeyConflict { key: key(), first }.at(spot))
        }
        (Origin::Merged(first), Origin::Merged(spot)) => {
            let first = Position::from(first);
            Err(YamlErrorKind::MergedKeyConflict { key: key(), first }.at(spot))
        }
    }
}
