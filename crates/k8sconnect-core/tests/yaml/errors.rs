//! What a user reads when the text is wrong: place, reason, remedy.

use k8sconnect_core::yaml::{Position, YamlErrorKind, parse_stream};

fn message(text: &str) -> String {
    parse_stream(text).expect_err("this text is wrong").to_string()
}

#[test]
fn names_both_places_of_a_duplicate_key() {
    let error = parse_stream("kind: Pod\nspec:\n  image: a\n  port: 1\n  image: b\n").unwrap_err();
    assert_eq!(error.position, Position { line: 5, column: 3 });
    let first = Position { line: 3, column: 3 };
    assert_eq!(error.kind, YamlErrorKind::DuplicateKey { key: "image".into(), first });
    assert_eq!(
        error.to_string(),
        "line 5, column 3: the key `image` is given twice in one mapping, first at line 3, column \
         3. Only one of the two values can count, and tools do not agree which. Remove or rename \
         one."
    );
}

#[test]
fn reports_the_first_of_several_duplicate_keys() {
    assert!(message("b: 1\nb: 2\na: 1\na: 2\n").starts_with("line 2, column 1: the key `b`"));
}

#[test]
fn counts_lines_through_the_whole_stream() {
    assert!(message("a: 1\n---\n# x\n---\nb: 1\nb: 2\n").starts_with("line 6, column 1: "));
}

#[test]
fn counts_columns_in_characters() {
    assert!(message("{é: 1, é: 2}\n").starts_with("line 1, column 8: "));
}

#[test]
fn refuses_a_merge_after_the_key_that_it_would_overwrite() {
    assert_eq!(
        message("a: &x {p: 1}\nb:\n  p: 9\n  <<: *x\n"),
        "line 4, column 3: this `<<` brings in the key `p`, which the same mapping already has at \
         line 3, column 3. Which value counts differs from tool to tool. Put the `<<` before the \
         keys that are to override it."
    );
}

#[test]
fn refuses_a_merge_of_something_that_is_no_mapping() {
    assert_eq!(
        message("b:\n  <<: 5\n"),
        "line 2, column 7: the value of `<<` must be a mapping or a list of mappings. Give it an \
         alias of a mapping, such as `<<: *defaults`, or quote the key if no merge is meant."
    );
}

#[test]
fn an_alias_without_an_anchor_is_placed_and_never_quoted() {
    assert_eq!(
        message("a: &base 1\n---\nb: *base\n"),
        "line 3, column 4: this value begins with `*`, which makes it an alias, and there is no \
         anchor `&` of that name before it in this document; anchors do not reach into the next \
         document. Define it first, or quote the value if it is text."
    );
    let error = parse_stream("password: *hunter2\n").unwrap_err();
    assert!(!format!("{error} {error:?}").contains("hunter2"), "{error:?}");
}

#[test]
fn refuses_a_value_that_contains_itself() {
    assert_eq!(
        message("a: &loop\n  b:\n  - *loop\n"),
        "line 3, column 5: this alias stands inside of what its anchor names, so the value would \
         never end. Refer to something that is complete before this line."
    );
}

#[test]
fn refuses_numbers_that_json_cannot_hold() {
    for text in ["a: .inf\n", "a: -.INF\n", "a: .nan\n", "a: !!float .NaN\n"] {
        assert_eq!(parse_stream(text).unwrap_err().kind, YamlErrorKind::NotFinite, "{text}");
    }
    assert_eq!(
        message("a: .inf\n"),
        "line 1, column 4: infinity and not-a-number cannot be sent to Kubernetes, since JSON has \
         no such numbers. Quote the value if it is text, or give a number."
    );
}

#[test]
fn says_which_tag_does_not_fit_without_showing_the_value() {
    assert_eq!(
        message("password: !!int hunter2\n"),
        "line 1, column 17: the value is tagged `!!int` but cannot be read as that. Correct the \
         value or remove the tag."
    );
}

#[test]
fn says_what_a_key_is_that_cannot_be_a_key() {
    assert_eq!(
        message("? [a]\n: 1\n"),
        "line 1, column 3: a key is a list, and a key must be text. If a template left `[…]` \
         here, render it first; otherwise quote the key."
    );
    assert_eq!(
        message("a:\n  b: {{ .Values.x }}\n"),
        "line 2, column 7: a key is a mapping, and a key must be text. If a template left `{{…}}` \
         here, render it first; otherwise quote the key."
    );
    assert_eq!(
        message("~: 1\n"),
        "line 1, column 1: a key is empty or null, and a key must be text. Name the key, or quote \
         it."
    );
    assert_eq!(
        message("18446744073709551615: 1\n"),
        "line 1, column 1: a key is a whole number above 9223372036854775807, which `kubectl` \
         refuses as a key. Quote the key."
    );
}

#[test]
fn refuses_a_line_break_that_readers_disagree_about() {
    assert_eq!(
        message("a: x\u{2028}y\n"),
        "line 1, column 4: this text contains the character U+2028, which `kubectl` takes for the \
         end of the line and others do not. Remove it, or put the text in double quotes and write \
         it as `\\u2028`."
    );
}

#[test]
fn refuses_an_anchor_whose_name_ends_elsewhere_for_another_reader() {
    assert_eq!(
        message("a: &x? # & y\n  b: 1\n"),
        "line 1, column 4: the name of this anchor contains `?`. `kubectl` allows only \
         letters, digits, `-` and `_` in a name, and may take the rest for text. Rename the anchor."
    );
    for text in ["a: &b?? \n", "[&a.b c]", "&a/b\n- c\n", "{x: !!str &ü v}", "? &a! b\n: c\n"] {
        let error = parse_stream(text).unwrap_err();
        assert!(matches!(error.kind, YamlErrorKind::AnchorName { .. }), "{text}: {error}");
    }
    for text in
        ["a: &b-1_c x # &d? e\nf: [*b-1_c , &e {g: '&h?'}]\n", "&a !x&y? b\n", "# &x? y\n&z a\n"]
    {
        assert!(parse_stream(text).is_ok(), "{text}");
    }
}

#[test]
fn refuses_marks_that_readers_disagree_about() {
    assert_eq!(
        message("args: [?x]\n"),
        "line 1, column 8: this text inside of brackets begins with `?`. `kubectl` takes that for \
         the mark of a key, others for a part of the text. Put the text in quotes."
    );
    assert_eq!(
        message("args: [-c, echo x:]\n"),
        "line 1, column 12: the `:` after this text stands right before a bracket or comma. \
         `kubectl` takes it for a part of the text, others for the end of a key. Leave a space \
         after the `:`, or put the text in quotes."
    );
}

#[test]
fn keeps_a_long_or_broken_name_out_of_the_sentence() {
    let long = "k".repeat(500);
    let text = message(&format!("{long}: 1\n{long}: 2\n"));
    assert!(text.contains(&format!("`{}…`", "k".repeat(80))), "{text}");
    assert!(message("\"a\\nb\": 1\n\"a\\nb\": 2\n").contains("the key `a\\nb` is"));
}

#[test]
fn explains_what_is_wrong_with_the_syntax() {
    let expected = [
        ("a: [1, 2\n", "line 1, column 4: `[` is never closed. Add the missing `]` or `}`."),
        ("a: [1}\n", "line 1, column 4: `[` is closed by `}`. Use brackets of one kind."),
        ("a: @x\n", "line 1, column 4: a value cannot begin with `@`. Put the value in quotes."),
        (
            "a: b: c\n",
            "line 1, column 5: a `:` cannot stand here. Put the value in quotes if the `:` \
             belongs to it; if it follows a key, let the keys of one mapping begin in the \
             same column, one to a line.",
        ),
        (
            "a:\n\tb: 1\n",
            "line 2, column 2: a tab stands where YAML allows only spaces. Indent with \
             spaces.",
        ),
        (
            "a: \"x\nb: 1\n",
            "line 2, column 1: this line belongs to a quoted text that is still open, and \
             is not indented enough. Add the missing quote where the text was to end, or \
             indent the line deeper than the key.",
        ),
        (
            "a: \"x\n",
            "line 2, column 1: this line belongs to a quoted text that is still open, and \
             is not indented enough. Add the missing quote where the text was to end, or \
             indent the line deeper than the key.",
        ),
        (
            "a: 1\nb\n",
            "line 2, column 1: this line has no `: ` after a key. Write `key: value`; \
             indent the line if it continues the text above it; leave a space before the \
             `:` if the key is an alias.",
        ),
        (
            "a:\n    b: 1\n  c: 2\n",
            "line 3, column 3: a key was expected here. Let everything that belongs to one \
             mapping or list begin in the same column, and quote text that looks like YAML.",
        ),
        (
            "a: \"\\q\"\n",
            "line 1, column 4: a backslash in this double-quoted text begins no escape that \
             YAML knows. Write `\\\\` for a backslash, or use single quotes.",
        ),
        (
            "a: 'x' y\n",
            "line 1, column 8: something follows the closing quote. Quote the whole value; \
             inside of single quotes write a quote twice, inside of double quotes write \
             `\\\"`.",
        ),
        (
            "{a: 1}\nb: 2\n",
            "line 2, column 1: the document has ended before this, yet something follows. \
             Correct the indentation, or put `---` between two documents.",
        ),
        (
            "a: x\u{1}y\n",
            "line 1, column 4: the control character U+0001 is not allowed in YAML. Remove \
             it, or write it as an escape in double quotes.",
        ),
        (
            "a: - b\n",
            "line 1, column 4: a list item cannot begin here. Put the `- ` on a line of its \
             own, or quote the value if the `-` belongs to it.",
        ),
        (
            "a: |x\n  y\n",
            "line 1, column 4: what follows `|` or `>` is not a block header. Only `-` or \
             `+`, a digit from 1 to 9 and a comment may follow; the text begins on the next \
             line.",
        ),
        (
            "a: !e!x 5\n",
            "line 1, column 4: this tag cannot be read. Remove the tag, or quote the value \
             if the `!` belongs to it.",
        ),
        (
            "%YAML 2.0\n---\na: 1\n",
            "line 1, column 1: this `%` directive cannot be read. Remove the line; \
             Kubernetes needs none.",
        ),
        (
            "a: & 1\n",
            "line 1, column 4: `&` or `*` must be followed by a name. Name the anchor, or \
             quote the value if it is text.",
        ),
        (
            "a: 1\n\u{feff}b: 2\n",
            "line 2, column 1: a byte order mark stands inside of the text. Remove it; it \
             is invisible, and comes from joining files.",
        ),
        (
            "a: {b: 1 c: 2}\n",
            "line 1, column 11: a `,` or `}` is missing here. Separate the entries with \
             commas and close the bracket, quote text that has brackets or commas in it, \
             and render templates such as `{{…}}` first.",
        ),
        (
            "a: 1\n b: 2\n",
            "line 2, column 3: a `:` cannot stand here. Put the value in quotes if the `:` \
             belongs to it; if it follows a key, let the keys of one mapping begin in the \
             same column, one to a line.",
        ),
        (
            "- a\nb: 1\n",
            "line 2, column 1: a list item was expected here. Let everything that belongs \
             to one mapping or list begin in the same column, and quote text that looks \
             like YAML.",
        ),
        (
            "a: 'x'#y\n",
            "line 1, column 7: a `#` stands where a comment cannot begin. Leave a space \
             before the comment and keep it out of multi-line text, or quote the value if \
             the `#` belongs to it.",
        ),
        (
            "a: ]\n",
            "line 1, column 4: this closing bracket closes nothing. Remove it, or put the \
             value in quotes if it is text.",
        ),
        (
            "a: |\n      \n  x\n",
            "line 3, column 3: this line is indented less than the block it belongs to. Indent \
             the lines of the block alike, and leave its blank lines empty.",
        ),
        (
            "a: \"x\n---\ny\"\n",
            "line 2, column 1: this line belongs to a quoted text that is still open, and \
             is not indented enough. Add the missing quote where the text was to end, or \
             indent the line deeper than the key.",
        ),
    ];
    let mut wrong = String::new();
    for (text, words) in expected {
        let found = message(text);
        if found != words {
            wrong.push_str(&format!("({text:?}, {found:?}),\n"));
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}
