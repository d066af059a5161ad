use proptest::prelude::*;
use serde_json::json;

use super::*;

fn object() -> Value {
    json!({
        "metadata": {"labels": {"app.kubernetes.io/name": "web", "tier": "front"}},
        "status": {
            "phase": "Running",
            "ready": true,
            "replicas": 3,
            "conditions": [
                {"type": "Available", "status": "True", "age": 5},
                {"type": "Ready", "status": "False", "age": 9},
            ],
            "ingress": [{"ip": "10.0.0.1"}, {"ip": "10.0.0.2"}, {"hostname": "lb"}],
        },
    })
}

fn found(path: &str) -> Vec<Value> {
    let object = object();
    let path = JsonPath::parse(path).unwrap();
    path.find(&object).into_iter().map(|found| found.value.clone()).collect()
}

#[test]
fn a_field_is_found_however_its_path_is_dressed() {
    for path in [
        "status.phase",
        ".status.phase",
        "$.status.phase",
        "{.status.phase}",
        "{status.phase}",
        "{$.status.phase}",
        " { .status.phase } ",
        "{@.status.phase}",
        ".status['phase']",
        "['status'][\"phase\"]",
    ] {
        assert_eq!(found(path), [json!("Running")], "{path}");
    }
}

#[test]
fn keys_with_dots_are_quoted_or_escaped() {
    for path in [
        "metadata.labels['app.kubernetes.io/name']",
        r#"metadata.labels["app.kubernetes.io/name"]"#,
        r"metadata.labels.app\.kubernetes\.io/name",
    ] {
        assert_eq!(found(path), [json!("web")], "{path}");
    }
}

#[test]
fn items_are_chosen_by_their_place() {
    assert_eq!(found("status.ingress[0].ip"), [json!("10.0.0.1")]);
    assert_eq!(found("status.ingress.[0].ip"), [json!("10.0.0.1")]);
    assert_eq!(found("status.ingress[-1].hostname"), [json!("lb")]);
    assert_eq!(found("status.ingress[7].ip"), Vec::<Value>::new());
    assert_eq!(found("status.ingress[-7].ip"), Vec::<Value>::new());
    assert_eq!(found("status.ingress[*].ip").len(), 2);
    assert_eq!(found("status.ingress[0:2].ip").len(), 2);
    assert_eq!(found("status.ingress[1:].ip"), [json!("10.0.0.2")]);
    assert_eq!(found("status.ingress[:-1]").len(), 2);
    assert_eq!(found("status.ingress[::2]").len(), 2);
    assert_eq!(found("status.ingress[0,2]").len(), 2);
    assert_eq!(found("metadata.labels.*").len(), 2);
    assert_eq!(found("metadata['labels','annotations'].tier"), [json!("front")]);
}

#[test]
fn items_are_chosen_by_what_they_hold() {
    let ready = [json!("False")];
    for path in [
        r#"status.conditions[?(@.type=="Ready")].status"#,
        "{.status.conditions[?(@.type=='Ready')].status}",
        "{.status.conditions[? ( @.type == 'Ready' ) ].status}",
        "status.conditions[?(@.type==Ready)].status",
        r#"status.conditions[?("Ready"==@.type)].status"#,
        "status.conditions[?(@.age>5)].status",
        "status.conditions[?(@.age>=9)].status",
        "status.conditions[?(@.status!='True')].status",
        "status.conditions[?(@.age>1 && @.status=='False')].status",
        "status.conditions[?(@.type=='None' || @.age == 9.0)].status",
        "status.conditions[?(@['type']=='Ready')].status",
    ] {
        assert_eq!(found(path), ready, "{path}");
    }
    assert_eq!(found("status.ingress[?(@.ip)]").len(), 2);
    assert_eq!(found("status.conditions[?(@.age<'9')]"), Vec::<Value>::new());
}

#[test]
fn a_descent_finds_a_field_wherever_it_is() {
    assert_eq!(found("..ip"), [json!("10.0.0.1"), json!("10.0.0.2")]);
    assert_eq!(found("status..type").len(), 2);
    assert_eq!(found("..[0].ip"), [json!("10.0.0.1")]);
}

#[test]
fn what_leads_nowhere_finds_nothing() {
    for path in ["spec.x", "status.phase.deeper", "status.phase[0]", "status.replicas[*]"] {
        assert_eq!(found(path), Vec::<Value>::new(), "{path}");
    }
}

#[test]
fn what_is_no_path_is_refused_where_it_is_wrong() {
    use JsonPathProblem as P;
    for (text, at, problem) in [
        ("", 1, P::Name),
        ("{}", 3, P::Name),
        ("{.status.phase", 15, P::Missing('}')),
        ("status..", 9, P::Name),
        ("status.", 8, P::Name),
        ("status.conditions[", 19, P::Missing(']')),
        ("status.conditions[]", 19, P::Item),
        ("status.conditions[0", 20, P::Missing(']')),
        ("status.conditions[name=a]", 19, P::Item),
        ("status.conditions[?@.type]", 20, P::Filter),
        ("status.conditions[?(@.type==)]", 29, P::Filter),
        ("status.conditions[?(@.type=='Ready]", 29, P::Missing('\'')),
        ("status.conditions[0:2:0]", 24, P::Item),
        ("{.a} and {.b}", 6, P::Trailing),
        ("status phase", 8, P::Trailing),
        ("status,phase", 7, P::Name),
        ("status.conditions[?(@.type=~/R/)]", 28, P::Filter),
        ("é.ü[", 5, P::Missing(']')),
    ] {
        let text = text.to_owned();
        assert_eq!(JsonPath::parse(&text), Err(JsonPathError { text, at, problem }));
    }
}

fn cut(path: &str) -> Value {
    let object = object();
    excerpt(JsonPath::parse(path).unwrap().find(&object))
}

#[test]
fn an_excerpt_is_nested_as_the_object_is_and_holds_nothing_else() {
    assert_eq!(cut("status.phase"), json!({"status": {"phase": "Running"}}));
    assert_eq!(cut("status.ready"), json!({"status": {"ready": true}}));
    assert_eq!(
        cut("status.ingress[1].ip"),
        json!({"status": {"ingress": [null, {"ip": "10.0.0.2"}]}})
    );
    assert_eq!(
        cut("status.conditions[?(@.type=='Ready')].status"),
        json!({"status": {"conditions": [{"status": "False"}]}})
    );
    assert_eq!(cut("status.ingress[-1]"), json!({"status": {"ingress": [{"hostname": "lb"}]}}));
    assert_eq!(
        cut("status.ingress"),
        json!({"status": {"ingress": [{"ip": "10.0.0.1"}, {"ip": "10.0.0.2"}, {"hostname": "lb"}]}})
    );
}

proptest! {
    #[test]
    fn no_text_makes_the_reader_panic(text in "[.$@{}\\[\\]?()'\"=<>!&|*:,0-9a-zé\\\\ -]{0,24}") {
        if let Ok(path) = JsonPath::parse(&text) {
            path.find(&object());
        }
    }

    #[test]
    fn every_key_can_be_quoted(key in "\\PC{1,12}") {
        let object = json!({"a": {key.clone(): 7}});
        let quoted = key.replace('\\', "\\\\").replace('\'', "\\'");
        let path = JsonPath::parse(&format!("a['{quoted}']")).unwrap();
        prop_assert_eq!(path.find(&object).len(), 1);
    }
}
