//! What kept a question from being answered, as data: the kind of failure, where it is, and its cause.
//!
//! There is no sentence here; the provider words each kind. A credential, a header or a body is never
//! part of an error. Failures below HTTP are recognized by the types in the error chain, not by texts.

use std::time::Duration;

use k8sconnect_core::rejection::Status;

pub use self::connection::{ConnectionError, InvalidValue, KubeconfigError, PluginError};
pub(crate) use self::network::Known;
pub use self::network::{NetworkError, Proxy, TlsError};

mod connection;
mod network;

/// The server that an error is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Server {
    pub host: String,
    /// Its name in the configuration, where that has several.
    pub called: Option<String>,
}

impl From<&str> for Server {
    fn from(host: &str) -> Self {
        Self { host: host.to_owned(), called: None }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Error {
    /// The server understood and said no.
    Refused(Box<Status>),
    /// The server does not accept the credentials. Where a plugin or a file brings them, new ones were
    /// tried too.
    Unauthorized { host: Server, plugin: Option<String>, status: Box<Status> },
    /// The server requires credentials, and none were sent.
    Anonymous { host: Server, user: Option<String>, status: Box<Status> },
    /// Credentials were sent, and the server treated the request as anonymous.
    CredentialsIgnored { host: Server, status: Box<Status> },
    /// The server put the request off each time, maybe for a time that it asked for.
    NotReady {
        host: Server,
        status: Box<Status>,
        attempts: u32,
        waited: Duration,
        asked: Option<Duration>,
    },
    /// The request did not reach the server.
    Unreachable { host: Server, cause: NetworkError, attempts: u32 },
    /// A write was sent, and its answer was lost.
    AnswerLost { host: Server, request: String, cause: NetworkError, attempts: u32 },
    /// Sent, and not answered in time.
    Timeout { host: Server, request: String, waited: Duration },
    /// The user asked to stop first.
    Interrupted { host: Server, request: String, attempts: u32 },
    /// The server sends more than any API server does; nothing was read beyond the limit.
    TooMuch { host: Server, request: String, excess: Excess },
    /// The request was to create an object and nothing else, and the server changed one that exists.
    NotCreated { host: Server, request: String, code: u16 },
    /// An answer that no API server gives.
    BadAnswer { host: Server, request: String, answer: BadAnswer },
    /// A name that cannot stand in a URL.
    BadName { name: String },
    /// The connection is not one.
    Connection(ConnectionError),
}

/// What a server sent without an end. Limits are in bytes, or in pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Excess {
    Answer {
        limit: usize,
    },
    /// All pages of a list.
    List {
        limit: usize,
    },
    Pages {
        limit: usize,
    },
    /// A page that leads back to an earlier one.
    Circle,
    /// One event of a watch.
    Event {
        limit: usize,
    },
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BadAnswer {
    /// A redirect, a proxy's status, or a 404 where every API server has something.
    Status(u16),
    /// No JSON, or JSON that is not what was asked for: with the parser's words.
    Json(String),
    /// JSON that lacks what it must have, or a stream in its place.
    Shape,
    /// None: the request could not be built.
    NotSent(String),
}

impl Error {
    /// Whether the user asked to stop.
    pub fn is_interrupt(&self) -> bool {
        matches!(self, Self::Interrupted { .. })
    }

    /// The HTTP status where the server gave one.
    pub fn code(&self) -> Option<u16> {
        match self {
            Self::Refused(status)
            | Self::Unauthorized { status, .. }
            | Self::Anonymous { status, .. }
            | Self::CredentialsIgnored { status, .. }
            | Self::NotReady { status, .. } => Some(status.code),
            _ => None,
        }
    }

    /// Whether a write that ended so may have been carried out all the same.
    pub fn may_be_done(&self) -> bool {
        match self {
            Self::AnswerLost { .. }
            | Self::Timeout { .. }
            | Self::TooMuch { .. }
            | Self::BadAnswer { .. } => true,
            Self::Interrupted { attempts, .. } => *attempts > 0,
            Self::NotReady { status, .. } => status.code != 429,
            Self::Refused(status) => status.leaves_open(),
            Self::Unauthorized { .. }
            | Self::Anonymous { .. }
            | Self::CredentialsIgnored { .. }
            | Self::Unreachable { .. }
            | Self::NotCreated { .. }
            | Self::BadName { .. }
            | Self::Connection(_) => false,
        }
    }
}

impl From<ConnectionError> for Error {
    fn from(error: ConnectionError) -> Self {
        Self::Connection(error)
    }
}
