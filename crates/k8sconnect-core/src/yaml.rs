//! YAML exactly as `kubectl` reads it, with line and column for everything in it.
//!
//! Users compare what we plan with what `kubectl apply` would have done, so a scalar must mean
//! here what it means there: `on` is true, `0644` is 420, `1.0` is 1, `2024-01-01` is text. Those
//! are the rules of Go's `go-yaml` v2 behind `sigs.k8s.io/yaml`, and no Rust crate has them. The
//! syntax comes from `granit-parser`'s events; what the scalars, tags, aliases and merge keys mean
//! is decided here ([`parse_stream`]) and checked against the Go library by the fixtures in
//! `tests/yaml`.
//!
//! Some things `kubectl` lets pass are refused, because they hide a mistake: a key given twice, a
//! key that a later `<<` would overwrite, text after a document that belongs to no document, and
//! the few notations (`[a:]`, `[?a]`, Unicode's own line breaks) of which the parser and Go would
//! make different values.
//!
//! Aliases and nesting are bounded, so that a small hostile text cannot become a large value.
//!
//! The module knows no Kubernetes: it does not care what a document's keys are called, and orders
//! nothing. [`to_yaml`] writes what [`parse_stream`] reads back as the same value.

mod budget;
mod document;
mod error;
mod extent;
mod mapping;
mod resolve;
mod scalar;
mod syntax;
mod timestamp;
mod tree;
mod write;

pub use document::{Document, Position, Step, keys_read_as_booleans, words_read_as_booleans};
pub use error::{KeyKind, YamlError, YamlErrorKind};
pub use syntax::SyntaxProblem;
pub use write::to_yaml;

use budget::StreamBudget;
use tree::{Reader, Written};

/// How many collections may stand inside one another, aliases followed.
pub const NESTING_LIMIT: usize = 512;

/// Reads every document of `text`. Documents in which nothing is written are left out.
///
/// # Errors
/// The first thing that is wrong with the text. A text with one bad document yields no document at
/// all: half a file is never applied.
pub fn parse_stream(text: &str) -> Result<Vec<Document>, YamlError> {
    documents(text)?.collect()
}

/// Reads the documents of `text` one after the other, for a caller that need not hold them all:
/// a document takes many times the memory of its text.
///
/// # Errors
/// If the text is too large to be read at all. Whatever else is wrong comes as the last item.
pub fn documents(text: &str) -> Result<Documents<'_>, YamlError> {
    Ok(Documents { reader: Some(Reader::new(text)?), budget: StreamBudget::default() })
}

/// The documents of a text, up to the first that is wrong.
pub struct Documents<'t> {
    /// Gone once the text has ended or was found wrong.
    reader: Option<Reader<'t>>,
    budget: StreamBudget,
}

impl Iterator for Documents<'_> {
    type Item = Result<Document, YamlError>;

    fn next(&mut self) -> Option<Self::Item> {
        let reader = self.reader.as_mut()?;
        let found = loop {
            match reader.next_document() {
                Ok(Some(written)) if tree::is_blank(written.nodes) => {}
                Ok(Some(Written { nodes, extent })) => {
                    break Some(resolve::document(nodes, extent, &mut self.budget));
                }
                Ok(None) => break None,
                Err(error) => break Some(Err(error)),
            }
        };
        if !matches!(found, Some(Ok(_))) {
            self.reader = None;
        }
        found
    }
}
