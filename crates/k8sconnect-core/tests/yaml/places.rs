//! Where things stand in the text.

use k8sconnect_core::yaml::{Document, Position, Step, keys_read_as_booleans, parse_stream};

use crate::agreement::cases;

fn only(text: &str) -> Document {
    let mut documents = parse_stream(text).expect("a text that can be read");
    assert_eq!(documents.len(), 1);
    documents.remove(0)
}

fn place(document: &Document, path: &[Step<'_>]) -> Option<(usize, usize)> {
    document.position_of(path).map(|Position { line, column }| (line, column))
}

#[test]
fn finds_keys_and_items_whatever_their_order() {
    let text = "\
# a comment
zebra: 1
apple:
  - name: web
    image: x
  - plain
middle: {flow: [1, 2], other: 3}
";
    let document = only(text);
    assert_eq!(document.position, Position { line: 2, column: 1 });
    assert_eq!(place(&document, &[]), Some((2, 1)));
    assert_eq!(place(&document, &["zebra".into()]), Some((2, 1)));
    assert_eq!(place(&document, &["apple".into()]), Some((3, 1)));
    assert_eq!(place(&document, &["apple".into(), 0.into()]), Some((4, 5)));
    assert_eq!(place(&document, &["apple".into(), 0.into(), "image".into()]), Some((5, 5)));
    assert_eq!(place(&document, &["apple".into(), 1.into()]), Some((6, 5)));
    assert_eq!(place(&document, &["middle".into(), "flow".into()]), Some((7, 10)));
    assert_eq!(place(&document, &["middle".into(), "flow".into(), 1.into()]), Some((7, 20)));
    assert_eq!(place(&document, &["middle".into(), "other".into()]), Some((7, 24)));
}

#[test]
fn finds_nothing_where_nothing_is() {
    let document = only("a: [1]\nb: x\n");
    assert_eq!(place(&document, &["c".into()]), None);
    assert_eq!(place(&document, &["a".into(), 1.into()]), None);
    assert_eq!(place(&document, &["a".into(), "x".into()]), None);
    assert_eq!(place(&document, &["b".into(), 0.into()]), None);
}

#[test]
fn counts_from_the_start_of_the_stream() {
    let documents = parse_stream("a: 1\n---\n\nb:\n  c: 1\n").unwrap();
    assert_eq!(documents[1].position, Position { line: 4, column: 1 });
    assert_eq!(place(&documents[1], &["b".into(), "c".into()]), Some((5, 3)));
}

#[test]
fn places_what_an_alias_brings_where_it_was_written() {
    let document = only("a: &x {p: 1}\nb: *x\nc:\n  <<: *x\n  q: 2\n");
    assert_eq!(place(&document, &["b".into()]), Some((2, 1)));
    assert_eq!(place(&document, &["b".into(), "p".into()]), Some((1, 8)));
    assert_eq!(place(&document, &["c".into(), "p".into()]), Some((1, 8)));
    assert_eq!(place(&document, &["c".into(), "q".into()]), Some((5, 3)));
}

#[test]
fn gives_the_line_of_the_nearest_thing_around_a_missing_key() {
    let document = only("kind: Pod\nmetadata:\n  name: x\n");
    assert_eq!(document.line_of(&["metadata", "name"]), 3);
    assert_eq!(document.line_of(&["metadata", "namespace"]), 2);
    assert_eq!(document.line_of(&["spec", "containers"]), 1);
}

#[test]
fn lists_the_keys_that_became_booleans() {
    let text =
        "on: 1\nspec:\n  y: 2\n  \"off\": 3\nother: {true: 4}\nlist:\n- No: 5\n- !!str yes: 6\n";
    let document = only(text);
    assert_eq!(document.value["true"], 1);
    assert_eq!(
        keys_read_as_booleans(&document),
        [
            ("on".to_owned(), Position { line: 1, column: 1 }),
            ("y".to_owned(), Position { line: 3, column: 3 }),
            ("No".to_owned(), Position { line: 7, column: 3 }),
        ]
    );
}

#[test]
fn lists_a_key_once_however_often_it_is_aliased() {
    let document = only("a: &x {on: 1}\nb: *x\nc: {<<: *x}\n");
    assert_eq!(keys_read_as_booleans(&document).len(), 1);
}

#[test]
fn the_extent_of_a_document_reads_alone_as_the_same_document() {
    let odd = [
        "\u{feff}a: 1\n---\nb: 2",
        "a: 1\r---\rb: 2\r",
        "a: 1\r\n---\r\nb: 2\r\n...\r\n",
        "%TAG !e! tag:example.com,2000:\n---\na: !e!x 1\n...\n# between\n%YAML 1.1\n---\nb: 2\n",
        "--- |+\n  a\n\n---\n>-\n  b\n  c\n",
        "--- &a\nx: 1\n--- !!str\n3\n",
        "---\n  a: 1\n  b: 2\n---\n- x\n#---\n- \"--- y\"\n...\n...\nc: 3\n",
    ];
    let texts = cases().iter().map(|case| case.yaml.as_str()).chain(odd);
    let mut read = 0;
    for text in texts {
        for document in parse_stream(text).unwrap_or_default() {
            let own = &text[document.extent.clone()];
            let alone = only(own);
            assert_eq!(alone.value, document.value, "{own:?} of {text:?}");
            read += 1;
        }
    }
    assert!(read > 1000, "only {read} documents were read");
}
