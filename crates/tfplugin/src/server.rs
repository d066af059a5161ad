//! The provider service: one method is look up, decode, call, encode.
//!
//! The methods themselves stand here as a table; what each does is in the modules below, and
//! what all of them share (panics, logs, the rendering of diagnostics) in `call`. Expected
//! failures are always diagnostics: a gRPC error would reach the user as "Plugin error".

mod apply;
mod call;
mod data_source;
mod ephemeral;
mod function;
mod plan;
mod provider;
mod refuse;
mod resource;
mod rules;
mod wire;

#[cfg(test)]
mod tests;

use std::pin::Pin;
use std::sync::{Arc, OnceLock};

use tokio::sync::watch;
use tonic::codegen::BoxStream;
use tonic::{Request, Response, Status};

use crate::context::{Capabilities, Context};
use crate::diagnostic::Diagnostics;
use crate::proto::tfplugin6 as proto;
use crate::registry::{AnyProvider, Erased, Provider, Registry};

/// As large as the limit that Terraform's own side sets.
pub(crate) const MESSAGE_LIMIT: usize = 256 * 1024 * 1024;

/// A provider behind the protocol.
#[derive(Clone)]
pub(crate) struct Service(Arc<Inner>);

pub(crate) struct Inner {
    address: String,
    pub(crate) provider: Box<dyn AnyProvider>,
    pub(crate) registry: Registry,
    stop: watch::Sender<bool>,
    /// What the client said when it configured us: apply requests do not say it again.
    configured_for: OnceLock<Capabilities>,
}

impl Service {
    pub(crate) fn new<P: Provider>(provider: P, address: &str) -> Self {
        let mut registry = Registry::default();
        provider.register(&mut registry);
        Self(Arc::new(Inner {
            address: address.to_owned(),
            provider: Box::new(Erased::new(provider, P::schema)),
            registry,
            stop: watch::Sender::new(false),
            configured_for: OnceLock::new(),
        }))
    }

    /// The service with its message limits, ready to be served.
    pub(crate) fn into_server(self) -> proto::provider_server::ProviderServer<Self> {
        proto::provider_server::ProviderServer::new(self)
            .max_decoding_message_size(MESSAGE_LIMIT)
            .max_encoding_message_size(MESSAGE_LIMIT)
    }

    #[cfg(feature = "harness")]
    pub(crate) fn inner(&self) -> &Inner {
        &self.0
    }
}

impl Inner {
    fn context(&self, capabilities: Option<proto::ClientCapabilities>) -> Context {
        let capabilities = match capabilities {
            Some(wire) => Capabilities {
                write_only_attributes_allowed: wire.write_only_attributes_allowed,
                deferral_allowed: wire.deferral_allowed,
                store_planned_private: wire.store_planned_private,
            },
            None => self.configured_for.get().copied().unwrap_or_default(),
        };
        Context::new(self.stop.subscribe(), capabilities)
    }
}

type Answer<T> = Result<Response<T>, Status>;

/// Writes out the methods of the service from a table of them: name, request and response, the
/// field of the request that names the subject, and the protocol's name for the log. The
/// signature is what `async_trait` makes of an `async fn`, which it cannot do inside a macro.
macro_rules! methods {
    ($( $method:ident($request:ident $(. $subject:ident)?) -> $response:ident, $rpc:literal; )*) => {
        $(fn $method<'a, 'b>(
            &'a self,
            request: Request<proto::$request>,
        ) -> Pin<Box<dyn Future<Output = Answer<proto::$response>> + Send + 'b>>
        where
            'a: 'b,
            Self: 'b,
        {
            let request = request.into_inner();
            let subject = String::new() $( + &request.$subject )?;
            Box::pin(self.call($rpc, subject, move |inner| async move {
                let mut told = Diagnostics::new();
                let answer = inner.$method(request, &mut told).await;
                (answer, told)
            }))
        })*
    };
}

impl proto::provider_server::Provider for Service {
    methods! {
        get_metadata(Nothing) -> Metadata, "GetMetadata";
        get_provider_schema(Nothing) -> ProviderSchema, "GetProviderSchema";
        get_resource_identity_schemas(Nothing) -> IdentitySchemas, "GetResourceIdentitySchemas";
        get_functions(Nothing) -> Functions, "GetFunctions";

        validate_provider_config(ConfigRequest) -> ValidateProviderConfigResponse,
            "ValidateProviderConfig";
        configure_provider(ConfigureProviderRequest) -> Findings, "ConfigureProvider";
        stop_provider(Nothing) -> StopProviderResponse, "StopProvider";

        validate_resource_config(TypedConfigRequest.type_name) -> Findings,
            "ValidateResourceConfig";
        upgrade_resource_state(UpgradeRequest.type_name) -> UpgradeResourceStateResponse,
            "UpgradeResourceState";
        upgrade_resource_identity(UpgradeRequest.type_name) -> UpgradeResourceIdentityResponse,
            "UpgradeResourceIdentity";
        read_resource(ReadResourceRequest.type_name) -> ReadResourceResponse, "ReadResource";
        plan_resource_change(PlanResourceChangeRequest.type_name) -> PlanResourceChangeResponse,
            "PlanResourceChange";
        apply_resource_change(ApplyResourceChangeRequest.type_name) -> ApplyResourceChangeResponse,
            "ApplyResourceChange";
        import_resource_state(ImportResourceStateRequest.type_name) -> ImportResourceStateResponse,
            "ImportResourceState";
        move_resource_state(MoveResourceStateRequest.target_type_name) -> MoveResourceStateResponse,
            "MoveResourceState";
        generate_resource_config(TypedRequest.type_name) -> GenerateResourceConfigResponse,
            "GenerateResourceConfig";

        validate_data_resource_config(TypedRequest.type_name) -> Findings,
            "ValidateDataResourceConfig";
        read_data_source(ReadDataSourceRequest.type_name) -> ReadDataSourceResponse,
            "ReadDataSource";

        validate_ephemeral_resource_config(TypedRequest.type_name) -> Findings,
            "ValidateEphemeralResourceConfig";
        open_ephemeral_resource(TypedConfigRequest.type_name) -> OpenEphemeralResourceResponse,
            "OpenEphemeralResource";
        renew_ephemeral_resource(EphemeralRequest.type_name) -> RenewEphemeralResourceResponse,
            "RenewEphemeralResource";
        close_ephemeral_resource(EphemeralRequest.type_name) -> Findings,
            "CloseEphemeralResource";

        call_function(CallFunctionRequest.name) -> CallFunctionResponse, "CallFunction";

        validate_list_resource_config(TypedRequest.type_name) -> Findings,
            "ValidateListResourceConfig";
        validate_action_config(TypedRequest.type_name) -> Findings, "ValidateActionConfig";
        plan_action(TypedConfigRequest.type_name) -> Findings, "PlanAction";
    }

    fn list_resource<'a, 'b>(
        &'a self,
        request: Request<proto::TypedRequest>,
    ) -> Pin<Box<dyn Future<Output = Answer<BoxStream<proto::ListResourceEvent>>> + Send + 'b>>
    where
        'a: 'b,
        Self: 'b,
    {
        let refusal = refuse::list_resource(&request.into_inner().type_name);
        let event = proto::ListResourceEvent { diagnostic: refusal.into_wire() };
        Box::pin(std::future::ready(Ok(only(event))))
    }

    fn invoke_action<'a, 'b>(
        &'a self,
        request: Request<proto::TypedConfigRequest>,
    ) -> Pin<Box<dyn Future<Output = Answer<BoxStream<proto::InvokeActionEvent>>> + Send + 'b>>
    where
        'a: 'b,
        Self: 'b,
    {
        use proto::invoke_action_event::{Completed, Type};
        let diagnostics = refuse::action(&request.into_inner().type_name).into_wire();
        let event =
            proto::InvokeActionEvent { r#type: Some(Type::Completed(Completed { diagnostics })) };
        Box::pin(std::future::ready(Ok(only(event))))
    }
}

fn only<T: Send + 'static>(event: T) -> Response<BoxStream<T>> {
    Response::new(Box::pin(tokio_stream::once(Ok(event))))
}

impl Inner {
    async fn validate_list_resource_config(
        &self,
        request: proto::TypedRequest,
        _: &mut Diagnostics,
    ) -> Result<proto::Findings, Diagnostics> {
        Err(refuse::list_resource(&request.type_name))
    }

    async fn validate_action_config(
        &self,
        request: proto::TypedRequest,
        _: &mut Diagnostics,
    ) -> Result<proto::Findings, Diagnostics> {
        Err(refuse::action(&request.type_name))
    }

    async fn plan_action(
        &self,
        request: proto::TypedConfigRequest,
        _: &mut Diagnostics,
    ) -> Result<proto::Findings, Diagnostics> {
        Err(refuse::action(&request.type_name))
    }
}
