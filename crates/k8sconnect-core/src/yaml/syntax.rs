//! The parser's errors, sorted by what a user has to change.

use granit_parser::{ErrorKind, ScanError};

use super::document::Spot;
use super::error::{YamlError, YamlErrorKind};

/// Why a text is not YAML.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SyntaxProblem {
    /// A bracket without its other half, or entries in brackets without a comma between them.
    Brackets,
    UnclosedQuote,
    TextAfterQuote,
    /// A tab where only spaces are allowed.
    Tab,
    Indentation,
    /// A line without `: ` in a mapping.
    MissingColon,
    UnexpectedColon,
    UnexpectedListItem,
    /// A backslash in double quotes that starts no known escape.
    Escape,
    /// A `#` that cannot start a comment.
    Comment,
    /// The header of a `|` or `>`, or the indentation of its lines.
    BlockScalar,
    /// A line that starts with `%`.
    Directive,
    Tag,
    /// A `&` or `*` without a name.
    Anchor,
    /// A character that cannot start a value, or that cannot be in a YAML text at all.
    Character(char),
    Other,
}

pub(super) fn explain(error: &ScanError) -> YamlError {
    let kind = match error.kind() {
        ErrorKind::RecursionLimitExceeded => YamlErrorKind::TooDeep,
        kind => YamlErrorKind::Syntax(problem(kind)),
    };
    kind.at(Spot::from(*error.marker()))
}

fn problem(kind: &ErrorKind) -> SyntaxProblem {
    use ErrorKind as K;
    match kind {
        K::MismatchedFlowCollectionEnd { .. }
        | K::UnclosedFlowCollection { .. }
        | K::MisplacedFlowCollectionEnd
        | K::ExpectedFlowMappingSeparator
        | K::ExpectedFlowSequenceSeparator => SyntaxProblem::Brackets,
        K::UnclosedQuotedScalar
        | K::DocumentIndicatorInQuotedScalar
        | K::InvalidQuotedScalarIndent => SyntaxProblem::UnclosedQuote,
        K::InvalidTrailingSingleQuotedScalar | K::InvalidTrailingDoubleQuotedScalar => {
            SyntaxProblem::TextAfterQuote
        }
        K::TabNotAllowed
        | K::TabInBlockIndentation
        | K::TabInIndentation
        | K::TabInPlainScalar
        | K::TabAtBlockScalarStart => SyntaxProblem::Tab,
        K::ExpectedBlockMappingKey
        | K::ExpectedBlockSequenceEntry
        | K::InvalidIndentation
        | K::InvalidFlowScalarIndent
        | K::MappingKeyNotAllowed
        | K::ExpectedDocumentStart => SyntaxProblem::Indentation,
        K::SimpleKeyExpected | K::InvalidSimpleKey => SyntaxProblem::MissingColon,
        K::MappingValueNotAllowed | K::InvalidMappingValueWhitespace | K::InvalidColonPlacement => {
            SyntaxProblem::UnexpectedColon
        }
        K::BlockSequenceEntryNotAllowed
        | K::BlockEntryInFlowCollection
        | K::InvalidBlockEntryWhitespace
        | K::PlainScalarStartsWithDashFlowIndicator => SyntaxProblem::UnexpectedListItem,
        K::UnknownQuotedScalarEscape
        | K::InvalidQuotedScalarHexEscape
        | K::InvalidUnicodeEscape => SyntaxProblem::Escape,
        K::CommentNotSeparated | K::CommentInterceptedScalar => SyntaxProblem::Comment,
        K::InvalidBlockScalarHeader | K::ZeroBlockScalarIndent | K::InvalidBlockScalarIndent => {
            SyntaxProblem::BlockScalar
        }
        K::UnsupportedYamlMajorVersion | K::InvalidDirectiveName => SyntaxProblem::Directive,
        K::UndeclaredTagHandle | K::InvalidTagTerminator => SyntaxProblem::Tag,
        K::MissingAnchorOrAliasName => SyntaxProblem::Anchor,
        K::UnexpectedCharacter { character } => SyntaxProblem::Character(*character),
        K::BomInsideDocument => SyntaxProblem::Character('\u{feff}'),
        _ => SyntaxProblem::Other,
    }
}
