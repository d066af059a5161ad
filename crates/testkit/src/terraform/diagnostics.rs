//! What a tool shows its user as warnings and errors, one by one and line by line.
//!
//! Without colours the tool prints nothing where a diagnostic ends, and a detail has empty lines
//! too. With colours each diagnostic stands in a box of its own, so that it can be counted.

/// One box: similar warnings that the tool has folded into one are one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diagnostic {
    pub severity: Severity,
    pub summary: String,
    /// As printed, without the box: the summary, where it is, and the detail.
    pub lines: Vec<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Severity {
    Warning,
    Error,
}

impl Severity {
    /// What begins the first line.
    fn word(self) -> &'static str {
        match self {
            Self::Warning => "Warning: ",
            Self::Error => "Error: ",
        }
    }
}

/// The diagnostics of a command, in the order in which they were printed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diagnostics(Vec<Diagnostic>);

impl Diagnostics {
    /// From all that a command printed with colours.
    pub(super) fn of(text: &str) -> Self {
        let text = without_colours(text);
        let mut found = Vec::new();
        let mut open: Option<Vec<String>> = None;
        for line in text.lines() {
            match (line.trim_end(), &mut open) {
                ("╷", _) => open = Some(Vec::new()),
                ("╵", _) => found.extend(open.take().and_then(one)),
                (inside, Some(lines)) => {
                    let inside = inside.strip_prefix('│').unwrap_or(inside);
                    lines.push(inside.strip_prefix(' ').unwrap_or(inside).to_owned());
                }
                (_, None) => {}
            }
        }
        Self(found)
    }

    pub fn all(&self) -> &[Diagnostic] {
        &self.0
    }

    pub fn warnings(&self) -> impl Iterator<Item = &Diagnostic> {
        self.0.iter().filter(|one| one.severity == Severity::Warning)
    }

    /// How many lines all of them take, without their boxes.
    pub fn lines(&self) -> usize {
        self.0.iter().map(|one| one.lines.len()).sum()
    }
}

fn one(lines: Vec<String>) -> Option<Diagnostic> {
    let first = lines.first()?;
    let (severity, summary) = [Severity::Warning, Severity::Error]
        .into_iter()
        .find_map(|severity| Some((severity, first.strip_prefix(severity.word())?)))?;
    Some(Diagnostic { severity, summary: summary.to_owned(), lines: lines.clone() })
}

/// Escape sequences that set colours go: `ESC [ … m`.
pub(super) fn without_colours(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut parts = text.split("\u{1b}[");
    plain.push_str(parts.next().unwrap_or_default());
    for part in parts {
        plain.push_str(part.split_once('m').map_or(part, |(_, rest)| rest));
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    const PRINTED: &str = "\u{1b}[0m\u{1b}[1mPlan:\u{1b}[0m 1 to add
\u{1b}[33m╷\u{1b}[0m\u{1b}[0m
\u{1b}[33m│\u{1b}[0m \u{1b}[0m\u{1b}[1m\u{1b}[33mWarning: \u{1b}[0m\u{1b}[0m\u{1b}[1mIt is late\u{1b}[0m
\u{1b}[33m│\u{1b}[0m \u{1b}[0m
\u{1b}[33m│\u{1b}[0m \u{1b}[0mGo home.
\u{1b}[33m│\u{1b}[0m \u{1b}[0m
\u{1b}[33m│\u{1b}[0m \u{1b}[0m(and one more similar warning elsewhere)
\u{1b}[33m╵\u{1b}[0m\u{1b}[0m
Saved the plan
\u{1b}[31m╷\u{1b}[0m\u{1b}[0m
\u{1b}[31m│\u{1b}[0m \u{1b}[0m\u{1b}[1m\u{1b}[31mError: \u{1b}[0m\u{1b}[0m\u{1b}[1mThe door is shut\u{1b}[0m
\u{1b}[31m╵\u{1b}[0m\u{1b}[0m
";

    #[test]
    fn each_box_is_one_diagnostic_with_the_lines_that_are_in_it() {
        let shown = Diagnostics::of(PRINTED);
        let summaries: Vec<_> =
            shown.all().iter().map(|one| (one.severity, one.summary.as_str())).collect();
        let expected = [(Severity::Warning, "It is late"), (Severity::Error, "The door is shut")];
        assert_eq!(summaries, expected);
        let similar = "(and one more similar warning elsewhere)";
        let warning = shown.warnings().next().unwrap();
        assert_eq!(warning.lines, ["Warning: It is late", "", "Go home.", "", similar]);
        assert_eq!((shown.warnings().count(), shown.lines()), (1, 6));
    }

    #[test]
    fn nothing_is_read_from_what_has_no_box() {
        assert_eq!(Diagnostics::of("Warning: in an output").all(), []);
        assert_eq!(without_colours(PRINTED).lines().next().unwrap(), "Plan: 1 to add");
    }
}
