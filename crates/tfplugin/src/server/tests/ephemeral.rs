//! An ephemeral resource from opening to closing.

use std::time::{Duration, UNIX_EPOCH};

use super::fixture::errors;
use crate::proto::tfplugin6 as proto;
use crate::proto::tfplugin6::provider_client::ProviderClient;
use crate::server::Service;
use crate::{
    Attribute, Context, Data, Diagnostic, Diagnostics, Ephemeral, Opened, Private, Provider,
    Registry, Renewed, Schema, Value,
};

struct Tokens;

crate::model! {
    #[derive(Clone, Debug, PartialEq, Default)]
    struct Token { user: Value<String>, token: Value<String> }
}

impl Provider for Tokens {
    type Config = Data;

    fn schema(&self) -> Schema {
        Schema::new(0)
    }

    async fn configure(
        &self,
        _: &Context,
        _: Data,
        _: &mut Diagnostics,
    ) -> Result<(), Diagnostics> {
        Ok(())
    }

    fn register(&self, registry: &mut Registry) {
        registry.ephemeral(TokenResource);
    }
}

struct TokenResource;

impl Ephemeral for TokenResource {
    const TYPE: &'static str = "tokens_token";
    type Model = Token;

    fn schema(&self) -> Schema {
        Schema::new(0)
            .attribute("user", Attribute::string().required().describe("Whose."))
            .attribute("token", Attribute::string().computed().describe("The token."))
    }

    async fn open(
        &self,
        _: &Context,
        config: Token,
        _: &mut Diagnostics,
    ) -> Result<Opened<Token>, Diagnostics> {
        let mut private = Private::default();
        private.set("lease", &7).map_err(|err| Diagnostic::error("Private", err.to_string()))?;
        let renew_at = Some(UNIX_EPOCH + Duration::from_secs(1_000));
        Ok(Opened { result: Token { token: "t".into(), ..config }, private, renew_at })
    }

    async fn renew(
        &self,
        _: &Context,
        _: Private,
        _: &mut Diagnostics,
    ) -> Result<Renewed, Diagnostics> {
        Ok(Renewed { private: Private::default(), renew_at: None })
    }

    async fn close(
        &self,
        _: &Context,
        private: Private,
        _: &mut Diagnostics,
    ) -> Result<(), Diagnostics> {
        match private.get::<i64>("lease") {
            Ok(Some(7)) => Ok(()),
            other => Err(Diagnostic::error("Lease", format!("{other:?}")).into()),
        }
    }
}

#[tokio::test]
async fn opens_renews_and_closes_with_what_it_remembered() {
    let mut client = ProviderClient::new(Service::new(Tokens, "test/test/tokens").into_server());
    let ty = TokenResource.schema().value_type();
    let config = Data::object([("user", Value::from("u"))]);
    let msgpack = crate::dynamic::to_msgpack(Value::Known(config), &ty).unwrap();
    let request = proto::TypedConfigRequest {
        type_name: "tokens_token".into(),
        config: Some(proto::DynamicValue { msgpack, json: Vec::new() }),
        client_capabilities: None,
    };
    let opened = client.open_ephemeral_resource(request).await.unwrap().into_inner();
    let result = crate::dynamic::from_msgpack(&opened.result.unwrap().msgpack, &ty).unwrap();
    assert_eq!(result.attribute("token"), Some(&Value::from("t")));
    assert_eq!(opened.renew_at.unwrap().seconds, 1_000);

    let request = |private| proto::EphemeralRequest { type_name: "tokens_token".into(), private };
    let renewed = client.renew_ephemeral_resource(request(opened.private)).await;
    let renewed = renewed.unwrap().into_inner();
    assert!(renewed.renew_at.is_none());

    let closed = client.close_ephemeral_resource(request(renewed.private)).await.unwrap();
    assert!(closed.into_inner().diagnostics.is_empty());
    let closed = client.close_ephemeral_resource(request(None)).await.unwrap().into_inner();
    assert_eq!(errors(&closed.diagnostics)[0].summary, "Lease");
}
