//! The provider itself: its configuration and what it offers.

use super::Registry;
use crate::context::Context;
use crate::diagnostic::Diagnostics;
use crate::model::Model;
use crate::schema::Schema;

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
    ) -> impl Future<Output = Result<(), Diagnostics>> + Send {
        async { Ok(()) }
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
