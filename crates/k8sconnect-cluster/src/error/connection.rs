//! What is wrong with a connection before any server is asked.
//!
//! Fields are named as a kubeconfig or the environment spells them, or as the caller does. The value
//! of a field is never part of an error: it may be a credential, also where it should not be. A path,
//! a name or a command is; whoever shows one looks first whether it is a credential by mistake.

use std::process::ExitStatus;
use std::time::Duration;

use k8sconnect_core::scrub::Sensitive;
use k8sconnect_core::yaml::Position;

use crate::file::Unreadable;

/// `field`: where it is. `files`: those that were read as one kubeconfig, where they are several.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ConnectionError {
    /// A value that cannot be used.
    Value { field: &'static str, problem: InvalidValue },
    /// Half of a pair.
    Alone { field: &'static str, lacks: &'static str },
    /// The legacy login of a cloud, gone from Kubernetes since 1.26.
    AuthProvider { name: String },
    /// A relative path in a text that has no folder of its own.
    RelativePath { field: &'static str, path: String },
    /// The content of a file, or something else, where its path belongs.
    ContentForPath { field: &'static str, content: Sensitive },
    /// A file that cannot be read.
    UnreadableFile { field: &'static str, path: String, cause: Unreadable },
    /// None of several files exists.
    NoFiles { field: &'static str, paths: Vec<String> },
    /// The file, where it was given as one.
    Kubeconfig { file: Option<String>, problem: KubeconfigError },
    /// No context is named, and none is current.
    NoContextChosen { contexts: Vec<String>, files: Vec<String> },
    /// The kubeconfig has no context of this name.
    UnknownContext { name: String, contexts: Vec<String>, files: Vec<String> },
    /// A context without a `cluster`.
    NoCluster { context: String },
    /// The context names an entry that does not exist.
    Missing { what: &'static str, name: String },
    /// Something in an entry of a kubeconfig, and its file where it was given as one.
    Entry { what: &'static str, name: String, file: Option<String>, error: Box<Self> },
    /// The credential plugin did not bring a credential.
    Plugin { command: String, problem: PluginError },
}

/// Why a value cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum InvalidValue {
    Empty,
    /// It looks like a credential, and errors would show it.
    Sensitive(Sensitive),
    NotUrl,
    /// A URL without a host.
    NoHost,
    /// The scheme of a server's address.
    HostScheme,
    ProxyScheme,
    Port,
    /// A user or a password in the address.
    UserInfo,
    Query,
    /// Neither a DNS name nor an IP address.
    ServerName,
    /// Not base64 of PEM.
    NotBase64,
    /// Neither PEM nor base64 of PEM.
    NotPem,
    /// PEM without a certificate, and the label that it has instead.
    NotCertificate(Option<String>),
    NotPrivateKey(Option<String>),
    /// The key belongs to another certificate.
    OtherKey,
    /// `insecure-skip-tls-verify` beside an authority.
    InsecureWithAuthority,
    /// A character that no HTTP header can have.
    Header,
    /// A NUL character, which no program can be given.
    Nul,
    /// Not the name of an environment variable: empty, or with `=`.
    VariableName,
    PluginVersion,
    /// The plugin asks at a terminal, and there is none.
    NeedsTerminal,
    /// None is given, and the machine's own authorities cannot be read.
    NoAuthorities(String),
    /// In the words of the TLS library.
    Tls(String),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum KubeconfigError {
    /// There is nothing in it.
    Empty,
    /// Not YAML from this place on.
    NotYaml(Position),
    /// More than one YAML document.
    SeveralDocuments(usize),
    /// A list, or a bare text.
    NotAMap,
    /// A path in place of the text.
    Path,
    /// A kubeconfig in base64.
    Base64,
    /// A list, or an entry of it, that cannot be read.
    Shape { list: &'static str, entry: Option<String> },
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PluginError {
    /// With the kubeconfig's hint how to install it.
    NotFound { hint: Option<String> },
    /// It could not be started.
    Unrunnable(String),
    /// What it wrote to stderr is without the secrets that it was given.
    TimedOut { after: Duration, stderr: String },
    /// The user asked to stop.
    Interrupted,
    /// It ended with another status than success.
    Failed { status: ExitStatus, stderr: String },
    /// It printed something else than an `ExecCredential` of this version.
    NotExecCredential { api_version: String },
    /// Neither a token nor a client certificate with its key.
    NoCredential,
    /// Its `expirationTimestamp` is not a time.
    Expiration,
    /// The token or the certificate that it printed cannot be used.
    Value(Box<ConnectionError>),
}

impl InvalidValue {
    pub(crate) fn of(self, field: &'static str) -> ConnectionError {
        ConnectionError::Value { field, problem: self }
    }
}
