//! How a body is written, apart from what it means: the order of items, the spelling of values.
//!
//! Leaves are named by key, so a projection is blind to order; the server is not. Another order of
//! containers or environment variables is a change, and must not pass for a mere respelling.
//!
//! Two managers own a field together only while they send the same bytes. Whoever writes `1000m`
//! where another wrote `1` takes the field without changing it. Which two spellings mean the same
//! only a dry-run tells, so that a [`Respelling`] is made of what was sent and what was answered.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::atom::{is_scalar, same};
use crate::field::walk::Items;
use crate::field::{FieldPath, FieldSet, PathElement};
use crate::projection::{ABSENT, Texts, is_concealed};
use crate::text;

/// A scalar as it was sent, and as the answer has it.
#[derive(Clone, Debug, PartialEq)]
pub struct Respelling {
    pub sent: Value,
    pub answered: Value,
}

pub type Respellings = BTreeMap<FieldPath, Respelling>;

/// The scalars of a body that the answer to it has in another spelling.
pub fn respelt(fields: &FieldSet, sent: &Value, answer: &Value) -> Respellings {
    let mut found = Respellings::new();
    compare(fields, sent, answer, &mut FieldPath::default(), &mut found);
    found
}

fn compare(
    fields: &FieldSet,
    sent: &Value,
    answer: &Value,
    path: &mut FieldPath,
    found: &mut Respellings,
) {
    if fields.is_member() && is_scalar(sent) && is_scalar(answer) && !same(sent, answer) {
        let respelling = Respelling { sent: sent.clone(), answered: answer.clone() };
        found.insert(path.clone(), respelling);
    }
    let (sent, answer) = (Items::new(sent, fields), Items::new(answer, fields));
    for (element, below) in fields.children() {
        if let (Some(sent), Some(answer)) = (sent.step_written(element), answer.step(element)) {
            path.push(PathElement::clone(element));
            compare(below, sent, answer, path, found);
            path.pop();
        }
    }
}

/// Puts the server's spelling into a body, where the body still says what was sent.
pub fn respell(body: &mut Value, respellings: &Respellings) {
    let fields = respellings.keys().cloned().collect();
    put(body, &fields, respellings, &mut FieldPath::default());
}

fn put(body: &mut Value, fields: &FieldSet, respellings: &Respellings, path: &mut FieldPath) {
    if let Some(Respelling { sent, answered }) = respellings.get(path)
        && body == sent
    {
        *body = answered.clone();
        return;
    }
    let places: Vec<Option<usize>> = {
        let items = Items::new(body, fields);
        fields.children().map(|(element, _)| items.written_index(element)).collect()
    };
    for ((element, below), place) in fields.children().zip(places) {
        let inner = match element {
            PathElement::Field(name) => body.get_mut(name.as_str()),
            _ => place.and_then(|place| body.get_mut(place)),
        };
        if let Some(inner) = inner {
            path.push(element.clone());
            put(inner, below, respellings, path);
            path.pop();
        }
    }
}

/// The scalars that a body has in another spelling than these texts.
pub fn spelt_otherwise(body: &Value, texts: &Texts) -> Vec<FieldPath> {
    let shown = texts.iter().filter(|(_, text)| !is_concealed(text) && *text != ABSENT);
    let fields = shown.map(|(path, _)| path.clone()).collect();
    let mut found = Vec::new();
    differing(&fields, body, texts, &mut FieldPath::default(), &mut found);
    found
}

fn differing(
    fields: &FieldSet,
    body: &Value,
    texts: &Texts,
    path: &mut FieldPath,
    found: &mut Vec<FieldPath>,
) {
    if fields.is_member() && is_scalar(body) && texts.get(path) != Some(&text::shown(body)) {
        found.push(path.clone());
    }
    let items = Items::new(body, fields);
    for (element, below) in fields.children() {
        if let Some(inner) = items.step_written(element) {
            path.push(element.clone());
            differing(below, inner, texts, path, found);
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
    fn a_body_is_respelt_only_where_it_says_what_was_sent() {
        let written = json!({"cpu": "1000m", "env": [{"name": "A", "value": 1}]});
        let answer = json!({"cpu": "1", "env": [{"name": "A", "value": 1}]});
        let respelt = respelt(&fields(), &written, &answer);
        let mut body = written.clone();
        respell(&mut body, &respelt);
        assert_eq!(body, answer);
        let mut changed = json!({"cpu": "2000m"});
        respell(&mut changed, &respelt);
        assert_eq!(changed, json!({"cpu": "2000m"}));
    }

    #[test]
    fn another_spelling_is_not_another_order() {
        let a = json!({"env": [{"name": "A", "value": 1}], "cpu": "1"});
        let b = json!({"env": [{"name": "A", "value": 1}], "cpu": "1000m"});
        assert!(same_order(&fields(), &a, &b));
    }
}
