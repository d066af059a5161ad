//! The typed view of a `k8sconnect_object` block and its state.

use tfplugin::{Value, model};

use crate::connect::{ClusterModel, names_its_cluster};
use crate::leaves::ProjectionMap;
use crate::object_ref::ObjectRef;

model! {
    /// What the user wrote, and what we computed.
    #[derive(Clone, Debug, PartialEq, Default)]
    pub(crate) struct ObjectModel {
        pub(crate) yaml_body: Value<String>,
        pub(crate) yaml_body_wo: Value<String>,
        pub(crate) yaml_body_wo_version: Value<String>,
        pub(crate) cluster: Value<ClusterModel>,
        pub(crate) cluster_name: Value<String>,
        pub(crate) force_conflicts: Value<bool>,
        pub(crate) ignore_fields: Value<Vec<Value<String>>>,
        pub(crate) sensitive_fields: Value<Vec<Value<String>>>,
        pub(crate) adopt: Value<bool>,
        pub(crate) apply_timeout: Value<String>,
        pub(crate) delete_protection: Value<bool>,
        pub(crate) delete_timeout: Value<String>,
        pub(crate) delete_propagation: Value<String>,
        pub(crate) force_destroy: Value<bool>,
        pub(crate) id: Value<String>,
        pub(crate) uid: Value<String>,
        pub(crate) object_ref: Value<ObjectRef>,
        pub(crate) managed_state_projection: Value<ProjectionMap>,
    }
}

names_its_cluster!(ObjectModel);

impl ObjectModel {
    /// An object before it is made: nothing of what the server gives is known.
    pub(crate) fn unmade() -> Self {
        Self {
            id: Value::Unknown,
            uid: Value::Unknown,
            object_ref: Value::Unknown,
            managed_state_projection: Value::Unknown,
            ..Self::default()
        }
    }

    /// Whether an apply of this plan has nothing to write: at most the connection changes, or what
    /// the cluster never sees.
    pub(crate) fn writes_the_same(&self, prior: &Self) -> bool {
        self.yaml_body == prior.yaml_body
            && self.yaml_body_wo_version == prior.yaml_body_wo_version
            && self.ignore_fields == prior.ignore_fields
            && self.managed_state_projection == prior.managed_state_projection
    }
}
