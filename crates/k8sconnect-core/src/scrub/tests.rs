use base64::Engine;
use base64::engine::general_purpose::STANDARD as BASE64;

use super::*;
use crate::secrecy::pattern;

fn manifest(text: &str) -> Manifest {
    Manifest::parse(text).unwrap()
}

fn secrets() -> Secrets {
    Secrets::of(&manifest(
        "{apiVersion: v1, kind: Secret, metadata: {name: s}, \
         data: {a: aHVudGVyMg==}, stringData: {b: \"line one\\nline two\", c: 'a<\"b\"'}}",
    ))
}

#[test]
fn values_go_plain_and_in_base64() {
    for quoted in ["hunter2", "aHVudGVyMg==", "line one\\nline two", "line two"] {
        let shown = secrets().cut_out_of(&format!("Invalid value: \"{quoted}\": bad"));
        assert_eq!(shown, "Invalid value: \"(sensitive)\": bad");
    }
}

#[test]
fn values_go_in_every_base64() {
    // It holds what both alphabets write otherwise, and wants padding.
    let bytes = "k\u{fe}y?~~>?!";
    let text =
        format!("{{apiVersion: v1, kind: Secret, metadata: {{name: s}}, TAKES: {{a: '{bytes}'}}}}");
    let plain = Secrets::of(&manifest(&text.replace("TAKES", "stringData")));
    let encoded = BASE64.encode(bytes);
    assert!(encoded.ends_with('=') && encoded.contains(['+', '/']), "{encoded}");
    let text = text.replace("TAKES", "data").replace(bytes, &encoded);
    let unpadded = encoded.trim_end_matches('=');
    let for_urls = encoded.replace('+', "-").replace('/', "_");
    for secrets in [plain, Secrets::of(&manifest(&text))] {
        for quoted in [&encoded, unpadded, &for_urls, for_urls.trim_end_matches('=')] {
            let shown = secrets.cut_out_of(&format!("Invalid value: \"{quoted}\": bad"));
            assert_eq!(shown, "Invalid value: \"(sensitive)\": bad", "{quoted}");
        }
    }
    // Bytes that are no text have no plain form, and still several encoded ones.
    let binary = "{apiVersion: v1, kind: Secret, metadata: {name: s}, data: {a: //79/A==}}";
    let secrets = Secrets::of(&manifest(binary));
    assert_eq!(secrets.cut_out_of("no: //79/A, __79_A"), "no: (sensitive), (sensitive)");
}

#[test]
fn values_go_out_of_addresses() {
    let text =
        "{apiVersion: v1, kind: Secret, metadata: {name: s}, stringData: {a: 'p@ss w/rd:é'}}";
    let secrets = Secrets::of(&manifest(text));
    for encoded in [
        "p%40ss+w%2Frd%3A%C3%A9",
        "p%40ss%20w%2Frd%3A%C3%A9",
        "p@ss%20w%2Frd:%C3%A9",
        "p%40ss%20w%2Frd:%C3%A9",
        "p%40ss%20w%2frd%3a%c3%a9",
    ] {
        let shown = secrets.cut_out_of(&format!("Get \"https://joe:{encoded}@db/\": no"));
        assert_eq!(shown, "Get \"https://joe:(sensitive)@db/\": no");
    }
}

#[test]
fn values_go_however_go_spells_them() {
    for spelt in [r#"a<"b""#, r#"a<\"b\""#, r#"a\u003c\"b\""#, r#"a\\u003c\\\"b\\\""#] {
        assert_eq!(secrets().cut_out_of(&format!("no: {spelt}.")), "no: (sensitive).");
    }
}

#[test]
fn values_go_in_other_capitals_and_cut_off() {
    let of = |value: &str| {
        let text =
            "{apiVersion: v1, kind: Secret, metadata: {name: my-database}, stringData: {a: VALUE}}";
        Secrets::of(&manifest(&text.replace("VALUE", value)))
    };
    let secret = of("Correct-Horse-Battery");
    for quoted in ["CORRECT-HORSE-BATTERY", "correct-horse-battery"] {
        let shown = secret.cut_out_of(&format!("denied: {quoted} is weak"));
        assert_eq!(shown, "denied: (sensitive) is weak");
    }
    for (quoted, shown) in [
        ("\"Correct-Horse\" is weak", "\"(sensitive)\" is weak"),
        ("Correct-Horse... is weak", "(sensitive)... is weak"),
        ("CORRECT-HORSE… is weak", "(sensitive)… is weak"),
        ("Correct-Hors****", "(sensitive)****"),
        ("weak: Correct-Horse-B", "weak: (sensitive)"),
    ] {
        assert_eq!(secret.cut_out_of(quoted), shown);
    }
    // Half of it or less, and words of others that merely begin alike.
    for words in ["\"Correct-Ho\" is weak", "Correct-Horse-riding is", "correct horse"] {
        assert_eq!(secret.cut_out_of(words), words);
    }
    for (value, words) in [
        ("my-database-pw", "secret \"my-database\" is not wanted"),
        ("administrator-pw", "an administrator, or administrators, may"),
        ("INVALID VALUE", "Invalid value: \"x\""),
    ] {
        assert_eq!(of(value).cut_out_of(words), words, "{value}");
    }
}

#[test]
fn ordinary_words_stay() {
    let words = "exceeded quota: none, requested: count/secrets=1";
    assert_eq!(secrets().cut_out_of(words), words);
}

#[test]
fn of_a_wrong_type_only_the_place_is_told() {
    let words = "failed to create typed patch object: .data.a: expected string, got \
                 &value.valueUnstructured{Value:map[x:hunter2]}";
    let shown = secrets().cut_out_of(words);
    assert!(shown.ends_with(".data.a: expected string, got something else"), "{shown}");
}

#[test]
fn of_several_wrong_types_every_place_is_told() {
    let words = "failed to create typed patch object (ns/s; /v1, Kind=Secret): errors:\n  \
                 .stringData.b: expected string, got &value.valueUnstructured{Value:true}\n  \
                 .stringData.x: expected string, got &value.valueUnstructured{Value:\"hun\n\
                 ter2, got lost\"}\n  .stringData.y: expected string, got 1";
    let shown = secrets().cut_out_of(words);
    let places: Vec<_> = shown.lines().skip(1).map(str::trim).collect();
    let told = |key| format!(".stringData.{key}: expected string, got something else");
    assert_eq!(places, [told("b"), told("x"), told("y")]);
}

#[test]
fn what_the_gap_would_tell_is_not_shown_at_all() {
    let of = |value: &str| {
        let text = "{apiVersion: v1, kind: Secret, metadata: {name: I_ab}, stringData: {a: VALUE}}";
        Secrets::of(&manifest(&text.replace("VALUE", value)))
    };
    let words = "Secret \"I_ab\" is invalid: metadata.labels: Invalid value: \"x y\": a valid \
                 label must begin with an alphanumeric character";
    for telling in ["Invalid value", "Secret", "a", "metadata"] {
        assert_eq!(of(telling).cut_out_of(words), WITHHELD, "{telling}");
    }
    // The object's name is none of its secrets, nor is what stands inside of words.
    for harmless in ["ab", "a valid-looking one", "beg", "meta"] {
        assert_eq!(of(harmless).cut_out_of(words), words, "{harmless}");
    }
    assert!(of("x y").cut_out_of(words).contains("Invalid value: \"(sensitive)\": a valid"));
}

#[test]
fn objects_and_differences_are_not_quoted_where_something_is_hidden() {
    let words = "Pod \"p\" is invalid: spec: Forbidden: pod updates may not change fields\n  \
        core.PodSpec{\n  Value: strings.Join({\"hun\", - \"ter2\", + \"ter3\"}, \"\")\n}\n";
    let shown = secrets().cut_out_of(words);
    assert!(shown.contains("core.PodSpec{…}") && !shown.contains("ter"), "{shown}");
    let words = "spec.template: Invalid value: {\"data\":{\"x\":\"}hunter2\"}}: immutable";
    assert_eq!(secrets().cut_out_of(words), "spec.template: Invalid value: {…}: immutable");
    let cut_off = "bad: map[a:hun";
    assert_eq!(secrets().cut_out_of(cut_off), "bad: map[…");
    let decoding = "cannot be handled as a Secret: ReadString, error found in #10 byte of \
        ...|nter2|..., bigger context ...|hunter2|...";
    assert!(!secrets().cut_out_of(decoding).contains("nter2"));
}

#[test]
fn a_short_value_is_cut_only_where_it_stands_alone() {
    let short = Secrets::of(&manifest(
        "{apiVersion: v1, kind: Secret, metadata: {name: s}, stringData: {a: ab}}",
    ));
    assert_eq!(short.cut_out_of("grab \"ab\""), "grab \"(sensitive)\"");
}

#[test]
fn what_stands_for_a_secret_is_not_cut_itself() {
    let odd = Secrets::of(&manifest(
        "{apiVersion: v1, kind: Secret, metadata: {name: s}, stringData: {a: sens, b: secret-value}}",
    ));
    assert_eq!(odd.cut_out_of("no secret-value here"), "no (sensitive) here");
}

#[test]
fn fields_that_the_user_hides_are_cut_and_others_stay() {
    let map = manifest(
        "{apiVersion: v1, kind: ConfigMap, metadata: {name: s}, data: {a: shown, b: hidden}}",
    );
    assert_eq!(Secrets::of(&map).cut_out_of("shown hidden {x}"), "shown hidden {x}");
    let map = map.hiding(&[pattern("data.b").unwrap()]);
    assert_eq!(Secrets::of(&map).cut_out_of("shown hidden"), "shown (sensitive)");
    let before = serde_json::json!({"data": {"b": "former"}});
    let both = Secrets::of(&map).and(map.secrecy(), &before);
    assert_eq!(both.cut_out_of("former, then hidden"), "(sensitive), then (sensitive)");
}
