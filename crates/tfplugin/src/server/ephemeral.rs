//! The methods about ephemeral resources.

use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use super::rules;
use super::wire::{decode_present, decode_private, encode};
use super::{Inner, proto, refuse};
use crate::diagnostic::Diagnostics;
use crate::registry::AnyEphemeral;
use crate::value::Value;

impl Inner {
    fn ephemeral(&self, ty: &str) -> Result<Arc<dyn AnyEphemeral>, Diagnostics> {
        self.registry.ephemerals.get(ty).cloned().ok_or_else(|| refuse::ephemeral(ty))
    }

    pub(super) async fn validate_ephemeral_resource_config(
        &self,
        request: proto::TypedRequest,
        told: &mut Diagnostics,
    ) -> Result<proto::Findings, Diagnostics> {
        let ephemeral = self.ephemeral(&request.type_name)?;
        let config = decode_present("configuration", request.config, ephemeral.value_type())?;
        rules::refuse_computed(&config, ephemeral.schema(), told);
        rules::refuse_missing(&config, ephemeral.schema(), told);
        ephemeral.validate(&self.context(None), config, told).await?;
        Ok(proto::Findings::default())
    }

    pub(super) async fn open_ephemeral_resource(
        &self,
        request: proto::TypedConfigRequest,
        told: &mut Diagnostics,
    ) -> Result<proto::OpenEphemeralResourceResponse, Diagnostics> {
        let ephemeral = self.ephemeral(&request.type_name)?;
        let ty = ephemeral.value_type();
        let config = decode_present("configuration", request.config, ty)?;
        let context = self.context(request.client_capabilities);
        let opened = ephemeral.open(&context, config, told).await?;
        let result = Value::Known(opened.result);
        let mut unknown = Diagnostics::new();
        rules::refuse_unknowns("result", &result, &mut unknown);
        if !unknown.is_empty() {
            return Err(unknown);
        }
        Ok(proto::OpenEphemeralResourceResponse {
            diagnostics: Vec::new(),
            renew_at: opened.renew_at.map(timestamp),
            result: Some(encode("result", result, ty)?),
            private: Some(opened.private.to_bytes()).filter(|bytes| !bytes.is_empty()),
        })
    }

    pub(super) async fn renew_ephemeral_resource(
        &self,
        request: proto::EphemeralRequest,
        told: &mut Diagnostics,
    ) -> Result<proto::RenewEphemeralResourceResponse, Diagnostics> {
        let ephemeral = self.ephemeral(&request.type_name)?;
        let private = decode_private(&request.private.unwrap_or_default())?;
        let renewed = ephemeral.renew(&self.context(None), private.clone(), told).await?;
        let private = renewed.private.over(private).to_bytes();
        Ok(proto::RenewEphemeralResourceResponse {
            diagnostics: Vec::new(),
            renew_at: renewed.renew_at.map(timestamp),
            private: Some(private).filter(|bytes| !bytes.is_empty()),
        })
    }

    pub(super) async fn close_ephemeral_resource(
        &self,
        request: proto::EphemeralRequest,
        told: &mut Diagnostics,
    ) -> Result<proto::Findings, Diagnostics> {
        let ephemeral = self.ephemeral(&request.type_name)?;
        let private = decode_private(&request.private.unwrap_or_default())?;
        ephemeral.close(&self.context(None), private, told).await?;
        Ok(proto::Findings::default())
    }
}

/// A moment before 1970 is a moment that has passed, and so is 1970.
fn timestamp(at: SystemTime) -> proto::Timestamp {
    let since = at.duration_since(UNIX_EPOCH).unwrap_or_default();
    let seconds = i64::try_from(since.as_secs()).unwrap_or(i64::MAX);
    proto::Timestamp { seconds, nanos: since.subsec_nanos() as i32 }
}
