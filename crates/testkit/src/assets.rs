//! Where the binaries of the control plane and of Terraform come from: the developer's
//! own (`KUBEBUILDER_ASSETS`, `PATH`), else the cache, else built into the cache from the
//! Go module proxy. Only what is asked for is built. It downloads no binary: on a machine
//! with the two toolchains everything is made from source at pinned versions.

mod cache;
pub mod crates;
mod go;
mod progress;
mod version;

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result};

use cache::Cache;
use go::{Module, Recipe};
use progress::Progress;
pub use version::{KUBERNETES_VERSION_VARIABLE, KubernetesVersion, Product, ToolVersion, Wanted};

const ETCD: &str = "3.6.16";
/// The last one that the Go version in use can build.
const KSTATUS: &str = "1.3.0";
const KUSTOMIZE: &str = "5.8.1";
const KWOK: &str = "0.7.0";
/// The newest state of its main branch that the module proxy lists; its tags there are old.
const PEER_KUBERNETES: &str = "1.13.4-0.20260821094251-3a33fb6cc605";
const PEER_KUBECTL: &str = "1.19.0";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Asset {
    Etcd,
    KubeApiserver,
    KubeControllerManager,
    KubeScheduler,
    Kubectl,
    /// Judges objects as Go's kstatus does: a referee, no part of a cluster.
    Kstatus,
    Kustomize,
    Kwok,
    /// Of any version that the provider supports, preferably the developer's own.
    Tool(Product),
    /// Of exactly this version, built from source even if there is one on `PATH`.
    ToolAt(Product, ToolVersion),
    /// Other providers, to be measured beside ours.
    PeerKubernetes,
    PeerKubectl,
}

/// Where a binary would be taken from, without taking it.
#[derive(Debug, Clone, PartialEq)]
pub enum Source {
    /// There already, on PATH, in `KUBEBUILDER_ASSETS` or in the cache.
    Ready(PathBuf),
    /// To be built, which takes so long on two idle cores.
    ToBuild { minutes: f64 },
}

impl Asset {
    pub fn binary(self) -> &'static str {
        match self {
            Self::Etcd => "etcd",
            Self::KubeApiserver => "kube-apiserver",
            Self::KubeControllerManager => "kube-controller-manager",
            Self::KubeScheduler => "kube-scheduler",
            Self::Kubectl => "kubectl",
            Self::Kstatus => "kstatus",
            Self::Kustomize => "kustomize",
            Self::Kwok => "kwok",
            Self::Tool(product) | Self::ToolAt(product, _) => product.binary(),
            Self::PeerKubernetes => "terraform-provider-kubernetes",
            Self::PeerKubectl => "terraform-provider-kubectl",
        }
    }

    /// Where the binary would come from. Runs candidates with `--version` only.
    pub fn source(self, wanted: Wanted) -> Result<Source> {
        if let Some(found) = self.provided(wanted) {
            return Ok(Source::Ready(found));
        }
        let place = self.place(&Cache::of_user()?, wanted.version());
        Ok(if place.is_file() {
            Source::Ready(place)
        } else {
            Source::ToBuild { minutes: self.minutes() }
        })
    }

    /// The binary, built if need be. Blocks: minutes on a first run.
    pub fn locate(self, wanted: Wanted) -> Result<PathBuf> {
        if let Some(found) = self.provided(wanted) {
            return Ok(found);
        }
        let version = wanted.version();
        let cache = Cache::of_user()?;
        let place = self.place(&cache, version);
        let what = format!("building {} {}", self.binary(), self.version_text(version));
        cache
            .get_or_build(&place, &what, |workshop| {
                let progress = Progress::start(what.clone(), self.minutes());
                let (recipe, package, stamps) = self.recipe(version);
                let built = go::build(workshop, &recipe, &package, &stamps)?;
                progress.done();
                Ok(built)
            })
            .with_context(|| self.failure(wanted))
    }

    fn failure(self, wanted: Wanted) -> String {
        let version = wanted.version();
        let what = format!(
            "`{}` {} could not be built from the Go module proxy",
            self.binary(),
            self.version_text(version)
        );
        match wanted {
            Wanted::Exactly(_) if self.is_kubernetes() => format!(
                "{what}. Check that Kubernetes `{version}` is a released version and that the proxy \
                 has it; the pinned one is `{}`",
                KubernetesVersion::PINNED
            ),
            _ if self.is_only_built() => what,
            _ => format!("{what}. Put a `{}` on PATH to do without building it", self.binary()),
        }
    }

    fn place(self, cache: &Cache, version: KubernetesVersion) -> PathBuf {
        let version = self.version_text(version);
        let key = if self.is_kubernetes() {
            format!("kubernetes-{version}")
        } else {
            format!("{}-{version}", self.binary())
        };
        cache.place(&key, self.binary())
    }

    fn is_kubernetes(self) -> bool {
        matches!(
            self,
            Self::KubeApiserver | Self::KubeControllerManager | Self::KubeScheduler | Self::Kubectl
        )
    }

    /// The version that is built.
    pub fn version_text(self, kubernetes: KubernetesVersion) -> String {
        match self {
            Self::Etcd => ETCD.to_owned(),
            Self::Kstatus => KSTATUS.to_owned(),
            Self::Kustomize => KUSTOMIZE.to_owned(),
            Self::Kwok => KWOK.to_owned(),
            Self::Tool(product) => product.pinned().to_string(),
            Self::ToolAt(_, version) => version.to_string(),
            Self::PeerKubernetes => PEER_KUBERNETES.to_owned(),
            Self::PeerKubectl => PEER_KUBECTL.to_owned(),
            Self::KubeApiserver
            | Self::KubeControllerManager
            | Self::KubeScheduler
            | Self::Kubectl => kubernetes.to_string(),
        }
    }

    /// How long a build takes on two idle cores with an empty build cache, as measured.
    fn minutes(self) -> f64 {
        match self {
            Self::KubeApiserver => 5.0,
            Self::KubeControllerManager | Self::Etcd | Self::Kwok => 1.5,
            Self::KubeScheduler | Self::Kstatus | Self::Kustomize => 0.5,
            Self::Kubectl => 1.0,
            Self::PeerKubernetes | Self::PeerKubectl => 4.0,
            Self::Tool(product) | Self::ToolAt(product, _) => match product {
                Product::OpenTofu => 4.0,
                Product::Terraform => 2.0,
            },
        }
    }

    fn recipe(self, kubernetes: KubernetesVersion) -> (Recipe, String, Vec<String>) {
        let version = format!("v{}", self.version_text(kubernetes));
        let required = |path, staging| Recipe::Required {
            module: Module { path, version: version.clone() },
            staging,
        };
        match self {
            Self::Etcd => {
                let path = "go.etcd.io/etcd/server/v3";
                (required(path, None), path.to_owned(), vec![])
            }
            Self::Kstatus => {
                let module = Module { path: "github.com/fluxcd/cli-utils", version };
                let program = include_str!("assets/kstatus.go");
                (Recipe::Written { module, program }, ".".to_owned(), vec![])
            }
            Self::Kustomize => {
                let path = "sigs.k8s.io/kustomize/kustomize/v5";
                (required(path, None), path.to_owned(), vec![])
            }
            Self::Kwok => {
                let path = "sigs.k8s.io/kwok";
                (required(path, None), format!("{path}/cmd/kwok"), vec![])
            }
            Self::KubeApiserver
            | Self::KubeControllerManager
            | Self::KubeScheduler
            | Self::Kubectl => {
                let path = "k8s.io/kubernetes";
                // Without these the server calls itself v0.0.0 and clients refuse it.
                let stamps = vec![
                    format!("k8s.io/component-base/version.gitVersion=v{kubernetes}"),
                    "k8s.io/component-base/version.gitMajor=1".to_owned(),
                    format!("k8s.io/component-base/version.gitMinor={}", kubernetes.minor),
                ];
                (
                    required(path, Some(kubernetes.staging())),
                    format!("{path}/cmd/{}", self.binary()),
                    stamps,
                )
            }
            Self::Tool(product) | Self::ToolAt(product, _) => {
                let (path, package) = match product {
                    Product::OpenTofu => ("github.com/opentofu/opentofu", "./cmd/tofu"),
                    Product::Terraform => ("github.com/hashicorp/terraform", "."),
                };
                let module = Module { path, version };
                (
                    Recipe::Copied { module },
                    package.to_owned(),
                    vec![format!("{path}/version.dev=no")],
                )
            }
            Self::PeerKubernetes | Self::PeerKubectl => {
                let path = match self {
                    Self::PeerKubectl => "github.com/gavinbunney/terraform-provider-kubectl",
                    _ => "github.com/hashicorp/terraform-provider-kubernetes",
                };
                (Recipe::Copied { module: Module { path, version } }, ".".to_owned(), vec![])
            }
        }
    }

    /// Whether no binary of the developer's can stand in for it: `kstatus` is a program of ours,
    /// peers are measured at their pinned versions, and an exact version was asked for.
    fn is_only_built(self) -> bool {
        matches!(self, Self::Kstatus | Self::PeerKubernetes | Self::PeerKubectl | Self::ToolAt(..))
    }

    /// What the developer brought along, if it is fit.
    fn provided(self, wanted: Wanted) -> Option<PathBuf> {
        if self.is_only_built() {
            return None;
        }
        if let Some(folder) = std::env::var_os("KUBEBUILDER_ASSETS") {
            let candidate = Path::new(&folder).join(self.binary());
            let fit = match wanted {
                Wanted::Pinned => candidate.is_file(),
                Wanted::Exactly(_) => self.is_fit(&candidate, wanted.version()),
            };
            if fit {
                return Some(candidate);
            }
        }
        let path = std::env::var_os("PATH")?;
        std::env::split_paths(&path)
            .map(|folder| folder.join(self.binary()))
            .find(|candidate| self.is_fit(candidate, wanted.version()))
    }

    fn is_fit(self, candidate: &Path, kubernetes: KubernetesVersion) -> bool {
        if !candidate.is_file() {
            return false;
        }
        let answer = Command::new(candidate)
            .args(match self {
                Self::Tool(_) | Self::Kustomize => &["version"][..],
                Self::Kubectl => &["version", "--client"],
                _ => &["--version"],
            })
            // A user's own configuration of the tool makes it warn or fail.
            .env_remove("TF_CLI_CONFIG_FILE")
            .env("CHECKPOINT_DISABLE", "1")
            .stdin(Stdio::null())
            .output();
        let Ok(answer) = answer else { return false };
        let Some((major, minor)) = first_version(&String::from_utf8_lossy(&answer.stdout)) else {
            return false;
        };
        match self {
            Self::Etcd => major == 3 && minor >= 5,
            Self::Kustomize => major == 5,
            Self::Kwok => (major, minor) == (0, 7),
            // What tests ask of it is the same in every version: reading YAML, `kustomize`, and
            // sending a body as it is.
            Self::Kubectl => major == 1,
            Self::Tool(product) => major == 1 && minor >= product.oldest_minor(),
            _ => (major, minor) == (1, kubernetes.minor),
        }
    }
}

/// The minor version of a Kubernetes binary, which may be one that the developer brought along.
pub(crate) fn minor_of(binary: &Path) -> Result<u32> {
    let answer = Command::new(binary).arg("--version").output()?;
    let said = String::from_utf8_lossy(&answer.stdout);
    let version = first_version(&said);
    version.map(|(_, minor)| minor).with_context(|| format!("`{said}` names no version"))
}

/// Major and minor of the first thing in `text` that looks like a version.
fn first_version(text: &str) -> Option<(u32, u32)> {
    text.split_whitespace().find_map(|word| {
        let mut numbers = word.trim_start_matches('v').split('.');
        let major = numbers.next()?.parse().ok()?;
        let minor = numbers.next()?.parse().ok()?;
        Some((major, minor))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_the_version_in_what_each_tool_prints() {
        for (said, version) in [
            ("Kubernetes v1.34.4\n", (1, 34)),
            ("etcd Version: 3.6.16\nGit SHA: Not provided\n", (3, 6)),
            ("kwok version v0.7.0 go1.26.8 (linux/amd64)\n", (0, 7)),
            ("Client Version: v1.32.4-dispatcher\nKustomize Version: v5.5.0\n", (1, 32)),
            ("v5.8.1\n", (5, 8)),
            ("Terraform v1.11.4\non linux_amd64\n", (1, 11)),
            ("OpenTofu v1.12.6\non linux_amd64\n", (1, 12)),
        ] {
            assert_eq!(first_version(said), Some(version), "{said}");
        }
        assert_eq!(first_version("no such flag: --version"), None);
    }

    #[test]
    fn keeps_binaries_of_different_kubernetes_versions_apart() {
        let cache = Cache::of_user().unwrap();
        let other = KubernetesVersion { minor: 33, patch: 6 };
        let place = |version| Asset::KubeApiserver.place(&cache, version);
        assert_ne!(place(KubernetesVersion::PINNED), place(other));
        assert_eq!(
            Asset::Etcd.place(&cache, KubernetesVersion::PINNED),
            Asset::Etcd.place(&cache, other)
        );
    }

    #[test]
    fn keeps_versions_of_a_tool_apart_and_builds_the_pinned_one_once() {
        let cache = Cache::of_user().unwrap();
        let place = |asset: Asset| asset.place(&cache, KubernetesVersion::PINNED);
        for product in [Product::Terraform, Product::OpenTofu] {
            let pinned = product.pinned();
            let other = ToolVersion { minor: pinned.minor + 1, patch: 0 };
            assert_eq!(place(Asset::Tool(product)), place(Asset::ToolAt(product, pinned)));
            assert_ne!(place(Asset::Tool(product)), place(Asset::ToolAt(product, other)));
        }
    }

    #[test]
    fn an_exact_version_of_a_tool_is_never_taken_from_path() {
        let exact = Asset::ToolAt(Product::Terraform, ToolVersion { minor: 16, patch: 4 });
        assert_eq!(exact.provided(Wanted::Pinned), None);
        let failure = exact.failure(Wanted::Pinned);
        assert_eq!(failure, "`terraform` 1.16.4 could not be built from the Go module proxy");
    }
}
