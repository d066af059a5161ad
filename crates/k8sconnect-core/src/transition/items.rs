//! Items of lists that others took out, each told as one.
//!
//! What is ours of such an item is gone leaf by leaf; but it went as a whole and comes back as a whole,
//! and to let it go is to ignore the item, not its leaves.

use serde_json::Value;

use super::{FieldNotice, Side};
use crate::field::walk::{at, step};
use crate::field::{FieldPath, PathElement};
use crate::projection::Leaf;

/// The notices, with one for each item in place of those for its leaves. `next` is the side that
/// `answer` shows.
pub fn by_item(
    notices: Vec<FieldNotice>,
    next: Side<'_>,
    live: &Value,
    answer: &Value,
) -> Vec<FieldNotice> {
    let mut told: Vec<FieldNotice> = Vec::new();
    for notice in notices {
        let lost = missing_item(live, &notice.path).filter(|_| notice.now.is_none());
        let Some((path, value)) = lost.and_then(|path| Some((path.clone(), at(answer, &path)?)))
        else {
            told.push(notice);
            continue;
        };
        if told.last().is_some_and(|last| last.path == path) {
            continue;
        }
        let leaf = match next.secrecy.conceals_within(&path, value, answer) {
            true => Leaf::Concealed(value.clone()),
            false => Leaf::Shown(value.clone()),
        };
        let will = Some(leaf.told(&path, next.key));
        told.push(FieldNotice { path, next: will, then: None, ..notice });
    }
    told
}

/// The item on the way to a field that is not there, or whose list is not.
fn missing_item(object: &Value, path: &FieldPath) -> Option<FieldPath> {
    let mut value = object;
    let elements = path.elements();
    let missing = elements.iter().position(|element| match step(value, element) {
        Some(below) => {
            value = below;
            false
        }
        None => true,
    })?;
    let is_item = |element: &PathElement| !matches!(element, PathElement::Field(_));
    let item = missing + elements[missing..].iter().position(is_item)?;
    Some(FieldPath::new(elements[..=item].iter().cloned()))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_item_that_a_field_is_missing_with_is_found() {
        let object = json!({"env": [{"name": "a", "value": "1"}], "tags": ["x"]});
        for (path, item) in [
            ("env[name=b].value", Some("env[name=b]")),
            ("env[name=a].value", None),
            ("env[name=a].valueFrom.key", None),
            ("ports[port=80].name", Some("ports[port=80]")),
            ("spec.paused", None),
        ] {
            let found = missing_item(&object, &path.parse().unwrap());
            assert_eq!(found.map(|path| path.to_string()).as_deref(), item, "{path}");
        }
    }
}
