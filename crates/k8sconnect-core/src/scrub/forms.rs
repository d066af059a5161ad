//! All the forms in which a value may stand in somebody's words.
//!
//! Plain, as Go and JSON quote it, in base64, as a part of an address. Forms of forms are not
//! looked for, save where that is what people do: `data` of a Secret is in base64 from the start.

use std::collections::BTreeSet;

use base64::Engine;
use base64::engine::general_purpose::{
    STANDARD as BASE64, STANDARD_NO_PAD, URL_SAFE, URL_SAFE_NO_PAD,
};
use serde_json::Value;

use super::SHORTEST;
use crate::text::{percent_encoded, quoted};

/// A value in all its forms. What is in base64 already is a value in plain text too.
pub(super) fn forms_of(hidden: &Value) -> BTreeSet<String> {
    let text = hidden.as_str().map_or_else(|| hidden.to_string(), ToOwned::to_owned);
    let bare: String = text.split_whitespace().collect();
    let decoded = BASE64.decode(bare).ok();
    let bytes = decoded.iter().map(Vec::as_slice).chain([text.as_bytes()]);
    let mut forms: BTreeSet<String> = bytes.flat_map(encoded).collect();
    for plain in decoded.into_iter().filter_map(|it| String::from_utf8(it).ok()).chain([text]) {
        forms.extend(spellings(&plain));
        forms.extend(spellings(plain.trim()));
        // Of a text of many lines one may be quoted.
        let lines = plain.lines().map(str::trim).filter(|line| line.chars().count() >= SHORTEST);
        forms.extend(lines.flat_map(spellings));
    }
    forms
}

/// In both alphabets of base64, filled up or not.
fn encoded(bytes: &[u8]) -> [String; 4] {
    [&BASE64, &STANDARD_NO_PAD, &URL_SAFE, &URL_SAFE_NO_PAD].map(|engine| engine.encode(bytes))
}

/// A text bare, as Go and JSON quote it, and as it stands in an address.
fn spellings(text: &str) -> Vec<String> {
    let json = quoted(text);
    let json = json[1..json.len() - 1].to_owned();
    // Go's JSON is fit to stand in a web page.
    let cautious = json.replace('<', "\\u003c").replace('>', "\\u003e").replace('&', "\\u0026");
    let quoted = [go_quoted(text), go_quoted(&json), go_quoted(&cautious), json, cautious];
    std::iter::once(text.to_owned()).chain(quoted).chain(in_addresses(text)).collect()
}

/// What stays as it is differs from one part of an address to another: in a query, in a path, in a
/// login.
fn in_addresses(text: &str) -> Vec<String> {
    const KEPT: [&str; 4] = ["", ":", "$&+=:@", "$&+,;="];
    let mut encoded = KEPT.map(|kept| percent_encoded(text, kept)).to_vec();
    encoded.push(encoded[0].replace("%20", "+"));
    encoded
}

/// As Go's `%q` has it, without the quotes.
fn go_quoted(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\u{7}' => out.push_str("\\a"),
            '\u{8}' => out.push_str("\\b"),
            '\u{b}' => out.push_str("\\v"),
            '\u{c}' => out.push_str("\\f"),
            c if c < ' ' || c == '\u{7f}' => out.push_str(&format!("\\x{:02x}", u32::from(c))),
            c => out.push(c),
        }
    }
    out
}
