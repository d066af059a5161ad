//! A body as a creation beside the object: under a name that nobody has.
//!
//! What is wrong with the body must stay wrong under the other name, or a replacement would be
//! planned that ends with the deletion.

use serde_json::{Value, json};

use crate::identity::Gvk;
use crate::rejection::Status;

/// A name that nobody has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Probe(String);

impl Probe {
    pub fn new(token: &str) -> Self {
        Self(format!("k8sconnect-probe-{token}"))
    }

    /// The body under that name. A definition is named after its group, so it gets another group.
    pub fn beside(&self, body: &Value, gvk: &Gvk) -> Value {
        let Self(probe) = self;
        let mut body = body.clone();
        let mut name = probe.clone();
        let definition = Gvk::definition();
        if (&gvk.group, &gvk.kind) == (&definition.group, &definition.kind) {
            let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
            let plural = text(&body["spec"]["names"]["plural"]);
            let group = text(&body["spec"]["group"]);
            // The end of a group may ask for an annotation, and one without a dot is none.
            let join = if group.contains('.') { "." } else { "-" };
            let other = format!("{probe}{join}{group}");
            // A name that does not go with the group must not do so here either.
            if body["metadata"]["name"] == format!("{plural}.{group}") {
                name = format!("{plural}.{other}");
            }
            // A definition without a map as its `spec` is refused for that under any name.
            if let Some(Value::Object(spec)) = body.get_mut("spec") {
                spec.insert("group".into(), other.into());
            }
        }
        body["metadata"]["name"] = json!(name);
        body
    }

    /// A refusal of that body, in the words that it would have under the name that it is to bear.
    /// Nobody knows the other.
    pub fn told(&self, mut status: Status, name: &str) -> Status {
        let Self(probe) = self;
        let told = |text: &str| {
            let group = ["\"", "."].map(|before| (format!("{before}{probe}."), before));
            let group = group
                .iter()
                .fold(text.to_owned(), |text, (found, before)| text.replace(found, before));
            group.replace(&format!("{probe}-"), "").replace(probe, name)
        };
        status.message = told(&status.message);
        for cause in &mut status.details.causes {
            cause.message = told(&cause.message);
        }
        status
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn definition(name: &str, group: &str) -> Value {
        let body = json!({"metadata": {"name": name},
                          "spec": {"group": group, "names": {"plural": "things"}}});
        let gvk = Gvk::new("apiextensions.k8s.io/v1", "CustomResourceDefinition");
        Probe::new("ab12").beside(&body, &gvk)
    }

    fn told(words: &str) -> String {
        let status = Status { message: words.into(), ..Status::default() };
        Probe::new("ab12").told(status, "things.w.io").message
    }

    #[test]
    fn a_definition_is_tried_under_another_group() {
        let tried = definition("things.example.com", "example.com");
        assert_eq!(tried["metadata"]["name"], "things.k8sconnect-probe-ab12.example.com");
        assert_eq!(tried["spec"]["group"], "k8sconnect-probe-ab12.example.com");
        let plain = Probe::new("ab12").beside(&json!({}), &Gvk::new("v1", "ConfigMap"));
        assert_eq!(plain["metadata"]["name"], "k8sconnect-probe-ab12");
    }

    #[test]
    fn a_definition_whose_spec_is_no_map_is_tried_as_it_is() {
        let gvk = Gvk::definition();
        for spec in [json!("text"), json!(["a"]), json!(7), Value::Null] {
            let body = json!({"metadata": {"name": "things.w.io"}, "spec": spec});
            let tried = Probe::new("ab12").beside(&body, &gvk);
            assert_eq!(tried["spec"], body["spec"]);
        }
        let tried = Probe::new("ab12").beside(&json!({"metadata": {"name": "a"}}), &gvk);
        assert_eq!(tried.get("spec"), None);
    }

    #[test]
    fn what_is_wrong_with_a_definition_stays_wrong_under_another_group() {
        // Only the group was changed, and the name says another.
        let tried = definition("things.w.io", "z.io");
        assert_eq!(tried["metadata"]["name"], "k8sconnect-probe-ab12");
        assert_eq!(tried["spec"]["group"], "k8sconnect-probe-ab12.z.io");
        // One of the community's wants an annotation, and one without a dot is refused.
        let kept = definition("things.x.k8s.io", "x.k8s.io")["spec"]["group"].clone();
        assert!(kept.as_str().unwrap().ends_with(".x.k8s.io"), "{kept}");
        let kept = definition("things.plain", "plain")["spec"]["group"].clone();
        assert!(!kept.as_str().unwrap().contains('.'), "{kept}");
    }

    #[test]
    fn a_refusal_is_told_under_the_name_that_the_user_gave() {
        for (said, expected) in [
            (r#""k8sconnect-probe-ab12" is invalid"#, r#""things.w.io" is invalid"#),
            (r#"group "k8sconnect-probe-ab12.w.io""#, r#"group "w.io""#),
            (r#""things.k8sconnect-probe-ab12.w.io""#, r#""things.w.io""#),
            (r#"group "k8sconnect-probe-ab12-plain""#, r#"group "plain""#),
        ] {
            assert_eq!(told(said), expected);
        }
    }
}
