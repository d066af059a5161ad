//! Several provider blocks, each of which has a process of its own, and one cluster.

use testkit::{Target, Tool};

use crate::workspace::{CONFIG_MAP, Workspace};

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

#[tokio::test]
async fn an_address_may_move_from_one_block_to_another() {
    for tool in [Tool::Terraform, Tool::OpenTofu] {
        let at = held(tool).await;
        let before = uid(&at).await;
        let moved = "moved {\n  from = k8sconnect_object.a\n  to   = k8sconnect_object.b\n}\n";
        let second = resource(&at, "b", "provider = k8sconnect.two");
        resources(&at, &(moved.to_owned() + &second));
        at.apply().await;
        at.plan_empty().await;
        assert_eq!(uid(&at).await, before, "it was never touched");
        at.destroy().await;
    }
}
