//! What the first write comes to for an object that was imported: whose fields become ours too,
//! and which values would change.

use serde_json::Value;

use super::Planner;
use crate::field::fields_v1::FieldsV1Error;
use crate::identity::ID_ANNOTATION;
use crate::manifest::Manifest;
use crate::owners::{Manager, Owners};
use crate::projection::ConcealmentKey;
use crate::transition::FieldNotice;

#[derive(Clone, Debug, PartialEq)]
pub struct Takeover {
    /// How many leaves become ours.
    pub fields: usize,
    /// Who holds any of them now; our own name too, where another state had the object.
    pub holders: Vec<Manager>,
    /// The id under which another state had it, or still has.
    pub other_id: Option<String>,
    /// Those that get another value than they have.
    pub changes: Vec<FieldNotice>,
}

impl Planner<'_> {
    /// Compares the object as it stands with the answer to the dry-run of its first write.
    pub fn takeover(
        self,
        desired: &Manifest,
        key: Option<&ConcealmentKey>,
        live: &Value,
        answer: &Value,
    ) -> Result<Takeover, FieldsV1Error> {
        let (now, next) = (Owners::of_object(live)?, Owners::of_object(answer)?);
        let ours = self.our_fields(&next, answer);
        let leaves = self.project(&ours, answer, &next, desired, desired.secrecy());
        let before = self.project(&ours, live, &now, desired, desired.secrecy());
        let held = match desired.gvk().is_secret() {
            true => now.with_string_data_as_data(),
            false => now,
        };
        let mark = |object: &Value| {
            object["metadata"]["annotations"][ID_ANNOTATION].as_str().map(ToOwned::to_owned)
        };
        let mut takeover = Takeover {
            fields: leaves.0.len(),
            holders: Vec::new(),
            other_id: mark(live).filter(|id| Some(id) != mark(answer).as_ref()),
            changes: Vec::new(),
        };
        for (path, leaf) in &leaves.0 {
            let holders: Vec<_> = held.holders(path).cloned().collect();
            for manager in &holders {
                if !takeover.holders.iter().any(|known| known.is(manager)) {
                    takeover.holders.push(manager.clone());
                }
            }
            let was = before.0.get(path);
            if was != Some(leaf) {
                takeover.changes.push(FieldNotice {
                    path: path.clone(),
                    holders,
                    then: None,
                    now: was.map(|was| was.told(path, key)),
                    next: Some(leaf.told(path, key)),
                });
            }
        }
        Ok(takeover)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::ignore::Ignoring;

    fn object(data: &Value, id: &str, managers: &[(&str, &str)]) -> Value {
        let managed: Vec<_> = managers
            .iter()
            .map(|(name, operation)| {
                json!({"manager": name, "operation": operation, "apiVersion": "v1",
                    "fieldsV1": {"f:data": {"f:a": {}, "f:b": {}}}})
            })
            .collect();
        json!({"metadata": {"annotations": {ID_ANNOTATION: id}, "managedFields": managed},
            "data": data})
    }

    #[test]
    fn tells_whose_fields_become_ours_and_what_changes() {
        let ignoring = Ignoring::default();
        let planner = Planner { manager: "k8sconnect", ignoring: &ignoring };
        let body = "{apiVersion: v1, kind: ConfigMap, metadata: {name: x}, data: {a: '1', b: new}}";
        let desired = Manifest::parse(body).unwrap();
        let live = object(&json!({"a": "1", "b": "old"}), "former", &[("kubectl", "Update")]);
        let managers = [("kubectl", "Update"), ("k8sconnect", "Apply")];
        let answer = object(&json!({"a": "1", "b": "new"}), "ours", &managers);
        let takeover = planner.takeover(&desired, None, &live, &answer).unwrap();
        assert_eq!((takeover.fields, takeover.other_id.as_deref()), (2, Some("former")));
        assert_eq!(takeover.holders.len(), 1);
        let [change] = takeover.changes.as_slice() else { panic!("{takeover:?}") };
        assert_eq!((change.now.as_deref(), change.next.as_deref()), (Some("old"), Some("new")));
    }
}
