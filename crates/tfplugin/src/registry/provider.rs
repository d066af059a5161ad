//! The provider without its type.

use super::{BoxFuture, typed};
use crate::context::Context;
use crate::diagnostic::Diagnostics;
use crate::provider::Provider;
use crate::schema::Schema;
use crate::value::Data;

pub(crate) trait AnyProvider: Send + Sync {
    fn schema(&self) -> Schema;

    fn validate(
        &self,
        ctx: &Context,
        config: Data,
        notices: &mut Diagnostics,
    ) -> Result<(), Diagnostics>;

    fn configure<'a>(
        &'a self,
        ctx: &'a Context,
        config: Data,
        notices: &'a mut Diagnostics,
    ) -> BoxFuture<'a, Result<(), Diagnostics>>;
}

pub(crate) struct Erased<P>(pub(crate) P);

impl<P: Provider> AnyProvider for Erased<P> {
    fn schema(&self) -> Schema {
        self.0.schema()
    }

    fn validate(
        &self,
        ctx: &Context,
        config: Data,
        notices: &mut Diagnostics,
    ) -> Result<(), Diagnostics> {
        self.0.validate(ctx, typed(config)?, notices)
    }

    fn configure<'a>(
        &'a self,
        ctx: &'a Context,
        config: Data,
        notices: &'a mut Diagnostics,
    ) -> BoxFuture<'a, Result<(), Diagnostics>> {
        Box::pin(async move {
            let config = typed(config)?;
            self.0.configure(ctx, config, notices).await
        })
    }
}
