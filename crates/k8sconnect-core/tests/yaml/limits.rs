//! What a small text may become: aliases and nesting are bounded, honest use is not hindered.

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use k8sconnect_core::yaml::{NESTING_LIMIT, YamlErrorKind, documents, parse_stream};

#[test]
fn takes_two_thousand_uses_of_one_anchor() {
    let mut text = String::from("base: &base {a: 1, b: [x, z]}\nuses:\n");
    for _ in 0..2000 {
        text.push_str("- *base\n");
    }
    let documents = parse_stream(&text).unwrap();
    let uses = documents[0].value["uses"].as_array().unwrap();
    assert_eq!(uses.len(), 2000);
    assert_eq!(uses[1999]["b"][1], "z");
}

#[test]
fn takes_two_thousand_merges_of_one_anchor() {
    let mut text = String::from("base: &base {a: 1, b: 2}\nuses:\n");
    for n in 0..2000 {
        let _ = writeln!(text, "- <<: *base\n  id: {n}");
    }
    assert_eq!(parse_stream(&text).unwrap()[0].value["uses"][1999]["id"], 1999);
}

#[test]
fn refuses_an_alias_bomb_at_once() {
    let mut text = String::from("a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n");
    for level in 1..=9 {
        let below = format!("*a{}, ", level - 1).repeat(9);
        let _ = writeln!(text, "a{level}: &a{level} [{below} x]");
    }
    let start = Instant::now();
    assert_eq!(parse_stream(&text).unwrap_err().kind, YamlErrorKind::AliasBomb);
    assert!(start.elapsed() < Duration::from_secs(5), "{:?}", start.elapsed());
}

#[test]
fn refuses_an_alias_bomb_made_of_merges() {
    let mut text = String::from("a0: &a0 {k: 1}\n");
    for level in 1..=9 {
        let _ = writeln!(text, "a{level}: &a{level}");
        for n in 0..9 {
            let _ = writeln!(text, "  k{n}: {{<<: *a{}}}", level - 1);
        }
    }
    assert_eq!(parse_stream(&text).unwrap_err().kind, YamlErrorKind::AliasBomb);
}

#[test]
fn refuses_one_long_text_repeated_by_aliases() {
    let text = format!("a: &a {}\nb: [{}]\n", "x".repeat(1 << 20), "*a , ".repeat(100));
    assert_eq!(parse_stream(&text).unwrap_err().kind, YamlErrorKind::AliasBomb);
}

#[test]
fn refuses_bombs_spread_over_many_documents() {
    let bomb = format!("a: &a [{}]\nb: [{}]\n", "x, ".repeat(500), "*a , ".repeat(90));
    assert_eq!(parse_stream(&bomb).unwrap().len(), 1);
    let text = format!("{bomb}---\n").repeat(100);
    assert_eq!(parse_stream(&text).unwrap_err().kind, YamlErrorKind::AliasBomb);
}

fn lists(depth: usize) -> String {
    format!("{}{}", "[".repeat(depth), "]".repeat(depth))
}

#[test]
fn takes_nesting_up_to_the_limit_and_no_deeper() {
    assert_eq!(parse_stream(&lists(NESTING_LIMIT)).unwrap().len(), 1);
    let error = parse_stream(&lists(NESTING_LIMIT + 1)).unwrap_err();
    assert_eq!((error.position.line, error.position.column), (1, 513));
    assert_eq!(error.kind, YamlErrorKind::TooDeep);
    for deep in ["- ".repeat(600), "[".repeat(100_000), "{a: ".repeat(100_000), "? ".repeat(600)] {
        assert_eq!(parse_stream(&deep).unwrap_err().kind, YamlErrorKind::TooDeep);
    }
}

#[test]
fn takes_block_nesting_up_to_the_limit() {
    let mut text = String::new();
    for depth in 0..NESTING_LIMIT {
        let _ = writeln!(text, "{}k:", " ".repeat(depth));
    }
    assert_eq!(parse_stream(&text).unwrap().len(), 1);
    let _ = writeln!(text, "{}k:", " ".repeat(NESTING_LIMIT));
    assert_eq!(parse_stream(&text).unwrap_err().kind, YamlErrorKind::TooDeep);
}

#[test]
fn counts_the_depth_that_aliases_add() {
    let inner = format!("{}x{}", "[".repeat(300), "]".repeat(300));
    let outer = |depth: usize| format!("{}*a {}", "[".repeat(depth), "]".repeat(depth));
    let text = |depth| format!("a: &a {inner}\nb: {}\n", outer(depth));
    assert!(parse_stream(&text(211)).is_ok());
    assert_eq!(parse_stream(&text(212)).unwrap_err().kind, YamlErrorKind::TooDeep);
}

#[test]
fn leaves_out_documents_in_which_nothing_is_written() {
    let text = "# only a comment\n---\n---\n  \n---\na: 1\n---\n# x\n...\n---\nb: 2\n---\n";
    let values: Vec<_> = parse_stream(text).unwrap().into_iter().map(|d| d.value).collect();
    assert_eq!(values, [serde_json::json!({"a": 1}), serde_json::json!({"b": 2})]);
    assert!(parse_stream("").unwrap().is_empty());
}

#[test]
fn keeps_a_document_in_which_null_is_written() {
    assert_eq!(parse_stream("--- null\n").unwrap()[0].value, serde_json::Value::Null);
}

#[test]
fn hands_out_documents_up_to_the_first_that_is_wrong() {
    let mut documents = documents("a: 1\n---\nb: [\n---\nc: 1\n").unwrap();
    assert_eq!(documents.next().unwrap().unwrap().value["a"], 1);
    assert!(documents.next().unwrap().is_err());
    assert!(documents.next().is_none());
}
