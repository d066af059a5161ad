//! A stand-in for Terraform core, in the same process, for the tests of providers.
//!
//! [`Core`] speaks to the provider over the generated service, with encoded values, so what is
//! tested is what Terraform would see. It proposes new states as core does, walks plan and apply
//! in core's order, and checks core's rules: a plan that contradicts its configuration, a result
//! that contradicts its plan, a value left unknown. A breach is a [`Failure::Broken`] in core's
//! wording; errors that the provider reports itself are a [`Failure::Refused`].
//!
//! Terraform plans in one process and applies in another, which plans again first. To test
//! that, make two `Core`s, call [`Core::plan`] on one and [`Core::apply`] on the other. A `Core` with
//! the capability `store_planned_private` hands the plan's private state to the second plan.
//!
//! It is not Terraform: no graph, no state file, no expressions. Configurations are given as
//! [`Value`]s; attributes that are left out are null.

mod catalogue;
mod compatible;
mod proposed;
mod valid;
mod walk;
mod wire;

pub use catalogue::{Block, Sort};

use crate::context::Capabilities;
use crate::diagnostic::Diagnostics;
use crate::function::FunctionError;
use crate::path::AttributePath;
use crate::private::Private;
use crate::proto::tfplugin6 as proto;
use crate::proto::tfplugin6::provider_client::ProviderClient;
use crate::proto::tfplugin6::provider_server::ProviderServer;
use crate::registry::Provider;
use crate::server::{MESSAGE_LIMIT, Service};
use crate::value::Value;

/// What Terraform stores about one object.
#[derive(Clone, Debug, PartialEq)]
pub struct State {
    /// The attributes.
    pub value: Value,
    /// The private state.
    pub private: Private,
    /// The identity.
    pub identity: Option<Value>,
    /// Whether creation failed half way, so that the object is to be replaced.
    pub tainted: bool,
}

impl State {
    /// The value of an attribute; null if there is none of that name.
    pub fn attribute(&self, name: &str) -> &Value {
        self.value.attribute(name).unwrap_or(&Value::Null)
    }
}

/// What a plan amounts to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// Nothing changes.
    NoOp,
    /// A new object.
    Create,
    /// The object is changed in place.
    Update,
    /// The object is deleted, and a new one created.
    Replace,
    /// The object is deleted.
    Delete,
}

/// A plan that Terraform would accept.
#[derive(Clone, Debug)]
pub struct PlanOutcome {
    /// What it amounts to.
    pub action: Action,
    /// The planned attributes; of the new object, for a replacement.
    pub planned: Value,
    /// The attributes that force a replacement, without those that do not count because their
    /// value does not change.
    pub requires_replace: Vec<AttributePath>,
    /// The planned private state.
    pub private: Private,
    /// The planned identity.
    pub identity: Option<Value>,
    /// Warnings.
    pub diagnostics: Diagnostics,
}

/// What an apply or a read left.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// The object; `None` if there is none any more.
    pub state: Option<State>,
    /// Warnings.
    pub diagnostics: Diagnostics,
}

impl Outcome {
    /// The state of an object that is there.
    ///
    /// # Errors
    /// If the object is gone.
    pub fn present(self) -> Result<State, Failure> {
        self.state.ok_or_else(|| Failure::Broken("there is no object any more".to_owned()))
    }
}

/// Why a step did not succeed.
#[derive(Clone, Debug, thiserror::Error)]
pub enum Failure {
    /// The provider reported errors.
    #[error("the provider refused: {diagnostics:?}")]
    Refused {
        /// What it said, warnings included.
        diagnostics: Diagnostics,
        /// What Terraform stores now.
        stored: Option<Box<State>>,
    },
    /// The provider broke one of core's rules.
    #[error("{0}")]
    Broken(String),
}

impl Failure {
    /// What the provider said; nothing if it broke a rule instead.
    pub fn diagnostics(&self) -> Diagnostics {
        match self {
            Self::Refused { diagnostics, .. } => diagnostics.clone(),
            Self::Broken(_) => Diagnostics::new(),
        }
    }

    /// The same failure, of a step that left this stored.
    fn keeping(self, state: Option<&State>) -> Self {
        match self {
            Self::Refused { diagnostics, .. } => {
                Self::Refused { diagnostics, stored: state.cloned().map(Box::new) }
            }
            Self::Broken(rule) => Self::Broken(rule),
        }
    }

    /// What Terraform stores after the failure.
    pub fn stored(&self) -> Option<&State> {
        match self {
            Self::Refused { stored, .. } => stored.as_deref(),
            Self::Broken(_) => None,
        }
    }
}

/// Terraform core, as far as a provider can tell.
#[derive(Clone)]
pub struct Core {
    service: Service,
    capabilities: Capabilities,
}

impl Core {
    /// Starts a provider, as a new process would.
    pub fn new<P: Provider>(provider: P) -> Self {
        let service = Service::new(provider, "registry.terraform.io/harness/harness");
        let capabilities =
            Capabilities { write_only_attributes_allowed: true, ..Capabilities::default() };
        Self { service, capabilities }
    }

    /// The same, as an older or newer program would run it.
    pub fn with_capabilities(mut self, capabilities: Capabilities) -> Self {
        self.capabilities = capabilities;
        self
    }

    fn client(&self) -> ProviderClient<ProviderServer<Service>> {
        ProviderClient::new(self.service.clone().into_server())
            .max_decoding_message_size(MESSAGE_LIMIT)
            .max_encoding_message_size(MESSAGE_LIMIT)
    }

    fn capabilities(&self) -> Option<proto::ClientCapabilities> {
        Some(proto::ClientCapabilities {
            deferral_allowed: self.capabilities.deferral_allowed,
            write_only_attributes_allowed: self.capabilities.write_only_attributes_allowed,
            store_planned_private: self.capabilities.store_planned_private,
        })
    }

    /// Validates and takes over the provider block; warnings come back.
    pub async fn configure(&self, config: impl Into<Value>) -> Result<Diagnostics, Failure> {
        let ty = self.service.inner().provider.value_type();
        let config = Some(wire::encode(&config.into(), ty)?);
        let request = proto::ConfigRequest { config: config.clone() };
        let answer = wire::answered(self.client().validate_provider_config(request).await)?;
        let mut told = wire::accepted(answer.diagnostics, None)?;
        let request = proto::ConfigureProviderRequest {
            terraform_version: "1.11.4".to_owned(),
            config,
            client_capabilities: self.capabilities(),
        };
        let answer = wire::answered(self.client().configure_provider(request).await)?;
        told.extend(wire::accepted(answer.diagnostics, None)?);
        Ok(told)
    }

    /// Asks the provider to stop, as a Ctrl-C does.
    pub async fn stop(&self) -> Result<(), Failure> {
        wire::answered(self.client().stop_provider(proto::Nothing {}).await)?;
        Ok(())
    }

    /// Validates a resource's configuration; warnings come back.
    pub async fn validate(&self, ty: &str, config: &Value) -> Result<Diagnostics, Failure> {
        let request = proto::TypedConfigRequest {
            type_name: ty.to_owned(),
            config: Some(wire::encode(config, &self.type_of(ty)?)?),
            client_capabilities: self.capabilities(),
        };
        let answer = wire::answered(self.client().validate_resource_config(request).await)?;
        wire::accepted(answer.diagnostics, None)
    }

    /// Plans, applies, and returns the new object.
    pub async fn create(&self, ty: &str, config: &Value) -> Result<State, Failure> {
        let plan = self.plan(ty, config, None).await?;
        self.apply(ty, config, None, &plan).await?.present()
    }

    /// Reads the object, plans, applies, and returns the changed object.
    pub async fn update(&self, ty: &str, config: &Value, prior: &State) -> Result<State, Failure> {
        let prior = self.read(ty, prior).await?.state;
        let plan = self.plan(ty, config, prior.as_ref()).await?;
        self.apply(ty, config, prior.as_ref(), &plan).await?.present()
    }

    /// Reads the object, plans its end and deletes it; warnings come back.
    pub async fn destroy(&self, ty: &str, prior: &State) -> Result<Diagnostics, Failure> {
        let read = self.read(ty, prior).await?;
        let mut told = read.diagnostics;
        if let Some(prior) = read.state {
            let plan = self.plan_destroy(ty, &prior).await?;
            told.extend(plan.diagnostics.clone());
            told.extend(self.apply(ty, &Value::Null, Some(&prior), &plan).await?.diagnostics);
        }
        Ok(told)
    }

    /// Reads a data source.
    pub async fn read_data(
        &self,
        ty: &str,
        config: &Value,
    ) -> Result<(Value, Diagnostics), Failure> {
        let sources = &self.service.inner().registry.data_sources;
        let source = sources.get(ty).ok_or_else(|| wire::no_such("data source", ty))?;
        let config = Some(wire::encode(config, source.value_type())?);
        let request = proto::TypedRequest { type_name: ty.to_owned(), config: config.clone() };
        let answer = wire::answered(self.client().validate_data_resource_config(request).await)?;
        let mut told = wire::accepted(answer.diagnostics, None)?;
        let request = proto::ReadDataSourceRequest {
            type_name: ty.to_owned(),
            config,
            client_capabilities: self.capabilities(),
        };
        let answer = wire::answered(self.client().read_data_source(request).await)?;
        told.extend(wire::accepted(answer.diagnostics, None)?);
        Ok((wire::decode(answer.state, source.value_type())?, told))
    }

    /// Calls a function.
    pub async fn call_function(
        &self,
        name: &str,
        arguments: Vec<Value>,
    ) -> Result<Result<Value, FunctionError>, Failure> {
        let functions = &self.service.inner().registry.functions;
        let function = functions.get(name).ok_or_else(|| wire::no_such("function", name))?;
        let signature = function.signature();
        let types = signature.parameters.iter().chain(signature.variadic.iter().cycle());
        let arguments = arguments
            .into_iter()
            .zip(types)
            .map(|(argument, parameter)| wire::encode(&argument, &parameter.ty))
            .collect::<Result<_, _>>()?;
        let request = proto::CallFunctionRequest { name: name.to_owned(), arguments };
        let answer = wire::answered(self.client().call_function(request).await)?;
        match answer.error {
            Some(proto::FunctionError { text, function_argument }) => {
                Ok(Err(FunctionError { text, argument: function_argument }))
            }
            None => Ok(Ok(wire::decode(answer.result, &signature.returns)?)),
        }
    }

    fn type_of(&self, ty: &str) -> Result<crate::value::Type, Failure> {
        Ok(self.resource(ty)?.value_type().clone())
    }

    fn resource(&self, ty: &str) -> Result<&dyn crate::registry::AnyResource, Failure> {
        let resources = &self.service.inner().registry.resources;
        Ok(&**resources.get(ty).ok_or_else(|| wire::no_such("resource type", ty))?)
    }
}
