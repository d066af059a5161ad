//! The provider itself, its configuration and what it offers; and the same without its type.

use super::{BoxFuture, Registry, typed};
use crate::context::Context;
use crate::diagnostic::Diagnostics;
use crate::model::Model;
use crate::schema::Schema;
use crate::value::Data;

/// A Terraform provider.
///
/// One process serves one provider configuration. What `configure` learns is shared with the
/// resources by whatever the implementation hands them in `register`, usually an `Arc`.
pub trait Provider: Send + Sync + 'static {
    /// The typed view of the provider block.
    type Config: Model;

    /// The attributes of the provider block.
    fn schema(&self) -> Schema;

    /// Checks the provider block. Unknown values must pass.
    fn validate(
        &self,
        _ctx: &Context,
        _config: Self::Config,
        _notices: &mut Diagnostics,
    ) -> Result<(), Diagnostics> {
        Ok(())
    }

    /// Takes the configuration over. During a plan it may hold unknowns.
    fn configure(
        &self,
        ctx: &Context,
        config: Self::Config,
        notices: &mut Diagnostics,
    ) -> impl Future<Output = Result<(), Diagnostics>> + Send;

    /// Says what the provider offers.
    fn register(&self, registry: &mut Registry);
}

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
