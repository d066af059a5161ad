//! Plan: what the patch would do to the object as it is now, and from whom it would take what.

mod target;

use k8sconnect_cluster::{Found, Location, Scope, Served, Targets};
use k8sconnect_core::identity::ObjectKey;
use k8sconnect_core::owners::Manager;
use k8sconnect_core::patch::{Patch, manager_of};
use serde_json::{Value as Json, json};
use tfplugin::{AttributePath, Context, Diagnostics, Plan, Planned, Value};

use super::TRIES;
use super::foresight;
use super::held::Held;
use super::model::{PatchModel, managed_fields};
use super::outlook;
use super::trial::{Remembered, Step, Surgery, Trial};
use super::upgrade;
use crate::connect::Reach;
use crate::messages;
use crate::messages::ownership::Whose;
use crate::session::Session;
use target::{Sighting, Way, at_last, changed_parts, check_whereabouts, look};

pub(crate) async fn plan(
    ctx: &Context,
    session: &Session,
    request: Plan<PatchModel>,
    notices: &mut Diagnostics,
) -> Result<Planned<PatchModel>, Diagnostics> {
    let Plan { config, prior, proposed, private } = request;
    let mut held = prior.map(|prior| Held::load(prior, &private)).transpose()?;
    let planned = |state| Planned {
        state,
        private: private.clone(),
        requires_replace: vec![],
        identity: None,
    };
    let key = config.target.known().and_then(|target| target.key());
    if let (Some(held), Some(key)) = (&held, &key)
        && let changed = changed_parts(held, key)
        && !changed.is_empty()
    {
        notices.push(messages::patch::another_target(&held.key, key));
        notices.extend(outlook::end(session, held).await);
        foretell(session, &config, key, notices).await?;
        let mut planned = planned(later(proposed, None));
        let part = |name| AttributePath::root("target").attribute(name);
        planned.requires_replace = changed.into_iter().map(part).collect();
        return Ok(planned);
    }
    let (Some(key), Some(patch)) = (&key, read(&config, key.as_ref())?) else {
        notices.push(messages::patch::unknown());
        return Ok(planned(later(proposed, held.as_ref())));
    };
    let Reach::Ready(connection) = session.reach(&config.cluster, &config.cluster_name)? else {
        notices.push(messages::object::terms_unknown());
        return Ok(planned(later(proposed, held.as_ref())));
    };
    // The same object, and where it lives is known of the one in state.
    let key = &held.as_ref().map_or(key, |held| &held.key).clone();
    let targets = Targets::from(&*session.cluster(&connection).await?);
    let way = held.as_ref().map_or(Way::AsBefore, |held| Way::of(&config, held));
    let mut found = look(session, &targets, key, held.as_ref(), way).await?;
    // Terraform plans again while it applies, in a process that reads nothing, and allows deferrals
    // only then. What was known in the plan that the user saw must not become unknown.
    let read = held.as_ref().is_some_and(|held| session.memory.has_read(held.id()));
    if ctx.capabilities().deferral_allowed && !read {
        found = Some(at_last(&targets, key, held.as_ref(), found).await?);
    }
    // OpenTofu does not say that it applies; a plan without a refresh may as well be refused.
    if let (Some(held), Some((_, live, _)), false) = (&held, &found, read)
        && foresight::are_other_items(&patch, held, live)
    {
        return Err(messages::patch::changed_since(key).into());
    }
    if let Some(held) = &held {
        check_whereabouts(&targets, held, way, found.as_ref().map(|(_, live, _)| live)).await?;
    }
    let Some((location, live, seen)) = found else {
        notices.push(match targets.kind(&key.gvk).await {
            Ok(Served::Yes(_)) | Err(_) => messages::patch::not_there_yet(key),
            Ok(_) => messages::patch::kind_not_there_yet(key),
        });
        return Ok(planned(later(proposed, held.as_ref())));
    };
    let patch = settled_in(&location, patch, notices, held.as_ref());
    if let Some(held) = &mut held {
        held.recover(&live);
        upgrade::recover(held, &targets, &location, &live).await;
        session.memory.note_planned(held.id(), &slot(&patch, None));
    }
    let asked = Asked { session, targets: &targets, location: &location, patch: &patch };
    let adoption = Adoption::of(&config);
    let state = match &held {
        Some(held) => asked.change(held, proposed, live, seen, adoption, notices).await?,
        None => asked.creation(proposed, live, adoption, notices).await?,
    };
    Ok(planned(state))
}

/// Tells what a patch that moves takes from its new target. Terraform plans that as a creation too,
/// but shows no warnings of it.
async fn foretell(
    session: &Session,
    config: &PatchModel,
    key: &ObjectKey,
    notices: &mut Diagnostics,
) -> Result<(), Diagnostics> {
    let (Some(patch), Reach::Ready(connection)) =
        (read(config, Some(key))?, session.reach(&config.cluster, &config.cluster_name)?)
    else {
        return Ok(());
    };
    let targets = Targets::from(&*session.cluster(&connection).await?);
    match look(session, &targets, key, None, Way::AsBefore).await? {
        Some((location, live, _)) => {
            let patch = settled_in(&location, patch, notices, None);
            let asked = Asked { session, targets: &targets, location: &location, patch: &patch };
            let adoption = Adoption::of(config);
            asked.creation(PatchModel::default(), live, adoption, notices).await.map(drop)
        }
        None => {
            notices.push(messages::patch::not_there_yet(key));
            Ok(())
        }
    }
}

/// The patch, now that it is known where objects of its kind live. What is said about it is said
/// once.
fn settled_in(
    location: &Location,
    patch: Patch,
    notices: &mut Diagnostics,
    held: Option<&Held>,
) -> Patch {
    if location.kind.scope == Scope::Namespaced {
        return patch;
    }
    if held.is_none() && patch.key().namespace.is_some() {
        notices.push(messages::patch::no_namespace(patch.key()));
    }
    patch.without_namespace()
}

/// Whether what another patch holds is taken from it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Adoption {
    Refuse,
    TakeOver,
}

impl Adoption {
    pub(crate) fn of(model: &PatchModel) -> Self {
        if model.adopt == Value::Known(true) { Self::TakeOver } else { Self::Refuse }
    }
}

/// Reads the patch that is configured; `None` while it is not known.
pub(crate) fn read(
    config: &PatchModel,
    key: Option<&ObjectKey>,
) -> Result<Option<Patch>, Diagnostics> {
    let written = config.written();
    let (known, unknown): (Vec<_>, Vec<_>) =
        written.iter().partition(|(_, _, text)| text.is_known());
    match (known.as_slice(), unknown.len()) {
        // What is not known yet may turn out to be null.
        ([] | [_], 1..) => Ok(None),
        ([(manner, attribute, text)], 0) => {
            let (Some(text), Some(key)) = (text.known(), key) else {
                return Ok(None);
            };
            Patch::read(*manner, text, key.clone())
                .map(Some)
                .map_err(|errors| messages::patch::unusable(&errors, attribute, key).into())
        }
        _ => Err(messages::patch::one_of_three(known.len()).into()),
    }
}

struct Asked<'a> {
    session: &'a Session,
    targets: &'a Targets,
    location: &'a Location,
    patch: &'a Patch,
}

impl Asked<'_> {
    async fn creation(
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
        // The predecessor of a replacement holds them until the apply hands them back.
        trial.verdict.contested.retain(|(holder, _)| !self.may_precede(holder));
        self.contested(&trial, adoption, notices)?;
        let key = self.patch.key();
        notices.extend(messages::object::server_warnings(key, &trial.warnings));
        trial.verdict.changes.retain(|change| {
            change.holders.is_empty() || !change.holders.iter().all(|it| self.may_precede(it))
        });
        notices.extend(messages::patch::takes(key, &trial.verdict));
        remember(self.session, self.patch, None, &live, &trial);
        Ok(PatchModel {
            managed_fields: managed_fields(&trial.outcome.leaves),
            managed_state_projection: Value::Known(foresight::planned(&trial, None, None)),
            ..later(proposed, None)
        })
    }

    async fn change(
        &self,
        held: &Held,
        proposed: PatchModel,
        live: Json,
        seen: Sighting,
        adoption: Adoption,
        notices: &mut Diagnostics,
    ) -> Result<PatchModel, Diagnostics> {
        let key = self.patch.key();
        let unreadable = |error| messages::object::ownership_unreadable(key, &error);
        let manager = held.manager();
        let same_object = held.is_same_object(&live);
        let concealment = held.stored.key.as_ref();
        let past = held.past().filter(|_| same_object);
        if let Some((former, kept)) = past
            && former == self.patch
            && self.patch.is_settled(kept, concealment, &live, &manager).map_err(unreadable)?
        {
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
        let (live, trial) = self.tried(&surgery, live).await?;
        self.contested(&trial, adoption, notices)?;
        notices.extend(messages::object::server_warnings(key, &trial.warnings));
        let version = live["metadata"]["resourceVersion"].as_str();
        let told_before = held.stored.target.as_ref().and_then(|it| it.resource_version.as_deref());
        if seen == Sighting::Refreshed || told_before != version {
            self.tell(held, &live, &trial, notices)?;
        }
        remember(self.session, self.patch, Some(held.id()), &live, &trial);
        let mut state = later(proposed, Some(held));
        state.managed_fields = managed_fields(&trial.outcome.leaves);
        let kept = past.map(|(_, kept)| kept);
        let map = foresight::planned(&trial, kept, concealment);
        state.managed_state_projection = Value::Known(map);
        if past.is_some() && trial.verdict.joins.is_empty() && held.unrecorded().is_empty() {
            state.previous_owners = owners_of(&held.model, &trial);
        }
        if let Some((former, kept)) = past
            && self.patch.respells(former, &trial.outcome, kept, concealment)
        {
            state.patch = held.model.patch.clone();
            state.json_patch = held.model.json_patch.clone();
            state.merge_patch = held.model.merge_patch.clone();
        }
        Ok(state)
    }

    /// Tries the patch on the object, which is read again for as long as others write to it.
    async fn tried(
        &self,
        surgery: &Surgery<'_>,
        mut live: Json,
    ) -> Result<(Json, Trial), Diagnostics> {
        let key = self.patch.key();
        for _ in 0..TRIES {
            if let Step::Made(trial) = surgery.attempt(&live).await? {
                return Ok((live, trial));
            }
            let found = self.targets.get(self.location).await;
            live = match found.map_err(|error| messages::refusal::unanswered(key, &error))? {
                Found::Object(now) if now.object["metadata"]["uid"] == live["metadata"]["uid"] => {
                    now.object
                }
                _ => return Err(messages::object::changed_meanwhile(key).into()),
            };
        }
        Err(messages::object::never_still(key).into())
    }

    fn tell(
        &self,
        held: &Held,
        live: &Json,
        trial: &Trial,
        notices: &mut Diagnostics,
    ) -> Result<(), Diagnostics> {
        let key = self.patch.key();
        let verdict = &trial.verdict;
        let same_object = held.is_same_object(live);
        if same_object && (held.is_foreign() || !held.unrecorded().is_empty()) {
            notices.push(messages::patch::no_former_owners(key));
        }
        if !same_object || held.stored.kept.is_none() {
            if !same_object {
                notices.push(messages::patch::recreated(key));
            }
            notices.extend(messages::patch::takes(key, verdict));
        } else {
            notices.extend(messages::ownership::told(key, &verdict.notices, Whose::Patch));
            notices.extend(messages::patch::dropped(key, verdict));
        }
        let unreadable = |error| messages::object::ownership_unreadable(key, &error);
        let leaving = trial.leaving(live, &held.manager()).map_err(unreadable)?;
        notices.extend(outlook::departure(held, live, &leaving, &verdict.left));
        Ok(())
    }

    fn may_precede(&self, holder: &Manager) -> bool {
        let id = holder.name.strip_prefix(&manager_of(""));
        id.is_some_and(|id| self.session.memory.may_precede(id, &slot(self.patch, None)))
    }

    fn contested(
        &self,
        trial: &Trial,
        adoption: Adoption,
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
                Err(messages::patch::held_by_patches(key, contested).into())
            }
        }
    }
}

/// Keeps what the write needs, which may follow in this process: the object, and what the server
/// said of the patch.
fn remember(session: &Session, patch: &Patch, id: Option<&str>, live: &Json, trial: &Trial) {
    let kept = json!({"live": live, "answer": trial.answer, "manager": trial.manager});
    session.memory.keep_for_write(&slot(patch, id), kept);
}

/// Hands over what a plan of this process kept.
pub(crate) fn recall(
    session: &Session,
    patch: &Patch,
    id: Option<&str>,
) -> Option<(Json, Remembered)> {
    let mut kept = session.memory.recall_for_write(&slot(patch, id))?;
    let manager = kept["manager"].as_str()?.to_owned();
    Some((kept["live"].take(), Remembered { answer: kept["answer"].take(), manager }))
}

/// A patch without an id is known by what it says of which object.
fn slot(patch: &Patch, id: Option<&str>) -> String {
    match id {
        Some(id) => id.to_owned(),
        None => format!("{:?} {:?}", patch.key(), patch.form()),
    }
}

/// Former owners of what stays in the patch.
fn owners_of(model: &PatchModel, trial: &Trial) -> Value<super::model::PreviousOwners> {
    let mut owners = model.previous_owners.known().cloned().unwrap_or_default();
    let stays: Vec<_> = trial.outcome.leaves.0.keys().map(|path| path.shown()).collect();
    owners.retain(|path, _| stays.contains(path));
    Value::Known(owners)
}

/// What is planned where only the apply can tell.
fn later(proposed: PatchModel, held: Option<&Held>) -> PatchModel {
    let id = held.map_or(Value::Unknown, |held| held.model.id.clone());
    PatchModel {
        id,
        managed_fields: Value::Unknown,
        previous_owners: Value::Unknown,
        managed_state_projection: Value::Unknown,
        ..proposed
    }
}

/// What is planned where nothing would change in the cluster.
fn settled(proposed: PatchModel, held: &Held) -> PatchModel {
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
