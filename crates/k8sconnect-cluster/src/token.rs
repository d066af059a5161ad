//! Asking for a token of a service account.

use http::Method;
use k8sconnect_core::rejection::Status;
use serde_json::{Value, json};

use crate::address::{Kind, Location, Scope};
use crate::call::{Call, Content, Repeat};
use crate::cluster::Cluster;
use crate::error::{BadAnswer, Error};
use crate::secret::Secret;

/// Whose token, for whom, and for how long. What is left out, the server chooses.
#[derive(Clone, Copy, Debug)]
pub struct TokenRequest<'a> {
    pub namespace: &'a str,
    pub account: &'a str,
    pub audiences: &'a [String],
    pub expiration_seconds: Option<i64>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Token {
    Granted {
        token: Secret,
        /// When it ends, as the server writes times.
        expires: String,
    },
    /// There is no such account.
    NoAccount(Status),
}

impl Cluster {
    pub async fn request_token(&self, request: &TokenRequest<'_>) -> Result<Token, Error> {
        let kind = Kind::built_in("v1", "ServiceAccount", "serviceaccounts", Scope::Namespaced);
        let namespace = Some(request.namespace.to_owned());
        let account = Location { kind, namespace, name: request.account.to_owned() };
        let mut spec = json!({ "audiences": request.audiences });
        if let Some(seconds) = request.expiration_seconds {
            spec["expirationSeconds"] = seconds.into();
        }
        let body = json!({
            "apiVersion": "authentication.k8s.io/v1",
            "kind": "TokenRequest",
            "spec": spec,
        });
        let mut call = Call::new(Method::POST, format!("{}/token", account.address()?))
            .body(Content::Json, body);
        // A token that nobody received does no harm.
        call.repeat = Repeat::Harmless;
        let reply = self.send(&call).await?;
        if reply.status == 404 {
            return Ok(Token::NoAccount(reply.refusal()));
        }
        let answer: Value = self.decode(&call, &reply)?;
        let text = |name: &str| answer["status"][name].as_str();
        match (text("token"), text("expirationTimestamp")) {
            (Some(token), Some(expires)) => {
                Ok(Token::Granted { token: token.into(), expires: expires.to_owned() })
            }
            _ => Err(self.bad_answer(&call, BadAnswer::Shape)),
        }
    }
}
