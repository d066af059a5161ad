//! Apply: one PATCH, and its answer kept. Nothing is read back.
//!
//! Terraform holds us to what was planned. Where the server answers otherwise for a leaf, state is
//! told what was planned, the user is told what happened, and the next refresh shows the truth.

mod change;
mod creation;

use std::sync::Arc;
use std::time::Duration;

use k8sconnect_cluster::{
    Answer, Apply, Cluster, Error, Location, Observation, Persistence, Targets,
};
use k8sconnect_core::identity::ID_ANNOTATION;
use k8sconnect_core::manifest::Manifest;
use k8sconnect_core::outgoing::{Guard, Outgoing};
use k8sconnect_core::owners::Owners;
use k8sconnect_core::plan::{Kept, Planner};
use k8sconnect_core::projection::ConcealmentKey;
use k8sconnect_core::rejection::Rejection;
use k8sconnect_core::secrecy::Secrecy;
use serde_json::Value as Json;
use tfplugin::{Applied, ApplyFailure, Create, Diagnostics, Private, Update, Value};
use tokio::time::{Instant, sleep};

use super::body;
use super::definitions;
use super::held::Held;
use super::identity;
use super::model::ObjectModel;
use super::read::seen_of;
use super::stored::StoredObject;
use crate::cluster_identity::{Opened, Recorded};
use crate::leaves;
use crate::leaves::ProjectionMap;
use crate::messages::refusal::{Subject, not_changed};
use crate::object::terms::{Adoption, Terms};
use crate::object_ref::ObjectRef;
use crate::plan_ledger::{Fact, Name};
use crate::resource::ambiguous_write::confirm_ambiguous_write;
use crate::resource::live::{NamesObject, uid_of, version_of};
use crate::resource::retry::Attempt;
use crate::session::Session;
use crate::{MANAGER, messages};

/// How long the server may go by the old schema after a definition was changed in this run, and how
/// often it is asked meanwhile: nothing that could be watched tells when it goes by the new one.
const SCHEMA_LAG: Duration = Duration::from_secs(10);
const SCHEMA_POLL: Duration = Duration::from_millis(250);

type Outcome = Result<Applied<ObjectModel>, ApplyFailure<ObjectModel>>;

pub(crate) async fn create(
    session: &Session,
    request: Create<ObjectModel>,
    notices: &mut Diagnostics,
) -> Outcome {
    let Create { planned, private, config } = request;
    let work = ObjectApply::begin(session, &planned, &config, None, notices).await?;
    let made = creation::make(&work).await;
    let (host, key) = (work.cluster.host(), work.manifest.key());
    let deleted = work.terms.adoption == Adoption::TakeOver
        && session.ledger.knows(&Fact::Deleted(Name::new(host, key)));
    let made = made.map_err(|mut refused| {
        if deleted {
            refused.push(messages::addresses::deleted_before_taken(key));
        }
        refused
    })?;
    if deleted {
        notices.push(messages::addresses::recreated_not_taken(key));
    }
    definitions::note_written(session, &work.cluster, &made.location);
    let warnings = work.untold(&made.answer);
    notices.extend(messages::object::warnings_about(&work.manifest, &warnings));
    let kind = Some(made.location.kind.clone());
    let cluster = work.cluster_uid.clone();
    let stored = StoredObject { kind, cluster, ..StoredObject::default() };
    let mut state = planned;
    state.id = Value::Known(made.id);
    state.uid = Value::Known(uid_of(&made.answer.object).to_owned());
    state.object_ref = Value::Known(ObjectRef::to(&made.location));
    // The object is there now: whatever else goes wrong, state must know of it.
    let mut left_behind = state.clone();
    left_behind.managed_state_projection = Value::Known(ProjectionMap::new());
    let mut applied = work.settle(state, stored, private, &made.answer.object, notices).map_err(
        |diagnostics| ApplyFailure { diagnostics, state: Some((left_behind, Private::default())) },
    )?;
    applied.identity = Some(identity::of(&applied.state));
    Ok(applied)
}

pub(crate) async fn update(
    session: &Session,
    request: Update<ObjectModel>,
    notices: &mut Diagnostics,
) -> Outcome {
    let Update { prior, planned, private, config } = request;
    let held = Held::load(prior, &private)?;
    if planned.writes_the_same(&held.model) {
        return Ok(Applied { state: planned, private, identity: None });
    }
    let _slot = session.slots.take();
    let recorded = Some(held.recorded());
    let work = ObjectApply::begin(session, &planned, &config, recorded, notices).await?;
    let location = held.location(&work.cluster).await?;
    let answer = change::make(&work, &held, &location, notices).await?;
    definitions::note_written(session, &work.cluster, &location);
    let warnings = work.untold(&answer);
    notices.extend(messages::object::warnings_about(&work.manifest, &warnings));
    let mut stored = held.stored.clone();
    stored.kind = Some(location.kind);
    stored.cluster = work.cluster_uid.clone().or(stored.cluster);
    Ok(work.settle(planned, stored, private, &answer.object, notices)?)
}

/// What is to be written, where, and on what terms.
pub(crate) struct ObjectApply<'a> {
    session: &'a Session,
    cluster: Arc<Cluster>,
    cluster_uid: Option<String>,
    manifest: Manifest,
    terms: Terms,
}

impl<'a> ObjectApply<'a> {
    async fn begin(
        session: &'a Session,
        planned: &ObjectModel,
        config: &ObjectModel,
        recorded: Option<Recorded<'_>>,
        notices: &mut Diagnostics,
    ) -> Result<Self, Diagnostics> {
        let terms = Terms::read(planned)?.ok_or_else(messages::state::unknown_terms)?;
        let manifest = body::wanted(config)?.hiding(&terms.hidden);
        let opened = session.open_configured(planned.cluster_args(), recorded, notices).await?;
        let Opened { cluster, uid, .. } = opened.ok_or_else(messages::connection::missing)?;
        Ok(Self { session, cluster, cluster_uid: uid, manifest, terms })
    }

    async fn write(
        &self,
        location: &Location,
        content: Json,
        id: &str,
        guard: Guard<'_>,
    ) -> Result<Answer, Error> {
        let namespace = location.namespace.as_deref();
        let conflicts = self.terms.conflicts_under(&guard);
        let outgoing = Outgoing { content, namespace, id: Some(id), guard };
        let body = outgoing.clone().body();
        let apply =
            Apply { body: &body, manager: MANAGER, conflicts, persistence: Persistence::Write };
        let deadline = Instant::now() + SCHEMA_LAG;
        loop {
            let written = self.cluster.apply(location, &apply).await;
            let late = matches!(&written, Err(Error::Refused(status)) if status.blames_the_body())
                && self.session.ledger.redefines(self.cluster.host(), &location.kind)
                && Instant::now() < deadline;
            if !late {
                let Err(error) = written else {
                    return written;
                };
                return self.confirm(location, outgoing, &error).await.ok_or(error);
            }
            sleep(SCHEMA_POLL).await;
        }
    }

    /// The object, if it shows that an ambiguous write was applied. A creation is known by its id, which no
    /// other object has. A change was applied if a dry-run of it changes nothing.
    async fn confirm(
        &self,
        location: &Location,
        written: Outgoing<'_>,
        error: &Error,
    ) -> Option<Answer> {
        let was_applied = async |now: &Json| match written.guard {
            Guard::Absent => now["metadata"]["annotations"][ID_ANNOTATION].as_str() == written.id,
            Guard::Uid(uid) | Guard::Version { uid, .. } => {
                let body = Outgoing { guard: Guard::Uid(uid), ..written.clone() }.body();
                let asked = self.cluster.observe(location, MANAGER, &body, self.terms.conflicts);
                uid_of(now) == uid
                    && matches!(asked.await, Ok(Observation::Answered(it)) if it.object == *now)
            }
        };
        let targets = Targets::from(&*self.cluster);
        confirm_ambiguous_write(&targets, location, error, was_applied).await
    }

    /// What came of a write that was bound to the object as it was read.
    fn attempted(
        &self,
        written: Result<Answer, Error>,
        live: &Json,
    ) -> Result<Attempt<Answer>, Diagnostics> {
        match written {
            Ok(answer) => Ok(Attempt::Done(answer)),
            Err(Error::Refused(status)) if status.rejection() == Rejection::Conflict => {
                Ok(Attempt::Conflict)
            }
            Err(error) => {
                let subject = Subject { manifest: &self.manifest, former: Some(live) };
                Err(not_changed(subject, &error).into())
            }
        }
    }

    /// What the server warned of and the plan has not told.
    fn untold(&self, answer: &Answer) -> Vec<String> {
        let (host, key) = (self.cluster.host(), self.manifest.key());
        self.session.ledger.new_warnings(host, key, &answer.warnings)
    }

    /// Brings the answer together with what was planned, and keeps both.
    fn settle(
        &self,
        mut state: ObjectModel,
        mut stored: StoredObject,
        mut private: Private,
        answer: &Json,
        notices: &mut Diagnostics,
    ) -> Result<Applied<ObjectModel>, Diagnostics> {
        let key = self.manifest.key();
        if stored.key.is_none() {
            stored.key = new_key_for(self.manifest.secrecy())?;
        }
        stored.yielded = seen_of(&self.terms, &Owners::of_object(answer).naming(key)?);
        let (ignoring, _) = self.terms.ignoring(&self.manifest, &stored.yielded);
        let (projection, owners) = Planner { manager: MANAGER, ignoring: &ignoring }
            .written(&self.manifest, answer)
            .naming(key)?;
        let texts = projection.texts(stored.key.as_ref());
        let told = leaves::reconcile(&state.managed_state_projection, &texts);
        if !told.surprises.is_empty() {
            notices.push(messages::object::answered_otherwise(key, &told.surprises));
        }
        stored.seen = version_of(answer);
        stored.unread = false;
        stored.drifted = false;
        let version = stored.seen.clone();
        stored.kept = Some(Arc::new(Kept { owners, texts, version }));
        state.uid = Value::Known(uid_of(answer).to_owned());
        state.managed_state_projection = Value::Known(told.map);
        stored.save(&mut private, &state)?;
        Ok(Applied { state, private, identity: None })
    }
}

/// A key where something is concealed.
pub(super) fn new_key_for(secrecy: &Secrecy) -> Result<Option<ConcealmentKey>, Diagnostics> {
    match secrecy.is_open() {
        true => Ok(None),
        false => new_key().map(Some),
    }
}

pub(crate) fn new_key() -> Result<ConcealmentKey, Diagnostics> {
    let mut key = [0; 32];
    getrandom::fill(&mut key).map_err(|error| messages::state::no_randomness(&error))?;
    Ok(ConcealmentKey(key))
}
