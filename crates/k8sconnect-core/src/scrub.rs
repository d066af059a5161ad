//! The server's words without the values that must not be shown.
//!
//! A refusal may quote what was sent or what is there: the value of a field, a part of the object,
//! all of it. Every hidden value is cut out of the text, in all the forms that it may have there.
//! Where an object is quoted, or the difference of two, cutting cannot be
//! trusted (long texts are broken up and shortened), so that goes as a whole. An object that hides
//! nothing is quoted as it is.
//!
//! A value that is very short, or a word that the server uses anyway, would be told by the very gap
//! that it leaves in a sentence. Where such a one stands in the server's prose, and not where values
//! are quoted, the words are not shown at all.

mod content;
mod credentials;
mod forms;
mod frame;

use std::collections::BTreeSet;

use serde_json::Value;

use crate::manifest::Manifest;
use crate::projection::CONCEALED_VALUE as CUT;
use crate::secrecy::Secrecy;
use forms::forms_of;
use frame::Frame;

pub use content::{Content, quoted};
pub use credentials::{without_credentials, without_these};

/// Shorter values also occur inside of ordinary words, and are cut only where they stand alone.
const SHORTEST: usize = 4;

/// So many characters in a row do not agree by chance.
const TELLING: usize = 8;

/// What is said in place of words that cannot be shown.
pub const WITHHELD: &str = "(what it said is not shown: a hidden value could not be cut out of it \
                            without being told by the gap)";

/// What must not be shown of one object.
#[derive(Clone, Default)]
pub struct Secrets {
    hides: Hides,
    /// The longest first, so that no part of one is left standing.
    texts: Vec<String>,
    frame: Frame,
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

    /// And those in another version of the object: the server may quote what was there before.
    #[must_use]
    pub fn and(self, secrecy: &Secrecy, object: &Value) -> Self {
        if secrecy.is_open() {
            return self;
        }
        let mut texts: BTreeSet<String> = self.texts.into_iter().collect();
        for hidden in secrecy.hidden_in(object) {
            texts.extend(forms_of(hidden));
        }
        let mut texts: Vec<_> = texts.into_iter().filter(|text| !text.trim().is_empty()).collect();
        texts.sort_by_key(|text| std::cmp::Reverse(text.len()));
        Self { hides: Hides::Something, texts, frame: self.frame.and(object) }
    }

    /// The words without what must not be shown.
    pub fn cut_out_of(&self, words: &str) -> String {
        self.cut(words).unwrap_or_else(|| WITHHELD.to_owned())
    }

    /// The same; `None` where the gaps would tell.
    pub fn cut(&self, words: &str) -> Option<String> {
        if self.hides == Hides::Nothing {
            return Some(words.to_owned());
        }
        let words = without_objects(&place_only(words));
        let mut rest = words.as_str();
        let mut shown = String::new();
        while let Some(first) = rest.chars().next() {
            if let Some(name) = self.own_name_at(rest) {
                shown.push_str(name);
                rest = &rest[name.len()..];
                continue;
            }
            let found = self.texts.iter().find_map(|text| self.at(text, rest, &shown));
            let found =
                found.or_else(|| self.texts.iter().find_map(|text| self.nearly_at(text, rest)));
            match found {
                Some(Standing::AsValue(length)) => {
                    shown.push_str(CUT);
                    rest = &rest[length..];
                }
                Some(Standing::InProse) => return None,
                None => {
                    shown.push(first);
                    rest = &rest[first.len_utf8()..];
                }
            }
        }
        Some(shown)
    }

    /// How a hidden text stands here, if it does. What is short, or one of the server's own words,
    /// must stand alone.
    fn at(&self, text: &str, rest: &str, before: &str) -> Option<Standing> {
        let after = rest.strip_prefix(text)?;
        let is_short = text.chars().count() < SHORTEST;
        if !is_short && !self.frame.has(text) {
            return Some(Standing::AsValue(text.len()));
        }
        let in_a_word = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
        if in_a_word(before.chars().last()) || in_a_word(after.chars().next()) {
            return None;
        }
        let is_quoted = before.ends_with('"') && after.starts_with('"');
        if is_quoted || before.ends_with("alue: ") {
            return Some(Standing::AsValue(text.len()));
        }
        Some(Standing::InProse)
    }

    /// How a hidden text stands here in other capitals, or cut off: a policy may quote what it was
    /// given as it pleases. Only of texts that are too long to be met by chance; and what is cut off
    /// must be more than half of it, and look so.
    fn nearly_at(&self, text: &str, rest: &str) -> Option<Standing> {
        let same = |(ours, theirs): &(char, char)| ours.eq_ignore_ascii_case(theirs);
        let common: Vec<_> = text.chars().zip(rest.chars()).take_while(same).collect();
        if common.len() < TELLING {
            return None;
        }
        let whole = text.chars().count();
        let length = common.iter().map(|(_, theirs)| theirs.len_utf8()).sum();
        let (met, after) = rest.split_at(length);
        let is_cut_off = || {
            let ends = after.is_empty() || after.starts_with(['"', '\'', '`', '…', '*']);
            common.len() * 2 > whole && (ends || after.starts_with("..."))
        };
        let is_met = common.len() == whole || is_cut_off();
        (is_met && !self.frame.has_in_any_case(met)).then_some(Standing::AsValue(length))
    }

    /// The object's own name in quotes, which is no secret even if it holds what looks like one.
    fn own_name_at<'a>(&self, rest: &'a str) -> Option<&'a str> {
        let (name, _) = rest.strip_prefix('"')?.split_once('"')?;
        let is_ours = self.frame.is_name(name) && !self.texts.iter().any(|text| text == name);
        is_ours.then(|| &rest[..name.len() + 2])
    }
}

/// Where a hidden text stands in the server's words.
enum Standing {
    /// Where a value is quoted, or where nothing else can be meant; so many bytes of it.
    AsValue(usize),
    /// Where the gap would tell it.
    InProse,
}

/// Of a typed-patch error only the place and the type that was expected: what it got is printed as
/// a Go value, in a form that cutting cannot be trusted with. Of a text that could not be decoded,
/// not the part that is quoted around the error.
fn place_only(words: &str) -> String {
    if let Some((before, got)) = words.split_once(GOT) {
        // Of several errors each has a line; what else follows belongs to a value.
        let more = got.lines().skip(1).filter_map(place_in);
        let more: String = more.map(|place| format!("\n{place}{GOT}something else")).collect();
        return format!("{before}{GOT}something else{more}");
    }
    if let Some((before, _)) = words.split_once(", error found in #") {
        return format!("{before} (what was sent is not shown)");
    }
    words.to_owned()
}

const GOT: &str = ", got ";

/// The place, and what was expected there, of a line that tells just that.
fn place_in(line: &str) -> Option<&str> {
    let (told, _) = line.split_once(GOT)?;
    let (place, expected) = told.trim_start().split_once(": expected ")?;
    let is_place = place.starts_with('.') && !place.contains(char::is_whitespace);
    let is_type = |c: char| c.is_ascii_lowercase() || matches!(c, ' ' | '(' | ')');
    (is_place && expected.chars().all(is_type)).then_some(told)
}

/// The words without any object in them, from the first to the last bracket.
fn without_objects(words: &str) -> String {
    let mut words = words.to_owned();
    for (open, close) in [("{", '}'), ("map[", ']')] {
        let Some(start) = words.find(open) else {
            continue;
        };
        let start = start + open.len();
        let end = words.rfind(close).filter(|end| *end >= start).unwrap_or(words.len());
        words.replace_range(start..end, "…");
    }
    words
}

#[cfg(test)]
mod tests;
