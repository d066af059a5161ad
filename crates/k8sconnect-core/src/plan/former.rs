//! What can be known of a former body that nobody stored.
//!
//! Its fields are known from what was kept of the write, and their values as far as the object
//! holds them. What neither tells is which maps and lists were written empty; the hashes that were kept
//! do.

use serde_json::{Value, json};

use super::{Kept, Planner, Prior};
use crate::field::fields_v1::FieldsV1Error;
use crate::field::{FieldPath, PathElement};
use crate::ignore::put;
use crate::import_body;
use crate::owners::Owners;
use crate::projection::{ConcealmentKey, Leaf};

impl Kept {
    /// A body of which only the maps and lists stand that were written empty, and nothing where a
    /// field of ours had no value to show.
    pub fn traces(&self, manager: &str, key: Option<&ConcealmentKey>) -> Value {
        let mut traces = json!({});
        let empty = [json!({}), json!([])];
        let named = |path: &FieldPath| {
            !path.names_its_item() && matches!(path.elements().last(), Some(PathElement::Field(_)))
        };
        let ours = self.owners.applied_by(manager).leaves();
        for path in ours.into_iter().filter(named) {
            let Some(text) = self.texts.get(&path) else {
                put(&mut traces, &path, &Value::Null);
                continue;
            };
            let told_by = |empty: &&Value| {
                Leaf::Concealed((*empty).clone()).text(&path, key).as_ref() == Some(text)
            };
            if let Some(empty) = empty.iter().find(told_by) {
                put(&mut traces, &path, empty);
            }
        }
        traces
    }
}

impl Planner<'_> {
    /// The former body as it is sent: as it was written where that is known, else our fields as
    /// the object holds them now, which comes to the same unless somebody changed them.
    pub fn former_content(
        self,
        prior: Prior<'_>,
        live: Option<&Value>,
    ) -> Result<Option<Value>, FieldsV1Error> {
        if prior.manifest.is_stored() {
            return self.content(prior.manifest, live).map(Some);
        }
        let Some(live) = live else {
            return Ok(None);
        };
        let mut ours = Owners::of_object(live)?.applied_by(self.manager);
        for identity in ["apiVersion", "kind"] {
            ours.insert(&FieldPath::fields([identity]));
        }
        ours.insert(&FieldPath::fields(["metadata", "name"]));
        Ok(Some(import_body::only(live, &ours)))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::ignore::Ignoring;
    use crate::manifest::Manifest;

    const US: &str = "k8sconnect";

    fn object(fields: &Value, mut content: Value) -> Value {
        content["metadata"]["managedFields"] = json!([
            {"manager": US, "operation": "Apply", "apiVersion": "v1", "fieldsV1": fields}]);
        content
    }

    fn planner(ignoring: &Ignoring) -> Planner<'_> {
        Planner { manager: US, ignoring }
    }

    #[test]
    fn what_was_written_empty_is_told_from_what_others_filled_or_the_server_dropped() {
        let ignoring = Ignoring::default();
        let key = ConcealmentKey([5; 32]);
        let fields = json!({"f:spec": {"f:labels": {}, "f:size": {}, "f:paused": {}, "f:args": {},
            "f:ports": {"k:{\"port\":80}": {"f:port": {}, "f:extra": {}}}}});
        let body = "{apiVersion: v1, kind: X, metadata: {name: x}, \
            spec: {labels: {}, size: 3, paused: false, args: [], ports: [{port: 80, extra: {}}]}}";
        let written = Manifest::parse(body).unwrap().never_stored("1");
        let content = |labels| json!({"metadata": {}, "spec": {"labels": labels, "size": 3, "ports": [{"port": 80, "extra": {}}]}});
        let answer = object(&fields, content(json!({})));
        let (leaves, owners) = planner(&ignoring).written(&written, &answer).unwrap();
        let kept = Kept { owners, texts: leaves.texts(Some(&key)), version: None };
        let traces = kept.traces(US, Some(&key));
        assert_eq!(
            traces,
            json!({"spec": {"labels": {}, "paused": null, "args": [], "ports": [{"port": 80, "extra": {}}]}})
        );

        let former = Manifest::remembered(written.key().clone(), "1", traces);
        let prior = Prior {
            manifest: &former,
            id: "",
            uid: "",
            kept: Some(&kept),
            key: Some(&key),
            ignoring: &ignoring,
        };
        let filled = object(&fields, content(json!({"by": "others"})));
        let refreshed = planner(&ignoring).refreshed(prior, &filled).unwrap().projection;
        assert_eq!(refreshed.texts(Some(&key)), kept.texts);
    }

    #[test]
    fn what_was_never_stored_is_sent_again_as_the_object_holds_it() {
        let ignoring = Ignoring::default();
        let live = object(
            &json!({"f:data": {"f:a": {}}, "f:metadata": {"f:labels": {"f:l": {}}}}),
            json!({"apiVersion": "v1", "kind": "Secret", "type": "Opaque",
                "metadata": {"name": "s", "uid": "u", "labels": {"l": "1", "m": "2"}},
                "data": {"a": "eA==", "b": "eQ=="}}),
        );
        let written =
            Manifest::parse("{apiVersion: v1, kind: Secret, metadata: {name: s}}").unwrap();
        let former = Manifest::remembered(written.key().clone(), "1", json!({}));
        let prior = Prior {
            manifest: &former,
            id: "",
            uid: "",
            kept: None,
            key: None,
            ignoring: &ignoring,
        };
        let content = planner(&ignoring).former_content(prior, Some(&live)).unwrap();
        let expected = json!({"apiVersion": "v1", "kind": "Secret", "data": {"a": "eA=="},
            "metadata": {"name": "s", "labels": {"l": "1"}}});
        assert_eq!(content, Some(expected));
        assert_eq!(planner(&ignoring).former_content(prior, None).unwrap(), None);
    }
}
