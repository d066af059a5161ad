//! What the server says beside its answer: `Warning: 299 - "…"` headers.
//!
//! Deprecated versions, unknown fields, policies that only warn: all of it is meant for the
//! user. Every header is read and every warning in it, since a proxy may join them by commas.

use http::HeaderMap;
use http::header::WARNING;

/// The texts, in order, each once. What does not parse is not shown: it is not the API server's.
pub(crate) fn warnings(headers: &HeaderMap) -> Vec<String> {
    let mut texts = Vec::new();
    for value in headers.get_all(WARNING) {
        let mut rest = value.as_bytes();
        while let Some((code, text, tail)) = parse(rest) {
            if code == b"299" && !texts.contains(&text) {
                texts.push(text);
            }
            rest = tail;
        }
    }
    texts
}

/// `code agent "text"`, then perhaps a quoted date and a comma.
fn parse(input: &[u8]) -> Option<(&[u8], String, &[u8])> {
    let mut words = input.trim_ascii_start().splitn(3, |byte| *byte == b' ');
    let (code, _agent, rest) = (words.next()?, words.next()?, words.next()?);
    let (text, mut rest) = quoted(rest.trim_ascii_start())?;
    if let Some((_date, tail)) = quoted(rest.trim_ascii_start()) {
        rest = tail;
    }
    let rest = rest.trim_ascii_start();
    Some((code, text, rest.strip_prefix(b",").unwrap_or(rest)))
}

fn quoted(input: &[u8]) -> Option<(String, &[u8])> {
    let input = input.strip_prefix(b"\"")?;
    let mut text = Vec::new();
    let mut bytes = input.iter().enumerate();
    while let Some((at, byte)) = bytes.next() {
        match byte {
            b'"' => {
                let text = String::from_utf8_lossy(&text).into_owned();
                return Some((text, &input[at + 1..]));
            }
            b'\\' => text.push(*bytes.next()?.1),
            _ => text.push(*byte),
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    fn read(values: &[&str]) -> Vec<String> {
        let mut headers = HeaderMap::new();
        for value in values {
            headers.append(WARNING, HeaderValue::from_bytes(value.as_bytes()).unwrap());
        }
        warnings(&headers)
    }

    #[test]
    fn every_header_and_every_warning_in_it_is_read() {
        assert_eq!(
            read(&[r#"299 - "one""#, r#"299 - "two", 299 - "three""#]),
            ["one", "two", "three"]
        );
    }

    #[test]
    fn escapes_are_undone_and_commas_inside_quotes_are_text() {
        assert_eq!(
            read(&[r#"299 - "unknown field \"spec.x\", a \\ b""#]),
            [r#"unknown field "spec.x", a \ b"#]
        );
        assert_eq!(read(&["299 - \"größer\""]), ["größer"]);
    }

    #[test]
    fn a_date_is_not_a_warning() {
        assert_eq!(read(&[r#"299 - "a" "Sun, 15 Nov 2026 08:00:00 GMT", 299 - "b""#]), ["a", "b"]);
    }

    #[test]
    fn the_same_words_are_told_once() {
        assert_eq!(read(&[r#"299 - "a""#, r#"299 - "a""#]), ["a"]);
    }

    #[test]
    fn other_codes_and_broken_headers_are_left_out() {
        assert!(
            read(&[r#"110 anderson "Response is stale""#, "299", r#"299 - "open"#, ""]).is_empty()
        );
    }
}
