//! Several patches in one configuration, each of an object of its own or all of one.

use serde_json::{Value, json};
use testkit::{Target, Tool};

use super::{Treatment, owners, resource};
use crate::workspace::Workspace;

pub(crate) struct Round {
    pub(crate) at: Workspace,
    patches: Vec<Case>,
}

struct Case {
    name: String,
    target: Target,
    attribute: String,
    text: String,
    arguments: String,
}

impl Round {
    pub(crate) async fn new() -> Self {
        Self::run_by(Tool::Terraform).await
    }

    pub(crate) async fn run_by(tool: Tool) -> Self {
        Self { at: Workspace::new(tool).await, patches: vec![] }
    }

    /// Has `helm` apply an object, which is told from a ConfigMap of this name by what it says.
    pub(crate) async fn object(&self, name: &str, content: Value) -> Target {
        self.object_of("helm", name, content).await
    }

    pub(crate) async fn object_of(&self, manager: &str, name: &str, content: Value) -> Target {
        let object = self.body(name, content);
        self.at.cluster.act_as(manager).force().apply(&object).await.unwrap();
        Target::of(&object).unwrap()
    }

    pub(crate) fn body(&self, name: &str, content: Value) -> Value {
        let mut object = json!({"apiVersion": "v1", "kind": "ConfigMap",
            "metadata": {"name": name, "namespace": self.at.namespace.name()}});
        merge(&mut object, content);
        object
    }

    /// Adds a patch, or gives one that is there another text.
    pub(crate) fn patch(&mut self, name: &str, target: &Target, treatment: Treatment<'_>) {
        self.patch_with(name, target, treatment, "");
    }

    pub(crate) fn patch_with(
        &mut self,
        name: &str,
        target: &Target,
        (attribute, text): Treatment<'_>,
        arguments: &str,
    ) {
        self.patches.retain(|case| case.name != name);
        self.patches.push(Case {
            name: name.to_owned(),
            target: target.clone(),
            attribute: attribute.to_owned(),
            text: text.to_owned(),
            arguments: arguments.to_owned(),
        });
    }

    pub(crate) fn drop_patch(&mut self, name: &str) {
        self.patches.retain(|case| case.name != name);
    }

    /// Writes the configuration.
    pub(crate) fn write(&self) -> &Self {
        let texts = self.patches.iter().map(|case| {
            resource(&case.name, &case.target, (&case.attribute, &case.text), &case.arguments)
        });
        self.at.runner.write("main.tf", &texts.collect::<Vec<_>>().join("\n")).unwrap();
        self
    }

    /// The patched objects, by the names of the patches.
    pub(crate) async fn live(&self) -> Vec<(String, Value)> {
        let mut all = Vec::new();
        for case in &self.patches {
            let object = self.at.cluster.read(&case.target).await.unwrap().unwrap();
            all.push((case.name.clone(), object));
        }
        all
    }

    /// Everyone's entries on each of them, to the leaf, with their times.
    pub(crate) async fn owners(&self) -> Vec<(String, Vec<String>)> {
        let all = self.live().await;
        all.iter().map(|(name, object)| (name.clone(), owners(object))).collect()
    }

    /// The attributes of one patch, as state holds them.
    pub(crate) async fn state(&self, name: &str) -> Value {
        let state = self.at.runner.show().await.unwrap();
        let resources = state["values"]["root_module"]["resources"].as_array().unwrap().clone();
        resources.into_iter().find(|it| it["name"] == name).unwrap()["values"].clone()
    }
}

/// Puts one value over another, map by map.
fn merge(into: &mut Value, from: Value) {
    match (into, from) {
        (Value::Object(into), Value::Object(from)) => {
            for (name, value) in from {
                merge(into.entry(name).or_insert(Value::Null), value);
            }
        }
        (into, from) => *into = from,
    }
}
