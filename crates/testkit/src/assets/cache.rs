//! The folder that built binaries live in, keyed by version. Several processes may want
//! the same binary at once: one builds under a file lock, the others wait and find it.
//! A binary appears by a rename, so what is there is whole.

use std::fs::{self, File, TryLockError};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use tempfile::TempDir;

use super::progress::say;

/// The variable that puts the cache elsewhere.
const CACHE_VARIABLE: &str = "K8SCONNECT_CACHE";

/// Raised when a recipe changes in a way that makes binaries of the old one unfit.
const RECIPE: u32 = 1;

pub(crate) struct Cache {
    folder: PathBuf,
}

impl Cache {
    pub(crate) fn of_user() -> Result<Self> {
        let root = root(|name| std::env::var(name).ok().filter(|value| !value.is_empty()))?;
        Ok(Self {
            folder: root.join(format!(
                "assets-{RECIPE}-{}-{}",
                std::env::consts::OS,
                std::env::consts::ARCH
            )),
        })
    }

    /// Where the binary stands once built.
    pub(crate) fn place(&self, key: &str, binary: &str) -> PathBuf {
        self.folder.join(key).join(binary)
    }

    /// The binary at `place`, built by `build` if nobody has built it yet. `build` gets an
    /// empty folder on the cache's own disk and answers with the binary it made in there.
    pub(crate) fn get_or_build(
        &self,
        place: &Path,
        what: &str,
        build: impl FnOnce(&Path) -> Result<PathBuf>,
    ) -> Result<PathBuf> {
        if place.is_file() {
            return Ok(place.to_owned());
        }
        fs::create_dir_all(&self.folder).with_context(|| {
            format!(
                "the folder `{}` for built binaries cannot be made; set `{CACHE_VARIABLE}` to one \
                 that can be written",
                self.folder.display()
            )
        })?;
        let _lock = self.lock(what)?;
        if place.is_file() {
            return Ok(place.to_owned());
        }
        let workshop = TempDir::with_prefix_in("building-", &self.folder)?;
        let built = build(workshop.path())?;
        if let Some(parent) = place.parent() {
            fs::create_dir_all(parent)?;
        }
        fs::rename(&built, place)
            .with_context(|| format!("`{}` cannot be put in place", place.display()))?;
        Ok(place.to_owned())
    }

    /// One lock for all binaries: a Go build uses every core already, so two at once
    /// would only take each other's memory.
    fn lock(&self, what: &str) -> Result<File> {
        let path = self.folder.join("build.lock");
        let file = File::create(&path)
            .with_context(|| format!("the lock `{}` cannot be made", path.display()))?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                say(&format!("{what}: waiting for another process that builds"));
                file.lock()?;
            }
            Err(TryLockError::Error(error)) => {
                return Err(error).context("the build lock cannot be taken");
            }
        }
        Ok(file)
    }
}

fn root(variable: impl Fn(&str) -> Option<String>) -> Result<PathBuf> {
    if let Some(folder) = variable(CACHE_VARIABLE) {
        return Ok(PathBuf::from(folder));
    }
    if let Some(folder) = variable("XDG_CACHE_HOME") {
        return Ok(PathBuf::from(folder).join("k8sconnect"));
    }
    let Some(home) = variable("HOME") else {
        bail!(
            "there is no folder to keep built binaries in: neither `{CACHE_VARIABLE}`, \
             `XDG_CACHE_HOME` nor `HOME` is set. Set `{CACHE_VARIABLE}` to a folder"
        );
    };
    let below_home =
        if cfg!(target_os = "macos") { "Library/Caches/k8sconnect" } else { ".cache/k8sconnect" };
    Ok(PathBuf::from(home).join(below_home))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Barrier;
    use std::sync::atomic::{AtomicUsize, Ordering};

    fn cache_in(folder: &TempDir) -> Cache {
        Cache { folder: folder.path().join("assets") }
    }

    #[test]
    fn builds_once_for_all_who_ask_at_the_same_time() {
        let folder = TempDir::new().unwrap();
        let built = AtomicUsize::new(0);
        let together = Barrier::new(4);
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    let cache = cache_in(&folder);
                    together.wait();
                    let place = cache.place("thing-1", "thing");
                    let path = cache
                        .get_or_build(&place, "thing", |workshop| {
                            built.fetch_add(1, Ordering::SeqCst);
                            let made = workshop.join("made");
                            fs::write(&made, "whole")?;
                            Ok(made)
                        })
                        .unwrap();
                    assert_eq!(fs::read_to_string(path).unwrap(), "whole");
                });
            }
        });
        assert_eq!(built.load(Ordering::SeqCst), 1);
    }

    #[test]
    fn a_failed_build_leaves_nothing_that_looks_built() {
        let folder = TempDir::new().unwrap();
        let cache = cache_in(&folder);
        let place = cache.place("thing-1", "thing");
        let failed = cache.get_or_build(&place, "thing", |workshop| {
            fs::write(workshop.join("made"), "half")?;
            bail!("the compiler went away")
        });
        assert!(failed.is_err());
        assert!(!place.exists());
        let left: Vec<_> = fs::read_dir(folder.path().join("assets"))
            .unwrap()
            .map(|entry| entry.unwrap().file_name())
            .collect();
        assert_eq!(left, ["build.lock"]);
    }

    #[test]
    fn the_own_variable_wins_over_the_user_s_cache_folder() {
        let all = |name: &str| Some(format!("/{}", name.to_lowercase()));
        assert_eq!(root(all).unwrap(), Path::new("/k8sconnect_cache"));
        let no_own = |name: &str| (name != CACHE_VARIABLE).then(|| "/c".to_owned());
        assert_eq!(root(no_own).unwrap(), Path::new("/c/k8sconnect"));
        assert!(root(|_| None).unwrap_err().to_string().contains(CACHE_VARIABLE));
    }
}
