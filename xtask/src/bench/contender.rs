//! Who is measured: ours, two peers, and a provider that does nothing.

use std::path::PathBuf;

use anyhow::Result;
use testkit::assets::{Asset, KubernetesVersion};

use crate::cargo::{Profile, build_example, build_provider};

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Contender {
    /// tfplugin's example provider: what Terraform needs by itself.
    Floor,
    Ours,
    Kubectl,
    Kubernetes,
}

impl Contender {
    pub(crate) const ALL: [Self; 4] = [Self::Floor, Self::Ours, Self::Kubectl, Self::Kubernetes];
    pub(crate) const PEERS: [Self; 2] = [Self::Kubectl, Self::Kubernetes];

    pub(crate) fn is_peer(self) -> bool {
        Self::PEERS.contains(&self)
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Floor => "floor",
            Self::Ours => "k8sconnect",
            Self::Kubectl => "gavinbunney/kubectl",
            Self::Kubernetes => "hashicorp/kubernetes",
        }
    }

    pub(crate) fn description(self) -> String {
        let peer = |asset: Asset, resource| match KubernetesVersion::wanted() {
            Ok(wanted) => format!("{}, `{resource}`", asset.version_text(wanted.version())),
            Err(_) => format!("`{resource}`"),
        };
        match self {
            Self::Floor => "a provider that does nothing, `echo_object`".to_owned(),
            Self::Ours => "this checkout, release build, `k8sconnect_object`".to_owned(),
            Self::Kubectl => peer(Asset::PeerKubectl, "kubectl_manifest"),
            Self::Kubernetes => peer(Asset::PeerKubernetes, "kubernetes_manifest"),
        }
    }

    /// The binary, built if need be.
    pub(crate) async fn binary(self) -> Result<PathBuf> {
        tokio::task::spawn_blocking(move || match self {
            Self::Floor => build_example("tfplugin", "echo"),
            Self::Ours => build_provider(Profile::Release),
            Self::Kubectl => Asset::PeerKubectl.locate(KubernetesVersion::wanted()?),
            Self::Kubernetes => Asset::PeerKubernetes.locate(KubernetesVersion::wanted()?),
        })
        .await?
    }

    /// Where `init` finds it.
    pub(crate) fn source(self) -> &'static str {
        match self {
            Self::Floor => "example/echo",
            Self::Ours => "k8sconnect/k8sconnect",
            Self::Kubectl => "gavinbunney/kubectl",
            Self::Kubernetes => "hashicorp/kubernetes",
        }
    }

    fn local_name(self) -> &'static str {
        self.source().rsplit('/').next().unwrap_or_default()
    }

    /// The configuration of `size` objects whose bodies are made from `body.yaml.tftpl`.
    pub(crate) fn configuration(self, size: usize) -> String {
        let (provider, resource) = match self {
            Self::Floor => (
                "",
                "resource \"echo_object\" \"it\" {\n  for_each  = local.bodies\n  yaml_body = each.value\n}",
            ),
            Self::Ours => (
                "provider \"k8sconnect\" {\n  cluster = { config_path = var.kubeconfig }\n}",
                "resource \"k8sconnect_object\" \"it\" {\n  for_each  = local.bodies\n  yaml_body = each.value\n}",
            ),
            // Without the wait for a rollout, which the others do not make either.
            Self::Kubectl => (
                "provider \"kubectl\" {\n  config_path = var.kubeconfig\n}",
                "resource \"kubectl_manifest\" \"it\" {\n  for_each         = local.bodies\n  \
                 yaml_body        = each.value\n  wait_for_rollout = false\n}",
            ),
            Self::Kubernetes => (
                "provider \"kubernetes\" {\n  config_path = var.kubeconfig\n}",
                "resource \"kubernetes_manifest\" \"it\" {\n  for_each = local.bodies\n  manifest = \
                 yamldecode(each.value)\n}",
            ),
        };
        format!(
            r#"terraform {{
  required_providers {{
    {name} = {{ source = "{source}" }}
  }}
}}

variable "kubeconfig" {{ type = string }}
variable "value" {{ type = string }}

locals {{
  names  = [for i in range({size}) : format("bench-%04d", i)]
  bodies = {{ for name in local.names : name => templatefile("body.yaml.tftpl", {{ name = name, value = var.value }}) }}
}}

{provider}

{resource}
"#,
            name = self.local_name(),
            source = self.source(),
        )
    }
}
