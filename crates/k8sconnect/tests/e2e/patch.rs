//! `k8sconnect_patch`: fields of objects that others own, taken in the open and handed back to the
//! leaf. The others are real: they apply, update and scale under names of their own.

mod drift;
mod handback;
mod killed;
mod late;
mod lost;
mod refused;
mod rivals;
mod round;
mod sorts;
mod stories;
mod words;

use serde_json::{Value, json};
use testkit::{Target, Tool};

use crate::workspace::Workspace;

/// An object of others, and a patch of it.
pub(crate) struct Clinic {
    pub(crate) at: Workspace,
    pub(crate) target: Target,
}

/// The patch of a test: an attribute and its text.
pub(crate) type Treatment<'a> = (&'a str, &'a str);

impl Clinic {
    pub(crate) async fn new(target: (&str, &str, &str)) -> Self {
        Self::run_by(Tool::Terraform, target).await
    }

    async fn run_by(tool: Tool, (api_version, kind, name): (&str, &str, &str)) -> Self {
        let at = Workspace::new(tool).await;
        let target = Target::new(api_version, kind, at.namespace.name(), name);
        Self { at, target }
    }

    pub(crate) async fn deployment() -> Self {
        Self::with_tool("Deployment", Tool::Terraform).await
    }

    /// Of a Deployment the server counts changed annotations as a new generation; not of this.
    pub(crate) async fn stateful_set() -> Self {
        Self::with_tool("StatefulSet", Tool::Terraform).await
    }

    /// What helm applied, flux agrees with, an autoscaler scales and somebody edited.
    pub(crate) async fn with_tool(kind: &str, tool: Tool) -> Self {
        let clinic = Self::run_by(tool, ("apps/v1", kind, "web")).await;
        clinic.populate().await;
        clinic
    }

    /// Everybody does their part.
    pub(crate) async fn populate(&self) {
        let cluster = self.at.cluster;
        cluster.act_as("helm").apply(self.body()).await.unwrap();
        let agreed = json!({
            "apiVersion": "apps/v1", "kind": self.target.kind,
            "metadata": {"name": "web", "namespace": self.at.namespace.name()},
            "spec": {"template": {"spec": {"containers": [{"name": "app", "image": "nginx:1"}]}}},
        });
        cluster.act_as("flux").apply(agreed).await.unwrap();
        cluster.act_as("autoscaler").scale(&self.target, 3).await.unwrap();
        let edit = json!({"metadata": {"annotations": {"example.com/team": "blue"}}});
        cluster.act_as("kubectl-edit").merge_patch(&self.target, edit).await.unwrap();
    }

    pub(crate) fn body(&self) -> Value {
        json!({
            "apiVersion": "apps/v1", "kind": self.target.kind,
            "metadata": {"name": "web", "namespace": self.at.namespace.name()},
            "spec": {
                "replicas": 2,
                "selector": {"matchLabels": {"app": "web"}},
                "template": {
                    "metadata": {"labels": {"app": "web"}},
                    "spec": {
                        "tolerations": [{"key": "gpu", "operator": "Exists"}],
                        "containers": [{
                            "name": "app", "image": "nginx:1",
                            "env": [{"name": "MODE", "value": "plain"}],
                            "ports": [{"containerPort": 80}],
                        }],
                    },
                },
            },
        })
    }

    /// Writes one patch resource for each treatment.
    pub(crate) fn patches(&self, treatments: &[(&str, Treatment<'_>, &str)]) -> &Self {
        let resources: Vec<_> = treatments
            .iter()
            .map(|(name, treatment, arguments)| self.resource(name, *treatment, arguments))
            .collect();
        self.at.runner.write("main.tf", &resources.join("\n")).unwrap();
        self
    }

    /// Writes a single patch, named `it`.
    pub(crate) fn patch(&self, attribute: &str, text: &str) -> &Self {
        self.patches(&[("it", (attribute, text), "")])
    }

    fn resource(&self, name: &str, treatment: Treatment<'_>, arguments: &str) -> String {
        resource(name, &self.target, treatment, arguments)
    }

    pub(crate) async fn live(&self) -> Value {
        self.at.cluster.read(&self.target).await.unwrap().unwrap()
    }

    /// Everyone's entries, to the leaf, with their times; the controllers of the cluster itself
    /// come and go.
    pub(crate) async fn owners(&self) -> Vec<String> {
        owners(&self.live().await)
    }

    /// The only resource's attributes, as state holds them.
    pub(crate) async fn state(&self) -> Value {
        let state = self.at.runner.show().await.unwrap();
        state["values"]["root_module"]["resources"][0]["values"].clone()
    }
}

/// One patch resource, as text.
fn resource(
    name: &str,
    target: &Target,
    (attribute, text): Treatment<'_>,
    arguments: &str,
) -> String {
    let Target { api_version, kind, namespace, name: target } = target;
    let namespace =
        namespace.as_ref().map(|it| format!("namespace = \"{it}\"")).unwrap_or_default();
    format!(
        "resource \"k8sconnect_patch\" \"{name}\" {{\n  \
         cluster = {{ kubeconfig = file(\"kubeconfig\") }}\n  \
         target = {{\n    api_version = \"{api_version}\"\n    kind = \"{kind}\"\n    \
         name = \"{target}\"\n    {namespace}\n  }}\n  {arguments}\n  \
         {attribute} = <<-PATCH\n{}\nPATCH\n}}\n",
        text.trim_end()
    )
}

pub(crate) fn owners(object: &Value) -> Vec<String> {
    let entries = object["metadata"]["managedFields"].as_array().into_iter().flatten();
    let mut entries: Vec<_> = entries
        .filter(|entry| entry["manager"] != "kube-controller-manager")
        .map(ToString::to_string)
        .collect();
    entries.sort();
    entries
}

/// Whether anything of ours is left on the object.
pub(crate) fn traces(object: &Value) -> Vec<String> {
    let text = object["metadata"].to_string();
    text.split('"').filter(|word| word.contains("k8sconnect")).map(ToOwned::to_owned).collect()
}
