use base64::Engine;
use base64::engine::general_purpose::STANDARD as BASE64;

use super::*;
use crate::secrecy::pattern;

fn manifest(text: &str) -> Manifest {
    Manifest::parse(text).unwrap()
}

fn hiding(value: &str) -> Secrets {
    let text =
        "{apiVersion: v1, kind: Secret, metadata: {name: my-database}, stringData: {a: VALUE}}";
    Secrets::of(&manifest(&text.replace("VALUE", value)))
}

fn secrets() -> Secrets {
    Secrets::of(&manifest(
        "{apiVersion: v1, kind: Secret, metadata: {name: s}, \
         data: {a: aHVudGVyMg==}, stringData: {b: \"line one\\nline two\", c: 'a<\"b\"'}}",
    ))
}

#[test]
fn a_message_that_quotes_a_value_plain_or_in_base64_is_not_shown() {
    for quoted in ["hunter2", "HUNTER2", "aHVudGVyMg==", "line one\\nline two", "line two"] {
        assert_eq!(secrets().shown(&format!("Invalid value: \"{quoted}\": bad")), None, "{quoted}");
    }
}

#[test]
fn a_message_that_quotes_a_value_in_any_base64_is_not_shown() {
    // The bytes need both alphabets and padding.
    let bytes = "k\u{fe}y?~~>?!";
    let encoded = BASE64.encode(bytes);
    assert!(encoded.ends_with('=') && encoded.contains(['+', '/']), "{encoded}");
    let text = format!(
        "{{apiVersion: v1, kind: Secret, metadata: {{name: s}}, data: {{a: '{encoded}'}}}}"
    );
    let for_urls = encoded.replace('+', "-").replace('/', "_");
    for secrets in [hiding(&format!("'{bytes}'")), Secrets::of(&manifest(&text))] {
        for quoted in [&encoded, encoded.trim_end_matches('='), for_urls.trim_end_matches('=')] {
            assert_eq!(secrets.shown(&format!("bad: {quoted}")), None, "{quoted}");
        }
    }
    let binary = "{apiVersion: v1, kind: Secret, metadata: {name: s}, data: {a: //79/A==}}";
    assert_eq!(Secrets::of(&manifest(binary)).shown("no: __79_A"), None, "bytes that are no text");
}

#[test]
fn a_message_that_quotes_a_value_in_an_address_is_not_shown() {
    for encoded in [
        "p%40ss+w%2Frd%3A%C3%A9",
        "p%40ss%20w%2Frd%3A%C3%A9",
        "p@ss%20w%2Frd:%C3%A9",
        "p%40ss%20w%2frd%3a%c3%a9",
    ] {
        let message = format!("Get \"https://joe:{encoded}@db/\": no");
        assert_eq!(hiding("'p@ss w/rd:é'").shown(&message), None, "{encoded}");
    }
}

#[test]
fn a_message_that_quotes_a_value_as_go_spells_it_is_not_shown() {
    for spelt in [r#"a<"b""#, r#"a<\"b\""#, r#"a\u003c\"b\""#, r#"a\\u003c\\\"b\\\""#] {
        assert_eq!(secrets().shown(&format!("no: {spelt}.")), None, "{spelt}");
    }
}

#[test]
fn a_message_that_cuts_a_long_value_off_is_not_shown() {
    let secret = hiding("Correct-Horse-Battery");
    for quoted in ["\"Correct-Horse\"", "Correct-Horse...", "CORRECT-HORSE…", "Correct-Hors****"]
    {
        assert_eq!(secret.shown(&format!("{quoted} is weak")), None, "{quoted}");
    }
    assert_eq!(secret.shown("correct horse").as_deref(), Some("correct horse"));
}

#[test]
fn a_message_without_a_hidden_value_is_shown() {
    for (value, message) in [
        ("hunter2", "exceeded quota: none, requested: count/secrets=1"),
        ("my-database-pw", "secret \"my-database\" is not wanted"),
        ("ab", "grab it"),
    ] {
        assert_eq!(hiding(value).shown(message).as_deref(), Some(message), "{value}");
    }
}

#[test]
fn a_short_value_counts_only_where_it_stands_alone() {
    assert_eq!(hiding("ab").shown("grab \"ab\""), None);
}

#[test]
fn a_wrong_type_is_shown_with_its_field_and_without_its_value() {
    let message = "failed to create typed patch object: .data.a: expected string, got \
                   &value.valueUnstructured{Value:map[x:hunter2]}";
    let shown = secrets().shown(message).unwrap();
    assert!(shown.ends_with(".data.a: expected string …"), "{shown}");
}

#[test]
fn several_wrong_types_are_shown_with_their_fields() {
    let message = "errors:\n  .stringData.b: expected string, got &value{Value:true}\n  \
                   .stringData.x: expected string, got &value{Value:\"hun\n\
                   ter2, got lost\"}\n  .stringData.y: expected string, got 1";
    let shown = secrets().shown(message).unwrap();
    let places: Vec<_> = shown.lines().skip(1).map(str::trim).collect();
    let line = |key| format!(".stringData.{key}: expected string …");
    assert_eq!(places, [line("b"), line("x"), line("y")]);
}

#[test]
fn objects_and_differences_are_not_shown_where_a_value_is_hidden() {
    for (message, shown) in [
        ("Pod \"p\" is invalid: core.PodSpec{\n Value: {\"hun\", - \"ter2\"}", "core.PodSpec …"),
        ("spec.template: Invalid value: {\"data\":{\"x\":\"}hunter2\"}}: no", "Invalid value:  …"),
        ("bad: map[a:hun", "bad:  …"),
        ("cannot be handled: ReadString, error found in #10 byte of ...|nter2|...", "ReadString …"),
    ] {
        let told = secrets().shown(message).unwrap();
        assert!(told.ends_with(shown), "{told}");
    }
}

#[test]
fn values_of_sensitive_fields_and_of_the_former_object_count_too() {
    let map = manifest(
        "{apiVersion: v1, kind: ConfigMap, metadata: {name: s}, data: {a: shown, b: hidden}}",
    );
    assert_eq!(Secrets::of(&map).shown("shown hidden {x}").as_deref(), Some("shown hidden {x}"));
    let map = map.hiding(&[pattern("data.b").unwrap()]);
    assert_eq!(Secrets::of(&map).shown("shown").as_deref(), Some("shown"));
    assert_eq!(Secrets::of(&map).shown("shown hidden"), None);
    let before = serde_json::json!({"data": {"b": "former"}});
    assert_eq!(Secrets::of(&map).and(map.secrecy(), &before).shown("it was former"), None);
}
