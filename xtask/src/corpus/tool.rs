//! What Terraform says in its machine-readable form, by resource.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::cargo::messages;

/// What one command said of the resources.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Said {
    /// Errors by address; those of no resource stand under the empty one.
    pub(crate) errors: BTreeMap<String, String>,
    /// Warnings in the same way.
    pub(crate) warnings: BTreeMap<String, String>,
    /// Planned actions by address; what is left alone is not there.
    pub(crate) actions: BTreeMap<String, String>,
}

impl Said {
    /// Reads the lines that `-json` makes a command print.
    pub(crate) fn in_lines(text: &str) -> Self {
        let mut said = Self::default();
        for message in messages(text.as_bytes()) {
            match message["type"].as_str() {
                Some("diagnostic") => {
                    let diagnostic = &message["diagnostic"];
                    let text = |field: &str| diagnostic[field].as_str().unwrap_or_default();
                    let words = format!("{}\n{}\n", text("summary"), text("detail"));
                    let list = match text("severity") {
                        "error" => &mut said.errors,
                        _ => &mut said.warnings,
                    };
                    list.entry(text("address").to_owned()).or_default().push_str(&words);
                }
                Some("planned_change") => {
                    let change = &message["change"];
                    let address = change["resource"]["addr"].as_str().unwrap_or_default();
                    let action = change["action"].as_str().unwrap_or_default();
                    said.actions.insert(address.to_owned(), action.to_owned());
                }
                _ => {}
            }
        }
        said
    }
}

/// What a plan changes in one resource, attribute by attribute and leaf by leaf.
pub(crate) fn difference(planned: &Value, address: &str) -> String {
    let changes = planned["resource_changes"].as_array().into_iter().flatten();
    let Some(change) = changes.into_iter().find(|change| change["address"] == address) else {
        return "it is in no plan".to_owned();
    };
    let (before, after) = (&change["change"]["before"], &change["change"]["after"]);
    let mut words = vec![format!("planned: {}", change["change"]["actions"])];
    compare("", before, after, &mut words);
    words.join("\n")
}

fn compare(path: &str, before: &Value, after: &Value, words: &mut Vec<String>) {
    match (before, after) {
        (Value::Object(one), Value::Object(other)) => {
            for key in one.keys().chain(other.keys().filter(|key| !one.contains_key(*key))) {
                compare(&format!("{path}/{key}"), &before[key], &after[key], words);
            }
        }
        _ if before == after => {}
        _ => words.push(format!("{path}: {} -> {}", short(before), short(after))),
    }
}

fn short(value: &Value) -> String {
    let text = value.to_string();
    match text.char_indices().nth(200) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tells_errors_and_actions_by_resource() {
        let text = concat!(
            r#"{"type":"version"}"#,
            "\n",
            r#"{"type":"diagnostic","diagnostic":{"severity":"error","summary":"No","detail":"Why","address":"a.b"}}"#,
            "\n",
            r#"{"type":"diagnostic","diagnostic":{"severity":"warning","summary":"Hm","address":"a.b"}}"#,
            "\n",
            r#"{"type":"planned_change","change":{"resource":{"addr":"a.c"},"action":"update"}}"#,
            "\nnot JSON\n",
        );
        let said = Said::in_lines(text);
        assert_eq!(said.errors, [("a.b".to_owned(), "No\nWhy\n".to_owned())].into());
        assert_eq!(said.actions, [("a.c".to_owned(), "update".to_owned())].into());
    }

    #[test]
    fn tells_what_a_plan_changes_leaf_by_leaf() {
        let planned = serde_json::json!({"resource_changes": [{"address": "a.b", "change": {
            "actions": ["update"], "before": {"p": {"x": "1", "y": "2"}}, "after": {"p": {"x": "1"}}}}]});
        assert_eq!(difference(&planned, "a.b"), "planned: [\"update\"]\n/p/y: \"2\" -> null");
    }
}
