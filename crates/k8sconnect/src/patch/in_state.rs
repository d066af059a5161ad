//! A patch of ours, as state and private state together know it.
//!
//! Terraform loses private state when a provider dies in the middle of an update, and keeps the
//! rest of state. What was lost is then put together again: state lists the fields, and the object
//! bears the note of from whom they were taken.

use k8sconnect_cluster::{Location, Scope, Targets};
use k8sconnect_core::field::FieldPath;
use k8sconnect_core::handback::{Extent, Patched};
use k8sconnect_core::identity::{ObjectKey, without_marks};
use k8sconnect_core::owners::{Manager, Operation, Owners, Ownership};
use k8sconnect_core::patch::{Kept, Manner, Mark, Patch, manager_of};
use k8sconnect_core::projection::{CONCEALED_VALUE, Texts, is_concealed};
use serde_json::Value as Json;
use tfplugin::{Diagnostics, Private};

use super::model::PatchModel;
use super::note::Note;
use super::stored::StoredPatch;
use crate::cluster_identity::{Opened, Recorded};
use crate::resource::LastApply;
use crate::resource::live::uid_of;
use crate::{leaves, messages, place};

pub(crate) struct PatchInState {
    pub(crate) model: PatchModel,
    pub(crate) key: ObjectKey,
    /// What was written; `None` where another provider wrote what we refuse.
    pub(crate) patch: Option<Patch>,
    pub(crate) stored: StoredPatch,
}

impl PatchInState {
    pub(crate) fn load(model: PatchModel, private: &Private) -> Result<Self, Diagnostics> {
        let key = model.target.known().and_then(|target| target.key());
        let key = key.ok_or_else(messages::state::unknown_terms)?;
        let patch = match model.written().as_slice() {
            [(manner, _, text)] => {
                Patch::read(*manner, text.as_str().unwrap_or_default(), key.clone()).ok()
            }
            _ => None,
        };
        let stored = StoredPatch::load(private)?;
        let mut held = Self { stored, key, patch, model };
        if let Some(target) = &held.stored.target {
            held.key = place::scoped(held.key, &target.kind);
        }
        held.patch = held.patch.take().map(|patch| held.scoped(patch));
        Ok(held)
    }

    /// A patch of the same target, where that is known to live.
    pub(crate) fn scoped(&self, patch: Patch) -> Patch {
        match &self.stored.target {
            Some(target) if target.kind.scope == Scope::Cluster => patch.without_namespace(),
            _ => patch,
        }
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
        let target = self.stored.target.as_ref();
        target.is_none_or(|target| target.uid == uid_of(live))
    }

    /// Whether this is the object that the last refresh found, be it the one that was patched or one
    /// that was made anew since.
    pub(crate) fn was_seen(&self, live: &Json) -> bool {
        let successor = self.stored.target.as_ref().and_then(|target| target.successor.as_deref());
        match successor {
            Some(successor) => successor == uid_of(live),
            None => self.is_same_object(live),
        }
    }

    /// Accepts that the target is gone or was recreated, if this is its cluster. State of the Go
    /// provider never named one.
    pub(crate) fn confirm(&self, opened: &Opened, live: Option<&Json>) -> Result<(), Diagnostics> {
        match self.is_foreign() || live.is_some_and(|live| self.is_proven(live)) {
            true => Ok(()),
            false => opened.confirm_absence(&self.key, live.map(uid_of)),
        }
    }

    /// Whether the object itself shows that it is the one that was patched: by the UID in private
    /// state or, where that was lost, by the note, which names the UID of the object that it was
    /// written on. A note of an older release does not; there our entry in `managedFields` counts.
    fn is_proven(&self, live: &Json) -> bool {
        if self.stored.target.is_some() {
            return self.is_same_object(live);
        }
        match Note::on(live, self.id()).filter(|note| note.uid.is_some()) {
            Some(note) => !note.is_copied_to(live),
            None => {
                let manager = self.manager();
                let owners = Owners::of_object(live).unwrap_or_default();
                owners.0.iter().any(|entry| entry.manager.name == manager)
            }
        }
    }

    pub(crate) fn last_apply(&self) -> LastApply<&Kept> {
        match &self.stored.kept {
            Some(kept) => LastApply::Known(kept),
            // The Go provider listed no former owners.
            None if self.model.previous_owners.is_null() => LastApply::ByGoProvider,
            None => LastApply::Lost,
        }
    }

    pub(crate) fn is_foreign(&self) -> bool {
        matches!(self.last_apply(), LastApply::ByGoProvider)
    }

    /// The fields of which nobody wrote down who held them before: another provider patched them.
    pub(crate) fn unrecorded(&self) -> Vec<String> {
        let recorded = self.model.previous_owners.known();
        let kept = self.stored.kept.iter().flat_map(|kept| kept.texts.keys());
        kept.map(FieldPath::shown)
            .filter(|path| recorded.is_none_or(|recorded| !recorded.contains_key(path)))
            .collect()
    }

    /// Puts together what private state held, if it was lost, from state and from the object. An
    /// object without a trace of ours is not the one that was patched, and tells nothing.
    pub(crate) fn recover(&mut self, live: &Json) {
        let (LastApply::Lost, Some(patch)) = (self.last_apply(), &self.patch) else {
            return;
        };
        let (Ok(owners), Some(texts)) = (Owners::of_object(live), self.texts()) else {
            return;
        };
        let note = Note::on(live, self.id());
        let manager = self.manager();
        let is_ours = |entry: &Ownership| entry.manager.name == manager;
        if note.is_none() && !owners.0.iter().any(is_ours) {
            return;
        }
        let owners = match patch.manner() {
            Manner::Apply => with_fields(owners, &manager, &self.key, texts.keys()),
            Manner::Merge | Manner::Json => owners,
        };
        let mut kept = Kept { owners, texts, ..Kept::default() };
        let marks = note.map(|note| note.marks).unwrap_or_default();
        if fits(patch, &kept, &marks, live, &manager) {
            kept.marks = marks;
        }
        self.stored.kept = Some(kept);
    }

    /// The leaves that state lists. A hash says nothing without its key.
    fn texts(&self) -> Option<Texts> {
        let shown = |text: String| match is_concealed(&text) {
            true => CONCEALED_VALUE.to_owned(),
            false => text,
        };
        let listed = leaves::texts(&self.model.managed_state_projection)?;
        listed.into_iter().map(|(path, text)| Some((path.parse().ok()?, shown(text)))).collect()
    }

    /// What others lost by this patch: as the object itself says, else as state does.
    pub(crate) fn former(&self, live: &Json) -> Owners {
        Note::on(live, self.id())
            .map(|note| note.former)
            .or_else(|| self.stored.former.clone())
            .unwrap_or_else(|| self.model.losses())
    }

    /// The patched fields, with who is on record as having held each. Of a patch that another
    /// provider made, the object alone tells them.
    pub(crate) fn patched(&self, live: &Json) -> Vec<Patched> {
        let kept = self.stored.kept.as_ref().map(|kept| kept.texts.clone());
        let texts = kept.or_else(|| self.texts()).unwrap_or_else(|| {
            let ours = Owners::of_object(live).unwrap_or_default().applied_by(&self.manager());
            let paths = without_marks(ours).leaves().into_iter();
            let paths = paths.filter(|path| !path.names_its_item());
            paths.map(|path| (path, String::new())).collect()
        });
        let recorded = self.model.former();
        let patched = |(path, text): (FieldPath, String)| Patched {
            extent: Extent::of_text(&text),
            recorded: recorded.get(&path.shown()).cloned().unwrap_or_default(),
            path,
        };
        texts.into_iter().map(patched).collect()
    }

    /// What state says about the cluster of the target.
    pub(crate) fn recorded(&self) -> Recorded<'_> {
        Recorded {
            key: &self.key,
            args: self.model.cluster_args(),
            uid: self.stored.cluster.as_deref(),
        }
    }

    /// Where the target lives.
    pub(crate) async fn location(&self, targets: &Targets) -> Result<Location, Diagnostics> {
        let kind = self.stored.target.as_ref().map(|target| &target.kind);
        place::remembered(targets, kind, &self.key).await
    }
}

/// The owners with these fields in our entry, of which others may have taken since.
fn with_fields<'a>(
    mut owners: Owners,
    manager: &str,
    key: &ObjectKey,
    fields: impl Iterator<Item = &'a FieldPath>,
) -> Owners {
    let fields = fields.cloned().collect();
    let is_ours = |entry: &&mut Ownership| {
        entry.manager.name == manager && entry.manager.operation == Operation::Apply
    };
    match owners.0.iter_mut().find(is_ours) {
        Some(entry) => entry.fields = entry.fields.union(&fields),
        None => owners.0.push(Ownership {
            manager: Manager {
                name: manager.to_owned(),
                operation: Operation::Apply,
                subresource: String::new(),
                api_version: key.gvk.api_version(),
                time: None,
            },
            fields,
        }),
    }
    owners
}

/// Whether marks are those of this patch: a write that followed it, and whose answer was lost, may
/// have left others.
fn fits(patch: &Patch, kept: &Kept, marks: &[Vec<Mark>], live: &Json, manager: &str) -> bool {
    let kept = Kept { marks: marks.to_vec(), ..kept.clone() };
    let leaves = patch.refreshed(&kept, live, manager);
    leaves.is_ok_and(|leaves| leaves.0.keys().eq(kept.texts.keys()))
}
