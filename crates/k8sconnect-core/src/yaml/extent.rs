//! Which part of a text is one document's own.
//!
//! Between two documents stands a `---` at the beginning of a line, or a `...`; neither can stand
//! there inside of a document. What lies before the mark belongs to the document above, comments
//! included. Directives (`%TAG`) belong to the document below, with the mark that ends them.

/// What ends a line; a `\r\n` ends two, of which the second is empty.
const BREAKS: [char; 2] = ['\n', '\r'];

/// Where a document's text ends, and where the text behind it begins.
pub(super) struct End {
    pub(super) at: usize,
    pub(super) next: usize,
}

/// The start of the document whose `---` stands at `mark`; `behind` is the end of the one before.
pub(super) fn start(text: &str, behind: usize, mark: usize) -> usize {
    let gap = text.get(behind..mark).unwrap_or_default();
    match lines(gap).find(|(_, line)| line.starts_with('%')) {
        Some((at, _)) => behind + at,
        None => after_mark(text, mark),
    }
}

/// The end of the document whose last node ends at `content` or before.
pub(super) fn end(text: &str, content: usize) -> End {
    // The mark may stand right where the content ends, at the start of a line.
    let line = text[..content].rfind(BREAKS).map_or(0, |at| at + 1);
    let found = lines(&text[line..]).map(|(at, found)| (line + at, found));
    for (at, found) in found.filter(|(at, _)| *at >= content) {
        if is_mark(found, "---") {
            return End { at, next: at };
        }
        if is_mark(found, "...") {
            return End { at, next: after_mark(text, at) };
        }
    }
    End { at: text.len(), next: text.len() }
}

/// What follows the mark: on its own line, if anything stands there, else below.
fn after_mark(text: &str, mark: usize) -> usize {
    let start = mark + "---".len();
    let rest = &text[start..];
    let blank: usize = lines(rest).map(|(_, line)| line).take_while(is_blank).map(str::len).sum();
    let indent = match blank {
        0 => rest.len() - rest.trim_start().len(),
        _ => 0,
    };
    start + blank + indent
}

fn is_blank(line: &&str) -> bool {
    line.trim().is_empty()
}

fn is_mark(line: &str, mark: &str) -> bool {
    line.strip_prefix(mark)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with(char::is_whitespace))
}

/// Each line with where it begins, its line break included.
fn lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    text.split_inclusive(BREAKS).scan(0, |at, line| {
        let start = *at;
        *at += line.len();
        Some((start, line))
    })
}
