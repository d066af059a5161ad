//! A kubeconfig, as far as it says how to get in.
//!
//! One context is taken, the current one or one that is named, and resolved into a [`Connection`]
//! with every file read. What cannot be honoured is refused rather than left out: a connection
//! that silently drops an impersonation, or half a certificate, acts as somebody else.

use std::path::{Path, PathBuf};

use base64::Engine;
use base64::engine::general_purpose::STANDARD as BASE64;
use k8sconnect_core::scrub::Content;
use serde_json::{Value, json};

use self::text::{ClusterEntry, ExecEntry, Kubeconfig, Named, UserEntry};
use crate::connection::{Auth, Connection, Exec, Identity, Impersonation, Tls, Trust};
use crate::error::ConnectionError;
use crate::exec::VERSIONS;
use crate::secret::Secret;

mod files;
mod text;

pub use files::KubeconfigFiles;

impl Connection {
    /// Takes a kubeconfig given as text, which has no folder for relative paths to start from.
    pub fn from_kubeconfig(text: &str, context: Option<&str>) -> Result<Self, ConnectionError> {
        resolve(&text::parse(text)?.filled()?, context)
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

    /// A value that may stand inline as base64 or in a file; the inline one wins.
    fn pem(
        self,
        field: &'static str,
        data: Option<&str>,
        path: Option<&str>,
    ) -> Result<Option<String>, ConnectionError> {
        match (data, path) {
            (Some(data), _) => decode(field, data).map(Some),
            (None, Some(path)) => read(field, &self.path(field, path)?).map(Some),
            (None, None) => Ok(None),
        }
    }
}

fn resolve(config: &Kubeconfig, context: Option<&str>) -> Result<Connection, ConnectionError> {
    let names = || config.contexts.iter().map(|it| it.name.clone()).collect();
    let current = config.current_context.as_deref().filter(|name| !name.is_empty());
    let name = match (context.or(current), config.contexts.as_slice()) {
        (Some(name), _) => name,
        // With a single context there is nothing to choose.
        (None, [only]) => only.name.as_str(),
        (None, _) => return Err(ConnectionError::NoContextChosen { contexts: names() }),
    };
    let Some(context) = find(&config.contexts, name) else {
        return Err(ConnectionError::UnknownContext { name: name.into(), contexts: names() });
    };
    let missing = |what, name: &str| ConnectionError::Missing { what, name: name.into() };
    let cluster = entry(&config.clusters, &context.cluster)
        .ok_or_else(|| missing("cluster", &context.cluster))?;
    let nobody = Named::default();
    let user = match context.user.as_deref() {
        None | Some("") => &nobody,
        Some(name) => entry(&config.users, name).ok_or_else(|| missing("user", name))?,
    };
    let of_cluster = |error| cluster.blamed("cluster", error);
    let of_user = |error| user.blamed("user", error);
    let (trust, authority) = trust(&cluster.value, cluster.base()).map_err(of_cluster)?;
    let identity = identity(&user.value, user.base()).map_err(of_user)?;
    let server_name = cluster.value.tls_server_name.clone().filter(|name| !name.is_empty());
    let server = cluster.value.server.as_deref().unwrap_or_default();
    let auth = auth(&cluster.value, authority.as_deref(), user).map_err(of_user)?;
    Ok(Connection {
        host: server.parse().map_err(of_cluster)?,
        auth,
        tls: Tls { trust, server_name, identity },
        impersonation: impersonation(&user.value).map_err(of_user)?,
        user: context.user.clone().filter(|name| !name.is_empty()),
        proxy: cluster.value.proxy_url.clone().map(Secret::from),
    })
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
    let authority = base.pem(
        "certificate-authority",
        cluster.certificate_authority_data.as_deref(),
        cluster.certificate_authority.as_deref(),
    )?;
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

fn identity(user: &UserEntry, base: Base<'_>) -> Result<Option<Identity>, ConnectionError> {
    let certificate = base.pem(
        "client-certificate",
        user.client_certificate_data.as_deref(),
        user.client_certificate.as_deref(),
    )?;
    let key =
        base.pem("client-key", user.client_key_data.as_deref(), user.client_key.as_deref())?;
    match (certificate, key) {
        (Some(certificate), Some(key)) => {
            let identity = Identity { certificate, key: key.into() };
            // A pair that does not belong together is told before anything is asked.
            crate::tls::certified("client-certificate", "client-key", &identity)?;
            Ok(Some(identity))
        }
        (None, None) => Ok(None),
        (Some(_), None) => {
            Err(ConnectionError::Alone { field: "client-certificate", lacks: "client-key" })
        }
        (None, Some(_)) => {
            Err(ConnectionError::Alone { field: "client-key", lacks: "client-certificate" })
        }
    }
}

fn auth(
    cluster: &ClusterEntry,
    authority: Option<&str>,
    user: &Named<UserEntry>,
) -> Result<Auth, ConnectionError> {
    let (user, base) = (&user.value, user.base());
    if let Some(provider) = &user.auth_provider {
        let exec = match provider.name.as_str() {
            "gcp" => "`gke-gcloud-auth-plugin`",
            "azure" => "`kubelogin`",
            "oidc" => "`kubelogin` (`kubectl oidc-login`)",
            _ => "the plugin its vendor offers",
        };
        return Err(ConnectionError::AuthProvider { name: provider.name.clone(), exec });
    }
    // The order is client-go's: a token file beats a token, which is taken where the file cannot be
    // read; a plugin comes last.
    let token = user.token.clone().filter(|token| !token.is_empty()).map(Secret::from);
    if let Some(path) = user.token_file.as_deref().filter(|path| !path.is_empty()) {
        let path = base.path("tokenFile", path)?;
        return Ok(Auth::TokenFile { path, otherwise: token });
    }
    if let Some(token) = token {
        return Ok(Auth::Token(token));
    }
    match (&user.username, &user.password) {
        (Some(username), Some(password)) => {
            let (username, password) = (username.clone(), password.clone().into());
            return Ok(Auth::Basic { username, password });
        }
        (None, None) => {}
        (Some(_), None) => {
            return Err(ConnectionError::Alone { field: "username", lacks: "password" });
        }
        (None, Some(_)) => {
            return Err(ConnectionError::Alone { field: "password", lacks: "username" });
        }
    }
    match &user.exec {
        Some(exec) => Ok(Auth::Exec(plugin(exec, cluster, authority, base)?)),
        None => Ok(Auth::None),
    }
}

fn plugin(
    exec: &ExecEntry,
    cluster: &ClusterEntry,
    authority: Option<&str>,
    base: Base<'_>,
) -> Result<Exec, ConnectionError> {
    let unusable = |field, why: &str| ConnectionError::BadValue { field, why: why.into() };
    if !VERSIONS.contains(&exec.api_version.as_str()) {
        let why = format!("it must be `{}` or `{}`", VERSIONS[0], VERSIONS[1]);
        return Err(unusable("exec.apiVersion", &why));
    }
    if exec.command.is_empty() {
        return Err(unusable("exec.command", "it is empty"));
    }
    if exec.interactive_mode.as_deref() == Some("Always") {
        let why = "the plugin wants to talk to somebody at a terminal, and here is none";
        return Err(unusable("exec.interactiveMode", why));
    }
    // A bare name is looked up in PATH; one with a slash is a path like any other.
    let command = if exec.command.contains(std::path::is_separator) {
        base.path("exec.command", &exec.command)?.display().to_string()
    } else {
        exec.command.clone()
    };
    let env = exec.env.iter().flatten();
    Ok(Exec {
        api_version: exec.api_version.clone(),
        command,
        args: exec.args.iter().flatten().map(|arg| Secret::new(arg.as_str())).collect(),
        env: env.map(|it| (it.name.clone(), Secret::new(it.value.as_str()))).collect(),
        install_hint: exec.install_hint.clone().filter(|hint| !hint.is_empty()),
        cluster: exec.provide_cluster_info.then(|| told(cluster, authority)),
    })
}

/// `spec.cluster`, for a plugin that asked for it.
fn told(cluster: &ClusterEntry, authority: Option<&str>) -> Value {
    let mut told = json!({ "server": cluster.server });
    if let Some(name) = &cluster.tls_server_name {
        told["tls-server-name"] = name.as_str().into();
    }
    if cluster.insecure_skip_tls_verify {
        told["insecure-skip-tls-verify"] = true.into();
    }
    if let Some(pem) = authority {
        told["certificate-authority-data"] = BASE64.encode(pem).into();
    }
    if let Some(proxy) = &cluster.proxy_url {
        told["proxy-url"] = proxy.as_str().into();
    }
    let own = |it: &&Named<Value>| it.name == "client.authentication.k8s.io/exec";
    if let Some(config) = cluster.extensions.iter().flatten().find(own) {
        told["config"] = config.value.clone();
    }
    told
}

fn impersonation(user: &UserEntry) -> Result<Option<Impersonation>, ConnectionError> {
    let groups = user.as_groups.clone().unwrap_or_default();
    let extra = user.as_user_extra.clone().unwrap_or_default();
    let more = user.as_uid.is_some() || !groups.is_empty() || !extra.is_empty();
    match &user.as_user {
        Some(name) if !name.is_empty() => {
            let each = |(key, values): (String, Vec<String>)| {
                values.into_iter().map(move |value| (key.clone(), value))
            };
            Ok(Some(Impersonation {
                user: name.clone(),
                uid: user.as_uid.clone(),
                groups,
                extra: extra.into_iter().flat_map(each).collect(),
            }))
        }
        _ if more => {
            let field = match (&user.as_uid, groups.is_empty()) {
                (Some(_), _) => "as-uid",
                (None, false) => "as-groups",
                (None, true) => "as-user-extra",
            };
            Err(ConnectionError::Alone { field, lacks: "as" })
        }
        _ => Ok(None),
    }
}

fn decode(field: &'static str, data: &str) -> Result<String, ConnectionError> {
    let unusable = |why: &str| ConnectionError::BadValue { field, why: why.into() };
    let packed: String = data.split_ascii_whitespace().collect();
    let bytes = BASE64.decode(packed).map_err(|_| unusable("its data is not base64"))?;
    String::from_utf8(bytes).map_err(|_| unusable("its data is not base64 of PEM"))
}

fn read(field: &'static str, path: &Path) -> Result<String, ConnectionError> {
    std::fs::read_to_string(path).map_err(|error| ConnectionError::UnreadableFile {
        field,
        path: path.display().to_string(),
        why: error.to_string(),
    })
}

#[cfg(test)]
mod tests;
