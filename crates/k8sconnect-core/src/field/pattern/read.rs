//! How a pattern is read.

use serde_json::Value;

use super::{PatternProblem, Step};
use crate::atom::Atom;
use crate::field::path::{FieldPath, PathElement};
use crate::jsonpath::{self, Comparison, Filter, Operand, Operator};

pub(super) fn steps(text: &str) -> Result<Vec<Step>, PatternProblem> {
    let trimmed = text.trim().trim_start_matches('$');
    let body = trimmed.strip_prefix('{').and_then(|t| t.strip_suffix('}')).unwrap_or(trimmed);
    let body = body.strip_prefix('.').unwrap_or(body);
    if body.is_empty() {
        return Err(PatternProblem::Empty);
    }
    let mut steps = Vec::new();
    let mut rest = body;
    while !rest.is_empty() {
        rest = match rest.strip_prefix('[') {
            Some(inside) => {
                let (content, after) = bracket(inside).ok_or(PatternProblem::Unclosed)?;
                steps.push(item(content)?);
                after
            }
            None => {
                let rest = match steps.is_empty() {
                    true => rest,
                    false => rest.strip_prefix('.').ok_or(PatternProblem::Name)?,
                };
                let (name, after) = name(rest).ok_or(PatternProblem::Name)?;
                steps.push(if name == "*" { Step::AnyField } else { Step::Field(name) });
                after
            }
        };
    }
    Ok(steps)
}

/// What stands between brackets, and what comes after. Quoted text may hold brackets.
fn bracket(text: &str) -> Option<(&str, &str)> {
    let mut quote = None;
    let mut escaped = false;
    let mut depth = 0;
    for (at, c) in text.char_indices() {
        match (quote, c) {
            _ if escaped => escaped = false,
            (Some(_), '\\') => escaped = true,
            (Some(open), c) if c == open => quote = None,
            (Some(_), _) => {}
            (None, '"' | '\'') => quote = Some(c),
            (None, '[') => depth += 1,
            (None, ']') if depth > 0 => depth -= 1,
            (None, ']') => return Some((&text[..at], &text[at + 1..])),
            _ => {}
        }
    }
    None
}

fn name(text: &str) -> Option<(String, &str)> {
    let mut name = String::new();
    let mut chars = text.char_indices();
    while let Some((at, c)) = chars.next() {
        match c {
            '\\' => name.push(chars.next()?.1),
            '.' | '[' => return (at > 0).then_some((name, &text[at..])),
            c => name.push(c),
        }
    }
    (!name.is_empty()).then_some((name, ""))
}

fn item(content: &str) -> Result<Step, PatternProblem> {
    let content = content.trim();
    if content == "*" {
        return Ok(Step::AnyItem);
    }
    if let Some(filter) = content.strip_prefix('?') {
        return predicate(filter);
    }
    if content.contains('\'') {
        return single_quoted(content);
    }
    // All else is written as a path is, and read by the same reader.
    let path: FieldPath = format!("[{content}]").parse().map_err(|_| PatternProblem::Item)?;
    match path.elements() {
        [PathElement::Field(name)] => Ok(Step::Field(name.to_string())),
        [PathElement::Value(member)] => Ok(Step::Member(member.clone())),
        [PathElement::Key(keys)] => {
            Ok(Step::Holding(keys.iter().map(|(n, v)| (n.clone(), v.clone())).collect()))
        }
        [PathElement::Index(index)] => Ok(Step::Position(*index)),
        _ => Err(PatternProblem::Item),
    }
}

/// `['a.b']` or `[name='app']`, as shells and JSONPath like it.
fn single_quoted(content: &str) -> Result<Step, PatternProblem> {
    if content.starts_with('\'') {
        return match literal(content)? {
            Value::String(name) => Ok(Step::Field(name)),
            _ => Err(PatternProblem::Item),
        };
    }
    let (name, value) = content.split_once('=').ok_or(PatternProblem::Item)?;
    Ok(Step::Holding(vec![(name.trim().to_owned(), Atom(literal(value)?))]))
}

/// `(@.name=="app")`, with `&&` between several: of what a filter can say, just what names items.
fn predicate(text: &str) -> Result<Step, PatternProblem> {
    let Filter(alternatives) = jsonpath::filter(text).map_err(|_| PatternProblem::Filter)?;
    let [all] = alternatives.as_slice() else {
        return Err(PatternProblem::Filter);
    };
    let held = all.iter().map(|comparison| match comparison {
        Comparison::Compared(Operand::Path(path), Operator::Equal, Operand::Literal(value)) => {
            match path.as_slice() {
                [jsonpath::Step::Field(name)] => Ok((name.clone(), Atom(value.clone()))),
                _ => Err(PatternProblem::Filter),
            }
        }
        _ => Err(PatternProblem::Filter),
    });
    Ok(Step::Holding(held.collect::<Result<_, _>>()?))
}

/// A value in either kind of quotes, or bare.
fn literal(text: &str) -> Result<Value, PatternProblem> {
    let text = text.trim();
    if let Some(inside) = text.strip_prefix('\'') {
        let inside = inside.strip_suffix('\'').ok_or(PatternProblem::Item)?;
        return Ok(Value::String(inside.replace("\\'", "'")));
    }
    match serde_json::from_str(text) {
        Ok(value @ (Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_))) => {
            Ok(value)
        }
        _ if text.is_empty() => Err(PatternProblem::Item),
        _ if text.starts_with('"') => Err(PatternProblem::Item),
        _ => Ok(Value::String(text.to_owned())),
    }
}
