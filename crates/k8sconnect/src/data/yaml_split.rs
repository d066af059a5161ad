//! `k8sconnect_yaml_split`: every document of some YAML under a key of its own, for `for_each`.

use std::collections::BTreeMap;

use tfplugin::{Attribute, Context, DataSource, Diagnostics, Schema, Type, Value, model};

use super::sources::{self, Given};

pub(crate) struct YamlSplitData;

model! {
    #[derive(Clone, Debug, PartialEq, Default)]
    pub(crate) struct YamlSplitModel {
        pub(crate) content: Value<String>,
        pub(crate) pattern: Value<String>,
        pub(crate) kustomize_path: Value<String>,
        pub(crate) id: Value<String>,
        pub(crate) manifests: Value<BTreeMap<String, Value<String>>>,
    }
}

impl YamlSplitModel {
    fn given(&self) -> Given<'_> {
        let Self { content, pattern, kustomize_path, .. } = self;
        Given { content, pattern, kustomize_path }
    }
}

impl DataSource for YamlSplitData {
    const TYPE: &'static str = "k8sconnect_yaml_split";

    type Model = YamlSplitModel;

    fn schema(&self) -> Schema {
        sources::attributes(Schema::new(0))
            .describe(
                "Splits YAML of many documents into single ones, under keys that do not change \
                 when documents are added, removed or moved: \
                 `[group.]kind[.namespace].name`.",
            )
            .attribute(
                "manifests",
                Attribute::map(Type::String).computed().describe(
                    "The documents by their keys, each as it is written, comments included. The \
                     items of a `List` stand on their own.",
                ),
            )
    }

    async fn validate(
        &self,
        _ctx: &Context,
        config: YamlSplitModel,
        _notices: &mut Diagnostics,
    ) -> Result<(), Diagnostics> {
        config.given().check()
    }

    async fn read(
        &self,
        ctx: &Context,
        config: YamlSplitModel,
        _notices: &mut Diagnostics,
    ) -> Result<YamlSplitModel, Diagnostics> {
        let found = config.given().split(ctx).await?;
        let id = found.id.clone().into();
        Ok(YamlSplitModel { id, manifests: found.all(), ..config })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_schema_keeps_terraforms_rules() {
        assert_eq!(YamlSplitData.schema().check(), []);
    }
}
