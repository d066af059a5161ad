//! Kubeconfigs in files, several of them read as one.
//!
//! They are merged as kubectl does it: the first file that has an entry of a name wins with the whole
//! entry, the first that sets `current-context` with that. A file that does not exist, or is empty, is
//! passed over where another one has something.

use std::path::{Path, PathBuf};

use k8sconnect_core::scrub::Sensitive;

use super::text::{self, Kubeconfig, Named, filled};
use super::{find, resolve, unreadable};
use crate::connection::Connection;
use crate::error::{ConnectionError, KubeconfigError};
use crate::file::{self, Unreadable};

/// The kubeconfigs of a list such as `KUBECONFIG` has.
pub struct KubeconfigFiles {
    files: Vec<(PathBuf, Kubeconfig)>,
}

impl KubeconfigFiles {
    /// Reads a list of paths, written as the operating system writes lists of paths. A `~/` at the
    /// start of one is the home folder. `field`: where the list is.
    pub fn load(field: &'static str, list: &str) -> Result<Self, ConnectionError> {
        Self::check(field, list)?;
        let (mut files, mut passed_over) = (Vec::new(), Vec::new());
        for path in std::env::split_paths(list).filter(|path| !path.as_os_str().is_empty()) {
            let cause = match file::read(&at_home(&path), file::LARGEST_PART) {
                Ok(text) => match text::parse(&text) {
                    Ok(Some(config)) => {
                        files.push((path.clone(), from_file(config, &path)));
                        continue;
                    }
                    Ok(None) => Unreadable::Empty,
                    Err(problem) => {
                        let file = Some(path.display().to_string());
                        return Err(ConnectionError::Kubeconfig { file, problem });
                    }
                },
                Err(cause) if cause.is_missing() => cause,
                Err(cause) => return Err(unreadable(field, &path, cause)),
            };
            passed_over.push((path, cause));
        }
        match passed_over.as_slice() {
            _ if !files.is_empty() => Ok(Self { files }),
            [] => Err(ConnectionError::Kubeconfig { file: None, problem: KubeconfigError::Empty }),
            [(path, cause)] => Err(unreadable(field, path, cause.clone())),
            several => {
                let paths = several.iter().map(|(path, _)| path.display().to_string()).collect();
                Err(ConnectionError::NoFiles { field, paths })
            }
        }
    }

    /// Refuses the text of a kubeconfig, or of something else, in place of a list of paths. Asks for no
    /// file.
    pub fn check(field: &'static str, list: &str) -> Result<(), ConnectionError> {
        match Sensitive::of(list) {
            None | Some(Sensitive::Scrambled) => Ok(()),
            Some(content) => Err(ConnectionError::ContentForPath { field, content }),
        }
    }

    /// The names of all contexts, as they come.
    pub fn contexts(&self) -> Vec<String> {
        let mut names: Vec<String> = Vec::new();
        for context in self.files.iter().flat_map(|(_, config)| &config.contexts) {
            if !names.contains(&context.name) {
                names.push(context.name.clone());
            }
        }
        names
    }

    /// The list of those files that a context needs: one, if one has all of it.
    pub fn needed_for(&self, context: &str) -> String {
        let first = |has: &dyn Fn(&Kubeconfig) -> bool| {
            self.files.iter().position(|(_, config)| has(config))
        };
        let home = first(&|config| find(&config.contexts, context).is_some());
        let has_all = |home: &usize| {
            find(&self.files[*home].1.contexts, context).is_some_and(|Named { value, .. }| {
                let cluster = first(&|config| find(&config.clusters, &value.cluster).is_some());
                let user = filled(&value.user);
                let user = user.map(|name| first(&|config| find(&config.users, name).is_some()));
                [cluster, user.unwrap_or(Some(*home))] == [Some(*home); 2]
            })
        };
        let needed: Vec<_> = match home.filter(has_all) {
            Some(home) => vec![&self.files[home].0],
            None => self.files.iter().map(|(path, _)| path).collect(),
        };
        // No path has a separator, as the list was split at them.
        std::env::join_paths(needed).unwrap_or_default().to_string_lossy().into_owned()
    }

    pub fn connection(self, context: Option<&str>) -> Result<Connection, Vec<ConnectionError>> {
        let files = match self.files.as_slice() {
            [_] => Vec::new(),
            several => several.iter().map(|(path, _)| path.display().to_string()).collect(),
        };
        let configs = self.files.into_iter().map(|(_, config)| config);
        let merged = configs.reduce(|mut first, later| {
            if filled(&first.current_context).is_none() {
                first.current_context = later.current_context;
            }
            add(&mut first.contexts, later.contexts);
            add(&mut first.clusters, later.clusters);
            add(&mut first.users, later.users);
            first
        });
        let empty = || ConnectionError::Kubeconfig { file: None, problem: KubeconfigError::Empty };
        resolve(&merged.ok_or_else(|| vec![empty()])?, context, files)
    }
}

fn add<T>(entries: &mut Vec<Named<T>>, later: Vec<Named<T>>) {
    for entry in later {
        if find(entries, &entry.name).is_none() {
            entries.push(entry);
        }
    }
}

/// Each entry knows its file.
fn from_file(mut config: Kubeconfig, file: &Path) -> Kubeconfig {
    let clusters = config.clusters.iter_mut().map(|entry| &mut entry.file);
    let users = config.users.iter_mut().map(|entry| &mut entry.file);
    clusters.chain(users).for_each(|it| *it = Some(file.to_owned()));
    config
}

pub(super) fn at_home(path: &Path) -> PathBuf {
    match (path.strip_prefix("~"), std::env::home_dir()) {
        (Ok(rest), Some(home)) => home.join(rest),
        _ => path.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::connection::Auth;

    /// Two files: the first has a context whose user is in the second, which has one of its own
    /// and a cluster that the first overrides.
    fn two(folder: &Path) -> String {
        let write = |name: &str, text: &str| {
            std::fs::write(folder.join(name), text).unwrap();
            folder.join(name)
        };
        let first = write(
            "first",
            "current-context: ''\n\
             contexts: [{name: a, context: {cluster: one, user: u}}]\n\
             clusters: [{name: one, cluster: {server: https://first}}]\n",
        );
        let second = write(
            "second",
            "current-context: b\n\
             contexts: [{name: b, context: {cluster: two, user: u}}]\n\
             clusters: [{name: one, cluster: {server: https://second}},\n\
                        {name: two, cluster: {server: https://two}}]\n\
             users: [{name: u, user: {tokenFile: token}}]\n",
        );
        let paths = [first, folder.join("missing"), second];
        std::env::join_paths(paths).unwrap().into_string().unwrap()
    }

    #[test]
    fn the_first_file_to_set_a_value_wins() {
        let folder = tempfile::tempdir().unwrap();
        let list = two(folder.path());
        let files = || KubeconfigFiles::load("KUBECONFIG", &list).unwrap();
        assert_eq!(files().contexts(), ["a", "b"]);
        let a = files().connection(Some("a")).unwrap();
        assert_eq!(a.host.to_string(), "https://first");
        let path = folder.path().join("token");
        assert_eq!(a.auth, Auth::TokenFile { path, otherwise: None }, "beside its own file");
        let current = files().connection(None).unwrap();
        assert_eq!(current.host.to_string(), "https://two", "an empty context sets nothing");
    }

    #[test]
    fn one_file_is_named_where_one_has_all() {
        let folder = tempfile::tempdir().unwrap();
        let files = KubeconfigFiles::load("KUBECONFIG", &two(folder.path())).unwrap();
        assert_eq!(files.needed_for("b"), folder.path().join("second").display().to_string());
        let both = files.needed_for("a");
        assert!(both.contains("first") && both.contains("second"), "{both}");
        assert!(!both.contains("missing"), "{both}");
    }

    fn refused(list: &str) -> ConnectionError {
        KubeconfigFiles::load("KUBECONFIG", list).err().expect("nothing was read")
    }

    #[test]
    fn files_of_which_none_exists_are_an_error_that_names_them() {
        let error = refused("/nowhere/config");
        let ConnectionError::UnreadableFile { path, cause, .. } = &error else {
            panic!("{error:?}")
        };
        assert!(path == "/nowhere/config" && cause.is_missing(), "{error:?}");
        let list = std::env::join_paths(["/nowhere/a", "/nowhere/b"]).unwrap();
        let paths = vec!["/nowhere/a".into(), "/nowhere/b".into()];
        let none = ConnectionError::NoFiles { field: "KUBECONFIG", paths };
        assert_eq!(refused(list.to_str().unwrap()), none);
    }

    #[test]
    fn of_several_files_all_are_named_where_none_has_the_context() {
        let folder = tempfile::tempdir().unwrap();
        let loaded = KubeconfigFiles::load("KUBECONFIG", &two(folder.path())).unwrap();
        let errors = loaded.connection(Some("c")).unwrap_err();
        let path = |name| folder.path().join(name).display().to_string();
        let both = [path("first"), path("second")];
        let [ConnectionError::UnknownContext { files, .. }] = errors.as_slice() else {
            panic!("{errors:?}")
        };
        assert_eq!(*files, both);
    }

    #[test]
    fn an_empty_file_is_passed_over_where_another_is_not() {
        let folder = tempfile::tempdir().unwrap();
        let empty = folder.path().join("empty");
        std::fs::write(&empty, "# nothing yet\n").unwrap();
        let error = refused(&empty.display().to_string());
        let cause = Unreadable::Empty;
        assert_eq!(error, unreadable("KUBECONFIG", &empty, cause));

        let list = format!("{}:{}", empty.display(), two(folder.path()));
        let loaded = KubeconfigFiles::load("KUBECONFIG", &list).unwrap();
        assert_eq!(loaded.connection(None).unwrap().host.to_string(), "https://two");
    }

    #[test]
    fn a_problem_of_an_entry_has_its_file() {
        let folder = tempfile::tempdir().unwrap();
        let more = folder.path().join("more");
        std::fs::write(
            &more,
            "contexts: [{name: c, context: {cluster: one, user: half}},\n\
                        {name: d, context: {cluster: odd}}]\n\
             clusters: [{name: odd, cluster: {server: 'ftp://x'}}]\n\
             users: [{name: half, user: {username: me}}]\n",
        )
        .unwrap();
        let list = format!("{}:{}", two(folder.path()), more.display());
        let place = |context| {
            let files = KubeconfigFiles::load("KUBECONFIG", &list).unwrap();
            match files.connection(Some(context)).unwrap_err().remove(0) {
                ConnectionError::Entry { what, name, file, .. } => (what, name, file),
                other => panic!("{other:?}"),
            }
        };
        let file = Some(more.display().to_string());
        assert_eq!(place("c"), ("user", "half".into(), file.clone()));
        assert_eq!(place("d"), ("cluster", "odd".into(), file));
    }

    #[test]
    fn of_several_files_the_broken_one_is_named_with_its_entry() {
        let folder = tempfile::tempdir().unwrap();
        let broken = folder.path().join("broken");
        let shape = |list, entry: Option<&str>| KubeconfigError::Shape {
            list,
            entry: entry.map(str::to_owned),
        };
        for (text, expected) in [
            ("users: [{name: joe, user: {token: [hunter2]}}]", Some(shape("users", Some("joe")))),
            ("clusters: hunter2", Some(shape("clusters", None))),
            ("contexts: [{context: hunter2}]", Some(shape("contexts", Some("")))),
            ("users: [hunter2", None),
        ] {
            std::fs::write(&broken, text).unwrap();
            let error = refused(&format!("{}:{}", two(folder.path()), broken.display()));
            let ConnectionError::Kubeconfig { file, problem } = error else { panic!("{error:?}") };
            assert_eq!(file, Some(broken.display().to_string()));
            match expected {
                Some(expected) => assert_eq!(problem, expected),
                None => assert!(matches!(problem, KubeconfigError::NotYaml(_)), "{problem:?}"),
            }
        }
    }
}
