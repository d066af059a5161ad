//! What a user is told: errors and warnings, each with a summary, a detail and a place.
//!
//! This is the only renderer to the wire: nothing else in the crate writes a protobuf
//! diagnostic. Terraform wraps the lines of a detail except those that begin with a space,
//! and merges warnings that share a summary; wording with that in mind is the provider's part.

use crate::mismatch::Mismatch;
use crate::path::{AttributePath, Step};
use crate::proto::tfplugin6 as wire;

/// How bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Severity {
    /// The operation failed.
    Error,
    /// The operation went on; the user should know.
    Warning,
}

/// One thing a user is told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// How bad it is.
    pub severity: Severity,
    /// What is the matter, in one line.
    pub summary: String,
    /// Why, and what to do.
    pub detail: String,
    /// The attribute that it concerns.
    pub path: Option<AttributePath>,
}

impl Diagnostic {
    /// An error.
    pub fn error(summary: impl Into<String>, detail: impl Into<String>) -> Self {
        let (summary, detail) = (summary.into(), detail.into());
        Self { severity: Severity::Error, summary, detail, path: None }
    }

    /// A warning.
    pub fn warning(summary: impl Into<String>, detail: impl Into<String>) -> Self {
        let (summary, detail) = (summary.into(), detail.into());
        Self { severity: Severity::Warning, summary, detail, path: None }
    }

    /// The same, pointing at an attribute.
    pub fn at(mut self, path: AttributePath) -> Self {
        self.path = Some(path);
        self
    }

    /// Whether this is an error.
    pub fn is_error(&self) -> bool {
        self.severity == Severity::Error
    }

    /// A value that the provider itself got wrong, or that came damaged.
    pub(crate) fn mismatch(summary: &str, mismatch: &Mismatch) -> Self {
        let whole = mismatch.path.is_empty();
        let place =
            if whole { "the whole value".to_owned() } else { format!("`{}`", mismatch.path) };
        let (expected, found) = (&mismatch.expected, &mismatch.found);
        let detail = format!(
            "At {place}, {expected} is required, but there is {found}.\n\n\
             This is a bug in the provider, unless the state was edited by hand; please report it."
        );
        let diagnostic = Self::error(summary, detail);
        if whole { diagnostic } else { diagnostic.at(mismatch.path.clone()) }
    }
}

/// Everything a user is told about one operation, in order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Diagnostics(Vec<Diagnostic>);

impl Diagnostics {
    /// Nothing to tell.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds one.
    pub fn push(&mut self, diagnostic: Diagnostic) {
        self.0.push(diagnostic);
    }

    /// Whether any of them is an error.
    pub fn has_errors(&self) -> bool {
        self.0.iter().any(Diagnostic::is_error)
    }

    /// Whether there is nothing to tell.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Each of them, in order.
    pub fn iter(&self) -> std::slice::Iter<'_, Diagnostic> {
        self.0.iter()
    }

    /// `Err` with everything if there is an error in it, else `Ok` with the warnings.
    pub fn into_result(self) -> Result<Self, Self> {
        if self.has_errors() { Err(self) } else { Ok(self) }
    }
}

impl Extend<Diagnostic> for Diagnostics {
    fn extend<I: IntoIterator<Item = Diagnostic>>(&mut self, more: I) {
        self.0.extend(more);
    }
}

impl FromIterator<Diagnostic> for Diagnostics {
    fn from_iter<I: IntoIterator<Item = Diagnostic>>(all: I) -> Self {
        Self(all.into_iter().collect())
    }
}

impl IntoIterator for Diagnostics {
    type Item = Diagnostic;
    type IntoIter = std::vec::IntoIter<Diagnostic>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

impl<'a> IntoIterator for &'a Diagnostics {
    type Item = &'a Diagnostic;
    type IntoIter = std::slice::Iter<'a, Diagnostic>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.iter()
    }
}

impl From<Diagnostic> for Diagnostics {
    fn from(diagnostic: Diagnostic) -> Self {
        Self(vec![diagnostic])
    }
}

impl From<Vec<Diagnostic>> for Diagnostics {
    fn from(all: Vec<Diagnostic>) -> Self {
        Self(all)
    }
}

impl Diagnostics {
    pub(crate) fn into_wire(self) -> Vec<wire::Diagnostic> {
        self.0.into_iter().map(Diagnostic::into_wire).collect()
    }
}

impl Diagnostic {
    fn into_wire(self) -> wire::Diagnostic {
        let severity = match self.severity {
            Severity::Error => wire::diagnostic::Severity::Error,
            Severity::Warning => wire::diagnostic::Severity::Warning,
        };
        wire::Diagnostic {
            severity: severity.into(),
            summary: legible(self.summary),
            detail: legible(self.detail),
            attribute: self.path.filter(|path| !path.is_empty()).map(AttributePath::into_wire),
        }
    }
}

/// A text as it may go to a terminal. What is quoted in it, a value of somebody else's or words of
/// another program, may hold characters that move the cursor, change colours or turn the direction of
/// reading: they show as they are written in JSON. Lines and tabs stay.
pub(crate) fn legible(text: String) -> String {
    let commands = |c: char| match c {
        '\n' | '\t' => false,
        '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}' | '\u{2028}' | '\u{2029}' => true,
        c => c.is_control(),
    };
    if !text.contains(commands) {
        return text;
    }
    let mut shown = String::with_capacity(text.len() + 16);
    for c in text.replace("\r\n", "\n").chars() {
        match c {
            '\r' => shown.push_str("\\r"),
            c if commands(c) => shown.push_str(&format!("\\u{:04x}", u32::from(c))),
            c => shown.push(c),
        }
    }
    shown
}

impl AttributePath {
    pub(crate) fn into_wire(self) -> wire::AttributePath {
        use wire::attribute_path::step::Selector;
        let steps = self.into_iter().map(|step| {
            let selector = match step {
                Step::Attribute(name) => Selector::AttributeName(name),
                Step::Key(key) => Selector::ElementKeyString(key),
                Step::Index(index) => Selector::ElementKeyInt(index),
            };
            wire::attribute_path::Step { selector: Some(selector) }
        });
        wire::AttributePath { steps: steps.collect() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_at_the_attribute_on_the_wire() {
        let path = AttributePath::root("a").key("k").index(2);
        let wire = Diagnostics::from(Diagnostic::warning("s", "d").at(path)).into_wire();
        assert_eq!(wire[0].severity, 2);
        assert_eq!(wire[0].attribute.as_ref().unwrap().steps.len(), 3);
    }

    #[test]
    fn commands_to_a_terminal_are_shown_and_not_given() {
        let told = Diagnostic::error("a\u{1b}[2Jb\rc", "one\r\ntwo\n\tthree\u{9b}\u{202e}é");
        let wire = Diagnostics::from(told).into_wire();
        assert_eq!(wire[0].summary, "a\\u001b[2Jb\\rc");
        assert_eq!(wire[0].detail, "one\ntwo\n\tthree\\u009b\\u202eé");
    }

    #[test]
    fn has_no_place_on_the_wire_when_it_concerns_the_whole() {
        let whole = Diagnostic::error("s", "d").at(AttributePath::default());
        assert!(Diagnostics::from(whole).into_wire()[0].attribute.is_none());
    }

    #[test]
    fn counts_as_failed_only_with_an_error() {
        let mut all = Diagnostics::from(Diagnostic::warning("s", "d"));
        assert!(!all.has_errors());
        all.push(Diagnostic::error("s", "d"));
        assert!(all.has_errors());
    }
}
