//! What a patch writes on its target: from whom it took what.
//!
//! State may be lost before it is written, and private state is lost with a tainted resource; the
//! object is there as long as there is anything to give back. The note comes with the first write,
//! is kept right when fields join or leave, and goes with the hand-back. It holds paths and names,
//! never a value of the object, and of the patch only a hash.

use k8sconnect_core::identity::patch_annotation;
use k8sconnect_core::owners::Owners;
use k8sconnect_core::patch::Mark;
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

const VERSION: u32 = 1;

#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Note {
    /// Which patch was written, under a key that only private state holds.
    pub(crate) digest: String,
    /// What others lost by it.
    pub(crate) former: Owners,
    /// What each operation of a JSON patch touched.
    pub(crate) marks: Vec<Vec<Mark>>,
}

#[derive(Serialize, Deserialize)]
struct Written {
    version: u32,
    patch: String,
    former: Json,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    marks: Vec<Vec<String>>,
}

impl Note {
    /// The note of the patch with this id. One that cannot be read is none: what it said is in
    /// state too.
    pub(crate) fn on(object: &Json, id: &str) -> Option<Self> {
        let text = object["metadata"]["annotations"][patch_annotation(id)].as_str()?;
        let written: Written = serde_json::from_str(text).ok()?;
        if written.version != VERSION {
            return None;
        }
        let marks = written.marks.iter().map(|marks| marks.iter().map(|it| it.parse()).collect());
        Some(Self {
            digest: written.patch,
            former: Owners::from_managed_fields(&written.former).ok()?,
            marks: marks.collect::<Result<_, _>>().ok()?,
        })
    }

    /// Whether the patch with this id left a note, whatever it says.
    pub(crate) fn is_on(object: &Json, id: &str) -> bool {
        object["metadata"]["annotations"].get(patch_annotation(id)).is_some()
    }

    pub(crate) fn text(&self) -> String {
        let written = Written {
            version: VERSION,
            patch: self.digest.clone(),
            former: self.former.to_managed_fields(),
            marks: texts(&self.marks),
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
            marks: vec![vec!["=spec.replicas".parse().unwrap()], vec![]],
        };
        let object = json!({"metadata": {"annotations": {patch_annotation("x"): note.text()}}});
        assert_eq!(Note::on(&object, "x"), Some(note));
        assert_eq!(Note::on(&object, "y"), None);
        assert!(Note::is_on(&object, "x") && !Note::is_on(&object, "y"));
    }

    #[test]
    fn a_note_that_somebody_scribbled_on_is_none() {
        let object = json!({"metadata": {"annotations": {patch_annotation("x"): "{"}}});
        assert_eq!(Note::on(&object, "x"), None);
        assert!(Note::is_on(&object, "x"));
    }
}
