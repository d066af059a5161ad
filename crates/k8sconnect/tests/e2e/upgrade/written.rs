//! A state that the Go provider 0.3.8 wrote itself, of an object, a patch and a wait of each sort.
//!
//! `go-0.3.8/main.tf` is what was applied, `go-0.3.8/state.json` the state that was left. Only names that
//! differ from test to test were replaced: namespaces, the kubeconfig and the registry.

use k8sconnect_core::manifest::Manifest;
use serde_json::{Value, json};
use testkit::{Target, Tool};

use super::{BIRTH_ANNOTATION, ID_ANNOTATION};
use crate::patch::traces;
use crate::workspace::{Workspace, never_says, says};

const CONFIGURATION: &str = include_str!("go-0.3.8/main.tf");
const STATE: &str = include_str!("go-0.3.8/state.json");

struct Story {
    at: Workspace,
    /// The namespace that the state's own object makes.
    namespace: String,
    tool: Tool,
}

impl Story {
    /// The objects, as the Go provider left them, its state, and the configuration.
    async fn new(tool: Tool) -> Self {
        let at = Workspace::new(tool).await;
        let namespace = format!("{}-go", at.namespace.name());
        let story = Self { at, namespace, tool };
        story.configure(CONFIGURATION);
        story.at.runner.write("terraform.tfstate", &story.filled_in(STATE)).unwrap();
        for name in ["foreign", "foreign2"] {
            let foreign = json!({"apiVersion": "v1", "kind": "ConfigMap",
                "metadata": {"name": name, "namespace": story.at.namespace.name()},
                "data": {"theirs": "x"}});
            story.at.cluster.act_as("helm").apply(foreign).await.unwrap();
        }
        for kind in ["k8sconnect_object", "k8sconnect_patch"] {
            for instance in story.instances(kind) {
                story.make(&instance).await;
            }
        }
        story.at.init().await;
        story
    }

    fn configure(&self, text: &str) {
        std::fs::remove_file(self.at.runner.directory().join("head.tf")).ok();
        self.at.runner.write("main.tf", &self.filled_in(text)).unwrap();
    }

    fn filled_in(&self, text: &str) -> String {
        let kubeconfig = json!(self.at.cluster.kubeconfig()).to_string();
        text.replace("@REGISTRY@", self.tool.registry())
            .replace("@NAMESPACE@", &self.namespace)
            .replace("@FOREIGN@", self.at.namespace.name())
            .replace("@KUBECONFIG_PATH@", "kubeconfig")
            .replace("\"@KUBECONFIG@\"", &kubeconfig)
    }

    /// The attributes of every resource of a type; the namespace before what is in it.
    fn instances(&self, kind: &str) -> Vec<Value> {
        let state: Value = serde_json::from_str(&self.filled_in(STATE)).unwrap();
        let resources = state["resources"].as_array().unwrap().iter();
        let resources = resources.filter(|resource| resource["type"] == kind);
        let mut found: Vec<_> =
            resources.map(|resource| resource["instances"][0]["attributes"].clone()).collect();
        found.sort_by_key(|attributes| attributes["object_ref"]["kind"] != "Namespace");
        found
    }

    /// Writes to the cluster what the Go provider wrote.
    async fn make(&self, attributes: &Value) {
        let id = attributes["id"].as_str().unwrap();
        let target = &attributes["target"];
        if let Some(body) = attributes["yaml_body"].as_str() {
            let mut object = Manifest::parse(body).unwrap().value().clone();
            object["metadata"]["annotations"] =
                json!({ID_ANNOTATION: id, BIRTH_ANNOTATION: "2025-11-13T10:00:00Z"});
            self.at.cluster.act_as("k8sconnect").force().apply(object).await.unwrap();
            return;
        }
        let patcher = self.at.cluster.act_as(&format!("k8sconnect-patch-{id}")).force();
        match attributes["json_patch"].as_str() {
            Some(operations) => {
                let operations = serde_json::from_str(operations).unwrap();
                let target = self.foreign(target["name"].as_str().unwrap());
                patcher.json_patch(&target, operations).await.unwrap();
            }
            None => {
                let head = format!(
                    "apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: {}, namespace: {}}}\n{}",
                    target["name"].as_str().unwrap(),
                    self.at.namespace.name(),
                    attributes["patch"].as_str().unwrap()
                );
                patcher.apply(head.as_str()).await.unwrap();
            }
        }
    }

    fn foreign(&self, name: &str) -> Target {
        Target::new("v1", "ConfigMap", self.at.namespace.name(), name)
    }

    async fn read(&self, target: &Target) -> Option<Value> {
        self.at.cluster.read(target).await.unwrap()
    }
}

#[tokio::test]
async fn a_whole_state_of_the_go_provider_plans_empty_and_lives_on() {
    for tool in Tool::ALL {
        let story = Story::new(tool).await;
        let at = &story.at;
        never_says(&at.plan_empty().await.text, "Warning");

        // An edit of an object, which the wait follows, and of a patch, which now takes a field of helm.
        let edited = CONFIGURATION
            .replace("data: {a: \"1\"", "data: {a: \"2\"")
            .replace("data:\\n  patched: \\\"yes\\\"\\n", "data:\\n  theirs: ours\\n");
        story.configure(&edited);
        let plan = at.plan_changes().await;
        says(&plan.text, "0 to add, 3 to change, 0 to destroy");
        says(&plan.text, "`helm`");
        at.apply().await;
        at.plan_empty().await;
        let settings = Target::new("v1", "ConfigMap", story.namespace.as_str(), "cm");
        assert_eq!(story.read(&settings).await.unwrap()["data"]["a"], "2");
        let foreign = story.foreign("foreign");
        let live = story.read(&foreign).await.unwrap();
        assert_eq!(live["data"], json!({"patched": "yes", "theirs": "ours"}));

        // Without the patches, their fields go back to whom they were taken from.
        let (kept, rest) = edited.split_once("resource \"k8sconnect_patch\" \"p\"").unwrap();
        let (_, wait) = rest.split_once("resource \"k8sconnect_wait\"").unwrap();
        story.configure(&format!("{kept}resource \"k8sconnect_wait\"{wait}"));
        let plan = at.plan_changes().await;
        says(&plan.text, "0 to add, 0 to change, 2 to destroy");
        at.apply().await;
        at.plan_empty().await;
        for name in ["foreign", "foreign2"] {
            let live = story.read(&story.foreign(name)).await.unwrap();
            assert_eq!(traces(&live), Vec::<String>::new(), "{name}");
        }
        let live = story.read(&foreign).await.unwrap();
        let helm = &live["metadata"]["managedFields"][0];
        assert_eq!(helm["manager"], "helm");
        assert_eq!(helm["fieldsV1"]["f:data"], json!({"f:theirs": {}}));

        at.destroy().await;
        assert_eq!(story.read(&settings).await, None);
        assert!(story.read(&foreign).await.is_some());
    }
}
