//! What the server is asked about a patch, once its object is found: one that is to be made, and one
//! that was made before.

use k8sconnect_cluster::{Found, Location, Targets};
use k8sconnect_core::field::FieldPath;
use k8sconnect_core::field::walk::at;
use k8sconnect_core::handback::{Extent, Readings, forget};
use k8sconnect_core::owners::Owners;
use k8sconnect_core::patch::{Patch, Written};
use serde_json::Value as Json;
use tfplugin::{Diagnostics, Value};

use super::target::Sighting;
use super::{later, remember};
use crate::messages;
use crate::messages::ownership::Whose;
use crate::messages::patch::{Going, Stage};
use crate::patch::elsewhere::Elsewhere;
use crate::patch::in_state::PatchInState;
use crate::patch::model::{PatchModel, PreviousOwners, managed_fields};
use crate::patch::trial::{PatchDryRun, Surgery};
use crate::patch::{foresight, outlook};
use crate::plan_ledger::{Address, Fact, Name};
use crate::plan_phase::PlanPhase;
use crate::resource::Adoption;
use crate::resource::live::{NamesObject, uid_of, version_of};
use crate::resource::retry::{Attempt, Tries};
use crate::session::Session;

/// What a plan is made of.
pub(super) struct PatchPlan<'a> {
    pub(super) session: &'a Session,
    pub(super) targets: &'a Targets,
    pub(super) location: &'a Location,
    pub(super) patch: &'a Patch,
    pub(super) address: Address,
    /// The id of the patch that this creation replaces.
    pub(super) predecessor: Option<&'a str>,
    pub(super) phase: &'a PlanPhase,
}

impl PatchPlan<'_> {
    pub(super) async fn creation(
        &self,
        proposed: PatchModel,
        live: Json,
        adoption: Adoption,
        notices: &mut Diagnostics,
    ) -> Result<PatchModel, Diagnostics> {
        let surgery = Surgery {
            targets: self.targets,
            location: self.location,
            patch: self.patch,
            id: None,
            manager: "",
            past: None,
            key: None,
        };
        let (live, mut trial) = self.tried(&surgery, live).await?;
        self.without_predecessor(&live, &mut trial, adoption, notices).await?;
        let mut unsaid = Diagnostics::new();
        let notices = match self.is_left_to_the_write(&trial, adoption) {
            true => &mut unsaid,
            false => {
                self.contested(&trial, adoption, Stage::New, notices)?;
                notices
            }
        };
        let key = self.patch.key();
        if adoption == Adoption::Refuse {
            self.wanted_by_others_of_this_run(&trial)?;
        }
        notices.extend(messages::object::server_warnings(key, &trial.warnings));
        notices.extend(messages::patch::takes(key, &trial.verdict, &[], &[]));
        notices.extend(messages::patch::spared(key, &trial.script.spared));
        self.tell_besides(&live, &trial, notices)?;
        self.tell_nulls(&trial, notices)?;
        trial.note(String::new(), trial.verdict.lost.clone()).check(key, &trial.answer, None)?;
        remember(self.session, self.address.clone(), &live, &trial);
        self.note_change();
        Ok(PatchModel {
            managed_fields: managed_fields(&trial.outcome.leaves),
            managed_state_projection: Value::Known(foresight::planned(
                self.patch, &live, &trial, None, None,
            )),
            ..later(proposed, None)
        })
    }

    pub(super) async fn change(
        &self,
        held: &PatchInState,
        proposed: PatchModel,
        (live, seen): (Json, Sighting),
        adoption: Adoption,
        notices: &mut Diagnostics,
    ) -> Result<PatchModel, Diagnostics> {
        let key = self.patch.key();
        let manager = held.manager();
        let same_object = held.is_same_object(&live);
        let concealment = held.stored.key.as_ref();
        let past = held.past().filter(|_| same_object);
        if let Some((former, kept)) = past
            && former == self.patch
            && self.patch.is_settled(kept, concealment, &live, &manager).naming(key)?
        {
            if seen == Sighting::Refreshed {
                notices.extend(messages::patch::going(key, &live, Going::Stands));
            }
            return Ok(settled(proposed, held));
        }
        let surgery = Surgery {
            targets: self.targets,
            location: self.location,
            patch: self.patch,
            id: Some(held.id()),
            manager: &manager,
            past,
            key: concealment,
        };
        let tried = self.tried(&surgery, live).await;
        let (live, trial) = tried.map_err(|mut refusal| {
            if !same_object {
                refusal.push(messages::patch::recreated_in_vain(key));
            }
            refusal
        })?;
        self.contested(&trial, adoption, Stage::Made, notices)?;
        let former = if past.is_some() { held.former(&live) } else { Owners::default() };
        trial.note(String::new(), former).check(key, &trial.answer, Some(held.id()))?;
        notices.extend(messages::object::server_warnings(key, &trial.warnings));
        let version = version_of(&live);
        let seen_before = held.stored.target.as_ref().and_then(|it| it.resource_version.clone());
        // An apply does not repeat what its plan has reported for this version. Where the client hands
        // the warnings of the plan over, it leaves those out.
        if *self.phase != PlanPhase::Unknown || seen_before != version {
            self.tell(held, &live, &trial, notices).await?;
        }
        remember(self.session, self.address.clone(), &live, &trial);
        let state = self.changed(held, proposed, &live, &trial)?;
        if state.managed_state_projection != held.model.managed_state_projection
            || state.written() != held.model.written()
        {
            self.note_change();
        }
        Ok(state)
    }

    /// The state that the change is planned to leave.
    fn changed(
        &self,
        held: &PatchInState,
        proposed: PatchModel,
        live: &Json,
        trial: &PatchDryRun,
    ) -> Result<PatchModel, Diagnostics> {
        let (patch, concealment) = (self.patch, held.stored.key.as_ref());
        let past = held.past().filter(|_| held.is_same_object(live));
        let kept = past.map(|(_, kept)| kept);
        let mut state = later(proposed, Some(held));
        state.managed_fields = managed_fields(&trial.outcome.leaves);
        let map = foresight::planned(patch, live, trial, kept, concealment);
        state.managed_state_projection = Value::Known(map);
        if past.is_some() && trial.verdict.joins.is_empty() && held.unrecorded().is_empty() {
            state.previous_owners = owners_of(&held.model, trial);
        }
        if let Some((former, kept)) = past
            && patch.respells(former, &trial.outcome, kept, concealment)
        {
            state.patch = held.model.patch.clone();
            state.json_patch = held.model.json_patch.clone();
            state.merge_patch = held.model.merge_patch.clone();
        }
        // Where no refresh has shown in state what others changed, what is to be mended would look
        // like no change at all, and would not be applied.
        if let Some(kept) = kept
            && state == held.model
            && let now = patch.refreshed(kept, live, &held.manager()).naming(patch.key())?
            && now.texts(concealment) != kept.texts
        {
            state.managed_state_projection = Value::Unknown;
        }
        Ok(state)
    }

    fn note_change(&self) {
        let name = Name::new(self.targets.host(), &self.location.key());
        self.session.ledger.note(Fact::Changed(name));
    }

    /// Tries the patch on the object, which is read again for as long as others write to it.
    async fn tried(
        &self,
        surgery: &Surgery<'_>,
        mut live: Json,
    ) -> Result<(Json, PatchDryRun), Diagnostics> {
        let key = self.patch.key();
        let mut tries = Tries::of(key);
        loop {
            tries.begin()?;
            if let Attempt::Done(trial) = surgery.attempt(&live).await? {
                return Ok((live, trial));
            }
            let found = self.targets.get(self.location).await;
            match found.map_err(|error| messages::refusal::unanswered(key, &error))? {
                Found::Object(now) if uid_of(&now.object) == uid_of(&live) => live = now.object,
                _ => return Err(messages::object::changed_meanwhile(key).into()),
            }
        }
    }

    /// What comes of the patch beside what it takes.
    fn tell_besides(
        &self,
        live: &Json,
        trial: &PatchDryRun,
        notices: &mut Diagnostics,
    ) -> Result<(), Diagnostics> {
        let (key, answer) = (self.patch.key(), &trial.answer);
        notices.extend(messages::patch::going(key, live, Going::Made));
        notices.extend(messages::patch::finalizers(key, live, answer));
        let ignored = self.patch.ignored(live, answer, &trial.outcome);
        notices.extend(messages::patch::ignored(key, &ignored));
        notices.extend(messages::patch::hollow(key, &self.patch.hollow(live, answer)));
        let written = Written { object: answer, manager: &trial.manager };
        let unheard = self.patch.unheard(written).naming(key)?;
        notices.extend(messages::patch::unheard(key, &unheard));
        Ok(())
    }

    /// Nulls that remove nothing.
    fn tell_nulls(
        &self,
        trial: &PatchDryRun,
        notices: &mut Diagnostics,
    ) -> Result<(), Diagnostics> {
        let key = self.patch.key();
        let written = Written { object: &trial.answer, manager: &trial.manager };
        let undaunted = self.patch.undaunted(written).naming(key)?;
        notices.extend(messages::patch::undaunted(key, &undaunted));
        Ok(())
    }

    async fn tell(
        &self,
        held: &PatchInState,
        live: &Json,
        trial: &PatchDryRun,
        notices: &mut Diagnostics,
    ) -> Result<(), Diagnostics> {
        let key = self.patch.key();
        let verdict = &trial.verdict;
        let same_object = held.is_same_object(live);
        if same_object && (held.is_foreign() || !held.unrecorded().is_empty()) {
            notices.push(messages::patch::no_former_owners(key));
        }
        if !same_object {
            notices.push(messages::patch::recreated(key));
        }
        notices.extend(messages::ownership::reports(key, &verdict.since, Whose::Patch));
        let manager = held.manager();
        // What was taken from others was taken on the object that is gone.
        let former = if same_object { held.former(live) } else { Owners::default() };
        let leaving = trial.leaving(live, &manager, &former).naming(key)?;
        let elsewhere = match leaving.is_empty() {
            true => Elsewhere::default(),
            false => outlook::seen((self.targets, self.location), &former).await,
        };
        let readings = Readings { ours: live, theirs: &elsewhere.0 };
        let record = forget(&former, &leaving, &key.gvk.api_version(), readings);
        let past = Some(held).filter(|_| same_object);
        let record = trial.recorded(&record, past, live, &manager).naming(key)?;
        let heirs = trial.heirs(&record);
        let wards = trial.wards(&record, live, &manager).naming(key)?;
        notices.extend(messages::patch::takes(key, verdict, &heirs, &wards));
        notices.extend(messages::patch::spared(key, &trial.script.spared));
        self.tell_besides(live, trial, notices)?;
        // It is told with the text that brings it.
        if held.patch.as_ref() != Some(self.patch) {
            self.tell_nulls(trial, notices)?;
        }
        notices.extend(messages::patch::outdone(key, verdict));
        let (left, outdone) = (verdict.left.iter(), &verdict.outdone);
        // What was taken away, and is there again by the new text, neither stays nor goes; nor does a
        // map that was to be there, and in which fields are named now.
        let appears =
            |path: &FieldPath| at(live, path).is_none() && at(&trial.answer, path).is_some();
        let is_filled = |path: &FieldPath| {
            let text = held.stored.kept.as_ref().and_then(|kept| kept.texts.get(path));
            text.is_some_and(|text| Extent::of_text(text) == Extent::Itself)
                && trial.outcome.leaves.0.keys().any(|leaf| leaf.starts_with(path))
        };
        let left: Vec<_> = left
            .filter(|path| !outdone.contains(path) && !appears(path) && !is_filled(path))
            .cloned()
            .collect();
        let told = outlook::departure(&elsewhere, held, live, &leaving, &left, &trial.outcome);
        notices.extend(told);
        Ok(())
    }
}

/// Former owners of what stays in the patch.
fn owners_of(model: &PatchModel, trial: &PatchDryRun) -> Value<PreviousOwners> {
    let mut owners = model.previous_owners.known().cloned().unwrap_or_default();
    let stays: Vec<_> = trial.outcome.leaves.0.keys().map(|path| path.shown()).collect();
    owners.retain(|path, _| stays.contains(path));
    Value::Known(owners)
}

/// What is planned where nothing would change in the cluster.
pub(super) fn settled(proposed: PatchModel, held: &PatchInState) -> PatchModel {
    let model = held.model.clone();
    PatchModel {
        patch: model.patch,
        json_patch: model.json_patch,
        merge_patch: model.merge_patch,
        id: model.id,
        managed_fields: model.managed_fields,
        previous_owners: model.previous_owners,
        managed_state_projection: model.managed_state_projection,
        ..proposed
    }
}
