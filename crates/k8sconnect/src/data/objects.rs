//! `k8sconnect_objects`: all objects of a kind, or those that selectors choose.

use std::sync::Arc;

use k8sconnect_cluster::{Detail, Scope, Selection, Verb, Within};
use serde_json::Value as Json;
use tfplugin::{AttributePath, Context, Data, DataSource, Diagnostics, Schema, Value, model};

use super::reach;
use crate::connect::{self, ClusterModel, names_its_cluster};
use crate::messages::data::Asked;
use crate::session::Session;
use crate::{dynamic, messages, place};

pub(crate) struct ObjectsData(pub(crate) Arc<Session>);

model! {
    #[derive(Clone, Debug, PartialEq, Default)]
    pub(crate) struct ObjectsDataModel {
        /// Group and version, e.g. `apps/v1`.
        pub(crate) api_version: Value<String> => required,
        /// Kind, e.g. `Deployment`; not a list's.
        pub(crate) kind: Value<String> => required,
        /// Only those of this namespace; of all if not set.
        pub(crate) namespace: Value<String> => optional,
        /// Only those with these labels, e.g. `app=web,tier in (a, b),!legacy`.
        pub(crate) label_selector: Value<String> => optional,
        /// Only those with these fields, e.g. `metadata.name=web` or `status.phase!=Running`. Which
        /// fields can be asked for differs by kind.
        pub(crate) field_selector: Value<String> => optional,
        pub(crate) cluster: Value<ClusterModel>,
        pub(crate) cluster_name: Value<String>,
        /// The objects, sorted by namespace and name, each with the types that its fields have in
        /// the cluster. Without `managedFields`.
        pub(crate) objects: Value<Data> => computed,
    }
}

names_its_cluster!(ObjectsDataModel);

impl DataSource for ObjectsData {
    const TYPE: &'static str = "k8sconnect_objects";

    type Model = ObjectsDataModel;

    fn schema(&self) -> Schema {
        connect::attributes(Schema::of::<ObjectsDataModel>(0)).describe(
            "Reads all objects of a kind, or those that selectors choose, whoever made them. That \
             there are none is no error.",
        )
    }

    async fn validate(
        &self,
        _ctx: &Context,
        config: ObjectsDataModel,
        notices: &mut Diagnostics,
    ) -> Result<(), Diagnostics> {
        let mut problems = self.0.validate_cluster(config.cluster_args(), notices);
        let at = |part: &str| AttributePath::root(part);
        problems.extend(place::misnamed(&Value::Null, &config.namespace, at));
        problems.extend(place::miscalled(&config.api_version, &config.kind, at));
        problems.into_result().map(|_| ())
    }

    async fn read(
        &self,
        _ctx: &Context,
        config: ObjectsDataModel,
        notices: &mut Diagnostics,
    ) -> Result<ObjectsDataModel, Diagnostics> {
        let gvk = reach::gvk(&config.api_version, &config.kind);
        let filled = |value: &'_ Value<String>| {
            value.as_str().filter(|text| !text.trim().is_empty()).map(ToOwned::to_owned)
        };
        let (labels, fields) = (filled(&config.label_selector), filled(&config.field_selector));
        let namespace = filled(&config.namespace);
        let asked = Asked::List(&gvk);
        let cluster = reach::cluster(&self.0, config.cluster_args()).await?;
        let kind = reach::kind(&cluster, &gvk, &asked, Verb::List).await?;
        if let (Scope::Cluster, Some(namespace)) = (kind.scope, &namespace) {
            notices.push(messages::data::listed_nowhere(&gvk, namespace));
        }
        let within = namespace.as_deref().map_or(Within::Everywhere, Within::Namespace);
        let selection = Selection { labels: labels.as_deref(), fields: fields.as_deref() };
        let listed = cluster.list(&kind, within, selection, Detail::Full).await;
        let listed = listed.map_err(|error| {
            let selectors =
                [("label_selector", labels.is_some()), ("field_selector", fields.is_some())];
            let given: Vec<_> =
                selectors.iter().filter(|(_, given)| *given).map(|(name, _)| *name).collect();
            messages::data::unlisted(&gvk, &error, &given)
        })?;
        notices.extend(messages::data::list_warnings(&gvk, &listed.warnings));
        let mut items: Vec<Json> = listed.items.into_iter().map(reach::without_owners).collect();
        let of = |item: &Json, name: &str| {
            item["metadata"][name].as_str().unwrap_or_default().to_owned()
        };
        items.sort_by_cached_key(|item| (of(item, "namespace"), of(item, "name")));
        Ok(ObjectsDataModel { objects: dynamic::from_json(Json::Array(items)), ..config })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_schema_keeps_terraforms_rules() {
        assert_eq!(ObjectsData(Arc::default()).schema().check(), []);
    }
}
