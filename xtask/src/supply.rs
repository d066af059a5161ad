//! `supply`: what the provider is made of, and whether that is what we allow. Licences, sources,
//! crates that must not come in and, where the database of advisories can be had, known holes are
//! judged by `cargo deny`; what goes into a release is listed as an SBOM.
//!
//! `reproduce` builds a release in two places and compares: who distrusts a binary can make it.

mod reproduce;
mod sbom;

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};

use anyhow::{Context, Result, bail};
use testkit::assets::crates::Tool;

use crate::cargo::{cargo, root};
use crate::screen::{Ink, heading, line, paint};

pub(crate) use reproduce::reproduce;

/// Where a known hole is looked up, if there is a network to look it up by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Advisories {
    Checked,
    LeftOut,
}

/// What can be judged without a network.
pub(crate) const OFFLINE_CHECKS: [&str; 3] = ["bans", "licenses", "sources"];

pub(crate) fn run(advisories: Advisories) -> Result<ExitCode> {
    heading("What the provider is made of");
    let mut checks = OFFLINE_CHECKS.to_vec();
    match advisories {
        Advisories::Checked => checks.push("advisories"),
        Advisories::LeftOut => {
            line(&paint(Ink::Dim, "`--offline`: known holes are not looked up"));
        }
    }
    let mut deny = deny_command(&Tool::CargoDeny.locate()?, &checks);
    let status = deny.status().context("`cargo-deny` cannot be started")?;
    if !status.success() {
        bail!(
            "`cargo deny` objects, in its words above. Without a network, leave the advisories out \
             with `--offline`; what is allowed stands in `deny.toml`"
        );
    }
    let bill = write_bill()?;
    line(&format!("bill of materials in `{}`", bill.display()));
    Ok(ExitCode::SUCCESS)
}

/// `cargo deny` on this workspace, as `deny.toml` has it.
pub(crate) fn deny_command(deny: &Path, checks: &[&str]) -> Command {
    let mut command = Command::new(deny);
    command.args(["--locked", "--log-level", "error", "check"]).args(checks);
    command.current_dir(root()).stdin(Stdio::null());
    command
}

/// The SBOM of the provider, beside what is built.
fn write_bill() -> Result<PathBuf> {
    let mut command = cargo(&["metadata", "--locked", "--format-version", "1"]);
    let output = command.stderr(Stdio::inherit()).output().context("`cargo` cannot be started")?;
    if !output.status.success() {
        bail!("`cargo metadata` failed; its words are above");
    }
    let metadata: serde_json::Value =
        serde_json::from_slice(&output.stdout).context("no metadata from cargo")?;
    let lock = std::fs::read_to_string(root().join("Cargo.lock")).context("no `Cargo.lock`")?;
    let bill = sbom::of(&metadata, &sbom::checksums(&lock))?;
    let folder = metadata["target_directory"].as_str().context("cargo names no target folder")?;
    let path = PathBuf::from(folder).join("sbom.cdx.json");
    std::fs::write(&path, serde_json::to_string_pretty(&bill)? + "\n")
        .with_context(|| format!("`{}` cannot be written", path.display()))?;
    Ok(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `forbid` cannot be taken back by a crate that is under it; one could only stay outside.
    #[test]
    fn every_crate_is_under_the_lints_that_forbid_unsafe_code() {
        let read = |path: &Path| std::fs::read_to_string(path).unwrap();
        let workspace = read(&root().join("Cargo.toml"));
        assert!(workspace.contains("unsafe_code = \"forbid\""));
        let crates = std::fs::read_dir(root().join("crates")).unwrap();
        let folders = crates.map(|entry| entry.unwrap().path()).chain([root().join("xtask")]);
        let mut seen = 0;
        for manifest in folders.map(|folder| folder.join("Cargo.toml")).filter(|it| it.is_file()) {
            let text = read(&manifest);
            assert!(text.contains("[lints]\nworkspace = true"), "{}", manifest.display());
            seen += 1;
        }
        assert!(seen >= 7, "only {seen} crates were found");
    }

    #[test]
    fn every_action_of_a_workflow_is_pinned_by_commit() {
        let folder = root().join(".github/workflows");
        let mut seen = 0;
        for entry in std::fs::read_dir(folder).unwrap() {
            let text = std::fs::read_to_string(entry.unwrap().path()).unwrap();
            for line in text.lines().filter(|line| line.contains("uses:")) {
                let commit = line.split_once('@').and_then(|(_, rest)| rest.split_once(" # v"));
                let is_commit =
                    |it: &str| it.len() == 40 && it.chars().all(|c| c.is_ascii_hexdigit());
                assert!(commit.is_some_and(|(commit, _)| is_commit(commit)), "{line}");
                seen += 1;
            }
        }
        assert!(seen >= 10, "only {seen} actions were found");
    }
}
