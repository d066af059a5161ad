//! How much memory the provider holds, and that it does not grow with the number of objects.

use testkit::terraform::provider_binary;
use testkit::{Mirrored, PlanOutcome, Runner, Tool, Warded};

use crate::workspace::Workspace;

/// Enough for all slots of Terraform to have been at work for a while: until then the highest mark
/// rises for that alone.
const FEW: usize = 40;
const MANY: usize = 240;

/// What two hundred more objects may add. Keeping two copies of each adds 16 MB; keeping none adds
/// up to 6, since more plans meet at more unlucky moments, and 480 objects add no more than that.
/// `cargo xtask bench` allows ten for nine hundred, of the release build.
const GROWTH: u64 = 10_000_000;

const CONFIGURATION: &str = r#"
terraform {
  required_providers {
    k8sconnect = { source = "k8sconnect/k8sconnect" }
  }
}

variable "kubeconfig" { type = string }
variable "namespace" { type = string }
variable "many" { type = number }
variable "word" { type = string }

provider "k8sconnect" {
  cluster = { kubeconfig = var.kubeconfig }
}

resource "k8sconnect_object" "settings" {
  count     = var.many
  yaml_body = yamlencode({
    apiVersion = "v1"
    kind       = "ConfigMap"
    metadata   = { name = "settings-${count.index}", namespace = var.namespace }
    data       = { for n in range(100) : "key-${n}" => "${var.word} value that takes some room in ${n}" }
  })
}
"#;

#[tokio::test]
async fn what_is_held_does_not_grow_with_the_number_of_objects() {
    let at = Workspace::new(Tool::Terraform).await;
    let folder = tempfile::tempdir().unwrap();
    let warded = Warded::new(folder.path(), &provider_binary().await.unwrap()).await.unwrap();
    let mut runner =
        Runner::with_mirrored(Tool::Terraform, &[Mirrored::ours(warded.program())]).await.unwrap();
    runner
        .variable("kubeconfig", &at.cluster.kubeconfig())
        .variable("namespace", at.namespace.name());
    runner.write("main.tf", CONFIGURATION).unwrap();
    runner.variable("many", "0").variable("word", "one");
    runner.init().await.unwrap().successful().unwrap();
    let mut peaks = Vec::new();
    for many in [FEW, MANY] {
        runner.variable("many", &many.to_string()).variable("word", "one");
        let mut held = Vec::new();
        let mut note = |what| held.push((what, warded.take().unwrap().peak));
        runner.apply().await.unwrap().successful().unwrap();
        note("creating them");
        assert_eq!(runner.plan().await.unwrap().outcome, PlanOutcome::NoChanges);
        note("a plan without changes");
        let refresh = runner.plan_with(&["-refresh-only"]).await.unwrap();
        assert_eq!(refresh.outcome, PlanOutcome::NoChanges);
        note("a refresh");
        runner.variable("word", "two");
        assert_eq!(runner.plan().await.unwrap().outcome, PlanOutcome::Changes);
        note("a plan that changes them");
        runner.apply().await.unwrap().successful().unwrap();
        note("changing them");
        peaks.push(held);
    }
    for ((what, few), (_, many)) in peaks[0].iter().zip(&peaks[1]) {
        assert!(*many < few + GROWTH, "{what} holds {few} bytes for few, {many} for many");
    }
}
