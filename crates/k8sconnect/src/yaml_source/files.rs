//! The files that a pattern names, with their texts.
//!
//! Files come sorted by path, each once, so that the same tree gives the same answer everywhere.
//! Links are followed, except into a circle. What is hidden, such as `.terraform` with the modules
//! of others, is found only by a pattern that writes the dot.

use std::collections::BTreeSet;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use globset::{GlobBuilder, GlobSet};
use k8sconnect_cluster::file::{self, Unreadable};
use k8sconnect_core::documents::Source;
use walkdir::{DirEntry, WalkDir};

/// A file that was read.
#[derive(Debug)]
pub(crate) struct File {
    pub(crate) path: String,
    pub(crate) text: String,
}

impl File {
    pub(crate) fn as_source(&self) -> Source<'_> {
        Source { name: Some(&self.path), text: &self.text }
    }
}

/// Why the files of a pattern cannot be had.
#[derive(Debug)]
pub(crate) enum FilesError {
    Pattern(globset::ErrorKind),
    PatternTooLong,
    /// The user asked to stop while folders were searched.
    Stopped,
    /// No file fits; this is where relative patterns begin.
    Nothing {
        working_directory: PathBuf,
    },
    /// These could not be read, and the others could.
    Unreadable {
        broken: Vec<(PathBuf, Unreadable)>,
        others: Vec<File>,
    },
}

/// No path is longer on Linux, and no pattern of this length takes long to read.
pub(crate) const LONGEST_PATTERN: usize = 4096;
/// How many bytes a file may have.
const LARGEST: usize = 64 << 20;

/// Reads every file that fits. A search through many folders takes long, and ends once the user
/// `has_stopped` it.
pub(crate) fn read(pattern: &str, has_stopped: impl Fn() -> bool) -> Result<Vec<File>, FilesError> {
    if pattern.len() > LONGEST_PATTERN {
        return Err(FilesError::PatternTooLong);
    }
    let matcher = matcher(pattern).map_err(|error| FilesError::Pattern(error.kind().clone()))?;
    let (found, mut broken) = find(pattern, &matcher, &has_stopped);
    let mut files = Vec::new();
    for path in found {
        if has_stopped() {
            break;
        }
        match file::read(&path, LARGEST) {
            Ok(text) => files.push(File { path: path.display().to_string(), text }),
            Err(error) => broken.push((path, error)),
        }
    }
    if has_stopped() {
        return Err(FilesError::Stopped);
    }
    if !broken.is_empty() {
        return Err(FilesError::Unreadable { broken, others: files });
    }
    if files.is_empty() {
        let working_directory = std::env::current_dir().unwrap_or_default();
        return Err(FilesError::Nothing { working_directory });
    }
    Ok(files)
}

fn matcher(pattern: &str) -> Result<GlobSet, globset::Error> {
    let mut glob = GlobBuilder::new(pattern);
    glob.literal_separator(true).backslash_escape(true).empty_alternates(true);
    GlobSet::builder().add(glob.build()?).build()
}

/// The files that fit, and the folders on the way that cannot be read.
fn find(
    pattern: &str,
    matcher: &GlobSet,
    has_stopped: &impl Fn() -> bool,
) -> (BTreeSet<PathBuf>, Vec<(PathBuf, Unreadable)>) {
    let (folder, rest) = fixed_part(pattern);
    let writes_dot = ["/.", "{.", ",.", "[.", "\\."].iter().any(|dot| rest.contains(dot))
        || rest.starts_with('.');
    let is_sought = |entry: &DirEntry| {
        let is_hidden = entry.file_name().to_string_lossy().starts_with('.');
        entry.depth() == 0 || writes_dot || !is_hidden
    };
    // Every name between slashes is a folder further down, at the most.
    let depth = if rest.contains("**") { usize::MAX } else { rest.matches('/').count() + 1 };
    let root = if folder.is_empty() { "." } else { folder };
    let (mut found, mut broken) = (BTreeSet::new(), Vec::new());
    let walk = WalkDir::new(root).follow_links(true).max_depth(depth);
    for entry in walk.into_iter().filter_entry(is_sought).take_while(|_| !has_stopped()) {
        match entry {
            Ok(entry) => {
                let path = if folder.is_empty() {
                    entry.path().strip_prefix(".").unwrap_or(entry.path())
                } else {
                    entry.path()
                };
                // What is no regular file is told as that when it is read.
                if !entry.file_type().is_dir() && matcher.is_match(path) {
                    found.insert(path.strip_prefix(".").unwrap_or(path).to_owned());
                }
            }
            Err(error) if error.loop_ancestor().is_some() => {}
            Err(error) => {
                let path = error.path().unwrap_or(Path::new(root)).to_owned();
                let error = error.into_io_error().unwrap_or(ErrorKind::Other.into());
                if !matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) {
                    broken.push((path, error.into()));
                }
            }
        }
    }
    (found, broken)
}

/// The folders that a pattern writes out before its first special character, and the rest of it.
fn fixed_part(pattern: &str) -> (&str, &str) {
    match pattern.find(['*', '?', '[', '{', '\\']) {
        Some(special) => pattern.split_at(pattern[..special].rfind('/').map_or(0, |at| at + 1)),
        None => (pattern, ""),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn tree() -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        let paths = [
            "a.yaml",
            "b.yml",
            "x/c.yaml",
            "x/y/d.yaml",
            "x/y/e.txt",
            ".f.yaml",
            ".terraform/g.yaml",
        ];
        for path in paths {
            let path = folder.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "a: 1\n").unwrap();
        }
        folder
    }

    fn found(folder: &tempfile::TempDir, pattern: &str) -> Result<Vec<String>, FilesError> {
        let root = folder.path().display().to_string();
        let files = read(&format!("{root}/{pattern}"), || false)?;
        Ok(files.into_iter().map(|file| file.path[root.len() + 1..].to_owned()).collect())
    }

    #[test]
    fn patterns_find_files_sorted_and_each_once() {
        let tree = tree();
        assert_eq!(found(&tree, "*.yaml").unwrap(), ["a.yaml"]);
        assert_eq!(found(&tree, "**/*.yaml").unwrap(), ["a.yaml", "x/c.yaml", "x/y/d.yaml"]);
        assert_eq!(found(&tree, "x/**").unwrap(), ["x/c.yaml", "x/y/d.yaml", "x/y/e.txt"]);
        assert_eq!(found(&tree, "{*,a}.y{a,}ml").unwrap(), ["a.yaml", "b.yml"]);
        assert_eq!(found(&tree, "x/../a.yaml").unwrap(), ["x/../a.yaml"]);
    }

    #[test]
    fn what_is_hidden_is_found_only_by_who_writes_the_dot() {
        let tree = tree();
        assert_eq!(found(&tree, "**/.*.yaml").unwrap(), [".f.yaml"]);
        assert_eq!(found(&tree, ".terraform/*.yaml").unwrap(), [".terraform/g.yaml"]);
        assert_eq!(found(&tree, "{.terraform,x}/*").unwrap(), [".terraform/g.yaml", "x/c.yaml"]);
        assert_eq!(found(&tree, ".*/**").unwrap(), [".terraform/g.yaml"]);
    }

    #[test]
    fn links_are_followed_and_circles_are_not() {
        let tree = tree();
        std::os::unix::fs::symlink("y", tree.path().join("x/link")).unwrap();
        std::os::unix::fs::symlink("../x", tree.path().join("x/circle")).unwrap();
        assert_eq!(found(&tree, "x/*/d.yaml").unwrap(), ["x/link/d.yaml", "x/y/d.yaml"]);
        assert_eq!(found(&tree, "x/**/c.yaml").unwrap(), ["x/c.yaml"]);
    }

    #[test]
    fn a_pattern_that_is_not_finished_is_refused() {
        let tree = tree();
        for pattern in ["a{b", "a[b", "a}"] {
            assert!(matches!(found(&tree, pattern), Err(FilesError::Pattern(_))), "{pattern}");
        }
        for part in ["{", "{a,", "[", "**/"] {
            let long = part.repeat(3000 / part.len());
            let _ = damage::swiftly(|| found(&tree, &long));
        }
        assert!(matches!(read(&"{".repeat(5000), || false), Err(FilesError::PatternTooLong)));
    }

    #[test]
    fn a_pattern_that_fits_nothing_is_an_error() {
        let tree = tree();
        for pattern in ["*.json", "z/*.yaml", "a.yaml/*", "x"] {
            let none = found(&tree, pattern).unwrap_err();
            assert!(matches!(none, FilesError::Nothing { .. }), "{pattern}: {none:?}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn a_pipe_that_fits_is_told_by_name_and_not_waited_for() {
        let tree = tree();
        let pipe = tree.path().join("pipe.yaml");
        assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        for pattern in ["*.yaml", "pipe.yaml", "**"] {
            let Err(FilesError::Unreadable { broken, .. }) = found(&tree, pattern) else {
                panic!("it cannot be read");
            };
            let (path, why) = &broken[0];
            assert!(path.ends_with("pipe.yaml"));
            assert_eq!(*why, Unreadable::NotRegular);
        }
    }

    #[test]
    fn a_file_that_is_no_text_is_told_by_name() {
        let tree = tree();
        fs::write(tree.path().join("bad.yaml"), [0xFF, 0xFE]).unwrap();
        let Err(FilesError::Unreadable { broken, others }) = found(&tree, "*.yaml") else {
            panic!("it cannot be read");
        };
        assert!(broken.len() == 1 && broken[0].0.ends_with("bad.yaml"));
        assert!(others.len() == 1 && others[0].path.ends_with("a.yaml"));
    }
}
