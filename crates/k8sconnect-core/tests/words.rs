//! Where sentences for users may not be: they all stand in the provider's `messages`.

use std::fs::read_to_string;
use std::path::{Path, PathBuf};

use proc_macro2::{TokenStream, TokenTree};

const CRATES: [&str; 2] = ["k8sconnect-core", "k8sconnect-cluster"];

/// Tests and their samples.
const EXCEPT: [&str; 2] = ["tests", "specimen.rs"];

/// Refusals are recognised by these words of the API server and of TLS.
const OF_THE_SERVER: [&str; 8] = [
    "Client sent an HTTP request",
    "etcdserver: request timed out",
    "received fatal alert",
    "failed to create typed patch object",
    "strict decoding error",
    "unable to convert unstructured object",
    "failed calling webhook",
    ", error found in #",
];

const ATTRIBUTES: [&str; 9] = [
    "yaml_body",
    "ignore_fields",
    "sensitive_fields",
    "force_conflicts",
    "json_patch",
    "merge_patch",
    "fail_when",
    "config_path",
    "kubeconfig =",
];

#[test]
fn no_crate_below_the_provider_has_a_sentence_for_users() {
    let found = literals(|text| {
        words_in_a_row(text) >= 3 && !OF_THE_SERVER.iter().any(|it| text.contains(it))
    });
    assert!(found.is_empty(), "return data, and word it in `messages`:\n{}", found.join("\n"));
}

#[test]
fn no_crate_below_the_provider_names_an_attribute_of_terraform() {
    let found = literals(|text| ATTRIBUTES.iter().any(|name| text.contains(name)));
    assert!(found.is_empty(), "return data, and name it in `messages`:\n{}", found.join("\n"));
}

#[test]
fn a_sentence_is_found_in_every_literal_and_in_no_comment() {
    let source = "/// It is a comment\n#[error(\"it is \\\n empty\")] struct A { c: r#\"a\"# }";
    let found: Vec<_> =
        texts(source.parse().unwrap()).iter().map(|it| words_in_a_row(it)).collect();
    assert_eq!(found, [3, 1]);
    assert_eq!(["`{0}` is never closed", "duplicate key {0}"].map(words_in_a_row), [3, 2]);
}

/// The string literals outside of tests that are of this kind, with their files.
fn literals(is_wanted: impl Fn(&str) -> bool) -> Vec<String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let files: Vec<_> =
        CRATES.iter().flat_map(|one| sources(&root.join(one).join("src"))).collect();
    assert!(files.len() > 40 * CRATES.len(), "{files:?}");
    let is_excepted = |path: &Path| {
        let path = path.strip_prefix(&root).expect("below the root").to_string_lossy().into_owned();
        EXCEPT.iter().any(|part| path.contains(part))
    };
    let found = files.into_iter().filter(|path| !is_excepted(path)).flat_map(|path| {
        let source = read_to_string(&path).expect("a source");
        let own = source.split("#[cfg(test)]\nmod ").next().unwrap_or_default();
        let found = texts(own.parse().expect("Rust")).into_iter().filter(|text| is_wanted(text));
        found.map(|text| format!("{}: {text}", path.display())).collect::<Vec<_>>()
    });
    found.collect()
}

fn sources(folder: &Path) -> Vec<PathBuf> {
    let entries = folder.read_dir().expect("a folder").map(|entry| entry.expect("an entry").path());
    entries.flat_map(|path| if path.is_dir() { sources(&path) } else { vec![path] }).collect()
}

/// The string literals of a source, comments left out.
fn texts(source: TokenStream) -> Vec<String> {
    let tokens = source.into_iter().flat_map(|token| match token {
        TokenTree::Group(group) if group.to_string().starts_with("[doc") => vec![],
        TokenTree::Group(group) => texts(group.stream()),
        TokenTree::Literal(literal) => vec![literal.to_string()],
        TokenTree::Ident(_) | TokenTree::Punct(_) => vec![],
    });
    tokens.filter(|text| text.contains('"')).map(|text| text.replace("\\\n", "")).collect()
}

fn words_in_a_row(text: &str) -> usize {
    let bare = text.replace('"', " ");
    let words: Vec<_> = bare.split_whitespace().collect();
    let is_word = |word: &str| word.chars().all(|c| c.is_ascii_alphabetic());
    words.split(|word| !is_word(word)).map(<[_]>::len).max().unwrap_or_default()
}
