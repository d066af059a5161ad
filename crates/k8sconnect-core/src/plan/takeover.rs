//! What the first write comes to for an object that was imported, or is adopted: whose fields become
//! ours too, and which values change.

use serde_json::Value;

use super::{Decision, Planner};
use crate::adoption::is_client_side;
use crate::field::FieldPath;
use crate::field::fields_v1::FieldsV1Error;
use crate::identity::ID_ANNOTATION;
use crate::owners::{Manager, Owners};
use crate::ownership::{Class, FieldChange, of_class};

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Takeover {
    /// How many leaves become ours.
    pub fields: usize,
    /// Who owns any of them now; our own name too, where another state had the object.
    pub owners: Vec<Manager>,
    /// The id under which another state had it, or still has.
    pub other_id: Option<String>,
    /// Those that change, and are not reported as taken.
    pub changes: Vec<FieldChange>,
    /// How many more change.
    pub taken: usize,
    /// Those of a past `kubectl apply`, which are moved to us.
    pub moved: Vec<FieldPath>,
}

impl Planner<'_> {
    /// What the decision about the first write comes to, for the object as it is.
    pub fn takeover(
        self,
        decision: &Decision,
        live: &Value,
        answer: &Value,
    ) -> Result<Takeover, FieldsV1Error> {
        let id = |object: &Value| {
            object["metadata"]["annotations"][ID_ANNOTATION].as_str().map(ToOwned::to_owned)
        };
        let owned = Owners::of_object(live)?;
        let mut owners: Vec<Manager> = Vec::new();
        for path in decision.projection.0.keys() {
            for owner in owned.holders(path) {
                if !owners.iter().any(|known| known.is(owner)) {
                    owners.push(owner.clone());
                }
            }
        }
        let joined = of_class(&decision.changes, &[Class::Joined]).into_iter();
        let moved = joined.filter(|it| it.owners.iter().any(is_client_side));
        let taken = of_class(&decision.changes, &[Class::TakenFrom]);
        Ok(Takeover {
            fields: decision.projection.0.len(),
            owners,
            other_id: id(live).filter(|other| Some(other) != id(answer).as_ref()),
            changes: of_class(&decision.changes, &[Class::Edited]),
            taken: taken.iter().filter(|change| change.changes_value()).count(),
            moved: moved.map(|change| change.path).collect(),
        })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::ignore::Ignoring;
    use crate::manifest::Manifest;

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

    fn takeover(live: &Value, answer: &Value) -> Takeover {
        let ignoring = Ignoring::default();
        let planner = Planner { manager: "k8sconnect", ignoring: &ignoring };
        let body = "{apiVersion: v1, kind: ConfigMap, metadata: {name: x}, data: {a: '1', b: new}}";
        let desired = Manifest::parse(body).unwrap();
        let decision = planner.decide(&desired, None, Some(live), answer).unwrap();
        planner.takeover(&decision, live, answer).unwrap()
    }

    #[test]
    fn names_the_owners_of_what_becomes_ours_and_counts_what_is_taken() {
        let live = object(&json!({"a": "1", "b": "old"}), "former", &[("kubectl", "Update")]);
        let mut answer = object(&json!({"a": "1", "b": "new"}), "ours", &[("k8sconnect", "Apply")]);
        let owners = &mut answer["metadata"]["managedFields"];
        owners.as_array_mut().unwrap().push(json!({"manager": "kubectl", "operation": "Update",
            "apiVersion": "v1", "fieldsV1": {"f:data": {"f:a": {}}}}));
        let takeover = takeover(&live, &answer);
        assert_eq!((takeover.fields, takeover.other_id.as_deref()), (2, Some("former")));
        assert_eq!((takeover.owners.len(), takeover.changes.len(), takeover.taken), (1, 0, 1));
    }

    #[test]
    fn a_value_that_nobody_loses_is_listed_as_changed() {
        let live = object(&json!({"a": "1", "b": "old"}), "former", &[]);
        let answer = object(&json!({"a": "1", "b": "new"}), "ours", &[("k8sconnect", "Apply")]);
        let takeover = takeover(&live, &answer);
        let [change] = takeover.changes.as_slice() else { panic!("{takeover:?}") };
        assert_eq!((change.live.as_deref(), change.after.as_deref()), (Some("old"), Some("new")));
        assert_eq!(takeover.taken, 0);
    }

    #[test]
    fn what_a_past_kubectl_apply_owns_of_ours_is_moved() {
        let managers = [("kubectl-client-side-apply", "Update"), ("helm", "Apply")];
        let live = object(&json!({"a": "1", "b": "old"}), "former", &managers);
        let ours = [managers[0], managers[1], ("k8sconnect", "Apply")];
        let mut answer = object(&json!({"a": "1", "b": "new"}), "ours", &ours);
        for other in 0..2 {
            answer["metadata"]["managedFields"][other]["fieldsV1"] = json!({"f:data": {"f:a": {}}});
        }
        let shown: Vec<_> =
            takeover(&live, &answer).moved.iter().map(ToString::to_string).collect();
        assert_eq!(shown, ["data.a"], "what changes is reported as taken");
    }
}
