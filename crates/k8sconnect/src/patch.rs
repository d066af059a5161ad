//! `k8sconnect_patch`: some fields of an object that somebody else owns.
//!
//! The object is somebody else's for good: nothing here can create or delete one, because all that
//! this room is given of a cluster is [`k8sconnect_cluster::Targets`].

mod apply;
mod body;
mod delete;
mod elsewhere;
mod foresight;
mod in_state;
mod model;
mod note;
mod outlook;
mod plan;
mod read;
mod schema;
mod stored;
mod trial;
mod upgrade;

use std::mem::take;
use std::sync::Arc;
use std::time::Duration;

use tfplugin::{
    Applied, ApplyFailure, Context, Create, Delete, Diagnostics, Import, Imported, Plan,
    PlanDestroy, Planned, Private, RawState, Read, ReadAnswer, Resource, Schema, Update, Value,
};

use crate::messages;
use crate::plan_phase::Handover;
use crate::session::Session;

pub(crate) use model::PatchModel;

/// How long an apply waits for a target that is not there.
const PATIENCE: Duration = Duration::from_secs(30);

pub(crate) struct PatchResource(pub(crate) Arc<Session>);

impl Resource for PatchResource {
    const TYPE: &'static str = "k8sconnect_patch";

    type Model = PatchModel;

    fn schema(&self) -> Schema {
        schema::schema()
    }

    async fn validate(
        &self,
        _ctx: &Context,
        config: PatchModel,
        notices: &mut Diagnostics,
    ) -> Result<(), Diagnostics> {
        let mut problems = self.0.validate_cluster(config.cluster_args(), notices);
        let target = config.target.known();
        problems.extend(target.into_iter().flat_map(model::problems));
        let key = target.and_then(|target| target.key());
        problems.extend(plan::read(&config, key.as_ref()).err().into_iter().flatten());
        problems.into_result().map(|_| ())
    }

    async fn read(
        &self,
        _ctx: &Context,
        request: Read<PatchModel>,
        notices: &mut Diagnostics,
    ) -> Result<ReadAnswer<PatchModel>, Diagnostics> {
        read::read(&self.0, request, notices).await
    }

    async fn plan(
        &self,
        _ctx: &Context,
        mut request: Plan<PatchModel>,
        notices: &mut Diagnostics,
    ) -> Result<Planned<PatchModel>, Diagnostics> {
        let id = request.prior.as_ref().map(|prior| prior.id.clone());
        let was_read = self.0.reads.has_refreshed(id.as_ref());
        let handover = Handover::of(take(&mut request.planned_private), was_read)?;
        let mut planned = plan::plan(&handover.phase, &self.0, request, notices).await?;
        handover.end(&mut planned.private, notices)?;
        if let Some(id) = id.as_ref().and_then(Value::as_str) {
            self.0.ledger.note_returned(id, &planned.private);
        }
        Ok(planned)
    }

    async fn plan_destroy(
        &self,
        _ctx: &Context,
        request: PlanDestroy<PatchModel>,
        notices: &mut Diagnostics,
    ) -> Result<Private, Diagnostics> {
        delete::plan(&self.0, request, notices).await
    }

    async fn create(
        &self,
        _ctx: &Context,
        request: Create<PatchModel>,
        notices: &mut Diagnostics,
    ) -> Result<Applied<PatchModel>, ApplyFailure<PatchModel>> {
        apply::create(&self.0, request, notices).await
    }

    async fn update(
        &self,
        _ctx: &Context,
        request: Update<PatchModel>,
        notices: &mut Diagnostics,
    ) -> Result<Applied<PatchModel>, ApplyFailure<PatchModel>> {
        apply::update(&self.0, request, notices).await
    }

    fn upgrade(&self, from_version: i64, raw: RawState) -> Result<PatchModel, Diagnostics> {
        upgrade::upgrade(from_version, &raw)
    }

    async fn delete(
        &self,
        _ctx: &Context,
        request: Delete<PatchModel>,
        notices: &mut Diagnostics,
    ) -> Result<(), Diagnostics> {
        delete::delete(&self.0, request, notices).await
    }

    async fn import(
        &self,
        _ctx: &Context,
        _request: Import,
        _notices: &mut Diagnostics,
    ) -> Result<Imported<PatchModel>, Diagnostics> {
        Err(messages::patch::not_imported().into())
    }
}
