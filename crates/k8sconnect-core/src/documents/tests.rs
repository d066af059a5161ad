use std::fmt::Write as _;

use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::manifest::ManifestCause;
use crate::yaml::{parse_stream, to_yaml};

fn lone(text: &str) -> Result<BTreeMap<String, Piece<'_>>, Vec<Problem>> {
    split([Source { name: None, text }])
}

fn keys(text: &str) -> Vec<String> {
    lone(text).unwrap().into_keys().collect()
}

fn object(api_version: &str, kind: &str, namespace: &str, name: &str) -> String {
    let namespace =
        if namespace.is_empty() { String::new() } else { format!("  namespace: {namespace}\n") };
    format!("apiVersion: {api_version}\nkind: {kind}\nmetadata:\n  name: {name}\n{namespace}")
}

fn faults(text: &str) -> Vec<(usize, Fault)> {
    let problems = lone(text).unwrap_err();
    problems.into_iter().map(|problem| (problem.place.line, problem.fault)).collect()
}

#[test]
fn a_key_is_made_of_group_kind_namespace_and_name_as_written() {
    let text = [
        object("v1", "ConfigMap", "", "settings"),
        object("v1", "ConfigMap", "shop", "settings"),
        object("apps/v1", "Deployment", "shop", "web"),
        object("rbac.authorization.k8s.io/v1", "ClusterRole", "", "system:reader"),
    ];
    assert_eq!(
        keys(&text.join("---\n")),
        [
            "apps.deployment.shop.web",
            "configmap.settings",
            "configmap.shop.settings",
            "rbac.authorization.k8s.io.clusterrole.system:reader",
        ]
    );
}

#[test]
fn a_document_keeps_its_text_with_its_comments() {
    let text = "# licence\n---\n# the shop's\nkind: ConfigMap # odd order\napiVersion: v1\n\
                metadata: {name: a}\ndata:\n  x: |+\n    y\n\n# behind a\n--- # b\n\
                {apiVersion: v1, kind: Secret, metadata: {name: b}}\n...\n";
    let pieces = lone(text).unwrap();
    assert_eq!(
        pieces["configmap.a"].text,
        "# the shop's\nkind: ConfigMap # odd order\napiVersion: v1\nmetadata: {name: a}\n\
         data:\n  x: |+\n    y\n\n# behind a\n"
    );
    assert_eq!(
        pieces["secret.b"].text,
        "# b\n{apiVersion: v1, kind: Secret, metadata: {name: b}}\n"
    );
}

#[test]
fn a_mark_inside_of_a_text_parts_nothing() {
    let text = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n\
                data:\n  script: |\n    cat <<EOF\n    ---\n    ...\n    EOF\n";
    let pieces = lone(text).unwrap();
    assert_eq!(pieces["configmap.a"].text, text);
}

#[test]
fn one_object_written_twice_is_told_with_both_places() {
    let twice = object("apps/v1", "Deployment", "default", "web");
    let again = object("apps/v1beta1", "Deployment", "", "web");
    let text = format!("{twice}---\n{again}");
    let problems = lone(&text).unwrap_err();
    assert_eq!(problems.len(), 1);
    let place = |document, line| Place { source: None, document, line };
    assert_eq!(problems[0].place, place(2, 7));
    let Fault::Again { first, .. } = &problems[0].fault else { panic!("{problems:?}") };
    assert_eq!(*first, place(1, 1));
}

#[test]
fn a_namespace_makes_no_second_object_of_a_kind_that_lives_in_none() {
    let text = [
        object("v1", "Namespace", "", "shop"),
        object("v1", "Namespace", "odd", "shop"),
        object("v1", "ConfigMap", "a", "x"),
        object("v1", "ConfigMap", "b", "x"),
    ];
    let faults = faults(&text.join("---\n"));
    assert!(matches!(faults.as_slice(), [(6, Fault::Again { .. })]), "{faults:?}");
}

#[test]
fn two_objects_whose_keys_look_alike_are_told_apart() {
    let text = [object("v1", "ConfigMap", "", "a.b"), object("v1", "ConfigMap", "a", "b")];
    let faults = faults(&text.join("---\n"));
    let [(6, Fault::SameKey { key, .. })] = faults.as_slice() else { panic!("{faults:?}") };
    assert_eq!(key, "configmap.a.b");
}

#[test]
fn all_that_is_wrong_is_told_at_once_with_file_document_and_line() {
    let first = "kind: Pod\nmetadata: {name: a}\n---\n\n---\napiVersion: v1\nkind: Pod\nmetadata:\n  name: 3\n";
    let second = "a: 1\n---\nb: [\n";
    let sources = [("a.yaml", first), ("b.yaml", second)];
    let problems =
        split(sources.map(|(name, text)| Source { name: Some(name), text })).unwrap_err();
    let places: Vec<_> = problems
        .iter()
        .map(|Problem { place, .. }| (place.source.as_deref(), place.document, place.line))
        .collect();
    assert_eq!(
        places,
        [
            (Some("a.yaml"), 1, 1),
            (Some("a.yaml"), 2, 9),
            (Some("b.yaml"), 1, 1),
            (Some("b.yaml"), 1, 1),
            (Some("b.yaml"), 1, 1),
            (Some("b.yaml"), 2, 3),
        ]
    );
}

#[test]
fn the_items_of_a_list_count_as_documents_of_their_own() {
    let text = "apiVersion: v1\nkind: List\nitems:\n- apiVersion: v1\n  kind: Pod\n  metadata:\n    name: a\n\
                - apiVersion: v1\n  kind: ConfigMapList\n  items:\n  - metadata: {name: b}\n    data: {x: \"1\"}\n";
    let pieces = lone(text).unwrap();
    assert_eq!(pieces["pod.a"].text, "apiVersion: v1\nkind: Pod\nmetadata:\n  name: a\n");
    let map = &pieces["configmap.b"].text;
    assert_eq!(map, "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: b\ndata:\n  x: \"1\"\n");
    let bad = "apiVersion: v1\nkind: List\nitems:\n- kind: Pod\n- 3\n";
    let lines: Vec<_> = faults(bad).into_iter().map(|(line, _)| line).collect();
    assert_eq!(lines, [4, 4, 5]);
}

#[test]
fn stages_are_told_by_kubernetes_own_kinds_and_by_definitions_in_the_same_input() {
    let text = format!(
        "{}---\n{}---\n{}---\n{}---\napiVersion: apiextensions.k8s.io/v1\n\
         kind: CustomResourceDefinition\nmetadata: {{name: gardens.example.com}}\n\
         spec: {{group: example.com, scope: Cluster, names: {{kind: Garden, plural: gardens}}}}\n",
        object("example.com/v1", "Garden", "", "eden"),
        object("example.com/v1", "Plot", "", "first"),
        object("v1", "Namespace", "", "shop"),
        object("apps/v1", "Deployment", "", "web"),
    );
    let stages: Vec<_> =
        lone(&text).unwrap().into_iter().map(|(key, piece)| (key, piece.stage)).collect();
    let expected = [
        ("apiextensions.k8s.io.customresourcedefinition.gardens.example.com", Stage::Definition),
        ("apps.deployment.web", Stage::Namespaced),
        ("example.com.garden.eden", Stage::Cluster),
        ("example.com.plot.first", Stage::Namespaced),
        ("namespace.shop", Stage::Cluster),
    ];
    assert_eq!(stages, expected.map(|(key, stage)| (key.to_owned(), stage)));
}

#[test]
fn what_is_only_remarks_is_no_object() {
    assert_eq!(keys("# nothing\n---\n---\n  \n"), Vec::<String>::new());
}

#[test]
fn a_document_that_is_null_is_no_object_and_does_not_count() {
    let pod = object("v1", "Pod", "default", "a");
    assert_eq!(keys(&format!("null\n---\n{pod}---\n~\n")), ["pod.default.a"]);
    assert_eq!(lone(&format!("null\n---\n{pod}---\n3\n")).unwrap_err()[0].place.document, 2);
}

#[test]
fn a_list_may_be_empty_and_is_then_no_object() {
    let pod = object("v1", "Pod", "default", "a");
    for none in ["items: []", "items: null", "items:"] {
        assert!(keys(&format!("apiVersion: v1\nkind: List\n{none}\n")).is_empty(), "{none}");
        let beside = format!("apiVersion: v1\nkind: PodList\n{none}\n---\n{pod}");
        assert_eq!(keys(&beside), ["pod.default.a"], "{none}");
    }
    let problems = lone("apiVersion: v1\nkind: List\nitems: {a: 1}\n").unwrap_err();
    let Fault::Unidentified(error) = &problems[0].fault else { panic!("{problems:?}") };
    assert_eq!((error.line, &error.cause), (2, &ManifestCause::IsAList("List".into())));
}

#[test]
fn a_namespace_that_is_no_text_wants_quotes() {
    let text = "apiVersion: v1\nkind: Pod\nmetadata: {name: a, namespace: n}\n";
    let problems = lone(text).unwrap_err();
    let Fault::Unidentified(error) = &problems[0].fault else { panic!("{problems:?}") };
    assert_eq!((error.line, error.field.to_string().as_str()), (3, "metadata.namespace"));
    assert_eq!(error.cause, ManifestCause::NotText);
}

#[test]
fn the_fingerprint_tells_texts_apart() {
    let print = |text: &str| fingerprint(&lone(text).unwrap());
    let (one, other) = (object("v1", "Pod", "", "a"), object("v1", "Pod", "", "b"));
    assert_eq!(print(&one), print(&one));
    assert_ne!(print(&one), print(&other));
}

/// Objects in the variety of texts that files bring: marks, remarks, blanks, line ends.
fn stream() -> impl Strategy<Value = (String, Vec<Value>)> {
    let value = prop_oneof![
        "[a-z \\-.#:]{0,8}".prop_map(Value::from),
        any::<i32>().prop_map(Value::from),
        proptest::collection::vec("[a-z\\-. \n]{0,9}", 0..3).prop_map(Value::from),
        "([a-z \\-.]{0,6}\n){0,4}".prop_map(Value::from),
    ];
    let mark = prop::sample::select(vec![
        "---\n",
        "--- \n",
        "\n---\n",
        "---\r\n",
        "...\n---\n",
        "# x\n---\n",
        "---\n\n# x\n",
        "---\n---\n",
        "--- # x\n",
        "...\n# x\n---\n",
    ]);
    proptest::collection::vec((value, mark), 1..6).prop_map(|documents| {
        let mut text = String::new();
        let mut values = Vec::new();
        for (n, (value, mark)) in documents.into_iter().enumerate() {
            let object = json!({
                "apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": format!("n{n}")},
                "data": value,
            });
            let _ = write!(text, "{mark}{}", to_yaml(&object));
            values.push(object);
        }
        (text, values)
    })
}

proptest! {
    #[test]
    fn splitting_and_joining_keeps_every_document((text, values) in stream()) {
        let pieces = lone(&text).unwrap();
        prop_assert_eq!(pieces.len(), values.len());
        let mut joined = String::new();
        for (n, value) in values.iter().enumerate() {
            let piece = &pieces[&format!("configmap.n{n}")];
            let alone = parse_stream(&piece.text).unwrap();
            prop_assert_eq!(&alone[0].value, value);
            let _ = write!(joined, "---\n{}", piece.text);
        }
        prop_assert_eq!(lone(&joined).unwrap(), pieces);
    }

    #[test]
    fn a_key_depends_on_no_other_document((text, values) in stream()) {
        let all = keys(&text);
        for (n, value) in values.iter().enumerate() {
            let alone = keys(&to_yaml(value));
            prop_assert_eq!(&alone, &[format!("configmap.n{n}")]);
            prop_assert!(all.contains(&alone[0]));
        }
    }
}

#[test]
fn json_objects_in_a_row_are_documents_of_their_own() {
    let one = |name: &str| {
        format!(
            "{{\"apiVersion\": \"v1\", \"kind\": \"ConfigMap\",\n \"metadata\": {{\"name\": \"{name}\"}}}}"
        )
    };
    let text = format!("{}{}\n{}", one("a"), one("b"), one("c"));
    let pieces = split([Source { name: None, text: &text }]).unwrap();
    assert_eq!(pieces.keys().collect::<Vec<_>>(), ["configmap.a", "configmap.b", "configmap.c"]);
    assert_eq!(pieces["configmap.b"].text.trim(), one("b"));
    let twice = format!("{}\n{}", one("a"), one("a"));
    let problems = split([Source { name: None, text: &twice }]).unwrap_err();
    assert_eq!((problems[0].place.document, problems[0].place.line), (2, 3));
}
