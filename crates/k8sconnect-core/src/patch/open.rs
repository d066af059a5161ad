//! Fields of which the server fills in what the patch does not say: an address or a port that it
//! allocates. A dry-run draws another one than the write, so that nothing can be promised.

use serde_json::Value;

use super::Patch;
use super::outcome::Outcome;
use crate::field::FieldPath;
use crate::field::walk::at;
use crate::zero::is_allocated;

impl Patch {
    /// The leaves in which the answer to a dry-run has something that neither the patch says nor the
    /// object had there before.
    pub fn open(&self, live: &Value, answer: &Value, outcome: &Outcome) -> Vec<FieldPath> {
        let wishes = self.wishes(outcome);
        let is_open = |path: &&FieldPath| {
            let (Some(value), before) = (at(answer, path), at(live, path)) else {
                return false;
            };
            let before: Vec<_> = before.into_iter().collect();
            // A field that is to go has the default afterwards, which is the same each time.
            let wish = wishes.get(*path).and_then(Option::as_ref).filter(|wish| !wish.is_null());
            wish.is_some_and(|wish| is_filled_in(value, wish, &before))
        };
        outcome.leaves.0.keys().filter(is_open).cloned().collect()
    }
}

/// Whether there is anything in a value that was not written, nor is in one of those before.
fn is_filled_in(value: &Value, written: &Value, before: &[&Value]) -> bool {
    match (value, written) {
        (Value::Object(value), Value::Object(written)) => value.iter().any(|(name, value)| {
            let before: Vec<_> = before.iter().filter_map(|it| it.get(name)).collect();
            is_filled_in(value, written.get(name).unwrap_or(&Value::Null), &before)
        }),
        (Value::Array(items), Value::Array(written)) if items.len() == written.len() => {
            let before: Vec<_> = before.iter().filter_map(|it| it.as_array()).flatten().collect();
            items.iter().zip(written).any(|(item, written)| is_filled_in(item, written, &before))
        }
        (value, written) => is_allocated(written, value) && !before.contains(&value),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_the_server_draws_is_open_and_what_stays_is_not() {
        let written = json!([{"port": 80}, {"port": 81, "nodePort": 0}]);
        let drawn = json!([{"port": 80, "nodePort": 30001}, {"port": 81, "nodePort": 30002}]);
        let before = json!([{"port": 80, "nodePort": 30001}]);
        assert!(is_filled_in(&drawn, &written, &[&before]));
        assert!(!is_filled_in(&drawn, &written, &[&drawn]));
        assert!(!is_filled_in(&written, &written, &[]));
        assert!(is_filled_in(&json!(30001), &json!(0), &[]));
        assert!(!is_filled_in(&json!("1"), &json!("1000m"), &[]));
    }
}
