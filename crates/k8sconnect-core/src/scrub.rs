//! The server's words without the values that must not be shown.
//!
//! A refusal may quote what was sent or what is there: the value of a field, a part of the object,
//! all of it. Every hidden value is cut out of the text, in all the forms that it may have there.
//! Where an object is quoted, or the difference of two, cutting cannot be
//! trusted (long texts are broken up and shortened), so that goes as a whole. An object that hides
//! nothing is quoted as it is.
//!
//! A value that is very short, or a word that the server uses anyway, would be told by the very gap
//! that it leaves in a sentence. Where such a one stands in the server's prose, and not where values
//! are quoted, the words are not shown at all.

mod content;
mod credentials;
mod forms;
mod frame;

use std::collections::BTreeSet;

use serde_json::Value;

use crate::manifest::Manifest;
use crate::projection::CONCEALED_VALUE as CUT;
use crate::secrecy::Secrecy;
use forms::forms_of;
use frame::Frame;

pub use content::{Content, quoted};
pub use credentials::{without_credentials, without_these};

/// Shorter values also occur inside of ordinary words, and are cut only where they stand alone.
const SHORTEST: usize = 4;

/// What is said in place of words that cannot be shown.
pub const WITHHELD: &str = "(what it said is not shown: a hidden value could not be cut out of it \
                            without being told by the gap)";

/// What must not be shown of one object.
#[derive(Clone, Default)]
pub struct Secrets {
    hides: Hides,
    /// The longest first, so that no part of one is left standing.
    texts: Vec<String>,
    frame: Frame,
}

#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Hides {
    #[default]
    Nothing,
    Something,
}

impl Secrets {
    pub fn of(manifest: &Manifest) -> Self {
        Self::default().and(manifest.secrecy(), manifest.value())
    }

    /// And those in another version of the object: the server may quote what was there before.
    #[must_use]
    pub fn and(self, secrecy: &Secrecy, object: &Value) -> Self {
        if secrecy.is_open() {
            return self;
        }
        let mut texts: BTreeSet<String> = self.texts.into_iter().collect();
        for hidden in secrecy.hidden_in(object) {
            texts.extend(forms_of(hidden));
        }
        let mut texts: Vec<_> = texts.into_iter().filter(|text| !text.trim().is_empty()).collect();
        texts.sort_by_key(|text| std::cmp::Reverse(text.len()));
        Self { hides: Hides::Something, texts, frame: self.frame.and(object) }
    }

    /// The words without what must not be shown.
    pub fn cut_out_of(&self, words: &str) -> String {
        self.cut(words).unwrap_or_else(|| WITHHELD.to_owned())
    }

    /// The same; `None` where the gaps would tell.
    pub fn cut(&self, words: &str) -> Option<String> {
        if self.hides == Hides::Nothing {
            return Some(words.to_owned());
        }
        let words = without_objects(&place_only(words));
        let mut rest = words.as_str();
        let mut shown = String::new();
        while let Some(first) = rest.chars().next() {
            if let Some(name) = self.own_name_at(rest) {
                shown.push_str(name);
                rest = &rest[name.len()..];
                continue;
            }
            let found =
                self.texts.iter().find_map(|text| Some((text, self.at(text, rest, &shown)?)));
            match found {
                Some((text, Standing::AsValue)) => {
                    shown.push_str(CUT);
                    rest = &rest[text.len()..];
                }
                Some((_, Standing::InProse)) => return None,
                None => {
                    shown.push(first);
                    rest = &rest[first.len_utf8()..];
                }
            }
        }
        Some(shown)
    }

    /// How a hidden text stands here, if it does. What is short, or one of the server's own words,
    /// must stand alone.
    fn at(&self, text: &str, rest: &str, before: &str) -> Option<Standing> {
        let after = rest.strip_prefix(text)?;
        let is_short = text.chars().count() < SHORTEST;
        if !is_short && !self.frame.has(text) {
            return Some(Standing::AsValue);
        }
        let in_a_word = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
        if in_a_word(before.chars().last()) || in_a_word(after.chars().next()) {
            return None;
        }
        let is_quoted = before.ends_with('"') && after.starts_with('"');
        if is_quoted || before.ends_with("alue: ") {
            return Some(Standing::AsValue);
        }
        Some(Standing::InProse)
    }

    /// The object's own name in quotes, which is no secret even if it holds what looks like one.
    fn own_name_at<'a>(&self, rest: &'a str) -> Option<&'a str> {
        let (name, _) = rest.strip_prefix('"')?.split_once('"')?;
        let is_ours = self.frame.is_name(name) && !self.texts.iter().any(|text| text == name);
        is_ours.then(|| &rest[..name.len() + 2])
    }
}

/// Where a hidden text stands in the server's words.
enum Standing {
    /// Where a value is quoted, or where nothing else can be meant.
    AsValue,
    /// Where the gap would tell it.
    InProse,
}

/// Of a typed-patch error only the place and the type that was expected: what it got is printed as
/// a Go value, in a form that cutting cannot be trusted with. Of a text that could not be decoded,
/// not the part that is quoted around the error.
fn place_only(words: &str) -> String {
    if let Some((before, got)) = words.split_once(GOT) {
        // Of several errors each has a line; what else follows belongs to a value.
        let more = got.lines().skip(1).filter_map(place_in);
        let more: String = more.map(|place| format!("\n{place}{GOT}something else")).collect();
        return format!("{before}{GOT}something else{more}");
    }
    if let Some((before, _)) = words.split_once(", error found in #") {
        return format!("{before} (what was sent is not shown)");
    }
    words.to_owned()
}

const GOT: &str = ", got ";

/// The place, and what was expected there, of a line that tells just that.
fn place_in(line: &str) -> Option<&str> {
    let (told, _) = line.split_once(GOT)?;
    let (place, expected) = told.trim_start().split_once(": expected ")?;
    let is_place = place.starts_with('.') && !place.contains(char::is_whitespace);
    let is_type = |c: char| c.is_ascii_lowercase() || matches!(c, ' ' | '(' | ')');
    (is_place && expected.chars().all(is_type)).then_some(told)
}

/// The words without any object in them, from the first to the last bracket.
fn without_objects(words: &str) -> String {
    let mut words = words.to_owned();
    for (open, close) in [("{", '}'), ("map[", ']')] {
        let Some(start) = words.find(open) else {
            continue;
        };
        let start = start + open.len();
        let end = words.rfind(close).filter(|end| *end >= start).unwrap_or(words.len());
        words.replace_range(start..end, "…");
    }
    words
}

#[cfg(test)]
mod tests {
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
        let text = format!(
            "{{apiVersion: v1, kind: Secret, metadata: {{name: s}}, TAKES: {{a: '{bytes}'}}}}"
        );
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
            let text =
                "{apiVersion: v1, kind: Secret, metadata: {name: I_ab}, stringData: {a: VALUE}}";
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
}
