//! What the proxy remembers of a request. Not what came of it: that is in the audit log of
//! the server, or in the rule's tally.

use http::Method;
use http::request::Parts;

use crate::audit::Persistence;

/// One request, as it arrived.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recorded {
    /// From 1, over all requests of a proxy.
    pub sequence: u64,
    pub method: Method,
    pub path: String,
    pub query: String,
}

impl Recorded {
    pub(super) fn of(parts: &Parts) -> Self {
        Self {
            sequence: 0,
            method: parts.method.clone(),
            path: parts.uri.path().to_owned(),
            query: parts.uri.query().unwrap_or_default().to_owned(),
        }
    }

    pub fn persistence(&self) -> Persistence {
        if self.has_parameter("dryRun", "All") { Persistence::DryRun } else { Persistence::Real }
    }

    pub fn is_watch(&self) -> bool {
        ["true", "1"].iter().any(|value| self.has_parameter("watch", value))
    }

    /// In short, as the audit log's requests are, for asserting on a whole list:
    /// `patch (dry-run)`.
    pub fn in_short(&self) -> String {
        let verb = match self.method {
            Method::GET if self.is_watch() => "watch".to_owned(),
            _ => self.method.as_str().to_lowercase(),
        };
        match self.persistence() {
            Persistence::DryRun => format!("{verb} (dry-run)"),
            Persistence::Real => verb,
        }
    }

    fn has_parameter(&self, name: &str, value: &str) -> bool {
        self.query.split('&').any(|pair| pair.split_once('=') == Some((name, value)))
    }
}
