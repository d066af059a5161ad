//! `k8sconnect_yaml_split`: every document of some YAML under a key of its own, for `for_each`.

use std::collections::BTreeMap;

use tfplugin::{Value, model};

use super::sources::{Given, Manifests, Parted, YamlData};

pub(crate) type YamlSplitData = YamlData<YamlSplitModel>;

model! {
    #[derive(Clone, Debug, PartialEq, Default)]
    pub(crate) struct YamlSplitModel {
        pub(crate) content: Value<String>,
        pub(crate) pattern: Value<String>,
        pub(crate) kustomize_path: Value<String>,
        pub(crate) id: Value<String>,
        /// The documents by their keys, each as it is written, comments included. The items of a
        /// `List` stand on their own.
        pub(crate) manifests: Value<BTreeMap<String, Value<String>>> => computed,
    }
}

impl Parted for YamlSplitModel {
    const TYPE: &'static str = "k8sconnect_yaml_split";

    const DESCRIPTION: &'static str = "Splits YAML of many documents into single ones, under keys that do not change when \
         documents are added, removed or moved: `[group.]kind[.namespace].name`.";

    fn given(&self) -> Given<'_> {
        let Self { content, pattern, kustomize_path, .. } = self;
        Given { content, pattern, kustomize_path }
    }

    fn holding(self, found: Manifests) -> Self {
        Self { id: found.id.clone().into(), manifests: found.all(), ..self }
    }
}
