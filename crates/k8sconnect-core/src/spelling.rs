//! Whether two bodies list their items in the same order.
//!
//! Leaves are named by key, so a projection is blind to order; the server is not. Another order of
//! containers or environment variables is a change, and must not pass for a mere respelling.

use serde_json::Value;

use crate::field::walk::step_written;
use crate::field::{FieldSet, PathElement};

/// Whether the items that `fields` names by key or value stand in the same order in both.
pub fn same_order(fields: &FieldSet, left: &Value, right: &Value) -> bool {
    order(fields, left) == order(fields, right)
        && fields.children().all(|(element, below)| {
            match (step_written(left, element), step_written(right, element)) {
                (Some(left), Some(right)) => same_order(below, left, right),
                (None, None) => true,
                _ => false,
            }
        })
}

/// The named items of a list, in the order in which they are written.
fn order<'a>(fields: &'a FieldSet, list: &Value) -> Vec<&'a PathElement> {
    let Some(items) = list.as_array() else {
        return Vec::new();
    };
    let mut placed: Vec<(usize, &PathElement)> = fields
        .children()
        .filter_map(|(element, _)| {
            let found = step_written(list, element)?;
            Some((items.iter().position(|item| std::ptr::eq(item, found))?, element))
        })
        .collect();
    placed.sort_by_key(|(place, _)| *place);
    placed.into_iter().map(|(_, element)| element).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::field::FieldPath;

    fn fields() -> FieldSet {
        ["env[name=A].value", "env[name=B].value", "cpu"]
            .iter()
            .map(|path| path.parse::<FieldPath>().unwrap())
            .collect()
    }

    #[test]
    fn another_order_of_items_is_seen() {
        let ab = json!({"env": [{"name": "A", "value": 1}, {"name": "B", "value": 1}]});
        let ba = json!({"env": [{"name": "B", "value": 1}, {"name": "A", "value": 1}]});
        assert!(same_order(&fields(), &ab, &ab));
        assert!(!same_order(&fields(), &ab, &ba));
    }

    #[test]
    fn another_spelling_is_not_another_order() {
        let a = json!({"env": [{"name": "A", "value": 1}], "cpu": "1"});
        let b = json!({"env": [{"name": "A", "value": 1}], "cpu": "1000m"});
        assert!(same_order(&fields(), &a, &b));
    }
}
