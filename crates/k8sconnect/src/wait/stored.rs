//! What private state holds for a wait: the outcome of the last one, and the object that it waited for.
//!
//! State holds neither. A failed update keeps the former triggers in state, so that setting them back
//! would not wait again; and a recreated object has the same name.

use serde::{Deserialize, Serialize};
use serde_json::Value as Json;
use tfplugin::{Diagnostics, Private};

use crate::resource::private_state::{get, set};

const KEY: &str = "wait";

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct StoredWait {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) last: Option<Waited>,
    /// Whether the last refresh could not read the object.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(super) unread: bool,
}

/// The last wait.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Waited {
    pub(super) outcome: WaitOutcome,
    /// Of the object that met the goal. `None` if the goal was its deletion.
    pub(super) uid: Option<String>,
    /// The UID of the namespace `kube-system` of the cluster.
    pub(super) cluster: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum WaitOutcome {
    Met,
    Failed,
}

impl StoredWait {
    pub(super) fn load(private: &Private) -> Result<Self, Diagnostics> {
        Ok(get(private, KEY)?.unwrap_or_default())
    }

    pub(super) fn save(&self, private: &mut Private) -> Result<(), Diagnostics> {
        set(private, KEY, self)
    }

    /// The UID of the cluster, if it is known.
    pub(super) fn cluster(&self) -> Option<&str> {
        self.last.as_ref().and_then(|last| last.cluster.as_deref())
    }

    pub(super) fn has_failed(&self) -> bool {
        self.last.as_ref().is_some_and(|last| last.outcome == WaitOutcome::Failed)
    }

    /// Whether an object is another one than the one that was waited for.
    pub(super) fn was_for_another(&self, object: &Json) -> bool {
        let uid = self.last.as_ref().and_then(|last| last.uid.as_deref());
        uid.is_some() && uid != object["metadata"]["uid"].as_str()
    }
}

impl Waited {
    pub(super) fn met(object: Option<&Json>, cluster: Option<String>) -> Self {
        let uid = object.and_then(|object| object["metadata"]["uid"].as_str());
        Self { outcome: WaitOutcome::Met, uid: uid.map(ToOwned::to_owned), cluster }
    }

    pub(super) fn failed(cluster: Option<String>) -> Self {
        Self { outcome: WaitOutcome::Failed, uid: None, cluster }
    }
}
