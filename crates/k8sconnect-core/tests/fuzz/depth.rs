//! Depth and repetition, the two ways in which a small text becomes much work. A stack that
//! overflows takes the whole process along, and no test can catch it: it must not happen at all.

use damage::swiftly;
use k8sconnect_core::field::FieldPath;
use k8sconnect_core::field::pattern::Pattern;
use k8sconnect_core::identity::{Gvk, ObjectKey};
use k8sconnect_core::import_id::ImportId;
use k8sconnect_core::jsonpath::JsonPath;
use k8sconnect_core::manifest::Manifest;
use k8sconnect_core::owners::Owners;
use k8sconnect_core::patch::{
    Manner, Operation, OperationError, Past, Patch, PatchError, Problem, Script, Shape, Standing,
};
use k8sconnect_core::secrecy::Secrecy;
use k8sconnect_core::yaml::{NESTING_LIMIT, to_yaml};
use serde_json::{Value, json};

use crate::samples::object;

const DEEP: usize = 100_000;

#[test]
fn no_text_of_a_user_is_too_deep_to_be_answered() {
    for opening in [
        "[", "{", "{a: ", "[{a: ", "- ", "? ", "(", "((", "\"", "'", "!!a ", "&a ", "*", "a[",
        "\n ",
    ] {
        let deep = opening.repeat(DEEP);
        swiftly(|| Manifest::parse(&deep)).expect_err("no object");
        let key = ObjectKey { gvk: Gvk::new("v1", "Pod"), namespace: None, name: "a".into() };
        for manner in [Manner::Apply, Manner::Merge, Manner::Json] {
            swiftly(|| Patch::read(manner, &deep, key.clone())).expect_err("no patch");
        }
    }
    for piece in [
        "a[?(@",
        "a[?(@[?(@.b",
        "[",
        "a.",
        "..",
        "['a',",
        "a[0]",
        "[\"a",
        "[a={\"b\":",
        "{",
        "{a,",
        "[=[",
    ] {
        let deep = piece.repeat(DEEP);
        let _ = swiftly(|| JsonPath::parse(&deep));
        let _ = swiftly(|| Pattern::parse(&deep));
        let _ = swiftly(|| deep.parse::<FieldPath>());
        let _ = swiftly(|| ImportId::parse(&deep));
    }
    let filters = format!("a{}{}", "[?(@.b".repeat(DEEP), ")]".repeat(DEEP));
    assert!(swiftly(|| JsonPath::parse(&filters)).is_err());
    assert!(swiftly(|| Pattern::parse(&filters)).is_err());
}

#[test]
fn a_body_as_deep_as_is_allowed_goes_all_the_way() {
    let depth = NESTING_LIMIT - 2;
    let nest = format!("{}1{}", "{\"a\": ".repeat(depth), "}".repeat(depth));
    let body = format!("apiVersion: v1\nkind: Deep\nmetadata: {{name: a}}\nspec: {nest}\n");
    let manifest = Manifest::parse(&body).unwrap();
    let again = Manifest::parse(&to_yaml(manifest.value())).unwrap();
    assert_eq!(again.value(), manifest.value());
    manifest.as_applied();
    assert!(again.is_same_body(&manifest));
}

#[test]
fn a_patch_that_leads_too_deep_is_refused() {
    let key = ObjectKey { gvk: Gvk::new("v1", "Pod"), namespace: None, name: "a".into() };
    let body = json!([{"op": "add", "path": "/a".repeat(DEEP), "value": 1}]).to_string();
    let problems = swiftly(|| Patch::read(Manner::Json, &body, key)).unwrap_err();
    let error = OperationError::TooDeep("path");
    assert_eq!(problems, [PatchError::BadOperation { n: 1, error }]);
}

#[test]
fn a_patch_that_deepens_the_object_with_every_line_is_refused() {
    let nest = |depth: usize| (0..depth).fold(json!({}), |below, _| json!({"a": below}));
    let operation =
        |n: usize| json!({"op": "add", "path": "/a".repeat(n * 400 + 1), "value": nest(400)});
    let operations: Vec<_> = (0..2).map(|n| Operation::read(&operation(n)).unwrap()).collect();
    assert!(script(&operations, &json!({"a": {}})).is_err());
    assert!(script(&operations[..1], &json!({"a": {}})).is_ok());
}

#[test]
fn a_path_that_finds_everything_many_times_over_finds_it_once() {
    let object = object();
    let twice_each = format!("[{}]", ["*"; 20].join(","));
    for (piece, times) in [("..*", 6), ("..[*]", 4), (&twice_each, 7), ("['spec','spec']", 1)] {
        let path = JsonPath::parse(&format!("${}", piece.repeat(times))).unwrap();
        let found = swiftly(|| path.find(&object).len());
        assert!(found < 100, "{} finds {found}", path.text());
    }
}

#[test]
fn a_patch_that_copies_its_own_copies_is_refused_before_it_fills_the_memory() {
    let live = json!({"spec": {"a": {"text": "x".repeat(1000)}}});
    let copies =
        (0..64).map(|n| json!({"op": "copy", "from": "/spec", "path": format!("/spec/a/{n}")}));
    let operations: Vec<_> = copies.map(|one| Operation::read(&one).unwrap()).collect();
    assert!(script(&operations, &live).is_err());
    assert!(script(&operations[..8], &live).is_ok());
}

fn script(operations: &[Operation], live: &Value) -> Result<Script, Problem> {
    let secrecy = Secrecy::of(&Gvk::new("v1", "Thing"), &[]);
    let past = Past { footprints: &[], standing: Standing::Landed, secrecy: &secrecy };
    let shape = Shape::told_by(&Owners::default()).made_whole_by(&Owners::default());
    swiftly(|| Script::write(operations, live, past, &shape))
}
