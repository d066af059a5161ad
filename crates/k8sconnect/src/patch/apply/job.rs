//! One patch, made: tried, freed of what leaves it, written, and begun anew whenever somebody else
//! wrote in between.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use k8sconnect_cluster::{Found, Location, Mark, Persistence};
use k8sconnect_core::field::FieldPath;
use k8sconnect_core::field::fields_v1::FieldsV1Error;
use k8sconnect_core::handback::{
    Departure, Division, Leaving, Patched, forget, hand_back, rightful,
};
use k8sconnect_core::identity::patch_annotation;
use k8sconnect_core::owners::{Manager, Owners};
use k8sconnect_core::patch::{Kept, Outcome, Patch, Taking, Written, manager_of, positions};
use k8sconnect_core::projection::{ConcealmentKey, Projection};
use serde_json::Value as Json;
use tfplugin::{Applied, Diagnostics, Private, Value};
use tokio::time::Instant;

use super::PatchApply;
use crate::messages::patch::{Sent, Stage};
use crate::patch::PATIENCE;
use crate::patch::delete::{self, release};
use crate::patch::elsewhere::Elsewhere;
use crate::patch::foresight;
use crate::patch::in_state::PatchInState;
use crate::patch::model::{PatchModel, PreviousOwners, managed_fields, owners};
use crate::patch::note::Note;
use crate::patch::stored::{SeenTarget, SinceApply, StoredPatch};
use crate::patch::trial::{PatchDryRun, Surgery};
use crate::read_cache::PatchWrite;
use crate::resource::Adoption;
use crate::resource::ambiguous_write::confirm_ambiguous_write;
use crate::resource::live::{NamesObject, uid_of, version_of};
use crate::resource::retry::{Attempt, Tries};
use crate::{leaves, messages};

/// One patch to be made.
pub(super) struct Job<'a> {
    pub(super) work: &'a PatchApply,
    pub(super) location: &'a Location,
    pub(super) id: &'a str,
    pub(super) held: Option<&'a PatchInState>,
    pub(super) key: &'a ConcealmentKey,
}

/// A patch that was made.
pub(super) struct Done {
    /// The object before it, where it was seen.
    before: Option<Json>,
    after: Json,
    outcome: Outcome,
    /// What others lost by this patch, and what of that by this write.
    former: Owners,
    lost: Owners,
    warnings: Vec<String>,
}

impl Job<'_> {
    fn manager(&self) -> String {
        manager_of(self.id)
    }

    /// What was written before, on this very object.
    fn past(&self, live: &Json) -> Option<(&Patch, &Kept)> {
        self.held.filter(|held| held.is_same_object(live))?.past()
    }

    pub(super) async fn run(&self, mut planned: Option<PatchWrite>) -> Result<Done, Diagnostics> {
        // What this run makes is waited for once; what was there and is gone is not.
        let mut patience = if self.held.is_none() { PATIENCE } else { Duration::ZERO };
        let mut tries = Tries::of(self.work.key());
        loop {
            tries.begin()?;
            let (live, answered) = match planned.take() {
                Some(PatchWrite { live, answer, manager }) => (live, Some((answer, manager))),
                None => (self.look(patience).await?, None),
            };
            patience = Duration::ZERO;
            if let Attempt::Done(done) = self.attempt(live, answered).await? {
                return Ok(done);
            }
        }
    }

    async fn attempt(
        &self,
        live: Json,
        answered: Option<(Json, String)>,
    ) -> Result<Attempt<Done>, Diagnostics> {
        let manager = self.manager();
        let past = self.past(&live);
        let surgery = Surgery {
            targets: &self.work.targets,
            location: self.location,
            patch: &self.work.patch,
            id: Some(self.id),
            manager: &manager,
            past,
            key: Some(self.key),
        };
        let tried = match answered {
            Some((answer, manager)) => surgery.resume(&live, answer, manager).await?,
            None => surgery.attempt(&live).await?,
        };
        let Attempt::Done(trial) = tried else {
            return Ok(Attempt::Conflict);
        };
        let note = Note::on(&live, self.id);
        if let Some(note) = note.as_ref().filter(|note| self.is_written(&live, &trial, note)) {
            // An earlier try was answered, and the answer lost.
            let former = note.former.clone();
            return self.done(None, live, former, &trial).map(Attempt::Done);
        }
        if !trial.verdict.contested.is_empty() {
            return self.take_over(&live, &trial).await;
        }
        let former = match (past, self.held) {
            (Some(_), Some(held)) => held.former(&live),
            _ => note.as_ref().map(|note| note.former.clone()).unwrap_or_default(),
        };
        match self.hand_back_leaving(live, &trial, &former, note.unwrap_or_default()).await? {
            Attempt::Done((live, remaining)) => self.write(&surgery, live, trial, &remaining).await,
            Attempt::Conflict => Ok(Attempt::Conflict),
        }
    }

    /// Whether the note on the object says that this very change was written already.
    fn is_written(&self, live: &Json, trial: &PatchDryRun, note: &Note) -> bool {
        let patch = &self.work.patch;
        let is_new = self.past(live).is_none_or(|(former, kept)| {
            former != patch && !patch.respells(former, &trial.outcome, kept, Some(self.key))
        });
        is_new && note.digest == patch.digest(self.key) && !note.is_copied_to(live)
    }

    /// Hands back the fields that leave the patch. The object after it, and the losses that stay on
    /// record.
    async fn hand_back_leaving(
        &self,
        live: Json,
        trial: &PatchDryRun,
        former: &Owners,
        note: Note,
    ) -> Result<Attempt<(Json, Owners)>, Diagnostics> {
        let (key, manager) = (self.work.key(), self.manager());
        let leaving = trial.leaving(&live, &manager, former).naming(key)?;
        let elsewhere = self.elsewhere(&leaving, former).await?;
        let Some(readings) = elsewhere.beside(&live) else {
            return Ok(Attempt::Conflict);
        };
        let remaining = forget(former, &leaving, &key.gvk.api_version(), readings);
        let all = Owners::of_object(&live).naming(key)?;
        let back = match leaving.is_empty() {
            true => None,
            false => hand_back(&all, &manager, former, Leaving::Fields(&leaving), readings),
        };
        let Some(back) = back else {
            return Ok(Attempt::Done((live, remaining)));
        };
        let uid = Some(uid_of(&live).to_owned());
        let (annotation, text) =
            (patch_annotation(self.id), Note { former: back.former.clone(), uid, ..note }.text());
        let mark = Mark::Set { annotation: &annotation, text: &text };
        let targets = &self.work.targets;
        let released = release(targets, self.location, key, &live, &back, mark, &manager).await?;
        Ok(released.map_or(Attempt::Conflict, |after| Attempt::Done((after, remaining))))
    }

    /// Writes the patch, with the note of what it takes.
    async fn write(
        &self,
        surgery: &Surgery<'_>,
        live: Json,
        trial: PatchDryRun,
        remaining: &Owners,
    ) -> Result<Attempt<Done>, Diagnostics> {
        let (key, digest) = (self.work.key(), self.work.patch.digest(self.key));
        let held = self.held.filter(|held| held.is_same_object(&live));
        let former = trial.recorded(remaining, held, &live, surgery.manager).naming(key)?;
        let note = trial.note(digest.clone(), former.clone());
        note.check(key, &trial.answer, Some(self.id))?;
        let content = surgery.content_of(&trial);
        // What is there already is not written again; that it is meant is.
        if content.change().is_none() && Note::on(&live, self.id).as_ref() == Some(&note) {
            return self.done(Some(live.clone()), live, former, &trial).map(Attempt::Done);
        }
        let content = content.noted(&patch_annotation(self.id), &note.text(), &trial.answer);
        let Some(change) = content.change() else {
            return Ok(Attempt::Conflict);
        };
        let (targets, write) = (&self.work.targets, Persistence::Write);
        let written = targets.change(self.location, change, surgery.manager, &live, write).await;
        let error = match written {
            Ok(answer) => {
                let mut done = self.done(Some(live), answer.object, former, &trial)?;
                done.warnings = surgery.scrubbed(&answer.warnings, &done.after);
                return Ok(Attempt::Done(done));
            }
            Err(error) => error,
        };
        if surgery.disturbed(&error, &live).await {
            return Ok(Attempt::Conflict);
        }
        // The note tells, unless it said the same before.
        let says = |object: &Json| {
            uid_of(object) == uid_of(&live)
                && Note::on(object, self.id).is_some_and(|note| note.digest == digest)
        };
        let was_applied = async |now: &Json| !says(&live) && says(now);
        match confirm_ambiguous_write(targets, self.location, &error, was_applied).await {
            Some(after) => self.done(Some(live), after.object, former, &trial).map(Attempt::Done),
            None => Err(surgery.not_taken(&error, &live, Sent::Write)),
        }
    }

    /// The object in other versions, if something leaves that its former owner wrote in one of them.
    async fn elsewhere(
        &self,
        leaving: &Departure,
        former: &Owners,
    ) -> Result<Elsewhere, Diagnostics> {
        if leaving.is_empty() {
            return Ok(Elsewhere::default());
        }
        let read = Elsewhere::read(&self.work.targets, self.location, former).await;
        read.map_err(|error| messages::patch::not_handed_back(self.work.key(), &error).into())
    }

    fn done(
        &self,
        before: Option<Json>,
        after: Json,
        former: Owners,
        trial: &PatchDryRun,
    ) -> Result<Done, Diagnostics> {
        let manager = self.manager();
        let written = Written { object: &after, manager: &manager };
        let outcome = self.work.patch.outcome(written, &trial.script, &trial.shape);
        let outcome = outcome.naming(self.work.key())?;
        let outcome = outcome.without(trial.outcome.missing_in(&after));
        let lost = trial.verdict.lost.clone();
        Ok(Done { before, after, outcome, former, lost, warnings: vec![] })
    }

    /// Hands back what patches hold that nobody keeps up any more, as they would have done.
    async fn take_over(
        &self,
        live: &Json,
        trial: &PatchDryRun,
    ) -> Result<Attempt<Done>, Diagnostics> {
        let key = self.work.key();
        let contested = &trial.verdict.contested;
        if self.work.adoption == Adoption::Refuse {
            let stage = if self.held.is_some() { Stage::Made } else { Stage::New };
            return Err(messages::patch::held_by_patches(key, contested, stage).into());
        }
        let Some((theirs, _)) = contested.first() else {
            return Ok(Attempt::Conflict);
        };
        let id = theirs.name.strip_prefix(&manager_of("")).unwrap_or_default();
        let former = Note::on(live, id).map(|note| note.former).unwrap_or_default();
        delete::end(&self.work.targets, self.location, key, live, id, &former).await?;
        Ok(Attempt::Conflict)
    }

    /// The target as it is now.
    async fn look(&self, patience: Duration) -> Result<Json, Diagnostics> {
        let key = self.work.key();
        let unanswered = |error| Diagnostics::from(messages::refusal::unanswered(key, &error));
        if let Found::Object(answer) =
            self.work.targets.get(self.location).await.map_err(unanswered)?
        {
            return Ok(answer.object);
        }
        let missing = || messages::patch::missing(key, patience).into();
        if patience.is_zero() {
            return Err(missing());
        }
        let deadline = Instant::now() + patience;
        let found = self.work.targets.await_object(self.location, deadline).await;
        found.map_err(|error| messages::patch::not_awaited(key, &error))?.ok_or_else(missing)
    }

    /// Brings the answer together with what was planned, and keeps both.
    pub(super) async fn settle(
        &self,
        mut state: PatchModel,
        mut private: Private,
        done: Done,
        notices: &mut Diagnostics,
    ) -> Result<Applied<PatchModel>, Diagnostics> {
        let key = self.work.key();
        notices.extend(messages::object::server_warnings(key, &done.warnings));
        let texts = done.outcome.leaves.texts(Some(self.key));
        let told = leaves::reconcile(&state.managed_state_projection, &texts);
        if !told.surprises.is_empty() {
            notices.push(messages::object::answered_otherwise(key, &told.surprises));
        }
        if !state.managed_fields.is_known() {
            state.managed_fields = managed_fields(&done.outcome.leaves);
        }
        if !state.previous_owners.is_known() {
            let owners = self.previous_owners(&done).naming(key)?;
            state.previous_owners = Value::Known(owners);
        }
        state.managed_state_projection = Value::Known(told.map);
        let recorded = self.held.and_then(|held| held.stored.cluster.clone());
        let stored = StoredPatch {
            kept: Some(Kept {
                owners: Owners::of_object(&done.after).naming(key)?,
                texts,
                positions: positions(&done.outcome.footprints, &done.after, self.key),
                marks: done.outcome.footprints.into_iter().map(|it| it.marks).collect(),
            }),
            former: Some(done.former),
            target: Some(SeenTarget {
                kind: self.location.kind.clone(),
                uid: uid_of(&done.after).to_owned(),
                successor: None,
                resource_version: version_of(&done.after),
                content: foresight::content(&done.after, Some(self.key)),
                since_apply: SinceApply::Unchanged,
            }),
            key: Some(self.key.clone()),
            cluster: self.work.cluster_uid.clone().or(recorded),
            unread: false,
        };
        stored.save(&mut private)?;
        Ok(Applied { state, private, identity: None })
    }

    /// Who held each field before: for those that were patched already, as state knows it.
    fn previous_owners(&self, done: &Done) -> Result<PreviousOwners, FieldsV1Error> {
        let known = self.past(&done.after).and(self.held);
        let known = known.and_then(|held| held.model.previous_owners.known());
        let known = known.cloned().unwrap_or_default();
        let leaves = done.outcome.leaves.0.iter().map(|(path, leaf)| (path.clone(), leaf.clone()));
        let (stay, join): (BTreeMap<_, _>, BTreeMap<_, _>) =
            leaves.partition(|(path, _)| known.contains_key(&path.shown()));
        let manager = self.manager();
        let mut joined = match &done.before {
            Some(before) => {
                let after = Written { object: &done.after, manager: &manager };
                let gvk = &self.work.key().gvk;
                Taking { before, after, lost: &done.lost, gvk }.held_before(&Projection(join))?
            }
            None => join.into_keys().map(|path| (path, vec![])).collect(),
        };
        // What was a part of a field that left, or what an answer that was lost took, is on record.
        let version = self.work.key().gvk.api_version();
        let after = Owners::of_object(&done.after)?;
        for (path, holders) in &mut joined {
            let had = self.on_record(path, &after, &done.after);
            let had = had.as_ref().unwrap_or(holders);
            *holders = rightful(&done.former, &done.lost, &version, path, had);
        }
        let stayed = stay.into_keys().filter_map(|path| {
            let path = path.shown();
            known.get(&path).cloned().map(|owners| (path, owners))
        });
        let joined = joined.into_iter().map(|(path, held)| (path.shown(), owners(&held)));
        Ok(stayed.chain(joined).collect())
    }

    /// Who is on record for a field under another path: what is one field may be named as a whole, or
    /// by its parts, and another form does otherwise. `None` where it was not patched before.
    fn on_record(&self, path: &FieldPath, after: &Owners, object: &Json) -> Option<Vec<Manager>> {
        let (_, kept) = self.past(object)?;
        let division = Division::told_by([&kept.owners, after]);
        let is_same = |field: &Patched| {
            (path.starts_with(&field.path) && division.is_whole(&field.path))
                || (field.path.starts_with(path) && division.is_whole(path))
        };
        let held = self.held?;
        let (mut patched, unrecorded) = (held.patched(object), held.unrecorded());
        patched.retain(|field| is_same(field) && !unrecorded.contains(&field.path.shown()));
        let is_known = !patched.is_empty();
        let all: BTreeSet<_> = patched.into_iter().flat_map(|field| field.recorded).collect();
        is_known.then(|| all.into_iter().collect())
    }
}
