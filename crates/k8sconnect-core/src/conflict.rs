//! Which fields the server means when it says that others hold them.
//!
//! It names a field by a text in which a dot of a key looks like a step (`.data.app.conf`), and
//! the manager in a sentence. Read by itself such a text can mean several fields, so it is not read:
//! the fields that the others hold are spelt as the server would, and the one that comes out the
//! same is meant. Where two do, the object tells which of them is in dispute.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::atom::same;
use crate::field::walk::{at, at_written};
use crate::field::{FieldPath, PathElement};
use crate::owners::{Manager, Owners};
use crate::rejection::Cause;

/// What the server will not have taken.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Conflicts {
    /// With everybody who holds the field, ourselves apart.
    pub fields: BTreeMap<FieldPath, Vec<Manager>>,
    /// The same of fields that the managers wrote in another API version, with the paths of that version.
    pub in_other_versions: BTreeMap<FieldPath, Vec<Manager>>,
    /// What none of the fields there are could be meant by, in the server's words.
    pub unmatched: Vec<Cause>,
}

/// Finds the fields that the causes mean. Without any owners nothing is found.
pub fn conflicts(
    causes: &[Cause],
    owners: &Owners,
    manager: &str,
    wanted: &Value,
    live: &Value,
) -> Conflicts {
    let mut found = Conflicts::default();
    let others: Vec<_> = owners
        .others(manager)
        .flat_map(|other| {
            other.fields.members().into_iter().map(|path| (&other.manager.name, path))
        })
        .map(|(name, path)| (name, as_the_server_spells(&path), path))
        .collect();
    let differs = |path: &FieldPath| match (at_written(wanted, path), at(live, path)) {
        (Some(ours), Some(theirs)) => !same(ours, theirs),
        (ours, _) => ours.is_some(),
    };
    for cause in causes {
        let named = |name: &str| cause.message.contains(&format!("conflict with {name:?}"));
        let of = |is_named: &dyn Fn(&str) -> bool| -> Vec<_> {
            let spelt = others.iter().filter(|(_, text, _)| *text == cause.field);
            spelt.filter(|(name, _, _)| is_named(name)).map(|(_, _, path)| path).collect()
        };
        let mut meant = of(&named);
        if meant.is_empty() {
            meant = of(&|_| true);
        }
        if meant.iter().any(|path| differs(path)) {
            meant.retain(|path| differs(path));
        }
        if meant.is_empty() && !found.unmatched.iter().any(|known| known.field == cause.field) {
            found.unmatched.push(cause.clone());
        }
        for path in meant {
            let holders = owners.holders(path).filter(|holder| !holder.applies_as(manager));
            let holders: Vec<_> = holders.cloned().collect();
            let metadata = FieldPath::fields(["metadata"]);
            let is_elsewhere = |it: &Manager| wanted["apiVersion"] != it.api_version.as_str();
            let in_version = path.starts_with(&metadata) || !holders.iter().all(is_elsewhere);
            let fields = if in_version { &mut found.fields } else { &mut found.in_other_versions };
            fields.insert(path.clone(), holders);
        }
    }
    found
}

fn as_the_server_spells(path: &FieldPath) -> String {
    let element = |element: &PathElement| match element {
        PathElement::Field(name) => format!(".{name}"),
        PathElement::Key(fields) => {
            let fields: Vec<_> =
                fields.iter().map(|(name, value)| format!("{name}={}", value.0)).collect();
            format!("[{}]", fields.join(","))
        }
        PathElement::Value(value) => format!("[={}]", value.0),
        PathElement::Index(index) => format!("[{index}]"),
    };
    path.elements().iter().map(element).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn cause(field: &str, holder: &str) -> Cause {
        Cause {
            reason: "FieldManagerConflict".into(),
            message: format!("conflict with {holder:?} using v1"),
            field: field.into(),
        }
    }

    fn owners(entries: &[(&str, Value)]) -> Owners {
        let entry = |(name, fields): &(&str, Value)| json!({"manager": name, "operation": "Update", "apiVersion": "v1", "fieldsV1": fields});
        Owners::from_managed_fields(&entries.iter().map(entry).collect()).unwrap()
    }

    fn empty() -> Value {
        json!({"apiVersion": "v1"})
    }

    fn found(causes: &[Cause], owners: &Owners, wanted: &Value, live: &Value) -> Vec<String> {
        let found = conflicts(causes, owners, "k8sconnect", wanted, live);
        assert_eq!(found.unmatched, []);
        found.fields.into_keys().map(|path| path.to_string()).collect()
    }

    #[test]
    fn a_dot_in_a_key_is_no_step() {
        let rival = json!({
            "f:data": {"f:app.conf": {}},
            "f:metadata": {"f:labels": {"f:app.kubernetes.io/name": {}}},
            "f:spec": {"f:keyed": {"k:{\"name\":\"ab\",\"port\":1}": {"f:m": {"f:x.y": {}}}}},
        });
        let causes = [
            cause(".data.app.conf", "rival"),
            cause(".metadata.labels.app.kubernetes.io/name", "rival"),
            cause(".spec.keyed[name=\"ab\",port=1].m.x.y", "rival"),
        ];
        let fields = found(&causes, &owners(&[("rival", rival)]), &empty(), &json!({}));
        assert_eq!(
            fields,
            [
                "data[\"app.conf\"]",
                "metadata.labels[\"app.kubernetes.io/name\"]",
                "spec.keyed[name=ab,port=1].m[\"x.y\"]"
            ]
        );
    }

    #[test]
    fn of_two_fields_that_are_spelt_alike_the_one_in_dispute_is_meant() {
        let both = json!({"f:free": {"f:a": {"f:b": {}}, "f:a.b": {}}});
        let object = |step: i64, key: i64| json!({"apiVersion": "v1", "free": {"a": {"b": step}, "a.b": key}});
        let fields = |holder, wanted: &Value| {
            let owners = owners(&[("one", both.clone()), ("other", json!({"f:x": {}}))]);
            found(&[cause(".free.a.b", holder)], &owners, wanted, &object(1, 1))
        };
        assert_eq!(fields("one", &object(2, 1)), ["free.a.b"]);
        assert_eq!(fields("one", &object(1, 2)), ["free[\"a.b\"]"]);
        assert_eq!(fields("one", &object(2, 2)), ["free.a.b", "free[\"a.b\"]"]);
        assert_eq!(fields("gone since", &object(1, 2)), ["free[\"a.b\"]"]);
    }

    #[test]
    fn the_manager_that_is_named_tells_two_fields_apart() {
        let owners = owners(&[
            ("one", json!({"f:free": {"f:a": {"f:b": {}}}})),
            ("other", json!({"f:free": {"f:a.b": {}}})),
        ]);
        let causes = [cause(".free.a.b", "other")];
        let wanted = json!({"apiVersion": "v1", "free": {"a": {"b": 2}, "a.b": 2}});
        assert_eq!(found(&causes, &owners, &wanted, &json!({})), ["free[\"a.b\"]"]);
    }

    #[test]
    fn a_field_is_told_once_with_all_who_hold_it() {
        let data = json!({"f:data": {"f:a": {}}});
        let owners = owners(&[("one", data.clone()), ("other", data)]);
        let causes = [cause(".data.a", "one"), cause(".data.a", "other")];
        let found = conflicts(&causes, &owners, "k8sconnect", &empty(), &json!({}));
        let holders: Vec<_> = found.fields.into_values().flatten().map(|it| it.name).collect();
        assert_eq!(holders, ["one", "other"]);
    }

    #[test]
    fn what_nobody_holds_stays_in_the_words_of_the_server() {
        let causes = [cause(".data.a", "one"), cause(".data.a", "other")];
        let none = conflicts(&causes, &Owners::default(), "k8sconnect", &json!({}), &json!({}));
        assert_eq!(none.unmatched, causes[..1]);
    }

    #[test]
    fn a_field_of_another_version_is_listed_apart_with_its_own_path() {
        let rival = json!([{"manager": "rival", "operation": "Apply", "apiVersion": "g/v1",
            "fieldsV1": {"f:spec": {"f:percent": {}}, "f:metadata": {"f:labels": {"f:a": {}}}}}]);
        let owners = Owners::from_managed_fields(&rival).unwrap();
        let object = |a: &str, percent: u8| {
            json!({"apiVersion": "g/v2", "metadata": {"labels": {"a": a}},
                "spec": {"metrics": [{"percent": percent}]}})
        };
        let causes = [cause(".spec.percent", "rival"), cause(".metadata.labels.a", "rival")];
        let (wanted, live) = (object("x", 80), object("y", 50));
        let found = conflicts(&causes, &owners, "k8sconnect", &wanted, &live);
        let texts = |paths: BTreeMap<FieldPath, Vec<Manager>>| -> Vec<String> {
            paths.keys().map(ToString::to_string).collect()
        };
        assert_eq!(texts(found.fields), ["metadata.labels.a"]);
        assert_eq!(texts(found.in_other_versions), ["spec.percent"]);
    }
}
