//! Writing and reading back, and that no text makes the reader panic.

use k8sconnect_core::yaml::{parse_stream, to_yaml};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::agreement::cases;

fn read_back(value: &Value) -> Value {
    let text = to_yaml(value);
    let documents = parse_stream(&text).unwrap_or_else(|error| panic!("{error:?}\n{text}"));
    assert_eq!(documents.len(), 1, "{text}");
    documents[0].value.clone()
}

/// Other readers take them for dates and for numbers to the base 60, and so `kubectl` quotes them.
#[test]
fn times_are_quoted_and_what_only_looks_like_one_is_not() {
    let quoted = ["12:30:45", "1:20", "-1:20.5", "2024-01-01", "2024-01-01T10:00:00Z", "190:20:30"];
    for text in quoted {
        assert_eq!(to_yaml(&json!(text)), format!("\"{text}\"\n"));
    }
    for text in ["12:60", "a:1", "10.0.0.1:80", "8080:8080", "2024-13-01", "12:", "1:2:x", "1.2:3"]
    {
        let plain = !text.ends_with(':');
        assert_eq!(to_yaml(&json!(text)) == format!("{text}\n"), plain, "{text}");
    }
}

#[test]
fn writes_as_kubectl_prints() {
    let value = json!({
        "apiVersion": "v1",
        "data": {"a.conf": "server {\n  listen 80;\n}\n", "cut": "x\ny", "kept": "x\n\n"},
        "empty": {"list": [], "map": {}, "nothing": null, "text": ""},
        "list": [1, "two", {"a": 1, "b": [true, [2.5, "x"]]}, ["z"]],
        "quoted": ["true", "0644", "1.0", "null", "on", "<<", "a: b", "a #b", "#a", "x ", "a\"b: \\"],
        "plain": ["--flag=x", "a:b", "http://x:80", "500m", "it's", "a, b"],
    });
    assert_eq!(
        to_yaml(&value),
        "\
apiVersion: v1
data:
  a.conf: |
    server {
      listen 80;
    }
  cut: |-
    x
    y
  kept: |+
    x

empty:
  list: []
  map: {}
  nothing: null
  text: \"\"
list:
- 1
- two
- a: 1
  b:
  - true
  - - 2.5
    - x
- - z
plain:
- --flag=x
- a:b
- http://x:80
- 500m
- it's
- a, b
quoted:
- \"true\"
- \"0644\"
- \"1.0\"
- \"null\"
- \"on\"
- \"<<\"
- \"a: b\"
- \"a #b\"
- \"#a\"
- \"x \"
- 'a\"b: \\'
"
    );
    assert_eq!(read_back(&value), value);
}

#[test]
fn writes_text_that_begins_with_blanks_as_a_block_all_the_same() {
    let value = json!({"a": "  indented\nx\n", "b": ["\tx\n", "\n\nx"]});
    assert_eq!(to_yaml(&value), "a: |2\n    indented\n  x\nb:\n- |2\n  \tx\n- |2-\n\n\n  x\n");
    assert_eq!(read_back(&value), value);
}

#[test]
fn writes_a_key_too_long_for_a_line_so_that_it_can_be_read() {
    let long = "k".repeat(3000);
    let value = json!({"a": {long.clone(): {"b": [1]}}, long.clone(): [1, {long.clone(): "x"}], long + "2": "x\ny"});
    assert_eq!(read_back(&value), value);
}

#[test]
fn writes_every_case_of_the_referee_so_that_it_is_read_back_the_same() {
    for case in cases() {
        for document in parse_stream(&case.yaml).unwrap_or_default() {
            assert_eq!(read_back(&document.value), document.value, "{}", case.name);
        }
    }
}

#[test]
fn writes_a_whole_float_as_the_integer_it_is_read_as() {
    assert_eq!(
        to_yaml(&json!([1.0, -0.0, 1e20, 1e-7, 1.5e300])),
        "- 1\n- 0\n- 1e20\n- 1e-7\n- 1.5e300\n"
    );
}

/// Text of the parts that YAML cares about.
fn yamlish() -> impl Strategy<Value = String> {
    let part = prop_oneof![
        "[ -~]{0,6}",
        prop::sample::select(vec![
            "\n", "\n  ", "\n\n", "\n- ", ": ", " #", "- ", "? ", "|", ">", "|-\n", "&a ", "*a",
            "<<: ", "{", "}", "[", "]", ", ", "'", "\"", "\\", "\t", "---\n", "...\n", "!!int ",
            "!x ", "%", "~", "0x1", "1.5", "true", "on", "é", "\u{2028}", "\u{feff}", "\r\n", "😀",
            "\u{0}", "\u{7f}",
        ])
        .prop_map(str::to_owned),
        any::<char>().prop_map(String::from),
    ];
    prop::collection::vec(part, 0..14).prop_map(|parts| parts.concat())
}

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<f64>()
            .prop_filter("whole floats become integers", |float| float.fract() != 0.0
                || float.abs() >= 1e21)
            .prop_map(Value::from),
        yamlish().prop_map(Value::from),
    ];
    leaf.prop_recursive(5, 40, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            prop::collection::btree_map(yamlish(), inner, 0..6)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn reads_back_whatever_it_writes(value in value()) {
        prop_assert_eq!(read_back(&value), value);
    }

    #[test]
    fn does_not_panic_on_any_text(text in yamlish()) {
        if let Ok(documents) = parse_stream(&text) {
            for document in documents {
                prop_assert_eq!(read_back(&document.value), document.value);
            }
        }
    }

    #[test]
    fn does_not_panic_on_a_damaged_text(
        seed in any::<prop::sample::Index>(),
        at in any::<prop::sample::Index>(),
        cut in 0usize..4,
        put in yamlish(),
    ) {
        let original: Vec<char> = seed.get(cases()).yaml.chars().collect();
        let at = at.index(original.len() + 1);
        let damaged: String = original[..at]
            .iter()
            .copied()
            .chain(put.chars())
            .chain(original[(at + cut).min(original.len())..].iter().copied())
            .collect();
        if let Ok(documents) = parse_stream(&damaged) {
            for document in documents {
                prop_assert_eq!(read_back(&document.value), document.value);
            }
        }
    }
}

#[test]
fn text_that_is_not_composed_survives_composition() {
    let value = json!({"Ele\u{301}gance": "a\u{30a}\nb", "unit": ["\u{212b}", "é"]});
    let composed = k8sconnect_core::text::nfc(&to_yaml(&value));
    assert_eq!(parse_stream(&composed).unwrap()[0].value, value, "{composed}");
    assert!(composed.contains("- é"), "what is composed stays readable: {composed}");
}

#[test]
fn a_fraction_is_written_as_people_write_it() {
    let value = json!([0.5, -0.25, 0.1]);
    assert_eq!(to_yaml(&value), "- 0.5\n- -0.25\n- 0.1\n");
    assert_eq!(read_back(&value), value);
}
