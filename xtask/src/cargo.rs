//! Calls cargo on this workspace.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};

use anyhow::{Context, Result, bail};
use serde_json::Value;

pub(crate) const PROVIDER: &str = "terraform-provider-k8sconnect";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Profile {
    Dev,
    Release,
}

pub(crate) fn root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().unwrap_or(here).to_owned()
}

fn program() -> OsString {
    std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into())
}

pub(crate) fn cargo(arguments: &[&str]) -> Command {
    let mut command = Command::new(program());
    command.args(arguments).current_dir(root()).stdin(Stdio::null());
    command
}

/// Builds the provider as users get it, cargo's own progress on standard error.
pub(crate) fn build_provider(profile: Profile) -> Result<PathBuf> {
    build(&["--package", "k8sconnect", "--bin", PROVIDER], profile, PROVIDER)
}

/// Builds an example program, optimised.
pub(crate) fn build_example(package: &str, name: &str) -> Result<PathBuf> {
    build(&["--package", package, "--example", name], Profile::Release, name)
}

fn build(what: &[&str], profile: Profile, name: &str) -> Result<PathBuf> {
    let mut command = cargo(&["build", "--locked", "--message-format", "json-render-diagnostics"]);
    command.args(what);
    if profile == Profile::Release {
        command.arg("--release");
    }
    let output = command.stderr(Stdio::inherit()).output().context("`cargo` cannot be started")?;
    if !output.status.success() {
        bail!("`{name}` does not build; cargo's words are above");
    }
    messages(&output.stdout)
        .filter(|message| message["target"]["name"] == name)
        .find_map(|message| message["executable"].as_str().map(PathBuf::from))
        .with_context(|| format!("`cargo build` did not say where it put `{name}`"))
}

/// Runs this very command once more, built as users get it. Unoptimised, what we compute in
/// process would cost more than the API server does.
pub(crate) fn again_in_release(words: &[&str]) -> Result<ExitCode> {
    let mut command =
        cargo(&["run", "--locked", "--release", "--quiet", "--package", "xtask", "--"]);
    command.current_dir(std::env::current_dir()?).args(words);
    let status = command.status().context("`cargo` cannot be started")?;
    Ok(if status.success() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// The messages of `--message-format json…`.
pub(crate) fn messages(stdout: &[u8]) -> impl Iterator<Item = Value> {
    stdout.split(|byte| *byte == b'\n').filter_map(|line| serde_json::from_slice(line).ok())
}
