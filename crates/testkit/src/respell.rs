//! The same object, written by somebody else: other key order, comments, quoting, indentation and
//! notation. Whoever reads it as `kubectl` does gets the same value, so a plan must be empty.
//!
//! The order of list items is left alone, for that is meaning. The text depends on the seed alone,
//! so that a failure can be had again.

mod scalar;

use fastrand::Rng;
use serde_json::{Map, Value};

/// Writes `manifest` in a way that `seed` chooses.
pub fn respell(manifest: &Value, seed: u64) -> String {
    let mut rng = Rng::with_seed(seed);
    let habits = Habits {
        step: rng.usize(1..=4),
        list_step: rng.usize(0..=3),
        flow_limit: [0, 3, 8][rng.usize(..3)],
    };
    let mut writer = Writer { rng, habits, out: String::from("# The same, by another hand.\n") };
    if writer.rng.bool() {
        writer.out.push_str("---\n");
    }
    match manifest {
        Value::Object(map) if !map.is_empty() => writer.mapping(map, 0, First::OwnLine),
        Value::Array(items) if !items.is_empty() => writer.sequence(items, 0, First::OwnLine),
        other => {
            writer.flow(other);
            writer.out.push('\n');
        }
    }
    writer.out
}

/// What a hand does throughout a text. Go's YAML takes a step of 1, too.
struct Habits {
    step: usize,
    list_step: usize,
    /// Collections of up to so many scalars may stand in braces.
    flow_limit: usize,
}

struct Writer {
    rng: Rng,
    habits: Habits,
    out: String,
}

/// Where the first entry of a collection goes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum First {
    OwnLine,
    /// Behind the `- ` that is already written.
    Inline,
}

impl Writer {
    fn mapping(&mut self, map: &Map<String, Value>, indent: usize, mut first: First) {
        let mut entries: Vec<_> = map.iter().collect();
        self.rng.shuffle(&mut entries);
        for (key, value) in entries {
            if first == First::OwnLine {
                self.remark(indent);
                self.pad(indent);
            }
            first = First::OwnLine;
            scalar::one_line(&mut self.rng, key, &mut self.out);
            self.out.push(':');
            match value {
                Value::Object(map) if !map.is_empty() && !self.stands_in_flow(value) => {
                    self.end_of_line();
                    self.mapping(map, indent + self.habits.step, First::OwnLine);
                }
                Value::Array(items) if !items.is_empty() && !self.stands_in_flow(value) => {
                    self.end_of_line();
                    self.sequence(items, indent + self.habits.list_step, First::OwnLine);
                }
                other => self.rest_of_line(other, indent),
            }
        }
    }

    fn sequence(&mut self, items: &[Value], indent: usize, mut first: First) {
        for item in items {
            if first == First::OwnLine {
                self.pad(indent);
            }
            first = First::OwnLine;
            // What stands behind the dash sets the column of what follows.
            let gap = self.rng.usize(1..=3);
            self.out.push('-');
            match item {
                Value::Object(map) if !map.is_empty() && !self.stands_in_flow(item) => {
                    self.pad(gap);
                    self.mapping(map, indent + 1 + gap, First::Inline);
                }
                Value::Array(items) if !items.is_empty() && !self.stands_in_flow(item) => {
                    self.pad(gap);
                    self.sequence(items, indent + 1 + gap, First::Inline);
                }
                other => self.rest_of_line(other, indent),
            }
        }
    }

    /// A value that begins on this line, and the line break behind it.
    fn rest_of_line(&mut self, value: &Value, indent: usize) {
        if let Value::String(text) = value
            && scalar::may_be_literal(text)
            && self.rng.u8(..4) > 0
        {
            let step = self.rng.usize(1..=4);
            self.out.push(' ');
            scalar::literal(text, indent, step, &mut self.out);
            return;
        }
        let spaces = self.rng.usize(1..=3);
        self.pad(spaces);
        self.flow(value);
        self.end_of_line();
    }

    /// A value on one line, whatever it is.
    fn flow(&mut self, value: &Value) {
        match value {
            Value::Object(map) => {
                let mut entries: Vec<_> = map.iter().collect();
                self.rng.shuffle(&mut entries);
                self.out.push('{');
                for (position, (key, value)) in entries.into_iter().enumerate() {
                    self.comma(position);
                    scalar::one_line(&mut self.rng, key, &mut self.out);
                    self.out.push_str(": ");
                    self.flow(value);
                }
                self.out.push('}');
            }
            Value::Array(items) => {
                self.out.push('[');
                for (position, item) in items.iter().enumerate() {
                    self.comma(position);
                    self.flow(item);
                }
                self.out.push(']');
            }
            Value::String(text) => scalar::one_line(&mut self.rng, text, &mut self.out),
            Value::Number(number) => scalar::number(&mut self.rng, number, &mut self.out),
            Value::Bool(truth) => scalar::boolean(&mut self.rng, *truth, &mut self.out),
            Value::Null => self.out.push_str(["null", "~", "Null"][self.rng.usize(..3)]),
        }
    }

    fn comma(&mut self, position: usize) {
        if position > 0 {
            self.out.push_str(if self.rng.bool() { ", " } else { " ,  " });
        }
    }

    fn stands_in_flow(&mut self, value: &Value) -> bool {
        fn fits(value: &Value, room: &mut usize) -> bool {
            let mut take = || {
                let left = *room > 0;
                *room = room.saturating_sub(1);
                left
            };
            match value {
                Value::Object(map) => take() && map.values().all(|value| fits(value, room)),
                Value::Array(items) => take() && items.iter().all(|item| fits(item, room)),
                Value::String(text) => take() && text.len() < 60,
                _ => take(),
            }
        }
        let mut room = self.habits.flow_limit;
        fits(value, &mut room) && self.rng.bool()
    }

    fn remark(&mut self, indent: usize) {
        if self.rng.u8(..12) == 0 {
            // A comment may stand anywhere but inside a block of text, which is indented deeper.
            self.pad(indent);
            self.out.push_str("# a remark: {not: yaml} \"\n");
        }
    }

    fn end_of_line(&mut self) {
        if self.rng.u8(..12) == 0 {
            self.out.push_str("   # 'tis so");
        }
        self.out.push('\n');
    }

    fn pad(&mut self, width: usize) {
        self.out.extend(std::iter::repeat_n(' ', width));
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::target::Manifest;

    fn awkward() -> Value {
        json!({
            "apiVersion": "v1", "kind": "Thing",
            "metadata": {"name": "a", "labels": {"app.kubernetes.io/name": "x", "yes": "no", "": ""}},
            "text": {
                "script": "#!/bin/sh\necho \"${HOME}\"\n", "blank first": "\n  indented\nlast",
                "keep": "lines\n\n\n", "only breaks": "\n\n", "tab": "\ta\n\tb\n", "spaces": "  a  ",
                "number": "1e3", "octal": "0644", "date": "2024-01-01", "truth": "on", "nothing": "~",
                "quotes": "it's \"so\" \\ \u{7}", "colon": "a: b #c", "nfd": "e\u{301}", "emoji": "🦀",
                "dash": "- a", "carriage": "a\r\nb", "bom": "\u{feff}x", "merge": "<<", "dots": "...",
            },
            "numbers": [0, -1, 8080, 9_223_372_036_854_775_807_i64, 0.5, -2.25e-7],
            "truths": [true, false, null],
            "nested": [[1, [2, [], {}]], {"a": [{"b": {"c": "d"}}, {}]}, [{"x": [[]]}]],
            "empty": {}, "none": [],
        })
    }

    #[test]
    fn means_the_same_whatever_the_seed() {
        for seed in 0..500 {
            let text = respell(&awkward(), seed);
            let read = text.as_str().object();
            let read = read.unwrap_or_else(|error| panic!("seed {seed}: {error:#}\n{text}"));
            assert_eq!(read, awkward(), "seed {seed}:\n{text}");
            assert_eq!(text, k8sconnect_core::text::nfc(&text), "Terraform would change it");
        }
    }

    #[test]
    fn is_another_text_for_another_seed_and_the_same_for_the_same() {
        assert_ne!(respell(&awkward(), 1), respell(&awkward(), 2));
        assert_eq!(respell(&awkward(), 1), respell(&awkward(), 1));
    }

    #[test]
    fn uses_every_notation_somewhere() {
        let all: String = (0..50).map(|seed| respell(&awkward(), seed)).collect();
        for notation in ["# ", "{", "'", "\"", "|", "0x", " on", "~"] {
            assert!(all.contains(notation), "`{notation}`");
        }
    }
}
