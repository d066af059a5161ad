//! One namespace of a shared control plane, and the kinds of `tests/kinds` in it.

use std::path::Path;

use k8sconnect::K8sConnect;
use k8sconnect_core::text::nfc;
use serde_json::{Value as Json, json};
use testkit::specimens::Exhibit;
use testkit::specimens::documents::Tier;
use testkit::sweep::configuration;
use testkit::{ControlPlane, Target, TestNamespace};
use tfplugin::harness::{Core, Failure, State};
use tfplugin::{Capabilities, Data, Diagnostics, Value};

pub(crate) use testkit::faults::life::value;
pub(crate) use testkit::sweep::OBJECT;

pub(crate) struct World {
    pub(crate) cluster: &'static ControlPlane,
    pub(crate) namespace: TestNamespace,
    /// Whom the audit log shows for what the provider asks; nobody else bears the name.
    pub(crate) user: String,
    pub(crate) kubeconfig: String,
}

impl World {
    pub(crate) async fn new() -> Self {
        let cluster = ControlPlane::shared().await;
        let namespace = TestNamespace::new(cluster).await.unwrap();
        let user = format!("user-of-{namespace}");
        let kubeconfig = cluster.kubeconfig_for(&user, Some("system:masters")).unwrap();
        Self { cluster, namespace, user, kubeconfig }
    }

    /// The way to the cluster as a user whose requests the audit log tells apart.
    pub(crate) fn kubeconfig(&self) -> &str {
        &self.kubeconfig
    }

    /// A provider that has just been started.
    pub(crate) fn core(&self) -> Core {
        Core::new(K8sConnect::default())
    }

    /// The same, run by a client that hands the private state of a plan to its apply (Terraform 1.16).
    /// The others say nothing of the phase.
    pub(crate) fn newest_core(&self) -> Core {
        self.core().with_capabilities(Capabilities {
            write_only_attributes_allowed: true,
            store_planned_private: true,
            ..Capabilities::default()
        })
    }

    /// The configuration of one object.
    pub(crate) fn config(&self, body: &str) -> Value {
        configuration(&self.kubeconfig, body)
    }

    /// The same by another way to the cluster.
    pub(crate) fn config_through(&self, kubeconfig: &str, body: &str) -> Value {
        configuration(kubeconfig, body)
    }

    /// The same with whatever attributes a test needs, save the cluster.
    pub(crate) fn config_with<const N: usize>(&self, attributes: [(&str, Value); N]) -> Value {
        through(&self.kubeconfig, attributes)
    }

    /// The configuration of one object that describes its cluster otherwise, or not at all.
    pub(crate) fn config_at(&self, cluster: &Json, body: &str) -> Value {
        let attributes = [("yaml_body", Value::from(nfc(body))), ("cluster", value(cluster))];
        Value::Known(Data::object(attributes))
    }

    /// The parts of a description that lead in as an administrator, by token.
    pub(crate) fn by_token(&self) -> Json {
        json!({
            "host": self.cluster.url(),
            "cluster_ca_certificate": self.cluster.ca(),
            "token": self.cluster.token(),
        })
    }

    /// The body of a ConfigMap in the test's namespace.
    pub(crate) fn config_map(&self, name: &str) -> String {
        format!(
            "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {name}\n  \
             namespace: {}\ndata:\n  greeting: hello\n",
            self.namespace
        )
    }

    pub(crate) async fn create(&self, body: &str) -> Result<State, Failure> {
        self.core().create(OBJECT, &self.config(body)).await
    }

    /// Every kind, in the order in which they can be made.
    pub(crate) fn kinds(&self) -> Vec<Exhibit> {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/kinds");
        let mut kinds = Exhibit::gather(&folder, self.namespace.name()).unwrap();
        kinds.sort_by_key(Exhibit::tier);
        kinds
    }

    /// Makes an object and, of a definition, the kind that it defines.
    pub(crate) async fn make(&self, kind: &Exhibit) -> State {
        let made = self.create(&kind.text).await;
        let state = made.unwrap_or_else(|failure| panic!("{}: {failure}", kind.name));
        if kind.tier() == Tier::Definition {
            self.await_served(&kind.value).await;
        }
        state
    }

    pub(crate) async fn await_served(&self, definition: &Json) {
        self.cluster.await_served(definition).await.unwrap();
    }

    /// Ends what no namespace takes with it.
    pub(crate) async fn clear(&self, kinds: &[Exhibit]) {
        for kind in kinds.iter().rev() {
            let target = Target::of(&kind.value).unwrap();
            if target.namespace.is_none() {
                self.cluster.delete(&target).await.unwrap();
            }
        }
    }
}

/// What is said besides the warning that a credential comes into state: most tests describe the cluster
/// in the resource.
pub(crate) fn besides_the_credential(told: Diagnostics) -> Diagnostics {
    told.into_iter().filter(|one| !one.summary.contains("puts a credential into state")).collect()
}

/// The configuration of a resource whose cluster is reached by a kubeconfig.
fn through<const N: usize>(kubeconfig: &str, attributes: [(&str, Value); N]) -> Value {
    let cluster = Data::object([("kubeconfig", Value::from(kubeconfig))]);
    let attributes = attributes.into_iter().chain([("cluster", Value::Known(cluster))]);
    Value::Known(Data::object(attributes))
}
