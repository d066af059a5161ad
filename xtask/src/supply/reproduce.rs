//! Two release builds of the last commit, in two folders whose paths differ in length, and nothing
//! of the one used by the other: the same bytes, or an error.

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};

use anyhow::{Context, Result, bail};
use sha2::{Digest, Sha256};
use tempfile::TempDir;

use crate::cargo::{PROVIDER, root};
use crate::screen::{heading, line};

pub(crate) fn reproduce() -> Result<ExitCode> {
    heading("Two release builds of the last commit");
    let workshop = TempDir::new().context("no folder to build in")?;
    let mut hashes = Vec::new();
    for place in ["a", "another/and/longer/place"] {
        let folder = workshop.path().join(place);
        check_out(&folder)?;
        let binary = build(&folder)?;
        let bytes = std::fs::read(&binary)
            .with_context(|| format!("`{}` cannot be read", binary.display()))?;
        let hash: String =
            Sha256::digest(&bytes).iter().map(|byte| format!("{byte:02x}")).collect();
        line(&format!("{hash}  built in `{place}`"));
        hashes.push(hash);
    }
    if hashes[0] != hashes[1] {
        bail!("the two builds differ: something of the place or the time is in the binary");
    }
    line("the same bytes");
    Ok(ExitCode::SUCCESS)
}

/// The last commit and nothing else: what is not committed cannot be built again by anybody.
fn check_out(folder: &Path) -> Result<()> {
    let mut clone = Command::new("git");
    clone.args(["clone", "--quiet", "--no-hardlinks", "--depth", "1"]);
    clone.arg(format!("file://{}", root().display())).arg(folder);
    run(&mut clone, "clone the repository")
}

/// Builds as a release is built: locked, with no path of this machine in the binary, and with the
/// time of the commit in the place of now.
fn build(folder: &Path) -> Result<PathBuf> {
    let time = Command::new("git")
        .args(["log", "-1", "--format=%ct"])
        .current_dir(folder)
        .output()
        .context("`git` cannot be started")?;
    let home = match std::env::var_os("CARGO_HOME") {
        Some(home) => PathBuf::from(home),
        None => std::env::home_dir().context("no home folder")?.join(".cargo"),
    };
    let maps = [(folder, "/k8sconnect"), (home.as_path(), "/cargo")]
        .map(|(from, to)| format!("{}={to}", from.display()));
    let flags = |flag: &str| maps.each_ref().map(|map| format!("{flag}={map}")).join(" ");
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo
        .args([
            "build",
            "--release",
            "--locked",
            "--quiet",
            "--package",
            "k8sconnect",
            "--bin",
            PROVIDER,
        ])
        .current_dir(folder)
        .env("CARGO_TARGET_DIR", folder.join("target"))
        .env("RUSTFLAGS", flags("--remap-path-prefix"))
        .env("CFLAGS", flags("-ffile-prefix-map"))
        .env("SOURCE_DATE_EPOCH", String::from_utf8_lossy(&time.stdout).trim());
    run(&mut cargo, "build the provider")?;
    Ok(folder.join("target/release").join(PROVIDER))
}

fn run(command: &mut Command, what: &str) -> Result<()> {
    let status = command.stdin(Stdio::null()).status();
    let status = status.with_context(|| format!("the program to {what} cannot be started"))?;
    match status.success() {
        true => Ok(()),
        false => bail!("it was not possible to {what}; the words are above"),
    }
}
