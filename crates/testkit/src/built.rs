//! Programs of this workspace, built by cargo when a test needs them, once per process.

use std::collections::HashMap;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::LazyLock;

use anyhow::{Context, Result, bail};
use serde_json::Value;
use tokio::sync::Mutex;

use crate::client::blocking;

/// The path of a binary of ours.
pub(crate) async fn binary(package: &'static str, name: &'static str) -> Result<PathBuf> {
    static BUILT: LazyLock<Mutex<HashMap<&str, PathBuf>>> = LazyLock::new(Mutex::default);
    let mut built = BUILT.lock().await;
    if let Some(path) = built.get(name) {
        return Ok(path.clone());
    }
    let path = blocking(move || build(package, name)).await?;
    built.insert(name, path.clone());
    Ok(path)
}

fn build(package: &str, name: &str) -> Result<PathBuf> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(cargo)
        .args(["build", "--package", package, "--bin", name])
        .args(["--message-format", "json-render-diagnostics"])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .stdin(Stdio::null())
        .output()
        .with_context(|| format!("`cargo` cannot be started to build `{name}`"))?;
    if !output.status.success() {
        bail!("`{name}` does not build:\n{}", String::from_utf8_lossy(&output.stderr));
    }
    String::from_utf8_lossy(&output.stdout)
        .lines()
        .filter_map(|line| serde_json::from_str::<Value>(line).ok())
        .filter(|message| message["target"]["name"] == name)
        .find_map(|message| message["executable"].as_str().map(PathBuf::from))
        .with_context(|| format!("`cargo build` did not say where it put `{name}`"))
}
