//! Builds a Go program from the module proxy, at one version, with nothing but `go`.
//!
//! Three ways. Most modules can be *required* by a small module of ours. Those whose own
//! `go.mod` replaces modules (OpenTofu, Terraform) only build as the main module, so their
//! source is copied out of the module cache first. And a library has no program: a small
//! one of ours that uses it is built in its stead.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

use anyhow::{Context, Result, bail};
use serde::Deserialize;

/// A module at a version, as the module proxy names it.
#[derive(Debug, Clone)]
pub(crate) struct Module {
    pub(crate) path: &'static str,
    /// With its leading `v`.
    pub(crate) version: String,
}

pub(crate) enum Recipe {
    /// Built from a small module that requires it.
    Required {
        module: Module,
        /// What modules that are required at exactly `v0.0.0` are replaced by: Kubernetes
        /// keeps its staging modules so, and publishes them at versions of their own.
        staging: Option<String>,
    },
    /// Built as the main module, from a copy of its source.
    Copied { module: Module },
    /// A program of ours that uses it, as one file.
    Written { module: Module, program: &'static str },
}

impl Recipe {
    fn module(&self) -> &Module {
        match self {
            Self::Required { module, .. }
            | Self::Copied { module }
            | Self::Written { module, .. } => module,
        }
    }
}

/// Builds `package` into `workshop`, an empty folder, and answers with the binary.
pub(crate) fn build(
    workshop: &Path,
    recipe: &Recipe,
    package: &str,
    stamps: &[String],
) -> Result<PathBuf> {
    let module = download(workshop, recipe.module())?;
    let source = workshop.join("source");
    match recipe {
        Recipe::Required { module: of, staging } => {
            fs::create_dir(&source)?;
            require(&source, of, &module, staging.as_deref())?;
        }
        Recipe::Written { module: of, program } => {
            fs::create_dir(&source)?;
            require(&source, of, &module, None)?;
            fs::write(source.join("main.go"), program)?;
        }
        Recipe::Copied { .. } => {
            copy_tree(Path::new(&module.dir), &source)?;
            stand_in_for_absent_modules(&source)?;
        }
    }
    let binary = workshop.join("binary");
    let mut link = String::from("-s -w");
    for stamp in stamps {
        link.push_str(" -X ");
        link.push_str(stamp);
    }
    let mut command = go(&source);
    command
        .args(["build", "-mod=mod", "-trimpath", "-buildvcs=false", "-ldflags"])
        .arg(link)
        .arg("-o")
        .arg(&binary)
        .arg(package);
    run(command, &format!("build `{package}`"))?;
    Ok(binary)
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Downloaded {
    go_mod: String,
    dir: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct GoMod {
    go: Option<String>,
    // `go` writes null for a list that is empty.
    require: Option<Vec<ModuleVersion>>,
    replace: Option<Vec<Replacement>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct ModuleVersion {
    path: String,
    #[serde(default)]
    version: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Replacement {
    old: ModuleVersion,
    new: ModuleVersion,
}

fn download(at: &Path, module: &Module) -> Result<Downloaded> {
    let mut command = go(at);
    command.args(["mod", "download", "-json"]).arg(format!("{}@{}", module.path, module.version));
    let answer = run(command, &format!("fetch `{}` at `{}`", module.path, module.version))?;
    serde_json::from_str(&answer).context("`go mod download` answered in a form not known here")
}

fn read_go_mod(at: &Path, file: &Path) -> Result<GoMod> {
    let mut command = go(at);
    command.args(["mod", "edit", "-json"]).arg(file);
    let answer = run(command, "read a `go.mod`")?;
    serde_json::from_str(&answer).context("`go mod edit -json` answered in a form not known here")
}

fn require(at: &Path, module: &Module, fetched: &Downloaded, staging: Option<&str>) -> Result<()> {
    let theirs = read_go_mod(at, Path::new(&fetched.go_mod))?;
    let mut text = format!(
        "module k8sconnect/assets\n\ngo {}\n\nrequire {} {}\n",
        theirs.go.as_deref().unwrap_or("1.24"),
        module.path,
        module.version
    );
    if let Some(staging) = staging {
        for one in theirs.require.iter().flatten().filter(|one| one.version == "v0.0.0") {
            text.push_str(&format!("\nreplace {0} => {0} {staging}\n", one.path));
        }
    }
    fs::write(at.join("go.mod"), text)?;
    Ok(())
}

/// Terraform keeps its remote state backends in modules of their own, which it replaces by
/// folders that a published module does not contain. Tests keep state in a file, so each
/// gets a stand-in that compiles and says what it is when somebody asks for it.
fn stand_in_for_absent_modules(source: &Path) -> Result<()> {
    let go_mod = read_go_mod(source, &source.join("go.mod"))?;
    let go = go_mod.go.as_deref().unwrap_or("1.24");
    for replacement in go_mod.replace.into_iter().flatten() {
        let Some(below) = replacement.new.path.strip_prefix("./") else {
            continue;
        };
        let folder = source.join(below);
        if folder.exists() {
            continue;
        }
        fs::create_dir_all(&folder)?;
        let path = &replacement.old.path;
        fs::write(folder.join("go.mod"), format!("module {path}\n\ngo {go}\n"))?;
        let name = path.rsplit('/').next().unwrap_or(path);
        let Some((root, _)) = path.split_once("/remote-state/") else {
            continue;
        };
        fs::write(
            folder.join("stand_in.go"),
            format!(
                "package {name}\n\nimport \"{root}\"\n\nfunc New() backend.Backend {{\n\
                 \tpanic(\"this Terraform was built for tests, without the backend {name}\")\n}}\n"
            ),
        )?;
    }
    Ok(())
}

/// The module cache is read-only; the copy is not, since `go` writes `go.sum`.
fn copy_tree(from: &Path, to: &Path) -> Result<()> {
    fs::create_dir(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            copy_tree(&entry.path(), &target)?;
        } else {
            fs::write(&target, fs::read(entry.path())?)?;
        }
    }
    Ok(())
}

fn go(at: &Path) -> Command {
    // A build of ten minutes must not make the developer's machine unusable.
    let mut command = Command::new("nice");
    command.arg("go").current_dir(at).env("GOWORK", "off").env("GOFLAGS", "").stdin(Stdio::null());
    if let Some(proxy) = proxies_only() {
        command.env("GOPROXY", proxy);
    }
    command
}

/// The user's module proxies without `direct`: everything wanted here is on a proxy, and
/// for a version that does not exist `direct` would clone whole repositories to make sure.
fn proxies_only() -> Option<&'static str> {
    static PROXIES: OnceLock<Option<String>> = OnceLock::new();
    PROXIES
        .get_or_init(|| {
            let answer = Command::new("go").args(["env", "GOPROXY"]).output().ok()?;
            without_direct(String::from_utf8_lossy(&answer.stdout).trim())
        })
        .as_deref()
}

fn without_direct(proxies: &str) -> Option<String> {
    let kept: Vec<&str> =
        proxies.split([',', '|']).filter(|one| !one.is_empty() && *one != "direct").collect();
    (!kept.is_empty()).then(|| kept.join(","))
}

fn run(mut command: Command, what: &str) -> Result<String> {
    let output = command.output().with_context(|| format!("`go` cannot be started to {what}"))?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    if output.status.code() == Some(127) {
        bail!(
            "`go` is needed to {what}, and is not on PATH. Install the Go toolchain, or put the \
             binaries themselves on PATH"
        );
    }
    let stdout = String::from_utf8_lossy(&output.stdout);
    let lines: Vec<&str> = stdout.lines().chain(said.lines()).collect();
    let tail = lines[lines.len().saturating_sub(15)..].join("\n    ");
    bail!("`go` could not {what}. It said:\n    {tail}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn asks_the_user_s_proxies_and_no_repository() {
        let asked = |setting| without_direct(setting);
        assert_eq!(asked("https://a.test,direct").as_deref(), Some("https://a.test"));
        assert_eq!(
            asked("https://a.test|https://b.test").as_deref(),
            Some("https://a.test,https://b.test")
        );
        assert_eq!(asked("direct"), None);
    }
}
