//! A provider whose one resource misbehaves as its configuration says, and a client for it.

use crate::proto::tfplugin6 as proto;
use crate::proto::tfplugin6::provider_client::ProviderClient;
use crate::proto::tfplugin6::provider_server::ProviderServer;
use crate::server::{MESSAGE_LIMIT, Service};
use crate::{
    Applied, ApplyFailure, Attribute, Context, Create, Data, Delete, Diagnostic, Diagnostics,
    IdentityMode, IdentitySchema, Plan, Planned, PlannedPrivate, Private, Provider, Read,
    ReadAnswer, Registry, Resource, Schema, Type, Update, Value,
};

pub(super) struct Faulty;

crate::model! {
    #[derive(Clone, Debug, PartialEq, Default)]
    pub(super) struct NoConfig {}
}

impl Provider for Faulty {
    type Config = NoConfig;

    fn schema(&self) -> Schema {
        Schema::new(0)
    }

    async fn configure(
        &self,
        _: &Context,
        _: NoConfig,
        _: &mut Diagnostics,
    ) -> Result<(), Diagnostics> {
        Ok(())
    }

    fn register(&self, registry: &mut Registry) {
        registry.resource(Thing);
    }
}

pub(super) struct Thing;

crate::model! {
    #[derive(Clone, Debug, PartialEq, Default)]
    pub(super) struct ThingModel {
        pub(super) text: Value<String>,
        pub(super) secret: Value<String>,
        pub(super) id: Value<String>,
    }
}

impl Resource for Thing {
    const TYPE: &'static str = "faulty_thing";
    type Model = ThingModel;

    fn schema(&self) -> Schema {
        Schema::new(2)
            .attribute("text", Attribute::string().required().describe("How to misbehave."))
            .attribute("secret", Attribute::string().optional().write_only().describe("A secret."))
            .attribute("id", Attribute::string().computed().describe("The id."))
    }

    fn identity_schema(&self) -> Option<IdentitySchema> {
        let mode = IdentityMode::RequiredForImport;
        Some(IdentitySchema::new(1).attribute("id", Type::String, mode, "The id."))
    }

    async fn read(
        &self,
        _: &Context,
        request: Read<ThingModel>,
        _: &mut Diagnostics,
    ) -> Result<ReadAnswer<ThingModel>, Diagnostics> {
        if request.state.text.as_str() == Some("gone") {
            return Ok(ReadAnswer::Gone);
        }
        // Neither private state nor identity is mentioned.
        Ok(ReadAnswer::Present {
            state: request.state,
            private: Private::default(),
            identity: None,
        })
    }

    async fn plan(
        &self,
        _: &Context,
        request: Plan<ThingModel>,
        notices: &mut Diagnostics,
    ) -> Result<Planned<ThingModel>, Diagnostics> {
        let text = request.config.text.as_str().unwrap_or_default();
        let handed_over = match &request.planned_private {
            PlannedPrivate::Unsupported => "unsupported".to_owned(),
            PlannedPrivate::Absent => "absent".to_owned(),
            PlannedPrivate::Present(private) => {
                private.entries().map(|(key, _)| key).collect::<Vec<_>>().join(", ")
            }
        };
        notices.push(Diagnostic::warning("Planned", handed_over));
        match text {
            "panic" => panic!("the resource was told to"),
            "fail without a word" => return Err(Diagnostics::new()),
            _ => {}
        }
        // The configuration holds the write-only value; a careless resource plans it.
        let mut state = ThingModel { id: request.proposed.id.clone(), ..request.config.clone() };
        if request.prior.is_none() {
            state.id = Value::Unknown;
        }
        let requires_replace = match text {
            "replace nothing" => vec![crate::AttributePath::root("nothing")],
            _ => vec![crate::AttributePath::root("text"), crate::AttributePath::root("text")],
        };
        Ok(Planned { state, private: Private::default(), requires_replace, identity: None })
    }

    async fn create(
        &self,
        _: &Context,
        request: Create<ThingModel>,
        _: &mut Diagnostics,
    ) -> Result<Applied<ThingModel>, ApplyFailure<ThingModel>> {
        let text = request.config.text.as_str().unwrap_or_default();
        let id = match text {
            "leave unknown" => Value::Unknown,
            _ => "1".into(),
        };
        let state = ThingModel { id, ..request.config.clone() };
        match text {
            "fail half way" => Err(ApplyFailure {
                diagnostics: Diagnostic::error("Half way", "It failed half way.").into(),
                state: Some((state, Private::default())),
            }),
            "fail" => Err(Diagnostic::error("Failed", "It failed.").into()),
            _ => Ok(Applied { state, private: Private::default(), identity: None }),
        }
    }

    async fn update(
        &self,
        _: &Context,
        request: Update<ThingModel>,
        _: &mut Diagnostics,
    ) -> Result<Applied<ThingModel>, ApplyFailure<ThingModel>> {
        Ok(Applied { state: request.planned, private: Private::default(), identity: None })
    }

    async fn delete(
        &self,
        _: &Context,
        request: Delete<ThingModel>,
        _: &mut Diagnostics,
    ) -> Result<(), Diagnostics> {
        match request.prior.text.as_str() {
            Some("fail") => Err(Diagnostic::error("Failed", "It failed.").into()),
            Some("panic") => panic!("the resource was told to"),
            _ => Ok(()),
        }
    }
}

pub(super) fn client() -> ProviderClient<ProviderServer<Service>> {
    ProviderClient::new(Service::new(Faulty, "registry.terraform.io/test/faulty").into_server())
        .max_decoding_message_size(MESSAGE_LIMIT)
        .max_encoding_message_size(MESSAGE_LIMIT)
}

pub(super) fn thing(text: &str, secret: Value, id: Value) -> Value {
    Value::Known(Data::object([("text", text.into()), ("secret", secret), ("id", id)]))
}

pub(super) fn encoded(value: Value) -> Option<proto::DynamicValue> {
    let msgpack = crate::dynamic::to_msgpack(value, &Thing.schema().value_type()).unwrap();
    Some(proto::DynamicValue { msgpack, json: Vec::new() })
}

pub(super) fn decoded(envelope: Option<proto::DynamicValue>) -> Value {
    let ty = Thing.schema().value_type();
    crate::dynamic::from_msgpack(&envelope.unwrap().msgpack, &ty).unwrap()
}

pub(super) fn identity(id: &str) -> Option<proto::IdentityData> {
    let ty = Thing.identity_schema().unwrap().value_type();
    let value = Value::Known(Data::object([("id", id.into())]));
    let msgpack = crate::dynamic::to_msgpack(value, &ty).unwrap();
    let data = proto::DynamicValue { msgpack, json: Vec::new() };
    Some(proto::IdentityData { identity_data: Some(data) })
}

pub(super) fn private(key: &str) -> Vec<u8> {
    let mut private = Private::default();
    private.set(key, &true).unwrap();
    private.to_bytes()
}

/// A request to plan a new thing.
pub(super) fn plan(text: &str) -> proto::PlanResourceChangeRequest {
    let config = encoded(thing(text, Value::Null, Value::Null));
    proto::PlanResourceChangeRequest {
        type_name: Thing::TYPE.to_owned(),
        prior_state: encoded(Value::Null),
        proposed_new_state: config.clone(),
        config,
        ..Default::default()
    }
}

/// A request to create a thing.
pub(super) fn create(text: &str) -> proto::ApplyResourceChangeRequest {
    proto::ApplyResourceChangeRequest {
        type_name: Thing::TYPE.to_owned(),
        prior_state: encoded(Value::Null),
        planned_state: encoded(thing(text, Value::Null, Value::Unknown)),
        config: encoded(thing(text, Value::from("s"), Value::Null)),
        planned_private: private("planned"),
        planned_identity: None,
    }
}

/// A request to delete a thing.
pub(super) fn delete(text: &str) -> proto::ApplyResourceChangeRequest {
    proto::ApplyResourceChangeRequest {
        type_name: Thing::TYPE.to_owned(),
        prior_state: encoded(thing(text, Value::Null, "1".into())),
        planned_state: encoded(Value::Null),
        config: encoded(Value::Null),
        ..Default::default()
    }
}

pub(super) fn errors(told: &[proto::Diagnostic]) -> Vec<&proto::Diagnostic> {
    told.iter().filter(|told| told.severity() == proto::diagnostic::Severity::Error).collect()
}
