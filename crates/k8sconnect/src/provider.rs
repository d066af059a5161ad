//! The provider: what it offers, and the session that its resources share.

use std::collections::BTreeMap;
use std::sync::Arc;

use tfplugin::{Context, Diagnostics, Provider, Registry, Schema, Value, model};

use crate::connect::{self, ClusterModel, Directory};
use crate::data::{ObjectData, ObjectsData, YamlScopedData, YamlSplitData};
use crate::ephemeral::{EphemeralObject, EphemeralToken};
use crate::function::{ManifestDecode, ManifestEncode, YamlScoped, YamlSplit};
use crate::object::ObjectResource;
use crate::patch::PatchResource;
use crate::session::Session;
use crate::wait::WaitResource;

#[derive(Default)]
pub struct K8sConnect {
    session: Arc<Session>,
}

model! {
    /// The provider block: clusters that resources need not describe themselves.
    #[derive(Clone, Debug, PartialEq, Default)]
    pub struct ProviderBlock {
        /// The cluster of what names none itself. Nothing of it stands in state.
        pub(crate) cluster: Value<ClusterModel> => optional,
        /// Clusters by name, for `cluster_name` to refer to. Nothing of them stands in state.
        pub(crate) clusters: Value<BTreeMap<String, Value<ClusterModel>>> => optional,
    }
}

impl Provider for K8sConnect {
    type Config = ProviderBlock;

    fn schema(&self) -> Schema {
        Schema::of::<ProviderBlock>(0).describe(
            "Applies any Kubernetes object from plain YAML by server-side apply. The plan is what \
             the API server answers to a dry-run, cut down to the fields that you wrote.",
        )
    }

    async fn validate(
        &self,
        _ctx: &Context,
        config: ProviderBlock,
        notices: &mut Diagnostics,
    ) -> Result<(), Diagnostics> {
        notices.extend(connect::all_warnings(&config.cluster, &config.clusters));
        connect::check_all(&config.cluster, &config.clusters)
    }

    async fn configure(
        &self,
        ctx: &Context,
        config: ProviderBlock,
        _notices: &mut Diagnostics,
    ) -> Result<(), Diagnostics> {
        // Weakly: whoever waits for a stop that never comes keeps no connection open.
        let (ctx, session) = (ctx.clone(), Arc::downgrade(&self.session));
        tokio::spawn(async move {
            ctx.stopped().await;
            if let Some(session) = session.upgrade() {
                session.stop();
            }
        });
        // What was not known when it was validated may be known now.
        connect::check_all(&config.cluster, &config.clusters)?;
        self.session.configure(Directory { default: config.cluster, named: config.clusters });
        Ok(())
    }

    fn register(&self, registry: &mut Registry) {
        registry.resource(ObjectResource(Arc::clone(&self.session)));
        registry.resource(PatchResource(Arc::clone(&self.session)));
        registry.resource(WaitResource(Arc::clone(&self.session)));
        registry.data_source(ObjectData(Arc::clone(&self.session)));
        registry.data_source(ObjectsData(Arc::clone(&self.session)));
        registry.data_source(YamlSplitData::default());
        registry.data_source(YamlScopedData::default());
        registry.function(YamlSplit);
        registry.function(YamlScoped);
        registry.function(ManifestDecode);
        registry.function(ManifestEncode);
        registry.ephemeral(EphemeralObject(Arc::clone(&self.session)));
        registry.ephemeral(EphemeralToken(Arc::clone(&self.session)));
    }
}

#[cfg(test)]
mod tests {
    use tfplugin::harness::Core;
    use tfplugin::{Data, Value};

    use super::*;

    #[tokio::test]
    async fn a_provider_that_is_gone_keeps_no_connection() {
        let provider = K8sConnect::default();
        let session = Arc::downgrade(&provider.session);
        let core = Core::new(provider);
        core.configure(Value::Known(Data::object([("cluster", Value::Null)]))).await.unwrap();
        drop(core);
        assert!(session.upgrade().is_none(), "it waits for a stop that never comes");
    }
}
