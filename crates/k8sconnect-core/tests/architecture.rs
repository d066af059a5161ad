//! What ARCHITECTURE.md says of the sources and no compiler checks.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{read_dir, read_to_string};
use std::path::{Path, PathBuf};

use proc_macro2::{TokenStream, TokenTree};

/// A moment may be handed in; `now` asks the clock.
const IMPURE: [&str; 9] =
    ["async", "await", "tokio", "HashMap", "HashSet", "File", "TcpStream", "getrandom", "fastrand"];

#[test]
fn core_has_no_async_io_clock_randomness_or_hash_ordered_map() {
    let breach: TokenStream = "SystemTime::now()".parse().expect("Rust");
    assert!(breach.to_string().contains(":: now"), "the form that is looked for");
    let mut found = Vec::new();
    for path in sources(&root().join("k8sconnect-core/src")) {
        let source = own(&path);
        let asks_the_clock = source.to_string().contains(":: now");
        let impure = names(source).into_iter().filter(|name| IMPURE.contains(&name.as_str()));
        let impure = impure.chain(asks_the_clock.then(|| "now".to_owned()));
        found.extend(impure.map(|name| format!("{}: {name}", path.display())));
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn the_plugin_layer_never_says_kubernetes() {
    for path in sources(&root().join("tfplugin/src")) {
        let text = read_to_string(&path).expect("a source").to_lowercase();
        let says = ["kube", "k8s"].iter().any(|word| text.contains(word));
        assert!(!says, "{}", path.display());
    }
}

#[test]
fn no_module_of_a_crate_is_used_by_one_that_it_uses() {
    for name in ["tfplugin", "k8sconnect-core", "k8sconnect-cluster", "k8sconnect"] {
        let uses = uses(&root().join(name).join("src"));
        assert!(uses.len() > 10, "{name}: {uses:?}");
        let in_cycles: Vec<_> = uses.keys().filter(|it| reached(&uses, it).contains(*it)).collect();
        assert!(in_cycles.is_empty(), "{name}: {in_cycles:?}");
    }
}

#[test]
fn every_invariant_in_the_architecture_names_its_check() {
    let text = read_to_string(root().join("../ARCHITECTURE.md")).expect("the architecture");
    let invariants = text.split("\n## Invariants\n").nth(1).expect("the invariants");
    let invariants = invariants.split("\n## ").next().unwrap_or_default();
    let mut count = 0;
    for invariant in invariants.split("\n\n").filter(|it| it.starts_with(char::is_numeric)) {
        count += 1;
        let (_, checks) = invariant.split_once("Check:").unwrap_or_else(|| panic!("{invariant}"));
        for path in checks.split('`').skip(1).step_by(2).filter(|it| it.contains('/')) {
            assert!(root().join("..").join(path).exists(), "{path}: not there");
        }
    }
    assert!(count >= 12, "{count}");
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn sources(folder: &Path) -> Vec<PathBuf> {
    let entries = read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path());
    let below = entries.flat_map(|path| if path.is_dir() { sources(&path) } else { vec![path] });
    below.filter(|path| path.extension().is_some_and(|it| it == "rs")).collect()
}

/// A source without its tests.
fn own(path: &Path) -> TokenStream {
    let is_test = |part: &str| ["tests", "tests.rs", "harness", "harness.rs"].contains(&part);
    if path.components().any(|part| part.as_os_str().to_str().is_some_and(is_test)) {
        return TokenStream::new();
    }
    let text = read_to_string(path).expect("a source");
    text.split("#[cfg(test)]\nmod ").next().unwrap_or_default().parse().expect("Rust")
}

fn names(source: TokenStream) -> Vec<String> {
    let names = source.into_iter().flat_map(|token| match token {
        TokenTree::Group(group) => names(group.stream()),
        TokenTree::Ident(name) => vec![name.to_string()],
        TokenTree::Literal(_) | TokenTree::Punct(_) => vec![],
    });
    names.collect()
}

/// Which top modules use which, by their `crate::` paths.
fn uses(folder: &Path) -> BTreeMap<String, BTreeSet<String>> {
    let mut uses: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for path in sources(folder) {
        let below = path.strip_prefix(folder).expect("below the folder");
        let top = below.iter().next().and_then(|it| it.to_str()).unwrap_or_default();
        let module = top.trim_end_matches(".rs").to_owned();
        let used = uses.entry(module).or_default();
        used.extend(paths(own(&path)));
    }
    uses.remove("lib");
    uses.remove("main");
    let modules: BTreeSet<_> = uses.keys().cloned().collect();
    for (module, used) in &mut uses {
        used.retain(|it| modules.contains(it) && it != module);
    }
    uses
}

/// The names behind `crate::`.
fn paths(source: TokenStream) -> Vec<String> {
    let tokens: Vec<_> = source.into_iter().collect();
    let mut found = Vec::new();
    for (at, token) in tokens.iter().enumerate() {
        match (token, tokens.get(at + 3)) {
            (TokenTree::Ident(name), Some(TokenTree::Ident(module))) if name == "crate" => {
                found.push(module.to_string());
            }
            (TokenTree::Ident(name), Some(TokenTree::Group(group))) if name == "crate" => {
                found.extend(names(group.stream()));
            }
            (TokenTree::Group(group), _) => found.extend(paths(group.stream())),
            _ => {}
        }
    }
    found
}

fn reached(uses: &BTreeMap<String, BTreeSet<String>>, from: &str) -> BTreeSet<String> {
    let mut reached = BTreeSet::new();
    let mut next: Vec<_> = uses[from].iter().cloned().collect();
    while let Some(module) = next.pop() {
        if reached.insert(module.clone()) {
            next.extend(uses.get(&module).into_iter().flatten().cloned());
        }
    }
    reached
}
