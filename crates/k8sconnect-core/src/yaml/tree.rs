//! From the parser's events to the nodes of one document at a time.
//!
//! The nodes lie in the order of the text, each knowing where its subtree ends; an alias is the
//! index of its target. Text that needs no unescaping is borrowed from the input. What a scalar
//! means is not decided here.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::Range;

use granit_parser::{Event, Marker, Parser, ScalarStyle, Span, StrInput, StructureStyle};

use super::document::{Position, Spot};
use super::error::{YamlError, YamlErrorKind};
use super::{NESTING_LIMIT, extent, syntax};

pub(super) struct Node<'t> {
    pub(super) spot: Spot,
    /// The index after the last node of this subtree; never 0 in a document that is complete.
    pub(super) end: u32,
    pub(super) body: Body<'t>,
}

pub(super) enum Body<'t> {
    Scalar(Scalar<'t>),
    Sequence,
    Mapping,
    Alias { target: u32 },
}

pub(super) struct Scalar<'t> {
    pub(super) text: Cow<'t, str>,
    pub(super) style: Style,
    pub(super) tag: Tag,
}

/// Only plain scalars are looked at for what they might mean.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Style {
    Plain,
    Quoted,
}

/// The tags that change what a scalar means.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Tag {
    Absent,
    /// A lone `!`.
    NonSpecific,
    Str,
    Bool,
    Int,
    Float,
    Null,
    Timestamp,
    Binary,
    Merge,
    /// Anything else; `kubectl` reads the value as text.
    Other,
}

impl Tag {
    fn of(tag: Option<&granit_parser::Tag>) -> Self {
        let Some(tag) = tag else { return Self::Absent };
        if tag.parts() == ("", "!") {
            return Self::NonSpecific;
        }
        match tag.suffix_in_namespace("tag:yaml.org,2002:").as_deref() {
            Some("str") => Self::Str,
            Some("bool") => Self::Bool,
            Some("int") => Self::Int,
            Some("float") => Self::Float,
            Some("null") => Self::Null,
            Some("timestamp") => Self::Timestamp,
            Some("binary") => Self::Binary,
            Some("merge") => Self::Merge,
            _ => Self::Other,
        }
    }
}

/// Whether nothing is written in the document but comments.
pub(super) fn is_blank(nodes: &[Node<'_>]) -> bool {
    match nodes {
        [] => true,
        [Node { body: Body::Scalar(scalar), .. }] => {
            scalar.text.is_empty() && scalar.style == Style::Plain && scalar.tag == Tag::Absent
        }
        _ => false,
    }
}

/// Stands in for the end of a collection until that has come.
const STILL_OPEN: u32 = 0;

/// A collection whose end has not come yet.
struct Open {
    index: u32,
    style: StructureStyle,
}

pub(super) struct Reader<'t> {
    text: &'t str,
    parser: Parser<'t, StrInput<'t>>,
    nodes: Vec<Node<'t>>,
    open: Vec<Open>,
    anchors: BTreeMap<usize, u32>,
    /// Where the text of the document before this one ended.
    behind: usize,
}

/// What was written of one document.
pub(super) struct Written<'a, 't> {
    /// The root first.
    pub(super) nodes: &'a [Node<'t>],
    pub(super) extent: Range<usize>,
}

impl<'t> Reader<'t> {
    pub(super) fn new(text: &'t str) -> Result<Self, YamlError> {
        if u32::try_from(text.len()).is_err() {
            return Err(YamlErrorKind::TooLarge.at(Position { line: 1, column: 1 }));
        }
        let options = granit_parser::options! {
            emit_anchor_events: true,
            emit_comments: false,
            emit_unresolved_aliases: true,
            flow_nesting_limit: NESTING_LIMIT + 1,
            block_nesting_limit: NESTING_LIMIT + 1,
        };
        Ok(Self {
            text,
            parser: Parser::new_from_str_with_options(text, options),
            nodes: Vec::new(),
            open: Vec::new(),
            anchors: BTreeMap::new(),
            behind: 0,
        })
    }

    /// The next document, or nothing at the end of the stream.
    pub(super) fn next_document(&mut self) -> Result<Option<Written<'_, 't>>, YamlError> {
        self.nodes.clear();
        self.open.clear();
        self.anchors.clear();
        let mut start = self.behind;
        while let Some(next) = self.parser.next() {
            let (event, span) = next.map_err(|error| syntax::explain(&error))?;
            match event {
                Event::DocumentStart(true, _) => {
                    start = extent::start(self.text, self.behind, offset(span.start));
                }
                Event::DocumentEnd => {
                    let end = extent::end(self.text, offset(span.start).max(start));
                    self.behind = end.next;
                    return Ok(Some(Written { nodes: &self.nodes, extent: start..end.at }));
                }
                Event::StreamEnd => return Ok(None),
                event => self.take(event, span)?,
            }
        }
        Ok(None)
    }

    fn take(&mut self, event: Event<'t>, span: Span) -> Result<(), YamlError> {
        match event {
            Event::Scalar(text, style, anchor, tag) => {
                let block = matches!(style, ScalarStyle::Literal | ScalarStyle::Folded);
                let text = match style {
                    _ if block => self.without_invented_newline(text, span),
                    // The parser says `~` where nothing is written.
                    ScalarStyle::Plain if span.is_empty() => Cow::Borrowed(""),
                    _ => text,
                };
                let style = match style {
                    ScalarStyle::Plain => Style::Plain,
                    _ => Style::Quoted,
                };
                if style == Style::Plain || block {
                    refuse_foreign_line_break(&text, span)?;
                }
                if style == Style::Plain {
                    self.refuse_ambiguous_marks(&text, span)?;
                }
                let scalar = Scalar { text, style, tag: Tag::of(tag.as_deref()) };
                self.push(Body::Scalar(scalar), anchor, span);
            }
            Event::SequenceStart(style, anchor, _) => {
                self.open(Body::Sequence, style, anchor, span)?;
            }
            Event::MappingStart(style, anchor, _) => {
                self.open(Body::Mapping, style, anchor, span)?;
            }
            Event::SequenceEnd | Event::MappingEnd => {
                let end = self.next_index();
                if let Some(Open { index, .. }) = self.open.pop() {
                    self.nodes[index as usize].end = end;
                }
            }
            Event::Alias(anchor) => {
                let Some(&target) = self.anchors.get(&anchor) else {
                    return Err(YamlErrorKind::UnknownAnchor.at(Spot::from(span.start)));
                };
                // An alias can only name what began before it, so a value can only contain itself
                // by an alias inside of it.
                if self.nodes[target as usize].end == STILL_OPEN {
                    return Err(YamlErrorKind::AliasOfItself.at(Spot::from(span.start)));
                }
                self.push(Body::Alias { target }, 0, span);
            }
            Event::Anchor(_, name) => refuse_odd_anchor(&name, span)?,
            Event::UnresolvedAlias(_) => {
                return Err(YamlErrorKind::UnknownAnchor.at(Spot::from(span.start)));
            }
            _ => {}
        }
        Ok(())
    }

    fn next_index(&self) -> u32 {
        // Every node takes a byte of a text that is shorter than 4 GiB.
        u32::try_from(self.nodes.len()).unwrap_or(u32::MAX)
    }

    fn open(
        &mut self,
        body: Body<'t>,
        style: StructureStyle,
        anchor: usize,
        span: Span,
    ) -> Result<(), YamlError> {
        if self.open.len() == NESTING_LIMIT {
            return Err(YamlErrorKind::TooDeep.at(Spot::from(span.start)));
        }
        let index = self.push(body, anchor, span);
        self.nodes[index as usize].end = STILL_OPEN;
        self.open.push(Open { index, style });
        Ok(())
    }

    fn push(&mut self, body: Body<'t>, anchor: usize, span: Span) -> u32 {
        let index = self.next_index();
        if anchor != 0 {
            self.anchors.insert(anchor, index);
        }
        self.nodes.push(Node { spot: span.start.into(), end: index + 1, body });
        index
    }

    /// In `[a:]` the colon belongs to the text for Go, and makes `a` a key for the parser; in `[?a]`
    /// it is the other way about with the question mark.
    fn refuse_ambiguous_marks(&self, text: &str, span: Span) -> Result<(), YamlError> {
        if self.open.last().is_none_or(|open| open.style != StructureStyle::Flow) {
            return Ok(());
        }
        let rest = span.end.byte_offset().and_then(|end| self.text.get(end..)).unwrap_or("");
        let mark = match rest.trim_start_matches([' ', '\t']).as_bytes() {
            [b':', b',' | b'[' | b']' | b'{' | b'}', ..] => ':',
            _ if text.starts_with('?') => '?',
            _ => return Ok(()),
        };
        Err(YamlErrorKind::AmbiguousMark { mark }.at(Spot::from(span.start)))
    }

    /// The parser ends the last line of a block scalar even where the text ends without a line
    /// break; Go keeps to the text.
    fn without_invented_newline(&self, mut text: Cow<'t, str>, span: Span) -> Cow<'t, str> {
        // Asked first: the last line may be long, and only one scalar stands at the end.
        let at_end = span.end.byte_offset().is_some_and(|end| end >= self.text.len());
        if !at_end || !text.ends_with('\n') {
            return text;
        }
        let last_line = self.text.rsplit(['\n', '\r']).next().unwrap_or("");
        if last_line.is_empty() {
            return text;
        }
        let invented = if text.bytes().all(|byte| byte == b'\n') {
            // The span then covers the header, whose line break is none of the value's.
            text.len() == span.end.line().saturating_sub(span.start.line())
        } else {
            // The span starts at the indent. A line of spaces is content if it is longer.
            !last_line.trim_matches(' ').is_empty() || last_line.len() > span.start.col()
        };
        if invented {
            text.to_mut().pop();
        }
        text
    }
}

/// In `&a? b` the question mark belongs to the name for the parser, and to the text for Go.
fn refuse_odd_anchor(name: &str, span: Span) -> Result<(), YamlError> {
    let odd = |c: &char| !(c.is_ascii_alphanumeric() || matches!(c, '-' | '_'));
    match name.chars().find(odd) {
        Some(character) => Err(YamlErrorKind::AnchorName { character }.at(Spot::from(span.start))),
        None => Ok(()),
    }
}

/// The parser counts bytes for every text that it is given whole.
fn offset(marker: Marker) -> usize {
    marker.byte_offset().unwrap_or_default()
}

/// Go ends the line at these characters. In quotes they are kept, since JSON keeps them there and
/// `jsonencode` writes them so.
fn refuse_foreign_line_break(text: &str, span: Span) -> Result<(), YamlError> {
    if text.is_ascii() {
        return Ok(());
    }
    match text.chars().find(|c| matches!(c, '\u{85}' | '\u{2028}' | '\u{2029}')) {
        Some(character) => {
            Err(YamlErrorKind::ForeignLineBreak { character }.at(Spot::from(span.start)))
        }
        None => Ok(()),
    }
}
