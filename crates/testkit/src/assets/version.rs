//! Which versions of Kubernetes, Terraform and OpenTofu the tests run against. Nothing here knows
//! where a binary comes from.

use std::fmt;
use std::str::FromStr;

use anyhow::{Context, Result, bail};

/// The variable that asks for another Kubernetes version than the pinned one.
pub const KUBERNETES_VERSION_VARIABLE: &str = "K8SCONNECT_KUBERNETES_VERSION";

/// A released Kubernetes version, `1.minor.patch`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KubernetesVersion {
    pub minor: u32,
    pub patch: u32,
}

impl KubernetesVersion {
    pub const PINNED: Self = Self { minor: 34, patch: 4 };

    /// What the environment asks for, else the pinned version.
    pub fn wanted() -> Result<Wanted> {
        match std::env::var(KUBERNETES_VERSION_VARIABLE) {
            Ok(text) if !text.is_empty() => {
                let version = text
                    .parse()
                    .with_context(|| format!("`{KUBERNETES_VERSION_VARIABLE}` cannot be used"))?;
                Ok(Wanted::Exactly(version))
            }
            _ => Ok(Wanted::Pinned),
        }
    }

    /// The version of the staging modules (`k8s.io/api` and its sisters) of this release.
    pub(crate) fn staging(self) -> String {
        format!("v0.{}.{}", self.minor, self.patch)
    }
}

/// A command line tool that runs providers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Product {
    Terraform,
    OpenTofu,
}

impl Product {
    pub fn binary(self) -> &'static str {
        match self {
            Self::Terraform => "terraform",
            Self::OpenTofu => "tofu",
        }
    }

    /// The version that is built where the developer has none.
    pub(crate) fn pinned(self) -> ToolVersion {
        match self {
            Self::Terraform => ToolVersion { minor: 13, patch: 3 },
            Self::OpenTofu => ToolVersion { minor: 12, patch: 6 },
        }
    }

    /// The oldest minor version that the provider supports.
    pub(crate) fn oldest_minor(self) -> u32 {
        match self {
            Self::Terraform => 11,
            Self::OpenTofu => 10,
        }
    }
}

/// A released version of Terraform or OpenTofu, `1.minor.patch`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct ToolVersion {
    pub minor: u32,
    pub patch: u32,
}

impl fmt::Display for ToolVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "1.{}.{}", self.minor, self.patch)
    }
}

/// Who chose the version decides what may stand in for it: a binary that the
/// developer put in `KUBEBUILDER_ASSETS` is good enough for the pinned version of any
/// minor, but not for a version that was asked for by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wanted {
    Pinned,
    Exactly(KubernetesVersion),
}

impl Wanted {
    pub fn version(self) -> KubernetesVersion {
        match self {
            Self::Pinned => KubernetesVersion::PINNED,
            Self::Exactly(version) => version,
        }
    }
}

impl fmt::Display for KubernetesVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "1.{}.{}", self.minor, self.patch)
    }
}

impl FromStr for KubernetesVersion {
    type Err = anyhow::Error;

    fn from_str(text: &str) -> Result<Self> {
        let bare = text.strip_prefix('v').unwrap_or(text);
        let mut numbers = bare.split('.').map(str::parse::<u32>);
        match (numbers.next(), numbers.next(), numbers.next(), numbers.next()) {
            (Some(Ok(1)), Some(Ok(minor)), Some(Ok(patch)), None) => Ok(Self { minor, patch }),
            _ => bail!(
                "`{text}` is not a Kubernetes version: three numbers are needed, because the \
                 binaries are built from that very release. Write it like `{}`",
                Self::PINNED
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_a_version_with_and_without_its_v() {
        let version: KubernetesVersion = "v1.33.6".parse().unwrap();
        assert_eq!(version.to_string(), "1.33.6");
        assert_eq!("1.33.6".parse::<KubernetesVersion>().unwrap(), version);
        assert_eq!(version.staging(), "v0.33.6");
    }

    #[test]
    fn refuses_what_names_no_single_release_and_says_how_to_write_one() {
        for text in ["1.33", "2.0.0", "latest", "1.33.6.1", "1.33.x", ""] {
            let error = text.parse::<KubernetesVersion>().unwrap_err().to_string();
            assert!(error.contains("`1.34.4`"), "{text:?} was answered by {error}");
        }
    }
}
