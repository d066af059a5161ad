//! A dry-run of a patch, and what is to be thought of its answer.
//!
//! Plan and apply walk through here alike: the plan shows what comes out, the apply needs to know
//! who will lose what before it writes, since the write itself carries the record of it.

use k8sconnect_cluster::{Answer, Error, Found, Location, Persistence, Targets};
use k8sconnect_core::field::fields_v1::FieldsV1Error;
use k8sconnect_core::field::walk::at_written;
use k8sconnect_core::field::{FieldPath, FieldSet};
use k8sconnect_core::handback::{
    Company, Departure, Division, Extent, Loss, Prospect, Tenure, record, rightful,
};
use k8sconnect_core::identity::without_marks;
use k8sconnect_core::owners::{Manager, Owners};
use k8sconnect_core::ownership::FieldChange;
use k8sconnect_core::patch::{
    Behind, Form, Inherited, Kept, Outcome, Past, Patch, Problem, Scene, Script, Shape, Standing,
    Verdict, Written, claimed, positions,
};
use k8sconnect_core::projection::ConcealmentKey;
use k8sconnect_core::rejection::Rejection;
use k8sconnect_core::scrub::Secrets;
use k8sconnect_core::spelling::{respell, respelt};
use serde_json::Value as Json;
use tfplugin::Diagnostics;

use super::body::PatchBody;
use super::in_state::PatchInState;
use super::note::Note;
use crate::messages::patch::{Sent, Stage};
use crate::resource::live::{NamesObject, uid_of, version_of};
use crate::resource::retry::Attempt;
use crate::{MANAGER, messages};

/// Who asks where nobody is to be known by it: before a patch has an id, and where our own fields
/// must not seem to go.
const PROBE: &str = "k8sconnect-patch-dry-run";

/// A patch, where it is to be made, and what was made of it before.
pub(crate) struct Surgery<'a> {
    pub(crate) targets: &'a Targets,
    pub(crate) location: &'a Location,
    pub(crate) patch: &'a Patch,
    /// Our own name, where there is one yet.
    pub(crate) id: Option<&'a str>,
    pub(crate) manager: &'a str,
    /// The patch as it was last written, and what that left behind.
    pub(crate) past: Option<(&'a Patch, &'a Kept)>,
    pub(crate) key: Option<&'a ConcealmentKey>,
}

/// What a dry-run brought.
pub(crate) struct PatchDryRun {
    pub(crate) answer: Json,
    /// Who asked.
    pub(crate) manager: String,
    pub(crate) warnings: Vec<String>,
    pub(crate) script: Script,
    pub(crate) shape: Shape,
    pub(crate) outcome: Outcome,
    pub(crate) verdict: Verdict,
}

impl PatchDryRun {
    /// What the write would leave behind; `None` where some of it cannot be told without a key.
    pub(crate) fn kept(
        &self,
        manager: &str,
        key: Option<&ConcealmentKey>,
    ) -> Result<Option<Kept>, FieldsV1Error> {
        let mut owners = Owners::of_object(&self.answer)?;
        if self.manager != manager {
            owners.0.retain(|entry| entry.manager.name != manager);
            let asker = owners.0.iter_mut().filter(|entry| entry.manager.name == self.manager);
            asker.for_each(|entry| manager.clone_into(&mut entry.manager.name));
        }
        let texts = self.outcome.leaves.texts(key);
        let marks = self.outcome.footprints.iter().map(|it| it.marks.clone()).collect();
        let told = texts.len() == self.outcome.leaves.0.len();
        let stood = |key| positions(&self.outcome.footprints, &self.answer, key);
        let positions = key.map(stood).unwrap_or_default();
        Ok(told.then_some(Kept { owners, texts, marks, positions }))
    }

    /// What the write says on the object of itself.
    pub(crate) fn note(&self, digest: String, former: Owners) -> Note {
        Note {
            digest,
            former,
            uid: Some(uid_of(&self.answer).to_owned()),
            marks: self.outcome.footprints.iter().map(|it| it.marks.clone()).collect(),
            fields: self.outcome.meant(),
        }
    }

    /// The losses on record, with those that this write adds. `held` is what was made of the patch
    /// before, on this very object.
    pub(crate) fn recorded(
        &self,
        former: &Owners,
        held: Option<&PatchInState>,
        live: &Json,
        manager: &str,
    ) -> Result<Owners, FieldsV1Error> {
        let after = Owners::of_object(&self.answer)?;
        let version = self.answer["apiVersion"].as_str().unwrap_or_default();
        let past = held.and_then(|held| Some((held, held.past()?)));
        let fields = match past {
            Some((held, _)) => {
                let unrecorded = held.unrecorded();
                let mut fields = held.patched(live);
                fields.retain(|field| {
                    self.is_still_meant(&field.path) && !unrecorded.contains(&field.path.shown())
                });
                fields
            }
            None => vec![],
        };
        let company = match self.verdict.joins.is_empty() {
            true => Company::None,
            false => Company::Newcomers,
        };
        let tenure = past.map(|(_, (_, kept))| Tenure {
            ours: manager,
            version,
            fields: &fields,
            then: &kept.owners,
            company,
        });
        Ok(record(former, Loss { lost: &self.verdict.lost, after: &after, tenure }))
    }

    /// Whether the patch means a field, or the whole that it is a part of, or parts of it: another form
    /// may name it otherwise.
    fn is_still_meant(&self, path: &FieldPath) -> bool {
        let leaves = &self.outcome.leaves.0;
        let below = || leaves.range(path..).next().is_some_and(|(leaf, _)| leaf.starts_with(path));
        self.outcome.leaves_out([path].into_iter()).is_empty() || below()
    }

    /// Of the fields that join the patch, those that do not go back to who holds them now, with who
    /// gets them.
    pub(crate) fn heirs(&self, record: &Owners) -> Vec<(FieldPath, Prospect)> {
        let version = self.answer["apiVersion"].as_str().unwrap_or_default();
        let heirs = |change: &FieldChange| {
            let lost = &self.verdict.lost;
            let returns_to = rightful(record, lost, version, &change.path, &change.owners);
            let prospect = Prospect::Stays { returns_to: returns_to.clone(), stays_with: vec![] };
            (returns_to != change.owners).then(|| (change.path.clone(), prospect))
        };
        let stays = |change: &&FieldChange| !change.owners.is_empty() && change.after.is_some();
        self.verdict.changes.iter().filter(stays).filter_map(heirs).collect()
    }

    /// Of the fields that change or go, those that the patch holds itself, be it as a part of something
    /// else, with who had them before.
    pub(crate) fn wards(
        &self,
        record: &Owners,
        live: &Json,
        manager: &str,
    ) -> Result<Vec<(FieldPath, Vec<Manager>)>, FieldsV1Error> {
        let version = self.answer["apiVersion"].as_str().unwrap_or_default();
        let now = Owners::of_object(live)?;
        let division = Division::told_by([&now]);
        let mut ours = now.clone();
        ours.0.retain(|entry| entry.manager.name == manager);
        let Verdict { changes, gone, lost, .. } = &self.verdict;
        let unheld = changes.iter().chain(gone).filter(|change| change.owners.is_empty());
        let had = unheld.map(|change| {
            let is_ours = !division.holders(&ours, &change.path, Extent::Whole).is_empty();
            (is_ours, change.path.clone(), rightful(record, lost, version, &change.path, &[]))
        });
        let wards = had.filter(|(is_ours, _, had)| *is_ours || !had.is_empty());
        Ok(wards.map(|(_, path, had)| (path, had)).collect())
    }

    /// The fields of our entry, and of the losses on record, that the patch no longer names.
    pub(crate) fn leaving(
        &self,
        live: &Json,
        manager: &str,
        former: &Owners,
    ) -> Result<Departure, FieldsV1Error> {
        let mut left: FieldSet = self.verdict.left.iter().cloned().collect();
        let now = Owners::of_object(live)?;
        if self.manager != manager {
            let applied = without_marks(now.applied_by(manager));
            let next = Owners::of_object(&self.answer)?.applied_by(&self.manager);
            left = left.union(&applied.difference(&next));
        }
        let version = self.answer["apiVersion"].as_str().unwrap_or_default();
        let ours = now.0.iter().filter(|entry| entry.manager.name == manager);
        // What others took from us meanwhile is on record as well as what we hold.
        let past = former.0.iter().filter(|entry| entry.manager.api_version == version);
        let ours = ours.chain(past).fold(FieldSet::default(), |all, it| all.union(&it.fields));
        Ok(Departure::of(left, &self.outcome.leaves, &ours))
    }
}

impl Surgery<'_> {
    /// Asks what the patch would do to the object that was read.
    pub(crate) async fn attempt(&self, live: &Json) -> Result<Attempt<PatchDryRun>, Diagnostics> {
        let Attempt::Done((script, shape)) = self.prepare(live).await? else {
            return Ok(Attempt::Conflict);
        };
        let manager = self.asker(live).naming(self.patch.key())?;
        let written = self.content(&script);
        let Attempt::Done(trial) = self.asked(live, manager, &written, script, shape).await? else {
            return Ok(Attempt::Conflict);
        };
        let shared = self.content_of(&trial);
        if shared == written {
            return Ok(Attempt::Done(trial));
        }
        // What only means the same as what others wrote would be taken from them: it is asked again,
        // and written, as the server spells it.
        let PatchDryRun { script, shape, .. } = trial;
        self.asked(live, manager, &shared, script, shape).await
    }

    /// Asks, and judges the answer.
    async fn asked(
        &self,
        live: &Json,
        manager: &str,
        content: &PatchBody,
        script: Script,
        shape: Shape,
    ) -> Result<Attempt<PatchDryRun>, Diagnostics> {
        let (answer, warnings) = match content.change() {
            Some(change) => {
                let (at, dry_run) = (self.location, Persistence::DryRun);
                let asked = self.targets.change(at, change, manager, live, dry_run).await;
                let Attempt::Done(answer) = self.answered(asked, live).await? else {
                    return Ok(Attempt::Conflict);
                };
                let warnings = self.scrubbed(&answer.warnings, live);
                (answer.object, warnings)
            }
            None => (live.clone(), vec![]),
        };
        self.judge(live, answer, manager.to_owned(), warnings, script, shape).map(Attempt::Done)
    }

    /// What the server answered, unless the object is no longer as it was read.
    async fn answered(
        &self,
        answer: Result<Answer, Error>,
        live: &Json,
    ) -> Result<Attempt<Answer>, Diagnostics> {
        match answer {
            Ok(answer) => Ok(Attempt::Done(answer)),
            Err(error) if self.disturbed(&error, live).await => Ok(Attempt::Conflict),
            Err(error) => Err(self.not_taken(&error, live, Sent::Trial(self.stage(live)))),
        }
    }

    /// Whether the server refused because the object is not as it was read. An operation that meets
    /// another object than the one it was made for fails before its version is looked at.
    pub(crate) async fn disturbed(&self, error: &Error, live: &Json) -> bool {
        let Error::Refused(status) = error else {
            return false;
        };
        match status.rejection() {
            Rejection::Conflict | Rejection::AnotherObject => true,
            Rejection::Invalid(causes) if causes.is_empty() => {
                let now = self.targets.get(self.location).await;
                matches!(now, Ok(Found::Object(now)) if version_of(&now.object) != version_of(live))
            }
            _ => false,
        }
    }

    /// The same with an answer that the plan got a moment ago.
    pub(crate) async fn resume(
        &self,
        live: &Json,
        answer: Json,
        manager: String,
    ) -> Result<Attempt<PatchDryRun>, Diagnostics> {
        let Attempt::Done((script, shape)) = self.prepare(live).await? else {
            return Ok(Attempt::Conflict);
        };
        self.judge(live, answer, manager, vec![], script, shape).map(Attempt::Done)
    }

    /// What is checked before anything is asked, and the operations that are to be sent.
    async fn prepare(&self, live: &Json) -> Result<Attempt<(Script, Shape)>, Diagnostics> {
        let key = self.patch.key();
        if let Some(claimed) = claimed(live, MANAGER).naming(self.patch.key())? {
            return Err(messages::patch::managed_as_object(key, &claimed, self.stage(live)).into());
        }
        let shape = Shape::told_by(&Owners::of_object(live).naming(self.patch.key())?);
        let Form::Json(operations) = self.patch.form() else {
            return Ok(Attempt::Done((Script::default(), shape)));
        };
        let note = self.id.and_then(|id| Note::on(live, id));
        let landed = note.filter(|note| {
            self.key.is_some_and(|key| note.digest == self.patch.digest(key))
                && self.past.is_none_or(|(former, _)| former != self.patch)
        });
        let nothing = Kept::default();
        let Kept { texts, positions, .. } = self.past.map_or(&nothing, |(_, kept)| kept);
        let recorded = Standing::Recorded { texts, positions, key: self.key };
        let (footprints, standing) = match (&landed, self.past) {
            (Some(note), _) => (self.patch.footprints(&note.marks), Standing::Landed),
            (None, Some((former, kept))) => (former.footprints(&kept.marks), recorded),
            (None, None) => (vec![], recorded),
        };
        let secrecy = self.patch.secrecy();
        let past = Past { footprints: &footprints, standing, secrecy };
        let stage = self.stage(live);
        let problem = match Script::write(operations, live, past, &shape) {
            Ok(script) => return Ok(Attempt::Done((script, shape))),
            Err(problem) => problem,
        };
        let Problem::Unplaced(_) = problem else {
            return Err(messages::patch::cannot(key, &problem, secrecy, stage).into());
        };
        let Attempt::Done(shape) = self.whole(&shape, live).await? else {
            return Ok(Attempt::Conflict);
        };
        match Script::write(operations, live, past, &shape) {
            Ok(script) => Ok(Attempt::Done((script, shape))),
            Err(problem) => Err(messages::patch::cannot(key, &problem, secrecy, stage).into()),
        }
    }

    fn stage(&self, live: &Json) -> Stage {
        if self.past.is_some() {
            Stage::Made
        } else if Note::is_any_on(live) {
            Stage::Anew
        } else {
            Stage::New
        }
    }

    /// How the items of every list are named, as a dry-run of the whole object tells.
    async fn whole(&self, shape: &Shape, live: &Json) -> Result<Attempt<Shape>, Diagnostics> {
        let probed = self.targets.probe(self.location, live, PROBE).await;
        let Attempt::Done(probed) = self.answered(probed, live).await? else {
            return Ok(Attempt::Conflict);
        };
        let owners = Owners::of_object(&probed.object).naming(self.patch.key())?;
        Ok(Attempt::Done(shape.made_whole_by(&owners)))
    }

    /// What the patch touched when another provider made it.
    pub(crate) async fn inherited(
        &self,
        live: &Json,
    ) -> Result<Attempt<Option<Inherited>>, Diagnostics> {
        let shape = Shape::told_by(&Owners::of_object(live).naming(self.patch.key())?);
        if let Ok(inherited) = self.patch.inherited(live, &shape, self.key) {
            return Ok(Attempt::Done(inherited));
        }
        let Attempt::Done(shape) = self.whole(&shape, live).await? else {
            return Ok(Attempt::Conflict);
        };
        Ok(Attempt::Done(self.patch.inherited(live, &shape, self.key).unwrap_or_default()))
    }

    /// Under whose name the dry-run goes. Where a field leaves, our own name would make the server
    /// delete it, which the apply does not do: it hands the field back first.
    fn asker(&self, live: &Json) -> Result<&str, FieldsV1Error> {
        let leaves = match (self.patch.form(), self.past) {
            (Form::Apply(manifest), Some((_, kept))) => {
                let written = manifest.as_applied();
                kept.texts.keys().any(|path| at_written(&written, path).is_none())
            }
            // State does not say what was written; our entry does.
            (Form::Apply(manifest), None) => {
                let written = manifest.as_applied();
                let ours = without_marks(Owners::of_object(live)?.applied_by(self.manager));
                ours.members().iter().any(|path| at_written(&written, path).is_none())
            }
            _ => false,
        };
        Ok(if self.id.is_none() || leaves { PROBE } else { self.manager })
    }

    /// What is sent of a patch that was tried, without marks and guards; nothing where nothing is
    /// left to do. A leaf that others own too is sent in the spelling of the answer.
    pub(crate) fn content_of(&self, trial: &PatchDryRun) -> PatchBody {
        let mut content = self.content(&trial.script);
        if let PatchBody::Apply(content) = &mut content {
            respell(content, &respelt(&trial.verdict.shared, content, &trial.answer));
        }
        content
    }

    /// The same as it is written.
    fn content(&self, script: &Script) -> PatchBody {
        match self.patch.form() {
            Form::Apply(manifest) => PatchBody::Apply(manifest.as_applied().into_owned()),
            Form::Merge(value) => PatchBody::Merge(value.clone()),
            Form::Json(_) => {
                PatchBody::Json(script.send.iter().map(|operation| operation.to_json()).collect())
            }
        }
    }

    fn judge(
        &self,
        live: &Json,
        answer: Json,
        manager: String,
        warnings: Vec<String>,
        script: Script,
        shape: Shape,
    ) -> Result<PatchDryRun, Diagnostics> {
        let written = Written { object: &answer, manager: &manager };
        let kept = self.past.map(|(_, kept)| kept);
        let nullified = self.patch.nullified(live, written, kept).naming(self.patch.key())?;
        let outcome = self.patch.outcome(written, &script, &shape).naming(self.patch.key())?;
        let outcome = outcome.without(nullified);
        // Of operations their own places tell, before anything is asked.
        if let (Form::Apply(_), Some(found)) = (self.patch.form(), outcome.namesakes(live)) {
            let (key, manner) = (self.patch.key(), self.patch.manner());
            return Err(messages::patch::namesakes(key, manner, &found, self.stage(live)).into());
        }
        if let Some(problem) = outcome.beside(live, &answer) {
            let (key, secrecy) = (self.patch.key(), self.patch.secrecy());
            return Err(messages::patch::cannot(key, &problem, secrecy, self.stage(live)).into());
        }
        let meant = &Note::meant_by_others(live, self.id);
        let (ours, key) = (self.manager, self.key);
        let scene = Scene { live, answer: written, manager: ours, meant, kept, key };
        let verdict = self.patch.judge(scene, &outcome).naming(self.patch.key())?;
        Ok(PatchDryRun { answer, manager, warnings, script, shape, outcome, verdict })
    }

    /// The server's refusal, without what it quotes of a Secret: it may quote the whole object.
    pub(crate) fn not_taken(&self, error: &Error, live: &Json, sent: Sent) -> Diagnostics {
        let secrets = self.secrets(live);
        let (key, manner, words) =
            (self.patch.key(), self.patch.manner(), self.patch.boolean_words());
        let behind = self.left_behind(error, live);
        messages::patch::not_taken(key, manner, words, &secrets, error, sent, &behind).into()
    }

    /// What a refused write leaves on the object of what the patch said before. Owners that cannot be
    /// read tell nothing of it.
    fn left_behind(&self, error: &Error, live: &Json) -> Vec<Behind> {
        let (Error::Refused(status), Some((_, kept))) = (error, self.past) else {
            return vec![];
        };
        let Rejection::Invalid(causes) = status.rejection() else {
            return vec![];
        };
        self.patch.left_behind(kept, live, self.manager, &causes).unwrap_or_default()
    }

    /// The server's warnings, as far as they may be shown.
    pub(crate) fn scrubbed(&self, warnings: &[String], live: &Json) -> Vec<String> {
        let secrets = self.secrets(live);
        warnings.iter().map(|words| messages::quoted(&secrets, words)).collect()
    }

    fn secrets(&self, live: &Json) -> Secrets {
        let secrecy = self.patch.secrecy();
        let written = self.patch.written();
        let all = written.iter().chain([live]);
        all.fold(Secrets::default(), |secrets, object| secrets.and(secrecy, object))
    }
}
