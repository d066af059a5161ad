//! JSON objects that stand one after the other, with nothing between them: what programs write, and
//! `kubectl` reads, though it is no YAML.

use serde::de::IgnoredAny;
use serde_json::Deserializer;

/// A stretch of a text that can be read by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Part<'t> {
    pub(super) text: &'t str,
    /// How many lines of the whole text come before it.
    pub(super) lines_before: usize,
}

/// The objects of a text that holds several and nothing else; any other text is one part.
pub(super) fn parts(text: &str) -> Vec<Part<'_>> {
    values(text).unwrap_or_else(|| vec![Part { text, lines_before: 0 }])
}

fn values(text: &str) -> Option<Vec<Part<'_>>> {
    if !text.trim_start().starts_with('{') {
        return None;
    }
    let mut values = Deserializer::from_str(text).into_iter::<IgnoredAny>();
    let (mut parts, mut start, mut lines_before) = (Vec::new(), 0, 0);
    while let Some(value) = values.next() {
        value.ok()?;
        let end = values.byte_offset();
        let part = &text[start..end];
        parts.push(Part { text: part, lines_before });
        lines_before += part.matches('\n').count();
        start = end;
    }
    (parts.len() > 1).then_some(parts)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn objects_in_a_row_are_told_from_yaml_that_begins_alike() {
        let row = parts("{\"a\": 1}\n\n{\"b\": {\n}}{}\n");
        let row: Vec<_> = row.iter().map(|it| (it.text.trim(), it.lines_before)).collect();
        assert_eq!(row, [("{\"a\": 1}", 0), ("{\"b\": {\n}}", 0), ("{}", 3)]);
        for one in ["{\"a\": 1}\n", "{a: 1}", "{\"a\": 1}\n---\n{\"b\": 1}", "a: {}", "", "{"] {
            assert_eq!(parts(one), [Part { text: one, lines_before: 0 }]);
        }
    }
}
