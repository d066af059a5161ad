//! An ephemeral resource without its type.

use std::sync::OnceLock;

use super::{BoxFuture, typed};
use crate::context::Context;
use crate::diagnostic::Diagnostics;
use crate::ephemeral::{Ephemeral, Opened, Renewed};
use crate::model::FromData as _;
use crate::private::Private;
use crate::schema::Schema;
use crate::value::{Data, Type};

pub(crate) trait AnyEphemeral: Send + Sync {
    fn schema(&self) -> &Schema;
    fn value_type(&self) -> &Type;

    fn validate<'a>(
        &'a self,
        ctx: &'a Context,
        config: Data,
        notices: &'a mut Diagnostics,
    ) -> BoxFuture<'a, Result<(), Diagnostics>>;

    fn open<'a>(
        &'a self,
        ctx: &'a Context,
        config: Data,
        notices: &'a mut Diagnostics,
    ) -> BoxFuture<'a, Result<Opened<Data>, Diagnostics>>;

    fn renew<'a>(
        &'a self,
        ctx: &'a Context,
        private: Private,
        notices: &'a mut Diagnostics,
    ) -> BoxFuture<'a, Result<Renewed, Diagnostics>>;

    fn close<'a>(
        &'a self,
        ctx: &'a Context,
        private: Private,
        notices: &'a mut Diagnostics,
    ) -> BoxFuture<'a, Result<(), Diagnostics>>;
}

pub(crate) struct Erased<E> {
    ephemeral: E,
    schema: OnceLock<(Schema, Type)>,
}

impl<E: Ephemeral> Erased<E> {
    pub(super) fn new(ephemeral: E) -> Self {
        Self { ephemeral, schema: OnceLock::new() }
    }

    fn schema_and_type(&self) -> &(Schema, Type) {
        self.schema.get_or_init(|| {
            let schema = self.ephemeral.schema();
            let ty = schema.value_type();
            (schema, ty)
        })
    }
}

impl<E: Ephemeral> AnyEphemeral for Erased<E> {
    fn schema(&self) -> &Schema {
        &self.schema_and_type().0
    }

    fn value_type(&self) -> &Type {
        &self.schema_and_type().1
    }

    fn validate<'a>(
        &'a self,
        ctx: &'a Context,
        config: Data,
        notices: &'a mut Diagnostics,
    ) -> BoxFuture<'a, Result<(), Diagnostics>> {
        Box::pin(async move {
            let config = typed(config)?;
            self.ephemeral.validate(ctx, config, notices).await
        })
    }

    fn open<'a>(
        &'a self,
        ctx: &'a Context,
        config: Data,
        notices: &'a mut Diagnostics,
    ) -> BoxFuture<'a, Result<Opened<Data>, Diagnostics>> {
        Box::pin(async move {
            let config = typed(config)?;
            let opened = self.ephemeral.open(ctx, config, notices).await?;
            let Opened { result, private, renew_at } = opened;
            Ok(Opened { result: result.into_data(), private, renew_at })
        })
    }

    fn renew<'a>(
        &'a self,
        ctx: &'a Context,
        private: Private,
        notices: &'a mut Diagnostics,
    ) -> BoxFuture<'a, Result<Renewed, Diagnostics>> {
        Box::pin(self.ephemeral.renew(ctx, private, notices))
    }

    fn close<'a>(
        &'a self,
        ctx: &'a Context,
        private: Private,
        notices: &'a mut Diagnostics,
    ) -> BoxFuture<'a, Result<(), Diagnostics>> {
        Box::pin(self.ephemeral.close(ctx, private, notices))
    }
}
