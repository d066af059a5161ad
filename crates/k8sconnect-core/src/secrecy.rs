//! What may not be shown of an object. This is the one place that decides it; projection, notices,
//! messages and the scrubbing of the server's words all ask here.
//!
//! Hidden are the values of a Secret, whatever else the user names, and of a body that is never
//! stored everything but its identity. Only *values* can be hidden: names of fields, keys of list
//! items and members of sets are parts of a path, and paths are what everything is told by.

use serde_json::Value;

use crate::field::pattern::{PatternError, PatternProblem, Relation};
use crate::field::walk::at;
use crate::field::{FieldPath, FieldSet, PathElement, Pattern};
use crate::identity::Gvk;
use crate::reserved::SERVER_METADATA;

/// The annotation in which kubectl keeps a copy of the whole object, values included.
pub(crate) const LAST_APPLIED: &str = "kubectl.kubernetes.io/last-applied-configuration";

/// Which values of one object may not be shown.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Secrecy {
    scope: Scope,
    patterns: Vec<Pattern>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Scope {
    /// What the patterns mean.
    #[default]
    Listed,
    /// And the values of a Secret.
    SecretData,
    /// Whatever does not say which object is meant.
    Everything,
}

impl Secrecy {
    /// What the kind alone hides, and what the user wants hidden.
    pub fn of(gvk: &Gvk, patterns: &[Pattern]) -> Self {
        let scope = if gvk.is_secret() { Scope::SecretData } else { Scope::Listed };
        Self { scope, patterns: patterns.to_vec() }
    }

    /// Hides all that can be hidden.
    pub fn everything() -> Self {
        Self { scope: Scope::Everything, patterns: Vec::new() }
    }

    /// Whether there is nothing to hide.
    pub fn is_open(&self) -> bool {
        self.scope == Scope::Listed && self.patterns.is_empty()
    }

    /// Whether the value of a field, seen on an object, may not be shown. A part that is to be
    /// hidden hides the whole of a field that is one value.
    pub fn conceals(&self, path: &FieldPath, object: &Value) -> bool {
        if self.is_open() {
            return false;
        }
        let names: Vec<_> = path.elements().iter().take(3).map(field_name).collect();
        let by_scope = match (self.scope, names.as_slice()) {
            (Scope::Everything, [Some("apiVersion" | "kind")]) => false,
            (Scope::Everything, [Some("metadata"), Some("name" | "namespace")]) => false,
            // What the server writes is nobody's secret.
            (Scope::Everything, [Some("status"), ..]) => false,
            (Scope::Everything, [Some("metadata"), Some(name), ..]) => {
                !SERVER_METADATA.contains(name)
            }
            (Scope::Everything, _) => true,
            (Scope::SecretData, [Some("data" | "stringData"), ..]) => true,
            (_, [Some("metadata"), Some("annotations"), Some(LAST_APPLIED)]) => true,
            _ => false,
        };
        by_scope || self.patterns.iter().any(|pattern| hides(pattern, path, object))
    }

    /// Whether a value, seen or written at a place, may not be shown there: the place is hidden, or
    /// something in the value is.
    pub fn conceals_within(&self, path: &FieldPath, value: &Value, object: &Value) -> bool {
        if self.is_open() {
            return false;
        }
        let mut found = Vec::new();
        self.conceals(path, object) || {
            self.collect(value, object, &mut path.clone(), &mut found);
            !found.is_empty()
        }
    }

    /// Whether a place of a Secret is hidden, or there may be something below it that is.
    pub fn reaches_secret_data(&self, path: &FieldPath) -> bool {
        let names: Vec<_> = path.elements().iter().map(field_name).collect();
        let holds = matches!(
            names.as_slice(),
            [] | [Some("metadata")] | [Some("metadata"), Some("annotations")]
        );
        self.scope == Scope::SecretData && (holds || self.conceals(path, &Value::Null))
    }

    /// The values in an object, as somebody wrote it or as the server holds it, that may not be
    /// shown.
    pub fn hidden_in<'a>(&self, object: &'a Value) -> Vec<&'a Value> {
        let mut found = Vec::new();
        if !self.is_open() {
            self.collect(object, object, &mut FieldPath::default(), &mut found);
        }
        found
    }

    fn collect<'a>(
        &self,
        value: &'a Value,
        object: &Value,
        path: &mut FieldPath,
        found: &mut Vec<&'a Value>,
    ) {
        let mut below = |element, value| {
            path.push(element);
            self.collect(value, object, path, found);
            path.pop();
        };
        match value {
            Value::Object(map) => {
                map.iter().for_each(|(name, value)| below(PathElement::field(name.clone()), value));
            }
            Value::Array(items) => {
                items.iter().enumerate().for_each(|(n, v)| below(PathElement::Index(n), v));
            }
            Value::Null => {}
            scalar if self.conceals(path, object) => found.push(scalar),
            _ => {}
        }
    }

    /// The patterns that mean none of these fields.
    pub fn unmatched(&self, fields: &FieldSet, object: &Value) -> Vec<&Pattern> {
        if self.patterns.is_empty() {
            return Vec::new();
        }
        let mut leaves = fields.leaves();
        if self.scope == Scope::SecretData {
            // It is sent as `data`, and hidden by either name.
            leaves.push(FieldPath::fields(["stringData"]));
        }
        let means = |pattern: &Pattern| leaves.iter().any(|leaf| hides(pattern, leaf, object));
        self.patterns.iter().filter(|pattern| !means(pattern)).collect()
    }

    /// Fields whose value is to be hidden and stands in their own path: members of sets, and key
    /// fields that somebody names. Finalizers are no secret.
    pub fn betrayed(&self, fields: &FieldSet, object: &Value) -> Vec<FieldPath> {
        if self.is_open() {
            return Vec::new();
        }
        let is_member = |path: &FieldPath| {
            path.elements().iter().any(|element| matches!(element, PathElement::Value(_)))
                && path.elements().first().and_then(field_name) != Some("metadata")
        };
        let named = |path: &FieldPath| {
            path.names_its_item()
                && self.patterns.iter().any(|p| p.relation(path, object) == Some(Relation::Means))
        };
        let members = fields.members().into_iter();
        members
            .filter(|path| named(path) || is_member(path) && self.conceals(path, object))
            .collect()
    }
}

/// Reads a path as users write it to mean what is to be hidden.
pub fn pattern(text: &str) -> Result<Pattern, PatternError> {
    let refuse = |problem| Err(PatternError { text: text.to_owned(), problem });
    if text.trim().starts_with("manager=") {
        return refuse(PatternProblem::Manager);
    }
    let pattern = Pattern::parse(text)?;
    if pattern.means_identity() {
        return refuse(PatternProblem::Identity);
    }
    Ok(pattern)
}

fn hides(pattern: &Pattern, path: &FieldPath, object: &Value) -> bool {
    match pattern.relation(path, object) {
        Some(Relation::Means | Relation::Covers) => true,
        // A scalar has no parts.
        Some(Relation::ReachesInto) => {
            at(object, path).is_none_or(|v| v.is_object() || v.is_array())
        }
        None => false,
    }
}

fn field_name(element: &PathElement) -> Option<&str> {
    match element {
        PathElement::Field(name) => Some(name),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn path(text: &str) -> FieldPath {
        text.parse().unwrap()
    }

    fn deployment() -> Value {
        json!({"spec": {"env": [{"name": "A", "value": "x"}, {"name": "B", "value": "y"}],
            "args": ["--token=x"], "hosts": ["a"]}})
    }

    fn listed(patterns: &[&str]) -> Secrecy {
        let patterns: Vec<_> = patterns.iter().map(|text| pattern(text).unwrap()).collect();
        Secrecy::of(&Gvk::new("apps/v1", "Deployment"), &patterns)
    }

    fn conceals(secrecy: &Secrecy, field: &str) -> bool {
        secrecy.conceals(&path(field), &deployment())
    }

    #[test]
    fn a_path_hides_what_it_means_and_all_below_it() {
        let secrecy = listed(&["spec.env[name=A].value"]);
        assert!(conceals(&secrecy, "spec.env[name=A].value"));
        assert!(!conceals(&secrecy, "spec.env[name=B].value"));
        assert!(conceals(&listed(&["spec.env"]), "spec.env[name=B].value"));
        assert!(conceals(&listed(&["spec.env[?(@.value==\"y\")]"]), "spec.env[name=B].value"));
    }

    #[test]
    fn a_part_of_one_value_hides_all_of_it() {
        assert!(conceals(&listed(&["spec.args[*]"]), "spec.args"));
        assert!(conceals(&listed(&["spec.args[*].more"]), "spec.args"));
        assert!(!conceals(&listed(&["spec.replicas.more"]), "spec.env[name=A].value"));
    }

    #[test]
    fn a_secret_needs_no_path_and_its_copy_in_an_annotation_is_hidden_too() {
        let secrecy = Secrecy::of(&Gvk::new("v1", "Secret"), &[]);
        assert!(conceals(&secrecy, "data.a") && conceals(&secrecy, "stringData.a"));
        let copy = r#"metadata.annotations["kubectl.kubernetes.io/last-applied-configuration"]"#;
        assert!(conceals(&secrecy, copy) && conceals(&listed(&["spec.args"]), copy));
        assert!(!conceals(&secrecy, "type") && !conceals(&Secrecy::default(), copy));
    }

    #[test]
    fn whatever_holds_a_secret_is_one() {
        let copy = json!({"annotations": {LAST_APPLIED: "{data: c2Vj}", "note": "x"}});
        let object = json!({"type": "Opaque", "data": {"a": "c2Vj"}, "metadata": copy});
        let secrecy = Secrecy::of(&Gvk::new("v1", "Secret"), &[]);
        let hides = |place: &[&str]| {
            let path = FieldPath::fields(place.iter().copied());
            secrecy.conceals_within(&path, at(&object, &path).unwrap(), &object)
        };
        for place in [&[][..], &["metadata"], &["metadata", "annotations"], &["data"]] {
            assert!(hides(place), "{place:?}");
        }
        assert!(!hides(&["type"]) && !hides(&["metadata", "annotations", "note"]));
        let open = FieldPath::fields(["metadata", "annotations"]);
        assert!(!secrecy.conceals_within(&open, &json!({"note": "x"}), &object));
    }

    #[test]
    fn of_a_body_that_is_never_stored_only_the_identity_shows() {
        let secrecy = Secrecy::everything();
        assert!(conceals(&secrecy, "type") && conceals(&secrecy, "metadata.labels.app"));
        let identity =
            ["apiVersion", "kind", "metadata.name", "metadata.namespace", "metadata.uid"];
        for identity in identity {
            assert!(!conceals(&secrecy, identity), "{identity}");
        }
    }

    #[test]
    fn hidden_values_are_found_in_a_body_that_nobody_has_answered_yet() {
        let body = deployment();
        let secrecy = listed(&["spec.env[name=A]", "spec.args"]);
        let texts: Vec<_> =
            secrecy.hidden_in(&body).into_iter().filter_map(Value::as_str).collect();
        assert_eq!(texts, ["--token=x", "A", "x"]);
        assert!(Secrecy::default().hidden_in(&body).is_empty());
    }

    #[test]
    fn a_path_that_means_nothing_is_known() {
        let fields: FieldSet =
            [path("spec.env[name=A].value"), path("spec.args")].into_iter().collect();
        let secrecy = listed(&["spec.env[*].value", "spec.arsg", "spec.args[*]"]);
        let unmatched: Vec<_> =
            secrecy.unmatched(&fields, &deployment()).into_iter().map(Pattern::text).collect();
        assert_eq!(unmatched, ["spec.arsg"]);
        let patterns = [pattern("stringData.a").unwrap()];
        let secret = Secrecy::of(&Gvk::new("v1", "Secret"), &patterns);
        assert_eq!(secret.unmatched(&fields, &json!({})), Vec::<&Pattern>::new());
    }

    #[test]
    fn what_its_own_path_would_show_is_known() {
        let fields: FieldSet = [
            path(r#"metadata.finalizers[="example.com/f"]"#),
            path(r#"spec.hosts[="a"]"#),
            path("spec.env[name=A].name"),
            path("spec.env[name=A].value"),
        ]
        .into_iter()
        .collect();
        let betrayed = |secrecy: &Secrecy| -> Vec<_> {
            let paths = secrecy.betrayed(&fields, &deployment());
            paths.iter().map(ToString::to_string).collect()
        };
        assert_eq!(betrayed(&Secrecy::everything()), [r#"spec.hosts[="a"]"#]);
        assert_eq!(betrayed(&listed(&["spec.env[*]"])), Vec::<String>::new());
        assert_eq!(betrayed(&listed(&["spec.env[*].name"])), ["spec.env[name=A].name"]);
    }

    #[test]
    fn identity_and_managers_are_no_paths_to_hide() {
        for text in ["metadata", "metadata.name", "kind", "manager=hpa", "spec.x[0]"] {
            assert!(pattern(text).is_err(), "{text}");
        }
    }
}
