//! Another value of the same type, so near to the first that a server may well take it.

use base64::Engine;
use base64::engine::general_purpose::STANDARD as BASE64;
use serde_json::{Value, json};

/// Words of which the server knows a few only.
const PAIRS: [(&str, &str); 13] = [
    ("Always", "IfNotPresent"),
    ("TCP", "UDP"),
    ("Prefix", "Exact"),
    ("Retain", "Delete"),
    ("NoSchedule", "PreferNoSchedule"),
    ("Equal", "Exists"),
    ("In", "NotIn"),
    ("Ignore", "Fail"),
    ("RollingUpdate", "OnDelete"),
    ("Forbid", "Replace"),
    ("Immediate", "WaitForFirstConsumer"),
    ("None", "NoneOnDryRun"),
    // The types of a schema, which most leaves of a definition are.
    ("string", "integer"),
];

pub(super) fn value(value: &Value) -> Value {
    match value {
        Value::Bool(truth) => json!(!truth),
        Value::Number(number) => match (number.as_i64(), number.as_f64()) {
            (Some(i64::MAX), _) => json!(i64::MAX - 1),
            (Some(whole), _) => json!(whole + 1),
            (None, Some(float)) => json!(float + 0.5),
            (None, None) => json!(1),
        },
        Value::String(text) => json!(string(text)),
        other => other.clone(),
    }
}

/// Base64 of another text.
pub(super) fn encoded(value: &Value) -> Value {
    let plain = value.as_str().and_then(|text| BASE64.decode(text).ok()).unwrap_or_default();
    json!(BASE64.encode([plain.as_slice(), b"-x"].concat()))
}

fn string(text: &str) -> String {
    let paired = PAIRS.iter().find_map(|(one, other)| match text {
        _ if text == *one => Some(other),
        _ if text == *other => Some(one),
        _ => None,
    });
    if let Some(other) = paired {
        return (*other).to_owned();
    }
    // Quantities, durations, dates, addresses and percentages all stay what they are when the
    // number that they begin with grows.
    let digits = text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    if (1..=15).contains(&digits)
        && let Ok(number) = text[..digits].parse::<u64>()
    {
        return format!("{:0digits$}{}", number + 1, &text[digits..]);
    }
    let body = text.trim_end_matches('\n');
    format!("{body}-x{}", &text[body.len()..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keeps_the_type_and_the_look() {
        for (one, other) in [
            (json!("1000m"), json!("1001m")),
            (json!("0644"), json!("0645")),
            (json!("10.0.0.0/8"), json!("11.0.0.0/8")),
            (json!("nginx"), json!("nginx-x")),
            (json!("two\nlines\n"), json!("two\nlines-x\n")),
            (json!(""), json!("-x")),
            (json!(3), json!(4)),
            (json!(i64::MAX), json!(i64::MAX - 1)),
            (json!(0.5), json!(1.0)),
            (json!(true), json!(false)),
            (json!("UDP"), json!("TCP")),
            (json!("string"), json!("integer")),
        ] {
            assert_eq!(value(&one), other);
        }
    }
}
