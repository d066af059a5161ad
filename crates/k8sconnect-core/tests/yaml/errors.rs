//! What is wrong with a text, and where.

use k8sconnect_core::yaml::{
    KeyKind, Position, SyntaxProblem as P, YamlErrorKind as Kind, parse_stream,
};

/// Line, column and kind of the first thing that is wrong.
fn error(text: &str) -> (usize, usize, Kind) {
    let error = parse_stream(text).expect_err("this text is wrong");
    (error.position.line, error.position.column, error.kind)
}

fn duplicate(key: &str, line: usize, column: usize) -> Kind {
    Kind::DuplicateKey { key: key.to_owned(), first: Position { line, column } }
}

#[test]
fn names_both_places_of_a_duplicate_key() {
    let text = "kind: Pod\nspec:\n  image: a\n  port: 1\n  image: b\n";
    assert_eq!(error(text), (5, 3, duplicate("image", 3, 3)));
}

#[test]
fn reports_the_first_of_several_duplicate_keys() {
    assert_eq!(error("b: 1\nb: 2\na: 1\na: 2\n"), (2, 1, duplicate("b", 1, 1)));
}

#[test]
fn counts_lines_through_the_whole_stream() {
    assert_eq!(error("a: 1\n---\n# x\n---\nb: 1\nb: 2\n"), (6, 1, duplicate("b", 5, 1)));
}

#[test]
fn counts_columns_in_characters() {
    assert_eq!(error("{é: 1, é: 2}\n"), (1, 8, duplicate("é", 1, 2)));
}

#[test]
fn refuses_a_merge_after_the_key_that_it_would_overwrite() {
    let first = Position { line: 3, column: 3 };
    let kind = Kind::MergedKeyConflict { key: "p".to_owned(), first };
    assert_eq!(error("a: &x {p: 1}\nb:\n  p: 9\n  <<: *x\n"), (4, 3, kind));
}

#[test]
fn refuses_a_merge_of_something_that_is_no_mapping() {
    assert_eq!(error("b:\n  <<: 5\n"), (2, 7, Kind::MergeWithoutMapping));
}

#[test]
fn an_alias_without_an_anchor_is_placed_and_never_quoted() {
    assert_eq!(error("a: &base 1\n---\nb: *base\n"), (3, 4, Kind::UnknownAnchor));
    let error = parse_stream("password: *hunter2\n").unwrap_err();
    assert!(!format!("{error:?}").contains("hunter2"), "{error:?}");
}

#[test]
fn refuses_a_value_that_contains_itself() {
    assert_eq!(error("a: &loop\n  b:\n  - *loop\n"), (3, 5, Kind::AliasOfItself));
}

#[test]
fn refuses_numbers_that_json_cannot_hold() {
    for (text, column) in
        [("a: .inf\n", 4), ("a: -.INF\n", 4), ("a: .nan\n", 4), ("a: !!float .NaN\n", 12)]
    {
        assert_eq!(error(text), (1, column, Kind::NotFinite), "{text}");
    }
}

#[test]
fn says_which_tag_does_not_fit_without_showing_the_value() {
    assert_eq!(error("password: !!int hunter2\n"), (1, 17, Kind::BadTag { tag: "!!int" }));
}

#[test]
fn says_what_a_key_is_that_cannot_be_a_key() {
    for (text, line, column, found) in [
        ("? [a]\n: 1\n", 1, 3, KeyKind::Sequence),
        ("a:\n  b: {{ .Values.x }}\n", 2, 7, KeyKind::Mapping),
        ("~: 1\n", 1, 1, KeyKind::Null),
        ("18446744073709551615: 1\n", 1, 1, KeyKind::HugeInteger),
    ] {
        assert_eq!(error(text), (line, column, Kind::NonStringKey { found }), "{text}");
    }
}

#[test]
fn refuses_a_line_break_that_readers_disagree_about() {
    let kind = Kind::ForeignLineBreak { character: '\u{2028}' };
    assert_eq!(error("a: x\u{2028}y\n"), (1, 4, kind));
}

#[test]
fn refuses_an_anchor_whose_name_ends_elsewhere_for_another_reader() {
    assert_eq!(error("a: &x? # & y\n  b: 1\n"), (1, 4, Kind::AnchorName { character: '?' }));
    for text in ["a: &b?? \n", "[&a.b c]", "&a/b\n- c\n", "{x: !!str &ü v}", "? &a! b\n: c\n"] {
        assert!(matches!(error(text).2, Kind::AnchorName { .. }), "{text}");
    }
    for text in
        ["a: &b-1_c x # &d? e\nf: [*b-1_c , &e {g: '&h?'}]\n", "&a !x&y? b\n", "# &x? y\n&z a\n"]
    {
        assert!(parse_stream(text).is_ok(), "{text}");
    }
}

#[test]
fn refuses_marks_that_readers_disagree_about() {
    assert_eq!(error("args: [?x]\n"), (1, 8, Kind::AmbiguousMark { mark: '?' }));
    assert_eq!(error("args: [-c, echo x:]\n"), (1, 12, Kind::AmbiguousMark { mark: ':' }));
}

#[test]
fn sorts_what_is_wrong_with_the_syntax() {
    for (text, line, column, problem) in [
        ("a: [1, 2\n", 1, 4, P::Brackets),
        ("a: [1}\n", 1, 4, P::Brackets),
        ("a: ]\n", 1, 4, P::Brackets),
        ("a: {b: 1 c: 2}\n", 1, 11, P::Brackets),
        ("a: \"x\nb: 1\n", 2, 1, P::UnclosedQuote),
        ("a: \"x\n", 2, 1, P::UnclosedQuote),
        ("a: \"x\n---\ny\"\n", 2, 1, P::UnclosedQuote),
        ("a: 'x' y\n", 1, 8, P::TextAfterQuote),
        ("a:\n\tb: 1\n", 2, 2, P::Tab),
        ("a:\n    b: 1\n  c: 2\n", 3, 3, P::Indentation),
        ("- a\nb: 1\n", 2, 1, P::Indentation),
        ("{a: 1}\nb: 2\n", 2, 1, P::Indentation),
        ("a: 1\nb\n", 2, 1, P::MissingColon),
        ("a: b: c\n", 1, 5, P::UnexpectedColon),
        ("a: 1\n b: 2\n", 2, 3, P::UnexpectedColon),
        ("a: - b\n", 1, 4, P::UnexpectedListItem),
        ("a: \"\\q\"\n", 1, 4, P::Escape),
        ("a: 'x'#y\n", 1, 7, P::Comment),
        ("a: |x\n  y\n", 1, 4, P::BlockScalar),
        ("a: |\n      \n  x\n", 3, 3, P::BlockScalar),
        ("%YAML 2.0\n---\na: 1\n", 1, 1, P::Directive),
        ("a: !e!x 5\n", 1, 4, P::Tag),
        ("a: & 1\n", 1, 4, P::Anchor),
        ("a: @x\n", 1, 4, P::Character('@')),
        ("a: x\u{1}y\n", 1, 4, P::Character('\u{1}')),
        ("a: 1\n\u{feff}b: 2\n", 2, 1, P::Character('\u{feff}')),
        ("a: [1,,2]\n", 1, 7, P::Other),
    ] {
        assert_eq!(error(text), (line, column, Kind::Syntax(problem)), "{text}");
    }
}
