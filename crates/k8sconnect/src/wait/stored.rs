//! What private state holds for a wait: how the last one ended, and for which object.
//!
//! State cannot tell either. A failed update leaves the former triggers in it, and whoever goes back
//! to what they were would not be waited for; and an object that was made anew bears the old name.

use serde::{Deserialize, Serialize};
use serde_json::Value as Json;
use tfplugin::{Diagnostics, Private};

use crate::envelope::{get, set};

const WAITED: &str = "waited";

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Waited {
    pub(super) outcome: Outcome,
    /// Of the object that was as it should be. None if it was to be gone.
    pub(super) uid: Option<String>,
    /// The UID of the namespace `kube-system` of the cluster that was waited in.
    #[serde(default)]
    pub(super) cluster: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Outcome {
    Met,
    Failed,
}

impl Waited {
    pub(super) fn met(object: Option<&Json>, cluster: Option<String>) -> Self {
        let uid = object.and_then(|object| object["metadata"]["uid"].as_str());
        Self { outcome: Outcome::Met, uid: uid.map(ToOwned::to_owned), cluster }
    }

    pub(super) fn failed(cluster: Option<String>) -> Self {
        Self { outcome: Outcome::Failed, uid: None, cluster }
    }

    /// `None` for what an earlier release left.
    pub(super) fn load(private: &Private) -> Result<Option<Self>, Diagnostics> {
        get(private, WAITED)
    }

    pub(super) fn keep(self, private: &mut Private) -> Result<(), Diagnostics> {
        set(private, WAITED, self)
    }

    /// Whether an object is another one than the one that was waited for.
    pub(super) fn was_for_another(&self, object: &Json) -> bool {
        self.uid.is_some() && self.uid.as_deref() != object["metadata"]["uid"].as_str()
    }
}
