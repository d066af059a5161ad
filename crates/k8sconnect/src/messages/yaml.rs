//! What is wrong with a YAML text, and how to correct it.

use k8sconnect_core::yaml::{KeyKind, NESTING_LIMIT, SyntaxProblem, YamlErrorKind};

use super::{Explained, one_line};

pub(super) fn explained(kind: &YamlErrorKind) -> Explained {
    use YamlErrorKind as Kind;
    let (problem, advice) = match kind {
        Kind::Syntax(problem) => return syntax(*problem),
        Kind::ForeignLineBreak { character } => (
            format!(
                "the text contains U+{:04X}, which `kubectl` reads as the end of a line and other \
                 tools do not",
                u32::from(*character)
            ),
            "Remove the character, or write it as an escape in double quotes.",
        ),
        Kind::AnchorName { character } => (
            format!("the name of the anchor contains `{character}`, where `kubectl` may end it"),
            "Use only letters, digits, `-` and `_` in the name of an anchor.",
        ),
        Kind::AmbiguousMark { mark } => (
            format!("`kubectl` and other tools read this `{mark}` inside brackets differently"),
            "Put the text in quotes, or leave a space after a `:` that ends a key.",
        ),
        Kind::DuplicateKey { key, first } => (
            format!("the mapping already has the key `{}`, at {first}", name(key)),
            "Remove or rename one of the two keys: tools disagree about which value counts.",
        ),
        Kind::MergedKeyConflict { key, first } => (
            format!("`<<` merges the key `{}`, which the mapping has at {first}", name(key)),
            "Put the `<<` before the keys that override it: tools disagree about which value counts.",
        ),
        Kind::MergeWithoutMapping => (
            "the value of `<<` is neither a mapping nor a list of mappings".into(),
            "Write an alias of a mapping, such as `<<: *defaults`, or quote the key.",
        ),
        Kind::UnknownAnchor => (
            "the value starts with `*`, and no anchor of that name stands before it in the document"
                .into(),
            "Define the anchor earlier in the same document, or quote the value if it is text.",
        ),
        Kind::AliasOfItself => (
            "the alias stands inside the value that it refers to".into(),
            "Refer to a value that ends before the alias.",
        ),
        Kind::AliasBomb => (
            "the aliases expand to far more text than the document has".into(),
            "Write the repeated parts out, or split the document. The limit protects memory.",
        ),
        Kind::TooDeep => (
            format!("lists and mappings are nested more than {NESTING_LIMIT} levels deep"),
            "Flatten the document.",
        ),
        Kind::NotFinite => (
            "JSON, and so Kubernetes, has neither infinity nor not-a-number".into(),
            "Quote the value if it is text, or write a number.",
        ),
        Kind::BadTag { tag } => (
            format!("the value does not fit its tag `{tag}`"),
            "Correct the value, or remove the tag.",
        ),
        Kind::NonStringKey { found } => (
            format!("a key must be text, and this key is {}", key(*found)),
            "Name the key, or put it in quotes. Render templates such as `{{…}}` first.",
        ),
        Kind::TooLarge => ("the text is 4 GiB or longer".into(), "Split the text."),
    };
    (problem, advice)
}

fn syntax(problem: SyntaxProblem) -> Explained {
    use SyntaxProblem as P;
    let (problem, advice) = match problem {
        P::Brackets => (
            "brackets do not match, or a comma is missing between entries",
            "Correct the brackets and commas, and quote text that contains any. Render templates \
             such as `{{…}}` first.",
        ),
        P::UnclosedQuote => (
            "a quoted text does not end where its lines end",
            "Add the missing quote, or indent the lines of the text deeper than its key.",
        ),
        P::TextAfterQuote => (
            "text follows the closing quote",
            "Quote the whole value. Inside single quotes write `''`, inside double quotes `\\\"`.",
        ),
        P::Tab => ("a tab stands where only spaces are allowed", "Indent with spaces."),
        P::Indentation => (
            "the line belongs to no mapping or list above",
            "Start all entries of a mapping or list in the same column, and put `---` between \
             documents.",
        ),
        P::MissingColon => (
            "the line has no `: ` after a key",
            "Write `key: value`, or indent the line if it continues the text above.",
        ),
        P::UnexpectedColon => (
            "a `:` is not allowed here",
            "Quote the value if the `:` belongs to it. Otherwise write each key on a line of its \
             own, all keys of a mapping in the same column.",
        ),
        P::UnexpectedListItem => (
            "a list item cannot start here",
            "Put the `- ` on a line of its own, or quote the value if the `-` belongs to it.",
        ),
        P::Escape => (
            "a backslash in double quotes starts no known escape",
            "Write `\\\\` for a backslash, or use single quotes.",
        ),
        P::Comment => (
            "a `#` cannot start a comment here",
            "Put a space before the comment and keep it out of multi-line text, or quote the value \
             if the `#` belongs to it.",
        ),
        P::BlockScalar => (
            "the text block after `|` or `>` is not valid",
            "Only `-`, `+`, a digit from 1 to 9 and a comment may follow the mark. Start the text on \
             the next line, and indent its lines alike.",
        ),
        P::Directive => ("the `%` directive cannot be read", "Remove the line."),
        P::Tag => (
            "the tag cannot be read",
            "Remove the tag, or quote the value if the `!` belongs to it.",
        ),
        P::Anchor => (
            "a `&` or `*` has no name after it",
            "Name the anchor, or quote the value if it is text.",
        ),
        P::Character(c) if c.is_control() || matches!(c, '\u{feff}' | '\u{fffe}' | '\u{ffff}') => {
            let problem = format!("the invisible character U+{:04X} is not allowed", u32::from(c));
            return (problem, "Remove the character, or write it as an escape in double quotes.");
        }
        P::Character(character) => {
            let problem = format!("a value cannot start with `{character}`");
            return (problem, "Put the value in quotes.");
        }
        P::Other => {
            ("the text is not YAML from here on", "Check quotes, brackets and indentation.")
        }
    };
    (problem.into(), advice)
}

fn key(found: KeyKind) -> &'static str {
    match found {
        KeyKind::Null => "empty or null",
        KeyKind::Sequence => "a list",
        KeyKind::Mapping => "a mapping",
        KeyKind::HugeInteger => "a number above 9223372036854775807",
    }
}

/// A name from the text, on one line and not too long.
fn name(key: &str) -> String {
    one_line(&key.escape_debug().to_string())
}
