//! Writing a value as YAML that a person can read and `kubectl` reads back as the same value.
//!
//! Block style throughout, lists flush with their key as `kubectl` prints them, text of several
//! lines as a literal block, quotes only where they are needed. Keys come in the order of the map:
//! which order is good to read is not decided here.

use std::fmt::Write as _;

use serde_json::{Map, Number, Value};
use unicode_normalization::is_nfc;

use super::scalar::{Meaning, float_to_json, plain};
use super::timestamp::is_timestamp;

/// A key longer than this is written as `? key`, since readers look only 1024 characters ahead for
/// the `:`.
const SIMPLE_KEY_LIMIT: usize = 1000;
const STEP: usize = 2;

/// Writes `value` in block style, with a line break at the end.
#[must_use]
pub fn to_yaml(value: &Value) -> String {
    let mut writer = Writer { out: String::new() };
    match value {
        Value::Object(map) if !map.is_empty() => writer.mapping(map, 0, First::OwnLine),
        Value::Array(items) if !items.is_empty() => writer.sequence(items, 0, First::OwnLine),
        scalar => writer.scalar(scalar, 0),
    }
    writer.out
}

struct Writer {
    out: String,
}

/// Where the first entry of a collection goes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum First {
    OwnLine,
    /// Behind the `- ` that is already written.
    Inline,
}

impl Writer {
    fn mapping(&mut self, map: &Map<String, Value>, indent: usize, mut first: First) {
        for (key, value) in map {
            self.lead(indent, first);
            first = First::OwnLine;
            self.key(key, indent);
            match value {
                Value::Object(map) if !map.is_empty() => {
                    self.out.push('\n');
                    self.mapping(map, indent + STEP, First::OwnLine);
                }
                Value::Array(items) if !items.is_empty() => {
                    self.out.push('\n');
                    self.sequence(items, indent, First::OwnLine);
                }
                scalar => {
                    self.out.push(' ');
                    self.scalar(scalar, indent + STEP);
                }
            }
        }
    }

    fn sequence(&mut self, items: &[Value], indent: usize, mut first: First) {
        for item in items {
            self.lead(indent, first);
            first = First::OwnLine;
            self.out.push_str("- ");
            match item {
                Value::Object(map) if !map.is_empty() => {
                    self.mapping(map, indent + STEP, First::Inline);
                }
                Value::Array(items) if !items.is_empty() => {
                    self.sequence(items, indent + STEP, First::Inline);
                }
                scalar => self.scalar(scalar, indent + STEP),
            }
        }
    }

    fn lead(&mut self, indent: usize, first: First) {
        if first == First::OwnLine {
            self.pad(indent);
        }
    }

    fn pad(&mut self, indent: usize) {
        self.out.extend(std::iter::repeat_n(' ', indent));
    }

    fn key(&mut self, key: &str, indent: usize) {
        let start = self.out.len();
        self.one_line(key);
        if self.out.len() - start > SIMPLE_KEY_LIMIT {
            self.out.insert_str(start, "? ");
            self.out.push('\n');
            self.pad(indent);
        }
        self.out.push(':');
    }

    /// A value without children and the line break behind it; `indent` is that of a literal block.
    fn scalar(&mut self, value: &Value, indent: usize) {
        match value {
            Value::String(text) if is_literal(text) => return self.literal(text, indent),
            Value::String(text) => self.one_line(text),
            Value::Number(number) => self.number(number),
            Value::Null => self.out.push_str("null"),
            Value::Bool(true) => self.out.push_str("true"),
            Value::Bool(false) => self.out.push_str("false"),
            Value::Array(_) => self.out.push_str("[]"),
            Value::Object(_) => self.out.push_str("{}"),
        }
        self.out.push('\n');
    }

    fn number(&mut self, number: &Number) {
        let float = match (number.is_f64(), number.as_f64()) {
            (true, Some(float)) => float,
            _ => return self.out.push_str(&number.to_string()),
        };
        // A whole float would be read back as an integer: write the integer it would become.
        match float_to_json(float) {
            Some(Value::Number(whole)) if !whole.is_f64() => self.out.push_str(&whole.to_string()),
            _ if (1e-5..1e15).contains(&float.abs()) => self.out.push_str(&float.to_string()),
            _ => self.out.push_str(&format!("{float:e}")),
        }
    }

    fn literal(&mut self, text: &str, indent: usize) {
        self.out.push('|');
        // Readers take the indent from the first line, unless that line is blank or indented.
        let indent = indent.max(STEP);
        if text.starts_with([' ', '\t', '\n']) {
            let _ = write!(self.out, "{STEP}");
        }
        if !text.ends_with('\n') {
            self.out.push('-');
        } else if text.ends_with("\n\n") {
            self.out.push('+');
        }
        self.out.push('\n');
        for line in text.strip_suffix('\n').unwrap_or(text).split('\n') {
            if !line.is_empty() {
                self.pad(indent);
                self.out.push_str(line);
            }
            self.out.push('\n');
        }
    }

    fn one_line(&mut self, text: &str) {
        if !is_nfc(text) {
            self.double_quoted(text, is_plain_ascii);
        } else if is_plain(text) {
            self.out.push_str(text);
        } else if text.contains(['"', '\\']) && text.chars().all(is_printable) {
            self.out.push('\'');
            self.out.push_str(&text.replace('\'', "''"));
            self.out.push('\'');
        } else {
            self.double_quoted(text, is_printable);
        }
    }

    fn double_quoted(&mut self, text: &str, stands_bare: fn(char) -> bool) {
        self.out.push('"');
        for character in text.chars() {
            match character {
                '"' => self.out.push_str("\\\""),
                '\\' => self.out.push_str("\\\\"),
                '\n' => self.out.push_str("\\n"),
                '\r' => self.out.push_str("\\r"),
                '\t' => self.out.push_str("\\t"),
                bare if stands_bare(bare) => self.out.push(bare),
                other => {
                    let code = u32::from(other);
                    let _ = match code {
                        0..=0xFF => write!(self.out, "\\x{code:02X}"),
                        0x100..=0xFFFF => write!(self.out, "\\u{code:04X}"),
                        _ => write!(self.out, "\\U{code:08X}"),
                    };
                }
            }
        }
        self.out.push('"');
    }
}

/// Whether a reader may meet the character outside of an escape, and a person would see it.
fn is_printable(character: char) -> bool {
    !matches!(
        character,
        '\0'..='\x1F' | '\x7F'..='\u{A0}' | '\u{2028}' | '\u{2029}' | '\u{FEFF}' | '\u{FFFE}' | '\u{FFFF}'
    )
}

/// Text on its way is often brought into Unicode's composed form, which would change a text that
/// is not in it. What is escaped stays as it is.
fn is_plain_ascii(character: char) -> bool {
    character.is_ascii() && is_printable(character)
}

fn is_literal(text: &str) -> bool {
    text.contains('\n')
        && is_nfc(text)
        && text.contains(|c| c != '\n')
        && text.chars().all(|c| c == '\n' || c == '\t' || is_printable(c))
}

/// Whether the text can stand without quotes and still be read as that text.
fn is_plain(text: &str) -> bool {
    matches!(plain(text), Meaning::Text(_))
        && !is_timestamp(text)
        && !is_base_60(text)
        && text != "<<"
        && has_plain_start(text)
        && !text.starts_with("...")
        && !text.ends_with([' ', ':'])
        && !text.contains(": ")
        && !text.contains(" #")
        && text.chars().all(is_printable)
}

/// Whether readers that go by YAML 1.1 take the text for a number of minutes or hours, as in
/// `12:30:45`. `kubectl` reads text, and quotes it for the sake of the others.
fn is_base_60(text: &str) -> bool {
    let text = text.strip_prefix(['+', '-']).unwrap_or(text);
    let mut parts = text.split(':');
    let first = parts.next().unwrap_or_default();
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'_');
    if !first.starts_with(|c: char| c.is_ascii_digit()) || !digits(first) {
        return false;
    }
    let rest: Vec<_> = parts.collect();
    let Some((last, before)) = rest.split_last() else {
        return false;
    };
    let (last, fraction) = last.split_once('.').unwrap_or((last, ""));
    let sixtieth = |text: &str| text.parse::<u8>().is_ok_and(|n| n < 60) && text.len() <= 2;
    digits(fraction) && before.iter().chain([&last]).all(|part| sixtieth(part))
}

/// The start decides what a reader takes the text for. A dash is let through for the sake of
/// command line flags, which are many in manifests.
fn has_plain_start(text: &str) -> bool {
    let behind_dashes = text.strip_prefix("--").or_else(|| text.strip_prefix('-'));
    match behind_dashes {
        Some(rest) => rest.starts_with(|c: char| c.is_ascii_alphanumeric()),
        None => !text.starts_with([
            ' ', '?', ':', ',', '[', ']', '{', '}', '#', '&', '*', '!', '|', '>', '\'', '"', '%',
            '@', '`', '=',
        ]),
    }
}
