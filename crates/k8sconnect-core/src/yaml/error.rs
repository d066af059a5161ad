//! What can be wrong with a YAML text, in the words a user reads.
//!
//! Keys and tags are named; values never are, since a manifest may hold a secret. Nor are aliases: a
//! password that begins with `*` and was not quoted reads as one.

use std::borrow::Cow;
use std::fmt;

use super::NESTING_LIMIT;
use super::document::Position;

/// What is wrong with a text, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct YamlError {
    pub position: Position,
    pub kind: YamlErrorKind,
}

/// What is wrong with a text.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum YamlErrorKind {
    /// The text is not YAML.
    Syntax { problem: Cow<'static, str>, remedy: &'static str },
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

impl std::error::Error for YamlError {}

impl fmt::Display for YamlError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.position, self.kind)
    }
}

impl fmt::Display for YamlErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Syntax { problem, remedy } => write!(f, "{problem}. {remedy}."),
            Self::ForeignLineBreak { character } => write!(
                f,
                "this text contains the character U+{0:04X}, which `kubectl` takes for the end of \
                 the line and others do not. Remove it, or put the text in double quotes and \
                 write it as `\\u{0:04X}`.",
                u32::from(*character)
            ),
            Self::AnchorName { character } => write!(
                f,
                "the name of this anchor contains `{character}`. `kubectl` allows only \
                 letters, digits, `-` and `_` in a name, and may take the rest for text. Rename \
                 the anchor."
            ),
            Self::AmbiguousMark { mark: ':' } => f.write_str(
                "the `:` after this text stands right before a bracket or comma. `kubectl` takes \
                 it for a part of the text, others for the end of a key. Leave a space after the \
                 `:`, or put the text in quotes.",
            ),
            Self::AmbiguousMark { mark } => write!(
                f,
                "this text inside of brackets begins with `{mark}`. `kubectl` takes that for the \
                 mark of a key, others for a part of the text. Put the text in quotes."
            ),
            Self::DuplicateKey { key, first } => write!(
                f,
                "the key `{}` is given twice in one mapping, first at {first}. Only one of the two \
                 values can count, and tools do not agree which. Remove or rename one.",
                Shown(key)
            ),
            Self::MergedKeyConflict { key, first } => write!(
                f,
                "this `<<` brings in the key `{}`, which the same mapping already has at {first}. \
                 Which value counts differs from tool to tool. Put the `<<` before the keys that \
                 are to override it.",
                Shown(key)
            ),
            Self::MergeWithoutMapping => f.write_str(
                "the value of `<<` must be a mapping or a list of mappings. Give it an alias of a \
                 mapping, such as `<<: *defaults`, or quote the key if no merge is meant.",
            ),
            Self::UnknownAnchor => f.write_str(
                "this value begins with `*`, which makes it an alias, and there is no anchor `&` \
                 of that name before it in this document; anchors do not reach into the next \
                 document. Define it first, or quote the value if it is text.",
            ),
            Self::AliasOfItself => f.write_str(
                "this alias stands inside of what its anchor names, so the value would never end. \
                 Refer to something that is complete before this line.",
            ),
            Self::AliasBomb => f.write_str(
                "following the aliases would make far more of this document than is written in \
                 it, which is refused to protect memory. Write the repeated parts out, or split \
                 the document.",
            ),
            Self::TooDeep => write!(
                f,
                "lists and mappings stand more than {NESTING_LIMIT} deep inside one another here. \
                 Flatten the document."
            ),
            Self::NotFinite => f.write_str(
                "infinity and not-a-number cannot be sent to Kubernetes, since JSON has no such \
                 numbers. Quote the value if it is text, or give a number.",
            ),
            Self::BadTag { tag } => write!(
                f,
                "the value is tagged `{tag}` but cannot be read as that. Correct the value or \
                 remove the tag."
            ),
            Self::NonStringKey { found } => match found {
                KeyKind::Null => f.write_str(
                    "a key is empty or null, and a key must be text. Name the key, or quote it.",
                ),
                KeyKind::Sequence => f.write_str(
                    "a key is a list, and a key must be text. If a template left `[…]` here, \
                     render it first; otherwise quote the key.",
                ),
                KeyKind::Mapping => f.write_str(
                    "a key is a mapping, and a key must be text. If a template left `{{…}}` here, \
                     render it first; otherwise quote the key.",
                ),
                KeyKind::HugeInteger => f.write_str(
                    "a key is a whole number above 9223372036854775807, which `kubectl` refuses \
                     as a key. Quote the key.",
                ),
            },
            Self::TooLarge => {
                f.write_str("the text is 4 GiB or longer. Split it into several texts.")
            }
        }
    }
}

/// A name out of the text, short enough for a sentence and without line breaks.
struct Shown<'a>(&'a str);

impl fmt::Display for Shown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const LIMIT: usize = 80;
        let mut characters = self.0.chars();
        for character in characters.by_ref().take(LIMIT) {
            if character.is_control() {
                write!(f, "{}", character.escape_default())?;
            } else {
                write!(f, "{character}")?;
            }
        }
        if characters.next().is_some() { f.write_str("…") } else { Ok(()) }
    }
}
