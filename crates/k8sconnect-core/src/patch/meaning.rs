//! What the server makes of a value, and what still means the same: it fills in defaults, leaves out
//! zeros, spells quantities in its own way, and draws ports where it is asked for any.

use serde_json::Value;

use crate::atom::same;
use crate::zero::is_zero;

/// Whether a value says what another one says, and maybe more.
pub(crate) fn covers(value: &Value, written: &Value) -> bool {
    compares(value, written, |value, written| {
        let amounts = amount(value).zip(amount(written));
        same(value, written) || amounts.is_some_and(|(a, b)| a == b)
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

/// A number, or a quantity such as `500m` and `1Gi`, in billionths. `None` for a text that is no
/// quantity, and for one that billionths cannot express exactly.
fn amount(value: &Value) -> Option<i128> {
    let text = match value {
        Value::Number(number) => number.to_string(),
        Value::String(text) => text.trim().to_owned(),
        _ => return None,
    };
    let (number, factor) = match UNITS.iter().find_map(|(u, f)| Some((text.strip_suffix(u)?, *f))) {
        Some((number, factor)) => (number, factor),
        None => match text.split_once(['e', 'E']) {
            Some((number, power)) => (number, power_of_ten(power.parse::<i32>().ok()? + 9)?),
            None => (text.as_str(), BILLION),
        },
    };
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    let digits: i128 = format!("{whole}{fraction}").parse().ok()?;
    let places = power_of_ten(i32::try_from(fraction.len()).ok()?)?;
    let scaled = digits.checked_mul(factor)?;
    (scaled % places == 0).then_some(scaled / places)
}

const BILLION: i128 = 1_000_000_000;

/// The suffixes of quantities, with what one of each is in billionths.
const UNITS: [(&str, i128); 15] = [
    ("Ki", BILLION << 10),
    ("Mi", BILLION << 20),
    ("Gi", BILLION << 30),
    ("Ti", BILLION << 40),
    ("Pi", BILLION << 50),
    ("Ei", BILLION << 60),
    ("n", 1),
    ("u", 1_000),
    ("m", 1_000_000),
    ("k", BILLION * 1_000),
    ("M", BILLION * 1_000_000),
    ("G", BILLION * BILLION),
    ("T", BILLION * BILLION * 1_000),
    ("P", BILLION * BILLION * 1_000_000),
    ("E", BILLION * BILLION * BILLION),
];

fn power_of_ten(exponent: i32) -> Option<i128> {
    10_i128.checked_pow(u32::try_from(exponent).ok()?)
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
            (json!("1k"), json!("1e3")),
            (json!("9007199254740993"), json!("9007199254740993.0")),
            (json!({"a": 1, "default": true}), json!({"a": 1.0})),
            (json!(["a"]), json!(["a"])),
            (json!({"a": 1}), json!({"a": 1, "b": null, "c": "", "d": 0, "e": false, "f": []})),
        ] {
            assert!(covers(&server, &written), "{server} {written}");
        }
        for (server, written) in [
            (json!("1"), json!("2")),
            (json!("1G"), json!("1Gi")),
            (json!("9007199254740993"), json!("9007199254740992")),
            (json!("1000000000"), json!("1000000001")),
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
