use serde_json::json;

use super::*;
use crate::identity::ID_ANNOTATION;

use ManifestCause as Cause;

fn problems(text: &str) -> Vec<(usize, String, Cause)> {
    let errors = Manifest::parse(text).unwrap_err();
    errors.into_iter().map(|error| (error.line, error.field.to_string(), error.cause)).collect()
}

fn problem(line: usize, field: &str, cause: Cause) -> (usize, String, Cause) {
    (line, field.to_owned(), cause)
}

#[test]
fn reads_the_identity() {
    let manifest = Manifest::parse(
        "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: web\n  namespace: shop\n",
    )
    .unwrap();
    assert_eq!(manifest.key().to_string(), "Deployment `shop/web`");
    assert_eq!(manifest.gvk().api_version(), "apps/v1");
}

#[test]
fn an_object_without_a_single_leaf_is_an_object() {
    let bare = "apiVersion: v1\nkind: Namespace\nmetadata:\n  name: shop\n";
    assert!(Manifest::parse(bare).is_ok());
}

#[test]
fn all_problems_are_told_at_once_with_their_lines() {
    let text = "kind: Pod\nmetadata:\n  name: 3\n  uid: x\n  resourceVersion: '7'\nstatus: {}\n";
    assert_eq!(
        problems(text),
        [
            problem(1, "apiVersion", Cause::Missing),
            problem(3, "metadata.name", Cause::NotText),
            problem(5, "metadata.resourceVersion", Cause::ServerOwned),
            problem(4, "metadata.uid", Cause::ServerOwned),
            problem(6, "status", Cause::ServerOwned),
        ]
    );
}

#[test]
fn what_is_not_one_object_is_refused() {
    assert_eq!(problems(""), [problem(1, "", Cause::Empty)]);
    assert_eq!(problems("# nothing\n---\n"), [problem(1, "", Cause::Empty)]);
    assert_eq!(problems("- a\n"), [problem(1, "", Cause::NotAMapping)]);
    assert_eq!(problems("a: b\n---\nc: d\n"), [problem(3, "", Cause::SeveralDocuments(2))]);
    assert_eq!(
        problems("apiVersion: v1\nkind: List\nitems: []\n"),
        [problem(2, "kind", Cause::IsAList("List".into()))]
    );
}

#[test]
fn a_generated_name_is_refused() {
    let text = "apiVersion: v1\nkind: Pod\nmetadata:\n  generateName: x-\n";
    assert_eq!(problems(text), [problem(4, "metadata.generateName", Cause::GenerateName)]);
}

#[test]
fn a_null_creation_timestamp_says_nothing() {
    let text = "apiVersion: v1\nkind: Pod\nmetadata:\n  name: a\n  creationTimestamp: null\n";
    let manifest = Manifest::parse(text).unwrap();
    assert_eq!(manifest.value()["metadata"], json!({"name": "a"}));
}

#[test]
fn string_data_becomes_data_and_wins() {
    let text = "{apiVersion: v1, kind: Secret, metadata: {name: s}, \
                data: {a: b2xk, b: Yg==}, stringData: {a: new}}";
    let manifest = Manifest::parse(text).unwrap();
    let applied = manifest.as_applied();
    assert_eq!(applied["data"], json!({"a": "bmV3", "b": "Yg=="}));
    assert_eq!(applied.get("stringData"), None);
    assert!(manifest.value().get("stringData").is_some(), "what was written stays as written");
}

#[test]
fn string_data_without_a_value_becomes_empty_data_as_the_server_has_it() {
    let text = "{apiVersion: v1, kind: Secret, metadata: {name: s}, stringData: {a: new, b: null}}";
    let manifest = Manifest::parse(text).unwrap();
    let applied = manifest.as_applied();
    assert_eq!(applied["data"], json!({"a": "bmV3", "b": ""}));
    assert_eq!(applied.get("stringData"), None);
}

#[test]
fn shape_is_blind_to_scalars_only() {
    let parse = |spec: &str| {
        Manifest::parse(&format!(
            "{{apiVersion: v1, kind: X, metadata: {{name: a}}, spec: {spec}}}"
        ))
        .unwrap()
    };
    assert!(parse("{a: 1000m, b: [1]}").has_same_shape(&parse("{b: [2], a: 1}")));
    assert!(!parse("{a: 1}").has_same_shape(&parse("{a: 1, b: []}")));
    assert!(parse("{a: null}").has_same_shape(&parse("{a: null}")));
    assert!(!parse("{a: null}").has_same_shape(&parse("{a: 1}")));
    assert!(!parse("{a: 1}").has_same_shape(&parse("{a: null}")));
    assert!(!parse("{a: [1]}").has_same_shape(&parse("{a: [1, 2]}")));
}

#[test]
fn a_namespace_that_is_written_out_is_no_other_shape() {
    let parse = |metadata: &str| {
        Manifest::parse(&format!("{{apiVersion: v1, kind: X, metadata: {metadata}}}")).unwrap()
    };
    let bare = parse("{name: a}");
    assert!(bare.has_same_shape(&parse("{name: a, namespace: default}")));
    assert!(!bare.has_same_shape(&parse("{name: a, labels: {}}")));
}

#[test]
fn plain_text_in_a_secrets_data_is_told_with_its_place() {
    let text =
        "apiVersion: v1\nkind: Secret\nmetadata: {name: s}\ndata:\n  a: aGk=\n  b.c: not base64\n";
    let refused = |field, written| [problem(6, field, Cause::NotBase64 { written })];
    assert_eq!(problems(text), refused("data[\"b.c\"]", None));
    assert_eq!(problems(&text.replace("b.c", "y")), refused("data.true", Some("y".into())));
    let folded =
        "apiVersion: v1\nkind: Secret\nmetadata: {name: s}\ndata:\n  a: |\n    aGVs\n    bG8=\n";
    assert!(Manifest::parse(folded).is_ok(), "line breaks are fine");
}

#[test]
fn a_namespace_that_can_never_be_is_refused() {
    let parse = |name: &str| {
        Manifest::parse(&format!(
            "apiVersion: v1\nkind: Pod\nmetadata:\n  name: a\n  namespace: {name}\n"
        ))
    };
    for name in ["Shop", "a_b", "-a", "a-", "a.b", &"a".repeat(64)] {
        let cause = Cause::NamespaceName(name.to_owned());
        let field = FieldPath::fields(["metadata", "namespace"]);
        assert_eq!(parse(name), Err(vec![ManifestError { line: 5, field, cause }]), "{name}");
    }
    for name in ["shop", "a", "a-1", "\"0\"", &"a".repeat(63)] {
        assert!(parse(name).is_ok(), "{name}");
    }
}

#[test]
fn a_reserved_annotation_or_label_is_refused_and_named() {
    for (map, key) in [
        ("annotations", ID_ANNOTATION),
        ("annotations", "k8sconnect.terraform.io/patch-0f3a"),
        ("annotations", "k8sconnect.terraform.io/"),
        ("labels", "k8sconnect.terraform.io/team"),
    ] {
        let text = format!(
            "apiVersion: v1\nkind: Pod\nmetadata:\n  name: a\n  {map}:\n    a: b\n    {key}: x\n"
        );
        let field = format!("metadata.{map}[\"{key}\"]");
        assert_eq!(problems(&text), [problem(7, &field, Cause::Reserved)]);
    }
}

#[test]
fn only_keys_of_the_object_itself_under_the_whole_prefix_are_reserved() {
    let text = "{apiVersion: v1, kind: X, metadata: {name: a, annotations: \
                {k8sconnect.terraform.io: x, sub.k8sconnect.terraform.io/a: x}}, \
                spec: {metadata: {labels: {k8sconnect.terraform.io/a: x}}}}";
    assert!(Manifest::parse(text).is_ok());
}
