//! The typed view of a `k8sconnect_wait` block and its state.

use std::collections::BTreeMap;

use tfplugin::{Data, Value, model};

use crate::connect::{ClusterModel, names_its_cluster};
use crate::object_ref::ObjectRef;

model! {
    /// What the user wrote, and what was waited for.
    #[derive(Clone, Debug, PartialEq, Default)]
    pub(crate) struct WaitModel {
        /// The object, as `k8sconnect_object.NAME.object_ref` names it. It need not be managed by
        /// Terraform, and need not be there yet.
        pub(crate) object_ref: Value<ObjectRef> => required,
        /// What to wait for: exactly one of `field`, `field_value`, `condition`, `rollout`, `ready`
        /// and `deleted`.
        pub(crate) wait_for: Value<WaitFor> => required,
        /// Any values; when one of them changes, the object is waited for again, in place.
        pub(crate) triggers: Value<BTreeMap<String, Value<String>>> => optional,
        pub(crate) cluster: Value<ClusterModel>,
        pub(crate) cluster_name: Value<String>,
        /// A random id.
        pub(crate) id: Value<String> => computed,
        /// What was waited for, nested as in the object and with its own types: with `field =
        /// "status.loadBalancer.ingress"` there is `result.status.loadBalancer.ingress[0].ip`. Of a
        /// condition: its type, status and reason. Null for `rollout`, `ready` and `deleted`. Kept
        /// current by every refresh.
        pub(crate) result: Value<Data> => computed,
    }
}

names_its_cluster!(WaitModel);

model! {
    #[derive(Clone, Debug, PartialEq, Default)]
    pub(crate) struct WaitFor {
        /// A field that must be there and not be empty, as a JSONPath as kubectl takes it.
        pub(crate) field: Value<String> => optional,
        /// Fields that must have these values: JSONPath as kubectl takes it, to value.
        pub(crate) field_value: Value<BTreeMap<String, Value<String>>> => optional,
        /// A condition that must be `True`, e.g. `Ready`, or have the status that is named, e.g.
        /// `Ready=False`.
        pub(crate) condition: Value<String> => optional,
        /// Whether a Deployment, StatefulSet, DaemonSet or Job must have rolled out: all of its
        /// pods of the last template and available, or the Job complete.
        pub(crate) rollout: Value<bool> => optional,
        /// Whether the object must be ready by the rules of its kind, those of kstatus.
        pub(crate) ready: Value<bool> => optional,
        /// Whether the object must be gone.
        pub(crate) deleted: Value<bool> => optional,
        /// What the wait fails on at once, instead of at its timeout. Several are alternatives: any
        /// of them suffices.
        pub(crate) fail_when: Value<FailWhen> => optional,
        /// How long to wait, such as `90s` or `1h30m`; `10m` if not set.
        pub(crate) timeout: Value<String> => optional,
    }
}

model! {
    #[derive(Clone, Debug, PartialEq, Default)]
    pub(crate) struct FailWhen {
        /// A field that is there and not empty.
        pub(crate) field: Value<String> => optional,
        /// Fields with these values, all.
        pub(crate) field_value: Value<BTreeMap<String, Value<String>>> => optional,
        /// A condition that is `True`, or has the status that is named.
        pub(crate) condition: Value<String> => optional,
    }
}

impl WaitFor {
    /// What is waited for, without how long and on what to give up.
    pub(super) fn goal_alone(&self) -> Self {
        Self { fail_when: Value::Null, timeout: Value::Null, ..self.clone() }
    }
}
