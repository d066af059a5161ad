//! Patterns that name files: `manifests/**/*.yaml`, `{base,prod}/[a-m]*.yml`.
//!
//! A pattern is read into the steps of a walk through folders; the walk itself is not done here.
//! `*` stands for any text within one name and `?` for one character; `[a-z]` and `[!a-z]` for one
//! character in or not in a class; `{a,b}` for either; `**`, alone between slashes, for any number
//! of folders, none included. A backslash takes the meaning from what follows it. A name that begins
//! with a dot is hidden: only a pattern that writes the dot finds it.

use std::iter::Peekable;
use std::str::Chars;

/// A pattern, as the ways through folders that it describes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Glob {
    ways: Vec<Way>,
}

/// One way: where it starts, and the names to follow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Way {
    pub start: Start,
    pub steps: Vec<Step>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Start {
    /// At the root of the file system.
    Root,
    /// Wherever the process is.
    Here,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// Just this name.
    Name(String),
    /// Any name that fits.
    Fitting(Mask),
    /// Any number of folders.
    AnyDepth,
}

/// What a name must look like.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mask(Vec<Part>);

#[derive(Clone, Debug, PartialEq, Eq)]
enum Part {
    Letter(char),
    AnyLetter,
    AnyText,
    Class { within: bool, ranges: Vec<(char, char)> },
}

/// Why a pattern cannot be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum GlobError {
    #[error("it is empty")]
    Empty,
    #[error("`{0}` is never closed")]
    Unclosed(char),
    #[error("it stands for more than {MOST_WAYS} patterns")]
    TooMany,
}

const MOST_WAYS: usize = 1000;

/// How many letters may be written on the way to them: braces inside of braces are written out one
/// by one, each time with all that stands around them.
const MOST_LETTERS: usize = 4_000_000;

impl Glob {
    pub fn parse(text: &str) -> Result<Self, GlobError> {
        if text.is_empty() {
            return Err(GlobError::Empty);
        }
        let ways = alternatives(text)?.iter().map(|text| way(text)).collect::<Result<_, _>>()?;
        Ok(Self { ways })
    }

    pub fn ways(&self) -> &[Way] {
        &self.ways
    }
}

/// Whether a name is found only by who writes its dot: caches, repositories, what tools leave.
pub fn is_hidden(name: &str) -> bool {
    name.starts_with('.')
}

impl Mask {
    pub fn fits(&self, name: &str) -> bool {
        if is_hidden(name) && self.0.first() != Some(&Part::Letter('.')) {
            return false;
        }
        let letters: Vec<char> = name.chars().collect();
        let (mut part, mut letter) = (0, 0);
        // Where to go on if the text that the last `*` stands for turns out too short.
        let mut retry: Option<(usize, usize)> = None;
        while letter < letters.len() {
            match self.0.get(part) {
                Some(Part::AnyText) => {
                    retry = Some((part, letter));
                    part += 1;
                    continue;
                }
                Some(other) if other.fits(letters[letter]) => {
                    part += 1;
                    letter += 1;
                    continue;
                }
                _ => {}
            }
            let Some((star, covered)) = retry else {
                return false;
            };
            retry = Some((star, covered + 1));
            (part, letter) = (star + 1, covered + 1);
        }
        self.0[part..].iter().all(|part| *part == Part::AnyText)
    }
}

impl Part {
    fn fits(&self, letter: char) -> bool {
        match self {
            Self::Letter(own) => *own == letter,
            Self::AnyLetter => true,
            Self::AnyText => false,
            Self::Class { within, ranges } => {
                ranges.iter().any(|(low, high)| (*low..=*high).contains(&letter)) == *within
            }
        }
    }
}

/// The pattern with its first `{a,b}` written out, and so on until there is none.
fn alternatives(text: &str) -> Result<Vec<String>, GlobError> {
    let mut done = Vec::new();
    let mut open = vec![text.to_owned()];
    let mut letters = 0;
    while let Some(text) = open.pop() {
        let text_length = text.len();
        match first_choice(&text)? {
            None => done.push(text),
            Some((before, choices, after)) => open
                .extend(choices.into_iter().rev().map(|choice| format!("{before}{choice}{after}"))),
        }
        letters += text_length;
        if done.len() + open.len() > MOST_WAYS || letters > MOST_LETTERS {
            return Err(GlobError::TooMany);
        }
    }
    Ok(done)
}

type Choice<'t> = (&'t str, Vec<&'t str>, &'t str);

/// What stands before the first `{`, between its commas, and after its `}`.
fn first_choice(text: &str) -> Result<Option<Choice<'_>>, GlobError> {
    let mut start = None;
    let (mut depth, mut from) = (0, 0);
    let mut choices = Vec::new();
    let mut letters = text.char_indices();
    while let Some((at, letter)) = letters.next() {
        match letter {
            '\\' => {
                letters.next();
            }
            '{' => {
                depth += 1;
                if depth == 1 {
                    start = Some(at);
                    from = at + 1;
                }
            }
            ',' if depth == 1 => {
                choices.push(&text[from..at]);
                from = at + 1;
            }
            '}' if depth == 1 => {
                choices.push(&text[from..at]);
                let before = &text[..start.unwrap_or_default()];
                return Ok(Some((before, choices, &text[at + 1..])));
            }
            '}' if depth > 1 => depth -= 1,
            _ => {}
        }
    }
    if depth > 0 { Err(GlobError::Unclosed('{')) } else { Ok(None) }
}

fn way(text: &str) -> Result<Way, GlobError> {
    let start = if text.starts_with('/') { Start::Root } else { Start::Here };
    let mut steps = Vec::new();
    for name in text.split('/').filter(|name| !name.is_empty() && *name != ".") {
        let step = if name == "**" { Step::AnyDepth } else { step(name)? };
        // Two in a row mean no more than one, and would be walked twice.
        if step != Step::AnyDepth || steps.last() != Some(&Step::AnyDepth) {
            steps.push(step);
        }
    }
    Ok(Way { start, steps })
}

fn step(name: &str) -> Result<Step, GlobError> {
    let mut parts = Vec::new();
    let mut letters = name.chars().peekable();
    while let Some(letter) = letters.next() {
        parts.push(match letter {
            '*' => Part::AnyText,
            '?' => Part::AnyLetter,
            '[' => class(&mut letters)?,
            '\\' => Part::Letter(letters.next().unwrap_or('\\')),
            letter => Part::Letter(letter),
        });
    }
    parts.dedup_by(|one, other| *one == Part::AnyText && *other == Part::AnyText);
    let plain: Option<String> = parts
        .iter()
        .map(|part| if let Part::Letter(letter) = part { Some(*letter) } else { None })
        .collect();
    Ok(plain.map_or(Step::Fitting(Mask(parts)), Step::Name))
}

fn class(letters: &mut Peekable<Chars<'_>>) -> Result<Part, GlobError> {
    let within = letters.next_if(|letter| matches!(letter, '!' | '^')).is_none();
    let mut ranges = Vec::new();
    loop {
        let low = match letters.next().ok_or(GlobError::Unclosed('['))? {
            // A bracket right at the start is one of the letters.
            ']' if !ranges.is_empty() => return Ok(Part::Class { within, ranges }),
            '\\' => letters.next().ok_or(GlobError::Unclosed('['))?,
            letter => letter,
        };
        let mut ahead = letters.clone();
        let high = match (ahead.next(), ahead.next()) {
            (Some('-'), Some(high)) if high != ']' => {
                *letters = ahead;
                high
            }
            _ => low,
        };
        ranges.push((low, high));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mask(text: &str) -> Mask {
        match Glob::parse(text).unwrap().ways()[0].steps.as_slice() {
            [Step::Fitting(mask)] => mask.clone(),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn masks_fit_the_names_that_they_should() {
        for (text, fits, misses) in [
            ("*.yaml", &["a.yaml", "a.b.yaml"][..], &["a.yml", "a.yaml.bak", ".yaml"][..]),
            (".*", &[".yaml", ".a"], &["a.yaml"]),
            ("?.y*l", &["a.yaml", "ä.yml", "b.yl"], &["ab.yaml", ".yaml.x"]),
            ("[a-c]x[!0-9]", &["axa", "cx-"], &["dxa", "ax1", "ax"]),
            ("[]-]*", &["]", "-a"], &["a"]),
            ("*a*b*", &["ab", "xaxbx", "aab"], &["ba", "a"]),
            ("\\**", &["*", "*a"], &["a"]),
        ] {
            let mask = mask(text);
            for name in fits {
                assert!(mask.fits(name), "`{text}` should fit `{name}`");
            }
            for name in misses {
                assert!(!mask.fits(name), "`{text}` should not fit `{name}`");
            }
        }
    }

    #[test]
    fn a_long_name_is_no_trouble() {
        assert!(!mask("*a*a*a*a*a*a*a*a*b").fits(&"a".repeat(5000)));
    }

    #[test]
    fn choices_are_written_out_in_order_and_across_folders() {
        let glob = Glob::parse("/a/{b,c/{d,e}}/./*.y{,a}ml").unwrap();
        let ways: Vec<_> = glob.ways().iter().map(|way| way.steps.len()).collect();
        assert_eq!(ways, [3, 3, 4, 4, 4, 4]);
        assert_eq!(glob.ways()[0].start, Start::Root);
        assert_eq!(glob.ways()[2].steps[2], Step::Name("d".into()));
    }

    #[test]
    fn any_depth_stands_between_slashes() {
        let way = |text: &str| Glob::parse(text).unwrap().ways()[0].clone();
        assert_eq!(way("a/**/**/b").steps.len(), 3);
        assert_eq!(way("a/**/b").steps[1], Step::AnyDepth);
        assert!(matches!(way("a**b").steps[0], Step::Fitting(_)));
    }

    #[test]
    fn a_pattern_that_is_not_finished_is_refused() {
        assert_eq!(Glob::parse("a{b"), Err(GlobError::Unclosed('{')));
        assert_eq!(Glob::parse("a[b"), Err(GlobError::Unclosed('[')));
        assert_eq!(Glob::parse(""), Err(GlobError::Empty));
        assert_eq!(Glob::parse(&"{a,b}".repeat(20)), Err(GlobError::TooMany));
    }
}
