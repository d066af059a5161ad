//! The verdict of Go's kstatus on objects, which is what `ready` is measured by.

use std::io::Write;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};
use serde_json::Value;

use crate::assets::{Asset, KubernetesVersion};
use crate::client::blocking;

/// `Current`, `InProgress`, `Failed` or `Terminating` for each object, in their order; words that
/// begin with `error` for those that kstatus itself does not understand.
pub async fn verdicts(objects: Vec<Value>) -> Result<Vec<String>> {
    blocking(move || {
        let binary = Asset::Kstatus.locate(KubernetesVersion::wanted()?)?;
        let mut judge = Command::new(binary)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .context("the referee cannot be started")?;
        let stdin = judge.stdin.take();
        let question = Value::Array(objects).to_string();
        // It reads everything before it writes anything, so that neither waits for the other.
        stdin.context("the referee has no input")?.write_all(question.as_bytes())?;
        let output = judge.wait_with_output()?;
        if !output.status.success() {
            bail!("the referee ended with {}", output.status);
        }
        serde_json::from_slice(&output.stdout).context("the referee did not answer in JSON")
    })
    .await
}
