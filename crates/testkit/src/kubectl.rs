//! A real `kubectl`, as the user who applies the same body by hand: what it leaves behind is what the
//! provider is compared with.

use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::Arc;

use anyhow::{Context, Result, bail};
use serde_json::Value;
use std::io::Write;
use tempfile::TempDir;

use crate::assets::{Asset, KubernetesVersion};
use crate::client::blocking;
use crate::control_plane::ControlPlane;

/// One binary, with a folder of its own for the kubeconfig and the discovery cache.
#[derive(Clone)]
pub struct Kubectl {
    binary: PathBuf,
    folder: Arc<TempDir>,
}

impl Kubectl {
    /// Builds it if need be. It acts as an administrator.
    pub async fn new(cluster: &ControlPlane) -> Result<Self> {
        let kubeconfig = cluster.kubeconfig();
        blocking(move || {
            let binary = Asset::Kubectl.locate(KubernetesVersion::wanted()?)?;
            let folder = Arc::new(TempDir::new()?);
            std::fs::write(folder.path().join("kubeconfig"), kubeconfig)?;
            Ok(Self { binary, folder })
        })
        .await
    }

    /// `kubectl apply --server-side --force-conflicts`. `Err` inside holds what it printed when the
    /// server refused.
    pub async fn apply(&self, body: &Value, manager: &str) -> Result<Result<(), String>> {
        let (kubectl, body) = (self.clone(), body.to_string());
        let manager = format!("--field-manager={manager}");
        blocking(move || {
            let mut child = Command::new(&kubectl.binary)
                .args(["apply", "--server-side", "--force-conflicts", &manager, "--filename=-"])
                .env("KUBECONFIG", kubectl.folder.path().join("kubeconfig"))
                .env("HOME", kubectl.folder.path())
                .stdin(Stdio::piped())
                .stdout(Stdio::piped())
                .stderr(Stdio::piped())
                .spawn()
                .context("`kubectl` cannot be started")?;
            let stdin = child.stdin.take();
            stdin.context("`kubectl` has no input")?.write_all(body.as_bytes())?;
            let output = child.wait_with_output()?;
            let printed = String::from_utf8_lossy(&output.stderr).trim().to_owned();
            if printed.contains("connection") && printed.contains("refused") {
                bail!("`kubectl` did not reach the server: {printed}");
            }
            Ok(if output.status.success() { Ok(()) } else { Err(printed) })
        })
        .await
    }
}
