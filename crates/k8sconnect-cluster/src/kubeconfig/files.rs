//! Kubeconfigs in files, several of them read as one.
//!
//! They are brought together as kubectl does it: the first file that has an entry of a name wins
//! with the whole entry, the first that sets `current-context` with that. A file that is not there,
//! or empty, says nothing, as long as another one does.

use std::path::{Path, PathBuf};

use k8sconnect_core::scrub::Content;

use super::text::{self, Kubeconfig, Named};
use super::{find, resolve};
use crate::connection::Connection;
use crate::error::{ConnectionError, Flaws};
use crate::file::{self, Unreadable};

/// The kubeconfigs of a list such as `KUBECONFIG` holds.
pub struct KubeconfigFiles {
    files: Vec<(PathBuf, Kubeconfig)>,
}

impl KubeconfigFiles {
    /// Reads a list of paths, written as the operating system writes lists of paths. A `~/` at the
    /// start of one is the home folder.
    pub fn load(list: &str) -> Result<Self, ConnectionError> {
        Self::load_from("config_path", list)
    }

    /// The same, of a list that stands elsewhere: in the variable `KUBECONFIG`.
    pub fn load_from(field: &'static str, list: &str) -> Result<Self, ConnectionError> {
        Self::check(field, list)?;
        let mut files = Vec::new();
        let (mut nothing, mut gone) = (None, Vec::new());
        for path in std::env::split_paths(list).filter(|path| !path.as_os_str().is_empty()) {
            let found = at_home(&path);
            match file::read(&found, file::LARGEST_PART) {
                Ok(text) => {
                    let config = text::parse(&text).map_err(|error| error.in_file(&path))?;
                    if config.is_empty {
                        let path = path.display().to_string();
                        nothing = nothing.or(Some(ConnectionError::EmptyFile { field, path }));
                        continue;
                    }
                    let folder = found.parent().unwrap_or(Path::new(""));
                    files.push((path.clone(), rooted(config, &path, folder)));
                }
                Err(cause) if cause.is_missing() => {
                    gone.push(path.display().to_string());
                    nothing = nothing.or(Some(unreadable(field, &path, cause)));
                }
                Err(cause) => return Err(unreadable(field, &path, cause)),
            }
        }
        match (files.is_empty(), nothing) {
            (false, _) => Ok(Self { files }),
            (true, Some(ConnectionError::UnreadableFile { .. })) if gone.len() > 1 => {
                Err(ConnectionError::NoFiles { field, paths: gone })
            }
            (true, Some(nothing)) => Err(nothing),
            (true, None) => {
                let why = "its path is empty".into();
                Err(ConnectionError::BadKubeconfig { file: None, why })
            }
        }
    }

    /// Refuses what is the text of a kubeconfig, or of something else, and no list of paths. Asks
    /// for no file.
    pub fn check(field: &'static str, list: &str) -> Result<(), ConnectionError> {
        match Content::of(list) {
            None | Some(Content::Scrambled) => Ok(()),
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
        let first_with = |has: &dyn Fn(&Kubeconfig) -> bool| {
            self.files.iter().position(|(_, config)| has(config))
        };
        let home = first_with(&|config| find(&config.contexts, context).is_some());
        let entry = home.and_then(|n| find(&self.files[n].1.contexts, context));
        let one_has_all = entry.is_some_and(|entry| {
            let user = entry.user.as_deref().filter(|name| !name.is_empty());
            first_with(&|config| find(&config.clusters, &entry.cluster).is_some()) == home
                && user.is_none_or(|name| {
                    first_with(&|config| find(&config.users, name).is_some()) == home
                })
        });
        let needed: Vec<_> = match home {
            Some(n) if one_has_all => vec![&self.files[n].0],
            _ => self.files.iter().map(|(path, _)| path).collect(),
        };
        // What was split at separators holds none.
        std::env::join_paths(needed).unwrap_or_default().to_string_lossy().into_owned()
    }

    pub fn connection(self, context: Option<&str>) -> Result<Connection, Flaws> {
        let files = match self.files.as_slice() {
            [_] => Vec::new(),
            several => several.iter().map(|(path, _)| path.display().to_string()).collect(),
        };
        let merged = self.files.into_iter().map(|(_, config)| config).reduce(|mut first, later| {
            first.current_context =
                first.current_context.filter(|name| !name.is_empty()).or(later.current_context);
            add(&mut first.contexts, later.contexts);
            add(&mut first.clusters, later.clusters);
            add(&mut first.users, later.users);
            first
        });
        match merged {
            Some(merged) => resolve(&merged, context, files),
            None => {
                let why = "it is empty".into();
                Err(ConnectionError::BadKubeconfig { file: None, why }.into())
            }
        }
    }
}

fn add<T>(entries: &mut Vec<Named<T>>, later: Vec<Named<T>>) {
    for entry in later {
        if find(entries, &entry.name).is_none() {
            entries.push(entry);
        }
    }
}

/// Each entry knows its file. Relative paths start from the folder of that.
fn rooted(mut config: Kubeconfig, file: &Path, folder: &Path) -> Kubeconfig {
    fn root<T>(entries: &mut [Named<T>], file: &Path, folder: &Path) {
        for entry in entries {
            (entry.file, entry.folder) = (Some(file.to_owned()), Some(folder.to_owned()));
        }
    }
    root(&mut config.clusters, file, folder);
    root(&mut config.users, file, folder);
    config
}

fn at_home(path: &Path) -> PathBuf {
    match (path.strip_prefix("~"), std::env::home_dir()) {
        (Ok(rest), Some(home)) => home.join(rest),
        _ => path.to_owned(),
    }
}

fn unreadable(field: &'static str, path: &Path, cause: Unreadable) -> ConnectionError {
    ConnectionError::UnreadableFile { field, path: path.display().to_string(), cause }
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
        let files = || KubeconfigFiles::load(&list).unwrap();
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
        let files = KubeconfigFiles::load(&two(folder.path())).unwrap();
        assert_eq!(files.needed_for("b"), folder.path().join("second").display().to_string());
        let both = files.needed_for("a");
        assert!(both.contains("first") && both.contains("second"), "{both}");
        assert!(!both.contains("missing"), "{both}");
    }

    #[test]
    fn files_of_which_none_is_there_are_an_error_that_names_one() {
        let Err(error) = KubeconfigFiles::load("/nowhere/config") else {
            panic!("nothing was read")
        };
        assert!(error.why().contains("/nowhere/config"), "{error}");
    }

    #[test]
    fn of_several_files_all_are_named_where_none_is_there_or_none_has_the_context() {
        let list = std::env::join_paths(["/nowhere/a", "/nowhere/b"]).unwrap();
        let error = KubeconfigFiles::load_from("KUBECONFIG", list.to_str().unwrap()).err().unwrap();
        let told = error.to_string();
        assert!(told.contains("None of the files in `KUBECONFIG` is there"), "{told}");
        assert!(told.contains("`/nowhere/a`, `/nowhere/b`"), "{told}");

        let folder = tempfile::tempdir().unwrap();
        let files = KubeconfigFiles::load(&two(folder.path())).unwrap();
        let told = files.connection(Some("c")).unwrap_err().to_string();
        let path = |name| folder.path().join(name).display().to_string();
        let both = format!("Together `{}`, `{}` have", path("first"), path("second"));
        assert!(told.contains(&both), "{told}");
    }

    #[test]
    fn an_empty_file_is_passed_over_where_another_is_not() {
        let folder = tempfile::tempdir().unwrap();
        let empty = folder.path().join("empty");
        std::fs::write(&empty, "# nothing yet\n").unwrap();
        let Err(error) = KubeconfigFiles::load(&empty.display().to_string()) else {
            panic!("there is nothing in it")
        };
        assert!(error.why().contains(&empty.display().to_string()), "{error}");

        let list = format!("{}:{}", empty.display(), two(folder.path()));
        let connection = KubeconfigFiles::load(&list).unwrap().connection(None).unwrap();
        assert_eq!(connection.host.to_string(), "https://two");
    }

    #[test]
    fn what_is_wrong_with_an_entry_is_told_with_its_file() {
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
        let told = |context| {
            let files = KubeconfigFiles::load(&list).unwrap();
            files.connection(Some(context)).unwrap_err().to_string()
        };
        let file = more.display();
        assert!(told("c").contains(&format!("See the user `half` in `{file}`.")), "{}", told("c"));
        assert!(
            told("d").contains(&format!("See the cluster `odd` in `{file}`.")),
            "{}",
            told("d")
        );
    }

    #[test]
    fn of_several_files_the_broken_one_is_named_with_its_entry() {
        let folder = tempfile::tempdir().unwrap();
        let broken = folder.path().join("broken");
        for (text, told) in [
            ("users: [{name: joe, user: {token: [hunter2]}}]", "`joe` in `users`"),
            ("clusters: hunter2", "`clusters` has another shape"),
            ("contexts: [{context: hunter2}]", "without a name in `contexts`"),
            ("users: [hunter2", "not YAML"),
        ] {
            std::fs::write(&broken, text).unwrap();
            let list = format!("{}:{}", two(folder.path()), broken.display());
            let Err(error) = KubeconfigFiles::load(&list) else { panic!("{text} was taken") };
            let said = error.to_string();
            assert!(said.contains(&format!("`{}`", broken.display())), "{said}");
            assert!(said.contains(told) && !said.contains("hunter2"), "{said}");
        }
    }
}
