//! A patch of ours, as state and private state together know it.

use k8sconnect_cluster::{Kind, Location, Served, Targets};
use k8sconnect_core::identity::ObjectKey;
use k8sconnect_core::owners::Owners;
use k8sconnect_core::patch::{Kept, Patch, manager_of};
use serde_json::Value as Json;
use tfplugin::{Diagnostics, Private};

use super::model::PatchModel;
use super::note::Note;
use super::stored::Stored;
use crate::{messages, place};

pub(crate) struct Held {
    pub(crate) model: PatchModel,
    pub(crate) key: ObjectKey,
    /// What was written; `None` where another provider wrote what we refuse.
    pub(crate) patch: Option<Patch>,
    pub(crate) stored: Stored,
}

impl Held {
    pub(crate) fn load(model: PatchModel, private: &Private) -> Result<Self, Diagnostics> {
        let key = model.target.known().and_then(|target| target.key());
        let key = key.ok_or_else(messages::state::unknown_terms)?;
        let patch = match model.written().as_slice() {
            [(manner, _, text)] => {
                Patch::read(*manner, text.as_str().unwrap_or_default(), key.clone()).ok()
            }
            _ => None,
        };
        Ok(Self { stored: Stored::load(private)?, key, patch, model })
    }

    pub(crate) fn id(&self) -> &str {
        self.model.id.as_str().unwrap_or_default()
    }

    pub(crate) fn manager(&self) -> String {
        manager_of(self.id())
    }

    /// The last write as far as it is known: what was written, and what it left behind.
    pub(crate) fn past(&self) -> Option<(&Patch, &Kept)> {
        self.patch.as_ref().zip(self.stored.kept.as_ref())
    }

    /// Whether this is the object that was patched last. State of the Go provider does not say.
    pub(crate) fn is_same_object(&self, live: &Json) -> bool {
        let uid = live["metadata"]["uid"].as_str();
        self.stored.target.as_ref().is_none_or(|target| Some(target.uid.as_str()) == uid)
    }

    /// What others lost by this patch: as the object itself says, else as state does.
    pub(crate) fn former(&self, live: &Json) -> Owners {
        Note::on(live, self.id())
            .map(|note| note.former)
            .or_else(|| self.stored.former.clone())
            .unwrap_or_else(|| self.model.losses())
    }

    /// Where the target lives, by what is remembered; the server is asked if nothing is.
    pub(crate) async fn location(&self, targets: &Targets) -> Result<Location, Diagnostics> {
        let kind = match &self.stored.target {
            Some(target) if target.kind.gvk == self.key.gvk => target.kind.clone(),
            _ => self.served_kind(targets).await?,
        };
        Ok(place::location(kind, &self.key))
    }

    async fn served_kind(&self, targets: &Targets) -> Result<Kind, Diagnostics> {
        match targets.kind(&self.key.gvk).await {
            Ok(Served::Yes(kind)) => Ok(kind),
            Ok(_) => Err(messages::object::kind_no_longer_served(&self.key).into()),
            Err(error) => Err(messages::refusal::unanswered(&self.key, &error).into()),
        }
    }
}
