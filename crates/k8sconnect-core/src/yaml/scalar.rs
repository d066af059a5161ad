//! What one scalar means: the tables of `go-yaml` v2, and how Go prints the result as JSON.
//!
//! Nothing here is YAML 1.2. The order of the attempts matters (a word, then an integer in Go's
//! notation, then a decimal fraction, then text) and is Go's.

use std::borrow::Cow;

use base64::Engine as _;
use base64::alphabet;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use serde_json::{Number, Value};

use super::timestamp;
use super::tree::{Scalar, Style, Tag};

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Meaning<'a> {
    Null,
    Bool(bool),
    Int(i64),
    /// Above what an `i64` holds.
    Huge(u64),
    Float(f64),
    Text(Cow<'a, str>),
}

/// Why a scalar has no meaning: it is not what its tag says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TagMismatch(pub(super) &'static str);

pub(super) fn meaning<'a>(scalar: &'a Scalar<'_>) -> Result<Meaning<'a>, TagMismatch> {
    let text = scalar.text.as_ref();
    match scalar.tag {
        Tag::Absent if scalar.style == Style::Plain => Ok(plain(text)),
        Tag::Absent | Tag::NonSpecific | Tag::Str | Tag::Merge | Tag::Other => Ok(as_text(text)),
        Tag::Bool => match plain(text) {
            found @ Meaning::Bool(_) => Ok(found),
            _ => Err(TagMismatch("!!bool")),
        },
        Tag::Int => match plain(text) {
            found @ (Meaning::Int(_) | Meaning::Huge(_)) => Ok(found),
            _ => Err(TagMismatch("!!int")),
        },
        Tag::Float => match plain(text) {
            found @ Meaning::Float(_) => Ok(found),
            Meaning::Int(whole) => Ok(Meaning::Float(whole as f64)),
            _ => Err(TagMismatch("!!float")),
        },
        Tag::Null => match plain(text) {
            Meaning::Null => Ok(Meaning::Null),
            _ => Err(TagMismatch("!!null")),
        },
        Tag::Timestamp if timestamp::is_timestamp(text) => Ok(as_text(text)),
        Tag::Timestamp => Err(TagMismatch("!!timestamp")),
        Tag::Binary => binary(text).map(|text| Meaning::Text(Cow::Owned(text))),
    }
}

fn as_text(text: &str) -> Meaning<'_> {
    Meaning::Text(Cow::Borrowed(text))
}

/// What a plain scalar without a tag means.
pub(super) fn plain(text: &str) -> Meaning<'_> {
    let Some(first) = text.bytes().next() else {
        return Meaning::Null;
    };
    match first {
        b'y' | b'Y' | b'n' | b'N' | b't' | b'T' | b'f' | b'F' | b'o' | b'O' | b'~' => word(text),
        b'.' => dotted(text),
        b'0'..=b'9' | b'+' | b'-' => number(text),
        _ => as_text(text),
    }
}

fn word(text: &str) -> Meaning<'_> {
    match text {
        "y" | "Y" | "yes" | "Yes" | "YES" | "true" | "True" | "TRUE" | "on" | "On" | "ON" => {
            Meaning::Bool(true)
        }
        "n" | "N" | "no" | "No" | "NO" | "false" | "False" | "FALSE" | "off" | "Off" | "OFF" => {
            Meaning::Bool(false)
        }
        "~" | "null" | "Null" | "NULL" => Meaning::Null,
        _ => as_text(text),
    }
}

/// A leading dot is the one place where Go wants digits on both sides of an underscore.
fn dotted(text: &str) -> Meaning<'_> {
    match text {
        ".nan" | ".NaN" | ".NAN" => return Meaning::Float(f64::NAN),
        ".inf" | ".Inf" | ".INF" => return Meaning::Float(f64::INFINITY),
        _ => {}
    }
    let digit = |part: Option<&u8>| part.is_some_and(u8::is_ascii_digit);
    let between_digits = text
        .split('_')
        .map(str::as_bytes)
        .collect::<Vec<_>>()
        .windows(2)
        .all(|sides| digit(sides[0].last()) && digit(sides[1].first()));
    between_digits
        .then(|| float(&without_underscores(text)))
        .flatten()
        .map_or_else(|| as_text(text), Meaning::Float)
}

fn number(text: &str) -> Meaning<'_> {
    match text {
        "+.inf" | "+.Inf" | "+.INF" => return Meaning::Float(f64::INFINITY),
        "-.inf" | "-.Inf" | "-.INF" => return Meaning::Float(f64::NEG_INFINITY),
        _ => {}
    }
    let digits = without_underscores(text);
    integer(&digits)
        .or_else(|| float(&digits).map(Meaning::Float))
        .or_else(|| signed_binary(&digits))
        .unwrap_or_else(|| as_text(text))
}

fn without_underscores(text: &str) -> Cow<'_, str> {
    if text.contains('_') { text.replace('_', "").into() } else { text.into() }
}

/// An integer as Go's `ParseInt` with base 0 reads it: `0x`, `0o`, `0b`, and a bare `0` for octal.
fn integer(text: &str) -> Option<Meaning<'static>> {
    let (sign, digits) = match text.as_bytes().first()? {
        b'+' => (Some('+'), &text[1..]),
        b'-' => (Some('-'), &text[1..]),
        _ => (None, text),
    };
    let magnitude = magnitude(digits)?;
    match sign {
        Some('-') => 0i64.checked_sub_unsigned(magnitude).map(Meaning::Int),
        _ => match i64::try_from(magnitude) {
            Ok(whole) => Some(Meaning::Int(whole)),
            // Go's second attempt is `ParseUint`, which takes no sign.
            Err(_) if sign.is_none() => Some(Meaning::Huge(magnitude)),
            Err(_) => None,
        },
    }
}

fn magnitude(digits: &str) -> Option<u64> {
    let bytes = digits.as_bytes();
    let (radix, digits) = match bytes {
        [] => return None,
        [b'0'] => return Some(0),
        [b'0', b'b' | b'B', _, ..] => (2, &digits[2..]),
        [b'0', b'o' | b'O', _, ..] => (8, &digits[2..]),
        [b'0', b'x' | b'X', _, ..] => (16, &digits[2..]),
        [b'0', ..] => (8, &digits[1..]),
        _ => (10, digits),
    };
    unsigned(digits, radix)
}

/// `from_str_radix` takes a sign, which cannot stand here.
fn unsigned(digits: &str, radix: u32) -> Option<u64> {
    if digits.starts_with(['+', '-']) {
        return None;
    }
    u64::from_str_radix(digits, radix).ok()
}

/// Go tries what follows `0b` once more, and that attempt takes a sign: `0b-1` is -1.
fn signed_binary(text: &str) -> Option<Meaning<'static>> {
    i64::from_str_radix(text.strip_prefix("0b")?, 2).ok().map(Meaning::Int)
}

/// A decimal fraction, with neither infinity nor hexadecimal; what overflows is text to Go.
fn float(text: &str) -> Option<f64> {
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    let (mantissa, exponent) = match unsigned.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent)),
        None => (unsigned, None),
    };
    let all_digits = |s: &str| s.bytes().all(|b| b.is_ascii_digit());
    let (whole, fraction) = match mantissa.split_once('.') {
        Some((whole, fraction)) => (whole, Some(fraction)),
        None => (mantissa, None),
    };
    let mantissa_fits = all_digits(whole)
        && fraction.is_none_or(all_digits)
        && !(whole.is_empty() && fraction.is_none_or(str::is_empty));
    let exponent_fits = exponent.is_none_or(|exponent| {
        let digits = exponent.strip_prefix(['+', '-']).unwrap_or(exponent);
        !digits.is_empty() && all_digits(digits)
    });
    if !(mantissa_fits && exponent_fits) {
        return None;
    }
    text.parse::<f64>().ok().filter(|found| found.is_finite())
}

/// Go would put a replacement character for what is not UTF-8: the value would be lost silently.
fn binary(text: &str) -> Result<String, TagMismatch> {
    const ENGINE: GeneralPurpose = GeneralPurpose::new(
        &alphabet::STANDARD,
        GeneralPurposeConfig::new()
            .with_decode_padding_mode(DecodePaddingMode::RequireCanonical)
            .with_decode_allow_trailing_bits(true),
    );
    let joined: Cow<'_, str> = if text.contains(['\n', '\r']) {
        text.replace(['\n', '\r'], "").into()
    } else {
        text.into()
    };
    let bytes = ENGINE.decode(joined.as_bytes()).map_err(|_| TagMismatch("!!binary"))?;
    String::from_utf8(bytes).map_err(|_| TagMismatch("!!binary"))
}

/// The JSON number Go prints for a float: without a fraction it is an integer, as far as 64 bits
/// reach. Go prints the shortest digits that identify the float and fills up with zeros, so the
/// integer is taken from the printed digits and not from the float's exact value.
pub(super) fn float_to_json(float: f64) -> Option<Value> {
    if float.fract() == 0.0 && float.abs() < 1e21 {
        let digits = format!("{float}");
        if let Ok(whole) = digits.parse::<i64>() {
            return Some(Value::from(whole));
        }
        if let Ok(whole) = digits.parse::<u64>() {
            return Some(Value::from(whole));
        }
    }
    Number::from_f64(float).map(Value::Number)
}

/// A float as a key: Go prints it with single precision and a short exponent.
pub(super) fn float_to_key(float: f64) -> String {
    let single = float as f32;
    if single.is_nan() {
        return ".nan".to_owned();
    }
    if single.is_infinite() {
        return if single > 0.0 { ".inf" } else { "-.inf" }.to_owned();
    }
    let scientific = format!("{single:e}");
    let Some((mantissa, exponent)) = scientific.split_once('e') else {
        return scientific;
    };
    match exponent.parse::<i32>() {
        Ok(exponent) if !(-4..6).contains(&exponent) => {
            let sign = if exponent < 0 { '-' } else { '+' };
            format!("{mantissa}e{sign}{:02}", exponent.abs())
        }
        _ => format!("{single}"),
    }
}
