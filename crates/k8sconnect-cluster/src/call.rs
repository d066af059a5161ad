//! One request and one reply, before either means anything.
//!
//! The verbs (`objects`, `changes`, `list`) build their requests here. Both types are public, so that
//! tests can send what no verb sends, through the same client, credentials and retries.

use std::time::Duration;

use bytes::Bytes;
use http::Method;
use k8sconnect_core::rejection::Status;
use serde_json::{Value, json};

use crate::address::{Location, segment};
use crate::error::Error;

#[derive(Clone, Debug)]
pub struct Call {
    pub method: Method,
    /// Begins with a slash, already encoded, below the host's own prefix.
    pub path: String,
    pub query: Vec<(&'static str, String)>,
    pub accept: &'static str,
    pub body: Option<(Content, Value)>,
    pub repeat: Repeat,
    /// How many bytes the answer may have.
    pub largest: usize,
}

/// What happens if the server carries a request out twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Repeat {
    /// Nothing: a read, an apply, a write bound to a uid or a version.
    Harmless,
    /// Something else than once: repeated only when the server cannot have begun.
    OnlyIfUnsent,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Persistence {
    DryRun,
    Write,
}

/// An API server takes no body of more than 3 MiB, so that no object comes near this. Ten answers at
/// once, as many as Terraform asks for, must not cost too much memory.
pub(crate) const LARGEST_ANSWER: usize = 8 << 20;

impl Call {
    pub fn get(path: impl Into<String>) -> Self {
        Self {
            method: Method::GET,
            path: path.into(),
            query: Vec::new(),
            accept: "application/json",
            body: None,
            repeat: Repeat::Harmless,
            largest: LARGEST_ANSWER,
        }
    }

    /// Everything but a GET is taken for something that must not happen twice, until told so.
    pub fn new(method: Method, path: impl Into<String>) -> Self {
        let repeat = if method == Method::GET { Repeat::Harmless } else { Repeat::OnlyIfUnsent };
        Self { method, repeat, ..Self::get(path) }
    }

    /// A PATCH that does no harm when it happens twice.
    pub(crate) fn patch(at: &Location, content: Content, body: Value) -> Result<Self, Error> {
        let call = Self::new(Method::PATCH, at.address()?).body(content, body);
        Ok(Self { repeat: Repeat::Harmless, ..call })
    }

    /// A JSON patch of the object with this uid and no other. With a `resourceVersion` in `metadata`,
    /// a write in between is a conflict.
    pub(crate) fn json_patch(
        at: &Location,
        uid: &Value,
        operations: impl IntoIterator<Item = Value>,
        version: Option<&Value>,
    ) -> Result<Self, Error> {
        let mut patch = vec![json!({"op": "test", "path": "/metadata/uid", "value": uid})];
        patch.extend(operations);
        patch.extend(version.map(|version| {
            json!({"op": "replace", "path": "/metadata/resourceVersion", "value": version})
        }));
        Self::patch(at, Content::JsonPatch, patch.into())
    }

    pub(crate) fn persistence(self, persistence: Persistence) -> Self {
        match persistence {
            Persistence::DryRun => self.query("dryRun", "All"),
            Persistence::Write => self,
        }
    }

    #[must_use]
    pub fn query(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.query.push((name, value.into()));
        self
    }

    #[must_use]
    pub fn body(mut self, content: Content, body: Value) -> Self {
        self.body = Some((content, body));
        self
    }

    /// Whether the cluster is another one afterwards.
    pub(crate) fn is_write(&self) -> bool {
        self.method != Method::GET && !self.query.iter().any(|(name, _)| *name == "dryRun")
    }

    /// Whether a success is a stream, to be handed over unread.
    pub(crate) fn is_watch(&self) -> bool {
        self.query.iter().any(|(name, _)| *name == "watch")
    }

    pub(crate) fn path_and_query(&self) -> String {
        let pairs = self.query.iter().map(|(name, value)| format!("{name}={}", segment(value)));
        let query = pairs.collect::<Vec<_>>().join("&");
        if query.is_empty() { self.path.clone() } else { format!("{}?{query}", self.path) }
    }

    /// How the request is named in errors and logs. Of the query only what changes its meaning
    /// and cannot be a user's data.
    pub(crate) fn label(&self) -> String {
        let told = self.query.iter().filter(|(name, _)| matches!(*name, "dryRun" | "fieldManager"));
        let told = told.map(|(name, value)| format!(" {name}={value}")).collect::<String>();
        format!("{} {}{told}", self.method, self.path)
    }
}

/// What a body is. A patch type is part of the meaning of a PATCH.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Content {
    Json,
    /// Server-side apply. JSON is YAML when it is written with care, so the body stays JSON.
    Apply,
    JsonPatch,
    MergePatch,
}

impl Content {
    pub(crate) fn media_type(self) -> &'static str {
        match self {
            Self::Json => "application/json",
            Self::Apply => "application/apply-patch+yaml",
            Self::JsonPatch => "application/json-patch+json",
            Self::MergePatch => "application/merge-patch+json",
        }
    }
}

/// What came back, whatever the status.
#[derive(Clone, Debug)]
pub struct Reply {
    pub status: u16,
    pub warnings: Vec<String>,
    pub body: Bytes,
    /// How long the server asks to be left alone.
    pub(crate) retry_after: Option<Duration>,
}

impl Reply {
    pub fn is_success(&self) -> bool {
        (200..300).contains(&self.status)
    }

    /// Whether the server, or a proxy before it, puts the request off: it may answer it later.
    pub(crate) fn puts_off(&self) -> bool {
        matches!(self.status, 429 | 502..=504) || self.lost_its_leader()
    }

    /// Whether it is what a server in Go answers to plain HTTP on its TLS port.
    pub(crate) fn wants_tls(&self) -> bool {
        const WORDS: &[u8] = b"Client sent an HTTP request to an HTTPS server";
        self.status == 400 && self.body.starts_with(WORDS)
    }

    /// Whether etcd changed its leader while the server asked it. The server answers a 500 then, as to
    /// much else, and nothing but the text tells which.
    fn lost_its_leader(&self) -> bool {
        const WORDS: [&str; 3] = [
            "etcdserver: leader changed",
            "etcdserver: no leader",
            "etcdserver: request timed out, possibly due to previous leader failure",
        ];
        self.status == 500 && {
            let message = self.refusal().message;
            WORDS.iter().any(|words| message.ends_with(words))
        }
    }

    /// The server's `Status`, or one made of an answer that is none: a proxy's page, or the plain-text
    /// 404 of a path that nobody serves.
    pub fn refusal(&self) -> Status {
        let status = serde_json::from_slice::<Value>(&self.body).ok().and_then(|mut body| {
            drop_nulls(&mut body);
            if body["kind"] == "Status" { serde_json::from_value(body).ok() } else { None }
        });
        let mut status: Status = status.unwrap_or_else(|| {
            let text = String::from_utf8_lossy(&self.body);
            let message = text.trim().chars().take(LONGEST_QUOTE).collect();
            Status { message, ..Status::default() }
        });
        if status.code == 0 {
            status.code = self.status;
        }
        status
    }
}

const LONGEST_QUOTE: usize = 500;

/// Some servers write `"details": null` where others leave the field out.
fn drop_nulls(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            fields.retain(|_, value| !value.is_null());
            fields.values_mut().for_each(drop_nulls);
        }
        Value::Array(items) => items.iter_mut().for_each(drop_nulls),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reply(status: u16, body: &str) -> Reply {
        Reply {
            status,
            warnings: Vec::new(),
            body: Bytes::copy_from_slice(body.as_bytes()),
            retry_after: None,
        }
    }

    #[test]
    fn a_status_is_read_with_its_causes() {
        let status = reply(
            422,
            r#"{"kind":"Status","status":"Failure","message":"no","reason":"Invalid","code":422,
                "details":{"name":"web","kind":"Deployment","group":"apps","causes":
                [{"reason":"FieldValueInvalid","message":"field is immutable","field":"spec.selector"}]}}"#,
        )
        .refusal();
        assert_eq!((status.code, status.reason.as_str()), (422, "Invalid"));
        assert_eq!(status.details.causes[0].field, "spec.selector");
    }

    #[test]
    fn a_status_with_nulls_is_still_a_status() {
        let status = reply(
            403,
            r#"{"kind":"Status","metadata":{},"message":"no","reason":"Forbidden","details":null}"#,
        )
        .refusal();
        assert_eq!((status.code, status.reason.as_str()), (403, "Forbidden"));
    }

    #[test]
    fn a_leader_change_is_told_from_other_500s() {
        let said = |message: &str| {
            let body = serde_json::json!({"kind": "Status", "code": 500, "message": message});
            reply(500, &body.to_string()).lost_its_leader()
        };
        assert!(said("etcdserver: leader changed"));
        assert!(!said("failed to create typed patch object: .spec.etcdserver: leader changed?"));
        assert!(!said("Internal error occurred: failed calling webhook \"x\""));
    }

    #[test]
    fn plain_text_keeps_its_words_and_its_code() {
        let status = reply(404, "404 page not found\n").refusal();
        assert_eq!((status.code, status.message.as_str()), (404, "404 page not found"));
        assert_eq!(status.reason, "");
    }

    #[test]
    fn a_label_tells_no_selector() {
        let call = Call::get("/api/v1/pods")
            .query("labelSelector", "customer=acme")
            .query("dryRun", "All");
        assert_eq!(call.label(), "GET /api/v1/pods dryRun=All");
        assert_eq!(call.path_and_query(), "/api/v1/pods?labelSelector=customer%3Dacme&dryRun=All");
    }
}
