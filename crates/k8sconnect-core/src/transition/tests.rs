use serde_json::json;

use super::*;

/// A script of one field: who holds it with which value, now and next.
struct Moment {
    value: Option<&'static str>,
    holders: Vec<(&'static str, &'static str)>,
}

fn object(moment: &Moment) -> Value {
    let managed: Vec<_> = moment
        .holders
        .iter()
        .map(|(name, operation)| {
            json!({"manager": name, "operation": operation, "apiVersion": "v1",
                   "time": "2026-01-01T00:00:00Z", "fieldsV1": {"f:data": {"f:a.b": {}}}})
        })
        .collect();
    let mut object = json!({"metadata": {"managedFields": managed}, "data": {}});
    if let Some(value) = moment.value {
        object["data"]["a.b"] = json!(value);
    }
    object
}

fn path() -> FieldPath {
    FieldPath::fields(["data", "a.b"])
}

fn texts(value: Option<&str>) -> Texts {
    value.map(|value| (path(), value.to_owned())).into_iter().collect()
}

fn told(then: Option<&str>, now: &Moment, next: &Moment) -> Notices {
    let fields: FieldSet = then.map(|_| path()).into_iter().collect();
    let texts_then = texts(then);
    let (live, answer) = (object(now), object(next));
    let ours_next = next.holders.iter().any(|(name, _)| *name == "k8sconnect");
    compare(
        "k8sconnect",
        then.map(|_| Then { texts: &texts_then, fields: &fields }),
        [
            Side {
                texts: &texts(now.value),
                owners: &Owners::of_object(&live).unwrap(),
                secrecy: &Secrecy::default(),
                key: None,
            },
            Side {
                texts: &texts(next.value.filter(|_| ours_next)),
                owners: &Owners::of_object(&answer).unwrap(),
                secrecy: &Secrecy::default(),
                key: None,
            },
        ],
        [&live, &answer],
        &OtherWords::none(),
    )
}

const US: (&str, &str) = ("k8sconnect", "Apply");
const HPA: (&str, &str) = ("hpa", "Update");
const FLUX: (&str, &str) = ("flux", "Apply");

fn names(fields: &[FieldNotice]) -> Vec<&str> {
    fields.iter().flat_map(|field| &field.holders).map(|holder| holder.name.as_str()).collect()
}

#[test]
fn a_change_by_another_is_told_with_all_three_values() {
    let now = Moment { value: Some("red"), holders: vec![HPA] };
    let next = Moment { value: Some("blue"), holders: vec![US] };
    let notices = told(Some("blue"), &now, &next);
    assert_eq!(names(&notices.reverts), ["hpa"]);
    let notice = &notices.reverts[0];
    assert_eq!(notice.then.as_deref(), Some("blue"));
    assert_eq!(notice.now.as_deref(), Some("red"));
    assert_eq!(notice.next.as_deref(), Some("blue"));
    assert!(notices.takes.is_empty(), "told once, not twice");
}

#[test]
fn a_field_that_vanished_is_told_though_nobody_holds_it() {
    let now = Moment { value: None, holders: vec![] };
    let next = Moment { value: Some("blue"), holders: vec![US] };
    let notices = told(Some("blue"), &now, &next);
    assert_eq!(notices.reverts.len(), 1);
    assert_eq!(notices.reverts[0].now, None);
}

#[test]
fn equal_values_held_together_are_calm() {
    let now = Moment { value: Some("blue"), holders: vec![US, FLUX] };
    assert!(told(Some("blue"), &now, &now).is_empty());
}

#[test]
fn a_value_set_back_by_its_rival_is_calm() {
    let now = Moment { value: Some("blue"), holders: vec![HPA] };
    let next = Moment { value: Some("blue"), holders: vec![HPA, US] };
    assert!(told(Some("blue"), &now, &next).is_empty());
}

#[test]
fn taking_from_a_co_owner_is_told() {
    let now = Moment { value: Some("blue"), holders: vec![US, FLUX] };
    let next = Moment { value: Some("green"), holders: vec![US] };
    let notices = told(Some("blue"), &now, &next);
    assert_eq!(names(&notices.takes), ["flux"]);
    assert!(notices.reverts.is_empty());
}

#[test]
fn taking_a_field_that_was_never_ours_is_told() {
    let now = Moment { value: Some("red"), holders: vec![FLUX] };
    let next = Moment { value: Some("blue"), holders: vec![US] };
    assert_eq!(names(&told(None, &now, &next).takes), ["flux"]);
}

#[test]
fn changing_what_is_ours_alone_is_nobodys_business() {
    let now = Moment { value: Some("blue"), holders: vec![US] };
    let next = Moment { value: Some("green"), holders: vec![US] };
    assert!(told(Some("blue"), &now, &next).is_empty());
}

#[test]
fn a_field_given_up_that_others_keep_is_told() {
    let now = Moment { value: Some("blue"), holders: vec![US, FLUX] };
    let next = Moment { value: Some("blue"), holders: vec![FLUX] };
    let notices = told(Some("blue"), &now, &next);
    assert_eq!(names(&notices.stays), ["flux"]);
}

#[test]
fn a_field_that_others_changed_and_that_goes_with_an_item_of_ours_is_told() {
    let now = Moment { value: Some("red"), holders: vec![FLUX] };
    let gone = Moment { value: None, holders: vec![] };
    let notices = told(Some("blue"), &now, &gone);
    assert_eq!(names(&notices.goes), ["flux"]);
    let now = Moment { value: Some("blue"), holders: vec![US] };
    assert!(told(Some("blue"), &now, &gone).is_empty(), "what was ours alone is nobody's business");
}

#[test]
fn a_field_given_up_that_falls_back_to_a_default_is_told() {
    let now = Moment { value: Some("blue"), holders: vec![US] };
    let next = Moment { value: Some("default"), holders: vec![] };
    let notices = told(Some("blue"), &now, &next);
    assert_eq!(notices.falls_back[0].next.as_deref(), Some("default"));
    let same = Moment { value: Some("blue"), holders: vec![] };
    assert!(told(Some("blue"), &now, &same).is_empty());
}

#[test]
fn an_order_that_others_made_is_told() {
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

fn side<'a>(texts: &'a Texts, owners: &'a Owners, secrecy: &'a Secrecy) -> Side<'a> {
    Side { texts, owners, secrecy, key: None }
}

fn entry(name: &str, operation: &str, fields: Value) -> Value {
    json!({"manager": name, "operation": operation, "apiVersion": "v1", "fieldsV1": fields})
}

#[test]
fn what_others_put_into_a_map_or_an_item_that_we_drop_is_told() {
    let theirs = json!({"f:free": {"f:q": {"f:y": {}}, "f:kept": {}}, "f:list": {
        "k:{\"name\":\"a\"}": {".": {}, "f:name": {}, "f:set": {"v:\"x\"": {}}},
        "k:{\"name\":\"b\"}": {".": {}, "f:name": {}}}});
    let owners = Owners::from_managed_fields(&json!([entry("rival", "Update", theirs)])).unwrap();
    let live = json!({"free": {"q": {"x": 1, "y": 2}, "kept": 1},
        "list": [{"name": "a", "set": ["x"]}, {"name": "b"}]});
    let answer = json!({"free": {"kept": 1}});
    let found =
        goes_along("k8sconnect", side(&Texts::new(), &owners, &Secrecy::default()), &live, &answer);
    let told: Vec<_> =
        found.iter().map(|it| (it.path.to_string(), it.now.clone().unwrap())).collect();
    let expected =
        [("free.q.y", "2"), ("list[name=a].set[=\"x\"]", "x"), ("list[name=b].name", "b")];
    assert_eq!(told, expected.map(|(path, now)| (path.to_owned(), now.to_owned())));
    assert_eq!(names(&found), ["rival"; 3]);
}

fn reverted(
    fields: &[(&str, &str)],
    now: &[(&str, &str)],
    managed: &Value,
    live: &Value,
) -> Vec<FieldNotice> {
    let texts = |entries: &[(&str, &str)]| -> Texts {
        entries.iter().map(|(path, text)| (path.parse().unwrap(), (*text).to_owned())).collect()
    };
    let (then, now) = (texts(fields), texts(now));
    let set: FieldSet = then.keys().chain(now.keys()).cloned().collect();
    let owners = Owners::from_managed_fields(managed).unwrap();
    let ours = json!([entry("k8sconnect", "Apply", crate::field::fields_v1::encode(&set))]);
    let after = Owners::from_managed_fields(&ours).unwrap();
    let secrecy = Secrecy::default();
    let before = Then { texts: &then, fields: &set };
    let now = side(&now, &owners, &secrecy);
    compare(
        "k8sconnect",
        Some(before),
        [now, side(&then, &after, &secrecy)],
        [live, &json!({})],
        &OtherWords::none(),
    )
    .reverts
}

#[test]
fn an_item_that_others_filled_is_not_told_as_one_without_its_name() {
    let rival = entry("rival", "Update", json!({"f:env": {"k:{\"name\":\"X\"}": {"f:value": {}}}}));
    let told = reverted(
        &[("env[name=X].name", "X")],
        &[("env[name=X].value", "R")],
        &json!([rival]),
        &json!({}),
    );
    let paths: Vec<_> = told.iter().map(|it| it.path.to_string()).collect();
    assert_eq!(paths, ["env[name=X].value"]);
    let gone = reverted(&[("env[name=X].name", "X")], &[], &json!([]), &json!({}));
    assert_eq!(gone.len(), 1);
}

#[test]
fn whoever_put_something_in_the_place_of_our_map_is_named() {
    let rival = entry("rival", "Apply", json!({"f:free": {"f:b": {}}}));
    let told = |b: Value| {
        let live = json!({"free": {"b": b}});
        reverted(&[("free.b.a", "1")], &[], &json!([rival]), &live)
    };
    assert_eq!(names(&told(json!(true))), ["rival"]);
    assert_eq!(names(&told(json!({}))), [""; 0], "there is room for it");
}

#[test]
fn parts_that_others_hold_of_what_becomes_ours_as_a_whole_are_taken_from_them() {
    let owners = |entries: &[(&str, &str, Value)]| {
        let set = |fields: &Value| json!({"f:spec": {"f:set": fields}});
        let entries = entries.iter().map(|(name, how, fields)| entry(name, how, set(fields)));
        Owners::from_managed_fields(&entries.collect()).unwrap()
    };
    let ours = ("k8sconnect", "Apply", json!({"v:\"a\"": {}}));
    let now = owners(&[ours, ("rival", "Update", json!({"v:\"r\"": {}}))]);
    let next = owners(&[("k8sconnect", "Apply", json!({}))]);
    let member = Texts::from([(r#"spec.set[="a"]"#.parse().unwrap(), "a".to_owned())]);
    let whole = Texts::from([("spec.set".parse().unwrap(), r#"["a"]"#.to_owned())]);
    let (fields, secrecy) = (now.applied_by("k8sconnect"), Secrecy::default());
    let notices = compare(
        "k8sconnect",
        Some(Then { texts: &member, fields: &fields }),
        [side(&member, &now, &secrecy), side(&whole, &next, &secrecy)],
        [&json!({"spec": {"set": ["a", "r"]}}), &json!({"spec": {"set": ["a"]}})],
        &OtherWords::none(),
    );
    assert_eq!(names(&notices.takes), ["rival"]);
    assert_eq!(notices.takes[0].path.to_string(), "spec.set");
}

#[test]
fn a_takeover_lists_what_goes_with_it() {
    let set = |paths: &[&str]| -> FieldSet {
        paths.iter().map(|path| path.parse::<FieldPath>().unwrap()).collect()
    };
    let live = json!({"data": {"a": "1", "b": "2", "c": "3"}});
    let answer = json!({"data": {"a": "1", "c": "3"}});
    let gone = deletes(&set(&["data.a", "data.b", "data.c"]), &set(&["data.a"]), &live, &answer);
    let paths: Vec<_> = gone.iter().map(|notice| notice.path.to_string()).collect();
    assert_eq!(paths, ["data.b"], "c is held by somebody else, and stays");
}

/// Who is named for which of these leaves, where `chart` holds `fields` as `g/v1` and loses them.
fn named(change: &[(&str, Option<&str>)], fields: Value, told: Notices) -> Vec<String> {
    let chart = json!([{"manager": "chart", "operation": "Apply", "apiVersion": "g/v1",
        "fieldsV1": fields}]);
    let lost = Owners::from_managed_fields(&chart).unwrap();
    let live = json!({"spec": {"max": 5, "metrics": [1], "ref": {"name": "x"}}});
    let words = OtherWords::of(&lost, &lost, "g/v2", &[&live]);
    let change = change.iter().map(|(path, now)| FieldNotice {
        path: path.parse().unwrap(),
        holders: Vec::new(),
        then: None,
        now: now.map(ToOwned::to_owned),
        next: Some("next".to_owned()),
    });
    let mut notices = told;
    notices.name_elsewhere(change.collect(), &lost, &words, &Owners::default());
    let all = notices.reverts.iter().chain(&notices.takes);
    all.map(|it| format!("{} {}", it.path, names(std::slice::from_ref(it)).join(" "))).collect()
}

#[test]
fn whoever_loses_in_other_words_is_named_for_what_changes_and_nobody_holds() {
    let percent = json!({"f:spec": {"f:percent": {}, "f:max": {}}});
    let now = Some("now");
    let told = |change: &[_]| named(change, percent.clone(), Notices::default());
    assert_eq!(told(&[("spec.metrics", now), ("spec.new", None)]), ["spec.metrics chart"]);
    assert_eq!(told(&[("spec.new", None)]), ["spec.new chart"], "rather than nobody");
    let annotated = [("metadata.annotations.a", now), ("spec.metrics", now)];
    assert_eq!(told(&annotated), ["spec.metrics chart"]);
    assert_eq!(told(&[("metadata.labels.a", now)]), [""; 0]);
    let whole = json!({"f:spec": {"f:ref": {}}});
    let change = [("spec.ref.name", now), ("spec.metrics", now)];
    assert_eq!(named(&change, whole, Notices::default()), ["spec.ref.name chart"]);
}

#[test]
fn whoever_loses_in_other_words_is_the_author_of_drift_that_nobody_holds() {
    let drift = FieldNotice {
        path: "spec.metrics".parse().unwrap(),
        holders: Vec::new(),
        then: None,
        now: None,
        next: None,
    };
    let told = Notices { reverts: vec![drift], ..Notices::default() };
    let change = [("spec.metrics", Some("now"))];
    let percent = json!({"f:spec": {"f:percent": {}}});
    assert_eq!(named(&change, percent, told), ["spec.metrics chart"]);
}

#[test]
fn what_a_new_object_has_too_is_a_default_and_kept_by_nobody() {
    let notice = |path: &str| FieldNotice {
        path: path.parse().unwrap(),
        holders: Vec::new(),
        then: None,
        now: None,
        next: None,
    };
    let answer = json!({"spec": {"min": 1, "metrics": [50]}});
    let anew = json!({"spec": {"min": 1, "metrics": [80]}});
    for (anew, stays) in
        [(Some(&anew), &["spec.metrics"][..]), (None, &["spec.metrics", "spec.min"])]
    {
        let perhaps_stays = vec![notice("spec.metrics"), notice("spec.min")];
        let mut notices = Notices { perhaps_stays, ..Notices::default() };
        notices.settle(anew, &answer);
        let told: Vec<_> = notices.stays.iter().map(|it| it.path.to_string()).collect();
        assert_eq!(told, stays);
        assert!(notices.perhaps_stays.is_empty());
    }
}
