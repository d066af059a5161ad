//! A resolved connection: where the server is, whom we trust, and the credentials.
//!
//! Pure values, all text already read. Where they come from, a kubeconfig or a provider block, is not
//! known here. Two connections that differ in anything but `called` are different keys of the pool, and
//! so never share a client, a token or a discovery cache.

use std::path::PathBuf;
use std::str::FromStr;

use http::Uri;
use http::uri::{Authority, Scheme};
use k8sconnect_core::scrub::Sensitive;
use serde_json::Value;

use crate::error::InvalidValue;
use crate::secret::Secret;

/// How to get into one cluster as one user.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Connection {
    pub host: Host,
    pub tls: Tls,
    pub auth: Auth,
    pub impersonation: Option<Impersonation>,
    /// What whoever describes several connections calls this one, for errors.
    pub called: Option<String>,
    /// What the kubeconfig calls the user, for whoever has to look there.
    pub user: Option<String>,
    /// Where given it is used for every host. Where not, `HTTPS_PROXY` and `NO_PROXY` decide.
    pub proxy: Option<Secret>,
}

impl Connection {
    /// A connection that proves nothing about the client and trusts what the machine trusts.
    pub fn to(host: Host) -> Self {
        let (tls, auth, impersonation) = (Tls::default(), Auth::None, None);
        Self { host, tls, auth, impersonation, called: None, user: None, proxy: None }
    }

    /// Whether the server is shown nothing by which it could know the client.
    pub(crate) fn is_anonymous(&self) -> bool {
        self.auth == Auth::None && self.tls.identity.is_none()
    }
}

/// An API server's address. A path prefix is kept: some servers live behind one.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Host {
    scheme: Scheme,
    authority: Authority,
    prefix: String,
}

impl Host {
    /// The address of a request: `path` begins with a slash and is already encoded.
    pub(crate) fn uri(&self, path_and_query: &str) -> Result<Uri, http::Error> {
        Uri::builder()
            .scheme(self.scheme.clone())
            .authority(self.authority.clone())
            .path_and_query(format!("{}{path_and_query}", self.prefix))
            .build()
    }

    /// Whether anybody on the way could listen.
    pub fn is_encrypted(&self) -> bool {
        self.scheme == Scheme::HTTPS
    }

    /// The name (or address) alone, as a certificate would carry it.
    pub fn name(&self) -> &str {
        self.authority.host().trim_start_matches('[').trim_end_matches(']')
    }
}

impl std::fmt::Display for Host {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}://{}{}", self.scheme, self.authority, self.prefix)
    }
}

impl FromStr for Host {
    type Err = InvalidValue;

    /// Takes `https://host[:port][/prefix]`, and a bare `host[:port]` as https, as kubectl does.
    fn from_str(text: &str) -> Result<Self, InvalidValue> {
        let text = text.trim();
        let full = if text.contains("://") { text.into() } else { format!("https://{text}") };
        // Every error of a server names its host.
        if let Some(content @ (Sensitive::Pem | Sensitive::Document | Sensitive::Token)) =
            Sensitive::of(text)
        {
            return Err(InvalidValue::Sensitive(content));
        }
        if text.is_empty() {
            return Err(InvalidValue::Empty);
        }
        let parts = full.parse::<Uri>().map_err(|_| InvalidValue::NotUrl)?.into_parts();
        let scheme = parts.scheme.unwrap_or(Scheme::HTTPS);
        if scheme != Scheme::HTTPS && scheme != Scheme::HTTP {
            return Err(InvalidValue::HostScheme);
        }
        let authority = parts.authority.ok_or(InvalidValue::NoHost)?;
        if authority.as_str().contains('@') {
            return Err(InvalidValue::UserInfo);
        }
        if authority.host().is_empty() {
            return Err(InvalidValue::NoHost);
        }
        check_port(&authority)?;
        let path = parts.path_and_query;
        if path.as_ref().is_some_and(|path| path.query().is_some()) {
            return Err(InvalidValue::Query);
        }
        let prefix = path.map(|path| path.path().trim_end_matches('/').to_owned());
        Ok(Self { scheme, authority, prefix: prefix.unwrap_or_default() })
    }
}

/// What follows the name is a port, or nothing that was meant.
pub(crate) fn check_port(authority: &Authority) -> Result<(), InvalidValue> {
    let address = authority.as_str().rsplit('@').next().unwrap_or_default();
    let after = address.get(authority.host().len()..).unwrap_or_default();
    match after.is_empty() || authority.port_u16().is_some_and(|port| port != 0) {
        true => Ok(()),
        false => Err(InvalidValue::Port),
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Tls {
    pub trust: Trust,
    /// The name the server's certificate must carry, where it is not the host's.
    pub server_name: Option<String>,
    pub identity: Option<ClientCertificate>,
}

/// Whose signature makes a server's certificate good.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub enum Trust {
    /// The authorities the operating system trusts.
    #[default]
    System,
    /// One or more certificates, PEM.
    Authorities(String),
    /// `insecure-skip-tls-verify`: the connection is encrypted, to whomever it leads.
    Anyone,
}

/// A client certificate with its key, both PEM.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ClientCertificate {
    pub certificate: String,
    pub key: Secret,
}

/// What is shown beside, or instead of, a client certificate.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Auth {
    None,
    Token(Secret),
    /// Read again now and then: whoever mounts it also renews it. A token may stand in for it
    /// where nothing can be read there.
    TokenFile {
        path: PathBuf,
        otherwise: Option<Secret>,
    },
    Basic {
        username: String,
        password: Secret,
    },
    Exec(Exec),
}

/// A credential plugin. Its arguments and environment may hold secrets, so both are kept as such.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Exec {
    pub api_version: String,
    pub command: String,
    pub args: Vec<Secret>,
    pub env: Vec<(String, Secret)>,
    /// What the kubeconfig says to do when the command is missing.
    pub install_hint: Option<String>,
    /// `spec.cluster` of what the plugin is told, where it asked for it.
    pub cluster: Option<Value>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Impersonation {
    pub user: String,
    pub uid: Option<String>,
    pub groups: Vec<String>,
    pub extra: Vec<(String, String)>,
}

#[cfg(test)]
mod tests;
