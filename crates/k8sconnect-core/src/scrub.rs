//! The server's words without the values that must not be shown.
//!
//! A refusal may quote what was sent: the value of a field, a part of the object, all of it. Every
//! sensitive leaf is cut out of the text, plain and in base64. Where that cannot be done safely,
//! because a value is too short to be told from ordinary words, or because the text quotes Go
//! values in a form of its own, only what names the place is kept.

use base64::Engine;
use base64::engine::general_purpose::STANDARD as BASE64;
use serde_json::Value;

use crate::manifest::Manifest;
use crate::projection::Secrecy;

const CUT: &str = "(sensitive)";
/// Shorter values also occur in ordinary words.
const SHORTEST: usize = 4;

/// What must not be shown of one object.
#[derive(Clone, Default)]
pub struct Secrets(Vec<String>);

impl Secrets {
    pub fn of(manifest: &Manifest) -> Self {
        let mut secrets = Self::default();
        if Secrecy::of_kind(manifest.gvk()) == Secrecy::SecretData {
            for (part, encoded) in [("data", true), ("stringData", false)] {
                secrets.collect(&manifest.value()[part], encoded);
            }
        }
        // The longest first, so that no part of one is left standing.
        secrets.0.sort_by_key(|text| std::cmp::Reverse(text.len()));
        secrets.0.dedup();
        secrets
    }

    fn collect(&mut self, value: &Value, encoded: bool) {
        match value {
            Value::Object(map) => map.values().for_each(|value| self.collect(value, encoded)),
            Value::Array(items) => items.iter().for_each(|value| self.collect(value, encoded)),
            Value::Null => {}
            scalar => {
                let text = scalar.as_str().map_or_else(|| scalar.to_string(), ToOwned::to_owned);
                let other = if encoded {
                    BASE64.decode(text.trim()).ok().and_then(|bytes| String::from_utf8(bytes).ok())
                } else {
                    Some(BASE64.encode(&text))
                };
                for form in other.into_iter().chain([text]) {
                    self.0.push(form.trim().to_owned());
                    // As Go quotes it.
                    self.0.push(form.escape_debug().to_string());
                    self.0.extend(form.lines().map(|line| line.trim().to_owned()));
                }
                self.0.retain(|text| !text.is_empty());
            }
        }
    }

    /// The words without what must not be shown.
    pub fn cut_out_of(&self, words: &str) -> String {
        if self.0.is_empty() {
            return words.to_owned();
        }
        let words = place_only(words).unwrap_or_else(|| words.to_owned());
        if self.0.iter().any(|text| text.chars().count() < SHORTEST && words.contains(text)) {
            return "(the server's words are not shown: they may quote a secret)".to_owned();
        }
        self.0.iter().fold(words, |words, text| words.replace(text.as_str(), CUT))
    }
}

/// Of a typed-patch error only the place and the type that was expected: what it got is printed as
/// a Go value, in a form that cutting cannot be trusted with.
fn place_only(words: &str) -> Option<String> {
    let (before, _) = words.split_once(", got ")?;
    Some(format!("{before}, got something else"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn secrets() -> Secrets {
        Secrets::of(
            &Manifest::parse(
                "{apiVersion: v1, kind: Secret, metadata: {name: s}, \
                 data: {a: aHVudGVyMg==}, stringData: {b: \"line one\\nline two\"}}",
            )
            .unwrap(),
        )
    }

    #[test]
    fn values_go_plain_and_in_base64() {
        for quoted in ["hunter2", "aHVudGVyMg==", "line one\\nline two", "line two"] {
            let shown = secrets().cut_out_of(&format!("Invalid value: \"{quoted}\": bad"));
            assert_eq!(shown, "Invalid value: \"(sensitive)\": bad");
        }
        let encoded = BASE64.encode("line one\nline two");
        assert!(!secrets().cut_out_of(&encoded).contains(&encoded));
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
    fn a_value_too_short_to_be_cut_hides_all() {
        let short = Secrets::of(
            &Manifest::parse(
                "{apiVersion: v1, kind: Secret, metadata: {name: s}, stringData: {a: ab}}",
            )
            .unwrap(),
        );
        assert!(short.cut_out_of("grab the value").starts_with("(the server's words"));
        assert_eq!(short.cut_out_of("no such letters"), "no such letters");
    }

    #[test]
    fn other_kinds_have_no_secrets() {
        let map = Manifest::parse(
            "{apiVersion: v1, kind: ConfigMap, metadata: {name: s}, data: {a: shown}}",
        );
        assert_eq!(Secrets::of(&map.unwrap()).cut_out_of("shown"), "shown");
    }
}
