//! Other patches of the same object: which of them are about to go, and who may have a field that
//! several mean.

use std::collections::BTreeMap;

use k8sconnect_core::field::fields_v1::FieldsV1Error;
use k8sconnect_core::handback::{Leaving, Readings, hand_back};
use k8sconnect_core::owners::{Manager, Owners};
use k8sconnect_core::patch::manager_of;
use serde_json::Value as Json;
use tfplugin::Diagnostics;

use super::asked::PatchPlan;
use crate::messages;
use crate::messages::patch::Stage;
use crate::patch::note::Note;
use crate::patch::outlook;
use crate::patch::trial::PatchDryRun;
use crate::plan_ledger::{Name, PlannedAction, Target};
use crate::resource::Adoption;
use crate::resource::live::NamesObject;

impl PatchPlan<'_> {
    /// Judges a new patch as if its predecessor were gone, which owns its fields until the apply
    /// hands them back. A patch in state that no plan has kept so far is expected to be tainted: the
    /// new patch replaces it. If a later plan keeps it, the plan ledger refuses that plan.
    pub(super) async fn without_predecessor(
        &self,
        live: &Json,
        trial: &mut PatchDryRun,
        adoption: Adoption,
        notices: &mut Diagnostics,
    ) -> Result<(), Diagnostics> {
        let key = self.patch.key();
        let mut preceding = Vec::new();
        for (holder, _) in &trial.verdict.contested {
            let id = id_of(holder);
            if self.predecessor != Some(id) {
                if adoption == Adoption::TakeOver || !self.is_tainted(id, trial) {
                    continue;
                }
                let at = (self.targets, self.location);
                notices.extend(outlook::remaking(at, key, live, id, &trial.outcome).await);
            }
            preceding.push(holder.clone());
        }
        let returned = handed_back(live, &preceding).naming(key)?;
        trial.verdict.once_gone(&preceding, &returned, &key.gvk);
        Ok(())
    }

    fn is_tainted(&self, id: &str, trial: &PatchDryRun) -> bool {
        let fields = PlannedAction::TakeOver(trial.verdict.contested.clone());
        let (patch, address) = (Target::Patch(id.to_owned()), self.address.clone());
        self.session.reads.has_read(id) && self.session.ledger.plan(patch, address, fields).is_ok()
    }

    /// Whether the write is to refuse what other patches hold, and not this plan: during an apply
    /// the other one may be the patch that this one replaces, which state has set aside because of
    /// `create_before_destroy`. An error in a plan would leave it aside for good, one of the write
    /// does not. Where the client does not say that it applies, the message names the way out.
    pub(super) fn is_left_to_the_write(&self, trial: &PatchDryRun, adoption: Adoption) -> bool {
        !trial.verdict.contested.is_empty() && self.phase.is_apply() && adoption == Adoption::Refuse
    }

    pub(super) fn contested(
        &self,
        trial: &PatchDryRun,
        adoption: Adoption,
        stage: Stage,
        notices: &mut Diagnostics,
    ) -> Result<(), Diagnostics> {
        let key = self.patch.key();
        match (trial.verdict.contested.as_slice(), adoption) {
            ([], _) => Ok(()),
            (contested, Adoption::TakeOver) => {
                notices.push(messages::patch::taken_from_patches(key, contested));
                Ok(())
            }
            (contested, Adoption::Refuse) => {
                Err(messages::patch::held_by_patches(key, contested, stage).into())
            }
        }
    }

    /// What other patches are to mean once this run has made them, no object tells yet.
    pub(super) fn wanted_by_others_of_this_run(
        &self,
        trial: &PatchDryRun,
    ) -> Result<(), Diagnostics> {
        let name = Target::Name(Name::new(self.targets.host(), &self.location.key()));
        let fields = PlannedAction::Patch(trial.outcome.reach());
        let entered = self.session.ledger.plan(name, self.address.clone(), fields);
        entered.map_err(|it| messages::addresses::conflict(self.patch.key(), &it).into())
    }
}

/// The id of a patch, by its field manager.
fn id_of(holder: &Manager) -> &str {
    holder.name.strip_prefix(&manager_of("")).unwrap_or_default()
}

/// What patches that end on this object give back, and to whom.
fn handed_back(live: &Json, ending: &[Manager]) -> Result<Owners, FieldsV1Error> {
    let now = Owners::of_object(live)?;
    let mut returned = Owners::default();
    let readings = Readings { ours: live, theirs: &BTreeMap::new() };
    for holder in ending {
        let former = Note::on(live, id_of(holder)).map(|note| note.former).unwrap_or_default();
        let back = hand_back(&now, &holder.name, &former, Leaving::All, readings);
        returned.0.extend(back.into_iter().flat_map(|back| back.returned.0));
    }
    Ok(returned)
}
