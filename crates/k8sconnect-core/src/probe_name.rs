//! A name that no object has, for a dry-run that shows what the server makes of a body as a new object.

use serde_json::{Value, json};

use crate::identity::Gvk;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProbeName(String);

impl ProbeName {
    pub fn new(token: &str) -> Self {
        Self(format!("k8sconnect-probe-{token}"))
    }

    /// The body under that name. A CRD is named after its group, so it gets another group.
    pub fn rename(&self, body: &Value, gvk: &Gvk) -> Value {
        let Self(probe) = self;
        let mut body = body.clone();
        let mut name = probe.clone();
        let crd = Gvk::definition();
        if (&gvk.group, &gvk.kind) == (&crd.group, &crd.kind)
            && let Some(Value::Object(spec)) = body.get_mut("spec")
        {
            let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
            let plural = spec.get("names").map(|it| text(&it["plural"])).unwrap_or_default();
            let group = spec.get("group").map(text).unwrap_or_default();
            // A group of the community needs an annotation because of its suffix, which therefore stays.
            let group = format!("{probe}.{group}");
            name = format!("{plural}.{group}");
            spec.insert("group".into(), group.into());
        }
        body["metadata"]["name"] = json!(name);
        body
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_crd_gets_another_group_with_the_same_suffix() {
        let body = json!({"metadata": {"name": "things.x.k8s.io"},
            "spec": {"group": "x.k8s.io", "names": {"plural": "things"}}});
        let probe = ProbeName::new("ab12");
        let renamed = probe.rename(&body, &Gvk::definition());
        assert_eq!(renamed["metadata"]["name"], "things.k8sconnect-probe-ab12.x.k8s.io");
        assert_eq!(renamed["spec"]["group"], "k8sconnect-probe-ab12.x.k8s.io");
        let plain = probe.rename(&json!({}), &Gvk::new("v1", "ConfigMap"));
        assert_eq!(plain["metadata"]["name"], "k8sconnect-probe-ab12");
    }

    #[test]
    fn a_crd_whose_spec_is_no_map_keeps_it() {
        for spec in [json!("text"), json!(["a"]), json!(7), Value::Null] {
            let body = json!({"metadata": {"name": "things.w.io"}, "spec": spec});
            let renamed = ProbeName::new("ab12").rename(&body, &Gvk::definition());
            assert_eq!(renamed["spec"], body["spec"]);
        }
    }
}
