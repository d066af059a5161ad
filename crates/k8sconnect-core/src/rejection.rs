//! What the API server meant by a refusal.
//!
//! A refusal is classified once, here, by status code, reason and causes. The server's words are
//! kept to be quoted, never matched: immutable fields alone are refused in half a dozen wordings.
//! The one exception is the marker of a typed-patch error, which comes as a bare 500 and would
//! otherwise be taken for the server's fault instead of a typo of the user's.

use serde::{Deserialize, Serialize};

/// A `Status` object (`metav1.Status`), or what could be made of an answer that was none.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Status {
    pub code: u16,
    pub reason: String,
    pub message: String,
    pub details: Details,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct Details {
    pub name: String,
    pub group: String,
    pub kind: String,
    pub causes: Vec<Cause>,
    pub retry_after_seconds: u32,
}

/// One of the reasons the server gives, bound to a field where it knows one.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Cause {
    pub reason: String,
    pub message: String,
    pub field: String,
}

/// What a refusal means for the one who asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Rejection {
    /// The object is there already, or changed since it was read.
    Conflict,
    /// The name is another object's now than the one that was meant.
    AnotherObject,
    /// Fields that other managers hold, and that were not to be taken by force.
    FieldConflicts(Vec<Cause>),
    /// The namespace that the object is to live in does not exist.
    NamespaceMissing,
    /// The namespace is being deleted, and nothing is made in it any more.
    NamespaceGoing,
    NotFound,
    Unauthorized,
    Forbidden,
    /// Values that the server's validation refuses. Causes that a webhook passed through, and
    /// those of a policy, bear no field.
    Invalid(Vec<Cause>),
    /// The body does not fit the schema: an unknown field, a wrong type, a duplicate item.
    SchemaMismatch,
    /// A webhook had to be asked and did not answer.
    WebhookUnreachable,
    Other,
}

/// How the server begins when a body does not fit its schema. It answers 500 then, or 400 with
/// strict validation of custom resources; no reason or cause tells it apart.
const TYPED_PATCH: &str = "failed to create typed patch object";
const STRICT_DECODING: &str = "strict decoding error";
/// A value that the schema allows and the kind has no room for, such as a fraction in an integer.
const CONVERSION: &str = "unable to convert unstructured object";
const DECODING: &str = "json: cannot unmarshal";
const MISFITS: [&str; 4] = [TYPED_PATCH, STRICT_DECODING, CONVERSION, DECODING];
/// The cause that a 403 bears where no permission is missing.
const NAMESPACE_GOING: &str = "NamespaceTerminating";
const WEBHOOK: &str = "failed calling webhook";

impl Status {
    /// Whether it is for what the kind's schema or validation says of the body.
    pub fn blames_the_body(&self) -> bool {
        matches!(self.rejection(), Rejection::SchemaMismatch | Rejection::Invalid(_))
    }

    /// Whether the server failed instead of saying no: a write that is answered so may have been
    /// carried out all the same, as when the store behind the server took too long to say so. What
    /// a schema or a webhook keeps out never gets as far as the store.
    pub fn leaves_open(&self) -> bool {
        self.code >= 500 && self.rejection() == Rejection::Other
    }

    /// Whether this says nothing of what was asked: the server failed, or a webhook did not answer it.
    pub fn tells_nothing(&self) -> bool {
        self.leaves_open() || self.rejection() == Rejection::WebhookUnreachable
    }

    /// The webhook that did not answer, by its name.
    pub fn silent_webhook(&self) -> Option<&str> {
        let (_, named) = self.message.split_once(WEBHOOK)?;
        named.split('"').nth(1).filter(|name| !name.is_empty())
    }

    pub fn rejection(&self) -> Rejection {
        match self.code {
            401 => Rejection::Unauthorized,
            403 if self.is_caused_by(NAMESPACE_GOING) => Rejection::NamespaceGoing,
            403 => Rejection::Forbidden,
            404 if self.details.kind == "namespaces" => Rejection::NamespaceMissing,
            404 => Rejection::NotFound,
            409 => {
                let held: Vec<_> = self
                    .details
                    .causes
                    .iter()
                    .filter(|cause| cause.reason == "FieldManagerConflict")
                    .cloned()
                    .collect();
                if held.is_empty() { Rejection::Conflict } else { Rejection::FieldConflicts(held) }
            }
            // What is sent names the object by its uid, which no object ever changes.
            422 if self.details.causes.iter().any(|cause| cause.field == "metadata.uid") => {
                Rejection::AnotherObject
            }
            422 => Rejection::Invalid(self.details.causes.clone()),
            400 | 500 if MISFITS.iter().any(|words| self.says(words)) => Rejection::SchemaMismatch,
            500 if self.says(WEBHOOK) => Rejection::WebhookUnreachable,
            _ => Rejection::Other,
        }
    }

    fn is_caused_by(&self, reason: &str) -> bool {
        self.details.causes.iter().any(|cause| cause.reason == reason)
    }

    fn says(&self, words: &str) -> bool {
        self.message.contains(words)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn status(code: u16, message: &str) -> Status {
        Status { code, message: message.into(), ..Status::default() }
    }

    #[test]
    fn a_typo_is_not_the_servers_fault() {
        let typo = status(
            500,
            "failed to create typed patch object (default/x; apps/v1, Kind=Deployment): \
             .spec.replcas: field not declared in schema",
        );
        assert_eq!(typo.rejection(), Rejection::SchemaMismatch);
        let fraction = status(
            500,
            "failed to convert new object (default/x; apps/v1, Kind=Deployment) to proper version: \
             unable to convert unstructured object to apps/v1, Kind=Deployment: cannot convert \
             float64 to int32",
        );
        assert_eq!(fraction.rejection(), Rejection::SchemaMismatch);
        assert_eq!(status(500, "etcdserver: leader changed").rejection(), Rejection::Other);
    }

    #[test]
    fn only_a_server_that_failed_leaves_open_whether_it_wrote() {
        let open = |code, message| status(code, message).leaves_open();
        assert!(open(500, "etcdserver: request timed out") && open(504, ""));
        assert!(!open(500, "failed to create typed patch object (x): field not declared"));
        assert!(!open(500, "Internal error occurred: failed calling webhook \"x\""));
        assert!(!open(403, "etcdserver: request timed out") && !open(429, ""));
    }

    #[test]
    fn a_missing_namespace_is_not_a_missing_object() {
        let mut missing = status(404, "namespaces \"x\" not found");
        assert_eq!(missing.rejection(), Rejection::NotFound);
        missing.details.kind = "namespaces".into();
        assert_eq!(missing.rejection(), Rejection::NamespaceMissing);
    }

    #[test]
    fn a_namespace_that_goes_is_no_missing_permission() {
        let mut going = status(403, "because it is being terminated");
        assert_eq!(going.rejection(), Rejection::Forbidden);
        let reason = "NamespaceTerminating".to_owned();
        going.details.causes = vec![Cause { reason, ..Cause::default() }];
        assert_eq!(going.rejection(), Rejection::NamespaceGoing);
    }

    #[test]
    fn another_uid_is_another_object_and_no_immutable_field() {
        let mut other = status(422, "metadata.uid: field is immutable");
        other.details.causes = vec![Cause { field: "metadata.uid".into(), ..Cause::default() }];
        assert_eq!(other.rejection(), Rejection::AnotherObject);
    }

    #[test]
    fn a_conflict_over_fields_is_told_from_one_over_the_object() {
        let mut conflict = status(409, "Apply failed with 1 conflict");
        assert_eq!(conflict.rejection(), Rejection::Conflict);
        let cause = Cause {
            reason: "FieldManagerConflict".into(),
            message: "conflict with \"hpa\"".into(),
            field: ".spec.replicas".into(),
        };
        conflict.details.causes = vec![cause.clone()];
        assert_eq!(conflict.rejection(), Rejection::FieldConflicts(vec![cause]));
    }
}
