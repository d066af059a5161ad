//! `k8sconnect_object`, to be read: one object of a cluster, whoever made it.

use std::sync::Arc;

use k8sconnect_cluster::{Found, Location, Verb};
use k8sconnect_core::identity::ObjectKey;
use k8sconnect_core::manifest;
use tfplugin::{AttributePath, Context, Data, DataSource, Diagnostics, Schema, Value, model};

use super::reach;
use crate::connect::{self, ClusterModel, names_its_cluster};
use crate::messages::data::Asked;
use crate::session::Session;
use crate::{dynamic, messages, place};

pub(crate) struct ObjectData(pub(crate) Arc<Session>);

model! {
    #[derive(Clone, Debug, PartialEq, Default)]
    pub(crate) struct ObjectDataModel {
        /// Group and version, e.g. `apps/v1`.
        pub(crate) api_version: Value<String> => required,
        /// Kind, e.g. `Deployment`.
        pub(crate) kind: Value<String> => required,
        /// Name.
        pub(crate) name: Value<String> => required,
        /// Namespace; `default` if not set, and of no meaning for a kind that lives in none.
        pub(crate) namespace: Value<String> => optional,
        pub(crate) cluster: Value<ClusterModel>,
        pub(crate) cluster_name: Value<String>,
        /// The same, as text in JSON.
        pub(crate) manifest: Value<String> => computed,
        /// The same, as text in YAML.
        pub(crate) yaml_body: Value<String> => computed,
        /// The object, with the types that its fields have in the cluster:
        /// `object.spec.ports[0].port`, `object.metadata.labels["app.kubernetes.io/name"]`. Without
        /// `managedFields`.
        pub(crate) object: Value<Data> => computed,
    }
}

names_its_cluster!(ObjectDataModel);

impl DataSource for ObjectData {
    const TYPE: &'static str = "k8sconnect_object";

    type Model = ObjectDataModel;

    fn schema(&self) -> Schema {
        connect::attributes(Schema::of::<ObjectDataModel>(0)).describe(
            "Reads an object of a cluster, whoever made it. That there is no such object is an \
             error.",
        )
    }

    async fn validate(
        &self,
        _ctx: &Context,
        config: ObjectDataModel,
        notices: &mut Diagnostics,
    ) -> Result<(), Diagnostics> {
        let mut problems = self.0.validate_cluster(config.cluster_args(), notices);
        let at = |part: &str| AttributePath::root(part);
        problems.extend(place::misnamed(&config.name, &config.namespace, at));
        problems.extend(place::miscalled(&config.api_version, &config.kind, at));
        problems.into_result().map(|_| ())
    }

    async fn read(
        &self,
        _ctx: &Context,
        config: ObjectDataModel,
        notices: &mut Diagnostics,
    ) -> Result<ObjectDataModel, Diagnostics> {
        let key = ObjectKey {
            gvk: reach::gvk(&config.api_version, &config.kind),
            namespace: config.namespace.as_str().filter(|it| !it.is_empty()).map(Into::into),
            name: config.name.as_str().unwrap_or_default().to_owned(),
        };
        let asked = Asked::Object(&key);
        let cluster = reach::cluster(&self.0, config.cluster_args()).await?;
        let kind = reach::kind(&cluster, &key.gvk, &asked, Verb::Get).await?;
        let at = Location { kind, namespace: key.namespace.clone(), name: key.name.clone() };
        let answer = match cluster.get(&at).await {
            Ok(Found::Object(answer)) => answer,
            Ok(Found::Absent(_)) => return Err(messages::data::not_there(&at).into()),
            Ok(Found::NotServed(_)) => {
                return Err(messages::data::no_such_kind(&asked, &key.gvk, None).into());
            }
            Err(error) => return Err(messages::data::unanswered(&asked, &error).into()),
        };
        notices.extend(messages::object::server_warnings(&key, &answer.warnings));
        let object = reach::without_owners(answer.object);
        Ok(ObjectDataModel {
            manifest: object.to_string().into(),
            yaml_body: manifest::written(&object).into(),
            object: dynamic::from_json(object),
            ..config
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_schema_keeps_terraforms_rules() {
        assert_eq!(ObjectData(Arc::default()).schema().check(), []);
    }
}
