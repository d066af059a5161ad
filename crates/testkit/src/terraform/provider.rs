//! Our provider's binary, and the mirror that the tools install providers from.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use crate::built;

/// The variable by which `cargo xtask test` hands the provider it built to the tests.
pub const PROVIDER_VARIABLE: &str = "K8SCONNECT_PROVIDER";

const BINARY: &str = "terraform-provider-k8sconnect";

/// The provider under test: the one that the environment names, else built by cargo,
/// once per process.
pub async fn provider_binary() -> Result<PathBuf> {
    if let Some(path) = std::env::var_os(PROVIDER_VARIABLE) {
        return Ok(PathBuf::from(path));
    }
    built::binary("k8sconnect", BINARY).await
}

/// A provider that `init` shall find.
#[derive(Debug, Clone)]
pub struct Mirrored {
    /// Without the registry: `k8sconnect/k8sconnect`.
    pub source: String,
    pub binary: PathBuf,
}

impl Mirrored {
    /// The given binary as our provider.
    pub fn ours(binary: &Path) -> Self {
        Self { source: "k8sconnect/k8sconnect".to_owned(), binary: binary.to_owned() }
    }

    /// Puts the binary where `init` looks for it.
    pub(super) fn put_into(&self, mirror: &Path, registry: &str) -> Result<()> {
        let version = env!("CARGO_PKG_VERSION");
        let folder = mirror.join(registry).join(&self.source).join(version).join(platform());
        std::fs::create_dir_all(&folder)?;
        let name = self.source.rsplit('/').next().unwrap_or(&self.source);
        let place = folder.join(format!("terraform-provider-{name}_v{version}"));
        // A link costs nothing; across file systems only a copy will do.
        std::fs::hard_link(&self.binary, &place)
            .or_else(|_| std::fs::copy(&self.binary, &place).map(drop))
            .with_context(|| {
                format!("the provider `{}` cannot be put in a mirror", self.binary.display())
            })
    }
}

/// As Go names it, since the tools do.
fn platform() -> String {
    let system = match std::env::consts::OS {
        "macos" => "darwin",
        other => other,
    };
    let machine = match std::env::consts::ARCH {
        "x86_64" => "amd64",
        "aarch64" => "arm64",
        other => other,
    };
    format!("{system}_{machine}")
}

/// Everything comes from the mirror: a provider that is not in it is an error, not a
/// request to somebody's registry.
pub(super) fn cli_configuration(root: &Path) -> String {
    format!(
        "disable_checkpoint = true\n\nprovider_installation {{\n  filesystem_mirror {{\n    path = \
         {:?}\n  }}\n}}\n",
        root.join("mirror").display().to_string()
    )
}

/// Ends, by SIGKILL, every provider of ours that serves the configuration in `folder`, and no
/// other. Answers with how many those were.
pub async fn kill_providers(folder: &Path) -> Result<usize> {
    let mut killed = 0;
    for entry in std::fs::read_dir("/proc")? {
        let process = entry?;
        let line = std::fs::read(process.path().join("cmdline")).unwrap_or_default();
        let program = line.split(|byte| *byte == 0).next().unwrap_or_default();
        let serves = String::from_utf8_lossy(program).contains(BINARY)
            && std::fs::read_link(process.path().join("cwd")).is_ok_and(|at| at == folder);
        if serves {
            let mut kill = tokio::process::Command::new("kill");
            let ended = kill.arg("-9").arg(process.file_name()).status().await?;
            killed += usize::from(ended.success());
        }
    }
    Ok(killed)
}
