//! The ephemeral `k8sconnect_object`: any object, read without being stored.

use std::sync::Arc;

use k8sconnect_cluster::{Found, Location, Placed, Scope};
use k8sconnect_core::identity::{DEFAULT_NAMESPACE, ObjectKey};
use k8sconnect_core::manifest;
use tfplugin::{
    AttributePath, Context, Data, Diagnostics, Ephemeral, Opened, Private, Schema, Value, model,
};

use crate::connect::{self, ClusterModel, names_its_cluster};
use crate::data::reach;
use crate::messages::data::Asked;
use crate::session::Session;
use crate::{dynamic, messages, place};

pub(crate) struct EphemeralObject(pub(crate) Arc<Session>);

model! {
    #[derive(Clone, Debug, PartialEq, Default)]
    pub(crate) struct EphemeralObjectModel {
        cluster: Value<ClusterModel>,
        cluster_name: Value<String>,
        /// Group and version, e.g. `v1` or `apps/v1`.
        api_version: Value<String> => required,
        /// Kind, e.g. `Secret`.
        kind: Value<String> => required,
        /// Name.
        name: Value<String> => required,
        /// Namespace; `default` if not set. Says nothing for a cluster-scoped kind.
        namespace: Value<String> => optional,
        /// The uid of the object, where no other of its name is meant. Taken from the resource that
        /// creates the object, it makes the run wait until the object is there.
        uid: Value<String> => optional,
        /// The same as JSON.
        manifest: Value<String> => computed sensitive,
        /// The same as YAML.
        yaml_body: Value<String> => computed sensitive,
        /// The object, without `metadata.managedFields`. `data` of a Secret is in base64:
        /// `base64decode(….object.data["password"])`.
        object: Value<Data> => computed sensitive,
    }
}

names_its_cluster!(EphemeralObjectModel);

impl Ephemeral for EphemeralObject {
    const TYPE: &'static str = "k8sconnect_object";

    type Model = EphemeralObjectModel;

    fn schema(&self) -> Schema {
        connect::attributes(Schema::of::<EphemeralObjectModel>(0)).describe(
            "One object of the cluster, a Secret for example, read when the run needs it and \
             stored nowhere.",
        )
    }

    async fn validate(
        &self,
        _ctx: &Context,
        config: EphemeralObjectModel,
        notices: &mut Diagnostics,
    ) -> Result<(), Diagnostics> {
        let mut problems = connect::validate(config.cluster_args(), notices);
        let at = |part: &str| AttributePath::root(part);
        problems.extend(place::misnamed(&config.name, &config.namespace, at));
        problems.extend(place::miscalled(&config.api_version, &config.kind, at));
        if config.uid.as_str() == Some("") {
            problems.push(messages::ephemeral::empty_uid());
        }
        problems.into_result().map(|_| ())
    }

    async fn open(
        &self,
        _ctx: &Context,
        config: EphemeralObjectModel,
        _notices: &mut Diagnostics,
    ) -> Result<Opened<EphemeralObjectModel>, Diagnostics> {
        let key = ObjectKey {
            gvk: reach::gvk(&config.api_version, &config.kind),
            namespace: config.namespace.known().cloned(),
            name: config.name.as_str().unwrap_or_default().to_owned(),
        };
        let unanswered =
            |error| Diagnostics::from(messages::data::unanswered(&Asked::Object(&key), &error));
        let cluster = super::cluster(&self.0, config.cluster_args()).await?;
        let kind = match cluster.place(&key.gvk).await.map_err(unanswered)? {
            Placed::At(kind) => kind,
            Placed::NotYet(why) => return Err(messages::ephemeral::no_kind(&key, &why).into()),
        };
        let namespace = match kind.scope {
            Scope::Namespaced => {
                Some(key.namespace.clone().unwrap_or_else(|| DEFAULT_NAMESPACE.to_owned()))
            }
            Scope::Cluster => None,
        };
        let location = Location { kind, namespace, name: key.name.clone() };
        let object = match cluster.get(&location).await.map_err(unanswered)? {
            Found::Object(answer) => answer.object,
            Found::Absent(_) | Found::NotServed(_) => {
                return Err(messages::ephemeral::no_object(&key).into());
            }
        };
        let uid = object["metadata"]["uid"].as_str().unwrap_or_default().to_owned();
        if config.uid.known().is_some_and(|wanted| *wanted != uid) {
            return Err(messages::ephemeral::another(&key).into());
        }
        let object = reach::without_owners(object);
        let result = EphemeralObjectModel {
            manifest: Value::Known(object.to_string()),
            yaml_body: Value::Known(manifest::written(&object)),
            object: dynamic::from_json(object),
            ..config
        };
        Ok(Opened { result, private: Private::default(), renew_at: None })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_schema_keeps_terraforms_rules() {
        assert_eq!(EphemeralObject(Arc::default()).schema().check(), []);
    }
}
