//! Leaves of which nothing shows, and that get a value once they are no longer written.
//!
//! A `null` that the server stores, and a zero that it drops, keep a default away. Neither is a leaf
//! of any projection, so that only the objects tell what becomes of it.

use serde_json::Value;

use super::{FieldNotice, Side};
use crate::field::walk::at;
use crate::field::{FieldPath, FieldSet};

/// Leaves that were ours and are no longer, where there was nothing and is something from now on. None
/// that is `told` already.
pub fn filled_in(
    [then, ours]: [&FieldSet; 2],
    [now, next]: [Side<'_>; 2],
    [live, answer]: [&Value; 2],
    told: &[FieldNotice],
) -> Vec<FieldNotice> {
    let is_told = |path: &FieldPath| told.iter().any(|notice| notice.path == *path);
    let mut found = Vec::new();
    for path in then.difference(ours).leaves() {
        let before = at(live, &path);
        let Some(after) = at(answer, &path).filter(|after| !after.is_null()) else {
            continue;
        };
        let was_nothing = before.is_none_or(Value::is_null);
        if !was_nothing || ours.below(&path).is_some() || is_told(&path) {
            continue;
        }
        found.push(FieldNotice {
            holders: next.owners.holders(&path).cloned().collect(),
            now: before.map(|value| now.told(&path, value, live)),
            next: Some(next.told(&path, after, answer)),
            then: None,
            path,
        });
    }
    found
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::owners::Owners;
    use crate::projection::Texts;
    use crate::secrecy::Secrecy;

    #[test]
    fn only_what_was_nothing_and_becomes_something_is_filled_in() {
        let paths = ["null", "absent", "still", "map", "given", "told"];
        let then: FieldSet = paths.iter().map(|path| path.parse::<FieldPath>().unwrap()).collect();
        let live = json!({"null": null, "still": null, "map": {"a": 1}, "given": null});
        let answer = json!({"null": 5, "absent": true, "still": null, "map": {"a": 1},
            "given": 1, "told": 1});
        let ours: FieldSet = [FieldPath::fields(["given"])].into_iter().collect();
        let told = FieldNotice {
            path: FieldPath::fields(["told"]),
            holders: Vec::new(),
            then: Some("2".to_owned()),
            now: None,
            next: None,
        };
        let (texts, owners, secrecy) = (Texts::new(), Owners::default(), Secrecy::default());
        let side = Side { texts: &texts, owners: &owners, secrecy: &secrecy, key: None };
        let found = filled_in([&then, &ours], [side, side], [&live, &answer], &[told]);
        let told: Vec<_> = found
            .iter()
            .map(|it| (it.path.to_string(), it.now.as_deref(), it.next.as_deref()))
            .collect();
        let expected = [("absent", None, Some("true")), ("null", Some("null"), Some("5"))];
        assert_eq!(told, expected.map(|(path, now, next)| (path.to_owned(), now, next)));
    }
}
