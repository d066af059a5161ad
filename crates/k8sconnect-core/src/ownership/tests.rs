use std::collections::BTreeSet;

use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use crate::field::FieldSet;
use crate::field::fields_v1::encode;
use crate::ignore::Ignoring;
use crate::manifest::Manifest;
use crate::owners::{Operation, Owners};
use crate::plan::{Kept, Planner, Prior};

const US: &str = "k8sconnect";

/// An object of the kind `Thing`, with the fields that each manager owns.
fn object(spec: &Value, owners: &[(&str, &[&str])]) -> Value {
    let entry = |(name, paths): &(&str, &[&str])| {
        let fields: FieldSet =
            paths.iter().map(|path| path.parse::<FieldPath>().unwrap()).collect();
        let (name, version) = name.split_once('@').unwrap_or((name, "g.io/v1"));
        json!({"manager": name, "operation": "Apply", "apiVersion": version,
            "fieldsV1": {"f:spec": encode(&fields)}})
    };
    let entries: Vec<_> = owners.iter().map(entry).collect();
    json!({"apiVersion": "g.io/v1", "kind": "Thing", "spec": spec,
        "metadata": {"name": "a", "uid": "1", "managedFields": entries}})
}

fn manifest(spec: &Value) -> Manifest {
    let body =
        json!({"apiVersion": "g.io/v1", "kind": "Thing", "metadata": {"name": "a"}, "spec": spec});
    Manifest::parse(&body.to_string()).unwrap()
}

/// What a plan of the body says: `class path <- owners`.
fn changes(
    applied: Option<(&Value, &Value)>,
    body: &Value,
    live: &Value,
    answer: &Value,
) -> Vec<String> {
    let ignoring = Ignoring::default();
    let planner = Planner { manager: US, ignoring: &ignoring };
    let former = applied.map(|(written, object)| {
        let manifest = manifest(written);
        let (projection, owners) = planner.written(&manifest, object).unwrap();
        (manifest, Kept { owners, texts: projection.texts(None), version: None })
    });
    let prior = former.as_ref().map(|(manifest, kept)| Prior {
        manifest,
        id: "id",
        uid: "1",
        kept: Some(kept),
        key: None,
        ignoring: &ignoring,
    });
    let decision = planner.decide(&manifest(body), prior, Some(live), answer).unwrap();
    let line = |change: &FieldChange| {
        let owners: Vec<_> = change.owners.iter().map(|owner| owner.name.as_str()).collect();
        let path = change.path.to_string();
        let path = path.strip_prefix("spec.").unwrap_or(&path);
        format!("{:?} {path} <- {}", change.class, owners.join(" "))
            .trim_end_matches(" <- ")
            .to_owned()
    };
    decision.changes.iter().map(line).collect()
}

/// One field `a`, applied as `blue` by us: the live object and the answer by value and owners.
fn one_field(live: (Value, &[&str]), body: Value, answer: (Value, &[&str])) -> Vec<String> {
    let state = |(spec, owners): (Value, &[&str])| {
        let owners: Vec<_> = owners.iter().map(|name| (*name, &["a"][..])).collect();
        object(&spec, &owners)
    };
    let written = json!({"a": "blue"});
    let applied = object(&written, &[(US, &["a"])]);
    changes(Some((&written, &applied)), &body, &state(live), &state(answer))
}

#[test]
fn one_field_has_one_class_by_value_and_owners() {
    let (blue, red, none) = (|| json!({"a": "blue"}), || json!({"a": "red"}), || json!({}));
    for (live, body, answer, expected) in [
        ((red(), &["hpa"][..]), blue(), (blue(), &[US][..]), &["Drifted a <- hpa"][..]),
        ((none(), &[]), blue(), (blue(), &[US]), &["Drifted a"]),
        ((blue(), &[US, "flux"]), blue(), (blue(), &[US, "flux"]), &[]),
        ((blue(), &["hpa"]), blue(), (blue(), &["hpa", US]), &["OwnershipLost a <- hpa"]),
        ((blue(), &[]), blue(), (blue(), &[US]), &["OwnershipLost a"]),
        ((blue(), &["flux"]), blue(), (blue(), &[US]), &["TakenFrom a <- flux"]),
        ((blue(), &[US, "flux"]), red(), (red(), &[US]), &["TakenFrom a <- flux"]),
        ((blue(), &[US]), red(), (red(), &[US]), &["Edited a"]),
        ((blue(), &[US, "flux"]), none(), (blue(), &["flux"]), &["RetainedBy a <- flux"]),
        ((blue(), &[US]), none(), (red(), &[]), &["Defaulted a"]),
        ((blue(), &[US]), none(), (blue(), &[]), &["Released a"]),
        ((blue(), &[US]), none(), (none(), &[]), &["Removed a"]),
        ((red(), &["flux"]), none(), (none(), &[]), &["RemovedWithParent a <- flux"]),
    ] {
        let said = one_field(live.clone(), body.clone(), answer.clone());
        assert_eq!(said, expected, "{live:?} {body} {answer:?}");
    }
}

#[test]
fn a_field_that_was_never_ours_is_taken_or_joined() {
    let live = object(&json!({"a": "red"}), &[("flux", &["a"])]);
    let taken = object(&json!({"a": "blue"}), &[(US, &["a"])]);
    assert_eq!(changes(None, &json!({"a": "blue"}), &live, &taken), ["TakenFrom a <- flux"]);
    let joined = object(&json!({"a": "red"}), &[("flux", &["a"]), (US, &["a"])]);
    assert_eq!(changes(None, &json!({"a": "red"}), &live, &joined), ["Joined a <- flux"]);
}

#[test]
fn an_item_that_was_taken_out_is_one_row() {
    let written = json!({"env": [{"name": "A", "value": "1", "more": "2"}]});
    let ours: &[&str] =
        &["env[name=A]", "env[name=A].name", "env[name=A].value", "env[name=A].more"];
    let applied = object(&written, &[(US, ours)]);
    let live = object(&json!({"env": []}), &[]);
    let said = changes(Some((&written, &applied)), &written, &live, &applied);
    assert_eq!(said, ["Drifted env[name=A]"]);
}

#[test]
fn a_parent_that_the_body_drops_takes_fields_of_others_along() {
    let written = json!({"free": {"mine": 1}, "list": [{"name": "a"}]});
    let ours: &[&str] = &["free.mine", "list[name=a]", "list[name=a].name"];
    let applied = object(&written, &[(US, ours)]);
    let theirs: &[&str] = &["free.theirs", "free.kept", "list[name=a].value"];
    let live = object(
        &json!({"free": {"mine": 1, "theirs": 2, "kept": 3}, "list": [{"name": "a", "value": 1}]}),
        &[(US, ours), ("rival", theirs)],
    );
    let answer = object(&json!({"free": {"kept": 3}}), &[("rival", &["free.kept"])]);
    let said = changes(Some((&written, &applied)), &json!({}), &live, &answer);
    let expected = [
        "Removed free.mine",
        "RemovedWithParent free.theirs <- rival",
        "RemovedWithParent list[name=a] <- rival",
    ];
    assert_eq!(said, expected);
}

#[test]
fn an_item_whose_key_others_own_too_is_retained() {
    let written = json!({"list": [{"name": "a", "value": 1}]});
    let ours: &[&str] = &["list[name=a]", "list[name=a].name", "list[name=a].value"];
    let applied = object(&written, &[(US, ours)]);
    let rival: &[&str] = &["list[name=a]", "list[name=a].name"];
    let live = object(&written, &[(US, ours), ("rival", rival)]);
    let answer = object(&json!({"list": [{"name": "a"}]}), &[("rival", rival)]);
    let said = changes(Some((&written, &applied)), &json!({}), &live, &answer);
    assert_eq!(said, ["RetainedBy list[name=a] <- rival", "Removed list[name=a].value"]);
}

#[test]
fn a_value_in_the_place_of_a_map_is_one_row_with_its_owner() {
    let written = json!({"free": {"b": {"a": 1}}});
    let applied = object(&written, &[(US, &["free.b.a"])]);
    let live = object(&json!({"free": {"b": true}}), &[("rival", &["free.b"])]);
    let said = changes(Some((&written, &applied)), &written, &live, &applied);
    assert_eq!(said, ["Drifted free.b <- rival"]);
    // The same where the body changes the type itself.
    let list = object(&json!({"free": [1]}), &[(US, &["free"])]);
    let map = object(&json!({"free": {"k": "v"}}), &[("rival", &["free.k"])]);
    let said = changes(Some((&json!({"free": [1]}), &list)), &json!({"free": [1]}), &map, &list);
    assert_eq!(said, ["Drifted free <- rival"]);
}

#[test]
fn parts_that_others_own_of_what_becomes_ours_as_a_whole_are_taken() {
    let written = json!({"set": ["a"]});
    let applied = object(&written, &[(US, &[r#"set[="a"]"#])]);
    let live = object(
        &json!({"set": ["a", "r"]}),
        &[(US, &[r#"set[="a"]"#]), ("rival", &[r#"set[="r"]"#])],
    );
    let answer = object(&written, &[(US, &["set"])]);
    let said = changes(Some((&written, &applied)), &written, &live, &answer);
    assert!(said.contains(&"TakenFrom set <- rival".to_owned()), "{said:?}");
}

#[test]
fn an_empty_list_that_was_removed_with_its_parent_has_drifted() {
    let written = json!({"inner": {"list": []}});
    // The API server records no owner for an empty list of items with keys.
    let applied = object(&written, &[]);
    let live = object(&json!({}), &[]);
    let said = changes(Some((&written, &applied)), &written, &live, &applied);
    assert_eq!(said, ["Drifted inner.list"]);
    assert_eq!(changes(Some((&written, &applied)), &written, &applied, &applied), [""; 0]);
}

#[test]
fn what_another_configuration_applied_and_the_body_lacks_is_deleted() {
    let live = object(&json!({"a": 1, "b": 2}), &[(US, &["a", "b"])]);
    let answer = object(&json!({"a": 1}), &[(US, &["a"])]);
    assert_eq!(changes(None, &json!({"a": 1}), &live, &answer), ["Deleted b"]);
}

#[test]
fn owners_of_another_version_are_listed_with_their_own_paths() {
    let written = json!({"a": 1});
    let applied = object(&written, &[(US, &["a"])]);
    let live = object(&json!({"a": 1}), &[(US, &["a"]), ("chart@g.io/v0", &["old", "kept"])]);
    let answer = object(&json!({"a": 2}), &[(US, &["a"]), ("chart@g.io/v0", &["kept"])]);
    let said = changes(Some((&written, &applied)), &json!({"a": 2}), &live, &answer);
    assert_eq!(said, ["Edited a", "TakenFrom old <- chart"]);
}

#[test]
fn a_controller_that_reports_status_in_another_version_owns_no_field_of_the_body() {
    let fields = json!({"f:status": {"f:phase": {}}, "f:metadata": {"f:labels": {"f:a": {}}}});
    let entry = json!([{"manager": "controller", "operation": "Update", "apiVersion": "g.io/v0",
        "subresource": "status", "fieldsV1": fields}]);
    let split = VersionedOwners::of(&Owners::from_managed_fields(&entry).unwrap(), "g.io/v1");
    assert_eq!(split.elsewhere, Owners::default());
    assert_eq!(split.here.0.len(), 1, "metadata is the same in every version");
}

#[test]
fn an_order_that_others_made_is_reported_unless_the_body_asks_for_it() {
    let fields: FieldSet = ["env[name=A].value", "env[name=B].value"]
        .iter()
        .map(|path| path.parse::<FieldPath>().unwrap())
        .collect();
    let ab = json!({"env": [{"name": "A", "value": 1}, {"name": "B", "value": 1}]});
    let ba = json!({"env": [{"name": "B", "value": 1}, {"name": "X"}, {"name": "A", "value": 1}]});
    let found = reorders(&fields, &ab, &ba, &ab);
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].path.to_string(), "env");
    assert!(reorders(&fields, &ab, &ab, &ab).is_empty());
    assert!(reorders(&fields, &ba, &ba, &ab).is_empty(), "we asked for it");
    let joined = json!({"env": [{"name": "A"}, {"name": "B"}, {"name": "C"}]});
    assert_eq!(reorders(&fields, &ab, &ba, &joined).len(), 1, "whatever joins them");
}

fn any_managers() -> impl Strategy<Value = Vec<Manager>> {
    proptest::sample::subsequence(vec!["flux", "helm", "hpa"], 0..=3).prop_map(|names| {
        let manager = |name: &str| Manager {
            name: name.to_owned(),
            operation: Operation::Apply,
            subresource: String::new(),
            api_version: "v1".to_owned(),
            time: None,
        };
        names.into_iter().map(manager).collect()
    })
}

fn any_value() -> impl Strategy<Value = Option<Leaf>> {
    prop_oneof![Just(None), "[ab]".prop_map(|text| Some(Leaf::Shown(json!(text))))]
}

fn any_row() -> impl Strategy<Value = Row> {
    let applied = prop_oneof![
        Just(Applied::NotOurs),
        Just(Applied::Unrecorded),
        Just(Applied::Absent),
        Just(Applied::Parts),
        Just(Applied::Displaced),
        "[ab]".prop_map(Applied::Shown),
    ];
    let ours = (any::<bool>(), any::<bool>());
    let owners = (any_managers(), any_managers());
    (applied, any_value(), any_value(), ours, owners).prop_map(
        |(applied, live, after, (ours_live, ours_after), (owners_live, owners_after))| Row {
            path: FieldPath::fields(["data", "a"]),
            applied,
            live,
            after: after.map_or(After::Absent, After::Value),
            ours_live,
            ours_after,
            owners_live,
            owners_after,
            owned_elsewhere: false,
        },
    )
}

proptest! {
    #[test]
    fn a_row_is_unchanged_if_and_only_if_value_and_owners_stay(row in any_row()) {
        let was_ours = row.applied != Applied::NotOurs;
        let same_owners = row.lose().is_empty() && (was_ours || row.ours_live) == row.ours_after;
        if row.class(None) == Class::Unchanged {
            prop_assert!(row.lose().is_empty() || row.live.is_none());
            prop_assert!(row.keeps_its_value() || !row.ours_after);
        }
        if row.keeps_its_value() && same_owners && row.ours_live == row.ours_after && row.live.is_some() {
            let class = row.class(None);
            prop_assert!(matches!(class, Class::Unchanged | Class::RetainedBy | Class::Released), "{class:?}");
        }
    }

    #[test]
    fn the_order_of_managers_changes_nothing(row in any_row()) {
        let mut turned = row.clone();
        turned.owners_live.reverse();
        turned.owners_after.reverse();
        prop_assert_eq!(row.class(None), turned.class(None));
        let lose = |row: &Row| row.lose().into_iter().collect::<BTreeSet<_>>();
        prop_assert_eq!(lose(&row), lose(&turned));
    }

    #[test]
    fn who_loses_a_field_is_reported(row in any_row()) {
        if !row.lose().is_empty() && row.live.is_some() && row.applied == Applied::NotOurs {
            let class = row.class(None);
            prop_assert!(matches!(class, Class::TakenFrom | Class::RemovedWithParent), "{class:?}");
        }
    }
}

#[test]
fn a_decision_after_its_own_write_changes_nothing() {
    for (spec, ours) in [
        (json!({"a": "1", "b": {"c": []}}), &["a", "b.c"][..]),
        (
            json!({"list": [{"name": "x", "v": 1}]}),
            &["list[name=x]", "list[name=x].name", "list[name=x].v"],
        ),
        (json!({"set": ["a", "b"]}), &[r#"set[="a"]"#, r#"set[="b"]"#]),
    ] {
        let object = object(&spec, &[(US, ours), ("rival", ours)]);
        assert_eq!(changes(Some((&spec, &object)), &spec, &object, &object), [""; 0], "{spec}");
    }
    assert!(Owners::default().0.is_empty());
}
