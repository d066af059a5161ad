//! `k8sconnect_object`: one Kubernetes object, from the YAML that its author wrote.

mod addresses;
mod apply;
mod blast;
mod body;
mod definitions;
mod delete;
mod held;
mod identity;
mod import;
mod model;
mod obstacle;
mod plan;
mod read;
mod schema;
mod stored;
mod terms;
mod unread;
mod upgrade;
mod whose;

use std::mem::take;
use std::sync::Arc;

use tfplugin::{
    Applied, ApplyFailure, Context, Create, Delete, Diagnostics, IdentitySchema, Import, Imported,
    Plan, PlanDestroy, Planned, Private, RawState, Read, ReadAnswer, Resource, Schema, Update,
};

use crate::plan_phase::Handover;
use crate::session::Session;
use terms::Terms;

use addresses::Holder;
pub(crate) use apply::new_key;
pub(crate) use model::ObjectModel;

pub(crate) struct ObjectResource(pub(crate) Arc<Session>);

impl Resource for ObjectResource {
    const TYPE: &'static str = "k8sconnect_object";

    type Model = ObjectModel;

    fn schema(&self) -> Schema {
        schema::schema()
    }

    fn identity_schema(&self) -> Option<IdentitySchema> {
        Some(identity::schema())
    }

    async fn validate(
        &self,
        _ctx: &Context,
        config: ObjectModel,
        notices: &mut Diagnostics,
    ) -> Result<(), Diagnostics> {
        let mut problems = self.0.validate_cluster(config.cluster_args(), notices);
        for checked in
            [body::readable(&config).err(), body::check(&config).err(), Terms::read(&config).err()]
        {
            problems.extend(checked.into_iter().flatten());
        }
        problems.into_result().map(|_| ())
    }

    async fn read(
        &self,
        _ctx: &Context,
        request: Read<ObjectModel>,
        notices: &mut Diagnostics,
    ) -> Result<ReadAnswer<ObjectModel>, Diagnostics> {
        let unnamed = request.identity.is_none();
        let mut answer = read::read(&self.0, request, notices).await?;
        if let ReadAnswer::Present { state, identity, .. } = &mut answer
            && unnamed
            && state.object_ref.is_known()
        {
            *identity = Some(identity::of(state));
        }
        Ok(answer)
    }

    async fn plan(
        &self,
        _ctx: &Context,
        mut request: Plan<ObjectModel>,
        notices: &mut Diagnostics,
    ) -> Result<Planned<ObjectModel>, Diagnostics> {
        let named = body::named(&request.config);
        let holder = request.prior.as_ref().and_then(Holder::of);
        let prior = request.prior.as_ref();
        let was_read = self.0.reads.has_refreshed(prior.map(|prior| &prior.id));
        let handover = Handover::of(take(&mut request.planned_private), was_read)?;
        let planned = plan::plan(&handover.phase, &self.0, request, notices).await;
        *notices = named(take(notices));
        let mut planned = planned.map_err(&named)?;
        handover.end(&mut planned.private, notices)?;
        if let Some(holder) = holder {
            holder.plans(&self.0, &planned).map_err(named)?;
        }
        Ok(planned)
    }

    async fn plan_destroy(
        &self,
        _ctx: &Context,
        request: PlanDestroy<ObjectModel>,
        notices: &mut Diagnostics,
    ) -> Result<Private, Diagnostics> {
        delete::plan(&self.0, request, notices).await
    }

    async fn create(
        &self,
        _ctx: &Context,
        request: Create<ObjectModel>,
        notices: &mut Diagnostics,
    ) -> Result<Applied<ObjectModel>, ApplyFailure<ObjectModel>> {
        let named = body::named(&request.config);
        let created = apply::create(&self.0, request, notices).await;
        *notices = named(take(notices));
        created
            .map_err(|failure| ApplyFailure { diagnostics: named(failure.diagnostics), ..failure })
    }

    async fn update(
        &self,
        _ctx: &Context,
        request: Update<ObjectModel>,
        notices: &mut Diagnostics,
    ) -> Result<Applied<ObjectModel>, ApplyFailure<ObjectModel>> {
        let named = body::named(&request.config);
        let updated = apply::update(&self.0, request, notices).await;
        *notices = named(take(notices));
        updated
            .map_err(|failure| ApplyFailure { diagnostics: named(failure.diagnostics), ..failure })
    }

    fn upgrade(&self, from_version: i64, raw: RawState) -> Result<ObjectModel, Diagnostics> {
        upgrade::upgrade(from_version, &raw)
    }

    async fn delete(
        &self,
        _ctx: &Context,
        request: Delete<ObjectModel>,
        notices: &mut Diagnostics,
    ) -> Result<(), Diagnostics> {
        delete::delete(&self.0, request, notices).await
    }

    async fn import(
        &self,
        _ctx: &Context,
        request: Import,
        notices: &mut Diagnostics,
    ) -> Result<Imported<ObjectModel>, Diagnostics> {
        import::import(&self.0, request, notices).await
    }
}
