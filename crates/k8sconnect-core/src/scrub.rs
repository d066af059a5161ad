//! Whether a server's message about an object may be shown.
//!
//! A refusal may quote what was sent or what is on the server: the value of a field, a part of the
//! object, all of it. A message about an object that hides a value is shown up to the first place
//! where the server quotes a Go value, an object or a difference, which no search can be trusted
//! with. If that part may contain a hidden value, in any form, nothing of it is shown: a gap in a
//! sentence would tell what stood there. A message about an object that hides nothing is shown as
//! it is.

mod credentials;
mod forms;
mod sensitive;

use std::collections::BTreeSet;

use serde_json::Value;

use crate::manifest::Manifest;
use crate::secrecy::Secrecy;
use forms::forms_of;

pub use credentials::{without_credentials, without_these};
pub use sensitive::Sensitive;

/// Shorter values also occur inside of ordinary words, and count only where they stand alone.
const SHORTEST: usize = 4;

/// So many characters in a row do not agree by chance.
const TELLING: usize = 8;

/// Where the server begins to quote a Go value, an object, a difference, or text around an error.
const QUOTES: [&str; 4] = [", got ", "{", "map[", ", error found in #"];

/// The values that must not be shown of one object.
#[derive(Clone, Default)]
pub struct Secrets {
    hides: Hides,
    /// In small letters: a policy may quote a value in other capitals.
    texts: BTreeSet<String>,
    /// The object's own name, in quotes, as messages begin with it.
    names: BTreeSet<String>,
}

#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Hides {
    #[default]
    Nothing,
    Something,
}

impl Secrets {
    pub fn of(manifest: &Manifest) -> Self {
        Self::default().and(manifest.secrecy(), manifest.value())
    }

    /// Adds another version of the object: the server may quote what was there before.
    #[must_use]
    pub fn and(mut self, secrecy: &Secrecy, object: &Value) -> Self {
        if secrecy.is_open() {
            return self;
        }
        self.hides = Hides::Something;
        let forms = secrecy.hidden_in(object).into_iter().flat_map(forms_of);
        let forms = forms.filter(|form| !form.trim().is_empty());
        self.texts.extend(forms.map(|form| form.to_lowercase()));
        let name = object["metadata"]["name"].as_str();
        self.names.extend(name.map(|name| format!("\"{}\"", name.to_lowercase())));
        self
    }

    /// What may be shown of a message; `None` if it may contain a hidden value.
    pub fn shown(&self, message: &str) -> Option<String> {
        if self.hides == Hides::Nothing {
            return Some(message.to_owned());
        }
        let quote = QUOTES.iter().filter_map(|mark| message.find(mark)).min();
        let (plain, rest) = message.split_at(quote.unwrap_or(message.len()));
        let mut searched = plain.to_lowercase();
        for name in &self.names {
            if !self.texts.contains(name.trim_matches('"')) {
                searched = searched.replace(name, "\"\"");
            }
        }
        if self.texts.iter().any(|text| may_contain(&searched, text)) {
            return None;
        }
        let mut shown = plain.to_owned();
        if !rest.is_empty() {
            shown.push_str(" …");
        }
        shown.extend(rest.lines().skip(1).filter_map(place).map(|place| format!("\n{place} …")));
        Some(shown)
    }
}

/// The place, and the type expected there, of one line of a typed-patch error. Any other line may
/// be a part of a value.
fn place(line: &str) -> Option<&str> {
    let (told, _) = line.split_once(", got ")?;
    let (place, expected) = told.trim_start().split_once(": expected ")?;
    let is_place = place.starts_with('.') && !place.contains(char::is_whitespace);
    let is_type = |c: char| c.is_ascii_lowercase() || matches!(c, ' ' | '(' | ')');
    (is_place && expected.chars().all(is_type)).then_some(told)
}

/// Whether a message quotes a text, or the beginning of a long one: a policy may cut off what it
/// quotes.
fn may_contain(message: &str, text: &str) -> bool {
    let length = text.chars().count();
    if length >= SHORTEST {
        let start: String = text.chars().take(TELLING.max(length / 2)).collect();
        return message.contains(&start);
    }
    let in_a_word = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_');
    message.match_indices(text).any(|(at, _)| {
        let (before, after) = (&message[..at], &message[at + text.len()..]);
        !in_a_word(before.chars().last()) && !in_a_word(after.chars().next())
    })
}

#[cfg(test)]
mod tests;
