//! A kubeconfig, as far as it says how to get in.
//!
//! One context is taken, the current one or one that is named, and resolved into a [`Connection`]
//! with every file read. What cannot be honoured is refused rather than left out: a connection
//! that silently drops an impersonation, or half a certificate, acts as somebody else.

use std::path::{Path, PathBuf};

use base64::Engine;
use base64::engine::general_purpose::STANDARD as BASE64;
use k8sconnect_core::scrub::Content;

use self::text::{ClusterEntry, ContextEntry, Kubeconfig, Named};
use self::user::{auth, identity, impersonation};
use crate::connection::{Connection, Host, Tls, Trust};
use crate::error::{ConnectionError, Flaws};
use crate::file;
use crate::route::Route;
use crate::secret::Secret;
use crate::tls;

mod files;
mod text;
mod user;

pub use files::KubeconfigFiles;

impl Connection {
    /// Takes a kubeconfig given as text, which has no folder for relative paths to start from.
    pub fn from_kubeconfig(text: &str, context: Option<&str>) -> Result<Self, Flaws> {
        resolve(&text::parse(text)?.filled()?, context, Vec::new())
    }
}

/// Where relative paths start.
#[derive(Clone, Copy)]
enum Base<'a> {
    None,
    Folder(&'a Path),
}

impl Base<'_> {
    fn path(self, field: &'static str, path: &str) -> Result<PathBuf, ConnectionError> {
        let whole = match self {
            _ if Path::new(path).is_absolute() => Some(path.into()),
            Self::Folder(folder) => Some(folder.join(path)),
            Self::None => None,
        };
        // What looks like content may be an odd name after all, if there is a file of that name.
        if let Some(content) = Content::of(path)
            && !whole.as_ref().is_some_and(|path: &PathBuf| path.exists())
        {
            return Err(ConnectionError::ContentForPath { field, content });
        }
        whole.ok_or_else(|| ConnectionError::RelativePath { field, path: path.into() })
    }

    /// A value that may stand inline as base64 or in a file, with the field it was found in; the
    /// inline one wins. `fields`: that of the file, that of the data.
    fn pem(
        self,
        fields: [&'static str; 2],
        data: Option<&str>,
        path: Option<&str>,
    ) -> Result<Option<(&'static str, String)>, ConnectionError> {
        let [for_path, for_data] = fields;
        let filled = |text: &&str| !text.is_empty();
        Ok(match (data.filter(filled), path.filter(filled)) {
            (Some(data), _) => Some((for_data, decode(for_data, data)?)),
            (None, Some(path)) => Some((for_path, read(for_path, &self.path(for_path, path)?)?)),
            (None, None) => None,
        })
    }
}

/// All that is wrong with the chosen context is told at once. `files`: what was read as one, where
/// that is several.
fn resolve(
    config: &Kubeconfig,
    context: Option<&str>,
    files: Vec<String>,
) -> Result<Connection, Flaws> {
    let (name, context) = choose(config, context, files)?;
    let mut flaws = Flaws::default();
    let cluster = match entry(&config.clusters, &context.cluster) {
        None if context.cluster.is_empty() => {
            flaws.push(ConnectionError::NoCluster { context: name.into() });
            None
        }
        None => {
            let (what, name) = ("cluster", context.cluster.clone());
            flaws.push(ConnectionError::Missing { what, name });
            None
        }
        found => found,
    };
    let user = context.user.as_deref().filter(|name| !name.is_empty());
    let (nobody, nowhere) = (Named::default(), Named::default());
    let who = match user.map(|name| (name, entry(&config.users, name))) {
        None => &nobody,
        Some((_, Some(user))) => user,
        Some((name, None)) => {
            flaws.push(ConnectionError::Missing { what: "user", name: name.into() });
            &nobody
        }
    };

    let mut wrong = Vec::new();
    let mut take = Taker(&mut wrong);
    let trust = cluster.and_then(|it| take.or_note(trust(&it.value, it.base())));
    let (trust, authority) = trust.unwrap_or_default();
    let place = cluster.map(|it| &it.value);
    let server_name = place.and_then(|it| take.or_note(server_name(it))).flatten();
    let host = place.and_then(|it| take.or_note(host(it)));
    let proxy = place.and_then(|it| take.or_note(proxy(it))).flatten();
    let cluster = cluster.unwrap_or(&nowhere);
    flaws.extend(wrong.drain(..).map(|error| cluster.blamed("cluster", error)));

    let mut take = Taker(&mut wrong);
    let identity = identity(&who.value, who.base(), &mut take);
    let auth = auth(&cluster.value, authority.as_deref(), who, &mut take);
    let impersonation = take.or_note(impersonation(&who.value)).flatten();
    flaws.extend(wrong.drain(..).map(|error| who.blamed("user", error)));

    match (host, auth) {
        (Some(host), Some(auth)) if flaws.is_empty() => Ok(Connection {
            host,
            auth,
            tls: Tls { trust, server_name, identity },
            impersonation,
            called: None,
            user: user.map(ToOwned::to_owned),
            proxy,
        }),
        _ => Err(flaws),
    }
}

/// The context that is named, or the current one, or the only one.
fn choose<'a>(
    config: &'a Kubeconfig,
    context: Option<&'a str>,
    files: Vec<String>,
) -> Result<(&'a str, &'a ContextEntry), ConnectionError> {
    let contexts = || config.contexts.iter().map(|it| it.name.clone()).collect();
    let current = config.current_context.as_deref().filter(|name| !name.is_empty());
    let name = match (context.or(current), config.contexts.as_slice()) {
        (Some(name), _) => name,
        // With a single context there is nothing to choose.
        (None, [only]) => only.name.as_str(),
        (None, _) => {
            return Err(ConnectionError::NoContextChosen { contexts: contexts(), files });
        }
    };
    match find(&config.contexts, name) {
        Some(context) => Ok((name, context)),
        None => {
            let (name, contexts) = (name.into(), contexts());
            Err(ConnectionError::UnknownContext { name, contexts, files })
        }
    }
}

/// Takes what is right, and notes what is wrong.
struct Taker<'a>(&'a mut Vec<ConnectionError>);

impl Taker<'_> {
    fn or_note<T>(&mut self, part: Result<T, ConnectionError>) -> Option<T> {
        part.map_err(|error| self.0.push(error)).ok()
    }
}

fn host(cluster: &ClusterEntry) -> Result<Host, ConnectionError> {
    let server = cluster.server.as_deref().unwrap_or_default();
    if server.trim().is_empty() {
        return Err(ConnectionError::BadHost { field: "server", why: "it is not given".into() });
    }
    server.parse().map_err(|error| match error {
        ConnectionError::BadHost { why, .. } => ConnectionError::BadHost { field: "server", why },
        other => other,
    })
}

fn server_name(cluster: &ClusterEntry) -> Result<Option<String>, ConnectionError> {
    let name = cluster.tls_server_name.as_deref().filter(|name| !name.is_empty());
    name.map(|name| tls::server_name("tls-server-name", name)).transpose()
}

fn proxy(cluster: &ClusterEntry) -> Result<Option<Secret>, ConnectionError> {
    let proxy = cluster.proxy_url.as_deref().filter(|url| !url.is_empty()).map(Secret::from);
    if let Some(proxy) = &proxy {
        Route::check("proxy-url", proxy)?;
    }
    Ok(proxy)
}

fn entry<'a, T>(entries: &'a [Named<T>], name: &str) -> Option<&'a Named<T>> {
    entries.iter().find(|it| it.name == name)
}

fn find<'a, T>(entries: &'a [Named<T>], name: &str) -> Option<&'a T> {
    entry(entries, name).map(|it| &it.value)
}

/// Whom to trust, and the authority by itself for a plugin that asked to be told of it.
fn trust(
    cluster: &ClusterEntry,
    base: Base<'_>,
) -> Result<(Trust, Option<String>), ConnectionError> {
    const FIELDS: [&str; 2] = ["certificate-authority", "certificate-authority-data"];
    let data = cluster.certificate_authority_data.as_deref();
    let authority = base.pem(FIELDS, data, cluster.certificate_authority.as_deref())?;
    if let Some((field, pem)) = &authority {
        tls::authorities(field, pem)?;
    }
    let authority = authority.map(|(_, pem)| pem);
    let trust = match (&authority, cluster.insecure_skip_tls_verify) {
        // kubectl refuses the pair too: one of the two is not meant.
        (Some(_), true) => {
            return Err(ConnectionError::BadValue {
                field: "insecure-skip-tls-verify",
                why: "it cannot stand beside a `certificate-authority`".into(),
            });
        }
        (None, true) => Trust::Anyone,
        (Some(pem), false) => Trust::Authorities(pem.clone()),
        (None, false) => Trust::System,
    };
    Ok((trust, authority))
}

fn decode(field: &'static str, data: &str) -> Result<String, ConnectionError> {
    let packed: String = data.split_ascii_whitespace().collect();
    let decoded = BASE64.decode(packed).ok().and_then(|bytes| String::from_utf8(bytes).ok());
    let why = if data.contains("-----BEGIN ") {
        "it is PEM, and must be the base64 of it"
    } else {
        "it is not base64 of PEM"
    };
    decoded.ok_or_else(|| ConnectionError::BadValue { field, why: why.into() })
}

fn read(field: &'static str, path: &Path) -> Result<String, ConnectionError> {
    file::read(path, file::LARGEST_PART).map_err(|cause| {
        let path = path.display().to_string();
        ConnectionError::UnreadableFile { field, path, cause }
    })
}

#[cfg(test)]
mod tests;
