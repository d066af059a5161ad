//! Runs Terraform or OpenTofu on a configuration of a test's own, with our provider in a
//! plugin mirror and nothing of the developer's settings. It judges nothing: it hands back
//! what the tool said and how it ended.

mod diagnostics;
mod provider;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use serde_json::Value;
use tempfile::TempDir;
use tokio::process::Command;

use crate::assets::{Asset, KubernetesVersion, Product, ToolVersion};
use crate::client::blocking;
pub use diagnostics::{Diagnostic, Diagnostics, Severity};
pub use provider::{Mirrored, PROVIDER_VARIABLE, kill_providers, provider_binary};

/// Far beyond any test's needs; a hanging tool shall fail a test, not the day.
const PATIENCE: Duration = Duration::from_secs(300);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tool {
    /// The developer's own if the provider supports its version, else the pinned version.
    Terraform,
    OpenTofu,
    /// Of exactly this version, built from source even if there is one on `PATH`.
    Exactly(Product, ToolVersion),
}

impl Tool {
    /// Both products, for tests that must hold with each.
    pub const ALL: [Self; 2] = [Self::Terraform, Self::OpenTofu];

    /// For what older versions lack, such as `planned_private`.
    pub const NEWEST_TERRAFORM: Self =
        Self::Exactly(Product::Terraform, ToolVersion { minor: 16, patch: 4 });

    pub const fn product(self) -> Product {
        match self {
            Self::Terraform => Product::Terraform,
            Self::OpenTofu => Product::OpenTofu,
            Self::Exactly(product, _) => product,
        }
    }

    pub const fn asset(self) -> Asset {
        match self {
            Self::Terraform | Self::OpenTofu => Asset::Tool(self.product()),
            Self::Exactly(product, version) => Asset::ToolAt(product, version),
        }
    }

    /// The host that a provider address without one belongs to.
    pub fn registry(self) -> &'static str {
        match self.product() {
            Product::Terraform => "registry.terraform.io",
            Product::OpenTofu => "registry.opentofu.org",
        }
    }

    /// The binary, built if need be.
    pub async fn binary(self) -> Result<PathBuf> {
        blocking(move || self.asset().locate(KubernetesVersion::wanted()?)).await
    }
}

/// A configuration in a folder of its own, and the tool that runs it.
pub struct Runner {
    binary: PathBuf,
    /// Holds the mirror and the tool's configuration, beside `work`.
    folder: TempDir,
    environment: BTreeMap<String, String>,
    patience: Duration,
}

/// How a command ended, and all it said: standard output, then standard error.
#[derive(Debug, Clone)]
pub struct Run {
    pub code: i32,
    pub stdout: String,
    pub text: String,
}

impl Run {
    fn of(output: &std::process::Output) -> Self {
        let stdout = String::from_utf8_lossy(&output.stdout).into_owned();
        let text = format!("{stdout}{}", String::from_utf8_lossy(&output.stderr));
        Self { code: output.status.code().unwrap_or(-1), stdout, text }
    }

    pub fn succeeded(&self) -> bool {
        self.code == 0
    }

    /// Itself if it succeeded, else an error with all that was said.
    pub fn successful(self) -> Result<Self> {
        if self.succeeded() {
            return Ok(self);
        }
        bail!("the command ended with {}:\n{}", self.code, self.text)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PlanOutcome {
    NoChanges,
    Changes,
    Failed,
}

/// What a plan came to. Its JSON is had from [`Runner::planned`].
#[derive(Debug, Clone)]
pub struct Plan {
    pub outcome: PlanOutcome,
    pub text: String,
}

const PLAN_FILE: &str = "saved.tfplan";

/// The kernel's own view of the machine, in which nobody can make a file, root included.
const READ_ONLY: &str = "/sys";

impl Runner {
    /// With our provider in its mirror, built if no one has.
    pub async fn new(tool: Tool) -> Result<Self> {
        let provider = provider_binary().await?;
        Self::with_provider(tool, Some(&provider)).await
    }

    /// For configurations that need no provider.
    pub async fn bare(tool: Tool) -> Result<Self> {
        Self::with_provider(tool, None).await
    }

    /// With the given binary as our provider.
    pub async fn with_provider(tool: Tool, provider: Option<&Path>) -> Result<Self> {
        Self::with_mirrored(tool, provider.map(Mirrored::ours).as_slice()).await
    }

    /// With whatever providers.
    pub async fn with_mirrored(tool: Tool, providers: &[Mirrored]) -> Result<Self> {
        let binary = tool.binary().await?;
        let folder = TempDir::with_prefix("k8sconnect-run-")?;
        let root = folder.path();
        for name in ["work", "home", "mirror", "tmp"] {
            std::fs::create_dir(root.join(name))?;
        }
        for provider in providers {
            provider.put_into(&root.join("mirror"), tool.registry())?;
        }
        std::fs::write(root.join("cli.tfrc"), provider::cli_configuration(root))?;
        Ok(Self { binary, folder, environment: BTreeMap::new(), patience: PATIENCE })
    }

    /// How long a command may take; five minutes unless said otherwise.
    pub fn patience(&mut self, patience: Duration) -> &mut Self {
        self.patience = patience;
        self
    }

    /// Leaves everything on the disk for somebody to go on with; answers with the folder.
    pub fn keep(self) -> PathBuf {
        self.folder.keep()
    }

    /// The folder that the configuration is in.
    pub fn directory(&self) -> PathBuf {
        self.folder.path().join("work")
    }

    /// Writes a file of the configuration.
    pub fn write(&self, name: &str, text: &str) -> Result<&Self> {
        let path = self.directory().join(name);
        if let Some(parent) = path.parent() {
            std::fs::create_dir_all(parent)?;
        }
        std::fs::write(&path, text)
            .with_context(|| format!("`{}` cannot be written", path.display()))?;
        Ok(self)
    }

    /// Copies what a folder holds, such as an example, into the configuration.
    pub fn copy_from(&self, folder: &Path) -> Result<&Self> {
        for entry in std::fs::read_dir(folder)
            .with_context(|| format!("`{}` cannot be read", folder.display()))?
        {
            let entry = entry?;
            copy(&entry.path(), &self.directory().join(entry.file_name()))?;
        }
        Ok(self)
    }

    /// Lets what the tool runs find a command, built if need be, before all others on its `PATH`.
    pub async fn offer(&mut self, command: Asset) -> Result<&mut Self> {
        let command = blocking(move || command.locate(KubernetesVersion::wanted()?)).await?;
        let folder = command.parent().context("a command stands in a folder")?.to_owned();
        let path = match self.environment.get("PATH") {
            Some(path) => path.into(),
            None => std::env::var_os("PATH").unwrap_or_default(),
        };
        let path = std::env::join_paths([folder].into_iter().chain(std::env::split_paths(&path)))?;
        let path = path.into_string().ok().context("`PATH` is not in UTF-8")?;
        Ok(self.env("PATH", &path))
    }

    /// Sets an environment variable, such as `TF_LOG`, for every command from here on.
    pub fn env(&mut self, name: &str, value: &str) -> &mut Self {
        self.environment.insert(name.to_owned(), value.to_owned());
        self
    }

    /// Lets no command make a temporary file. Sockets of providers have a folder of their own.
    pub fn without_temporary_files(&mut self) -> Result<&mut Self> {
        let sockets = self.folder.path().join("tmp").display().to_string();
        let probe = Path::new(READ_ONLY).join("k8sconnect");
        ensure!(std::fs::File::create(probe).is_err(), "`{READ_ONLY}` can be written to");
        Ok(self.env("TMPDIR", READ_ONLY).env("PLUGIN_UNIX_SOCKET_DIR", &sockets))
    }

    /// Every file and folder that stands outside of the folder of the configuration: in the home, the
    /// temporary folder, the mirror, and beside them. The tool has a folder of its own in the home.
    pub fn files_outside(&self) -> Result<BTreeSet<PathBuf>> {
        let mut found = BTreeSet::new();
        let mut folders = vec![self.folder.path().to_owned()];
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(&folder)? {
                let path = entry?.path();
                if path == self.directory() || path.ends_with("home/.terraform.d") {
                    continue;
                }
                if path.is_dir() {
                    folders.push(path.clone());
                }
                found.insert(path);
            }
        }
        Ok(found)
    }

    /// Sets an input variable of the configuration.
    pub fn variable(&mut self, name: &str, value: &str) -> &mut Self {
        self.env(&format!("TF_VAR_{name}"), value)
    }

    pub async fn init(&self) -> Result<Run> {
        self.run(&["init", "-input=false", "-no-color"]).await
    }

    pub async fn plan(&self) -> Result<Plan> {
        self.plan_with(&[]).await
    }

    /// A plan with more flags, such as `-destroy` or `-replace=…`.
    pub async fn plan_with(&self, flags: &[&str]) -> Result<Plan> {
        let saved = format!("-out={PLAN_FILE}");
        let mut arguments = vec!["plan", "-input=false", "-no-color", "-detailed-exitcode", &saved];
        arguments.extend(flags);
        let run = self.run(&arguments).await?;
        let outcome = match run.code {
            0 => PlanOutcome::NoChanges,
            2 => PlanOutcome::Changes,
            _ => PlanOutcome::Failed,
        };
        Ok(Plan { outcome, text: run.text })
    }

    /// The last plan that did not fail, as JSON.
    pub async fn planned(&self) -> Result<Value> {
        self.json(&["show", "-json", PLAN_FILE]).await
    }

    /// Plans and applies in one command, as most users do.
    pub async fn apply(&self) -> Result<Run> {
        self.apply_with(&[]).await
    }

    pub async fn apply_with(&self, flags: &[&str]) -> Result<Run> {
        let mut arguments = vec!["apply", "-input=false", "-no-color", "-auto-approve"];
        arguments.extend(flags);
        self.run(&arguments).await
    }

    /// Applies the last plan as it was saved.
    pub async fn apply_planned(&self) -> Result<Run> {
        self.run(&["apply", "-input=false", "-no-color", PLAN_FILE]).await
    }

    pub async fn destroy(&self) -> Result<Run> {
        self.run(&["destroy", "-input=false", "-no-color", "-auto-approve"]).await
    }

    pub async fn import(&self, address: &str, id: &str) -> Result<Run> {
        self.run(&["import", "-input=false", "-no-color", address, id]).await
    }

    /// `terraform state …`.
    pub async fn state(&self, arguments: &[&str]) -> Result<Run> {
        let mut whole = vec!["state"];
        whole.extend(arguments);
        self.run(&whole).await
    }

    /// Every output's value by name.
    pub async fn outputs(&self) -> Result<Value> {
        self.json(&["output", "-json"]).await
    }

    /// The state, as JSON.
    pub async fn show(&self) -> Result<Value> {
        self.json(&["show", "-json"]).await
    }

    async fn json(&self, arguments: &[&str]) -> Result<Value> {
        let run = self.run(arguments).await?.successful()?;
        serde_json::from_str(&run.stdout).context("the tool's answer is not JSON")
    }

    /// Any command, with what it shows as warnings and errors. `-no-color` is not for it, and its
    /// text is without colours all the same.
    pub async fn diagnosed(&self, arguments: &[&str]) -> Result<(Run, Diagnostics)> {
        let mut run = self.run(arguments).await?;
        let diagnostics = Diagnostics::of(&run.text);
        for text in [&mut run.stdout, &mut run.text] {
            *text = diagnostics::without_colours(text);
        }
        Ok((run, diagnostics))
    }

    /// Any command.
    pub async fn run(&self, arguments: &[&str]) -> Result<Run> {
        let output = tokio::time::timeout(self.patience, self.command(arguments).output())
            .await
            .with_context(|| {
                format!(
                    "`{}` did not end within {} s",
                    arguments.join(" "),
                    self.patience.as_secs()
                )
            })?
            .with_context(|| format!("`{}` cannot be started", self.binary.display()))?;
        Ok(Run::of(&output))
    }

    /// Any command, interrupted as by Ctrl-C once `when` has come to pass; and how long it then
    /// took to end. Whatever it has started hears the signal too.
    pub async fn run_interrupted(
        &self,
        arguments: &[&str],
        when: impl Future<Output = ()>,
    ) -> Result<(Run, Duration)> {
        let mut command = self.command(arguments);
        command.process_group(0).stdout(Stdio::piped()).stderr(Stdio::piped());
        let child = command
            .spawn()
            .with_context(|| format!("`{}` cannot be started", self.binary.display()))?;
        let group = format!("-{}", child.id().context("it has ended already")?);
        let signal = async {
            when.await;
            let sent = Command::new("kill").args(["-INT", "--", &group]).status().await?;
            ensure!(sent.success(), "there was nothing left to interrupt");
            Ok(Instant::now())
        };
        let both = async { tokio::join!(child.wait_with_output(), signal) };
        let (output, sent) = tokio::time::timeout(self.patience, both)
            .await
            .with_context(|| format!("`{}` did not end", arguments.join(" ")))?;
        let took = sent?.elapsed();
        Ok((Run::of(&output?), took))
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let root = self.folder.path();
        let mut command = Command::new(&self.binary);
        command
            .args(arguments)
            .current_dir(root.join("work"))
            .env_clear()
            .env("HOME", root.join("home"))
            // The socket of a provider that was killed goes with the folder.
            .env("TMPDIR", root.join("tmp"))
            .env("TF_CLI_CONFIG_FILE", root.join("cli.tfrc"))
            .env("CHECKPOINT_DISABLE", "1")
            .env("TF_IN_AUTOMATION", "1")
            .stdin(Stdio::null())
            .kill_on_drop(true);
        if let Some(path) = std::env::var_os("PATH") {
            command.env("PATH", path);
        }
        command.envs(&self.environment);
        command
    }
}

/// A file, or a folder with all that is in it.
fn copy(from: &Path, to: &Path) -> Result<()> {
    if !from.is_dir() {
        std::fs::copy(from, to)?;
        return Ok(());
    }
    std::fs::create_dir_all(to)?;
    for entry in std::fs::read_dir(from)? {
        let entry = entry?;
        copy(&entry.path(), &to.join(entry.file_name()))?;
    }
    Ok(())
}
