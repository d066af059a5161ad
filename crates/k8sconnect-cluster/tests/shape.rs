//! The size and the layers of this crate, which ADR 0023 limits. Not here: what the code does.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// Lines of code that this crate may have. More means that ADR 0023 is to be decided again.
const CEILING: usize = 5_000;

/// A module uses modules of the layers above its own in this list, and no others.
const LAYERS: &[&[&str]] = &[
    &["child", "encode", "file", "stop", "warnings"],
    &["error"],
    &["address", "circuit_breaker", "secret"],
    &["call", "connection", "kinds"],
    &["proxy", "tls"],
    &["exec"],
    &["credentials"],
    &["inline"],
    &["kubeconfig"],
    &["connector"],
    &["transport"],
    &["retry"],
    &["cluster"],
    &["discovery", "objects"],
    &["changes", "cluster_uid", "definition", "list", "observe", "pool", "token", "watch"],
    &["arrive", "contents"],
    &["targets"],
    &["lib"],
];

/// Each file of the crate that is no test, with the name of its top module.
fn sources() -> Vec<(String, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = Vec::new();
    collect(&root, &mut files);
    let name = |path: &PathBuf| {
        let first = path.strip_prefix(&root).unwrap().components().next().unwrap();
        first.as_os_str().to_str().unwrap().trim_end_matches(".rs").to_owned()
    };
    files.iter().map(|path| (name(path), fs::read_to_string(path).unwrap())).collect()
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            collect(&path, files);
        } else if path.extension().is_some_and(|it| it == "rs") && !path.ends_with("tests.rs") {
            files.push(path);
        }
    }
}

/// The lines of code: not blank, not a comment, not in the tests at the end of a file.
fn code(text: &str) -> impl Iterator<Item = &str> {
    let end = text.find("#[cfg(test)]\nmod tests").unwrap_or(text.len());
    let lines = text[..end].lines().map(str::trim);
    lines.filter(|line| !line.is_empty() && !line.starts_with("//"))
}

#[test]
fn the_client_stays_below_the_size_at_which_it_is_worth_its_keep() {
    let lines: usize = sources().iter().map(|(_, text)| code(text).count()).sum();
    assert!(lines <= CEILING, "{lines} lines of code, {CEILING} allowed: see ADR 0023");
    assert!(lines > CEILING / 2, "{lines} lines of code: the count or the ceiling is wrong");
}

#[test]
fn every_module_uses_only_modules_of_lower_layers() {
    let layer = |module: &str| LAYERS.iter().position(|layer| layer.contains(&module));
    let mut wrong = BTreeSet::new();
    for (module, text) in sources() {
        let Some(own) = layer(&module) else {
            wrong.insert(format!("`{module}` is in no layer"));
            continue;
        };
        for line in code(&text) {
            for used in line.split("crate::").skip(1) {
                let used = used.trim_start_matches('{').split(|it: char| !is_word(it));
                let used = used.filter(|word| *word != module && layer(word).is_some());
                // `use crate::{a, b};` names several modules, `crate::a::B` one.
                let several = line.contains("crate::{");
                for used in used.take(if several { usize::MAX } else { 1 }) {
                    if layer(used) >= Some(own) {
                        wrong.insert(format!("`{module}` uses `{used}`"));
                    }
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:?}");
}

fn is_word(character: char) -> bool {
    character.is_alphanumeric() || character == '_'
}
