//! The ephemeral `k8sconnect_token`: a token of a service account, for as long as a run needs it.
//!
//! It is not renewed: the protocol can keep a lease alive, but has no way to hand over another
//! token in the place of the first. It is not taken back either, since a token ends by time alone.

use std::sync::Arc;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD as BASE64;
use k8sconnect_cluster::{Token, TokenRequest};
use k8sconnect_core::identity::{DEFAULT_NAMESPACE, Gvk, ObjectKey};
use tfplugin::{
    AttributePath, Context, Diagnostics, Ephemeral, Number, Opened, Private, Schema, Value, model,
};

use crate::connect::{self, ClusterModel, names_its_cluster};
use crate::session::Session;
use crate::{messages, place};

/// Less the server does not grant.
const SHORTEST: i64 = 600;
/// The longest that the API server takes.
const LONGEST: i64 = 1 << 32;

pub(crate) struct EphemeralToken(pub(crate) Arc<Session>);

model! {
    #[derive(Clone, Debug, PartialEq, Default)]
    pub(crate) struct TokenModel {
        cluster: Value<ClusterModel>,
        cluster_name: Value<String>,
        /// The name of the service account.
        service_account: Value<String> => required,
        /// The namespace of the service account; `default` if not set.
        namespace: Value<String> => optional,
        /// The uid of the service account, where no other of its name is meant. Taken from the
        /// resource that creates the account, it makes the run wait until the account is there.
        uid: Value<String> => optional,
        /// For whom the token is meant; the API server itself if not set.
        audiences: Value<Vec<Value<String>>> => optional,
        /// How long the token is wanted for, in seconds, at least 600; the server's choice (an
        /// hour) if not set. The server may grant less or more: see `expires_at`.
        expiration_seconds: Value<Number> => optional,
        /// The token.
        token: Value<String> => computed sensitive,
        /// When it ends, as in `2026-11-16T09:30:00Z`.
        expires_at: Value<String> => computed,
    }
}

names_its_cluster!(TokenModel);

impl Ephemeral for EphemeralToken {
    const TYPE: &'static str = "k8sconnect_token";

    type Model = TokenModel;

    fn schema(&self) -> Schema {
        connect::attributes(Schema::of::<TokenModel>(0))
            .describe("A token of a service account, asked for in each run and stored nowhere.")
    }

    async fn validate(
        &self,
        _ctx: &Context,
        config: TokenModel,
        notices: &mut Diagnostics,
    ) -> Result<(), Diagnostics> {
        let mut problems = connect::validate(config.cluster_args(), notices);
        let at = |part: &str| match part {
            "name" => AttributePath::root("service_account"),
            part => AttributePath::root(part),
        };
        problems.extend(place::misnamed(&config.service_account, &config.namespace, at));
        if let Some(number) = config.expiration_seconds.known() {
            let told = match number.as_i64() {
                Some(SHORTEST..=LONGEST) => None,
                Some(seconds) if seconds < SHORTEST => {
                    Some(messages::ephemeral::too_short(seconds, SHORTEST))
                }
                _ => Some(messages::ephemeral::no_lifetime(number.as_str(), LONGEST)),
            };
            problems.extend(told.map(|told| told.at(AttributePath::root("expiration_seconds"))));
        }
        if config.uid.as_str() == Some("") {
            problems.push(messages::ephemeral::empty_uid());
        }
        for (n, audience) in (0..).zip(config.audiences.known().into_iter().flatten()) {
            if matches!(audience, Value::Null) || audience.as_str() == Some("") {
                problems.push(messages::ephemeral::no_audience(n));
            }
        }
        problems.into_result().map(|_| ())
    }

    async fn open(
        &self,
        _ctx: &Context,
        config: TokenModel,
        _notices: &mut Diagnostics,
    ) -> Result<Opened<TokenModel>, Diagnostics> {
        let namespace = config.namespace.as_str().unwrap_or(DEFAULT_NAMESPACE).to_owned();
        let key = ObjectKey {
            gvk: Gvk::new("v1", "ServiceAccount"),
            namespace: Some(namespace.clone()),
            name: config.service_account.as_str().unwrap_or_default().to_owned(),
        };
        let audiences: Vec<_> = config
            .audiences
            .known()
            .into_iter()
            .flatten()
            .filter_map(|audience| audience.known().cloned())
            .collect();
        let request = TokenRequest {
            namespace: &namespace,
            account: &key.name,
            audiences: &audiences,
            expiration_seconds: config.expiration_seconds.known().and_then(Number::as_i64),
        };
        let cluster = super::cluster(&self.0, config.cluster_args()).await?;
        let asked = cluster.request_token(&request).await;
        let asked = asked.map_err(|error| messages::ephemeral::no_token(&key, &error))?;
        let (token, expires) = match asked {
            Token::Granted { token, expires } => (token, expires),
            Token::NoAccount(_) => return Err(messages::ephemeral::no_account(&key).into()),
        };
        if let Some(wanted) = config.uid.known() {
            match account_of(token.expose()) {
                Some(uid) if uid == *wanted => {}
                Some(_) => return Err(messages::ephemeral::another(&key).into()),
                None => return Err(messages::ephemeral::unnamed(&key).into()),
            }
        }
        let result = TokenModel {
            token: Value::Known(token.expose().to_owned()),
            expires_at: Value::Known(expires),
            ..config
        };
        Ok(Opened { result, private: Private::default(), renew_at: None })
    }
}

/// The uid of the account, as the token itself tells it.
fn account_of(token: &str) -> Option<String> {
    let claims = BASE64.decode(token.split('.').nth(1)?).ok()?;
    let claims: serde_json::Value = serde_json::from_slice(&claims).ok()?;
    claims["kubernetes.io"]["serviceaccount"]["uid"].as_str().map(ToOwned::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_token_names_no_account() {
        let claims = r#"{"kubernetes.io": {"serviceaccount": {"uid": "u-1"}}}"#;
        let token = format!("head.{}.signature", BASE64.encode(claims));
        assert_eq!(account_of(&token).as_deref(), Some("u-1"));
        for text in ["", "a", "a.b.c", "a.e30.c"] {
            assert_eq!(account_of(text), None, "{text}");
        }
    }

    #[test]
    fn the_schema_keeps_terraforms_rules() {
        assert_eq!(EphemeralToken(Arc::default()).schema().check(), []);
    }
}
