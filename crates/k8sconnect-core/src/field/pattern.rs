//! Paths as users write them to mean fields: with wildcards, and items chosen by what they hold.
//!
//! | written | means |
//! |---|---|
//! | `spec.replicas`, `data["app.conf"]` | a field, and all below it |
//! | `spec.containers[name=app].image` | in the item whose `name` is `app` |
//! | `spec.containers[*].image` | in every item |
//! | `metadata.annotations.*` | every key |
//! | `spec.containers[?(@.name=="app")].image` | as kubectl's JSONPath has it |
//! | `metadata.annotations.example.com/x` | a key with dots, where no quotes were written |
//! | `spec.containers[0].image` | in the item that stands there in what the user wrote, where allowed |
//!
//! A pattern is matched against an object, because only the object knows what its items hold. What
//! comes out is a set of ordinary paths.

use serde_json::Value;

use super::atom::{Atom, same};
use super::path::{FieldPath, PathElement};
use super::set::FieldSet;
use super::walk::{Items, step, written_index};
use crate::jsonpath::{self, Comparison, Filter, Operand, Operator};
use crate::text::nfc;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pattern {
    text: String,
    steps: Vec<Step>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Step {
    Field(String),
    AnyField,
    /// An item by fields that it holds, merge keys or not.
    Holding(Vec<(String, Atom)>),
    AnyItem,
    Member(Atom),
    /// An item by its place, which means nothing until it is looked up in what the user wrote.
    Position(usize),
    /// The item at this place of this list, as written.
    Placed(Value, usize),
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is not a path of fields: {problem}")]
pub struct PatternError {
    pub text: String,
    pub problem: &'static str,
}

impl Pattern {
    /// Reads a path in which items are named by what they hold.
    pub fn parse(text: &str) -> Result<Self, PatternError> {
        let pattern = Self::parse_with_places(text)?;
        if pattern.has_places() {
            let problem = "an item is named by what it holds, as in `[name=app]`, not by its place";
            return Err(PatternError { text: text.to_owned(), problem });
        }
        Ok(pattern)
    }

    /// The same, with items by their places too: see [`Pattern::placed`].
    pub fn parse_with_places(text: &str) -> Result<Self, PatternError> {
        let refuse = |problem| PatternError { text: text.to_owned(), problem };
        let trimmed = text.trim().trim_start_matches('$');
        let body = trimmed.strip_prefix('{').and_then(|t| t.strip_suffix('}')).unwrap_or(trimmed);
        let body = body.strip_prefix('.').unwrap_or(body);
        if body.is_empty() {
            return Err(refuse("it is empty"));
        }
        let mut steps = Vec::new();
        let mut rest = body;
        while !rest.is_empty() {
            rest = match rest.strip_prefix('[') {
                Some(inside) => {
                    let (content, after) =
                        bracket(inside).ok_or_else(|| refuse("`]` is missing"))?;
                    steps.push(item(content).map_err(refuse)?);
                    after
                }
                None => {
                    let rest = match steps.is_empty() {
                        true => rest,
                        false => rest.strip_prefix('.').ok_or_else(|| refuse("`.` is missing"))?,
                    };
                    let (name, after) = name(rest).ok_or_else(|| refuse("a name is missing"))?;
                    steps.push(if name == "*" { Step::AnyField } else { Step::Field(name) });
                    after
                }
            };
        }
        Ok(Self { text: text.to_owned(), steps })
    }

    /// The pattern as it was written.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Whether items are named by their places.
    pub fn has_places(&self) -> bool {
        self.steps.iter().any(|step| matches!(step, Step::Position(_) | Step::Placed(..)))
    }

    /// The pattern with its places looked up in what the user wrote; several, where a wildcard
    /// stands before one. A place that is not there means nothing.
    pub fn placed(&self, written: &Value) -> Vec<Self> {
        let mut found = Vec::new();
        placed(&self.steps, written, &mut Vec::new(), &mut found);
        let pattern = |steps| Self { text: self.text.clone(), steps };
        match found.is_empty() {
            true => vec![self.clone()],
            false => found.into_iter().map(pattern).collect(),
        }
    }

    /// The same pattern under another name of its first field.
    pub fn renamed(&self, from: &str, to: &str) -> Self {
        let mut renamed = self.clone();
        if let Some(Step::Field(name)) = renamed.steps.first_mut()
            && name == from
        {
            *name = to.to_owned();
        }
        renamed
    }

    /// How many steps it takes; a key with dots and without quotes takes several.
    pub fn length(&self) -> usize {
        self.steps.len()
    }

    /// Whether the pattern takes in what says which object is meant.
    pub fn means_identity(&self) -> bool {
        let field = |n: usize| match self.steps.get(n) {
            Some(Step::Field(name)) => name.as_str(),
            _ => "",
        };
        match (field(0), self.steps.len()) {
            ("apiVersion" | "kind", _) => true,
            ("metadata", 1) => true,
            ("metadata", 2) => matches!(field(1), "name" | "namespace"),
            _ => self.steps.first() == Some(&Step::AnyField),
        }
    }

    /// The fields of `set` that the pattern means, seen on `object`: each match with all that the
    /// set has below it.
    pub fn matched(&self, set: &FieldSet, object: &Value) -> FieldSet {
        let mut found = FieldSet::default();
        matched(&self.steps, set, Some(object), &mut FieldPath::default(), &mut found);
        found
    }

    /// How the pattern stands to a field, seen on an object.
    pub fn relation(&self, path: &FieldPath, object: &Value) -> Option<Relation> {
        relation(&self.steps, path.elements(), Some(object))
    }
}

/// How a pattern stands to a field that it has to do with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Relation {
    /// It means this very field.
    Means,
    /// It means something above it.
    Covers,
    /// It means something inside of it.
    ReachesInto,
}

fn relation(steps: &[Step], elements: &[PathElement], object: Option<&Value>) -> Option<Relation> {
    match (steps.split_first(), elements.split_first()) {
        (None, None) => Some(Relation::Means),
        (None, Some(_)) => Some(Relation::Covers),
        (Some(_), None) => Some(Relation::ReachesInto),
        (Some((first, rest)), Some((element, below))) => {
            let value = object.and_then(|object| step(object, element));
            let named = first.admits(element, value).then(|| relation(rest, below, value));
            named.flatten().or_else(|| relation(bare_key(steps, element)?, below, value))
        }
    }
}

impl Step {
    fn admits(&self, element: &PathElement, item: Option<&Value>) -> bool {
        match (self, element) {
            (Step::Field(name), PathElement::Field(field)) => same_name(name, field),
            (Step::AnyField, PathElement::Field(_)) => true,
            (Step::AnyItem, PathElement::Field(_)) => false,
            (Step::AnyItem, _) => true,
            (Step::Member(member), PathElement::Value(value)) => member == value,
            (Step::Placed(list, index), PathElement::Key(_) | PathElement::Value(_)) => {
                written_index(list, element) == Some(*index)
            }
            (Step::Position(index) | Step::Placed(_, index), PathElement::Index(other)) => {
                index == other
            }
            (Step::Holding(wanted), PathElement::Key(keys)) => {
                wanted.iter().all(|(name, value)| {
                    let held = keys.get(name).map(|key| &key.0).or_else(|| item?.get(name));
                    held.is_some_and(|held| same(held, &value.0))
                })
            }
            // An item of a list whose keys nobody has told yet.
            (Step::Member(member), PathElement::Index(_)) => {
                item.is_some_and(|item| same(item, &member.0))
            }
            (Step::Holding(wanted), PathElement::Index(_)) => wanted.iter().all(|(name, value)| {
                item.and_then(|item| item.get(name)).is_some_and(|held| same(held, &value.0))
            }),
            _ => false,
        }
    }
}

fn placed(steps: &[Step], value: &Value, before: &mut Vec<Step>, found: &mut Vec<Vec<Step>>) {
    let is_place = |step: &Step| matches!(step, Step::Position(_));
    let Some((first, rest)) = steps.split_first().filter(|_| steps.iter().any(is_place)) else {
        found.push([before.as_slice(), steps].concat());
        return;
    };
    let mut go = |step: Step, value: &Value| {
        before.push(step);
        placed(rest, value, before, found);
        before.pop();
    };
    match (first, value) {
        (Step::Field(name), Value::Object(map)) => {
            if let Some(value) = map.get(name) {
                go(first.clone(), value);
            }
        }
        (Step::AnyField, Value::Object(map)) => {
            map.iter().for_each(|(name, value)| go(Step::Field(name.clone()), value));
        }
        (Step::Position(index), Value::Array(items)) => {
            if let Some(item) = items.get(*index) {
                go(Step::Placed(value.clone(), *index), item);
            }
        }
        (Step::AnyItem, Value::Array(items)) => {
            for (index, item) in items.iter().enumerate() {
                go(Step::Placed(value.clone(), index), item);
            }
        }
        (Step::Holding(wanted), Value::Array(items)) => {
            let held = |item: &&Value| {
                wanted.iter().all(|(name, it)| item.get(name).is_some_and(|v| same(v, &it.0)))
            };
            items.iter().filter(held).for_each(|item| go(first.clone(), item));
        }
        _ => {}
    }
}

fn matched(
    steps: &[Step],
    set: &FieldSet,
    object: Option<&Value>,
    at: &mut FieldPath,
    found: &mut FieldSet,
) {
    let Some((first, rest)) = steps.split_first() else {
        for member in set.members() {
            let whole = at.elements().iter().chain(member.elements()).cloned();
            found.insert(&FieldPath::new(whole));
        }
        return;
    };
    let items = object.map(|object| Items::new(object, set));
    for (element, below) in set.children() {
        let value = items.as_ref().and_then(|items| items.step(element));
        let mut go = |steps: &[Step]| {
            at.push(element.clone());
            matched(steps, below, value, at, found);
            at.pop();
        };
        if first.admits(element, value) {
            go(rest);
        } else if let Some(after) = bare_key(steps, element) {
            go(after);
        }
    }
}

/// Paths are shown, and written by users, in normal form C; keys of objects need not be in it.
fn same_name(written: &str, name: &str) -> bool {
    written == name || !name.is_ascii() && nfc(written) == nfc(name)
}

/// A key with dots, written without quotes, comes apart into several names. Where a real key is
/// just those names with dots between, it is meant.
fn bare_key<'a>(steps: &'a [Step], element: &PathElement) -> Option<&'a [Step]> {
    let PathElement::Field(key) = element else {
        return None;
    };
    let mut joined = String::new();
    for (n, step) in steps.iter().enumerate() {
        let Step::Field(name) = step else {
            return None;
        };
        if n > 0 {
            joined.push('.');
        }
        joined.push_str(name);
        if n > 0 && same_name(&joined, key) {
            return Some(&steps[n + 1..]);
        }
        if joined.len() > key.len() {
            return None;
        }
    }
    None
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

fn item(content: &str) -> Result<Step, &'static str> {
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
    let path: FieldPath =
        format!("[{content}]").parse().map_err(|_| "an item is named as in `[name=app]`")?;
    match path.elements() {
        [PathElement::Field(name)] => Ok(Step::Field(name.clone())),
        [PathElement::Value(member)] => Ok(Step::Member(member.clone())),
        [PathElement::Key(keys)] => {
            Ok(Step::Holding(keys.iter().map(|(n, v)| (n.clone(), v.clone())).collect()))
        }
        [PathElement::Index(index)] => Ok(Step::Position(*index)),
        _ => Err("an item is named as in `[name=app]`"),
    }
}

/// `['a.b']` or `[name='app']`, as shells and JSONPath like it.
fn single_quoted(content: &str) -> Result<Step, &'static str> {
    if content.starts_with('\'') {
        return match literal(content)? {
            Value::String(name) => Ok(Step::Field(name)),
            _ => Err("a quoted name is malformed"),
        };
    }
    let (name, value) = content.split_once('=').ok_or("an item is named as in `[name=app]`")?;
    Ok(Step::Holding(vec![(name.trim().to_owned(), Atom(literal(value)?))]))
}

/// `(@.name=="app")`, with `&&` between several: of what a filter can say, just what names items.
fn predicate(text: &str) -> Result<Step, &'static str> {
    const FORM: &str = "a filter is written as in `[?(@.name==\"app\")]`";
    let Filter(alternatives) = jsonpath::filter(text).map_err(|_| FORM)?;
    let [all] = alternatives.as_slice() else {
        return Err(FORM);
    };
    let held = all.iter().map(|comparison| match comparison {
        Comparison::Compared(Operand::Path(path), Operator::Equal, Operand::Literal(value)) => {
            match path.as_slice() {
                [jsonpath::Step::Field(name)] => Ok((name.clone(), Atom(value.clone()))),
                _ => Err(FORM),
            }
        }
        _ => Err(FORM),
    });
    Ok(Step::Holding(held.collect::<Result<_, _>>()?))
}

/// A value in either kind of quotes, or bare.
fn literal(text: &str) -> Result<Value, &'static str> {
    const QUOTES: &str = "a quoted value is malformed";
    let text = text.trim();
    if let Some(inside) = text.strip_prefix('\'') {
        let inside = inside.strip_suffix('\'').ok_or(QUOTES)?;
        return Ok(Value::String(inside.replace("\\'", "'")));
    }
    match serde_json::from_str(text) {
        Ok(value @ (Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_))) => {
            Ok(value)
        }
        _ if text.is_empty() => Err("a value is missing"),
        _ if text.starts_with('"') => Err(QUOTES),
        _ => Ok(Value::String(text.to_owned())),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn object() -> Value {
        json!({
            "metadata": {"annotations": {"example.com/x": "1", "plain": "2"}},
            "spec": {
                "replicas": 3,
                "containers": [
                    {"name": "app", "image": "a", "env": [{"name": "A", "value": "1"}]},
                    {"name": "side", "image": "b"},
                ],
                "finalizers": ["f/one"],
            }
        })
    }

    fn set() -> FieldSet {
        [
            r#"metadata.annotations["example.com/x"]"#,
            "metadata.annotations.plain",
            "spec.replicas",
            "spec.containers[name=app].image",
            "spec.containers[name=app].env[name=A].value",
            "spec.containers[name=side].image",
            r#"spec.finalizers[="f/one"]"#,
        ]
        .iter()
        .map(|path| path.parse::<FieldPath>().unwrap())
        .collect()
    }

    fn found(pattern: &str) -> Vec<String> {
        let pattern = Pattern::parse(pattern).unwrap();
        pattern.matched(&set(), &object()).members().iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_field_means_all_below_it() {
        assert_eq!(found("spec.replicas"), ["spec.replicas"]);
        assert_eq!(found("spec").len(), 5);
        assert_eq!(found("spec.nothing"), Vec::<String>::new());
    }

    #[test]
    fn items_are_meant_by_what_they_hold() {
        let app = ["spec.containers[name=app].image"];
        assert_eq!(found("spec.containers[name=app].image"), app);
        assert_eq!(found(r#"spec.containers[?(@.name=="app")].image"#), app);
        assert_eq!(found("{.spec.containers[?(@.name=='app')].image}"), app);
        // Any field will do, not only the merge key.
        assert_eq!(found("spec.containers[image=a].image"), app);
        assert_eq!(found("spec.containers[*].image").len(), 2);
    }

    #[test]
    fn keys_with_dots_are_meant_with_quotes_and_without() {
        let key = [r#"metadata.annotations["example.com/x"]"#];
        assert_eq!(found(r#"metadata.annotations["example.com/x"]"#), key);
        assert_eq!(found("metadata.annotations['example.com/x']"), key);
        assert_eq!(found("metadata.annotations.example.com/x"), key);
        assert_eq!(found(r"metadata.annotations.example\.com/x"), key);
        assert_eq!(found("metadata.annotations.*").len(), 2);
    }

    #[test]
    fn a_key_is_meant_in_whatever_form_its_letters_are_composed() {
        let key = FieldPath::fields(["data", "E\u{301}le\u{301}gance"]);
        let set: FieldSet = [key].into_iter().collect();
        let pattern = Pattern::parse("data.\u{c9}l\u{e9}gance").unwrap();
        assert_eq!(pattern.matched(&set, &json!({})), set);
    }

    #[test]
    fn members_of_sets_can_be_meant() {
        assert_eq!(found(r#"spec.finalizers[="f/one"]"#), [r#"spec.finalizers[="f/one"]"#]);
        assert_eq!(found("spec.finalizers"), [r#"spec.finalizers[="f/one"]"#]);
    }

    #[test]
    fn what_is_no_path_is_refused_with_a_reason() {
        let problem = |text| Pattern::parse(text).unwrap_err().problem;
        assert_eq!(problem(""), "it is empty");
        assert!(problem("spec.containers[0].image").contains("not by its place"));
        assert!(problem("spec.containers[name").contains("`]` is missing"));
        assert!(problem("spec.containers[?(name)]").contains("filter"));
        assert!(problem("spec..x").contains("name is missing"));
    }

    #[test]
    fn a_place_means_the_item_that_the_user_wrote_there() {
        let placed = |text: &str| {
            let pattern = Pattern::parse_with_places(text).unwrap();
            assert!(pattern.has_places(), "{text}");
            let found = pattern
                .placed(&object())
                .iter()
                .map(|placed| placed.matched(&set(), &Value::Null))
                .fold(FieldSet::default(), |all, found| all.union(&found));
            found.members().iter().map(ToString::to_string).collect::<Vec<_>>()
        };
        assert_eq!(placed("spec.containers[1].image"), ["spec.containers[name=side].image"]);
        let value = ["spec.containers[name=app].env[name=A].value"];
        assert_eq!(placed("spec.containers[name=app].env[0].value"), value);
        assert_eq!(placed("spec.containers[*].env[0].value"), value);
        assert_eq!(placed("spec.finalizers[0]"), [r#"spec.finalizers[="f/one"]"#]);
        assert_eq!(placed("spec.containers[7].image"), Vec::<String>::new());
    }

    #[test]
    fn a_pattern_that_reaches_into_a_leaf_is_seen() {
        let leaf: FieldPath = "spec.replicas".parse().unwrap();
        let relation = |text| Pattern::parse(text).unwrap().relation(&leaf, &object());
        assert_eq!(relation("spec.replicas.more"), Some(Relation::ReachesInto));
        assert_eq!(relation("spec.replicas"), Some(Relation::Means));
        assert_eq!(relation("spec"), Some(Relation::Covers));
        assert_eq!(relation("spec.other"), None);
    }

    fn notation_is_odd(element: &PathElement) -> bool {
        FieldPath::new([element.clone()])
            .to_string()
            .contains(['\'', '\\', '$', '{', '}', '?', '*'])
    }

    proptest! {
        #[test]
        fn every_path_that_we_show_can_be_written_as_a_pattern(set in super::super::set::tests::any_set()) {
            for path in set.members() {
                // Positions are refused on purpose; a single quote outside of double ones is
                // taken for a quote; an empty name has no text.
                let odd = |e: &PathElement| match e {
                    PathElement::Index(_) => true,
                    e => notation_is_odd(e),
                };
                if path.elements().iter().any(odd) { continue; }
                let pattern = Pattern::parse(&path.to_string()).map_err(|e| TestCaseError::fail(e.to_string()))?;
                let found = pattern.matched(&set, &Value::Null);
                prop_assert!(found.contains(&path), "{}", path);
            }
        }

        #[test]
        fn any_text_is_a_pattern_or_an_error_but_no_panic(text in ".{0,30}") {
            let _ = Pattern::parse(&text);
        }
    }
}
