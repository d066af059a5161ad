//! What can be wrong with a YAML text.
//!
//! Keys and tags are named; values never are, since a manifest may hold a secret. Nor are aliases: a
//! password that begins with `*` and was not quoted reads as one.

use super::document::Position;
use super::syntax::SyntaxProblem;

/// What is wrong with a text, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct YamlError {
    pub position: Position,
    pub kind: YamlErrorKind,
}

/// What is wrong with a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum YamlErrorKind {
    /// The text is not YAML.
    Syntax(SyntaxProblem),
    /// A line break of Unicode's in text without quotes, which readers disagree about.
    ForeignLineBreak { character: char },
    /// Inside of brackets, a `:` right before a bracket or comma, or a `?` at the start of a text:
    /// readers disagree about them.
    AmbiguousMark { mark: char },
    /// The name of an anchor that not every reader reads to its end.
    AnchorName { character: char },
    /// A mapping has the same key twice.
    DuplicateKey { key: String, first: Position },
    /// A `<<` brings in a key that stands before it in the same mapping.
    MergedKeyConflict { key: String, first: Position },
    /// The value of a `<<` is neither a mapping nor a list of mappings.
    MergeWithoutMapping,
    /// A `*name` for which there is no `&name` before it in the document.
    UnknownAnchor,
    /// A `*name` inside of what `&name` names.
    AliasOfItself,
    /// Following the aliases makes far more of the text than was written.
    AliasBomb,
    /// Collections stand too deep inside one another.
    TooDeep,
    /// `.inf` or `.nan`, which JSON cannot hold.
    NotFinite,
    /// The value cannot be what its tag says it is.
    BadTag { tag: &'static str },
    /// A key that cannot become the text that JSON keys are.
    NonStringKey { found: KeyKind },
    /// The text is longer than positions can be counted in.
    TooLarge,
}

/// What a key was found to be that cannot be a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyKind {
    Null,
    Sequence,
    Mapping,
    /// A whole number above what 64 bits with a sign can hold.
    HugeInteger,
}

impl YamlErrorKind {
    pub(super) fn at(self, position: impl Into<Position>) -> YamlError {
        YamlError { position: position.into(), kind: self }
    }
}
