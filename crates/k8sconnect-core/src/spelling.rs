//! How a body is written, apart from what it means: the order of items, the spelling of values.
//!
//! Leaves are named by key, so a projection is blind to order; the server is not. Another order of
//! containers or environment variables is a change, and must not pass for a mere respelling.
//!
//! Two managers own a field together only while they send the same bytes. Whoever writes `1000m`
//! where another wrote `1` takes the field without changing it; so what the server is known to
//! spell otherwise is sent as the server spells it.

use serde_json::Value;

use crate::atom::same;
use crate::field::walk::Items;
use crate::field::{FieldPath, FieldSet, PathElement};
use crate::projection::{ABSENT, Texts, is_concealed};
use crate::text;

/// Puts the server's spelling into a body, for scalars that are written as they were at the last
/// write, whose outcome is in `texts`.
pub fn as_the_server_spells(body: &mut Value, before: &Value, texts: &Texts) {
    let spelt = texts.iter().filter(|(_, shown)| !is_concealed(shown) && *shown != ABSENT);
    let fields = spelt.map(|(path, _)| path.clone()).collect();
    respell(body, before, &fields, texts, &mut FieldPath::default());
}

/// Puts the server's spelling into a body, for scalars that mean what stands on the object already.
pub fn as_it_stands(body: &mut Value, texts: &Texts) {
    let written = body.clone();
    as_the_server_spells(body, &written, texts);
}

fn respell(
    body: &mut Value,
    before: &Value,
    fields: &FieldSet,
    texts: &Texts,
    path: &mut FieldPath,
) {
    let scalar = |value: &Value| !(value.is_object() || value.is_array() || value.is_null());
    if fields.is_member()
        && let Some(shown) = texts.get(path)
        && let spelt = text::read(shown)
        && same(before, body)
        && scalar(body)
        && scalar(&spelt)
        // Texts are kept in normal form C; one that is written otherwise is spelt as it is written.
        && text::shown(body) != *shown
    {
        *body = spelt;
        return;
    }
    let places: Vec<Option<usize>> = {
        let items = Items::new(body, fields);
        fields.children().map(|(element, _)| items.written_index(element)).collect()
    };
    let before = Items::new(before, fields);
    for ((element, below), place) in fields.children().zip(places) {
        let inner = match element {
            PathElement::Field(name) => body.get_mut(name.as_str()),
            _ => place.and_then(|place| body.get_mut(place)),
        };
        if let (Some(inner), Some(before)) = (inner, before.step_written(element)) {
            path.push(element.clone());
            respell(inner, before, below, texts, path);
            path.pop();
        }
    }
}

/// Whether the items that `fields` names by key or value stand in the same order in both.
pub fn same_order(fields: &FieldSet, left: &Value, right: &Value) -> bool {
    if order(fields, left) != order(fields, right) {
        return false;
    }
    let (left, right) = (Items::new(left, fields), Items::new(right, fields));
    fields.children().all(|(element, below)| {
        match (left.step_written(element), right.step_written(element)) {
            (Some(left), Some(right)) => same_order(below, left, right),
            (None, None) => true,
            _ => false,
        }
    })
}

/// The named items of a list, in the order in which they are written.
pub fn order<'a>(fields: &'a FieldSet, list: &Value) -> Vec<&'a PathElement> {
    if !list.is_array() {
        return Vec::new();
    }
    let items = Items::new(list, fields);
    let mut placed: Vec<(usize, &PathElement)> = fields
        .children()
        .filter_map(|(element, _)| Some((items.written_index(element)?, element)))
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
    fn a_value_written_as_before_is_sent_as_the_server_spells_it() {
        let texts: Texts = [("cpu".parse().unwrap(), r#""1""#.to_owned())].into();
        let before = json!({"cpu": "1000m"});
        let mut body = before.clone();
        as_the_server_spells(&mut body, &before, &texts);
        assert_eq!(body, json!({"cpu": "1"}));
        let mut changed = json!({"cpu": "2000m"});
        as_the_server_spells(&mut changed, &before, &texts);
        assert_eq!(changed, json!({"cpu": "2000m"}));
    }

    #[test]
    fn letters_that_are_composed_otherwise_are_left_as_they_are_written() {
        let texts: Texts = [("cpu".parse().unwrap(), "\u{e9}".to_owned())].into();
        let before = json!({"cpu": "e\u{301}"});
        let mut body = before.clone();
        as_the_server_spells(&mut body, &before, &texts);
        assert_eq!(body, before);
    }

    #[test]
    fn another_spelling_is_not_another_order() {
        let a = json!({"env": [{"name": "A", "value": 1}], "cpu": "1"});
        let b = json!({"env": [{"name": "A", "value": 1}], "cpu": "1000m"});
        assert!(same_order(&fields(), &a, &b));
    }
}
