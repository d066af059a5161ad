//! The typed view of a `k8sconnect_object` block and its state.

use tfplugin::{Value, model};

use crate::connect::{ClusterModel, names_its_cluster};
use crate::leaves::ProjectionMap;
use crate::object_ref::ObjectRef;

model! {
    /// What the user wrote, and what we computed.
    #[derive(Clone, Debug, PartialEq, Default)]
    pub(crate) struct ObjectModel {
        /// The object, as one YAML document. Read exactly as kubectl reads it. Comments, key order
        /// and quoting may change without a change being planned. Either this or `yaml_body_wo` is
        /// set.
        pub(crate) yaml_body: Value<String> => optional,
        /// The object, as `yaml_body` has it, but never stored, neither in a plan nor in state, and
        /// with all its values hidden. It may hold ephemeral values. Needs Terraform or OpenTofu
        /// 1.11 or later.
        pub(crate) yaml_body_wo: Value<String> => optional write_only,
        /// Any text that stands for the content of `yaml_body_wo`: the body is applied again when
        /// this changes.
        pub(crate) yaml_body_wo_version: Value<String> => optional,
        pub(crate) cluster: Value<ClusterModel>,
        pub(crate) cluster_name: Value<String>,
        /// Whether fields that other managers hold with other values are taken from them; `true`
        /// unless set. The plan tells from whom. With `false` such a field is a plan error.
        pub(crate) force_conflicts: Value<bool> => optional,
        /// Fields that are sent when the object is created and left alone afterwards, such as
        /// `spec.replicas` under an autoscaler. `[name=x]`, `[*]` and `[?(@.name=="x")]` choose
        /// list items, `*` any key; `manager=NAME` stands for all that a manager holds.
        pub(crate) ignore_fields: Value<Vec<Value<String>>> => optional,
        /// Fields whose values are shown nowhere: in the projection stands a hash instead, so that
        /// a change still shows. Paths as in `ignore_fields`. The values of a Secret are always
        /// hidden.
        pub(crate) sensitive_fields: Value<Vec<Value<String>>> => optional,
        /// Whether an object that exists already is taken over instead of being an error. The plan
        /// tells from whom.
        pub(crate) adopt: Value<bool> => optional,
        /// How long an apply waits for a kind or a namespace that is not there yet, e.g. `90s` or
        /// `5m`; `5m` unless set.
        pub(crate) apply_timeout: Value<String> => optional,
        /// Whether destroying or replacing the object is a plan error.
        pub(crate) delete_protection: Value<bool> => optional,
        /// How long to wait until the object is gone, e.g. `90s`; `5m` unless set, `10m` for a
        /// Namespace, a CustomResourceDefinition, a PersistentVolume or a PersistentVolumeClaim.
        /// `0s` does not wait.
        pub(crate) delete_timeout: Value<String> => optional,
        /// What becomes of the objects that this one owns: `background` (the default) deletes them
        /// afterwards, `foreground` before, `orphan` leaves them.
        pub(crate) delete_propagation: Value<String> => optional,
        /// Whether finalizers are removed if the object is still there after `delete_timeout`. What
        /// they were to clean up is then left behind.
        pub(crate) force_destroy: Value<bool> => optional,
        /// A random id, also kept in an annotation of the object.
        pub(crate) id: Value<String> => computed,
        /// The uid that the API server gave the object.
        pub(crate) uid: Value<String> => computed,
        pub(crate) object_ref: Value<ObjectRef>,
        /// The fields that you wrote, as the API server holds them: path to value, one entry a
        /// leaf. What others put into the object never stands here.
        pub(crate) managed_state_projection: Value<ProjectionMap> => computed,
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
