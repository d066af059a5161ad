//! `k8sconnect_yaml_scoped`: documents in the three groups in which they can be made one after the
//! other: definitions, what lives in no namespace, what lives in one.

use std::collections::BTreeMap;

use k8sconnect_core::documents::Stage;
use tfplugin::{Value, model};

use super::sources::{Given, Manifests, Parted, YamlData};

pub(crate) type YamlScopedData = YamlData<YamlScopedModel>;

model! {
    #[derive(Clone, Debug, PartialEq, Default)]
    pub(crate) struct YamlScopedModel {
        pub(crate) content: Value<String>,
        pub(crate) pattern: Value<String>,
        pub(crate) kustomize_path: Value<String>,
        pub(crate) id: Value<String>,
        /// CustomResourceDefinitions, by their keys. To be made first.
        pub(crate) crds: Value<BTreeMap<String, Value<String>>> => computed,
        /// Whatever else lives in no namespace, the namespaces among it, by their keys: Kubernetes'
        /// own kinds, and custom ones whose definition is in the same input. To be made second.
        pub(crate) cluster_scoped: Value<BTreeMap<String, Value<String>>> => computed,
        /// What lives in a namespace, and custom kinds whose definition is not in the same input,
        /// by their keys. To be made last.
        pub(crate) namespaced: Value<BTreeMap<String, Value<String>>> => computed,
    }
}

impl Parted for YamlScopedModel {
    const TYPE: &'static str = "k8sconnect_yaml_scoped";

    const DESCRIPTION: &'static str = "Splits YAML as `k8sconnect_yaml_split` does, and sorts the documents by what must be \
         there first: definitions of custom kinds, what lives in no namespace, the rest.";

    fn given(&self) -> Given<'_> {
        let Self { content, pattern, kustomize_path, .. } = self;
        Given { content, pattern, kustomize_path }
    }

    fn holding(self, mut found: Manifests) -> Self {
        Self {
            id: found.id.clone().into(),
            crds: found.of_stage(Stage::Definition),
            cluster_scoped: found.of_stage(Stage::Cluster),
            namespaced: found.of_stage(Stage::Namespaced),
            ..self
        }
    }
}
