//! The methods about resources that neither plan nor apply.

use std::sync::Arc;

use super::rules;
use super::wire::{
    decode_identity, decode_object, decode_present, decode_private, encode, encode_identity, null,
};
use super::{Inner, proto, refuse};
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::raw::RawState;
use crate::registry::AnyResource;
use crate::resource::{Import, MoveState, Read, ReadAnswer};
use crate::value::{Data, Value};

impl Inner {
    pub(super) fn resource(&self, ty: &str) -> Result<Arc<dyn AnyResource>, Diagnostics> {
        self.registry.resources.get(ty).cloned().ok_or_else(|| refuse::resource(ty))
    }

    pub(super) async fn validate_resource_config(
        &self,
        request: proto::TypedConfigRequest,
        told: &mut Diagnostics,
    ) -> Result<proto::Findings, Diagnostics> {
        let resource = self.resource(&request.type_name)?;
        let config = decode_present("configuration", request.config, resource.value_type())?;
        let context = self.context(request.client_capabilities);
        if !context.capabilities().write_only_attributes_allowed {
            rules::refuse_write_only(&config, resource.schema(), told);
        }
        rules::refuse_computed(&config, resource.schema(), told);
        rules::refuse_missing(&config, resource.schema(), told);
        resource.validate(&context, config, told).await?;
        Ok(proto::Findings::default())
    }

    pub(super) async fn upgrade_resource_state(
        &self,
        request: proto::UpgradeRequest,
        _: &mut Diagnostics,
    ) -> Result<proto::UpgradeResourceStateResponse, Diagnostics> {
        let resource = self.resource(&request.type_name)?;
        let raw = raw_state(request.raw)?;
        let ty = resource.value_type();
        let state = if request.version == resource.schema().version() {
            raw.decode(ty)?
        } else {
            Value::Known(resource.upgrade(request.version, raw)?)
        };
        let state = stored("upgraded state", state, &*resource)?;
        let upgraded_state = Some(encode("upgraded state", state, ty)?);
        Ok(proto::UpgradeResourceStateResponse { upgraded_state, diagnostics: Vec::new() })
    }

    pub(super) async fn upgrade_resource_identity(
        &self,
        request: proto::UpgradeRequest,
        _: &mut Diagnostics,
    ) -> Result<proto::UpgradeResourceIdentityResponse, Diagnostics> {
        let resource = self.resource(&request.type_name)?;
        let raw = raw_state(request.raw)?;
        let identity = match resource.identity() {
            Some((schema, ty)) if schema.version() == request.version => raw.decode(ty)?,
            _ => resource.upgrade_identity(request.version, raw)?,
        };
        let upgraded_identity = encode_identity(Some(identity), resource.identity_type())?;
        Ok(proto::UpgradeResourceIdentityResponse { upgraded_identity, diagnostics: Vec::new() })
    }

    pub(super) async fn read_resource(
        &self,
        request: proto::ReadResourceRequest,
        told: &mut Diagnostics,
    ) -> Result<proto::ReadResourceResponse, Diagnostics> {
        let resource = self.resource(&request.type_name)?;
        let ty = resource.value_type();
        let Some(state) = decode_object("stored state", request.current_state, ty)? else {
            // Nothing was stored, so there is nothing to look for.
            return Ok(gone());
        };
        let private = decode_private(&request.private)?;
        let identity = decode_identity(request.current_identity, resource.identity_type())?;
        let context = self.context(request.client_capabilities);
        let question = Read { state, private: private.clone(), identity: identity.clone() };
        match resource.read(&context, question, told).await? {
            ReadAnswer::Gone => Ok(gone()),
            ReadAnswer::Present { state, private: new, identity: found } => {
                let state = stored("state that was read", Value::Known(state), &*resource)?;
                let identity = known_identity(found.or(identity))?;
                Ok(proto::ReadResourceResponse {
                    new_state: Some(encode("state that was read", state, ty)?),
                    diagnostics: Vec::new(),
                    private: new.over(private).to_bytes(),
                    new_identity: encode_identity(identity, resource.identity_type())?,
                })
            }
        }
    }

    pub(super) async fn import_resource_state(
        &self,
        request: proto::ImportResourceStateRequest,
        told: &mut Diagnostics,
    ) -> Result<proto::ImportResourceStateResponse, Diagnostics> {
        let resource = self.resource(&request.type_name)?;
        let identity = decode_identity(request.identity, resource.identity_type())?;
        let id = Some(request.id).filter(|id| !id.is_empty());
        let context = self.context(request.client_capabilities);
        let question = Import { id, identity: identity.clone() };
        let imported = resource.import(&context, question, told).await?;
        let state = stored("imported state", Value::Known(imported.state), &*resource)?;
        let identity = known_identity(imported.identity.or(identity))?;
        let imported = proto::ImportedResource {
            type_name: request.type_name,
            state: Some(encode("imported state", state, resource.value_type())?),
            private: imported.private.to_bytes(),
            identity: encode_identity(identity, resource.identity_type())?,
        };
        let imported_resources = vec![imported];
        Ok(proto::ImportResourceStateResponse { imported_resources, diagnostics: Vec::new() })
    }

    pub(super) async fn move_resource_state(
        &self,
        request: proto::MoveResourceStateRequest,
        told: &mut Diagnostics,
    ) -> Result<proto::MoveResourceStateResponse, Diagnostics> {
        let resource = self.resource(&request.target_type_name)?;
        let question = MoveState {
            provider_address: request.source_provider_address,
            type_name: request.source_type_name,
            schema_version: request.source_schema_version,
            state: raw_state(request.source_state)?,
            private: request.source_private,
            identity: request.source_identity.map(|raw| raw_state(Some(raw))).transpose()?,
            identity_schema_version: request.source_identity_schema_version,
        };
        let moved = resource.move_state(&self.context(None), question, told).await?;
        let state = stored("moved state", Value::Known(moved.state), &*resource)?;
        let identity = known_identity(moved.identity)?;
        Ok(proto::MoveResourceStateResponse {
            target_state: Some(encode("moved state", state, resource.value_type())?),
            diagnostics: Vec::new(),
            target_private: moved.private.to_bytes(),
            target_identity: encode_identity(identity, resource.identity_type())?,
        })
    }

    pub(super) async fn generate_resource_config(
        &self,
        request: proto::TypedRequest,
        _: &mut Diagnostics,
    ) -> Result<proto::GenerateResourceConfigResponse, Diagnostics> {
        Err(refuse::generate(&request.type_name))
    }
}

fn gone() -> proto::ReadResourceResponse {
    proto::ReadResourceResponse { new_state: Some(null()), ..Default::default() }
}

/// A state that may be stored: without write-only values, and with nothing unknown in it.
pub(super) fn stored(
    what: &str,
    state: Value,
    resource: &dyn AnyResource,
) -> Result<Value, Diagnostics> {
    let mut told = Diagnostics::new();
    let mut state = state;
    if let Value::Known(object) = &mut state {
        rules::null_write_only(object, resource.schema().attributes());
    }
    rules::refuse_unknowns(what, &state, &mut told);
    if told.is_empty() { Ok(state) } else { Err(told) }
}

/// An identity names what exists, so it cannot wait for an apply.
pub(super) fn known_identity(identity: Option<Value>) -> Result<Option<Value>, Diagnostics> {
    let mut told = Diagnostics::new();
    if let Some(identity) = &identity {
        rules::refuse_unknowns("identity", identity, &mut told);
    }
    if told.is_empty() { Ok(identity) } else { Err(told) }
}

fn raw_state(raw: Option<proto::RawState>) -> Result<RawState, Diagnostics> {
    let raw = raw.unwrap_or_default();
    if !raw.flatmap.is_empty() {
        let detail = "It was written by Terraform 0.11 or older. Let a release of the provider of \
                      that time and Terraform 0.12 upgrade it first.";
        return Err(Diagnostic::error("The stored state is too old to be read", detail).into());
    }
    let json = String::from_utf8(raw.json).map_err(|_| {
        let detail = "It is not UTF-8 text. Restore the state from a backup.";
        Diagnostic::error("The stored state cannot be read", detail)
    })?;
    Ok(RawState::new(json))
}

/// Takes write-only values out of an object on its way to a resource.
pub(super) fn stripped(mut object: Data, resource: &dyn AnyResource) -> Data {
    rules::null_write_only(&mut object, resource.schema().attributes());
    object
}
