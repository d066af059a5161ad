//! Data sources: things that are only read.

use crate::context::Context;
use crate::diagnostic::Diagnostics;
use crate::model::Model;
use crate::schema::Schema;

/// A data source type.
pub trait DataSource: Send + Sync + 'static {
    /// The type's name, with the provider's in front.
    const TYPE: &'static str;

    /// The typed view of configuration and result.
    type Model: Model;

    /// The attributes.
    fn schema(&self) -> Schema;

    /// Checks the configuration. Unknown values must pass.
    fn validate(
        &self,
        _ctx: &Context,
        _config: Self::Model,
        _notices: &mut Diagnostics,
    ) -> impl Future<Output = Result<(), Diagnostics>> + Send {
        async { Ok(()) }
    }

    /// Reads. The answer holds what was configured, and nothing unknown.
    fn read(
        &self,
        ctx: &Context,
        config: Self::Model,
        notices: &mut Diagnostics,
    ) -> impl Future<Output = Result<Self::Model, Diagnostics>> + Send;
}
