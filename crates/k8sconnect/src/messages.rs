//! Every sentence that a user can read.
//!
//! A message says what happened (the summary, which names the object: Terraform merges equal
//! summaries), why, and what to do next. Literals stand in backticks. Lines that must not be
//! wrapped are indented. No secret is ever quoted.

pub(crate) mod addresses;
pub(crate) mod blast;
pub(crate) mod body;
pub(crate) mod cluster_identity;
pub(crate) mod connection;
pub(crate) mod data;
pub(crate) mod deletion;
pub(crate) mod documents;
pub(crate) mod ephemeral;
mod excerpt;
pub(crate) mod function;
pub(crate) mod import;
pub(crate) mod interrupted;
pub(crate) mod manifest;
pub(crate) mod object;
pub(crate) mod ownership;
pub(crate) mod patch;
pub(crate) mod refusal;
pub(crate) mod replacement;
pub(crate) mod served;
pub(crate) mod state;
pub(crate) mod stuck;
pub(crate) mod swallowed;
pub(crate) mod terms;
pub(crate) mod unread;
pub(crate) mod upgrade;
pub(crate) mod wait;
mod yaml;

use std::collections::BTreeSet;
use std::time::Duration;

use excerpt::{by_turns, one_line};
use k8sconnect_cluster::file::Unreadable;
pub(crate) use k8sconnect_core::projection::ABSENT;
use k8sconnect_core::scrub::{Secrets, Sensitive};

/// Stands in place of a server's message that must not be shown.
const WITHHELD: &str = "(the server's message is not shown: it may contain a hidden value)";

/// A server's message about an object with these secrets, as far as it may be shown.
pub(crate) fn quoted(secrets: &Secrets, message: &str) -> String {
    secrets.shown(message).unwrap_or_else(|| WITHHELD.to_owned())
}

/// A name, a path, an address or a command as it is quoted, unless it may be a credential.
fn named(text: &str) -> String {
    match Sensitive::of(text) {
        Some(kind) => format!("(not shown: it looks like {})", looks_like(kind)),
        // A line break at the end would not be seen.
        None if text.contains(char::is_control) => format!("`{}`", text.escape_debug()),
        None => format!("`{text}`"),
    }
}

fn looks_like(kind: Sensitive) -> &'static str {
    match kind {
        Sensitive::Pem => "a certificate or a key",
        Sensitive::Document => "the text of a file",
        Sensitive::Token => "a token",
        Sensitive::Scrambled => "a credential",
    }
}

/// Why a file cannot be read, as a clause.
fn unreadable(cause: &Unreadable) -> String {
    match cause {
        Unreadable::System { words, .. } => words.clone(),
        Unreadable::Directory => "it is a directory".to_owned(),
        Unreadable::NotRegular => "it is not a regular file".to_owned(),
        Unreadable::Empty => "it is empty".to_owned(),
        Unreadable::TooLarge { limit } => format!("it has more than {} MiB", limit >> 20),
        Unreadable::NotText => "it is not text in UTF-8".to_owned(),
    }
}

/// Sentences in a row.
fn joined(sentences: &[&str]) -> String {
    let sentences: Vec<_> = sentences.iter().filter(|it| !it.is_empty()).copied().collect();
    sentences.join(" ")
}

/// Of the server's words, so much is shown of their beginning and of their end.
const LONGEST_WORDS: usize = 150;

/// What the server said, on one line. It may quote a whole object, and gives its reason last.
fn in_brief(words: &str) -> String {
    let escaped = without_picture(words).replace('\n', "\\n");
    let length = escaped.chars().count();
    if length <= 2 * LONGEST_WORDS {
        return escaped;
    }
    let start: String = escaped.chars().take(LONGEST_WORDS).collect();
    let end: String = escaped.chars().skip(length - LONGEST_WORDS).collect();
    format!("{start} … ({} characters) … {end}", length - 2 * LONGEST_WORDS)
}

/// The server's words without a picture of what differs, line by line in the types of its own
/// program, as it adds for a claim.
fn without_picture(words: &str) -> String {
    let words = words.trim();
    let Some((first, rest)) = words.split_once('\n') else {
        return words.to_owned();
    };
    let marked = |marks: &'static [char]| move |line: &str| line.starts_with(marks);
    let pictured = rest.lines().all(marked(&[' ', '\u{a0}', '+', '-', '@']))
        && rest.lines().any(marked(&['+', '-']));
    match pictured {
        true => format!("{first} … ({})", count(rest.lines().count(), "more line")),
        false => words.to_owned(),
    }
}

/// Paragraphs of a detail, with an empty line between.
fn paragraphs<const N: usize>(parts: [&str; N]) -> String {
    parts.iter().filter(|part| !part.is_empty()).copied().collect::<Vec<_>>().join("\n\n")
}

/// A problem, as a clause without a full stop, and what to do about it.
type Explained = (String, &'static str);

/// How many problems are listed: the first usually explain the rest.
const MOST_PROBLEMS: usize = 20;

/// A list of problems, and each advice once.
fn problems(found: impl Iterator<Item = Explained>) -> String {
    let (mut lines, mut advice): (Vec<_>, Vec<_>) =
        found.map(|(problem, advice)| (format!("  - {problem}"), advice)).unzip();
    let all = count(lines.len(), "problem");
    if lines.len() > MOST_PROBLEMS {
        lines.push(format!("  - and {} more", lines.len() - MOST_PROBLEMS));
        lines.drain(MOST_PROBLEMS..lines.len() - 1);
    }
    let mut said = BTreeSet::new();
    advice.retain(|one| said.insert(*one));
    paragraphs([&format!("{all} found:\n{}", lines.join("\n")), &advice.join("\n\n")])
}

/// `10 minutes`, `90 seconds`, as a clock would be read.
fn span(time: Duration) -> String {
    match time.as_secs() {
        seconds if seconds >= 60 && seconds % 60 == 0 => count(seconds as usize / 60, "minute"),
        seconds => count(seconds as usize, "second"),
    }
}

/// `1 field`, `2 fields`, `2 entries`.
fn count(n: usize, one: &str) -> String {
    match one.strip_suffix('y') {
        _ if n == 1 => format!("1 {one}"),
        Some(stem) => format!("{n} {stem}ies"),
        None => format!("{n} {one}s"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_servers_reason_outlasts_the_value_that_it_quotes() {
        let words = format!("Invalid value: {{{}}}: field is immutable", "x".repeat(2000));
        let told = in_brief(&words);
        assert!(told.starts_with("Invalid value: {x") && told.ends_with("}: field is immutable"));
        assert!(told.chars().count() < 400);
        assert_eq!(in_brief("short"), "short");
    }

    #[test]
    fn lines_that_only_show_a_difference_are_counted_and_not_quoted() {
        let words = "Forbidden: spec is immutable\n  core.Spec{\n- \ta: 1,\n+ \ta: 2,\n  }\n";
        assert_eq!(in_brief(words), "Forbidden: spec is immutable … (4 more lines)");
        let policy = "denied\n\npolicy:\n  - rule";
        assert_eq!(in_brief(policy), policy.replace('\n', "\\n"));
    }

    #[test]
    fn a_span_is_told_in_minutes_where_they_are_whole() {
        let told = [1, 60, 90, 300, 600].map(|seconds| span(Duration::from_secs(seconds)));
        assert_eq!(told, ["1 second", "1 minute", "90 seconds", "5 minutes", "10 minutes"]);
    }
}

#[cfg(test)]
mod snapshot;
