//! An object of ours, as state and private state together know it.

use k8sconnect_cluster::{Cluster, Kind, Location, Scope, Targets};
use k8sconnect_core::identity::ObjectKey;
use k8sconnect_core::ignore::{Ignoring, Yielded};
use k8sconnect_core::manifest::Manifest;
use k8sconnect_core::plan::{Kept, Planner, Prior};
use tfplugin::{Diagnostics, Private};

use super::body;
use super::model::ObjectModel;
use super::stored::StoredObject;
use crate::cluster_identity::Recorded;
use crate::object::terms::Terms;
use crate::resource::LastApply;
use crate::{MANAGER, messages, place};

pub(crate) struct Held {
    pub(crate) model: ObjectModel,
    pub(crate) manifest: Manifest,
    pub(crate) stored: StoredObject,
    pub(crate) terms: Terms,
    /// What was ignored at the last write.
    pub(crate) ignoring: Ignoring,
}

impl Held {
    pub(crate) fn load(model: ObjectModel, private: &Private) -> Result<Self, Diagnostics> {
        let stored = StoredObject::load(private, &model)?;
        let terms = Terms::read(&model)?.ok_or_else(messages::state::unknown_terms)?;
        let manifest = body::former(&model, &stored)?.hiding(&terms.hidden);
        let manifest = named(manifest, stored.kind.as_ref());
        let (ignoring, _) = terms.ignoring(&manifest, &stored.yielded);
        Ok(Self { manifest, stored, terms, ignoring, model })
    }

    /// Notes what a read saw: the version, and the fields of the managers in `ignore_fields`.
    pub(crate) fn saw(&mut self, version: Option<String>, yielded: Yielded) {
        (self.ignoring, _) = self.terms.ignoring(&self.manifest, &yielded);
        self.stored.seen = version;
        self.stored.yielded = yielded;
    }

    /// Another body of the object, under the name that its kind gives it.
    pub(crate) fn named(&self, desired: Manifest) -> Manifest {
        named(desired, self.stored.kind.as_ref())
    }

    pub(crate) fn key(&self) -> &ObjectKey {
        self.manifest.key()
    }

    pub(crate) fn id(&self) -> &str {
        self.model.id.as_str().unwrap_or_default()
    }

    pub(crate) fn uid(&self) -> &str {
        self.model.uid.as_str().unwrap_or_default()
    }

    pub(crate) fn last_apply(&self) -> LastApply<&Kept> {
        match &self.stored.kept {
            Some(kept) => LastApply::Known(kept),
            None if self.uid().is_empty() => LastApply::ByGoProvider,
            None if self.model.managed_state_projection.is_null() => LastApply::Never,
            None => LastApply::Lost,
        }
    }

    /// Whether the object was imported and not written since.
    pub(crate) fn is_untouched(&self) -> bool {
        matches!(self.last_apply(), LastApply::Never)
    }

    /// Who plans on the terms of the last write.
    pub(crate) fn planner(&self) -> Planner<'_> {
        Planner { manager: MANAGER, ignoring: &self.ignoring }
    }

    /// The same, as the core wants it.
    pub(crate) fn prior(&self) -> Prior<'_> {
        Prior {
            manifest: &self.manifest,
            id: self.id(),
            uid: self.uid(),
            kept: self.stored.kept.as_deref(),
            key: self.stored.key.as_ref(),
            ignoring: &self.ignoring,
        }
    }

    /// What state says about the cluster of the object.
    pub(crate) fn recorded(&self) -> Recorded<'_> {
        Recorded {
            key: self.key(),
            args: self.model.cluster_args(),
            uid: self.stored.cluster.as_deref(),
        }
    }

    /// Where the object lives.
    pub(crate) async fn location(&self, cluster: &Cluster) -> Result<Location, Diagnostics> {
        place::remembered(&Targets::from(cluster), self.stored.kind.as_ref(), self.key()).await
    }
}

/// A namespace that is written means nothing to a kind that has none.
fn named(manifest: Manifest, kind: Option<&Kind>) -> Manifest {
    let is_clusterwide = |kind: &Kind| kind.gvk == *manifest.gvk() && kind.scope == Scope::Cluster;
    match kind.is_some_and(is_clusterwide) {
        true => manifest.of_no_namespace(),
        false => manifest,
    }
}
