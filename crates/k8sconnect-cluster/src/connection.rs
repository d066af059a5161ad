//! What a connection is once it is resolved: where the server is, whom we trust, who we are.
//!
//! Pure values, all text already read: where they came from (a kubeconfig, a provider block) is
//! [`crate::kubeconfig`]'s and the provider's business. Two connections that differ in anything
//! but what they are called have different digests, and so never share a client, a token or a
//! discovery cache.

use std::path::PathBuf;
use std::str::FromStr;

use http::Uri;
use http::uri::{Authority, Scheme};
use k8sconnect_core::scrub::Content;
use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::error::ConnectionError;
use crate::secret::Secret;

/// How to get into one cluster as one user.
#[derive(Clone, Debug, PartialEq)]
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
        let tls = Tls::default();
        Self {
            host,
            tls,
            auth: Auth::None,
            impersonation: None,
            called: None,
            user: None,
            proxy: None,
        }
    }

    /// Whether the server is shown nothing by which it could know the client.
    pub(crate) fn is_anonymous(&self) -> bool {
        self.auth == Auth::None && self.tls.identity.is_none()
    }

    /// Covers every field but what the connection is called: equal digests mean that one client
    /// serves both.
    pub fn digest(&self) -> [u8; 32] {
        // Destructured without `..`, so that a new field cannot be forgotten here.
        let Self { host, tls, auth, impersonation, called: _, user, proxy } = self;
        let Tls { trust, server_name, identity } = tls;
        let mut sum = Sum::default();
        sum.text(&host.to_string());
        match trust {
            Trust::System => sum.tag(0),
            Trust::Authorities(pem) => sum.tag(1).text(pem),
            Trust::Anyone => sum.tag(2),
        };
        sum.maybe(server_name.as_deref());
        match identity {
            None => sum.tag(0),
            Some(Identity { certificate, key }) => sum.tag(1).text(certificate).text(key.expose()),
        };
        auth.add_to(&mut sum);
        match impersonation {
            None => sum.tag(0),
            Some(Impersonation { user, uid, groups, extra }) => {
                sum.tag(1).text(user).maybe(uid.as_deref()).many(groups.iter());
                sum.many(extra.iter().flat_map(|(name, value)| [name, value]))
            }
        };
        sum.maybe(user.as_deref());
        sum.maybe(proxy.as_ref().map(Secret::expose));
        sum.0.finalize().into()
    }
}

/// An API server's address. A path prefix is kept: some servers live behind one.
#[derive(Clone, Debug, PartialEq, Eq)]
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
    type Err = ConnectionError;

    /// Takes `https://host[:port][/prefix]`, and a bare `host[:port]` as https, as kubectl does.
    fn from_str(text: &str) -> Result<Self, ConnectionError> {
        let text = text.trim();
        let full = if text.contains("://") { text.into() } else { format!("https://{text}") };
        let refused = |why: &str| ConnectionError::BadHost { field: "host", why: why.into() };
        // Every error of a server names its host.
        if let Some(content @ (Content::Pem | Content::Document | Content::Token)) =
            Content::of(text)
        {
            return Err(refused(&format!("it looks like {content}, and is not shown")));
        }
        let parts = full.parse::<Uri>().map_err(|_| refused(no_address(text)))?.into_parts();
        let scheme = parts.scheme.unwrap_or(Scheme::HTTPS);
        if scheme != Scheme::HTTPS && scheme != Scheme::HTTP {
            return Err(refused("only `https` and `http` are known"));
        }
        let authority = parts.authority.ok_or_else(|| refused("it names no host"))?;
        if authority.as_str().contains('@') {
            return Err(refused(
                "it carries a user or a password, which belong in their own fields",
            ));
        }
        if authority.host().is_empty() {
            return Err(refused("it names no host"));
        }
        // What follows the name is a port, or nothing that was meant.
        let after = authority.as_str().get(authority.host().len()..).unwrap_or_default();
        if !after.is_empty() && authority.port_u16().is_none_or(|port| port == 0) {
            return Err(refused("its port is not a number from 1 to 65535"));
        }
        let path = parts.path_and_query;
        if path.as_ref().is_some_and(|path| path.query().is_some()) {
            return Err(refused("it carries a query, which no API server address has"));
        }
        let prefix = path.map(|path| path.path().trim_end_matches('/').to_owned());
        Ok(Self { scheme, authority, prefix: prefix.unwrap_or_default() })
    }
}

/// Why a text cannot be an address at all.
fn no_address(text: &str) -> &'static str {
    if text.is_empty() {
        "it is empty"
    } else if text.contains(char::is_whitespace) {
        "it holds a space or a line break"
    } else if text.contains('[') != text.contains(']') {
        "of the brackets around an IPv6 address one is missing"
    } else if text.matches(':').count() > 2 && !text.contains('[') {
        "an IPv6 address stands in brackets, as in `https://[::1]:6443`"
    } else {
        "it is not a URL"
    }
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Tls {
    pub trust: Trust,
    /// The name the server's certificate must carry, where it is not the host's.
    pub server_name: Option<String>,
    pub identity: Option<Identity>,
}

/// Whose signature makes a server's certificate good.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
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
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity {
    pub certificate: String,
    pub key: Secret,
}

/// What is shown beside, or instead of, a client certificate.
#[derive(Clone, Debug, PartialEq)]
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

impl Auth {
    fn add_to(&self, sum: &mut Sum) {
        match self {
            Self::None => sum.tag(0),
            Self::Token(token) => sum.tag(1).text(token.expose()),
            Self::TokenFile { path, otherwise } => sum
                .tag(2)
                .text(&path.to_string_lossy())
                .maybe(otherwise.as_ref().map(Secret::expose)),
            Self::Basic { username, password } => sum.tag(3).text(username).text(password.expose()),
            Self::Exec(exec) => {
                let Exec { api_version, command, args, env, install_hint, cluster } = exec;
                sum.tag(4).text(api_version).text(command).many(args.iter().map(Secret::expose));
                sum.many(env.iter().flat_map(|(name, value)| [name.as_str(), value.expose()]));
                sum.maybe(install_hint.as_deref());
                sum.maybe(cluster.as_ref().map(Value::to_string).as_deref())
            }
        };
    }
}

/// A credential plugin. Its arguments and environment may hold secrets, so both are kept as such.
#[derive(Clone, Debug, PartialEq)]
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

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Impersonation {
    pub user: String,
    pub uid: Option<String>,
    pub groups: Vec<String>,
    pub extra: Vec<(String, String)>,
}

/// A digest of parts that keeps `("ab", "c")` and `("a", "bc")` apart.
#[derive(Default)]
struct Sum(Sha256);

impl Sum {
    fn tag(&mut self, tag: u8) -> &mut Self {
        self.0.update([tag]);
        self
    }

    fn text(&mut self, text: &str) -> &mut Self {
        self.0.update((text.len() as u64).to_be_bytes());
        self.0.update(text);
        self
    }

    fn maybe(&mut self, text: Option<&str>) -> &mut Self {
        match text {
            None => self.tag(0),
            Some(text) => self.tag(1).text(text),
        }
    }

    fn many(&mut self, texts: impl Iterator<Item = impl AsRef<str>>) -> &mut Self {
        for text in texts {
            self.tag(1).text(text.as_ref());
        }
        self.tag(0)
    }
}

#[cfg(test)]
mod tests;
