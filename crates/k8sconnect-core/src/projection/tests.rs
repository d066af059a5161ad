use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::identity::Gvk;
use crate::manifest::Manifest;
use crate::specimen::any_specimen;

const US: &str = "k8sconnect";

/// Projects an object whose first entry is ours.
fn shown(object: &Value, written: &Value) -> BTreeMap<String, String> {
    let owners = Owners::of_object(object).unwrap();
    let ours = owners.applied_by(US);
    let secrecy = &Secrecy::of(&Gvk::new("v1", object["kind"].as_str().unwrap_or_default()), &[]);
    let view = View { ours: &ours, object, owners: &owners, manager: US, written, secrecy };
    let key = ConcealmentKey([1; 32]);
    project(view).texts(Some(&key)).into_iter().map(|(p, t)| (p.to_string(), t)).collect()
}

fn object(fields: Value, mut content: Value) -> Value {
    content["metadata"]["managedFields"] = json!([
        {"manager": US, "operation": "Apply", "apiVersion": "v1", "fieldsV1": fields}
    ]);
    content
}

fn pairs<const N: usize>(entries: [(&str, &str); N]) -> BTreeMap<String, String> {
    entries.iter().map(|(path, text)| ((*path).into(), (*text).into())).collect()
}

#[test]
fn shows_what_the_user_wrote_and_nothing_else() {
    let written = json!({"spec": {"replicas": 2, "containers": [{"name": "app", "image": "a:1"}]}});
    let live = object(
        json!({"f:spec": {"f:replicas": {}, "f:containers": {
            "k:{\"name\":\"app\"}": {".": {}, "f:name": {}, "f:image": {}}}}}),
        json!({"spec": {
        "replicas": 2, "strategy": "RollingUpdate",
        "containers": [
            {"name": "sidecar", "image": "mesh:9"},
            {"name": "app", "image": "a:1", "pullPolicy": "Always"},
        ]}}),
    );
    assert_eq!(
        shown(&live, &written),
        pairs([("spec.containers[name=app].image", "a:1"), ("spec.replicas", "2")])
    );
}

#[test]
fn an_item_of_which_only_the_key_is_written_shows_its_key() {
    let written = json!({"env": [{"name": "A"}]});
    let live = object(
        json!({"f:env": {"k:{\"name\":\"A\"}": {".": {}, "f:name": {}}}}),
        json!({"env": [{"name": "A", "value": "put in by others"}]}),
    );
    assert_eq!(shown(&live, &written), pairs([("env[name=A].name", "A")]));
}

#[test]
fn an_atomic_list_is_one_entry() {
    let written = json!({"args": ["-v", 1]});
    let live = object(json!({"f:args": {}}), written.clone());
    assert_eq!(shown(&live, &written), pairs([("args", r#"["-v",1]"#)]));
}

#[test]
fn a_map_written_empty_does_not_show_what_defaulting_put_in() {
    let written = json!({"emptyDir": {}});
    let live = object(json!({"f:emptyDir": {}}), json!({"emptyDir": {"medium": "default"}}));
    assert_eq!(shown(&live, &written), pairs([("emptyDir", "{}")]));
}

fn also_held(mut live: Value, fields: Value) -> Value {
    live["metadata"]["managedFields"].as_array_mut().unwrap().push(json!(
        {"manager": "other", "operation": "Update", "apiVersion": "v1", "fieldsV1": fields}
    ));
    live
}

#[test]
fn a_map_written_empty_shows_the_same_whatever_others_put_into_it() {
    let live = object(json!({"f:labels": {}}), json!({"labels": {"theirs": "x"}}));
    let filled = also_held(live.clone(), json!({"f:labels": {"f:theirs": {}}}));
    let shared = also_held(live.clone(), json!({"f:labels": {}}));
    for live in [live, filled, shared] {
        assert_eq!(shown(&live, &json!({"labels": {}})), pairs([("labels", "{}")]));
    }
}

#[test]
fn an_empty_list_that_the_server_drops_is_shown_as_ours() {
    let live = object(json!({"f:tolerations": {}}), json!({}));
    let written = json!({"tolerations": [], "env": []});
    assert_eq!(shown(&live, &written), pairs([("tolerations", "[]")]));
}

#[test]
fn an_empty_map_that_the_server_drops_is_shown_as_long_as_it_is_ours() {
    let dropped = object(json!({"f:labels": {}}), json!({}));
    assert_eq!(shown(&dropped, &json!({"labels": {}})), pairs([("labels", "{}")]));

    // Taken out by somebody else, it is no longer recorded as ours: that is drift.
    let ours = crate::field::fields_v1::decode(&json!({"f:emptyDir": {}})).unwrap();
    let live = object(json!({}), json!({"hostPath": {"path": "/"}}));
    let projection = project(View {
        ours: &ours,
        object: &live,
        owners: &Owners::of_object(&live).unwrap(),
        manager: US,
        written: &json!({"emptyDir": {}}),
        secrecy: &Secrecy::default(),
    });
    assert_eq!(projection, Projection::default());
}

#[test]
fn a_map_written_null_shows_nothing_of_others() {
    let live = object(json!({"f:affinity": {}}), json!({"affinity": {"theirs": {}}}));
    assert_eq!(shown(&live, &json!({"affinity": null})), pairs([]));
    let defaulted = object(json!({"f:replicas": {}}), json!({"replicas": 1}));
    assert_eq!(shown(&defaulted, &json!({"replicas": null})), pairs([("replicas", "1")]));
}

/// An admission plugin mounts a volume of another name at every try; a rival may come at any time.
#[test]
fn what_is_written_null_shows_nothing_whoever_fills_it_and_when() {
    let written = json!({"volumes": null});
    for volumes in [json!(null), json!([]), json!([{"name": "api-access-x7"}]), json!({"a": 1})] {
        let live = object(json!({"f:volumes": {}}), json!({"volumes": volumes}));
        assert_eq!(shown(&live, &written), pairs([]), "{volumes}");
        let shared = also_held(live, json!({"f:volumes": {"k:{\"name\":\"api-access-x7\"}": {}}}));
        assert_eq!(shown(&shared, &written), pairs([]), "{volumes}");
    }
}

#[test]
fn a_list_written_empty_shows_the_same_whatever_others_put_into_it() {
    let live = object(json!({"f:m": {"f:x": {}}}), json!({"m": {"x": ["theirs"]}}));
    let filled = also_held(live, json!({"f:m": {"f:x": {"v:\"theirs\"": {}}}}));
    assert_eq!(shown(&filled, &json!({"m": {"x": []}})), pairs([("m.x", "[]")]));
}

#[test]
fn a_list_that_is_ours_as_a_whole_shows_what_the_server_put_into_it() {
    let live = object(json!({"f:tolerations": {}}), json!({"tolerations": ["default"]}));
    let shared = also_held(live.clone(), json!({"f:tolerations": {}}));
    for live in [live, shared] {
        let shown = shown(&live, &json!({"tolerations": []}));
        assert_eq!(shown, pairs([("tolerations", r#"["default"]"#)]));
    }
}

#[test]
fn an_atomic_that_was_written_empty_or_null_and_taken_shows_what_is_in_it_now() {
    for written in [json!({"selector": {}}), json!({"selector": null})] {
        shows_the_taken_selector(&written, json!({"app": "theirs"}));
        shows_the_taken_selector(&written, json!({}));
    }
}

fn shows_the_taken_selector(written: &Value, theirs: Value) {
    let ours = json!({"f:selector": {}});
    let live = json!({"selector": theirs, "metadata": {"managedFields": [
        {"manager": "other", "operation": "Update", "apiVersion": "v1", "fieldsV1": ours}
    ]}});
    let owners = Owners::of_object(&live).unwrap();
    let kept = crate::field::fields_v1::decode(&ours).unwrap();
    let projection = project(View {
        ours: &kept,
        object: &live,
        owners: &owners,
        manager: US,
        written,
        secrecy: &Secrecy::default(),
    });
    let texts: Vec<_> = projection.texts(None).into_values().collect();
    assert_eq!(texts, [live["selector"].to_string()]);
}

#[test]
fn secret_data_is_shown_as_a_hash() {
    let written = json!({"data": {"password": "aHVudGVyMg=="}, "type": "Opaque"});
    let mut content = written.clone();
    content["kind"] = json!("Secret");
    let live = object(json!({"f:data": {"f:password": {}}, "f:type": {}}), content);
    let shown = shown(&live, &written);
    assert_eq!(shown["type"], "Opaque");
    assert!(shown["data.password"].starts_with("(sensitive, hash "), "{shown:?}");
    assert!(!shown["data.password"].contains("aHVudGVyMg"));
}

#[test]
fn a_hash_tells_values_apart_but_not_across_keys() {
    let path: FieldPath = "data.a".parse().unwrap();
    let text = |key: u8, value: &str| {
        Leaf::Concealed(json!(value)).text(&path, Some(&ConcealmentKey([key; 32])))
    };
    assert_eq!(text(1, "x"), text(1, "x"));
    assert_ne!(text(1, "x"), text(1, "y"));
    assert_ne!(text(1, "x"), text(2, "x"));
    assert_eq!(Leaf::Concealed(json!("x")).text(&path, None), None);
}

proptest! {
    #[test]
    fn covers_every_leaf_and_invents_no_value(specimen in any_specimen()) {
        let manifest = Manifest::parse(&specimen.written()).unwrap();
        let answer = specimen.answered(US);
        let owners = Owners::of_object(&answer).unwrap();
        let ours = specimen.fields();
        let projection = project(View {
            ours: &ours, object: &answer, owners: &owners, manager: US,
            written: manifest.value(), secrecy: &Secrecy::default(),
        });
        for (path, leaf) in &projection.0 {
            let there = crate::field::walk::at(&answer, path).cloned().map(Leaf::Shown);
            prop_assert_eq!(Some(leaf), there.as_ref());
        }
        for path in ours.members() {
            let below = ours.below(&path).unwrap();
            let is_key = path.elements().last() == Some(&PathElement::field("name"));
            prop_assert!(!below.is_leaf() || is_key || projection.get(&path).is_some(),
                "{} is not shown", path);
        }
    }

    #[test]
    fn is_blind_to_the_order_of_managers(specimen in any_specimen()) {
        let written: Value = serde_json::from_str(&specimen.written()).unwrap();
        let answer = specimen.answered(US);
        let mut turned = answer.clone();
        turned["metadata"]["managedFields"].as_array_mut().unwrap().reverse();
        prop_assert_eq!(shown(&answer, &written), shown(&turned, &written));
    }
}
