//! A kubeconfig, as far as it says how to get in.
//!
//! One context is taken, the current one or one that is named, and resolved into a [`Connection`]
//! with every file read. What cannot be honoured is refused rather than left out: a connection
//! that silently drops an impersonation, or half a certificate, acts as somebody else.

use std::path::{Path, PathBuf};

use k8sconnect_core::scrub::Sensitive;

use self::text::{ClusterEntry, ContextEntry, Kubeconfig, Named, filled};
use crate::connection::{Connection, Tls, Trust};
use crate::error::{ConnectionError, InvalidValue, KubeconfigError};
use crate::{file, inline, tls};

mod files;
mod text;
mod user;

pub use files::KubeconfigFiles;

impl Connection {
    /// Takes a kubeconfig given as text, which has no folder for relative paths to start from.
    pub fn from_kubeconfig(
        text: &str,
        context: Option<&str>,
    ) -> Result<Self, Vec<ConnectionError>> {
        let parsed = text::parse(text).and_then(|config| config.ok_or(KubeconfigError::Empty));
        let unusable = |problem| vec![ConnectionError::Kubeconfig { file: None, problem }];
        resolve(&parsed.map_err(unusable)?, context, Vec::new())
    }
}

/// All problems of the chosen context, which are reported at once.
#[derive(Default)]
struct Problems(Vec<ConnectionError>);

impl Problems {
    /// Takes what is right, and notes what is wrong.
    fn take<T>(&mut self, part: Result<T, ConnectionError>) -> Option<T> {
        part.map_err(|error| self.0.push(error)).ok()
    }

    fn value<T>(&mut self, field: &'static str, part: Result<T, InvalidValue>) -> Option<T> {
        self.take(part.map_err(|problem| problem.of(field)))
    }

    fn of_entry<T>(&mut self, what: &'static str, entry: &Named<T>, found: Self) {
        self.0.extend(found.0.into_iter().map(|error| entry.blamed(what, error)));
    }
}

/// `files`: what was read as one kubeconfig, where they are several.
fn resolve(
    config: &Kubeconfig,
    context: Option<&str>,
    files: Vec<String>,
) -> Result<Connection, Vec<ConnectionError>> {
    let (name, context) = choose(config, context, files).map_err(|error| vec![error])?;
    let mut problems = Problems::default();
    let cluster = problems.take(match context.cluster.as_str() {
        "" => Err(ConnectionError::NoCluster { context: name.into() }),
        name => named(&config.clusters, "cluster", name),
    });
    let user_name = filled(&context.user);
    let user = user_name.and_then(|name| problems.take(named(&config.users, "user", name)));
    let connection = cluster.and_then(|cluster| without_user(cluster, &mut problems));
    let (nobody, nowhere) = (Named::default(), Named::default());
    let told = (&cluster.unwrap_or(&nowhere).value, connection.as_ref().map(|it| &it.tls.trust));
    let user = user::resolve(user.unwrap_or(&nobody), told, &mut problems);
    match (connection, user) {
        (Some(connection), Some((identity, auth, impersonation))) if problems.0.is_empty() => {
            let tls = Tls { identity, ..connection.tls };
            let user = user_name.map(ToOwned::to_owned);
            Ok(Connection { tls, auth, impersonation, user, ..connection })
        }
        _ => Err(problems.0),
    }
}

/// The context that is named, or the current one, or the only one.
fn choose<'a>(
    config: &'a Kubeconfig,
    context: Option<&'a str>,
    files: Vec<String>,
) -> Result<(&'a str, &'a ContextEntry), ConnectionError> {
    let contexts = || config.contexts.iter().map(|it| it.name.clone()).collect();
    let name = match (context.or(filled(&config.current_context)), config.contexts.as_slice()) {
        (Some(name), _) => name,
        // With a single context there is nothing to choose.
        (None, [only]) => only.name.as_str(),
        (None, _) => return Err(ConnectionError::NoContextChosen { contexts: contexts(), files }),
    };
    match find(&config.contexts, name) {
        Some(context) => Ok((name, &context.value)),
        None => {
            let (name, contexts) = (name.into(), contexts());
            Err(ConnectionError::UnknownContext { name, contexts, files })
        }
    }
}

fn find<'a, T>(entries: &'a [Named<T>], name: &str) -> Option<&'a Named<T>> {
    entries.iter().find(|it| it.name == name)
}

fn named<'a, T>(
    entries: &'a [Named<T>],
    what: &'static str,
    name: &str,
) -> Result<&'a Named<T>, ConnectionError> {
    find(entries, name).ok_or_else(|| ConnectionError::Missing { what, name: name.into() })
}

/// The connection to a cluster of a kubeconfig.
fn without_user(entry: &Named<ClusterEntry>, problems: &mut Problems) -> Option<Connection> {
    let (cluster, mut found) = (&entry.value, Problems::default());
    let trust = found.take(trust(cluster, &Base::of(entry)));
    let server_name = filled(&cluster.tls_server_name).map(tls::server_name).transpose();
    let server_name = found.value("tls-server-name", server_name);
    let host = found.value("server", cluster.server.as_deref().unwrap_or_default().parse());
    let proxy = filled(&cluster.proxy_url).map(inline::proxy).transpose();
    let proxy = found.value("proxy-url", proxy);
    problems.of_entry("cluster", entry, found);
    let tls = Tls { trust: trust?, server_name: server_name?, identity: None };
    Some(Connection { tls, proxy: proxy?, ..Connection::to(host?) })
}

fn trust(cluster: &ClusterEntry, base: &Base) -> Result<Trust, ConnectionError> {
    const FIELDS: [&str; 2] = ["certificate-authority", "certificate-authority-data"];
    let texts = [&cluster.certificate_authority, &cluster.certificate_authority_data];
    let check = |pem: &str| tls::authorities(pem).map(|_| Trust::Authorities(pem.to_owned()));
    match (base.pem(FIELDS, texts, check)?, cluster.insecure_skip_tls_verify) {
        // kubectl refuses the pair too: one of the two is not meant.
        (Some(_), true) => Err(InvalidValue::InsecureWithAuthority.of("insecure-skip-tls-verify")),
        (None, true) => Ok(Trust::Anyone),
        (Some((_, trust)), false) => Ok(trust),
        (None, false) => Ok(Trust::System),
    }
}

/// The folder where relative paths start; a text has none.
struct Base(Option<PathBuf>);

impl Base {
    fn of<T>(entry: &Named<T>) -> Self {
        let file = entry.file.as_deref().map(files::at_home);
        Self(file.map(|file| file.parent().unwrap_or(Path::new("")).to_owned()))
    }

    fn path(&self, field: &'static str, path: &str) -> Result<PathBuf, ConnectionError> {
        let whole = match &self.0 {
            _ if Path::new(path).is_absolute() => Some(path.into()),
            folder => folder.as_ref().map(|folder| folder.join(path)),
        };
        // A text that looks like content may be an odd name after all, if there is a file of that name.
        if let Some(content) = Sensitive::of(path)
            && !whole.as_ref().is_some_and(|path: &PathBuf| path.exists())
        {
            return Err(ConnectionError::ContentForPath { field, content });
        }
        whole.ok_or_else(|| ConnectionError::RelativePath { field, path: path.into() })
    }

    /// A value that may be in a file or inline as base64, with the field it was found in; the inline
    /// one wins. `fields` and `texts`: that of the file, that of the data.
    fn pem<T>(
        &self,
        fields: [&'static str; 2],
        texts: [&Option<String>; 2],
        check: impl Fn(&str) -> Result<T, InvalidValue>,
    ) -> Result<Option<(&'static str, T)>, ConnectionError> {
        let [for_path, for_data] = fields;
        let (field, pem) = match texts.map(filled) {
            [_, Some(data)] => {
                let pem = inline::from_base64(data);
                (for_data, pem.ok_or_else(|| InvalidValue::NotBase64.of(for_data))?)
            }
            [Some(path), None] => {
                let path = self.path(for_path, path)?;
                let pem = file::read(&path, file::LARGEST_PART);
                (for_path, pem.map_err(|cause| unreadable(for_path, &path, cause))?)
            }
            [None, None] => return Ok(None),
        };
        check(&pem).map(|it| Some((field, it))).map_err(|problem| problem.of(field))
    }
}

fn unreadable(field: &'static str, path: &Path, cause: file::Unreadable) -> ConnectionError {
    ConnectionError::UnreadableFile { field, path: path.display().to_string(), cause }
}

#[cfg(test)]
mod tests;
