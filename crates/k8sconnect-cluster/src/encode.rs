//! A body as bytes that mean the same to a reader of JSON and to a reader of YAML.
//!
//! An applied body is JSON that the server reads as YAML 1.1. That takes U+0085, U+2028 and U+2029
//! for line breaks even between quotes, folds them together with the spaces around them, and
//! refuses other characters that JSON lets stand. Escaped, each of them is itself to both. Nothing
//! else is changed: characters beyond U+FFFF have no escape that both understand, and need none.

use serde_json::{Error, Value};

pub(crate) fn encode(body: &Value) -> Result<Vec<u8>, Error> {
    let text = serde_json::to_string(body)?;
    let mut bytes = Vec::with_capacity(text.len());
    // Such a character stands between quotes: JSON has it nowhere else.
    let mut rest = text.as_str();
    while let Some((at, odd)) = rest.char_indices().find(|(_, it)| reads_otherwise(*it)) {
        bytes.extend_from_slice(&rest.as_bytes()[..at]);
        bytes.extend_from_slice(format!("\\u{:04x}", u32::from(odd)).as_bytes());
        rest = &rest[at + odd.len_utf8()..];
    }
    bytes.extend_from_slice(rest.as_bytes());
    Ok(bytes)
}

/// Whether a reader of YAML takes the bare character for another, or refuses it. JSON's own escapes
/// see to those below U+0020.
fn reads_otherwise(character: char) -> bool {
    matches!(
        character,
        '\u{7F}'..='\u{9F}' | '\u{2028}' | '\u{2029}' | '\u{FEFF}' | '\u{FFFE}' | '\u{FFFF}'
    )
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    #[test]
    fn what_yaml_reads_otherwise_is_escaped_in_values_and_keys() {
        let body = json!({"a\u{85}": "one \u{2028} two\u{7F}", "b": "é\u{1F600}\n"});
        let text = String::from_utf8(encode(&body).unwrap()).unwrap();
        assert_eq!(text, r#"{"a\u0085":"one \u2028 two\u007f","b":"é😀\n"}"#);
    }

    proptest! {
        #[test]
        fn json_reads_back_what_was_written(key in any::<String>(), value in any::<String>()) {
            let body = json!({key: [value, 1, null, true]});
            prop_assert_eq!(serde_json::from_slice::<Value>(&encode(&body).unwrap()).unwrap(), body);
        }
    }
}
