//! Files of YAML, as they lie in folders, made into documents of one object each. The text of a
//! document stays as its author wrote it wherever that is possible: how it is written is part of
//! what is tested.

use k8sconnect_core::manifest::Manifest;
use k8sconnect_core::yaml;
use serde_json::Value;

/// One object, and the text that it came from.
#[derive(Debug, Clone, PartialEq)]
pub struct Document {
    pub text: String,
    pub value: Value,
}

/// What a part of a file turned out to be.
#[derive(Debug, Clone, PartialEq)]
pub enum Part {
    Object(Document),
    /// No object, or one that the provider refuses by its own rules.
    Skipped(String),
    /// It should be an object, but cannot be read.
    Unreadable(String),
}

/// What can be applied only once others are there, or had better come last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Tier {
    /// First, and so last to be destroyed: a namespace whose kinds vanish meanwhile is slow to go.
    Definition,
    Namespace,
    /// What pods are refused without.
    Foundation,
    Object,
    /// What judges others: applied earlier, it might refuse the rest, for want of a service that
    /// does not run or of a count that is not taken yet.
    Gate,
}

impl Tier {
    pub const ALL: [Self; 5] =
        [Self::Definition, Self::Namespace, Self::Foundation, Self::Object, Self::Gate];

    pub fn of(object: &Value) -> Self {
        match object["kind"].as_str().unwrap_or_default() {
            "Namespace" => Self::Namespace,
            "CustomResourceDefinition" => Self::Definition,
            "ServiceAccount" | "PriorityClass" | "RuntimeClass" | "StorageClass" | "LimitRange" => {
                Self::Foundation
            }
            "ValidatingWebhookConfiguration"
            | "MutatingWebhookConfiguration"
            | "ValidatingAdmissionPolicy"
            | "ValidatingAdmissionPolicyBinding"
            | "MutatingAdmissionPolicy"
            | "MutatingAdmissionPolicyBinding"
            | "ResourceQuota" => Self::Gate,
            _ => Self::Object,
        }
    }
}

/// Every document of a file; lists of objects are taken apart.
pub fn documents(text: &str) -> Vec<Part> {
    split(text).iter().flat_map(|text| parts(text)).collect()
}

fn parts(text: &str) -> Vec<Part> {
    let mut found = match yaml::parse_stream(text) {
        Ok(found) => found,
        Err(_) if text.contains("{{") => {
            return vec![Part::Skipped("a template, not YAML".to_owned())];
        }
        Err(error) => return vec![Part::Unreadable(format!("{error:?}"))],
    };
    match (found.pop(), found.is_empty()) {
        (None, _) => Vec::new(),
        (Some(document), true) => match list_items(&document.value) {
            Some(items) => items.iter().map(|item| object(&yaml::to_yaml(item), item)).collect(),
            None => vec![object(text, &document.value)],
        },
        (Some(_), false) => vec![Part::Unreadable("it cannot be taken apart".to_owned())],
    }
}

fn list_items(value: &Value) -> Option<&Vec<Value>> {
    let kind = value["kind"].as_str()?;
    if kind.ends_with("List") { value["items"].as_array() } else { None }
}

fn object(text: &str, value: &Value) -> Part {
    let said = |field: &Value| field.as_str().is_some_and(|text| !text.is_empty());
    let api_version = value["apiVersion"].as_str().unwrap_or_default();
    let skipped = |why: &str| Part::Skipped(why.to_owned());
    if !value.is_object() {
        return skipped("no object: it is not a mapping");
    }
    if !said(&value["apiVersion"]) || !said(&value["kind"]) {
        return skipped("no object: it has no `apiVersion` and `kind`");
    }
    if api_version.starts_with("kustomize.config.k8s.io/") {
        return skipped("no object: it is read by kustomize");
    }
    match Manifest::parse(text) {
        Ok(_) => Part::Object(Document { text: text.to_owned(), value: value.clone() }),
        Err(errors) => {
            let words: Vec<_> = errors.iter().map(|error| format!("{error:?}")).collect();
            Part::Skipped(format!("refused by rule: {}", words.join("; ")))
        }
    }
}

/// Takes a text apart at its `---` lines. In column 0 these can be nothing else, not even inside
/// of a block of text.
fn split(text: &str) -> Vec<String> {
    let mut found = vec![String::new()];
    for line in text.lines() {
        let behind = line
            .strip_prefix("---")
            .filter(|rest| rest.is_empty() || rest.starts_with([' ', '\t', '\r']));
        let (start, content) = match behind {
            Some(rest) => (true, rest.trim_start()),
            None => (false, line),
        };
        if start {
            found.push(String::new());
        }
        if let Some(last) = found.last_mut() {
            last.push_str(content);
            last.push('\n');
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kinds(text: &str) -> Vec<String> {
        documents(text)
            .iter()
            .map(|part| match part {
                Part::Object(document) => document.value["kind"].as_str().unwrap().to_owned(),
                Part::Skipped(why) | Part::Unreadable(why) => why.clone(),
            })
            .collect()
    }

    #[test]
    fn takes_a_file_apart_and_keeps_the_text() {
        let text = "# licence\n---\napiVersion: v1\nkind: Pod # why\nmetadata: {name: a}\n--- # next\n---\n\
                    apiVersion: v1\nkind: Secret\nmetadata: {name: b}\nstringData:\n  pem: |\n    ---\n";
        assert_eq!(kinds(text), ["Pod", "Secret"]);
        assert!(matches!(&documents(text)[0], Part::Object(one) if one.text.contains("# why")));
    }

    #[test]
    fn takes_lists_apart() {
        let text = "apiVersion: v1\nkind: List\nitems:\n- {apiVersion: v1, kind: Pod, metadata: {name: a}}\n\
                    - {apiVersion: v1, kind: Node, metadata: {name: a}}\n";
        assert_eq!(kinds(text), ["Pod", "Node"]);
    }

    #[test]
    fn says_why_something_is_no_object() {
        for (text, why) in [
            ("replicas: 3\n", "no `apiVersion`"),
            ("- a\n", "not a mapping"),
            ("apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\n", "kustomize"),
            ("a: {{ .Values.x }}\nb: {{- if }}\n", "template"),
            ("apiVersion: v1\nkind: Pod\nmetadata: {generateName: a}\n", "generateName"),
        ] {
            assert!(kinds(text)[0].contains(why), "{:?}", kinds(text));
        }
        assert!(matches!(documents("a: [")[0], Part::Unreadable(_)));
        assert_eq!(documents("# nothing\n---\n"), []);
    }
}
