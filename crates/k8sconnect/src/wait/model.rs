//! The typed view of a `k8sconnect_wait` block and its state.

use std::collections::BTreeMap;

use tfplugin::{Data, Value, model};

use crate::connect::{ClusterModel, names_its_cluster};
use crate::object_ref::ObjectRef;

model! {
    /// What the user wrote, and what was waited for.
    #[derive(Clone, Debug, PartialEq, Default)]
    pub(crate) struct WaitModel {
        pub(crate) object_ref: Value<ObjectRef>,
        pub(crate) wait_for: Value<WaitFor>,
        pub(crate) triggers: Value<BTreeMap<String, Value<String>>>,
        pub(crate) cluster: Value<ClusterModel>,
        pub(crate) cluster_name: Value<String>,
        pub(crate) id: Value<String>,
        pub(crate) result: Value<Data>,
    }
}

names_its_cluster!(WaitModel);

model! {
    #[derive(Clone, Debug, PartialEq, Default)]
    pub(crate) struct WaitFor {
        pub(crate) field: Value<String>,
        pub(crate) field_value: Value<BTreeMap<String, Value<String>>>,
        pub(crate) condition: Value<String>,
        pub(crate) rollout: Value<bool>,
        pub(crate) ready: Value<bool>,
        pub(crate) deleted: Value<bool>,
        pub(crate) fail_when: Value<FailWhen>,
        pub(crate) timeout: Value<String>,
    }
}

model! {
    #[derive(Clone, Debug, PartialEq, Default)]
    pub(crate) struct FailWhen {
        pub(crate) field: Value<String>,
        pub(crate) field_value: Value<BTreeMap<String, Value<String>>>,
        pub(crate) condition: Value<String>,
    }
}

impl WaitFor {
    /// What is waited for, without how long and on what to give up.
    pub(super) fn goal_alone(&self) -> Self {
        Self { fail_when: Value::Null, timeout: Value::Null, ..self.clone() }
    }
}
