//! Whether a rule that refuses a change sees more than the body.
//!
//! A rule of a custom kind sees what it stands at, and below. One that stands at the whole object
//! sees its name and its status too. What is tried beside the object has another name and no
//! status, so that its acceptance says nothing of such a rule: a new object might be refused for
//! the same, once the old one is gone. The rules are only read here: whether a rule
//! holds is for the server to say.

use serde_json::Value;

use super::words::words;
use crate::rejection::Cause;

/// The field of a cause that is about the object as a whole, as servers write it.
const WHOLE: &str = "<nil>";

/// What the rules see that refused a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sight {
    /// What is in the body, and what was in it before.
    Body,
    /// The name or the status too, or it cannot be told.
    More,
}

/// Judges the causes of a refused change of an object by the schema of its custom kind.
pub fn sight(causes: &[Cause], schema: Option<&Value>, live: &Value) -> Sight {
    let Some(schema) = schema else {
        return Sight::More;
    };
    let rules = schema["x-kubernetes-validations"].as_array();
    let has_status = live["status"].as_object().is_some_and(|status| !status.is_empty());
    let sees_more = |cause: &Cause| {
        let mut suspects = rules.into_iter().flatten().filter(|rule| is_of(rule, cause)).peekable();
        let is_unknown = suspects.peek().is_none();
        let mut texts = suspects.filter_map(|rule| rule["rule"].as_str());
        (is_unknown && cause.field == WHOLE) || texts.any(|text| looks_beyond(text, has_status))
    };
    if causes.iter().any(sees_more) { Sight::More } else { Sight::Body }
}

/// Whether a rule may be the one that a cause is from: it names the same place, and would say the
/// same. What it says may be known only to the server.
fn is_of(rule: &Value, cause: &Cause) -> bool {
    let is_there = match rule["fieldPath"].as_str() {
        None | Some("") => cause.field == WHOLE,
        Some(_) => cause.field != WHOLE,
    };
    let says = match (rule["messageExpression"].as_str(), rule["message"].as_str()) {
        (Some(expression), _) if !expression.is_empty() => true,
        (_, Some(message)) if !message.is_empty() => words(cause) == message.trim(),
        _ => {
            let rule = rule["rule"].as_str().unwrap_or_default().trim();
            rule.lines().next().is_none_or(|line| words(cause).contains(line.trim_end()))
        }
    };
    is_there && says
}

/// Whether an expression takes the object otherwise than by a part of its body.
fn looks_beyond(expression: &str, has_status: bool) -> bool {
    let is_word = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    let mut rest = expression;
    while let Some(at) = rest.find(is_word) {
        let from = &rest[at..];
        let end = from.find(|letter| !is_word(letter)).unwrap_or(from.len());
        let (word, after) = from.split_at(end);
        rest = after;
        if word != "self" && word != "oldSelf" {
            continue;
        }
        let part = after.trim_start_matches(['.', '?', ' ']);
        let part = part.split(|letter| !is_word(letter)).next().unwrap_or_default();
        let is_part = after.trim_start().starts_with('.') && !part.is_empty();
        if !is_part || part == "metadata" || (part == "status" && has_status) {
            return true;
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn cause(field: &str, words: &str) -> Cause {
        let message = format!("Invalid value: \"object\": {words}");
        Cause { reason: "FieldValueInvalid".into(), message, field: field.into() }
    }

    fn judged(field: &str, live: &Value) -> Sight {
        let rules = json!([
            {"rule": "self.metadata.name != 'one' || self.spec.size == 1", "message": "named"},
            {"rule": "self.spec.size >= self.status.used", "message": "used"},
            {"rule": "self.spec.size == oldSelf.spec.size", "message": "fixed"},
            {"rule": "self == oldSelf", "message": "whole"},
            {"rule": "self.spec.size > 1 &&\nself.metadata.name != 'x'"},
            {"rule": "!self.metadata.name.startsWith('x')", "message": "at", "fieldPath": ".spec.size"},
        ]);
        let schema = json!({"x-kubernetes-validations": rules});
        let (field, words) = field.split_once(' ').unwrap();
        sight(&[cause(field, words)], Some(&schema), live)
    }

    #[test]
    fn a_rule_that_goes_by_the_name_or_the_status_sees_more_than_the_body() {
        let live = json!({"status": {"used": 8}});
        let unworded = "<nil> failed rule: self.spec.size > 1 &&";
        for field in ["<nil> named", "<nil> used", "<nil> whole", "spec.size at", unworded] {
            assert_eq!(judged(field, &live), Sight::More, "{field}");
        }
        assert_eq!(judged("<nil> unheard", &live), Sight::More);
        for field in ["<nil> fixed", "spec used", "spec.size fixed"] {
            assert_eq!(judged(field, &live), Sight::Body, "{field}");
        }
        assert_eq!(judged("<nil> used", &json!({"status": {}})), Sight::Body);
    }

    #[test]
    fn of_a_schema_that_nobody_shows_nothing_is_known() {
        assert_eq!(sight(&[cause("spec", "no")], None, &json!({})), Sight::More);
        assert_eq!(sight(&[cause("spec", "no")], Some(&json!({})), &json!({})), Sight::Body);
    }

    #[test]
    fn an_expression_takes_the_object_by_its_parts() {
        for (expression, beyond) in [
            ("self.spec.a == oldSelf.spec.a", false),
            ("self.?spec.a.orValue(1) == 1 && myself.metadata", false),
            ("has(self.metadata.labels)", true),
            ("self['metadata'].name == 'x'", true),
            ("[self].all(it, it.metadata.name == 'x')", true),
            ("oldSelf.status.phase != 'Bound'", true),
        ] {
            assert_eq!(looks_beyond(expression, true), beyond, "{expression}");
        }
    }
}
