//! `k8sconnect_wait`: an object is as it should be before anything else happens.
//!
//! It waits once, when it is made, and again when what it waits for or one of its triggers changes,
//! or the object is made anew or put right. A wait that fails leaves no state of its own on a creation, and the
//! former state on an update with a mark, so that the next apply waits again. Nothing is ever
//! written to the cluster.

mod driver;
mod model;
mod plan;
mod read;
mod schema;
mod stored;
mod surroundings;
mod terms;
mod upgrade;

use std::mem::take;
use std::sync::Arc;

use tfplugin::{
    Applied, ApplyFailure, Context, Create, Delete, Diagnostics, MoveState, Moved, Plan, Planned,
    Private, RawState, Read, ReadAnswer, Resource, Schema, Update, Value,
};

use self::model::WaitModel;
use self::stored::{StoredWait, Waited};
pub(crate) use self::terms::WaitTerms;
use crate::cluster_identity::{Opened, Recorded};
use crate::plan_phase::Handover;
use crate::session::Session;
use crate::{dynamic, messages};

pub(crate) struct WaitResource(pub(crate) Arc<Session>);

impl WaitResource {
    /// Waits, and brings back the state with what was waited for.
    async fn wait(
        &self,
        planned: WaitModel,
        mut private: Private,
        notices: &mut Diagnostics,
    ) -> Result<Applied<WaitModel>, Diagnostics> {
        let stored = StoredWait::load(&private)?;
        let Some(asked) = WaitTerms::read(&planned)? else {
            return Err(messages::wait::still_unknown().into());
        };
        let recorded = Some(recorded(&asked, &planned, &stored));
        let opened = self.0.open_configured(planned.cluster_args(), recorded, notices).await?;
        let Opened { cluster, uid, .. } = opened.ok_or_else(messages::wait::still_unknown)?;
        let object = driver::wait(&cluster, &asked, notices).await?;
        let last = Some(Waited::met(object.as_ref(), uid));
        StoredWait { last, unread: false }.save(&mut private)?;
        let found = object.and_then(|object| asked.goal.excerpt(&object));
        let result = found.map_or(Value::Null, dynamic::from_json);
        Ok(applied(WaitModel { result, ..planned }, private))
    }
}

impl Resource for WaitResource {
    const TYPE: &'static str = "k8sconnect_wait";

    type Model = WaitModel;

    fn schema(&self) -> Schema {
        schema::schema()
    }

    async fn validate(
        &self,
        _ctx: &Context,
        config: WaitModel,
        notices: &mut Diagnostics,
    ) -> Result<(), Diagnostics> {
        let mut problems = self.0.validate_cluster(config.cluster_args(), notices);
        problems.extend(WaitTerms::read(&config).err().into_iter().flatten());
        problems.into_result().map(|_| ())
    }

    async fn read(
        &self,
        _ctx: &Context,
        request: Read<WaitModel>,
        notices: &mut Diagnostics,
    ) -> Result<ReadAnswer<WaitModel>, Diagnostics> {
        read::read(&self.0, request, notices).await
    }

    async fn plan(
        &self,
        _ctx: &Context,
        mut request: Plan<WaitModel>,
        notices: &mut Diagnostics,
    ) -> Result<Planned<WaitModel>, Diagnostics> {
        let prior = request.prior.as_ref();
        let was_read = self.0.reads.has_refreshed(prior.map(|prior| &prior.id));
        let handover = Handover::of(take(&mut request.planned_private), was_read)?;
        let mut planned = plan::plan(&handover.phase, &self.0, request, notices).await?;
        handover.end(&mut planned.private, notices)?;
        Ok(planned)
    }

    async fn create(
        &self,
        _ctx: &Context,
        request: Create<WaitModel>,
        notices: &mut Diagnostics,
    ) -> Result<Applied<WaitModel>, ApplyFailure<WaitModel>> {
        let mut made = self.wait(request.planned, request.private, notices).await?;
        made.state.id = Value::Known(uuid::Uuid::new_v4().to_string());
        Ok(made)
    }

    async fn update(
        &self,
        _ctx: &Context,
        request: Update<WaitModel>,
        notices: &mut Diagnostics,
    ) -> Result<Applied<WaitModel>, ApplyFailure<WaitModel>> {
        let Update { prior, planned, mut private, .. } = request;
        if !planned.result.is_unknown() && !plan::waits_again(&self.0, &prior, &planned) {
            return Ok(applied(planned, private));
        }
        match self.wait(planned, private.clone(), notices).await {
            Ok(waited) => Ok(waited),
            Err(diagnostics) => {
                let stored = StoredWait::load(&private)?;
                let cluster = stored.cluster().map(ToOwned::to_owned);
                StoredWait { last: Some(Waited::failed(cluster)), ..stored }.save(&mut private)?;
                Err(ApplyFailure { diagnostics, state: Some((prior, private)) })
            }
        }
    }

    fn upgrade(&self, from_version: i64, raw: RawState) -> Result<WaitModel, Diagnostics> {
        upgrade::upgrade(from_version, &raw)
    }

    /// A wait holds nothing that could be carried over, and cannot be imported either.
    async fn move_state(
        &self,
        _ctx: &Context,
        request: MoveState,
        _notices: &mut Diagnostics,
    ) -> Result<Moved<WaitModel>, Diagnostics> {
        Err(messages::wait::not_moved(&request.type_name).into())
    }

    /// There is nothing in the cluster that is ours.
    async fn delete(
        &self,
        _ctx: &Context,
        _request: Delete<WaitModel>,
        _notices: &mut Diagnostics,
    ) -> Result<(), Diagnostics> {
        Ok(())
    }
}

/// What state says about the cluster that was waited in.
fn recorded<'a>(
    asked: &'a WaitTerms,
    model: &'a WaitModel,
    stored: &'a StoredWait,
) -> Recorded<'a> {
    Recorded { key: &asked.key, args: model.cluster_args(), uid: stored.cluster() }
}

fn applied(state: WaitModel, private: Private) -> Applied<WaitModel> {
    Applied { state, private, identity: None }
}
