//! The parser's complaints, said so that a person knows what to change.

use std::borrow::Cow;

use granit_parser::{ErrorKind, ScanError};

use super::document::Spot;
use super::error::{YamlError, YamlErrorKind};

pub(super) fn explain(error: &ScanError) -> YamlError {
    let spot = Spot::from(*error.marker());
    if matches!(error.kind(), ErrorKind::RecursionLimitExceeded) {
        return YamlErrorKind::TooDeep.at(spot);
    }
    let (problem, remedy) = words(error.kind());
    YamlErrorKind::Syntax { problem, remedy }.at(spot)
}

/// What is wrong, and what to do about it; each becomes a sentence.
fn words(kind: &ErrorKind) -> (Cow<'static, str>, &'static str) {
    use ErrorKind as K;
    let (problem, remedy) = match kind {
        K::MismatchedFlowCollectionEnd { open, close } => {
            let problem = format!("`{open}` is closed by `{close}`");
            return (problem.into(), "Use brackets of one kind");
        }
        K::UnclosedFlowCollection { open } => {
            return (format!("`{open}` is never closed").into(), CLOSE_BRACKET);
        }
        K::UnexpectedCharacter { character }
            if character.is_control() || matches!(character, '\u{FFFE}' | '\u{FFFF}') =>
        {
            let code = u32::from(*character);
            let problem = format!("the control character U+{code:04X} is not allowed in YAML");
            return (problem.into(), "Remove it, or write it as an escape in double quotes");
        }
        K::UnexpectedCharacter { character } => {
            let problem = format!("a value cannot begin with `{character}`");
            return (problem.into(), "Put the value in quotes");
        }
        K::UnexpectedEofFlowSequence
        | K::UnexpectedEofFlowMapping
        | K::UnexpectedEofImplicitFlowMapping => {
            ("the text ends inside of brackets", CLOSE_BRACKET)
        }
        K::MisplacedFlowCollectionEnd => (
            "this closing bracket closes nothing",
            "Remove it, or put the value in quotes if it is text",
        ),
        K::ExpectedFlowMappingSeparator => ("a `,` or `}` is missing here", FLOW),
        K::ExpectedFlowSequenceSeparator => ("a `,` or `]` is missing here", FLOW),
        K::ExpectedBlockMappingKey => ("a key was expected here", SAME_COLUMN),
        K::ExpectedBlockSequenceEntry => ("a list item was expected here", SAME_COLUMN),
        K::InvalidIndentation | K::InvalidFlowScalarIndent => {
            ("the indentation fits nothing above", SAME_COLUMN)
        }
        K::SimpleKeyExpected | K::InvalidSimpleKey => (
            "this line has no `: ` after a key",
            "Write `key: value`; indent the line if it continues the text above it; leave a \
             space before the `:` if the key is an alias",
        ),
        K::MappingValueNotAllowed | K::InvalidMappingValueWhitespace | K::InvalidColonPlacement => {
            (
                "a `:` cannot stand here",
                "Put the value in quotes if the `:` belongs to it; if it follows a key, let the keys \
             of one mapping begin in the same column, one to a line",
            )
        }
        K::MappingKeyNotAllowed | K::FlowMappingValueAdjacentCollection => {
            ("a key cannot stand here", SAME_COLUMN)
        }
        K::BlockSequenceEntryNotAllowed
        | K::BlockEntryInFlowCollection
        | K::InvalidBlockEntryWhitespace
        | K::PlainScalarStartsWithDashFlowIndicator => (
            "a list item cannot begin here",
            "Put the `- ` on a line of its own, or quote the value if the `-` belongs to it",
        ),
        K::TabNotAllowed
        | K::TabInBlockIndentation
        | K::TabInIndentation
        | K::TabInPlainScalar
        | K::TabAtBlockScalarStart => {
            ("a tab stands where YAML allows only spaces", "Indent with spaces")
        }
        K::UnclosedQuotedScalar => {
            ("a quoted text is never closed", "Add the missing quote at its end")
        }
        K::DocumentIndicatorInQuotedScalar => (
            "the document ends inside of a quoted text",
            "Add the missing quote, or indent the `---`",
        ),
        K::InvalidTrailingSingleQuotedScalar | K::InvalidTrailingDoubleQuotedScalar => (
            "something follows the closing quote",
            "Quote the whole value; inside of single quotes write a quote twice, inside of \
             double quotes write `\\\"`",
        ),
        K::InvalidQuotedScalarIndent => (
            "this line belongs to a quoted text that is still open, and is not indented enough",
            "Add the missing quote where the text was to end, or indent the line deeper than the \
             key",
        ),
        K::UnknownQuotedScalarEscape
        | K::InvalidQuotedScalarHexEscape
        | K::InvalidLowSurrogateHexEscape
        | K::InvalidLowSurrogate
        | K::MissingLowSurrogate
        | K::UnpairedLowSurrogate
        | K::InvalidUnicodeEscape => (
            "a backslash in this double-quoted text begins no escape that YAML knows",
            "Write `\\\\` for a backslash, or use single quotes",
        ),
        K::CommentNotSeparated | K::CommentInterceptedScalar => (
            "a `#` stands where a comment cannot begin",
            "Leave a space before the comment and keep it out of multi-line text, or quote the \
             value if the `#` belongs to it",
        ),
        K::InvalidBlockScalarHeader | K::ZeroBlockScalarIndent => (
            "what follows `|` or `>` is not a block header",
            "Only `-` or `+`, a digit from 1 to 9 and a comment may follow; the text begins on \
             the next line",
        ),
        K::InvalidBlockScalarIndent => (
            "this line is indented less than the block it belongs to",
            "Indent the lines of the block alike, and leave its blank lines empty",
        ),
        K::ExpectedDocumentStart | K::InvalidDocumentEnd | K::MissingDocumentEndBeforeDirective => {
            (
                "the document has ended before this, yet something follows",
                "Correct the indentation, or put `---` between two documents",
            )
        }
        K::BomInsideDocument => (
            "a byte order mark stands inside of the text",
            "Remove it; it is invisible, and comes from joining files",
        ),
        K::MissingAnchorOrAliasName => (
            "`&` or `*` must be followed by a name",
            "Name the anchor, or quote the value if it is text",
        ),
        K::ExpectedNodeContent | K::UnexpectedEndOfPlainScalar | K::UnexpectedEof => {
            ("a value was expected here", "Give one, or put the text in quotes")
        }
        K::UndeclaredTagHandle
        | K::ExpectedTagBang
        | K::InvalidGlobalTagCharacter
        | K::InvalidTagTerminator
        | K::MissingTagUri
        | K::UnclosedVerbatimTag
        | K::InvalidTagEscape
        | K::InvalidTagUtf8LeadingByte
        | K::InvalidTagUtf8TrailingByte
        | K::InvalidTagUtf8 => (
            "this tag cannot be read",
            "Remove the tag, or quote the value if the `!` belongs to it",
        ),
        K::DuplicateVersionDirective
        | K::UnsupportedYamlMajorVersion
        | K::DuplicateTagDirective
        | K::ExpectedTagDirectiveBang
        | K::InvalidDirectiveTerminator
        | K::MissingYamlVersionSeparator
        | K::MissingDirectiveName
        | K::InvalidDirectiveName
        | K::DirectiveByteLimitExceeded { .. }
        | K::TooManyReservedDirectiveParams { .. }
        | K::YamlVersionTooLong
        | K::MissingYamlVersion
        | K::InvalidTagDirectiveTerminator => {
            ("this `%` directive cannot be read", "Remove the line; Kubernetes needs none")
        }
        _ => ("this cannot be read as YAML", "Check quotes, brackets and indentation here"),
    };
    (problem.into(), remedy)
}

const CLOSE_BRACKET: &str = "Add the missing `]` or `}`";
const FLOW: &str = "Separate the entries with commas and close the bracket, quote text that has \
                    brackets or commas in it, and render templates such as `{{…}}` first";
const SAME_COLUMN: &str = "Let everything that belongs to one mapping or list begin in the same \
                           column, and quote text that looks like YAML";
