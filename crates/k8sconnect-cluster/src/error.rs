//! What kept a question from being answered, in words for whoever has to mend it.
//!
//! Each error can be told in three parts: what happened, why, and what to do. The host is always
//! named; a credential, a header or a body never is. Failures below HTTP are told apart by the
//! types in the error chain, not by their texts.

use std::fmt;
use std::time::Duration;

use k8sconnect_core::rejection::Status;
use k8sconnect_core::scrub::quoted;

pub use self::connection::ConnectionError;
pub use self::flaws::Flaws;
pub use self::trouble::{Proxy, ProxyOrigin, Trouble};

mod connection;
mod flaws;
mod trouble;

/// The server that an error is about: its address, and what whoever described it calls it, where
/// there are several.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Server {
    pub host: String,
    pub called: Option<String>,
}

impl fmt::Display for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.called {
            Some(called) => write!(f, "`{}` (`{called}`)", self.host),
            None => write!(f, "`{}`", self.host),
        }
    }
}

impl From<&str> for Server {
    fn from(host: &str) -> Self {
        Self { host: host.to_owned(), called: None }
    }
}

#[derive(Clone, Debug)]
pub enum Error {
    /// The server understood and said no.
    Refused(Box<Status>),
    /// The server does not know who we are; new credentials have already been tried for, where
    /// there is a way to get some: by a plugin, for one.
    Unauthorized { host: Server, plugin: Option<String>, status: Box<Status> },
    /// The server would have to know who we are, and was shown nothing.
    Anonymous { host: Server, user: Option<String>, status: Box<Status> },
    /// The server was shown a login and took us for nobody all the same.
    LoginIgnored { host: Server, status: Box<Status> },
    /// Asked again and again, and put off each time; maybe with a word on for how long.
    NotReady {
        host: Server,
        status: Box<Status>,
        attempts: u32,
        waited: Duration,
        asked: Option<Duration>,
    },
    /// Nothing could be asked.
    Unreachable { host: Server, trouble: Trouble, attempts: u32 },
    /// A write was sent, and what became of it was not heard.
    AnswerLost { host: Server, request: String, trouble: Trouble, attempts: u32 },
    /// Asked, and no answer in time.
    Timeout { host: Server, request: String, waited: Duration },
    /// The user asked to stop before there was an answer to go by.
    Interrupted { host: Server, request: String, attempts: u32 },
    /// The server sends more than any API server does; nothing was read beyond the limit.
    TooMuch { host: Server, request: String, excess: Excess },
    /// The request was to create an object and nothing else, and the server changed one that exists.
    NotCreated { host: Server, request: String, code: u16 },
    /// An answer that no API server gives.
    BadAnswer { host: Server, request: String, why: String },
    /// A name that cannot stand in a URL.
    BadName { name: String },
    /// The connection is not one.
    Connection(ConnectionError),
}

/// What a server sent without an end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Excess {
    /// One answer. Limits are in bytes.
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
            | Self::LoginIgnored { status, .. }
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
            | Self::LoginIgnored { .. }
            | Self::Unreachable { .. }
            | Self::NotCreated { .. }
            | Self::BadName { .. }
            | Self::Connection(_) => false,
        }
    }

    pub fn what(&self) -> String {
        match self {
            Self::Refused(status) => match status.leaves_open() {
                true => format!("The API server failed (HTTP {})", status.code),
                false => format!("The API server refused (HTTP {})", status.code),
            },
            Self::Unauthorized { host, .. } => {
                format!("The API server at {host} does not accept the credentials (HTTP 401)")
            }
            Self::Anonymous { host, status, .. } => format!(
                "The API server at {host} does not let in whoever shows no credentials (HTTP {})",
                status.code
            ),
            Self::LoginIgnored { host, .. } => {
                format!("The API server at {host} did not accept the login (HTTP 403)")
            }
            Self::NotReady { host, status, .. } => {
                format!("The API server at {host} is not ready (HTTP {})", status.code)
            }
            Self::AnswerLost { host, .. } => {
                format!("The API server at {host} was asked, and its answer was lost")
            }
            Self::Unreachable { host, .. } => format!("Cannot reach the API server at {host}"),
            Self::Timeout { host, .. } => {
                format!("The API server at {host} did not answer in time")
            }
            Self::Interrupted { host, .. } => {
                format!("Interrupted while the API server at {host} was asked")
            }
            Self::TooMuch { host, excess, .. } => {
                format!("The API server at {host} sent {}", excess.what())
            }
            Self::NotCreated { host, code, .. } => format!(
                "The API server at {host} changed an object instead of creating one (HTTP {code})"
            ),
            Self::BadAnswer { host, .. } => {
                format!("{host} does not answer like a Kubernetes API server")
            }
            Self::BadName { name } => format!("`{name}` cannot be the name of an object"),
            Self::Connection(error) => error.what(),
        }
    }

    pub fn why(&self) -> String {
        match self {
            Self::Refused(status) => server_said(status),
            Self::Unauthorized { plugin: None, status, .. } => server_said(status),
            Self::Unauthorized { plugin: Some(plugin), status, .. } => format!(
                "{} The credentials come from the plugin {}, which was run again in vain.",
                sentence(server_said(status)),
                quoted(plugin)
            ),
            Self::Anonymous { user, status, .. } => {
                let nobody = match user {
                    Some(user) => {
                        let user = quoted(user);
                        format!("No credentials were sent: user {user} in the kubeconfig has none.")
                    }
                    None => {
                        "No credentials were sent: the context in the kubeconfig names no user."
                            .to_owned()
                    }
                };
                format!("{nobody} {}", sentence(server_said(status)))
            }
            Self::LoginIgnored { status, .. } => format!(
                "Credentials were sent, and the server took you for somebody without any. {}",
                sentence(server_said(status))
            ),
            Self::NotReady { status, attempts, waited, asked, .. } => {
                let mut why = sentence(server_said(status));
                if *attempts > 1 {
                    let waited = waited.as_secs_f64();
                    why += &format!(" It was tried {attempts} times in {waited:.0} seconds.");
                }
                if let Some(asked) = asked {
                    let asked = asked.as_secs();
                    why += &format!(" It asks to be left alone for {asked} seconds.");
                }
                why
            }
            Self::Unreachable { trouble, attempts, .. } => tried(&trouble.why(), *attempts),
            Self::AnswerLost { request, trouble, attempts, .. } => {
                format!("`{request}` was sent. {}", tried(&trouble.why(), *attempts))
            }
            Self::Timeout { request, waited, .. } => {
                format!("`{request}` was given {:.0} seconds.", waited.as_secs_f64())
            }
            Self::Interrupted { request, attempts, .. } => match attempts {
                0 => format!("`{request}` was not sent any more."),
                1 => format!("`{request}` had brought no answer to go by."),
                many => format!("`{request}` was tried {many} times, and is not tried again."),
            },
            Self::TooMuch { request, excess, .. } => excess.why(request),
            Self::NotCreated { request, .. } => format!(
                "`{request}` asked for a new object, with a condition that an API server refuses where \
                 an object exists. This server ignored the condition."
            ),
            Self::BadAnswer { request, why, .. } => format!("`{request}` was answered with {why}."),
            Self::BadName { .. } => "It would lead to another address than the object's.".into(),
            Self::Connection(error) => error.why(),
        }
    }

    pub fn advice(&self) -> String {
        match self {
            Self::NotReady { status, .. } if status.code == 500 => {
                "The store behind the server changes its leader; run again later.".into()
            }
            Self::Refused(status) | Self::NotReady { status, .. } => match status.code {
                403 => "Ask for the permission that the message names, or use other credentials.",
                429 => "The server is overloaded; run again later.",
                502..=504 => "The server, or a proxy before it, is not ready; run again later.",
                500.. if status.leaves_open() => "The server failed; run again later.",
                _ => "Change what the message names.",
            }
            .into(),
            Self::Unauthorized { plugin: Some(plugin), .. } => format!(
                "Run {} by hand: check that its login has not expired, and that it is for this \
                 cluster.",
                quoted(plugin)
            ),
            Self::Unauthorized { .. } => "Check that the token or client certificate belongs to \
                this cluster and has not expired, or fetch a new one."
                .into(),
            Self::Anonymous { .. } => "Give the user in the kubeconfig a `token`, a \
                `client-certificate` with its `client-key`, or an `exec` plugin; or choose a \
                context whose user has one."
                .into(),
            Self::LoginIgnored { .. } => "Kubernetes knows no `username` and `password` any more: \
                give a `token`, a `client-certificate` with its `client-key`, or an `exec` plugin. A \
                client certificate does not get past a proxy that ends TLS itself."
                .into(),
            Self::Unreachable { trouble, .. } | Self::AnswerLost { trouble, .. } => {
                trouble.advice()
            }
            Self::Timeout { .. } => "Check that the server is healthy and that nothing between \
                holds the request back, an admission webhook included."
                .into(),
            Self::Interrupted { .. } => "Run again when the server answers.".into(),
            Self::TooMuch { excess: Excess::List { .. }, .. } => {
                "Ask for fewer objects, by namespace, labels or fields. If the kind has few objects, \
                 check what answers at this host."
                    .into()
            }
            Self::TooMuch { .. } => "Check the host, its port and its path, and every proxy on the \
                way: what answers there is not a healthy API server."
                .into(),
            Self::NotCreated { .. } => "Compare the object with what it should be, and check which \
                server serves its group: an aggregated API has its own."
                .into(),
            Self::BadAnswer { .. } => "Check the host, its port and its path: a login page or a \
                proxy often answers in the server's place."
                .into(),
            Self::BadName { .. } => {
                "Give the object a name of its own, without `/` and `%`.".into()
            }
            Self::Connection(error) => error.advice(),
        }
    }
}

impl Excess {
    fn what(self) -> String {
        match self {
            Self::Answer { limit } => format!("an answer of more than {}", mebibytes(limit)),
            Self::List { limit } => format!("a list of more than {}", mebibytes(limit)),
            Self::Pages { limit } => format!("a list of more than {limit} pages"),
            Self::Circle => "a list that has no end".to_owned(),
            Self::Event { limit } => format!("a watch event of more than {}", mebibytes(limit)),
        }
    }

    fn why(self, request: &str) -> String {
        match self {
            Self::Answer { .. } => {
                format!("The answer to `{request}` was not read beyond this limit.")
            }
            Self::List { .. } | Self::Pages { .. } => {
                format!("The provider stopped asking for further pages of `{request}`.")
            }
            Self::Circle => {
                format!("A page of `{request}` has the `continue` token of an earlier page.")
            }
            Self::Event { .. } => format!("The watch `{request}` was not read beyond this limit."),
        }
    }
}

fn mebibytes(bytes: usize) -> String {
    format!("{} MiB", bytes >> 20)
}

fn tried(why: &str, attempts: u32) -> String {
    match attempts {
        0 | 1 => why.to_owned(),
        many => format!("{why} It was tried {many} times."),
    }
}

fn sentence(mut words: String) -> String {
    if !words.ends_with('.') {
        words.push('.');
    }
    words
}

fn server_said(status: &Status) -> String {
    if status.message.is_empty() {
        return "The server gave no reason.".into();
    }
    format!("The server said: {}", status.message)
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}\n{}\n{}", self.what(), self.why(), self.advice())
    }
}

impl std::error::Error for Error {}

impl From<ConnectionError> for Error {
    fn from(error: ConnectionError) -> Self {
        Self::Connection(error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_says_what_why_and_what_to_do() {
        let error = Error::Unreachable {
            host: "https://k.example:6443".into(),
            trouble: Trouble::Refused,
            attempts: 3,
        };
        let lines = error.to_string();
        let lines = lines.lines().collect::<Vec<_>>();
        assert_eq!(lines[0], "Cannot reach the API server at `https://k.example:6443`");
        assert!(lines[1].contains("refused") && lines[1].contains("3 times"), "{lines:?}");
        assert!(lines[2].contains("Check the port"), "{lines:?}");
    }

    #[test]
    fn a_server_that_puts_us_off_is_told_with_how_long_it_did() {
        let status = Status { code: 503, message: "shutting down".into(), ..Status::default() };
        let error = Error::NotReady {
            host: "https://k.example".into(),
            status: Box::new(status),
            attempts: 7,
            waited: Duration::from_secs(29),
            asked: Some(Duration::from_secs(3600)),
        };
        assert_eq!(error.code(), Some(503));
        assert_eq!(
            error.why(),
            "The server said: shutting down. It was tried 7 times in 29 seconds. It asks to be \
             left alone for 3600 seconds."
        );
    }

    #[test]
    fn a_refusal_quotes_the_server() {
        let status = Status { code: 403, message: "pods is forbidden".into(), ..Status::default() };
        let error = Error::Refused(Box::new(status));
        assert_eq!(error.code(), Some(403));
        assert!(error.to_string().contains("The server said: pods is forbidden"), "{error}");
    }
}
