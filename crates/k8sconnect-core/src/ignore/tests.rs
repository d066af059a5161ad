use serde_json::json;

use super::*;

const US: &str = "k8sconnect";

fn ignoring(texts: &[&str]) -> Ignoring {
    let ignores: Vec<_> = texts.iter().map(|text| Ignore::parse(text).unwrap()).collect();
    Ignoring::new(&ignores, &manifest("v1", "ConfigMap"), &Yielded::new()).0
}

fn manifest(api_version: &str, kind: &str) -> Manifest {
    let text = format!("apiVersion: {api_version}\nkind: {kind}\nmetadata: {{name: a}}\n");
    Manifest::parse(&text).unwrap()
}

fn owners(entries: &[(&str, Value)]) -> Owners {
    let list: Vec<_> = entries
        .iter()
        .map(|(name, fields)| {
            let operation = if *name == US { "Apply" } else { "Update" };
            json!({"manager": name, "operation": operation, "apiVersion": "v1",
                   "fieldsV1": fields})
        })
        .collect();
    Owners::from_managed_fields(&json!(list)).unwrap()
}

fn replicas() -> Value {
    json!({"f:spec": {"f:replicas": {}}})
}

#[test]
fn what_we_alone_own_is_sent_as_it_is_now() {
    let written = json!({"spec": {"replicas": 2, "paused": true}});
    let live = json!({"spec": {"replicas": 7, "paused": true}});
    let body = ignoring(&["spec.replicas"]).body(&written, &live, &owners(&[(US, replicas())]), US);
    assert_eq!(body, json!({"spec": {"replicas": 7, "paused": true}}));
}

#[test]
fn what_others_own_is_left_out() {
    let written = json!({"spec": {"replicas": 2, "paused": true}});
    let live = json!({"spec": {"replicas": 7}});
    for held in [vec![("hpa", replicas())], vec![(US, replicas()), ("hpa", replicas())]] {
        let body = ignoring(&["spec.replicas"]).body(&written, &live, &owners(&held), US);
        assert_eq!(body, json!({"spec": {"paused": true}}));
    }
}

#[test]
fn what_nobody_owns_is_left_out_and_leaves_no_empty_map_behind() {
    let written = json!({"metadata": {"annotations": {"a.b/c": "x"}}, "data": {"k": "v"}});
    let live = json!({"metadata": {"annotations": {"a.b/c": "y"}}, "data": {"k": "v"}});
    let body = ignoring(&["metadata.annotations.a.b/c"]).body(&written, &live, &owners(&[]), US);
    assert_eq!(body, json!({"data": {"k": "v"}}));
}

/// Whoever empties a map holds it like something atomic. Found by a random story.
#[test]
fn a_map_that_others_emptied_hides_no_ignored_key() {
    let written = json!({"spec": {"area": 5, "labels": {"x": "1"}}});
    let held = owners(&[("alice", json!({"f:spec": {"f:labels": {}}}))]);
    for live in [json!({"spec": {"area": 5, "labels": {}}}), json!({"spec": {"area": 5}})] {
        let body = ignoring(&[r#"spec.labels["x"]"#]).body(&written, &live, &held, US);
        assert_eq!(body, json!({"spec": {"area": 5}}));
    }
    let atomic = json!({"spec": {"area": 5, "labels": {"y": "2"}}});
    let body = ignoring(&[r#"spec.labels["x"]"#]).body(&written, &atomic, &held, US);
    assert_eq!(body, written, "a map that is owned whole is sent whole");
}

fn containers(image: &str) -> Value {
    json!({"containers": [{"name": "app", "image": image, "tty": true}]})
}

fn container_fields(fields: &[&str]) -> Value {
    let mut item = json!({".": {}, "f:name": {}});
    for field in fields {
        item[format!("f:{field}")] = json!({});
    }
    json!({"f:containers": {r#"k:{"name":"app"}"#: item}})
}

#[test]
fn the_key_of_an_item_is_always_sent() {
    let held = owners(&[(US, container_fields(&["tty"])), ("ci", container_fields(&["image"]))]);
    let body = ignoring(&["containers[*]"]).body(&containers("a:1"), &containers("a:9"), &held, US);
    assert_eq!(body["containers"][0]["name"], "app");
    assert_eq!(body["containers"][0].get("image"), None, "it is theirs");
    assert_eq!(body["containers"][0]["tty"], true, "it is ours alone");
}

/// Found by fresh eyes: the key is owned apart from what it holds.
#[test]
fn a_key_of_a_map_that_others_hold_parts_of_is_sent_on_empty() {
    let written = json!({"spec": {"free": {"q": {"x": 2}}, "lists": {"l": ["a"]}}});
    let live = json!({"spec": {"free": {"q": {"x": 7}}, "lists": {"l": ["b"]}}});
    let ours = json!({"f:spec": {"f:free": {"f:q": {}}, "f:lists": {"f:l": {}}}});
    let theirs = json!({"f:spec": {"f:free": {"f:q": {"f:x": {}}},
                                   "f:lists": {"f:l": {"v:\"b\"": {}}}}});
    let held = owners(&[(US, ours), ("rival", theirs)]);
    let sent = |ignored: &[&str]| ignoring(ignored).body(&written, &live, &held, US);
    for way in ["spec.free.q.x", "spec.free.q.*", "spec.free.q", "spec.free.*", "spec.free"] {
        let expected = json!({"q": {}});
        assert_eq!(sent(&[way])["spec"]["free"], expected, "{way}");
    }
    for way in ["spec.lists.l", "spec.lists.*", "spec.lists", "spec"] {
        assert_eq!(sent(&[way])["spec"]["lists"], json!({"l": []}), "{way}");
    }
}

#[test]
fn a_key_is_shown_as_little_as_the_ignored_field_that_is_all_it_holds() {
    let before = owners(&[(US, json!({"f:free": {"f:q": {".": {}, "f:x": {}}, "f:r": {}}}))]);
    let after = owners(&[
        (US, json!({"f:free": {"f:q": {}, "f:r": {}}})),
        ("rival", json!({"f:free": {"f:q": {"f:x": {}}}})),
    ]);
    let ignoring = ignoring(&["free.q.x"]);
    for (held, x) in [(&before, 2), (&after, 7)] {
        let live = json!({"free": {"q": {"x": x}, "r": 1}});
        let rest = ignoring.rest(held.applied_by(US), &live);
        assert_eq!(rest.members(), ["free.r".parse::<FieldPath>().unwrap()]);
        assert_eq!(ignoring.reaching_into_leaves(&live, held, US), []);
    }
}

#[test]
fn an_item_that_is_gone_is_brought_back_with_the_users_value() {
    let held = owners(&[("other", json!({"f:containers": {}}))]);
    let body = ignoring(&["containers[name=app].image"]).body(
        &containers("a:1"),
        &json!({"containers": []}),
        &held,
        US,
    );
    assert_eq!(body, containers("a:1"));
}

fn keyed(items: &[(&str, &str)]) -> Value {
    let items: Vec<_> = items.iter().map(|(n, v)| json!({"name": n, "val": v})).collect();
    json!({"spec": {"keyed": items}})
}

fn keyed_fields(names: &[&str]) -> Value {
    let item = |name: &&str| {
        let key = json!({"name": name, "port": 80}).to_string();
        (format!("k:{key}"), json!({".": {}, "f:name": {}, "f:val": {}}))
    };
    json!({"f:spec": {"f:keyed": names.iter().map(item).collect::<Map<_, _>>()}})
}

/// Found by fresh eyes: who removed it was answered by its return.
#[test]
fn an_ignored_item_that_others_removed_stays_away() {
    let written = keyed(&[("a", "1"), ("b", "2"), ("c", "3")]);
    let mut live = keyed(&[("a", "1"), ("c", "3")]);
    for item in live["spec"]["keyed"].as_array_mut().unwrap() {
        item["port"] = json!(80);
    }
    let held = owners(&[(US, keyed_fields(&["a", "c"]))]);
    let before = owners(&[(US, keyed_fields(&["a", "b", "c"]))]).applied_by(US);
    for way in ["spec.keyed[name=b]", "spec.keyed", "spec.keyed[*]", "spec"] {
        let ignoring = ignoring(&[way]);
        let names: Vec<_> = ignoring.body(&written, &live, &held, US)["spec"]["keyed"]
            .as_array()
            .unwrap()
            .iter()
            .map(|item| item["name"].as_str().unwrap().to_owned())
            .collect();
        assert_eq!(names, ["a", "c"], "{way}");
        let now = ignoring.rest(held.applied_by(US), &live);
        assert_eq!(ignoring.rest(before.clone(), &live), now, "{way}: nothing is missed");
        assert_eq!(ignoring.oddities(&written, &live, &held), Oddities::default(), "{way}");
    }
    let parts = ignoring(&["spec.keyed[name=b].val"]);
    assert_eq!(parts.body(&written, &live, &held, US), written, "the item itself is the user's");
    let all_gone = json!({"spec": {}});
    let body = ignoring(&["spec.keyed[name=b]"]).body(&written, &all_gone, &owners(&[]), US);
    assert_eq!(body, keyed(&[("a", "1"), ("c", "3")]));
}

#[test]
fn an_ignored_member_of_a_set_that_others_removed_stays_away() {
    let written = json!({"metadata": {"finalizers": ["x/a", "x/b"]}});
    let fields = |of: &[&str]| {
        let member = |name: &&str| (format!("v:{}", json!(name)), json!({}));
        json!({"f:metadata": {"f:finalizers": of.iter().map(member).collect::<Map<_, _>>()}})
    };
    let held = owners(&[(US, fields(&["x/a"]))]);
    let live = json!({"metadata": {"finalizers": ["x/a"]}});
    for way in ["metadata.finalizers", "metadata.finalizers[*]", r#"metadata.finalizers[="x/b"]"#] {
        assert_eq!(ignoring(&[way]).body(&written, &live, &held, US), live, "{way}");
    }
    let bare = json!({"metadata": {}});
    let body = ignoring(&["metadata.finalizers"]).body(&written, &bare, &owners(&[]), US);
    assert_eq!(body.pointer("/metadata/finalizers"), None);
}

#[test]
fn an_ignored_item_inside_of_one_with_a_defaulted_key_stays_away() {
    let written = json!({"l": [{"name": "a", "sub": [{"k": "x"}, {"k": "y"}]}]});
    let live = json!({"l": [{"name": "a", "port": 80, "sub": [{"k": "x"}]}]});
    let fields = json!({"f:l": {r#"k:{"name":"a","port":80}"#: {".": {}, "f:name": {},
        "f:sub": {r#"k:{"k":"x"}"#: {".": {}, "f:k": {}}}}}});
    let body =
        ignoring(&["l[name=a].sub[k=y]"]).body(&written, &live, &owners(&[(US, fields)]), US);
    assert_eq!(body, json!({"l": [{"name": "a", "sub": [{"k": "x"}]}]}));
}

#[test]
fn a_field_dropped_from_the_body_is_still_not_reset() {
    let written = json!({"spec": {"paused": true}});
    let live = json!({"spec": {"replicas": 7, "paused": true}});
    let body = ignoring(&["spec.replicas"]).body(&written, &live, &owners(&[(US, replicas())]), US);
    assert_eq!(body["spec"]["replicas"], 7);
}

#[test]
fn ignored_fields_are_not_compared() {
    let set = owners(&[(US, json!({"f:spec": {"f:replicas": {}, "f:paused": {}}}))]);
    let rest = ignoring(&["spec.replicas"]).rest(set.applied_by(US), &json!({}));
    assert_eq!(rest.members(), ["spec.paused".parse::<FieldPath>().unwrap()]);
}

#[test]
fn a_manager_is_yielded_to_once_it_has_been_seen() {
    let ignores = [Ignore::parse("manager=hpa").unwrap()];
    let (nobody, unseen) = Ignoring::new(&ignores, &manifest("v1", "ConfigMap"), &Yielded::new());
    assert_eq!(unseen, ["hpa"]);
    assert!(nobody.is_empty());
    let seen = [("hpa".to_owned(), owners(&[(US, replicas())]).applied_by(US))].into();
    let (ignoring, unseen) = Ignoring::new(&ignores, &manifest("v1", "ConfigMap"), &seen);
    assert!(unseen.is_empty());
    let set = owners(&[(US, json!({"f:spec": {"f:replicas": {}, "f:paused": {}}}))]).applied_by(US);
    assert_eq!(ignoring.among(&set, &json!({})).members().len(), 1);
    assert!(Ignore::parse("manager=").is_err());
}

#[test]
fn a_path_into_an_atomic_is_seen() {
    let object = json!({"selector": {"app": "x"}});
    let held = owners(&[(US, json!({"f:selector": {}}))]);
    let into = ignoring(&["selector.app", "selector"]).reaching_into_leaves(&object, &held, US);
    assert_eq!(into.len(), 1);
    assert_eq!(into[0].0, "selector.app");
}

#[test]
fn what_says_which_object_is_meant_cannot_be_ignored() {
    for text in ["*", "kind", "apiVersion", "metadata", "metadata.name", "metadata.namespace"] {
        assert!(Ignore::parse(text).is_err(), "{text}");
    }
    for text in ["metadata.labels", "metadata.annotations.name", "spec", "data.*"] {
        assert!(Ignore::parse(text).is_ok(), "{text}");
    }
}

#[test]
fn a_reserved_annotation_or_label_cannot_be_ignored_by_name() {
    for text in [
        "metadata.annotations[\"k8sconnect.terraform.io/terraform-id\"]",
        "metadata.annotations.k8sconnect.terraform.io/terraform-id",
        "metadata.annotations['k8sconnect.terraform.io/patch-0f3a']",
        "metadata.labels[\"k8sconnect.terraform.io/team\"]",
    ] {
        let problem = PatternProblem::Reserved;
        assert_eq!(Ignore::parse(text), Err(PatternError { text: text.to_owned(), problem }));
    }
    for text in [
        "metadata.annotations",
        "metadata.annotations.*",
        "metadata.annotations[\"k8sconnect.terraform.io\"]",
        "spec.template.metadata.annotations[\"k8sconnect.terraform.io/a\"]",
    ] {
        assert!(Ignore::parse(text).is_ok(), "{text}");
    }
}

#[test]
fn string_data_of_a_secret_means_its_data() {
    let ignores = [Ignore::parse("stringData.password").unwrap()];
    let set = owners(&[(US, json!({"f:data": {"f:password": {}}}))]).applied_by(US);
    let ignored = |kind: &str| {
        let ignoring = Ignoring::new(&ignores, &manifest("v1", kind), &Yielded::new()).0;
        ignoring.among(&set, &json!({})).members().len()
    };
    assert_eq!(ignored("Secret"), 1);
    assert_eq!(ignored("ConfigMap"), 0);
}

#[test]
fn a_place_is_looked_up_in_what_the_user_wrote() {
    let text =
        "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\ncontainers: [{name: side}, {name: app}]\n";
    let ignores = [Ignore::parse("containers[1].image").unwrap()];
    let ignoring = Ignoring::new(&ignores, &Manifest::parse(text).unwrap(), &Yielded::new()).0;
    let held = owners(&[(US, container_fields(&["image"]))]);
    let live = containers("a:9");
    let ignored = ignoring.among(&held.applied_by(US), &live);
    let path: FieldPath = "containers[name=app].image".parse().unwrap();
    assert_eq!(ignored.members(), std::slice::from_ref(&path));
    let odd = ignoring.oddities(&containers("a:1"), &live, &held);
    assert_eq!(odd.by_place, [("containers[1].image".to_owned(), path)].into());
    assert_eq!(odd.idle, BTreeMap::new());
}

#[test]
fn an_entry_that_means_nothing_is_seen_and_the_nearest_field_named() {
    let texts =
        ["containers[name=app].imag", "metadata.labels.x", "containers[name=app]", "spec[0]"];
    let held = owners(&[(US, container_fields(&["image", "tty"]))]);
    let odd = ignoring(&texts).oddities(&containers("a:1"), &containers("a:9"), &held);
    let near = "containers[name=app].image".parse().unwrap();
    let none = |text: &str| (text.to_owned(), None);
    assert_eq!(
        odd.idle,
        [(texts[0].to_owned(), Some(near)), none(texts[1]), none(texts[3])].into()
    );
    assert_eq!(odd.by_place, BTreeMap::new());
}

#[test]
fn what_the_server_defaults_and_nobody_holds_is_there_too() {
    let live = json!({"spec": {"replicas": 1, "rules": [{"host": "a"}]}});
    let odd = ignoring(&["spec.replicas", "spec.rules[*].host"]).oddities(
        &json!({}),
        &live,
        &owners(&[]),
    );
    assert_eq!(odd, Oddities::default());
}

#[test]
fn what_is_ignored_from_the_start_and_not_there_is_never_sent() {
    let ignored = ignoring(&["data.new", "data.there", "data.old"]);
    let before = json!({"data": {"a": "1", "old": "x"}});
    let written = json!({"data": {"a": "1", "old": "x", "new": "x", "there": "x", "sent": "x"}});
    let live = json!({"data": {"a": "1", "there": "y"}});
    let owners = owners(&[(US, json!({"f:data": {"f:a": {}}}))]);
    let sent = ignored.body(&written, &live, &owners, US);
    let found = unsent([&before, &written, &sent], &live, &owners);
    let shown: Vec<_> = found.iter().map(ToString::to_string).collect();
    assert_eq!(shown, ["data.new"]);
}

#[test]
fn an_item_that_is_ignored_from_the_start_is_told_by_its_key() {
    let env = |names: &[&str]| -> Value { names.iter().map(|it| json!({"name": it})).collect() };
    let body = |names: &[&str]| json!({"env": env(names), "set": ["a"]});
    let owners = owners(&[(US, json!({"f:env": {"k:{\"name\":\"A\"}": {"f:name": {}}}}))]);
    for pattern in ["env", "env[*]", "env[name=C]"] {
        let (before, written, live) = (body(&["A", "B"]), body(&["A", "B", "C"]), body(&["A"]));
        let sent = ignoring(&[pattern]).body(&written, &live, &owners, US);
        let found = unsent([&before, &written, &sent], &live, &owners);
        let shown: Vec<_> = found.iter().map(ToString::to_string).collect();
        assert_eq!(shown, ["env[name=C]"], "{pattern}");
    }
}
