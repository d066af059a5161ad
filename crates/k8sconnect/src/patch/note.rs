//! What a patch writes on its target: from whom it took what.
//!
//! State may be lost before it is written, and private state is lost with a tainted resource; the
//! object is there as long as there is anything to give back. The note comes with the first write,
//! is kept right when fields join or leave, and goes with the hand-back. It holds paths and names,
//! never a value of the object, and of the patch only a hash.

use k8sconnect_core::field::{FieldSet, fields_v1};
use k8sconnect_core::identity::{ObjectKey, patch_annotation, patch_of};
use k8sconnect_core::owners::{Manager, Operation, Owners, Ownership};
use k8sconnect_core::patch::{Mark, manager_of};
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;
use tfplugin::Diagnostics;

use crate::messages;

const VERSION: u32 = 1;

/// What all annotations of an object may come to, names and texts.
const MOST: usize = 256 << 10;

/// Room for the annotation's name and for the digest, which a plan does not know yet.
const UNWRITTEN: usize = 128;

#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Note {
    /// Which patch was written, under a key that only private state holds.
    pub(crate) digest: String,
    /// What others lost by it.
    pub(crate) former: Owners,
    /// The object that it was written on, which a copy of that one is not; none in a note that does
    /// not say.
    pub(crate) uid: Option<String>,
    /// What each operation of a JSON patch touched.
    pub(crate) marks: Vec<Vec<Mark>>,
    /// The fields that the patch means, whoever holds them; none in a note that does not say.
    pub(crate) fields: FieldSet,
}

#[derive(Serialize, Deserialize)]
struct NoteForm {
    version: u32,
    patch: String,
    former: Json,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    uid: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    marks: Vec<Vec<String>>,
    #[serde(default, skip_serializing_if = "Json::is_null")]
    fields: Json,
}

impl Note {
    /// The note of the patch with this id. One that cannot be read is none: what it said is in
    /// state too.
    pub(crate) fn on(object: &Json, id: &str) -> Option<Self> {
        let text = object["metadata"]["annotations"][patch_annotation(id)].as_str()?;
        let written: NoteForm = serde_json::from_str(text).ok()?;
        if written.version != VERSION {
            return None;
        }
        let marks = written.marks.iter().map(|marks| marks.iter().map(|it| it.parse()).collect());
        Some(Self {
            digest: written.patch,
            former: Owners::from_managed_fields(&written.former).ok()?,
            uid: written.uid,
            marks: marks.collect::<Result<_, _>>().ok()?,
            fields: match &written.fields {
                Json::Null => FieldSet::default(),
                fields => fields_v1::decode(fields).ok()?,
            },
        })
    }

    /// Whether it came to this object with a copy of the one that it was written on.
    pub(crate) fn is_copied_to(&self, object: &Json) -> bool {
        self.uid.as_deref().is_some_and(|uid| Some(uid) != object["metadata"]["uid"].as_str())
    }

    /// What the notes on an object say that patches mean, except for the one with this id.
    pub(crate) fn meant_by_others(object: &Json, id: Option<&str>) -> Owners {
        let annotations = object["metadata"]["annotations"].as_object();
        let ids = annotations.into_iter().flatten().filter_map(|(name, _)| patch_of(name));
        let meant = ids.filter(|other| Some(*other) != id).filter_map(|id| {
            let fields = Self::on(object, id)?.fields;
            let manager = Manager {
                name: manager_of(id),
                operation: Operation::Update,
                subresource: String::new(),
                api_version: object["apiVersion"].as_str()?.to_owned(),
                time: None,
            };
            (!fields.is_empty()).then_some(Ownership { manager, fields })
        });
        Owners(meant.collect())
    }

    /// Whether any patch left a note.
    pub(crate) fn is_any_on(object: &Json) -> bool {
        let annotations = object["metadata"]["annotations"].as_object();
        annotations.into_iter().flatten().any(|(name, _)| patch_of(name).is_some())
    }

    /// Whether the patch with this id left a note, whatever it says.
    pub(crate) fn is_on(object: &Json, id: &str) -> bool {
        object["metadata"]["annotations"].get(patch_annotation(id)).is_some()
    }

    /// Refuses a note that the server would not take: all annotations of an object have a limit
    /// together, and what it would say of ours means nothing to the user.
    pub(crate) fn check(
        &self,
        key: &ObjectKey,
        object: &Json,
        id: Option<&str>,
    ) -> Result<(), Diagnostics> {
        let own = patch_annotation(id.unwrap_or_default());
        let annotations = object["metadata"]["annotations"].as_object();
        let others = annotations.into_iter().flatten().filter(|(name, _)| **name != own);
        let others = others.map(|(name, text)| name.len() + text.as_str().map_or(0, str::len));
        let ours = self.text().len() + UNWRITTEN;
        let all: usize = others.sum::<usize>() + ours;
        match all > MOST {
            true => Err(messages::patch::too_many_fields(key, ours, all).into()),
            false => Ok(()),
        }
    }

    pub(crate) fn text(&self) -> String {
        let written = NoteForm {
            version: VERSION,
            patch: self.digest.clone(),
            former: self.former.to_managed_fields(),
            uid: self.uid.clone(),
            marks: texts(&self.marks),
            fields: match self.fields.is_empty() {
                true => Json::Null,
                false => fields_v1::encode(&self.fields),
            },
        };
        serde_json::to_string(&written).unwrap_or_default()
    }
}

/// Marks as they are kept.
pub(crate) fn texts(marks: &[Vec<Mark>]) -> Vec<Vec<String>> {
    marks.iter().map(|marks| marks.iter().map(ToString::to_string).collect()).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_is_noted_is_read_again() {
        let former = json!([{"manager": "hpa", "operation": "Update", "apiVersion": "apps/v1",
            "subresource": "scale", "fieldsV1": {"f:spec": {"f:replicas": {}}}}]);
        let note = Note {
            digest: "abc".into(),
            former: Owners::from_managed_fields(&former).unwrap(),
            uid: Some("0f3a".into()),
            marks: vec![vec!["=spec.replicas".parse().unwrap()], vec![]],
            fields: ["spec.replicas".parse().unwrap()].into_iter().collect(),
        };
        let object = json!({"metadata": {"annotations": {patch_annotation("x"): note.text()}}});
        assert_eq!(Note::on(&object, "x"), Some(note));
        assert_eq!(Note::on(&object, "y"), None);
        assert!(Note::is_on(&object, "x") && !Note::is_on(&object, "y"));
    }

    #[test]
    fn a_note_from_before_fields_were_listed_is_read_as_listing_none() {
        let text = r#"{"version":1,"patch":"abc","former":[]}"#;
        let object = json!({"metadata": {"annotations": {patch_annotation("x"): text}}});
        let note = Note { digest: "abc".into(), ..Note::default() };
        assert_eq!(Note::on(&object, "x"), Some(note.clone()));
        assert_eq!(note.text(), text);
        assert_eq!(Note::meant_by_others(&object, None), Owners::default());
    }

    #[test]
    fn a_note_that_somebody_scribbled_on_is_none() {
        let object = json!({"metadata": {"annotations": {patch_annotation("x"): "{"}}});
        assert_eq!(Note::on(&object, "x"), None);
        assert!(Note::is_on(&object, "x"));
    }
}
