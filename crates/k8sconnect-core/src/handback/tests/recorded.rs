//! What is on record, and what becomes of it when fields leave.

use serde_json::{Value, json};

use super::*;
use crate::projection::{Leaf, Projection};

#[test]
fn the_first_owner_on_record_is_the_former_owner() {
    let former = lost(&before(), &after(), OURS);
    let meanwhile = owners(&[entry(
        "kubectl-edit",
        "Update",
        "",
        json!({"f:spec": {"f:replicas": {}, "f:new": {}}}),
    )]);
    let lost = lost(&meanwhile, &Owners::default(), OURS);
    let loss = Loss { lost: &lost, after: &Owners::default(), tenure: None };
    let recorded = record(&former, loss);
    let holders = |path: &str| -> Vec<String> {
        recorded.holders(&path.parse().unwrap()).map(|m| m.name.clone()).collect()
    };
    assert_eq!(holders("spec.replicas"), ["hpa"]);
    assert_eq!(holders("spec.new"), ["kubectl-edit"]);
}

#[test]
fn what_stays_of_a_list_that_leaves_stays_ours_and_on_record() {
    let list = json!({"f:env": {"k:{\"name\":\"A\"}": {"f:value": {}}, "k:{\"name\":\"B\"}": {"f:value": {}}},
                      "f:tolerations": {}});
    let before = owners(&[entry("helm", "Apply", "", list.clone())]);
    let after = owners(&[entry(OURS, "Update", "", list)]);
    let former = lost(&before, &after, OURS);
    let path = |text: &str| text.parse::<FieldPath>().unwrap();
    let shown = |text: &str| (path(text), Leaf::Shown(json!("x")));
    let stays = Projection([shown("env[name=A].value")].into());
    let left = ["env", r#"tolerations[={"key":"spot"}]"#].map(path).into_iter().collect();
    let departure = Departure::of(left, &stays, &after.0[0].fields);
    let back =
        hand_back(&after, OURS, &former, Leaving::Fields(&departure), Readings::NONE).unwrap();
    let holders = |owners: &Owners, text: &str| -> Vec<String> {
        owners.holders(&path(text)).map(|it| it.name.clone()).collect()
    };
    assert_eq!(holders(&back.owners, "env[name=A].value"), [OURS]);
    assert_eq!(holders(&back.owners, "env[name=B].value"), ["helm"]);
    assert_eq!(holders(&back.owners, "tolerations"), ["helm"], "the list, for an item of it");
    assert_eq!(holders(&back.former, "env[name=A].value"), ["helm"]);
    // While an item of such a list stays, the list does.
    let stays = Projection([shown("tolerations[=\"a\"]")].into());
    let left = ["tolerations[=\"b\"]"].map(path).into_iter().collect();
    let departure = Departure::of(left, &stays, &after.0[0].fields);
    assert_eq!(hand_back(&after, OURS, &former, Leaving::Fields(&departure), Readings::NONE), None);
}

/// What is on record once we have restored `spec.mine` and `spec.image`, which `kubectl-edit` took from
/// us and from `helm`, the co-owner of the image; `spec.new` joins.
fn recorded_after_a_raid(
    then: &[Value],
    raider: Value,
    company: Company,
) -> Vec<(String, Vec<String>)> {
    let helm = Manager { time: None, ..before().0[0].manager.clone() };
    let fields = [patched("spec.mine", &[]), patched("spec.image", &[helm])];
    let (now, then) = (owners(&[raider]), owners(then));
    let after = Owners::default();
    let lost = lost(&now, &after, OURS);
    let tenure = Tenure { ours: OURS, version: "apps/v1", fields: &fields, then: &then, company };
    let loss = Loss { lost: &lost, after: &after, tenure: Some(tenure) };
    let recorded = record(&Owners::default(), loss);
    sorted(&recorded).into_iter().map(|(manager, fields)| (manager.name, fields)).collect()
}

#[test]
fn who_takes_our_fields_and_loses_them_again_is_no_former_owner_and_its_victim_is() {
    let mine = json!({"f:spec": {"f:mine": {}, "f:image": {}}});
    let then = [
        entry("helm", "Apply", "", json!({"f:spec": {"f:image": {}}})),
        entry("flux", "Apply", "", json!({"f:spec": {"f:image": {}}})),
        entry(OURS, "Apply", "", mine.clone()),
    ];
    let all = json!({"f:spec": {"f:mine": {}, "f:image": {}, "f:new": {}}});
    let raider = entry("kubectl-edit", "Update", "", all);
    let recorded = recorded_after_a_raid(&then, raider, Company::Newcomers);
    let expected = [("helm", "spec.image"), ("kubectl-edit", "spec.new")];
    assert_eq!(recorded, expected.map(|(name, path)| (name.to_owned(), vec![path.to_owned()])));

    // In another version nothing tells the fields apart; where none joins, all were ours.
    let mut raider = entry("kubectl-edit", "Update", "", json!({"f:spec": {"f:own": {}}}));
    raider["apiVersion"] = json!("apps/v2");
    assert_eq!(recorded_after_a_raid(&then, raider.clone(), Company::None), []);
    assert_eq!(recorded_after_a_raid(&then, raider, Company::Newcomers).len(), 1);
}

#[test]
fn a_field_that_leaves_takes_its_losses_along_though_nothing_of_it_is_ours() {
    let former = lost(&before(), &after(), OURS);
    let leaving = leaving(&["spec.replicas"]);
    let left = forget(&former, &leaving, "apps/v1", Readings::NONE);
    assert_eq!(left.holders(&"spec.replicas".parse().unwrap()).count(), 0);
    assert_eq!(left.holders(&"spec.image".parse().unwrap()).count(), 2);
    assert_eq!(forget(&former, &leaving, "apps/v2", Readings::NONE), former);
}

/// Found by a random story: operations name the fields of a map that is owned whole.
#[test]
fn what_is_held_whole_leaves_with_the_last_of_its_parts() {
    let held = &owners(&[entry(OURS, "Update", "", json!({"f:spec": {"f:seal": {}}}))]).0[0].fields;
    let path = |text: &str| text.parse::<FieldPath>().unwrap();
    let stays = |text: &str| Projection([(path(text), Leaf::Shown(json!("x")))].into());
    let leaving: FieldSet = [path("spec.seal.wax")].into_iter().collect();
    let gone = Departure::of(leaving.clone(), &stays("spec.title"), held);
    assert!(gone.of_set(held).contains(&path("spec.seal")));
    let gone = Departure::of(leaving, &stays("spec.seal.colour"), held);
    assert!(gone.of_set(held).is_empty(), "another part stays");
}

#[test]
fn a_map_and_an_item_that_were_made_for_a_field_leave_with_it() {
    let fields = json!({"f:spec": {"f:free": {".": {}, "f:nn": {}, "f:deep": {".": {},
        "f:a": {".": {}, "f:x": {}}, "f:b": {".": {}, "f:y": {}}}},
        "f:env": {"k:{\"name\":\"A\"}": {".": {}, "f:name": {}, "f:value": {}}}}});
    let held = &owners(&[entry(OURS, "Update", "", fields)]).0[0].fields;
    let path = |text: &str| text.parse::<FieldPath>().unwrap();
    let gone = |left: &[&str], stays: &[(&str, Value)]| -> Vec<String> {
        let stays = stays.iter().map(|(text, value)| (path(text), Leaf::Shown(value.clone())));
        let left = left.iter().map(|text| path(text)).collect();
        let departure = Departure::of(left, &Projection(stays.collect()), held);
        held.difference(&departure.of_set(held)).members().iter().map(|it| it.to_string()).collect()
    };
    let (x, y) = ("spec.free.deep.a.x", "spec.free.deep.b.y");
    let (nn, value) = ("spec.free.nn", "spec.env[name=A].value");
    assert_eq!(gone(&[x, y, value], &[(nn, json!(2))]), ["spec.free", nn]);
    assert_eq!(gone(&[x, y, value, nn], &[]), Vec::<String>::new());
    let kept = gone(&[x, nn, value], &[(y, json!(1))]);
    assert_eq!(kept, ["spec.free", "spec.free.deep", "spec.free.deep.b", y]);
    let kept = gone(&[x, y, nn, value], &[("spec.free.deep", json!({}))]);
    assert_eq!(kept, ["spec.free", "spec.free.deep"], "that it is there is meant");
}
