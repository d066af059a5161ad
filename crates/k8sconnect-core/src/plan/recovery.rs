//! What our last write left behind, found anew where nobody kept it.
//!
//! An object that another provider applied under our name comes without the fields and leaves that
//! we keep. The live entry alone cannot stand in for them: it has lost just what others changed
//! since, so drift would look like intention. The server knows better: a dry-run of the body held
//! in state says what we own and what it should hold. If the object holds that, what it shows now
//! is what the last write left.

use serde_json::Value;

use super::Planner;
use crate::field::fields_v1::FieldsV1Error;
use crate::manifest::Manifest;
use crate::owners::Owners;
use crate::projection::Projection;

/// An object of ours, compared with what its own body would make of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Recovered {
    /// Our leaves as the object holds them; drift included.
    pub leaves: Projection,
    pub standing: Standing,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Standing {
    /// Applying the body again would change nothing: these are everyone's fields since.
    AsApplied(Owners),
    /// Somebody changed it; what was applied is known no more.
    Changed,
}

impl Planner<'_> {
    /// `answer` is what a dry-run of `manifest` would make of `live`.
    pub fn recovered(
        self,
        manifest: &Manifest,
        live: &Value,
        answer: &Value,
    ) -> Result<Recovered, FieldsV1Error> {
        let (wanted, next) = self.written(manifest, answer)?;
        let ours = self.our_fields(&next, answer);
        let now = Owners::of_object(live)?;
        let leaves = self.project(&ours, live, &now, manifest, manifest.secrecy());
        let stands = leaves == wanted && self.our_fields(&now, live) == ours;
        let standing = if stands { Standing::AsApplied(now) } else { Standing::Changed };
        Ok(Recovered { leaves, standing })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::identity::{BIRTH_ANNOTATION, ID_ANNOTATION};
    use crate::ignore::Ignoring;

    const BODY: &str = "{apiVersion: v1, kind: ConfigMap, metadata: {name: a}, data: {k: x, l: y}}";

    fn object(data: &Value, fields: &Value) -> Value {
        json!({
            "apiVersion": "v1", "kind": "ConfigMap", "data": data,
            "metadata": {
                "name": "a",
                "annotations": {ID_ANNOTATION: "0123456789ab", BIRTH_ANNOTATION: "2025-11-13"},
                "managedFields": [{"manager": "k8sconnect", "operation": "Apply",
                    "apiVersion": "v1", "fieldsType": "FieldsV1", "fieldsV1": fields}],
            },
        })
    }

    /// As the other provider leaves an object: with one more mark of its own.
    fn fields(data: &Value, marks: &[&str]) -> Value {
        let marks: serde_json::Map<_, _> =
            marks.iter().map(|mark| (format!("f:{mark}"), json!({}))).collect();
        json!({"f:data": data, "f:metadata": {"f:annotations": marks}})
    }

    fn recovered(live: &Value) -> Recovered {
        let both = json!({"f:k": {}, "f:l": {}});
        let answer = object(&json!({"k": "x", "l": "y"}), &fields(&both, &[ID_ANNOTATION]));
        let ignoring = Ignoring::default();
        let us = Planner { manager: "k8sconnect", ignoring: &ignoring };
        us.recovered(&Manifest::parse(BODY).unwrap(), live, &answer).unwrap()
    }

    #[test]
    fn an_untouched_object_is_known_again_whatever_marks_it_bears() {
        let both = json!({"f:k": {}, "f:l": {}});
        let marks = [ID_ANNOTATION, BIRTH_ANNOTATION];
        let live = object(&json!({"k": "x", "l": "y"}), &fields(&both, &marks));
        let recovered = recovered(&live);
        assert_eq!(recovered.standing, Standing::AsApplied(Owners::of_object(&live).unwrap()));
        let paths: Vec<_> = recovered.leaves.0.keys().map(ToString::to_string).collect();
        assert_eq!(paths, ["data.k", "data.l"]);
    }

    #[test]
    fn what_others_changed_is_shown_and_not_taken_for_ours() {
        // The changed field is gone from our entry: the entry alone would hide the change.
        let live = object(&json!({"k": "x", "l": "z"}), &fields(&json!({"f:k": {}}), &[]));
        let recovered = recovered(&live);
        assert_eq!(recovered.standing, Standing::Changed);
        let texts = recovered.leaves.texts(None);
        assert!(texts.values().any(|text| text.contains('z')), "{texts:?}");
    }

    #[test]
    fn a_field_that_only_lost_its_owner_is_not_known_again() {
        let live = object(&json!({"k": "x", "l": "y"}), &fields(&json!({"f:k": {}}), &[]));
        assert_eq!(recovered(&live).standing, Standing::Changed);
    }
}
