//! How a value of the cluster stands in text that people read: bare where nothing is lost by it.
//!
//! The string `"3"` and the number 3 must look different, and so must the empty string and
//! nothing at all. Terraform keeps its strings in NFC; what we hand it is normalised here, or the
//! same text would count as drift for ever.

use serde_json::Value;
use unicode_normalization::{UnicodeNormalization, is_nfc};

/// A leaf as it is shown: a string bare unless that would mislead, anything else as compact JSON
/// with sorted keys.
pub fn shown(value: &Value) -> String {
    match value {
        Value::String(s) if reads_as_another_type(s) => nfc(&quoted(s)),
        Value::String(s) => nfc(s),
        other => nfc(&other.to_string()),
    }
}

/// The leaf behind a text that [`shown`] made.
pub fn read(text: &str) -> Value {
    match serde_json::from_str(text) {
        Ok(value) if reads_as_another_type(text) => value,
        _ => Value::String(text.to_owned()),
    }
}

/// How far apart two spellings are: Levenshtein's.
pub fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, y) in b.iter().enumerate() {
            let replaced = diagonal + usize::from(x != *y);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}

/// A string in JSON quotes.
pub fn quoted(text: &str) -> String {
    Value::String(text.to_owned()).to_string()
}

/// A text as it stands in an address: all but the unreserved characters, and those to be kept, is
/// encoded.
pub fn percent_encoded(text: &str, kept: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => {
                out.push(char::from(byte));
            }
            _ if kept.as_bytes().contains(&byte) => out.push(char::from(byte)),
            _ => out.push_str(&format!("%{byte:02X}")),
        }
    }
    out
}

/// How the text of a value begins that is not shown.
pub(crate) const WITHHELD: &str = "(sensitive";

/// What stands for a value that is not there.
pub const ABSENT: &str = "(absent)";

/// Whether a bare string would be taken for something else: another JSON type, a quoted string, a
/// value that is withheld, or nothing.
pub fn reads_as_another_type(text: &str) -> bool {
    text.is_empty()
        || text.starts_with(['"', '{', '['])
        || text.starts_with(WITHHELD)
        || text == ABSENT
        || matches!(serde_json::from_str(text), Ok(Value::Null | Value::Bool(_) | Value::Number(_)))
}

/// The text in Unicode normal form C, as Terraform keeps it.
pub fn nfc(text: &str) -> String {
    if is_nfc(text) { text.to_owned() } else { text.nfc().collect() }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn text_and_number_look_different() {
        assert_eq!(shown(&json!(3)), "3");
        assert_eq!(shown(&json!("3")), r#""3""#);
        assert_eq!(shown(&json!("true")), r#""true""#);
        assert_eq!(shown(&json!("")), r#""""#);
        assert_eq!(shown(&json!("null")), r#""null""#);
        assert_eq!(shown(&json!("[]")), r#""[]""#);
        assert_eq!(shown(&json!("(sensitive)")), r#""(sensitive)""#);
        assert_eq!(shown(&json!("(absent)")), r#""(absent)""#);
    }

    #[test]
    fn ordinary_text_stands_bare() {
        assert_eq!(shown(&json!("nginx:1.27")), "nginx:1.27");
        assert_eq!(shown(&json!("two\nlines")), "two\nlines");
    }

    #[test]
    fn structures_are_compact_json() {
        assert_eq!(shown(&json!({"b": [1], "a": "x"})), r#"{"a":"x","b":[1]}"#);
    }

    #[test]
    fn what_is_shown_reads_back() {
        let texts = ["3", "", "a", "(absent)"].map(|text| json!(text));
        for value in [json!(3), json!(["x"]), json!(null)].into_iter().chain(texts) {
            assert_eq!(read(&shown(&value)), value);
        }
    }

    #[test]
    fn decomposed_letters_are_composed() {
        assert_eq!(shown(&json!("e\u{301}")), "\u{e9}");
    }
}
