//! The files that a pattern names, with their texts.
//!
//! Files come sorted by path, each once, so that the same tree gives the same answer everywhere.
//! `**` does not follow links to folders, which may lead in circles; a name that is written out, or
//! a `*`, does. Neither enters what is hidden, such as `.terraform` with the modules of others.

use std::collections::BTreeSet;
use std::fs;
use std::io::{Error, ErrorKind};
use std::path::{Path, PathBuf};

use k8sconnect_core::documents::Source;
use k8sconnect_core::glob::{Glob, GlobError, Start, Step, is_hidden};

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
    Pattern(GlobError),
    /// No file fits; this is where relative patterns begin.
    Nothing {
        working_directory: PathBuf,
    },
    /// These could not be read, and the others could.
    Unreadable {
        broken: Vec<(PathBuf, Error)>,
        others: Vec<File>,
    },
}

/// Reads every file that fits.
pub(crate) fn read(pattern: &str) -> Result<Vec<File>, FilesError> {
    let glob = Glob::parse(pattern).map_err(FilesError::Pattern)?;
    let mut walk = Walk::default();
    for way in glob.ways() {
        let start = match way.start {
            Start::Root => PathBuf::from("/"),
            Start::Here => PathBuf::new(),
        };
        walk.follow(&start, &way.steps);
    }
    let mut files = Vec::new();
    for path in walk.found {
        match fs::read_to_string(&path) {
            Ok(text) => files.push(File { path: path.display().to_string(), text }),
            Err(error) => walk.unreadable.push((path, error)),
        }
    }
    if !walk.unreadable.is_empty() {
        return Err(FilesError::Unreadable { broken: walk.unreadable, others: files });
    }
    if files.is_empty() {
        let working_directory = std::env::current_dir().unwrap_or_default();
        return Err(FilesError::Nothing { working_directory });
    }
    Ok(files)
}

#[derive(Default)]
struct Walk {
    found: BTreeSet<PathBuf>,
    unreadable: Vec<(PathBuf, Error)>,
}

impl Walk {
    fn follow(&mut self, at: &Path, steps: &[Step]) {
        match steps.split_first() {
            None => {
                if at.is_file() {
                    self.found.insert(at.to_owned());
                }
            }
            Some((Step::Name(name), rest)) => self.follow(&at.join(name), rest),
            Some((Step::Fitting(mask), rest)) => {
                for entry in self.entries(at) {
                    if mask.fits(&entry.file_name().to_string_lossy()) {
                        self.follow(&at.join(entry.file_name()), rest);
                    }
                }
            }
            Some((Step::AnyDepth, rest)) => {
                // At the end it stands for all that is below.
                if !rest.is_empty() {
                    self.follow(at, rest);
                }
                for entry in self.entries(at) {
                    if is_hidden(&entry.file_name().to_string_lossy()) {
                        continue;
                    }
                    let below = at.join(entry.file_name());
                    match entry.file_type() {
                        Ok(kind) if kind.is_dir() => self.follow(&below, steps),
                        Ok(_) if rest.is_empty() => self.follow(&below, rest),
                        Ok(_) => {}
                        Err(error) => self.unreadable.push((below, error)),
                    }
                }
            }
        }
    }

    /// What a folder holds; nothing, where there is no such folder.
    fn entries(&mut self, folder: &Path) -> Vec<fs::DirEntry> {
        let here = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
        match fs::read_dir(here).and_then(Iterator::collect) {
            Ok(entries) => entries,
            Err(error)
                if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) =>
            {
                Vec::new()
            }
            Err(error) => {
                self.unreadable.push((here.to_owned(), error));
                Vec::new()
            }
        }
    }
}

#[cfg(test)]
mod tests {
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
        let files = read(&format!("{root}/{pattern}"))?;
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
    fn a_pattern_that_fits_nothing_is_an_error() {
        let tree = tree();
        for pattern in ["*.json", "z/*.yaml", "a.yaml/*", "x"] {
            let none = found(&tree, pattern).unwrap_err();
            assert!(matches!(none, FilesError::Nothing { .. }), "{pattern}: {none:?}");
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
