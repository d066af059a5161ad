//! A JSON value that can be compared and ordered, as path elements need.
//!
//! `serde_json::Value` has no order, and tells `1` from `1.0`; the API server does not.

use std::cmp::Ordering;

use serde_json::{Number, Value};

/// A value inside a path: what a list item is keyed by, or a member of a set.
#[derive(Clone, Debug)]
pub struct Atom(pub Value);

impl Atom {
    pub fn text(text: impl Into<String>) -> Self {
        Self(Value::String(text.into()))
    }
}

impl PartialEq for Atom {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Atom {}

impl PartialOrd for Atom {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Atom {
    fn cmp(&self, other: &Self) -> Ordering {
        compare(&self.0, &other.0)
    }
}

/// Whether a value is a string, a number or a boolean.
pub(crate) fn is_scalar(value: &Value) -> bool {
    !(value.is_object() || value.is_array() || value.is_null())
}

/// Whether two values mean the same: numbers by value, maps whatever their order of keys.
pub fn same(left: &Value, right: &Value) -> bool {
    compare(left, right) == Ordering::Equal
}

/// A total order over JSON values.
pub fn compare(left: &Value, right: &Value) -> Ordering {
    match (left, right) {
        (Value::Bool(a), Value::Bool(b)) => a.cmp(b),
        (Value::Number(a), Value::Number(b)) => compare_numbers(a, b),
        (Value::String(a), Value::String(b)) => a.cmp(b),
        (Value::Array(a), Value::Array(b)) => a
            .iter()
            .zip(b)
            .map(|(x, y)| compare(x, y))
            .find(|order| order.is_ne())
            .unwrap_or_else(|| a.len().cmp(&b.len())),
        (Value::Object(a), Value::Object(b)) => a
            .iter()
            .zip(b)
            .map(|((k, x), (l, y))| k.cmp(l).then_with(|| compare(x, y)))
            .find(|order| order.is_ne())
            .unwrap_or_else(|| a.len().cmp(&b.len())),
        _ => rank(left).cmp(&rank(right)),
    }
}

fn compare_numbers(left: &Number, right: &Number) -> Ordering {
    let whole = |n: &Number| n.as_i64().map(i128::from).or_else(|| n.as_u64().map(i128::from));
    match (whole(left), whole(right)) {
        (Some(a), Some(b)) => a.cmp(&b),
        _ => {
            let float = |n: &Number| n.as_f64().unwrap_or(f64::MAX);
            float(left).total_cmp(&float(right))
        }
    }
}

fn rank(value: &Value) -> u8 {
    match value {
        Value::Null => 0,
        Value::Bool(_) => 1,
        Value::Number(_) => 2,
        Value::String(_) => 3,
        Value::Array(_) => 4,
        Value::Object(_) => 5,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn numbers_are_equal_by_value() {
        assert_eq!(Atom(json!(1)), Atom(json!(1.0)));
        assert_ne!(Atom(json!(1)), Atom(json!("1")));
        assert_ne!(Atom(json!(9_007_199_254_740_993_i64)), Atom(json!(9_007_199_254_740_992_i64)));
    }

    #[test]
    fn a_shorter_list_comes_first() {
        assert!(Atom(json!([1])) < Atom(json!([1, 2])));
        assert!(Atom(json!({"a": 1})) < Atom(json!({"a": 1, "b": 0})));
    }
}
