//! `k8sconnect_yaml_scoped`: documents in the three groups in which they can be made one after the
//! other: definitions, what lives in no namespace, what lives in one.

use std::collections::BTreeMap;

use k8sconnect_core::documents::Stage;
use tfplugin::{Attribute, Context, DataSource, Diagnostics, Schema, Type, Value, model};

use super::sources::{self, Given};

pub(crate) struct YamlScopedData;

model! {
    #[derive(Clone, Debug, PartialEq, Default)]
    pub(crate) struct YamlScopedModel {
        pub(crate) content: Value<String>,
        pub(crate) pattern: Value<String>,
        pub(crate) kustomize_path: Value<String>,
        pub(crate) id: Value<String>,
        pub(crate) crds: Value<BTreeMap<String, Value<String>>>,
        pub(crate) cluster_scoped: Value<BTreeMap<String, Value<String>>>,
        pub(crate) namespaced: Value<BTreeMap<String, Value<String>>>,
    }
}

impl YamlScopedModel {
    fn given(&self) -> Given<'_> {
        let Self { content, pattern, kustomize_path, .. } = self;
        Given { content, pattern, kustomize_path }
    }
}

impl DataSource for YamlScopedData {
    const TYPE: &'static str = "k8sconnect_yaml_scoped";

    type Model = YamlScopedModel;

    fn schema(&self) -> Schema {
        let group = |what: &str| Attribute::map(Type::String).computed().describe(what);
        sources::attributes(Schema::new(0))
            .describe(
                "Splits YAML as `k8sconnect_yaml_split` does, and sorts the documents by what must \
                 be there first: definitions of custom kinds, what lives in no namespace, the \
                 rest.",
            )
            .attribute("crds", group("CustomResourceDefinitions, by their keys. To be made first."))
            .attribute(
                "cluster_scoped",
                group(
                    "Whatever else lives in no namespace, the namespaces among it, by their keys: \
                     Kubernetes' own kinds, and custom ones whose definition is in the same \
                     input. To be made second.",
                ),
            )
            .attribute(
                "namespaced",
                group(
                    "What lives in a namespace, and custom kinds whose definition is not in the \
                     same input, by their keys. To be made last.",
                ),
            )
    }

    async fn validate(
        &self,
        _ctx: &Context,
        config: YamlScopedModel,
        _notices: &mut Diagnostics,
    ) -> Result<(), Diagnostics> {
        config.given().check()
    }

    async fn read(
        &self,
        ctx: &Context,
        config: YamlScopedModel,
        _notices: &mut Diagnostics,
    ) -> Result<YamlScopedModel, Diagnostics> {
        let mut found = config.given().split(ctx).await?;
        Ok(YamlScopedModel {
            id: found.id.clone().into(),
            crds: found.of_stage(Stage::Definition),
            cluster_scoped: found.of_stage(Stage::Cluster),
            namespaced: found.of_stage(Stage::Namespaced),
            ..config
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_schema_keeps_terraforms_rules() {
        assert_eq!(YamlScopedData.schema().check(), []);
    }
}
