//! What is sent of a patch, in its own form.

use k8sconnect_cluster::Change;
use serde_json::Value as Json;

/// A patch in the form in which it is sent.
#[derive(PartialEq)]
pub(crate) enum PatchBody {
    Apply(Json),
    Merge(Json),
    Json(Vec<Json>),
}

impl PatchBody {
    pub(crate) fn change(&self) -> Option<Change<'_>> {
        match self {
            Self::Apply(content) => Some(Change::Apply(content)),
            Self::Merge(content) => Some(Change::Merge(content)),
            Self::Json(operations) if operations.is_empty() => None,
            Self::Json(operations) => Some(Change::Json(operations)),
        }
    }

    /// The same with a note on the object, in the same write.
    #[must_use]
    pub(crate) fn noted(self, annotation: &str, text: &str, after: &Json) -> Self {
        let put = |mut content: Json| {
            let metadata = &mut content["metadata"];
            if !metadata["annotations"].is_object() {
                metadata["annotations"] = Json::Object(serde_json::Map::new());
            }
            metadata["annotations"][annotation] = text.into();
            content
        };
        match self {
            Self::Apply(content) => Self::Apply(put(content)),
            Self::Merge(content) => Self::Merge(put(content)),
            Self::Json(mut operations) => {
                let name = annotation.replace('~', "~0").replace('/', "~1");
                let operation = if after["metadata"]["annotations"].is_object() {
                    let path = format!("/metadata/annotations/{name}");
                    serde_json::json!({"op": "add", "path": path, "value": text})
                } else {
                    let value = serde_json::json!({annotation: text});
                    serde_json::json!({"op": "add", "path": "/metadata/annotations", "value": value})
                };
                operations.push(operation);
                Self::Json(operations)
            }
        }
    }
}
