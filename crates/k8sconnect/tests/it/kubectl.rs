//! Random YAML, read by us and by a real `kubectl`. Many texts cost one process: each is a file with
//! one object, and `kubectl` prints those that it can read, as JSON, without asking a server.
//!
//! We may refuse more than it does, since it drops some of what people write without a word. What both
//! take must mean the same.

use std::collections::BTreeMap;
use std::process::Command;

use damage::{settings, text};
use k8sconnect_core::yaml::{Document, YamlError, parse_stream};
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use serde_json::{Deserializer, Value as Json};
use tempfile::TempDir;
use testkit::assets::{Asset, KubernetesVersion};

/// What `kubectl` makes of each text as the `spec` of an object; nothing where it refuses.
fn kubectl_reads(texts: &[String]) -> BTreeMap<usize, Json> {
    let kubectl = Asset::Kubectl.locate(KubernetesVersion::wanted().unwrap()).unwrap();
    let folder = TempDir::new().unwrap();
    for (n, text) in texts.iter().enumerate() {
        std::fs::write(folder.path().join(format!("{n}.yaml")), text).unwrap();
    }
    let output = Command::new(kubectl)
        .args(["label", "--local", "--output=json", "read=yes", "--filename"])
        .arg(folder.path())
        .env("KUBECONFIG", "")
        .output()
        .unwrap();
    let objects = Deserializer::from_slice(&output.stdout).into_iter::<Json>();
    let read = objects.map(|object| object.unwrap()).map(|object| {
        let name = object["metadata"]["name"].as_str().unwrap();
        (name.trim_start_matches("it-").parse().unwrap(), object["spec"].clone())
    });
    read.collect()
}

fn object(n: usize, spec: &str) -> String {
    let spec = spec.replace('\n', "\n  ");
    format!("apiVersion: example.com/v1\nkind: Odd\nmetadata: {{name: it-{n}}}\nspec:\n  {spec}\n")
}

fn we_read(text: &str) -> Result<Json, String> {
    let documents: Result<Vec<Document>, YamlError> = parse_stream(text);
    match documents.map_err(|error| format!("{error:?}"))?.as_slice() {
        [one] => Ok(one.value["spec"].clone()),
        other => Err(format!("{} documents", other.len())),
    }
}

/// Numbers are what they mean: a whole one may be written as a float.
fn means_the_same(ours: &Json, theirs: &Json) -> bool {
    match (ours, theirs) {
        (Json::Number(ours), Json::Number(theirs)) => {
            ours == theirs || ours.as_f64() == theirs.as_f64()
        }
        (Json::Array(ours), Json::Array(theirs)) => {
            ours.len() == theirs.len()
                && ours.iter().zip(theirs).all(|(one, other)| means_the_same(one, other))
        }
        (Json::Object(ours), Json::Object(theirs)) => {
            ours.len() == theirs.len()
                && ours.iter().all(|(key, value)| {
                    theirs.get(key).is_some_and(|theirs| means_the_same(value, theirs))
                })
        }
        _ => ours == theirs,
    }
}

fn drawn<T>(strategy: impl Strategy<Value = T>) -> Vec<T> {
    let mut runner = TestRunner::new(settings());
    let one = |_| strategy.new_tree(&mut runner).unwrap().current();
    (0..settings().cases).map(one).collect()
}

/// Spellings of numbers, words, times and near misses of all of them.
fn scalars() -> impl Strategy<Value = String> {
    let words = [
        "true",
        "yes",
        "On",
        "OFF",
        "n",
        "Y",
        "null",
        "~",
        "Null",
        ".inf",
        ".NaN",
        "nan",
        "0x",
        "0o",
        "0b",
        "1e",
        "e+",
        "_",
        "-",
        "+",
        ".",
        ":",
        "0",
        "00",
        "08",
        "12",
        "60",
        "9223372036854775807",
        "18446744073709551615",
        "2024-01-01",
        "T00:00:00Z",
        " ",
        "<<",
        "=",
        "!!str ",
        "!!int ",
        "!!float ",
        "\"",
        "'",
        "\\x41",
        "\\n",
    ];
    let part = prop_oneof![
        3 => prop::sample::select(words.to_vec()).prop_map(str::to_owned),
        1 => "[0-9a-fA-F._:+-]{1,4}",
    ];
    prop::collection::vec(part, 1..5).prop_map(|parts| parts.concat())
}

#[test]
fn every_scalar_is_read_as_kubectl_reads_it() {
    let scalars = drawn(scalars());
    let texts: Vec<_> =
        scalars.iter().enumerate().map(|(n, it)| object(n, &format!("v: {it}"))).collect();
    let theirs = kubectl_reads(&texts);
    let mut both = 0;
    let mut wrong = Vec::new();
    for (n, text) in texts.iter().enumerate() {
        match (we_read(text), theirs.get(&n)) {
            (Ok(ours), Some(theirs)) if means_the_same(&ours, theirs) => both += 1,
            (Err(_), None) => {}
            // Each of the few texts that we refuse and it takes is told with a reason in the core.
            (Err(_), Some(_)) => {}
            (ours, theirs) => {
                wrong.push(format!("{:?}\n  we: {ours:?}\n  kubectl: {theirs:?}", scalars[n]));
            }
        }
    }
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), texts.len(), wrong.join("\n"));
    assert!(both > texts.len() / 3, "only {both} of {} were read at all", texts.len());
}

fn specs() -> Vec<String> {
    [
        "replicas: 3\ntemplate:\n  containers:\n  - name: app\n    args: [\"-v\", --x=1, 'it''s']\n  - {name: side, ports: [80, 0x50]}\n",
        "script: |\n  #!/bin/sh\n  echo \"a: b\" # no comment\n\n  exit 0\nfolded: >-\n  one\n  two\n\n  three\nkept: |+\n  x\n\n",
        "base: &base {cpu: 1, memory: 1Gi}\nmore:\n  <<: *base\n  cpu: 2\nlist: [*base , null, ~, on, 1e3]\n",
        "? complex key\n: value\n\"quoted\\tkey\": 'single ''quotes'''\n\"a: b\": \"\\u00e9\\x41\\n\"\nempty:\nlast: \"\"\n",
        "- [a, [b, {c: d}]]\n- - nested\n  - - deeper\n-\n  key: value # comment\n- \"multi\n  line\"\n",
    ]
    .map(str::to_owned)
    .to_vec()
}

/// Letters of which the core's tests tell that we take what `kubectl` refuses, and why it does no harm.
const TAKEN: [&str; 9] = ["\t", "?", "\\", "&", "*", "%", ":", "#", "!"];

#[test]
fn every_damaged_text_that_both_read_means_the_same_to_both() {
    let texts: Vec<_> =
        drawn(text(specs())).iter().enumerate().map(|(n, spec)| object(n, spec)).collect();
    let theirs = kubectl_reads(&texts);
    let mut both = 0;
    let mut wrong = Vec::new();
    for (n, text) in texts.iter().enumerate() {
        match (we_read(text), theirs.get(&n)) {
            (Ok(ours), Some(theirs)) if means_the_same(&ours, theirs) => both += 1,
            (Err(_), _) => {}
            (Ok(_), None) if TAKEN.iter().any(|letter| text.contains(letter)) => {}
            (ours, theirs) => {
                wrong.push(format!("{text}\n  we: {ours:?}\n  kubectl: {theirs:?}\n  {text:?}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), texts.len(), wrong.join("\n"));
    assert!(both > texts.len() / 10, "only {both} of {} were read at all", texts.len());
}
