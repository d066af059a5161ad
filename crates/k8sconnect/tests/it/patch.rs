//! `k8sconnect_patch` against a real API server, called in this process: every form on every sort of
//! field, every refusal, every place at which it can be interrupted.

mod allocated;
mod along;
mod as_written;
mod behind;
mod bereft;
mod drift;
mod forms;
mod inherited;
mod interrupted;
mod items;
mod joined;
mod keyless;
mod late;
mod limits;
mod meanwhile;
mod nulls;
mod oddities;
mod refusals;
mod returned;
mod rivals;
mod schemaless;
mod versions;
mod wholes;

use std::collections::BTreeMap;

use serde_json::{Value as Json, json};
use testkit::Target;
use tfplugin::harness::{Action, Core, Failure, PlanOutcome, State};
use tfplugin::{Data, Diagnostics, Value};

use crate::world::World;

pub(crate) const PATCH: &str = "k8sconnect_patch";

/// An object of others, to be patched.
pub(crate) struct Ward {
    pub(crate) world: World,
    pub(crate) target: Target,
    /// Another way to the same cluster than that of the test's own user.
    pub(crate) detour: Option<String>,
}

impl Ward {
    /// An object that `helm` applies. `NS` stands for the namespace of the test.
    pub(crate) async fn with(manifest: &str) -> Self {
        let world = World::new().await;
        let manifest = manifest.replace("NS", world.namespace.name());
        let object = world.cluster.act_as("helm").apply(manifest).await.unwrap();
        let target = Target::of(&object).unwrap();
        Self::of(world, target)
    }

    pub(crate) fn of(world: World, target: Target) -> Self {
        Self { world, target, detour: None }
    }

    pub(crate) async fn config_map() -> Self {
        let world = World::new().await;
        let target = Target::new("v1", "ConfigMap", world.namespace.name(), "settings");
        let ward = Self::of(world, target);
        ward.world.cluster.act_as("helm").apply(ward.body()).await.unwrap();
        ward
    }

    pub(crate) async fn deployment() -> Self {
        Self::with(DEPLOYMENT).await
    }

    pub(crate) fn config(&self, attribute: &str, text: &str) -> Value {
        self.config_with(attribute, text, &[])
    }

    pub(crate) fn adopting(&self, attribute: &str, text: &str) -> Value {
        self.config_with(attribute, text, &[("adopt", Value::from(true))])
    }

    pub(crate) fn config_with(&self, attribute: &str, text: &str, more: &[(&str, Value)]) -> Value {
        let kubeconfig = self.detour.as_deref().unwrap_or(self.world.kubeconfig());
        configuration(kubeconfig, &self.target, attribute, text, more)
    }

    pub(crate) fn core(&self) -> Core {
        self.world.core()
    }

    pub(crate) fn newest_core(&self) -> Core {
        self.world.newest_core()
    }

    pub(crate) async fn live(&self) -> Json {
        self.world.cluster.read(&self.target).await.unwrap().unwrap()
    }

    /// The ConfigMap that helm applied.
    pub(crate) fn body(&self) -> Json {
        let mut body = object("v1", "ConfigMap", "settings", self.world.namespace.name());
        body["data"] = json!({"a": "helm", "b": "helm", "c": "helm"});
        body
    }

    /// Makes the object anew, as helm would.
    pub(crate) async fn remake(&self, body: &Json) {
        self.world.cluster.delete(&self.target).await.unwrap();
        self.world.cluster.act_as("helm").apply(body).await.unwrap();
    }

    pub(crate) async fn create(&self, attribute: &str, text: &str) -> State {
        self.core().create(PATCH, &self.config(attribute, text)).await.unwrap()
    }

    /// Applies another text, in processes of their own for plan and apply, as Terraform does.
    pub(crate) async fn change(&self, attribute: &str, text: &str, state: &State) -> State {
        let config = self.config(attribute, text);
        let core = self.core();
        let read = core.read(PATCH, state).await.unwrap().present().unwrap();
        let plan = core.plan(PATCH, &config, Some(&read)).await.unwrap();
        let applying = self.core();
        applying.apply(PATCH, &config, Some(&read), &plan).await.unwrap().present().unwrap()
    }

    /// A refresh and a plan.
    pub(crate) async fn plan(
        &self,
        attribute: &str,
        text: &str,
        state: &State,
    ) -> Result<PlanOutcome, Failure> {
        let core = self.core();
        let read = core.read(PATCH, state).await.unwrap().present().unwrap();
        core.plan(PATCH, &self.config(attribute, text), Some(&read)).await
    }

    #[track_caller]
    pub(crate) fn settled<'a>(
        &'a self,
        attribute: &'a str,
        text: &'a str,
        state: &'a State,
    ) -> impl Future<Output = ()> + 'a {
        let caller = std::panic::Location::caller();
        async move {
            let plan = self.plan(attribute, text, state).await.unwrap();
            assert_eq!(plan.action, Action::NoOp, "at {caller}: {:#?}", plan.planned);
            assert!(plan.diagnostics.is_empty(), "at {caller}: {:?}", plan.diagnostics);
        }
    }

    pub(crate) async fn destroy(&self, state: &State) {
        self.core().destroy(PATCH, state).await.unwrap();
    }
}

/// The configuration of one patch.
pub(crate) fn configuration(
    kubeconfig: &str,
    target: &Target,
    attribute: &str,
    text: &str,
    more: &[(&str, Value)],
) -> Value {
    let Target { api_version, kind, namespace, name } = target;
    let target = Data::object([
        ("api_version", Value::from(api_version.as_str())),
        ("kind", Value::from(kind.as_str())),
        ("name", Value::from(name.as_str())),
        ("namespace", namespace.as_deref().map_or(Value::Null, Value::from)),
    ]);
    let cluster = Data::object([("kubeconfig", Value::from(kubeconfig))]);
    let attributes = [
        ("target", Value::Known(target)),
        ("cluster", Value::Known(cluster)),
        (attribute, Value::from(text)),
    ];
    let more = more.iter().map(|(name, value)| (*name, value.clone()));
    Value::Known(Data::object(attributes.into_iter().chain(more)))
}

pub(crate) const DEPLOYMENT: &str = "
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: NS, annotations: {example.com/team: blue}}
spec:
  replicas: 0
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      tolerations:
      - {key: gpu, operator: Exists}
      volumes:
      - {name: tmp, emptyDir: {}}
      containers:
      - name: app
        image: nginx:1
        env: [{name: MODE, value: plain}, {name: LEVEL, value: low}]
        ports: [{containerPort: 80}]
        resources: {limits: {cpu: 500m}}
";

/// A map attribute of the state, as text.
pub(crate) fn map(state: &State, attribute: &str) -> BTreeMap<String, String> {
    let Value::Known(Data::Map(entries)) = state.attribute(attribute) else {
        panic!("{attribute} is no map: {:?}", state.attribute(attribute));
    };
    entries.iter().map(|(path, value)| (path.clone(), text(value))).collect()
}

pub(crate) fn leaves(state: &State) -> BTreeMap<String, String> {
    map(state, "managed_state_projection")
}

/// Who held each field before.
pub(crate) fn former(state: &State) -> BTreeMap<String, Vec<String>> {
    let Value::Known(Data::Map(entries)) = state.attribute("previous_owners") else {
        panic!("{:?}", state.attribute("previous_owners"));
    };
    let name = |owner: &Value| text(owner.attribute("manager").unwrap());
    let names = |owners: &Value| match owners {
        Value::Known(Data::List(owners)) => owners.iter().map(name).collect(),
        other => panic!("{other:?}"),
    };
    entries.iter().map(|(path, owners)| (path.clone(), names(owners))).collect()
}

pub(crate) fn id(state: &State) -> String {
    text(state.attribute("id"))
}

pub(crate) fn text(value: &Value) -> String {
    value.known().and_then(Data::as_str).unwrap_or("?").to_owned()
}

/// All that was said, on one line.
pub(crate) fn said(diagnostics: &Diagnostics) -> String {
    let all: Vec<_> =
        diagnostics.iter().map(|one| format!("{} {}", one.summary, one.detail)).collect();
    all.join(" ").split_whitespace().collect::<Vec<_>>().join(" ")
}

#[track_caller]
pub(crate) fn refused(result: Result<impl std::fmt::Debug, Failure>) -> String {
    match result {
        Err(failure @ Failure::Refused { .. }) => said(&failure.diagnostics()),
        other => panic!("it was not refused: {other:?}"),
    }
}

/// Everyone's entries, to the leaf, without those of the cluster's own controllers.
pub(crate) fn owners(object: &Json) -> Vec<String> {
    let entries = object["metadata"]["managedFields"].as_array().into_iter().flatten();
    let mut entries: Vec<_> = entries
        .filter(|entry| entry["manager"] != "kube-controller-manager")
        .map(Json::to_string)
        .collect();
    entries.sort();
    entries
}

pub(crate) fn object(api_version: &str, kind: &str, name: &str, namespace: &str) -> Json {
    json!({"apiVersion": api_version, "kind": kind,
           "metadata": {"name": name, "namespace": namespace}})
}
