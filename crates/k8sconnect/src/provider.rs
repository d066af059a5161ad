//! The provider: what it offers, and the session that its resources share.

use std::sync::Arc;

use tfplugin::{Context, Diagnostics, Provider, Registry, Schema, model};

use crate::object::ObjectResource;
use crate::session::Session;

#[derive(Default)]
pub struct K8sConnect {
    session: Arc<Session>,
}

model! {
    /// The provider block. It has no arguments yet: the connection stands on each resource.
    #[derive(Clone, Debug, PartialEq, Default)]
    pub struct ProviderBlock {}
}

impl Provider for K8sConnect {
    type Config = ProviderBlock;

    fn schema(&self) -> Schema {
        Schema::new(0).describe(
            "Applies any Kubernetes object from plain YAML by server-side apply. The plan is what \
             the API server answers to a dry-run, cut down to the fields that you wrote.",
        )
    }

    async fn configure(
        &self,
        _ctx: &Context,
        _config: ProviderBlock,
        _notices: &mut Diagnostics,
    ) -> Result<(), Diagnostics> {
        Ok(())
    }

    fn register(&self, registry: &mut Registry) {
        registry.resource(ObjectResource::new(Arc::clone(&self.session)));
    }
}
