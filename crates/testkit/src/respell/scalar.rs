//! The many ways to write one scalar. Where in doubt, it is quoted: what is tested is how others
//! read, not how daring we write.

use std::fmt::Write as _;

use fastrand::Rng;
use k8sconnect_core::text::nfc;
use serde_json::Number;

/// Words that YAML 1.1 does not read as text.
const RESERVED: [&str; 11] =
    ["y", "n", "yes", "no", "on", "off", "true", "false", "null", "nan", "inf"];

pub(super) fn number(rng: &mut Rng, number: &Number, out: &mut String) {
    let _ = match number.as_u64() {
        Some(whole) if rng.u8(..4) == 0 => write!(out, "{whole:#x}"),
        Some(whole) if rng.u8(..4) == 0 => write!(out, "+{whole}"),
        _ => write!(out, "{number}"),
    };
}

pub(super) fn boolean(rng: &mut Rng, truth: bool, out: &mut String) {
    let words = if truth { ["true", "yes", "on", "True"] } else { ["false", "no", "off", "FALSE"] };
    out.push_str(words[rng.usize(..4)]);
}

/// Text, or a key, on one line.
pub(super) fn one_line(rng: &mut Rng, text: &str, out: &mut String) {
    let choice = rng.u8(..3);
    if !is_nfc(text) {
        double_quoted(text, out);
    } else if choice == 0 && is_plain(text) {
        out.push_str(text);
    } else if choice <= 1 && text.chars().all(is_printable) {
        let _ = write!(out, "'{}'", text.replace('\'', "''"));
    } else {
        double_quoted(text, out);
    }
}

/// Whether the text can be a literal block.
pub(super) fn may_be_literal(text: &str) -> bool {
    text.contains('\n')
        && text.contains(|c| c != '\n')
        && is_nfc(text)
        && text.chars().all(|c| c == '\n' || c == '\t' || is_printable(c))
}

/// A block scalar, `step` deeper than what holds it, with the line break behind it.
pub(super) fn literal(text: &str, indent: usize, step: usize, out: &mut String) {
    out.push('|');
    // Readers take the indent from the first line, unless that line is blank or indented.
    if text.starts_with([' ', '\t', '\n']) {
        let _ = write!(out, "{step}");
    }
    if !text.ends_with('\n') {
        out.push('-');
    } else if text.ends_with("\n\n") {
        out.push('+');
    }
    out.push('\n');
    for line in text.strip_suffix('\n').unwrap_or(text).split('\n') {
        if !line.is_empty() {
            out.extend(std::iter::repeat_n(' ', indent + step));
            out.push_str(line);
        }
        out.push('\n');
    }
}

/// Terraform composes what it is handed. Text that is to arrive decomposed must be escaped.
fn is_nfc(text: &str) -> bool {
    nfc(text) == text
}

fn double_quoted(text: &str, out: &mut String) {
    let in_ascii = !is_nfc(text);
    out.push('"');
    for character in text.chars() {
        match character {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            shown if is_printable(shown) && (shown.is_ascii() || !in_ascii) => out.push(shown),
            other => {
                let _ = write!(out, "\\U{:08X}", u32::from(other));
            }
        }
    }
    out.push('"');
}

fn is_plain(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphabetic())
        && text.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | '/'))
        && !RESERVED.contains(&text.to_ascii_lowercase().as_str())
}

fn is_printable(character: char) -> bool {
    !matches!(
        character,
        '\0'..='\x1F' | '\x7F'..='\u{A0}' | '\u{2028}' | '\u{2029}' | '\u{FEFF}' | '\u{FFFE}' | '\u{FFFF}'
    )
}
