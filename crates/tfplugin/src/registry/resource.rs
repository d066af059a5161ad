//! A resource without its type.

use std::sync::OnceLock;

use super::{BoxFuture, typed};
use crate::context::Context;
use crate::diagnostic::Diagnostics;
use crate::model::FromData as _;
use crate::private::Private;
use crate::raw::RawState;
use crate::resource::{
    Applied, ApplyFailure, Create, Delete, Import, Imported, MoveState, Moved, Plan, PlanDestroy,
    Planned, Read, ReadAnswer, Resource, Update,
};
use crate::schema::{IdentitySchema, Schema};
use crate::value::{Data, Type, Value};

type Answer<'a, T, E = Diagnostics> = BoxFuture<'a, Result<T, E>>;

pub(crate) trait AnyResource: Send + Sync {
    fn schema(&self) -> &Schema;
    fn value_type(&self) -> &Type;
    fn identity_schema(&self) -> Option<&IdentitySchema>;
    fn identity_type(&self) -> Option<&Type>;

    fn validate<'a>(
        &'a self,
        ctx: &'a Context,
        config: Data,
        notices: &'a mut Diagnostics,
    ) -> Answer<'a, ()>;

    fn read<'a>(
        &'a self,
        ctx: &'a Context,
        request: Read<Data>,
        notices: &'a mut Diagnostics,
    ) -> Answer<'a, ReadAnswer<Data>>;

    fn plan<'a>(
        &'a self,
        ctx: &'a Context,
        request: Plan<Data>,
        notices: &'a mut Diagnostics,
    ) -> Answer<'a, Planned<Data>>;

    fn plan_destroy<'a>(
        &'a self,
        ctx: &'a Context,
        request: PlanDestroy<Data>,
        notices: &'a mut Diagnostics,
    ) -> Answer<'a, Private>;

    fn create<'a>(
        &'a self,
        ctx: &'a Context,
        request: Create<Data>,
        notices: &'a mut Diagnostics,
    ) -> Answer<'a, Applied<Data>, ApplyFailure<Data>>;

    fn update<'a>(
        &'a self,
        ctx: &'a Context,
        request: Update<Data>,
        notices: &'a mut Diagnostics,
    ) -> Answer<'a, Applied<Data>, ApplyFailure<Data>>;

    fn delete<'a>(
        &'a self,
        ctx: &'a Context,
        request: Delete<Data>,
        notices: &'a mut Diagnostics,
    ) -> Answer<'a, ()>;

    fn import<'a>(
        &'a self,
        ctx: &'a Context,
        request: Import,
        notices: &'a mut Diagnostics,
    ) -> Answer<'a, Imported<Data>>;

    fn move_state<'a>(
        &'a self,
        ctx: &'a Context,
        request: MoveState,
        notices: &'a mut Diagnostics,
    ) -> Answer<'a, Moved<Data>>;

    fn upgrade(&self, from_version: i64, raw: RawState) -> Result<Data, Diagnostics>;
    fn upgrade_identity(&self, from_version: i64, raw: RawState) -> Result<Value, Diagnostics>;
}

pub(crate) struct Erased<R> {
    resource: R,
    schema: OnceLock<(Schema, Type)>,
    identity: OnceLock<Option<(IdentitySchema, Type)>>,
}

impl<R: Resource> Erased<R> {
    pub(super) fn new(resource: R) -> Self {
        Self { resource, schema: OnceLock::new(), identity: OnceLock::new() }
    }

    fn schema_and_type(&self) -> &(Schema, Type) {
        self.schema.get_or_init(|| {
            let schema = self.resource.schema();
            let ty = schema.value_type();
            (schema, ty)
        })
    }

    fn identity_and_type(&self) -> Option<&(IdentitySchema, Type)> {
        let found = self.identity.get_or_init(|| {
            let schema = self.resource.identity_schema()?;
            let ty = schema.value_type();
            Some((schema, ty))
        });
        found.as_ref()
    }
}

fn untyped<R: Resource>(applied: Applied<R::Model>) -> Applied<Data> {
    let Applied { state, private, identity } = applied;
    Applied { state: state.into_data(), private, identity }
}

fn untyped_failure<R: Resource>(failure: ApplyFailure<R::Model>) -> ApplyFailure<Data> {
    let ApplyFailure { diagnostics, state } = failure;
    ApplyFailure { diagnostics, state: state.map(|(state, private)| (state.into_data(), private)) }
}

impl<R: Resource> AnyResource for Erased<R> {
    fn schema(&self) -> &Schema {
        &self.schema_and_type().0
    }

    fn value_type(&self) -> &Type {
        &self.schema_and_type().1
    }

    fn identity_schema(&self) -> Option<&IdentitySchema> {
        self.identity_and_type().map(|(schema, _)| schema)
    }

    fn identity_type(&self) -> Option<&Type> {
        self.identity_and_type().map(|(_, ty)| ty)
    }

    fn validate<'a>(
        &'a self,
        ctx: &'a Context,
        config: Data,
        notices: &'a mut Diagnostics,
    ) -> Answer<'a, ()> {
        Box::pin(async move {
            let config = typed(config)?;
            self.resource.validate(ctx, config, notices).await
        })
    }

    fn read<'a>(
        &'a self,
        ctx: &'a Context,
        request: Read<Data>,
        notices: &'a mut Diagnostics,
    ) -> Answer<'a, ReadAnswer<Data>> {
        Box::pin(async move {
            let Read { state, private, identity } = request;
            let request = Read { state: typed(state)?, private, identity };
            Ok(match self.resource.read(ctx, request, notices).await? {
                ReadAnswer::Present { state, private, identity } => {
                    ReadAnswer::Present { state: state.into_data(), private, identity }
                }
                ReadAnswer::Gone => ReadAnswer::Gone,
            })
        })
    }

    fn plan<'a>(
        &'a self,
        ctx: &'a Context,
        request: Plan<Data>,
        notices: &'a mut Diagnostics,
    ) -> Answer<'a, Planned<Data>> {
        Box::pin(async move {
            let request = Plan {
                config: typed(request.config)?,
                prior: request.prior.map(typed).transpose()?,
                proposed: typed(request.proposed)?,
                private: request.private,
                planned_private: request.planned_private,
            };
            let planned = self.resource.plan(ctx, request, notices).await?;
            let Planned { state, private, requires_replace, identity } = planned;
            Ok(Planned { state: state.into_data(), private, requires_replace, identity })
        })
    }

    fn plan_destroy<'a>(
        &'a self,
        ctx: &'a Context,
        request: PlanDestroy<Data>,
        notices: &'a mut Diagnostics,
    ) -> Answer<'a, Private> {
        Box::pin(async move {
            let PlanDestroy { prior, private } = request;
            let request = PlanDestroy { prior: typed(prior)?, private };
            self.resource.plan_destroy(ctx, request, notices).await
        })
    }

    fn create<'a>(
        &'a self,
        ctx: &'a Context,
        request: Create<Data>,
        notices: &'a mut Diagnostics,
    ) -> Answer<'a, Applied<Data>, ApplyFailure<Data>> {
        Box::pin(async move {
            let request = Create {
                config: typed(request.config)?,
                planned: typed(request.planned)?,
                private: request.private,
            };
            let answer = self.resource.create(ctx, request, notices).await;
            answer.map(untyped::<R>).map_err(untyped_failure::<R>)
        })
    }

    fn update<'a>(
        &'a self,
        ctx: &'a Context,
        request: Update<Data>,
        notices: &'a mut Diagnostics,
    ) -> Answer<'a, Applied<Data>, ApplyFailure<Data>> {
        Box::pin(async move {
            let request = Update {
                config: typed(request.config)?,
                prior: typed(request.prior)?,
                planned: typed(request.planned)?,
                private: request.private,
            };
            let answer = self.resource.update(ctx, request, notices).await;
            answer.map(untyped::<R>).map_err(untyped_failure::<R>)
        })
    }

    fn delete<'a>(
        &'a self,
        ctx: &'a Context,
        request: Delete<Data>,
        notices: &'a mut Diagnostics,
    ) -> Answer<'a, ()> {
        Box::pin(async move {
            let Delete { prior, private } = request;
            let request = Delete { prior: typed(prior)?, private };
            self.resource.delete(ctx, request, notices).await
        })
    }

    fn import<'a>(
        &'a self,
        ctx: &'a Context,
        request: Import,
        notices: &'a mut Diagnostics,
    ) -> Answer<'a, Imported<Data>> {
        Box::pin(async move {
            let imported = self.resource.import(ctx, request, notices).await?;
            let Imported { state, private, identity } = imported;
            Ok(Imported { state: state.into_data(), private, identity })
        })
    }

    fn move_state<'a>(
        &'a self,
        ctx: &'a Context,
        request: MoveState,
        notices: &'a mut Diagnostics,
    ) -> Answer<'a, Moved<Data>> {
        Box::pin(async move {
            let moved = self.resource.move_state(ctx, request, notices).await?;
            let Moved { state, private, identity } = moved;
            Ok(Moved { state: state.into_data(), private, identity })
        })
    }

    fn upgrade(&self, from_version: i64, raw: RawState) -> Result<Data, Diagnostics> {
        self.resource.upgrade(from_version, raw).map(|model| model.into_data())
    }

    fn upgrade_identity(&self, from_version: i64, raw: RawState) -> Result<Value, Diagnostics> {
        self.resource.upgrade_identity(from_version, raw)
    }
}
