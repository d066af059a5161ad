//! Several provider blocks, each of which has a process of its own, and one cluster.

use testkit::{Target, Tool};

use crate::workspace::{CONFIG_MAP, Workspace, says};

const BLOCKS: &str = r#"
provider "k8sconnect" {
  cluster = { kubeconfig = file("kubeconfig") }
}
provider "k8sconnect" {
  alias   = "two"
  cluster = { kubeconfig = file("kubeconfig") }
}
"#;

/// A workspace whose first address, of the first block, holds the object.
async fn held(tool: Tool) -> Workspace {
    let at = Workspace::new(tool).await;
    at.runner.write("blocks.tf", BLOCKS).unwrap();
    resources(&at, &resource(&at, "a", ""));
    at.init().await;
    at.apply().await;
    at
}

fn resource(at: &Workspace, name: &str, arguments: &str) -> String {
    let own = "cluster = { kubeconfig = file(\"kubeconfig\") }";
    at.resource(name, CONFIG_MAP, arguments).replace(own, "")
}

fn resources(at: &Workspace, text: &str) {
    at.runner.write("main.tf", text).unwrap();
}

async fn uid(at: &Workspace) -> String {
    let target = Target::new("v1", "ConfigMap", at.namespace.name(), "settings");
    let object = at.cluster.read(&target).await.unwrap().unwrap();
    object["metadata"]["uid"].as_str().unwrap().to_owned()
}

const TWO: &str = "provider = k8sconnect.two";

#[tokio::test]
async fn what_one_block_destroys_no_other_may_take_over_import_or_hold_too() {
    for tool in [Tool::Terraform, Tool::OpenTofu] {
        let at = held(tool).await;
        let before = uid(&at).await;
        let import = format!(
            "import {{\n  to = k8sconnect_object.b\n  id = \"{}/configmap/settings\"\n}}\n",
            at.namespace.name()
        );
        let adopting = resource(&at, "b", &format!("{TWO}\n  adopt = true"));
        for new in [adopting.clone(), import + &resource(&at, "b", TWO)] {
            resources(&at, &new);
            for parallelism in ["-parallelism=10", "-parallelism=1"] {
                let run = at.runner.apply_with(&[parallelism]).await.unwrap();
                assert!(!run.succeeded(), "{}", run.text);
                says(&run.text, "is to be destroyed and made by two addresses in the same run");
            }
        }
        // Needs the first block once more after the second is done: a process that begins when the
        // other has ended does not take its word for one of the same plan.
        let later = resource(&at, "c", "depends_on = [k8sconnect_object.b]");
        let later = later.replace("name: settings", "name: later");
        resources(&at, &(resource(&at, "a", "") + &adopting + &later));
        says(&at.plan_fails().await.text, "is held by two addresses of this state");

        let moved = "moved {\n  from = k8sconnect_object.a\n  to   = k8sconnect_object.b\n}\n";
        resources(&at, &(moved.to_owned() + &resource(&at, "b", TWO)));
        at.apply().await;
        at.plan_empty().await;
        assert_eq!(uid(&at).await, before, "it was never touched");
        at.destroy().await;
    }
}
