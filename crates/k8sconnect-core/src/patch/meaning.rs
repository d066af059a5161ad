//! What the server makes of a value, and what still means the same: it fills in defaults, leaves out
//! zeros, spells quantities in its own way, and draws ports where it is asked for any.

use serde_json::Value;

use crate::field::atom::same;
use crate::swallowed::is_zero;

/// Whether a value says what another one says, and maybe more.
pub(crate) fn covers(value: &Value, written: &Value) -> bool {
    compares(value, written, |value, written| {
        let amounts = amount(value).zip(amount(written));
        same(value, written) || amounts.is_some_and(|(a, b)| (a - b).abs() <= a.abs() * 1e-9)
    })
}

/// The same, where a number may have been drawn for a zero.
pub(super) fn may_come_of(value: &Value, written: &Value) -> bool {
    compares(value, written, |value, written| {
        covers(value, written) || (written.is_number() && is_zero(written) && value.is_number())
    })
}

fn compares(value: &Value, written: &Value, agree: fn(&Value, &Value) -> bool) -> bool {
    match (value, written) {
        (Value::Object(value), Value::Object(written)) => written.iter().all(|(name, written)| {
            value.get(name).map_or(is_zero(written), |value| compares(value, written, agree))
        }),
        (Value::Array(value), Value::Array(written)) => {
            let mut pairs = value.iter().zip(written);
            value.len() == written.len() && pairs.all(|(a, b)| compares(a, b, agree))
        }
        (value, written) => agree(value, written),
    }
}

/// A number, or a quantity such as `500m` and `1Gi`, as one number.
fn amount(value: &Value) -> Option<f64> {
    let text = match value {
        Value::Number(number) => number.to_string(),
        Value::String(text) => text.trim().to_owned(),
        _ => return None,
    };
    let units = [
        ("Ki", 1024_f64),
        ("Mi", 1024_f64.powi(2)),
        ("Gi", 1024_f64.powi(3)),
        ("Ti", 1024_f64.powi(4)),
        ("Pi", 1024_f64.powi(5)),
        ("Ei", 1024_f64.powi(6)),
        ("n", 1e-9),
        ("u", 1e-6),
        ("m", 1e-3),
        ("k", 1e3),
        ("M", 1e6),
        ("G", 1e9),
        ("T", 1e12),
        ("P", 1e15),
        ("E", 1e18),
    ];
    let unit = units.iter().find_map(|(unit, factor)| Some((text.strip_suffix(unit)?, *factor)));
    let (digits, factor) = unit.unwrap_or((&text, 1.0));
    let is_number = digits.starts_with(|c: char| c.is_ascii_digit() || "+-.".contains(c));
    is_number.then(|| digits.parse::<f64>().ok())?.map(|number| number * factor)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_only_has_another_spelling_means_the_same() {
        for (server, written) in [
            (json!("1"), json!("1000m")),
            (json!("1"), json!(1)),
            (json!("1Gi"), json!("1024Mi")),
            (json!("1500m"), json!("1.5")),
            (json!({"a": 1, "default": true}), json!({"a": 1.0})),
            (json!(["a"]), json!(["a"])),
            (json!({"a": 1}), json!({"a": 1, "b": null, "c": "", "d": 0, "e": false, "f": []})),
        ] {
            assert!(covers(&server, &written), "{server} {written}");
        }
        for (server, written) in [
            (json!("1"), json!("2")),
            (json!("1G"), json!("1Gi")),
            (json!("m"), json!("k")),
            (json!(["kubernetes"]), json!(["a.b/c"])),
            (json!({}), json!({"a": 1})),
            (json!(""), json!("0")),
        ] {
            assert!(!covers(&server, &written), "{server} {written}");
        }
    }

    #[test]
    fn what_the_server_fills_in_may_come_of_a_zero_and_of_nothing_else() {
        let written = json!({"port": 90, "nodePort": 0, "targetPort": "http"});
        let answer =
            json!({"port": 90, "nodePort": 30001, "targetPort": "http", "protocol": "TCP"});
        assert!(may_come_of(&answer, &written) && !covers(&answer, &written));
        assert!(!may_come_of(&json!({"port": 91, "nodePort": 30001}), &written));
        assert!(!may_come_of(&json!({"key": "gpu"}), &json!({"key": ""})));
    }
}
