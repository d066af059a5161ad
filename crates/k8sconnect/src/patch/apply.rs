//! Apply: one PATCH that carries the record of what it takes, bound to the object as it was read.
//!
//! Fields that leave the patch are handed back before, in a write of their own: an apply without
//! them would delete what nobody else holds. Whoever writes in between makes it all begin anew.

mod job;

use k8sconnect_cluster::{Found, Location, Scope, Targets};
use k8sconnect_core::identity::ObjectKey;
use k8sconnect_core::patch::Patch;
use tfplugin::{Applied, ApplyFailure, Create, Diagnostics, Private, Update, Value};
use tokio::time::Instant;

use super::in_state::PatchInState;
use super::model::PatchModel;
use super::plan;
use super::{PATIENCE, upgrade};
use crate::cluster_identity::{Opened, Recorded};
use crate::object::new_key;
use crate::read_cache::PatchWrite;
use crate::resource::Adoption;
use crate::session::Session;
use crate::{messages, place};
use job::Job;

type Answer = Result<Applied<PatchModel>, ApplyFailure<PatchModel>>;

pub(crate) async fn create(
    session: &Session,
    request: Create<PatchModel>,
    notices: &mut Diagnostics,
) -> Answer {
    let Create { planned, private, config } = request;
    let work = PatchApply::begin(session, &planned, &config, None, notices).await?;
    let (work, location) = work.located().await?;
    let id = uuid::Uuid::new_v4().to_string();
    let key = new_key()?;
    let job = Job { work: &work, location: &location, id: &id, held: None, key: &key };
    let done = job.run(session.reads.take_patch_write(&config.address(None))).await?;
    let mut state = planned;
    state.id = Value::Known(id.clone());
    // The patch is made: whatever else goes wrong, state must know of it.
    let mut left_behind = state.clone();
    left_behind.managed_fields = Value::Known([].into());
    left_behind.managed_state_projection = Value::Known([].into());
    left_behind.previous_owners = Value::Known([].into());
    job.settle(state, private, done, notices).await.map_err(|diagnostics| ApplyFailure {
        diagnostics,
        state: Some((left_behind, Private::default())),
    })
}

pub(crate) async fn update(
    session: &Session,
    request: Update<PatchModel>,
    notices: &mut Diagnostics,
) -> Answer {
    let Update { prior, planned, private, config } = request;
    let same = PatchModel {
        cluster: prior.cluster.clone(),
        cluster_name: prior.cluster_name.clone(),
        adopt: prior.adopt.clone(),
        target: prior.target.clone(),
        ..planned.clone()
    };
    let unchanged = same == prior;
    let mut held = PatchInState::load(prior, &private)?;
    let recalled = session.reads.take_patch_write(&config.address(Some(held.id())));
    if unchanged && recalled.is_none() {
        // Only the way to the cluster changed, or nothing that the cluster could tell.
        return Ok(Applied { state: planned, private, identity: None });
    }
    let recorded = Some(held.recorded());
    let work = PatchApply::begin(session, &planned, &config, recorded, notices).await?;
    let location = held.location(&work.targets).await?;
    let work = work.at(&location);
    match &recalled {
        Some(PatchWrite { live, .. }) => {
            held.recover(live);
            upgrade::recover(&mut held, &work.targets, &location, live).await;
        }
        None if held.past().is_none() => {
            if let Ok(Found::Object(answer)) = work.targets.get(&location).await {
                held.recover(&answer.object);
                upgrade::recover(&mut held, &work.targets, &location, &answer.object).await;
            }
        }
        None => {}
    }
    let key = match &held.stored.key {
        Some(key) => key.clone(),
        None => new_key()?,
    };
    let job = Job { work: &work, location: &location, id: held.id(), held: Some(&held), key: &key };
    let done = job.run(recalled).await?;
    Ok(job.settle(planned, private, done, notices).await?)
}

/// What is to be written, and to which cluster.
struct PatchApply {
    targets: Targets,
    cluster_uid: Option<String>,
    patch: Patch,
    adoption: Adoption,
}

impl PatchApply {
    /// The patch is what is configured, whatever text of it the plan keeps in state.
    async fn begin(
        session: &Session,
        planned: &PatchModel,
        config: &PatchModel,
        recorded: Option<Recorded<'_>>,
        notices: &mut Diagnostics,
    ) -> Result<Self, Diagnostics> {
        let key = config.target.known().and_then(|target| target.key());
        let patch = plan::read(config, key.as_ref())?;
        let patch = patch.ok_or_else(messages::state::unknown_terms)?;
        let opened = session.open_configured(planned.cluster_args(), recorded, notices).await?;
        let Opened { cluster, uid, .. } = opened.ok_or_else(messages::connection::missing)?;
        let targets = Targets::from(&*cluster);
        Ok(Self { targets, cluster_uid: uid, patch, adoption: Adoption::of(&planned.adopt) })
    }

    fn key(&self) -> &ObjectKey {
        self.patch.key()
    }

    /// Where the target lives. What this run makes may take a moment to be served.
    async fn located(self) -> Result<(Self, Location), Diagnostics> {
        let key = self.key();
        let kind = self.targets.await_kind(&key.gvk, Instant::now() + PATIENCE).await;
        let kind = kind.map_err(|error| messages::patch::not_awaited(key, &error))?;
        let kind = kind.ok_or_else(|| messages::patch::kind_missing(key, PATIENCE))?;
        let location = place::location(kind, key);
        Ok((self.at(&location), location))
    }

    fn at(self, location: &Location) -> Self {
        match location.kind.scope {
            Scope::Namespaced => self,
            Scope::Cluster => Self { patch: self.patch.without_namespace(), ..self },
        }
    }
}
