//! Reads a path. An error has the place where the path is wrong.

use serde_json::Value;

use self::JsonPathProblem as P;
use super::Step;
use super::filter::{Comparison, Filter, Operand, Operator};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JsonPathError {
    pub text: String,
    /// Counted from 1.
    pub at: usize,
    pub problem: JsonPathProblem,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JsonPathProblem {
    /// This character, which ends a bracket, a filter or a quote, is missing.
    Missing(char),
    /// Text after the end of the path.
    Trailing,
    /// A field name is missing, or has a character that must be quoted.
    Name,
    /// The text in brackets chooses no item.
    Item,
    /// A filter that cannot be read.
    Filter,
    /// Too many filters inside of filters.
    TooDeep,
}

/// A path, with or without the braces, the `$` and the dot that kubectl's users put around it.
pub(super) fn path(text: &str) -> Result<Vec<Step>, JsonPathError> {
    let mut reader = Reader::new(text);
    reader.whole_path().map_err(|problem| JsonPathError {
        text: text.to_owned(),
        at: text[..reader.at].chars().count() + 1,
        problem,
    })
}

/// What stands between `[?` and `]`.
pub(crate) fn filter(text: &str) -> Result<Filter, JsonPathProblem> {
    let mut reader = Reader::new(text);
    let filter = reader.filter()?;
    reader.spaces();
    if reader.rest().is_empty() { Ok(filter) } else { Err(P::Trailing) }
}

/// How deep filters may stand inside of filters. Each item is judged by all of them, so that depth
/// costs more than it tells; nobody writes more than two.
const MOST_FILTERS: usize = 4;

type Read<T> = Result<T, JsonPathProblem>;

struct Reader<'a> {
    text: &'a str,
    at: usize,
    /// The filters that are still open.
    filters: usize,
}

impl<'a> Reader<'a> {
    fn new(text: &'a str) -> Self {
        Self { text, at: 0, filters: 0 }
    }

    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn take(&mut self, wanted: &str) -> bool {
        let found = self.rest().starts_with(wanted);
        if found {
            self.at += wanted.len();
        }
        found
    }

    fn spaces(&mut self) {
        let rest = self.rest();
        self.at += rest.len() - rest.trim_start().len();
    }

    fn whole_path(&mut self) -> Read<Vec<Step>> {
        self.spaces();
        let braced = self.take("{");
        self.spaces();
        if !self.take("$") {
            self.take("@");
        }
        let mut steps = Vec::new();
        // A name may open the path without a dot.
        if self.peek().is_some_and(|c| !matches!(c, '.' | '[' | '}') && !c.is_whitespace()) {
            steps.push(self.name(Ends::Path)?);
        }
        self.steps(&mut steps, Ends::Path)?;
        self.spaces();
        if braced && !self.take("}") {
            return Err(if self.rest().is_empty() { P::Missing('}') } else { P::Trailing });
        }
        self.spaces();
        match (self.rest(), steps.is_empty()) {
            ("", false) => Ok(steps),
            ("", true) => Err(P::Name),
            _ => Err(P::Trailing),
        }
    }

    fn steps(&mut self, steps: &mut Vec<Step>, ends: Ends) -> Read<()> {
        loop {
            if self.take("..") {
                steps.push(Step::Descent);
                if self.peek() != Some('[') {
                    steps.push(self.name(ends)?);
                }
            } else if self.take(".") {
                // kubectl also takes `.items.[0]`.
                if self.peek() != Some('[') {
                    steps.push(self.name(ends)?);
                }
            } else if self.take("[") {
                steps.push(self.bracket()?);
            } else {
                return Ok(());
            }
        }
    }

    fn name(&mut self, ends: Ends) -> Read<Step> {
        let mut name = String::new();
        while let Some(c) = self.peek() {
            match c {
                '\\' => {
                    self.at += 1;
                    let escaped = self.peek().ok_or(P::Name)?;
                    name.push(escaped);
                    self.at += escaped.len_utf8();
                }
                '.' | '[' | ']' | '}' | '{' => break,
                c if ends == Ends::Operand && (c.is_whitespace() || "=!<>)&|,".contains(c)) => {
                    break;
                }
                c if c.is_whitespace() => break,
                ',' => return Err(P::Name),
                c => {
                    name.push(c);
                    self.at += c.len_utf8();
                }
            }
        }
        match name.as_str() {
            "" => Err(P::Name),
            "*" => Ok(Step::Any),
            _ => Ok(Step::Field(name)),
        }
    }

    /// After its `[`.
    fn bracket(&mut self) -> Read<Step> {
        let mut choices = Vec::new();
        loop {
            self.spaces();
            choices.push(self.choice()?);
            self.spaces();
            if self.take("]") {
                break;
            }
            if !self.take(",") {
                return Err(P::Missing(']'));
            }
        }
        match choices.len() {
            1 => choices.pop().ok_or(P::Item),
            _ => Ok(Step::Union(choices)),
        }
    }

    fn choice(&mut self) -> Read<Step> {
        match self.peek() {
            None => Err(P::Missing(']')),
            Some('*') => {
                self.at += 1;
                Ok(Step::Any)
            }
            Some('?') if self.filters == MOST_FILTERS => Err(P::TooDeep),
            Some('?') => {
                self.at += 1;
                self.filters += 1;
                let filter = self.filter()?;
                self.filters -= 1;
                Ok(Step::Filter(filter))
            }
            Some(quote @ ('\'' | '"')) => Ok(Step::Field(self.quoted(quote)?)),
            Some(c) if c.is_ascii_digit() || c == '-' || c == ':' => self.place(),
            Some(_) => Err(P::Item),
        }
    }

    fn place(&mut self) -> Read<Step> {
        let start = self.number()?;
        if !self.take(":") {
            return start.map(Step::Index).ok_or(P::Item);
        }
        let end = self.number()?;
        let every = if self.take(":") { self.number()?.unwrap_or(1) } else { 1 };
        if every < 1 {
            return Err(P::Item);
        }
        Ok(Step::Slice { start, end, every })
    }

    fn number(&mut self) -> Read<Option<i64>> {
        self.spaces();
        let rest = self.rest();
        let length = rest.find(|c: char| !c.is_ascii_digit() && c != '-').unwrap_or(rest.len());
        if length == 0 {
            return Ok(None);
        }
        let number = rest[..length].parse().map_err(|_| P::Item)?;
        self.at += length;
        self.spaces();
        Ok(Some(number))
    }

    fn quoted(&mut self, quote: char) -> Read<String> {
        let opened = self.at;
        self.at += quote.len_utf8();
        let mut text = String::new();
        while let Some(c) = self.peek() {
            self.at += c.len_utf8();
            match c {
                '\\' => {
                    let escaped = self.peek().ok_or(P::Name)?;
                    self.at += escaped.len_utf8();
                    text.push(match escaped {
                        'n' => '\n',
                        't' => '\t',
                        other => other,
                    });
                }
                c if c == quote => return Ok(text),
                c => text.push(c),
            }
        }
        self.at = opened;
        Err(P::Missing(quote))
    }

    /// After its `?`.
    fn filter(&mut self) -> Read<Filter> {
        self.spaces();
        if !self.take("(") {
            return Err(P::Filter);
        }
        let mut alternatives = vec![vec![self.comparison()?]];
        loop {
            self.spaces();
            if self.take(")") {
                return Ok(Filter(alternatives));
            }
            if self.take("&&") {
                let one = self.comparison()?;
                if let Some(all) = alternatives.last_mut() {
                    all.push(one);
                }
            } else if self.take("||") {
                alternatives.push(vec![self.comparison()?]);
            } else {
                return Err(P::Missing(')'));
            }
        }
    }

    fn comparison(&mut self) -> Read<Comparison> {
        let left = self.operand()?;
        self.spaces();
        let operators = [
            ("==", Operator::Equal),
            ("!=", Operator::Unequal),
            ("<=", Operator::LessOrEqual),
            (">=", Operator::GreaterOrEqual),
            ("<", Operator::Less),
            (">", Operator::Greater),
            ("=", Operator::Equal),
        ];
        let Some((_, operator)) = operators.into_iter().find(|(sign, _)| self.take(sign)) else {
            return match left {
                Operand::Path(path) => Ok(Comparison::Exists(path)),
                Operand::Literal(_) => Err(P::Filter),
            };
        };
        Ok(Comparison::Compared(left, operator, self.operand()?))
    }

    fn operand(&mut self) -> Read<Operand> {
        self.spaces();
        if self.take("@") {
            let mut steps = Vec::new();
            self.steps(&mut steps, Ends::Operand)?;
            return Ok(Operand::Path(steps));
        }
        if let Some(quote @ ('\'' | '"')) = self.peek() {
            return Ok(Operand::Literal(Value::String(self.quoted(quote)?)));
        }
        let rest = self.rest();
        let ends = |c: char| c.is_whitespace() || "=!<>)&|".contains(c);
        let word = &rest[..rest.find(ends).unwrap_or(rest.len())];
        if word.is_empty() || word.starts_with('~') {
            return Err(P::Filter);
        }
        self.at += word.len();
        Ok(Operand::Literal(match serde_json::from_str(word) {
            Ok(value @ (Value::Null | Value::Bool(_) | Value::Number(_))) => value,
            _ => Value::String(word.to_owned()),
        }))
    }
}

/// What ends a name.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Ends {
    Path,
    /// Inside a filter, where signs follow.
    Operand,
}
