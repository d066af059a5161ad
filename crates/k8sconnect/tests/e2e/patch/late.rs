//! What is known only once something else is applied: the way to the cluster, the text, the target.

use serde_json::json;
use testkit::Tool;

use super::round::Round;
use crate::workspace::{never_says, says};

/// A configuration in which all of it comes from other resources of the same run.
fn configuration(namespace: &str, way: &str, key: &str, name: &str) -> String {
    format!(
        r#"
resource "terraform_data" "way" {{
  input            = file("kubeconfig")
  triggers_replace = "{way}"
}}
resource "terraform_data" "key" {{ input = "{key}" }}
resource "terraform_data" "name" {{ input = "{name}" }}
provider "k8sconnect" {{
  cluster = {{ kubeconfig = terraform_data.way.output }}
}}
resource "k8sconnect_patch" "it" {{
  target = {{
    api_version = "v1"
    kind        = "ConfigMap"
    name        = terraform_data.name.output
    namespace   = "{namespace}"
  }}
  merge_patch = yamlencode({{ data = {{ (terraform_data.key.output) = "ours" }} }})
}}
"#
    )
}

async fn a_life_in_which_everything_is_known_late(tool: Tool) {
    let round = Round::run_by(tool).await;
    let at = &round.at;
    let settings = round.object("settings", json!({"data": {"a": "helm", "b": "helm"}})).await;
    let other = round.object("other", json!({"data": {"b": "helm"}})).await;
    let write = |way, key, name| {
        let text = configuration(at.namespace.name(), way, key, name);
        at.runner.write("main.tf", &text).unwrap();
    };
    write("1", "a", "settings");
    at.init().await.apply().await;
    let edit = json!({"data": {"a": "edited"}});
    at.cluster.act_as("ed").merge_patch(&settings, edit).await.unwrap();
    write("2", "a", "settings");
    let run = at.apply().await;
    says(&run.text, "Applying sets what you wrote again");
    let live = at.cluster.read(&settings).await.unwrap().unwrap();
    assert_eq!(live["data"], json!({"a": "ours", "b": "helm"}));
    at.plan_empty().await;

    write("2", "b", "settings");
    let run = at.apply().await;
    if at.hands_over().await {
        says(&run.text, "data.b held by `helm`");
        says(&run.text, "data.a returns to `helm`");
    }
    at.plan_empty().await;

    write("2", "b", "other");
    let run = at.runner.apply().await.unwrap();
    assert!(!run.succeeded(), "{}", run.text);
    says(&run.text, "it will plan the move, a replacement of this patch");
    match at.hands_over().await {
        true => never_says(&run.text, "inconsistent final plan"),
        // It does not tell the provider that it applies, so that its own error comes too.
        false => says(&run.text, "`target` was not known in full"),
    }
    at.apply().await;
    at.plan_empty().await;
    assert_eq!(at.cluster.read(&other).await.unwrap().unwrap()["data"]["b"], "ours");
}

#[tokio::test]
async fn what_is_known_late_is_told_set_or_refused_by_the_newest_terraform() {
    a_life_in_which_everything_is_known_late(Tool::NEWEST_TERRAFORM).await;
}

#[tokio::test]
async fn what_is_known_late_is_set_or_refused_by_earlier_terraform() {
    a_life_in_which_everything_is_known_late(Tool::Terraform).await;
}

#[tokio::test]
async fn what_is_known_late_is_set_or_refused_by_opentofu() {
    a_life_in_which_everything_is_known_late(Tool::OpenTofu).await;
}
