use proptest::prelude::*;
use serde_json::json;

use super::*;

fn object() -> Value {
    json!({
        "metadata": {"annotations": {"example.com/x": "1", "plain": "2"}},
        "spec": {
            "replicas": 3,
            "containers": [
                {"name": "app", "image": "a", "env": [{"name": "A", "value": "1"}]},
                {"name": "side", "image": "b"},
            ],
            "finalizers": ["f/one"],
        }
    })
}

fn set() -> FieldSet {
    [
        r#"metadata.annotations["example.com/x"]"#,
        "metadata.annotations.plain",
        "spec.replicas",
        "spec.containers[name=app].image",
        "spec.containers[name=app].env[name=A].value",
        "spec.containers[name=side].image",
        r#"spec.finalizers[="f/one"]"#,
    ]
    .iter()
    .map(|path| path.parse::<FieldPath>().unwrap())
    .collect()
}

fn found(pattern: &str) -> Vec<String> {
    let pattern = Pattern::parse(pattern).unwrap();
    pattern.matched(&set(), &object()).members().iter().map(ToString::to_string).collect()
}

#[test]
fn a_field_means_all_below_it() {
    assert_eq!(found("spec.replicas"), ["spec.replicas"]);
    assert_eq!(found("spec").len(), 5);
    assert_eq!(found("spec.nothing"), Vec::<String>::new());
}

#[test]
fn items_are_meant_by_what_they_hold() {
    let app = ["spec.containers[name=app].image"];
    assert_eq!(found("spec.containers[name=app].image"), app);
    assert_eq!(found(r#"spec.containers[?(@.name=="app")].image"#), app);
    assert_eq!(found("{.spec.containers[?(@.name=='app')].image}"), app);
    // Any field will do, not only the merge key.
    assert_eq!(found("spec.containers[image=a].image"), app);
    assert_eq!(found("spec.containers[*].image").len(), 2);
}

#[test]
fn keys_with_dots_are_meant_with_quotes_and_without() {
    let key = [r#"metadata.annotations["example.com/x"]"#];
    assert_eq!(found(r#"metadata.annotations["example.com/x"]"#), key);
    assert_eq!(found("metadata.annotations['example.com/x']"), key);
    assert_eq!(found("metadata.annotations.example.com/x"), key);
    assert_eq!(found(r"metadata.annotations.example\.com/x"), key);
    assert_eq!(found("metadata.annotations.*").len(), 2);
}

#[test]
fn a_key_is_meant_in_whatever_form_its_letters_are_composed() {
    let key = FieldPath::fields(["data", "E\u{301}le\u{301}gance"]);
    let set: FieldSet = [key].into_iter().collect();
    let pattern = Pattern::parse("data.\u{c9}l\u{e9}gance").unwrap();
    assert_eq!(pattern.matched(&set, &json!({})), set);
}

#[test]
fn members_of_sets_can_be_meant() {
    assert_eq!(found(r#"spec.finalizers[="f/one"]"#), [r#"spec.finalizers[="f/one"]"#]);
    assert_eq!(found("spec.finalizers"), [r#"spec.finalizers[="f/one"]"#]);
}

#[test]
fn what_is_no_path_is_refused_with_a_reason() {
    let problem = |text| Pattern::parse(text).unwrap_err().problem;
    assert_eq!(problem(""), PatternProblem::Empty);
    assert_eq!(problem("spec.containers[0].image"), PatternProblem::ByPosition);
    assert_eq!(problem("spec.containers[name"), PatternProblem::Unclosed);
    assert_eq!(problem("spec.containers[?(name)]"), PatternProblem::Filter);
    assert_eq!(problem("spec..x"), PatternProblem::Name);
}

#[test]
fn a_place_means_the_item_that_the_user_wrote_there() {
    let placed = |text: &str| {
        let pattern = Pattern::parse_with_places(text).unwrap();
        assert!(pattern.has_places(), "{text}");
        let found = pattern
            .placed(&object())
            .iter()
            .map(|placed| placed.matched(&set(), &Value::Null))
            .fold(FieldSet::default(), |all, found| all.union(&found));
        found.members().iter().map(ToString::to_string).collect::<Vec<_>>()
    };
    assert_eq!(placed("spec.containers[1].image"), ["spec.containers[name=side].image"]);
    let value = ["spec.containers[name=app].env[name=A].value"];
    assert_eq!(placed("spec.containers[name=app].env[0].value"), value);
    assert_eq!(placed("spec.containers[*].env[0].value"), value);
    assert_eq!(placed("spec.finalizers[0]"), [r#"spec.finalizers[="f/one"]"#]);
    assert_eq!(placed("spec.containers[7].image"), Vec::<String>::new());
}

#[test]
fn a_pattern_that_reaches_into_a_leaf_is_seen() {
    let leaf: FieldPath = "spec.replicas".parse().unwrap();
    let relation = |text| Pattern::parse(text).unwrap().relation(&leaf, &object());
    assert_eq!(relation("spec.replicas.more"), Some(Relation::ReachesInto));
    assert_eq!(relation("spec.replicas"), Some(Relation::Means));
    assert_eq!(relation("spec"), Some(Relation::Covers));
    assert_eq!(relation("spec.other"), None);
}

fn notation_is_odd(element: &PathElement) -> bool {
    FieldPath::new([element.clone()]).to_string().contains(['\'', '\\', '$', '{', '}', '?', '*'])
}

proptest! {
    #[test]
    fn every_path_that_we_show_can_be_written_as_a_pattern(set in super::super::set::tests::any_set()) {
        for path in set.members() {
            // Positions are refused on purpose; a single quote outside of double ones is
            // taken for a quote; an empty name has no text.
            let odd = |e: &PathElement| match e {
                PathElement::Index(_) => true,
                e => notation_is_odd(e),
            };
            if path.elements().iter().any(odd) { continue; }
            let pattern = Pattern::parse(&path.to_string()).map_err(|e| TestCaseError::fail(format!("{e:?}")))?;
            let found = pattern.matched(&set, &Value::Null);
            prop_assert!(found.contains(&path), "{}", path);
        }
    }

    #[test]
    fn any_text_is_a_pattern_or_an_error_but_no_panic(text in ".{0,30}") {
        let _ = Pattern::parse(&text);
    }
}
