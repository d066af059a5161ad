//! Tools that are crates: built by `cargo install` at a pinned version into the cache, as the Go
//! programs are. What the developer has on `PATH` is not used: a check must say the same to all.

use std::path::PathBuf;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};

use super::cache::Cache;
use super::progress::Progress;

const CARGO_DENY: &str = "0.20.2";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tool {
    /// Judges licences, sources and known holes of what is built from.
    CargoDeny,
}

impl Tool {
    fn name(self) -> &'static str {
        match self {
            Self::CargoDeny => "cargo-deny",
        }
    }

    fn version(self) -> &'static str {
        match self {
            Self::CargoDeny => CARGO_DENY,
        }
    }

    /// How long a build takes on two idle cores.
    fn minutes(self) -> f64 {
        match self {
            Self::CargoDeny => 3.0,
        }
    }

    fn place(self, cache: &Cache) -> PathBuf {
        cache.place(&format!("{}-{}", self.name(), self.version()), self.name())
    }

    /// The program, if it was built before.
    pub fn ready(self) -> Option<PathBuf> {
        Some(self.place(&Cache::of_user().ok()?)).filter(|place| place.is_file())
    }

    /// The program, built if need be. Blocks: minutes on a first run.
    pub fn locate(self) -> Result<PathBuf> {
        let (name, version) = (self.name(), self.version());
        let cache = Cache::of_user()?;
        let place = self.place(&cache);
        let what = format!("building {name} {version}");
        cache.get_or_build(&place, &what, |workshop| {
            let progress = Progress::start(what.clone(), self.minutes());
            let status = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
                // It runs for a second; optimising it takes minutes.
                .args(["install", "--locked", "--debug", "--quiet", "--no-track", "--version"])
                .args([&format!("={version}"), name, "--root"])
                .arg(workshop)
                .env("CARGO_TARGET_DIR", workshop.join("target"))
                .current_dir(workshop)
                .stdin(Stdio::null())
                .status()
                .context("`cargo` cannot be started")?;
            if !status.success() {
                bail!("`{name}` {version} could not be built; cargo's words are above");
            }
            progress.done();
            Ok(workshop.join("bin").join(name))
        })
    }
}
