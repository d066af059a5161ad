//! Items of lists that are told as one.
//!
//! What is ours of an item that others took out is gone leaf by leaf; but it went as a whole and comes
//! back as a whole, and to let it go is to ignore the item, not its leaves. And an item that we no longer
//! write may lose every leaf of ours and stay all the same, for the key that another manager wrote too.

use serde_json::Value;

use super::{FieldNotice, Side};
use crate::field::walk::{at, at_written, step};
use crate::field::{FieldPath, FieldSet, PathElement};

/// The notices, with one for each item in place of those for its leaves. `next` is the side that
/// `answer` shows. Of an item is told what is `written`: what the server adds, a dry-run may only have
/// drawn.
pub fn by_item(
    notices: Vec<FieldNotice>,
    next: Side<'_>,
    [live, answer]: [&Value; 2],
    written: &Value,
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
        let value = at_written(written, &path).unwrap_or(value);
        let will = Some(next.told(&path, value, answer));
        told.push(FieldNotice { path, next: will, then: None, ..notice });
    }
    told
}

/// Items that were ours and are no longer, and that others keep on the object. None of which a leaf is
/// `told` already, nor one in another.
pub fn left_items(
    [then, ours]: [&FieldSet; 2],
    [now, next]: [Side<'_>; 2],
    [live, answer]: [&Value; 2],
    told: &[FieldNotice],
) -> Vec<FieldNotice> {
    let mut found: Vec<FieldNotice> = Vec::new();
    for path in then.difference(ours).members() {
        let is_item = matches!(path.elements().last(), Some(PathElement::Key(_)));
        let is_told = found.last().is_some_and(|item| path.starts_with(&item.path))
            || told.iter().any(|notice| notice.path.starts_with(&path));
        if !is_item || is_told || ours.below(&path).is_some() {
            continue;
        }
        let holders: Vec<_> = next.owners.holders(&path).cloned().collect();
        let (Some(left), false) = (at(answer, &path), holders.is_empty()) else {
            continue;
        };
        found.push(FieldNotice {
            now: at(live, &path).map(|item| now.told(&path, item, live)),
            next: Some(next.told(&path, left, answer)),
            then: None,
            path,
            holders,
        });
    }
    found
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
    use crate::owners::Owners;
    use crate::projection::Texts;
    use crate::secrecy::Secrecy;

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

    #[test]
    fn an_item_that_others_keep_is_found_once_and_not_beside_its_leaves() {
        let set = |paths: &[&str]| -> FieldSet {
            paths.iter().map(|path| path.parse::<FieldPath>().unwrap()).collect()
        };
        let items = ["c[name=a]", "c[name=a].env[name=x]", "c[name=b]", "c[name=d]"];
        let mut theirs = set(&items[..3]);
        theirs.insert(&"c[name=b].v".parse().unwrap());
        let manager = json!([{"manager": "rival", "operation": "Apply", "apiVersion": "v1"}]);
        let mut owners = Owners::from_managed_fields(&manager).unwrap();
        owners.0[0].fields = theirs;
        let object = json!({"c": [{"name": "a", "env": [{"name": "x"}]}, {"name": "b", "v": 1},
            {"name": "d"}]});
        let (texts, secrecy) = (Texts::new(), Secrecy::default());
        let side = Side { texts: &texts, owners: &owners, secrecy: &secrecy, key: None };
        let (then, told) = (set(&items), |path: &str| FieldNotice {
            path: path.parse().unwrap(),
            holders: Vec::new(),
            then: None,
            now: None,
            next: None,
        });
        let left = |ours: &FieldSet, told: &[FieldNotice]| -> Vec<_> {
            let left = left_items([&then, ours], [side, side], [&object, &object], told);
            left.iter().map(|notice| notice.path.to_string()).collect()
        };
        let none = FieldSet::default();
        assert_eq!(left(&none, &[]), ["c[name=a]", "c[name=b]"]);
        assert_eq!(left(&none, &[told("c[name=b].v")]), ["c[name=a]"]);
        assert_eq!(left(&set(&["c[name=a].v"]), &[]), ["c[name=a].env[name=x]", "c[name=b]"]);
    }
}
