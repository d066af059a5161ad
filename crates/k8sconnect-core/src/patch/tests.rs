mod items;
mod operations;

use serde_json::json;

use super::*;
use crate::field::FieldPath;
use crate::identity::Gvk;
use crate::owners::Owners;
use crate::projection::{ConcealmentKey, Leaf, Projection, Texts};
use crate::secrecy::Secrecy;

fn key() -> ObjectKey {
    let gvk = Gvk::new("apps/v1", "Deployment");
    ObjectKey { gvk, namespace: Some("shop".into()), name: "web".into() }
}

pub(super) fn read(manner: Manner, text: &str) -> Patch {
    Patch::read(manner, text, key()).unwrap()
}

fn refused(manner: Manner, text: &str) -> Vec<PatchError> {
    Patch::read(manner, text, key()).unwrap_err()
}

fn live() -> Value {
    json!({
        "apiVersion": "apps/v1", "kind": "Deployment",
        "metadata": {"name": "web", "uid": "u", "managedFields": [
            {"manager": "helm", "operation": "Apply", "apiVersion": "apps/v1", "fieldsV1": {
                "f:spec": {"f:replicas": {}, "f:tolerations": {}, "f:containers": {
                    "k:{\"name\":\"app\"}": {".": {}, "f:name": {}, "f:image": {}, "f:env": {
                        "k:{\"name\":\"A\"}": {".": {}, "f:name": {}, "f:value": {}}}}}}}},
        ]},
        "spec": {
            "replicas": 2,
            "tolerations": [{"key": "a", "operator": "Exists"}],
            "containers": [{"name": "app", "image": "a", "env": [{"name": "A", "value": "1"}]}],
        },
    })
}

#[test]
fn null_and_the_value_that_a_default_puts_there_are_two_patches() {
    let default = ("spec.def".parse().unwrap(), Leaf::Shown(json!("d")));
    let leaves = Projection([default].into());
    let kept = Kept { texts: leaves.texts(None), ..Kept::default() };
    let outcome = Outcome { leaves, ..Outcome::default() };
    let respells = |new: &str, old: &str| {
        let [new, old] = [new, old].map(|text| read(Manner::Merge, text));
        new.respells(&old, &outcome, &kept, None)
    };
    assert!(respells("spec: {def: d}", "{spec: {def: 'd'}}"));
    assert!(!respells("spec: {def: d}", "spec: {def: null}"));
    assert!(!respells("spec: {def: null}", "spec: {def: d}"));
}

fn shape() -> Shape {
    Shape::told_by(&Owners::of_object(&live()).unwrap())
}

fn operations(text: &str) -> Vec<Operation> {
    match read(Manner::Json, text).form {
        Form::Json(operations) => operations,
        _ => unreachable!(),
    }
}

fn nothing() -> Texts {
    Texts::new()
}

fn past<'a>(footprints: &'a [Footprint], texts: &'a Texts) -> Past<'a> {
    static NOWHERE: Positions = Positions::new();
    let standing = Standing::Recorded { texts, positions: &NOWHERE, key: None };
    static OPEN: std::sync::LazyLock<Secrecy> = std::sync::LazyLock::new(Secrecy::default);
    Past { footprints, standing, secrecy: &OPEN }
}

/// Carries operations out, and brings back the object, the footprints and the leaves.
fn written(text: &str, live: &Value) -> (Value, Vec<Footprint>, Texts) {
    let operations = operations(text);
    let script = Script::write(&operations, live, past(&[], &nothing()), &shape()).unwrap();
    let mut after = live.clone();
    for operation in &script.send {
        operation.carry_out(&mut after).unwrap();
    }
    let patch = read(Manner::Json, text);
    let outcome =
        patch.outcome(Written { object: &after, manager: "us" }, &script, &shape()).unwrap();
    (after, outcome.footprints, outcome.leaves.texts(None))
}

fn again(text: &str, live: &Value, footprints: &[Footprint], texts: &Texts) -> Vec<Value> {
    let script = Script::write(&operations(text), live, past(footprints, texts), &shape()).unwrap();
    script.send.iter().map(Operation::to_json).collect()
}

#[test]
fn what_stands_in_data_of_a_secret_must_be_base64_however_it_is_written() {
    let secret = || ObjectKey { gvk: Gvk::new("v1", "Secret"), ..key() };
    let told = |manner, text| Patch::read(manner, text, secret()).err();
    let wrong =
        |field: &str| Some(vec![PatchError::Secret(SecretError::NotBase64(field.to_owned()))]);
    for manner in [Manner::Apply, Manner::Merge] {
        assert_eq!(told(manner, "data: {a: aGk=, b.c: not base64}"), wrong("data[\"b.c\"]"));
        assert_eq!(told(manner, "{data: {a: \"aGk=\\n\"}, stringData: {b: not base64}}"), None);
    }
    assert_eq!(told(Manner::Merge, "data: {a: null}"), None);
    let operations = "[{op: add, path: /data/a, value: not base64}]";
    assert_eq!(told(Manner::Json, operations), wrong("data.a"));
    assert_eq!(told(Manner::Json, "[{op: add, path: /data, value: {a: hä}}]"), wrong("data.a"));
    assert_eq!(told(Manner::Json, "[{op: add, path: /data/a, value: aGk=}]"), None);
    // Anything else may hold what it likes.
    read(Manner::Merge, "data: {a: not base64}");
}

#[test]
fn what_repeats_the_target_is_no_change() {
    let with = read(
        Manner::Apply,
        "{apiVersion: apps/v1, kind: Deployment, metadata: {name: web, namespace: shop}, spec: {replicas: 3}}",
    );
    assert_eq!(with, read(Manner::Apply, "spec: {replicas: 3}"));
    let digest = |patch: &Patch| patch.digest(&ConcealmentKey([7; 32]));
    assert_eq!(digest(&with), digest(&read(Manner::Apply, "{\"spec\": {\"replicas\": 3}}")));
    assert_ne!(digest(&with), digest(&read(Manner::Merge, "spec: {replicas: 3}")));
}

#[test]
fn who_the_object_is_cannot_be_patched() {
    for text in
        ["kind: Pod", "metadata: {name: other}", "metadata: {namespace: x}", "metadata: null"]
    {
        assert!(matches!(refused(Manner::Merge, text)[0], PatchError::Identity(_)), "{text}");
    }
    let whole = r#"[{"op": "remove", "path": ""}]"#;
    assert_eq!(refused(Manner::Json, whole), [PatchError::WholeObject]);
    for path in ["/metadata", "/kind", "/metadata/name"] {
        let text = json!([{"op": "remove", "path": path}]).to_string();
        assert!(matches!(refused(Manner::Json, &text)[0], PatchError::Identity(_)), "{path}");
    }
    let moved = json!([{"op": "move", "from": "/metadata/name", "path": "/spec/x"}]).to_string();
    assert!(matches!(refused(Manner::Json, &moved)[0], PatchError::Identity(_)));
}

#[test]
fn everything_wrong_is_told_at_once() {
    let text = "{status: {a: 1}, metadata: {uid: x, annotations: {k8sconnect.terraform.io/terraform-id: y}}, \
                spec: {containers: [{$patch: delete, name: a}], $retainKeys: [a]}}";
    let errors = refused(Manner::Apply, text);
    assert_eq!(errors.len(), 5, "{errors:#?}");
    let directive = PatchError::Directive("spec.containers[0][\"$patch\"]".to_owned());
    assert!(errors.contains(&directive), "{errors:#?}");
}

#[test]
fn a_directive_in_an_operation_is_told() {
    for operation in [
        json!({"op": "add", "path": "/spec/containers/0/$patch", "value": "delete"}),
        json!({"op": "add", "path": "/spec/containers/-", "value": {"$patch": "delete"}}),
    ] {
        let text = json!([operation]).to_string();
        assert!(matches!(refused(Manner::Json, &text)[0], PatchError::Directive(_)), "{text}");
    }
}

#[test]
fn a_dollar_in_a_schema_is_no_directive() {
    read(Manner::Merge, "spec: {schema: {$ref: x}}");
}

#[test]
fn a_test_alone_patches_nothing() {
    assert_eq!(
        refused(Manner::Json, r#"[{"op": "test", "path": "/a", "value": 1}]"#),
        [PatchError::Empty]
    );
    assert_eq!(refused(Manner::Apply, "metadata: {name: web}"), [PatchError::Empty]);
}

#[test]
fn a_position_becomes_a_name() {
    let (_, _, texts) = written(
        r#"[{"op": "replace", "path": "/spec/containers/0/image", "value": "b"},
            {"op": "add", "path": "/spec/containers/0/env/-", "value": {"name": "B", "value": "2"}},
            {"op": "remove", "path": "/spec/containers/0/env/0"},
            {"op": "add", "path": "/spec/tolerations/-", "value": {"key": "b"}}]"#,
        &live(),
    );
    let told: Vec<_> = texts.iter().map(|(path, text)| format!("{path} = {text}")).collect();
    assert_eq!(
        told,
        [
            "spec.containers[name=app].env[name=A] = (absent)",
            "spec.containers[name=app].env[name=B].value = \"2\"",
            "spec.containers[name=app].image = b",
            "spec.tolerations[={\"key\":\"b\"}] = {\"key\":\"b\"}",
        ]
    );
}

#[test]
fn a_merge_patch_names_its_leaves() {
    let patch =
        read(Manner::Merge, "spec: {replicas: null, strategy: {type: Recreate}, args: [a]}");
    let object = json!({"spec": {"strategy": {"type": "Recreate", "other": 1}, "args": ["a"]}});
    let outcome = patch
        .outcome(Written { object: &object, manager: "us" }, &Script::default(), &shape())
        .unwrap();
    let told: Vec<_> =
        outcome.leaves.texts(None).iter().map(|(p, t)| format!("{p} = {t}")).collect();
    assert_eq!(
        told,
        ["spec.args = [\"a\"]", "spec.replicas = (absent)", "spec.strategy.type = Recreate"]
    );
}

#[test]
fn who_loses_what_and_which_patch_stands_in_the_way_is_judged() {
    let patch = read(Manner::Merge, "spec: {replicas: 5, tolerations: []}");
    let mut before = live();
    before["metadata"]["managedFields"].as_array_mut().unwrap().push(json!({
        "manager": "k8sconnect-patch-other", "operation": "Update", "apiVersion": "apps/v1",
        "fieldsV1": {"f:spec": {"f:replicas": {}}}}));
    let mut after = before.clone();
    after["spec"]["replicas"] = json!(5);
    after["spec"]["tolerations"] = json!([]);
    after["metadata"]["managedFields"] = json!([{
        "manager": "k8sconnect-patch-us", "operation": "Update", "apiVersion": "apps/v1",
        "fieldsV1": {"f:spec": {"f:replicas": {}, "f:tolerations": {}}}}]);
    let answer = Written { object: &after, manager: "k8sconnect-patch-us" };
    let outcome = patch.outcome(answer, &Script::default(), &shape()).unwrap();
    let scene = Scene {
        live: &before,
        answer,
        manager: answer.manager,
        meant: &Owners::default(),
        kept: None,
        key: None,
    };
    let verdict = patch.judge(scene, &outcome).unwrap();
    assert_eq!(verdict.contested.len(), 1);
    assert_eq!(verdict.contested[0].0.name, "k8sconnect-patch-other");
    assert_eq!(verdict.dropped[0].1, [json!({"key": "a", "operator": "Exists"})]);
    let replicas = &verdict.changes[0];
    assert_eq!((replicas.live.as_deref(), replicas.after.as_deref()), (Some("2"), Some("5")));
    assert_eq!(verdict.joins.len(), 2);
    assert_eq!(verdict.lost.0.len(), 2);
}

#[test]
fn what_goes_with_a_replaced_map_is_told_with_its_holders() {
    let text = r#"[{"op": "replace", "path": "/spec/labels", "value": {"mine": "yes"}},
        {"op": "replace", "path": "/spec/limits", "value": {}},
        {"op": "replace", "path": "/spec/args/0", "value": "z"},
        {"op": "add", "path": "/spec/tolerations", "value": []}]"#;
    let mut before = live();
    before["spec"]["labels"] = json!({"mine": "no", "team": "blue", "deep": {"er": 1}});
    before["spec"]["limits"] = json!({"cpu": 1});
    before["spec"]["args"] = json!(["a", "b"]);
    before["metadata"]["managedFields"].as_array_mut().unwrap().push(json!({
        "manager": "labeler", "operation": "Update", "apiVersion": "apps/v1",
        "fieldsV1": {"f:spec": {"f:args": {}, "f:limits": {"f:cpu": {}},
            "f:labels": {"f:mine": {}, "f:team": {}}}}}));
    let shape = Shape::told_by(&Owners::of_object(&before).unwrap());
    let patch = read(Manner::Json, text);
    let script = Script::write(&operations(text), &before, past(&[], &nothing()), &shape).unwrap();
    let mut after = before.clone();
    for operation in &script.send {
        operation.carry_out(&mut after).unwrap();
    }
    after["metadata"]["managedFields"] = json!([]);
    let answer = Written { object: &after, manager: "us" };
    let outcome = patch.outcome(answer, &script, &shape).unwrap();
    let scene = Scene {
        live: &before,
        answer,
        manager: "us",
        meant: &Owners::default(),
        kept: None,
        key: None,
    };
    let verdict = patch.judge(scene, &outcome).unwrap();
    let told = |notice: &crate::ownership::FieldChange| {
        let holders: Vec<_> = notice.owners.iter().map(|it| it.name.as_str()).collect();
        let now = notice.live.as_deref().unwrap_or("?");
        format!("{} = {now} held by {}", notice.path, holders.join(","))
    };
    assert_eq!(
        verdict.gone.iter().map(told).collect::<Vec<_>>(),
        [
            "spec.labels.deep.er = 1 held by ",
            "spec.labels.team = blue held by labeler",
            "spec.limits.cpu = 1 held by labeler",
        ]
    );
    let changes: Vec<_> = verdict.changes.iter().map(|it| it.path.to_string()).collect();
    assert!(!changes.contains(&"spec.limits".to_owned()), "no false old value: {changes:?}");
    assert!(changes.contains(&r#"spec.args[="a"]"#.to_owned()), "{changes:?}");
    assert_eq!(verdict.dropped.len(), 1, "a list that is named is told with its items");
}

#[test]
fn what_the_server_takes_away_unasked_is_told_where_others_hold_it() {
    let json = r#"[{"op": "replace", "path": "/spec/type", "value": "ClusterIP"}]"#;
    for (manner, text) in [
        (Manner::Apply, "spec: {type: ClusterIP}"),
        (Manner::Merge, "spec: {type: ClusterIP}"),
        (Manner::Json, json),
    ] {
        let entry = |manager, fields: Value| {
            json!({"manager": manager, "operation": "Update", "apiVersion": "apps/v1",
                   "fieldsV1": {"f:spec": fields}})
        };
        let before = json!({"apiVersion": "apps/v1", "metadata": {"managedFields": [
            entry("helm", json!({"f:type": {}, "f:ports": {
                "k:{\"port\":80}": {".": {}, "f:port": {}, "f:nodePort": {}}}}))]},
            "spec": {"type": "NodePort", "unheld": "x",
                     "ports": [{"port": 80, "nodePort": 30080}]}});
        let mut after = before.clone();
        after["spec"] = json!({"type": "ClusterIP", "ports": [{"port": 80}]});
        after["metadata"]["managedFields"] = json!([entry("us", json!({"f:type": {}}))]);
        let shape = Shape::told_by(&Owners::of_object(&before).unwrap());
        let script = match manner {
            Manner::Json => {
                Script::write(&operations(text), &before, past(&[], &nothing()), &shape).unwrap()
            }
            _ => Script::default(),
        };
        let patch = read(manner, text);
        let answer = Written { object: &after, manager: "us" };
        let outcome = patch.outcome(answer, &script, &shape).unwrap();
        let meant = &Owners::default();
        let scene = Scene { live: &before, answer, manager: "us", meant, kept: None, key: None };
        let verdict = patch.judge(scene, &outcome).unwrap();
        let told: Vec<_> = verdict.taken_along.iter().map(|it| it.path.to_string()).collect();
        assert_eq!(told, ["spec.ports[port=80].nodePort"], "{manner:?}");
        assert_eq!(verdict.taken_along[0].owners[0].name, "helm", "{manner:?}");
        assert_eq!(verdict.gone, [], "{manner:?}");
    }
}

#[test]
fn an_item_of_a_list_that_is_held_as_a_whole_stands_for_the_list() {
    let add = |key: &str| {
        let text = json!([{"op": "add", "path": "/spec/tolerations/-", "value": {"key": key}}]);
        let (mut after, footprints, _) = written(&text.to_string(), &live());
        after["metadata"]["managedFields"][0] = json!({"manager": "us", "operation": "Update",
            "apiVersion": "apps/v1", "fieldsV1": {"f:spec": {"f:tolerations": {}}}});
        let patch = read(Manner::Json, &text.to_string());
        let script =
            Script::write(&operations(&text.to_string()), &live(), past(&[], &nothing()), &shape());
        let written = Written { object: &after, manager: "us" };
        let outcome = patch.outcome(written, &script.unwrap(), &shape()).unwrap();
        assert_eq!(outcome.footprints, footprints);
        outcome
    };
    let (one, other) = (add("b"), add("c"));
    let common = common_fields(&one.reach(), &other.reach());
    let common: Vec<_> = common.iter().map(ToString::to_string).collect();
    assert_eq!(common, ["spec.tolerations"]);
    assert!(common_fields(&one.reach(), &Default::default()).is_empty());
}

#[test]
fn a_reserved_key_is_refused_in_every_form_of_a_patch() {
    for (map, key) in [("annotations", "terraform-id"), ("labels", "team")] {
        let key = format!("k8sconnect.terraform.io/{key}");
        let reserved = PatchError::Reserved(FieldPath::fields(["metadata", map, &key]));
        let at = format!("/metadata/{map}/{}", key.replace('/', "~1"));
        let whole = format!("/metadata/{map}");
        let object = json!({"metadata": {map: {&key: "x"}}, "spec": {"replicas": 1}});
        let removing = json!({"metadata": {map: {&key: null}}});
        for (manner, patch) in [
            (Manner::Apply, object.clone()),
            (Manner::Merge, object),
            (Manner::Merge, removing),
            (Manner::Json, json!([{"op": "add", "path": at, "value": "x"}])),
            (Manner::Json, json!([{"op": "replace", "path": at, "value": "x"}])),
            (Manner::Json, json!([{"op": "remove", "path": at}])),
            (Manner::Json, json!([{"op": "move", "from": at, "path": "/spec/x"}])),
            (Manner::Json, json!([{"op": "move", "from": "/spec/x", "path": at}])),
            (Manner::Json, json!([{"op": "copy", "from": at, "path": "/spec/x"}])),
            (Manner::Json, json!([{"op": "copy", "from": "/spec/x", "path": at}])),
            (
                Manner::Json,
                json!([{"op": "test", "path": at, "value": "x"},
                                  {"op": "remove", "path": "/spec/x"}]),
            ),
            (Manner::Json, json!([{"op": "add", "path": whole, "value": {&key: "x", "a": "b"}}])),
        ] {
            let errors = refused(manner, &patch.to_string());
            assert_eq!(errors, std::slice::from_ref(&reserved), "{patch}");
        }
    }
}

#[test]
fn all_annotations_at_once_are_left_alone() {
    let at = "/metadata/annotations";
    for operation in [
        json!({"op": "remove", "path": at}),
        json!({"op": "replace", "path": at, "value": {}}),
        json!({"op": "move", "from": at, "path": "/spec/x"}),
        json!({"op": "copy", "from": "/metadata/labels", "path": at}),
    ] {
        let text = json!([operation]).to_string();
        assert!(matches!(refused(Manner::Json, &text)[0], PatchError::AllAnnotations(_)), "{text}");
    }
    let text = json!([{"op": "add", "path": at, "value": {"a": "b"}}]).to_string();
    let (mut after, ..) = written(&text, &live());
    assert_eq!(after["metadata"]["annotations"], json!({"a": "b"}), "there were none");
    after["metadata"]["annotations"] = json!({"theirs": "x"});
    let problem = Script::write(&operations(&text), &after, past(&[], &nothing()), &shape());
    assert!(matches!(problem, Err(Problem::Cannot { trouble: Trouble::Annotated(_), .. })));
}

#[test]
fn an_object_of_ours_is_known_by_either_mark() {
    assert_eq!(claimed(&live(), "k8sconnect").unwrap(), None);
    let found = claimed(&live(), "helm").unwrap().unwrap();
    assert_eq!((found.id, found.entries), (None, vec![0]));
    let mut marked = live();
    marked["metadata"]["annotations"] = json!({crate::identity::ID_ANNOTATION: "x"});
    assert_eq!(claimed(&marked, "k8sconnect").unwrap().unwrap().id.as_deref(), Some("x"));
}

#[test]
fn marks_are_kept_as_text() {
    for text in
        ["=spec.replicas", "+spec.containers[name=app]", r#"-metadata.annotations["a.b/c"]"#]
    {
        assert_eq!(text.parse::<Mark>().unwrap().to_string(), text);
    }
    assert!("spec.replicas".parse::<Mark>().is_err() && "".parse::<Mark>().is_err());
}

#[test]
fn a_merge_patch_removes_by_string_data_what_is_in_data() {
    let gvk = Gvk::new("v1", "Secret");
    let secret = ObjectKey { gvk, namespace: Some("shop".into()), name: "keys".into() };
    let read = |text: &str| Patch::read(Manner::Merge, text, secret.clone());
    for (text, sent) in [
        ("stringData: {a: q, b: null}", json!({"data": {"a": "cQ==", "b": null}})),
        ("stringData: {b: null}", json!({"data": {"b": null}})),
        ("{stringData: {a: q}, data: {b: null}}", json!({"data": {"a": "cQ==", "b": null}})),
        ("{stringData: {b: null}, data: {b: null}}", json!({"data": {"b": null}})),
    ] {
        assert_eq!(read(text).unwrap().form, Form::Merge(sent), "{text}");
    }
    for (text, why) in [
        ("stringData: null", PatchError::Secret(SecretError::NoStringData)),
        ("{stringData: null, data: null}", PatchError::Secret(SecretError::NoStringData)),
        ("{stringData: {a: q}, data: null}", PatchError::Secret(SecretError::AllOfData)),
        (
            "{stringData: {b: null}, data: {b: eA==}}",
            PatchError::Secret(SecretError::BothWays("b".to_owned())),
        ),
    ] {
        assert_eq!(read(text).unwrap_err(), [why], "{text}");
    }
}
