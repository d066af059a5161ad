//! A document as parsed: its value, and where in the text each part of the value was written.
//!
//! The places are kept beside the value rather than in it, twelve bytes for a node: each node's
//! children lie next to each other in one array, in the order in which the value iterates. To find
//! a place is to walk the value and the array together, so no key is stored twice.

use std::fmt;
use std::ops::Range;

use serde_json::Value;

use super::scalar::{self, Meaning};

/// A place in the text, counted from 1; columns count characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Position {
    pub line: usize,
    pub column: usize,
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}, column {}", self.line, self.column)
    }
}

/// One step from a value to a part of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step<'a> {
    Key(&'a str),
    Index(usize),
}

impl<'a> From<&'a str> for Step<'a> {
    fn from(key: &'a str) -> Self {
        Self::Key(key)
    }
}

impl From<usize> for Step<'_> {
    fn from(index: usize) -> Self {
        Self::Index(index)
    }
}

/// A document of a stream, resolved to JSON, with where things stand in the text.
#[derive(Clone, Debug)]
pub struct Document {
    pub value: Value,
    /// Of the document's first node.
    pub position: Position,
    /// The bytes of the text that are the document's own, comments included and the marks between
    /// documents not. Read alone, they are the same document.
    pub extent: Range<usize>,
    pub(super) root: Mark,
    pub(super) marks: Vec<Mark>,
    pub(super) boolean_keys: Vec<(String, Position)>,
    pub(super) boolean_words: Vec<Position>,
}

impl Document {
    /// Where the key, or the list item, at the end of `path` was written.
    ///
    /// What came in by an alias or a merge key stands where the anchor was defined. The answer
    /// holds for the value as it was parsed, not for what a caller makes of it afterwards.
    #[must_use]
    pub fn position_of(&self, path: &[Step<'_>]) -> Option<Position> {
        let mut value = &self.value;
        let mut mark = self.root;
        for step in path {
            let (rank, child) = match (value, step) {
                (Value::Object(map), Step::Key(key)) => {
                    (map.keys().position(|found| found == key)?, map.get(*key)?)
                }
                (Value::Array(items), Step::Index(index)) => (*index, items.get(*index)?),
                _ => return None,
            };
            mark = *self.marks.get(mark.children as usize + rank)?;
            value = child;
        }
        Some(mark.spot.into())
    }

    /// How a key in this line was written that was read as the boolean `key`, where it does not say
    /// so itself.
    #[must_use]
    pub fn boolean_key(&self, line: usize, key: &str) -> Option<&str> {
        let is_it = |(written, position): &&(String, Position)| {
            let truth = matches!(scalar::plain(written), Meaning::Bool(true));
            position.line == line && key == if truth { "true" } else { "false" }
        };
        self.boolean_keys.iter().find(is_it).map(|(written, _)| written.as_str())
    }

    /// The line of the key at the end of `keys`, or of the nearest thing around it that is there.
    ///
    /// For a message about a key, present or missing: it always has some line to show.
    #[must_use]
    pub fn line_of(&self, keys: &[&str]) -> usize {
        let path: Vec<_> = keys.iter().map(|key| Step::Key(key)).collect();
        (0..=path.len())
            .rev()
            .find_map(|length| self.position_of(&path[..length]))
            .map_or(self.position.line, |position| position.line)
    }
}

/// The plain keys that were read as booleans though they do not say so: `on`, `y`, `Off`.
///
/// `kubectl` turns such a key into `"true"` or `"false"`, which is hardly ever what was meant, so
/// it is worth a warning. Each is given as written, with its place.
#[must_use]
pub fn keys_read_as_booleans(document: &Document) -> Vec<(String, Position)> {
    document.boolean_keys.clone()
}

/// Where plain values stand that were read as booleans though they do not say so: `y`, `no`, `On`.
#[must_use]
pub fn words_read_as_booleans(document: &Document) -> Vec<Position> {
    document.boolean_words.clone()
}

/// A [`Position`] in half the room.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Spot {
    line: u32,
    column: u32,
}

impl From<granit_parser::Marker> for Spot {
    fn from(marker: granit_parser::Marker) -> Self {
        // A text of more than 4 GiB is refused before it is read, so nothing is cut short here.
        let narrow = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
        Self { line: narrow(marker.line()), column: narrow(marker.col().saturating_add(1)) }
    }
}

impl From<Spot> for Position {
    fn from(spot: Spot) -> Self {
        Self { line: spot.line as usize, column: spot.column as usize }
    }
}

/// Where a node was written, and where the marks of its children begin.
#[derive(Clone, Copy, Debug)]
pub(super) struct Mark {
    pub(super) spot: Spot,
    pub(super) children: u32,
}
