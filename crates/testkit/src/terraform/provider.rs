//! Our provider's binary, and the mirror that the tools install it from.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};
use serde_json::Value;
use tokio::sync::OnceCell;

use crate::client::blocking;

/// The variable by which `cargo xtask test` hands the provider it built to the tests.
pub const PROVIDER_VARIABLE: &str = "K8SCONNECT_PROVIDER";

const BINARY: &str = "terraform-provider-k8sconnect";

/// The provider under test: the one that the environment names, else built by cargo,
/// once per process.
pub async fn provider_binary() -> Result<PathBuf> {
    static BUILT: OnceCell<PathBuf> = OnceCell::const_new();
    if let Some(path) = std::env::var_os(PROVIDER_VARIABLE) {
        return Ok(PathBuf::from(path));
    }
    BUILT.get_or_try_init(|| blocking(build)).await.cloned()
}

fn build() -> Result<PathBuf> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(cargo)
        .args(["build", "--package", "k8sconnect", "--bin", BINARY])
        .args(["--message-format", "json-render-diagnostics"])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .stdin(Stdio::null())
        .output()
        .context("`cargo` cannot be started to build the provider")?;
    if !output.status.success() {
        bail!("the provider does not build:\n{}", String::from_utf8_lossy(&output.stderr));
    }
    String::from_utf8_lossy(&output.stdout)
        .lines()
        .filter_map(|line| serde_json::from_str::<Value>(line).ok())
        .filter(|message| message["target"]["name"] == BINARY)
        .find_map(|message| message["executable"].as_str().map(PathBuf::from))
        .context("`cargo build` did not say where it put the provider")
}

/// Puts the binary where `init` looks for `k8sconnect/k8sconnect`.
pub(super) fn mirror(mirror: &Path, registry: &str, provider: &Path) -> Result<()> {
    let version = env!("CARGO_PKG_VERSION");
    let folder = mirror.join(registry).join("k8sconnect/k8sconnect").join(version).join(platform());
    std::fs::create_dir_all(&folder)?;
    let place = folder.join(format!("{BINARY}_v{version}"));
    // A link costs nothing; across file systems only a copy will do.
    std::fs::hard_link(provider, &place)
        .or_else(|_| std::fs::copy(provider, &place).map(drop))
        .with_context(|| format!("the provider `{}` cannot be put in a mirror", provider.display()))
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
