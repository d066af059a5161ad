//! The methods about the provider as a whole: what it offers, its configuration, its stop.

use super::wire::decode_present;
use super::{Inner, proto, rules};
use crate::diagnostic::Diagnostics;

impl Inner {
    pub(super) async fn get_metadata(
        &self,
        _: proto::Nothing,
        _: &mut Diagnostics,
    ) -> Result<proto::Metadata, Diagnostics> {
        Ok(proto::Metadata {
            server_capabilities: Some(capabilities()),
            diagnostics: Vec::new(),
            data_sources: names(self.registry.data_sources.keys()),
            resources: names(self.registry.resources.keys()),
            functions: names(self.registry.functions.keys()),
            ephemeral_resources: names(self.registry.ephemerals.keys()),
        })
    }

    pub(super) async fn get_provider_schema(
        &self,
        _: proto::Nothing,
        _: &mut Diagnostics,
    ) -> Result<proto::ProviderSchema, Diagnostics> {
        let registry = &self.registry;
        Ok(proto::ProviderSchema {
            provider: Some(self.provider.schema().to_wire()),
            resource_schemas: (registry.resources.iter())
                .map(|(name, resource)| ((*name).to_owned(), resource.schema().to_wire()))
                .collect(),
            data_source_schemas: (registry.data_sources.iter())
                .map(|(name, source)| ((*name).to_owned(), source.schema().to_wire()))
                .collect(),
            ephemeral_resource_schemas: (registry.ephemerals.iter())
                .map(|(name, ephemeral)| ((*name).to_owned(), ephemeral.schema().to_wire()))
                .collect(),
            functions: self.functions(),
            server_capabilities: Some(capabilities()),
            diagnostics: Vec::new(),
        })
    }

    pub(super) async fn get_resource_identity_schemas(
        &self,
        _: proto::Nothing,
        _: &mut Diagnostics,
    ) -> Result<proto::IdentitySchemas, Diagnostics> {
        let identity_schemas = (self.registry.resources.iter())
            .filter_map(|(name, resource)| {
                Some(((*name).to_owned(), resource.identity()?.0.to_wire()))
            })
            .collect();
        Ok(proto::IdentitySchemas { identity_schemas, diagnostics: Vec::new() })
    }

    pub(super) async fn validate_provider_config(
        &self,
        request: proto::ConfigRequest,
        told: &mut Diagnostics,
    ) -> Result<proto::ValidateProviderConfigResponse, Diagnostics> {
        let ty = self.provider.value_type();
        let config = decode_present("provider configuration", request.config, ty)?;
        rules::refuse_missing(&config, self.provider.schema(), told);
        self.provider.validate(&self.context(None), config, told).await?;
        Ok(proto::ValidateProviderConfigResponse::default())
    }

    pub(super) async fn configure_provider(
        &self,
        request: proto::ConfigureProviderRequest,
        told: &mut Diagnostics,
    ) -> Result<proto::Findings, Diagnostics> {
        let context = self.context(request.client_capabilities);
        // A second configuration of one process comes from the same program.
        let _ = self.configured_for.set(context.capabilities());
        let ty = self.provider.value_type();
        let config = decode_present("provider configuration", request.config, ty)?;
        self.provider.configure(&context, config, told).await?;
        Ok(proto::Findings::default())
    }

    pub(super) async fn stop_provider(
        &self,
        _: proto::Nothing,
        _: &mut Diagnostics,
    ) -> Result<proto::StopProviderResponse, Diagnostics> {
        self.stop.send_replace(true);
        Ok(proto::StopProviderResponse::default())
    }
}

fn capabilities() -> proto::ServerCapabilities {
    proto::ServerCapabilities {
        plan_destroy: true,
        get_provider_schema_optional: true,
        move_resource_state: true,
        generate_resource_config: false,
    }
}

fn names<'a>(names: impl Iterator<Item = &'a &'static str>) -> Vec<proto::Named> {
    names.map(|name| proto::Named { name: (*name).to_owned() }).collect()
}
