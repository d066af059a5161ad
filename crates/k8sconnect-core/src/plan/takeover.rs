//! What the first write comes to for an object that was imported, or is adopted: whose fields become
//! ours too, and which values would change.

use std::collections::BTreeSet;

use serde_json::Value;

use super::Planner;
use crate::adoption;
use crate::field::FieldPath;
use crate::field::fields_v1::FieldsV1Error;
use crate::identity::ID_ANNOTATION;
use crate::manifest::Manifest;
use crate::owners::{Manager, Owners};
use crate::projection::ConcealmentKey;
use crate::transition::{FieldNotice, Notices};

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Takeover {
    /// How many leaves become ours.
    pub fields: usize,
    /// Who holds any of them now; our own name too, where another state had the object.
    pub holders: Vec<Manager>,
    /// The id under which another state had it, or still has.
    pub other_id: Option<String>,
    /// Those that get another value than they have.
    pub changes: Vec<FieldNotice>,
    /// How many more do, and are told with those who lose them.
    pub taken: usize,
    /// Those that a past `kubectl apply` holds, and that are moved to us.
    pub moved: Vec<FieldPath>,
}

impl Takeover {
    /// Without the changes that are told with those who lose them.
    #[must_use]
    pub fn besides(mut self, notices: &Notices) -> Self {
        let told: BTreeSet<_> = notices.paths().collect();
        let all = self.changes.len();
        self.changes.retain(|change| !told.contains(&change.path));
        self.taken += all - self.changes.len();
        self.moved.retain(|path| !told.contains(path));
        self
    }
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
        let is_moved = |path: &FieldPath| now.holders(path).any(adoption::is_client_side);
        let moved = leaves.0.keys().filter(|path| is_moved(path)).cloned().collect();
        let held = match desired.gvk().is_secret() {
            true => now.with_string_data_as_data(),
            false => now,
        };
        let mark = |object: &Value| {
            object["metadata"]["annotations"][ID_ANNOTATION].as_str().map(ToOwned::to_owned)
        };
        let mut takeover = Takeover {
            fields: leaves.0.len(),
            other_id: mark(live).filter(|id| Some(id) != mark(answer).as_ref()),
            moved,
            ..Takeover::default()
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
        let told = Notices { takes: vec![change.clone()], ..Notices::default() };
        let rest = takeover.besides(&told);
        assert_eq!((rest.changes.len(), rest.taken), (0, 1), "told once");
    }

    #[test]
    fn what_a_past_kubectl_apply_holds_of_ours_is_moved() {
        let ignoring = Ignoring::default();
        let planner = Planner { manager: "k8sconnect", ignoring: &ignoring };
        let body = "{apiVersion: v1, kind: ConfigMap, metadata: {name: x}, data: {a: '1', b: new}}";
        let desired = Manifest::parse(body).unwrap();
        let managers = [("kubectl-client-side-apply", "Update"), ("helm", "Apply")];
        let live = object(&json!({"a": "1", "b": "old"}), "former", &managers);
        let ours = [managers[0], managers[1], ("k8sconnect", "Apply")];
        let answer = object(&json!({"a": "1", "b": "new"}), "ours", &ours);
        let takeover = planner.takeover(&desired, None, &live, &answer).unwrap();
        let told = Notices { takes: takeover.changes.clone(), ..Notices::default() };
        let moved = takeover.besides(&told).moved;
        let shown: Vec<_> = moved.iter().map(ToString::to_string).collect();
        assert_eq!(shown, ["data.a"], "what changes is told as taken");
    }
}
