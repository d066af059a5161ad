//! What became of the items of a list without keys.
//!
//! Such an item is known by its value alone, so that one which changed within looks like one that
//! went and another that came. What a patch put in or took out it names itself; if just as many
//! others went as came, they are the same ones, in the same order.

use serde_json::Value;

use crate::atom::same;

/// For every item the one that it is now, where there is one. `named` tells the items that the patch
/// itself put in or took out.
pub(super) fn successors<'a>(
    items: &[Value],
    others: &'a [Value],
    named: impl Fn(&Value) -> bool,
) -> Vec<Option<&'a Value>> {
    let mut free: Vec<_> = others.iter().map(Some).collect();
    // Of several equal ones, that at the same place.
    let mut found: Vec<Option<&Value>> = items
        .iter()
        .enumerate()
        .map(|(n, item)| free.get_mut(n)?.take_if(|other| same(item, other)))
        .collect();
    for (item, found) in items.iter().zip(&mut found).filter(|(_, found)| found.is_none()) {
        *found = free.iter_mut().find_map(|it| it.take_if(|other| same(item, other)));
    }
    let missing = items.iter().zip(&mut found).filter(|(_, found)| found.is_none());
    let missing: Vec<_> = missing.filter(|(item, _)| !named(item)).collect();
    let came: Vec<_> = free.into_iter().flatten().filter(|other| !named(other)).collect();
    if missing.len() == came.len() {
        for ((item, found), other) in missing.into_iter().zip(came) {
            *found = Some(other).filter(|other| can_become(item, other));
        }
    }
    found
}

/// Only what holds something can change and be the same.
fn can_become(item: &Value, other: &Value) -> bool {
    (item.is_object() && other.is_object()) || (item.is_array() && other.is_array())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// The place of every item's successor.
    fn places(items: &Value, others: &Value, named: &[Value]) -> Vec<Option<usize>> {
        let others = others.as_array().unwrap();
        let found = successors(items.as_array().unwrap(), others, |item| named.contains(item));
        let place = |it: &Value| others.iter().position(|other| std::ptr::eq(it, other)).unwrap();
        found.into_iter().map(|it| it.map(place)).collect()
    }

    #[test]
    fn an_item_that_changed_within_is_found_wherever_it_is_by_now() {
        let (a, b) = (json!({"k": "a"}), json!({"k": "b"}));
        let (new, changed) = (json!({"k": "new"}), json!({"k": "b", "v": 1}));
        let named = std::slice::from_ref(&new);
        assert_eq!(places(&json!([b]), &json!([changed, new]), named), [Some(0)]);
        assert_eq!(places(&json!([a, b]), &json!([new, a, changed]), named), [Some(1), Some(2)]);
        assert_eq!(places(&json!([a, a]), &json!([changed, a]), &[]), [Some(0), Some(1)]);
        assert_eq!(places(&json!([a, b]), &json!([a, a]), &[]), [Some(0), Some(1)]);
        assert_eq!(places(&json!([[1]]), &json!([[1, 2], new]), named), [Some(0)]);
        let removed = [a.clone(), new.clone()];
        assert_eq!(places(&json!([a, b]), &json!([changed, new]), &removed), [None, Some(0)]);
    }

    #[test]
    fn an_item_that_went_has_no_successor() {
        let (a, b) = (json!({"k": "a"}), json!({"k": "b"}));
        let new = json!({"k": "new"});
        let named = std::slice::from_ref(&new);
        assert_eq!(places(&json!([a, b]), &json!([b]), &[]), [None, Some(0)]);
        assert_eq!(places(&json!([a]), &json!([new]), named), [None]);
        assert_eq!(places(&json!(["a"]), &json!(["b"]), &[]), [None]);
        // Which of them changed, nothing tells.
        assert_eq!(places(&json!([a, b]), &json!([{"k": "c"}]), &[]), [None, None]);
    }
}
