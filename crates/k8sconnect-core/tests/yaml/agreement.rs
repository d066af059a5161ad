//! Every case that the referee (see `referee/README.md`) judged, judged by us.
//!
//! Where we differ on purpose, or know that we do, the case is listed with how and why. A case
//! that differs without being listed fails, and so does a listed one that no longer differs.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use k8sconnect_core::yaml::{YamlError, parse_stream};
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use Difference::{ReadAs, Refused, Taken};

#[derive(Deserialize)]
pub(crate) struct Case {
    pub(crate) name: String,
    pub(crate) yaml: String,
    #[serde(default)]
    documents: Vec<Box<RawValue>>,
    error: Option<String>,
}

pub(crate) fn cases() -> &'static [Case] {
    static CASES: LazyLock<Vec<Case>> = LazyLock::new(|| {
        serde_json::from_str(include_str!("referee.json")).expect("a list of cases")
    });
    &CASES
}

#[derive(Debug, PartialEq)]
enum Difference {
    /// The referee takes it, we do not.
    Refused,
    /// The referee refuses it, we do not.
    Taken,
    /// Both take it; this is what we read.
    ReadAs(&'static str),
}

const DUPLICATE: &str = "a duplicate key hides one of two values that somebody wrote";
const MERGED: &str = "which value wins differs from tool to tool";
const GARBAGE: &str = "Go drops what follows the document without a word";
const BREAK: &str = "one reader ends the line there, the other does not";
const COLON: &str = "the colon belongs to the text for one reader, and ends a key for the other";
const QUESTION: &str = "the question mark belongs to the text for one reader only";
const HARMLESS_TAB: &str =
    "the parser takes a tab where Go wants a space; the value is plain to see";
const INDENT: &str = "the parser wants the lines of a quoted text indented; the message says so";
const COMMENT: &str = "the parser wants a space before a comment; the message says so";
const BOM: &str =
    "a byte order mark inside of a text comes from joining files; the message says so";
const DIRECTIVE: &str = "kubectl cuts the directive off its document, so that it can use none";

const DIFFERENCES: &[(&str, Difference, &str)] = &[
    ("duplicate key", Refused, DUPLICATE),
    ("duplicate key, nested", Refused, DUPLICATE),
    ("duplicate key, flow", Refused, DUPLICATE),
    ("duplicate key, equal values", Refused, DUPLICATE),
    ("duplicate after quoting", Refused, DUPLICATE),
    ("number and text key", Refused, DUPLICATE),
    ("boolean and text key", Refused, DUPLICATE),
    ("two spellings of true", Refused, DUPLICATE),
    ("two spellings of a number", Refused, DUPLICATE),
    ("merge overridden before", Refused, MERGED),
    ("merge twice, same key", Refused, MERGED),
    ("end marker with text", Refused, GARBAGE),
    ("garbage after flow", Refused, GARBAGE),
    ("garbage after flow, next line", Refused, GARBAGE),
    ("key after flow", Refused, GARBAGE),
    ("item after quoted", Refused, GARBAGE),
    ("indented document, dedent", Refused, GARBAGE),
    ("end marker then bare document", ReadAs(r#"[{"a":1},{"b":2}]"#), GARBAGE),
    ("marker with folded scalar at column 0", ReadAs(r#"["x\n"]"#), GARBAGE),
    ("foreign break in indented block", Refused, BREAK),
    ("colon before bracket", Refused, COLON),
    ("colon before comma", Refused, COLON),
    ("colon before brace", Refused, COLON),
    ("question mark first in flow", Refused, QUESTION),
    ("question mark first in a flow key", Refused, QUESTION),
    ("question mark inside in flow", Taken, "Go lacks what YAML allows; the value is plain to see"),
    ("colon first in flow", Taken, "Go lacks what YAML allows; the value is plain to see"),
    ("dash alone in flow", Refused, "the parser wants quotes around it; the message says so"),
    ("foreign break in comment", Taken, "a comment is no value; no reader can misread it"),
    ("tagged !!binary /w==", Refused, "not UTF-8: Go replaces the bytes, and the value is lost"),
    ("tab first in block", Taken, HARMLESS_TAB),
    ("tab after dash", Taken, HARMLESS_TAB),
    ("tab after dash, mapping", Taken, HARMLESS_TAB),
    ("tab line", Taken, HARMLESS_TAB),
    ("tab after indent", Taken, HARMLESS_TAB),
    ("tab in flow indent", Refused, "the parser wants spaces there; the message says so"),
    ("single quotes under-indented", Refused, INDENT),
    ("single quotes at column 0", Refused, INDENT),
    ("double quotes at column 0", Refused, INDENT),
    ("comment right after quotes", Refused, COMMENT),
    ("comment right after a block header", Refused, COMMENT),
    ("byte order mark in second line", Refused, BOM),
    ("byte order mark after marker", Refused, BOM),
    ("escapes", Taken, "Go lacks the escape of a slash, which JSON has"),
    ("escape surrogate pair", Taken, "Go refuses a notation that JSON has"),
    ("escape single quote", Refused, "no escape of YAML's"),
    ("multi-line key in flow", Taken, "Go lacks what YAML allows; the value is plain to see"),
    ("alias as key, no space", Refused, "YAML reads the colon as part of the alias's name"),
    ("yaml directive 1.1", Taken, DIRECTIVE),
    ("yaml directive 1.2", Taken, DIRECTIVE),
    ("tag directive", Taken, DIRECTIVE),
    ("unknown directive", Taken, DIRECTIVE),
];

/// Numbers exactly as Go wrote them: `serde_json` is free to be off by a last bit in a float.
fn exact(json: &RawValue) -> Value {
    const GO_WRITES_JSON: &str = "Go writes JSON";
    let text = json.get();
    match text.as_bytes()[0] {
        b'{' => {
            let map: BTreeMap<String, Box<RawValue>> =
                serde_json::from_str(text).expect(GO_WRITES_JSON);
            map.iter().map(|(key, value)| (key.clone(), exact(value))).collect()
        }
        b'[' => {
            let items: Vec<Box<RawValue>> = serde_json::from_str(text).expect(GO_WRITES_JSON);
            items.iter().map(|item| exact(item)).collect()
        }
        b'-' | b'0'..=b'9' => match (text.parse::<i64>(), text.parse::<u64>()) {
            (Ok(whole), _) => Value::from(whole),
            (_, Ok(whole)) => Value::from(whole),
            _ => Value::from(text.parse::<f64>().expect(GO_WRITES_JSON)),
        },
        _ => serde_json::from_str(text).expect(GO_WRITES_JSON),
    }
}

/// kubectl passes over a document that is null; we hand it to the caller to judge.
fn ours(case: &Case) -> Result<Value, YamlError> {
    let documents = parse_stream(&case.yaml)?;
    Ok(documents.into_iter().map(|document| document.value).filter(|v| !v.is_null()).collect())
}

#[test]
fn reads_every_case_as_the_referee_does_save_those_listed() {
    let mut listed: BTreeMap<_, _> =
        DIFFERENCES.iter().map(|(name, how, _)| (*name, how)).collect();
    assert_eq!(listed.len(), DIFFERENCES.len(), "a case is listed twice");
    let mut wrong = Vec::new();
    for case in cases() {
        let theirs: Value = case.documents.iter().map(|document| exact(document)).collect();
        let ours = ours(case);
        let fits = match (listed.remove(case.name.as_str()), &case.error, &ours) {
            (None, None, Ok(ours)) => *ours == theirs,
            (None, Some(_), Err(_)) | (Some(Refused), None, Err(_)) => true,
            (Some(Taken), Some(_), Ok(_)) => true,
            (Some(ReadAs(json)), None, Ok(ours)) => {
                *ours != theirs && json.parse().ok().as_ref() == Some(ours)
            }
            _ => false,
        };
        if !fits {
            let theirs = case.error.clone().unwrap_or_else(|| theirs.to_string());
            wrong.push(format!("{}\n  {:?}\n  Go: {theirs}\n  we: {ours:?}", case.name, case.yaml));
        }
    }
    assert!(wrong.is_empty(), "{} cases differ:\n{}", wrong.len(), wrong.join("\n"));
    assert!(listed.is_empty(), "listed, but no such case: {:?}", listed.keys());
}
