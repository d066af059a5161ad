//! The methods about data sources.

use std::sync::Arc;

use super::rules;
use super::wire::{decode_present, encode};
use super::{Inner, proto, refuse};
use crate::diagnostic::Diagnostics;
use crate::registry::AnyDataSource;
use crate::value::Value;

impl Inner {
    fn data_source(&self, ty: &str) -> Result<Arc<dyn AnyDataSource>, Diagnostics> {
        self.registry.data_sources.get(ty).cloned().ok_or_else(|| refuse::data_source(ty))
    }

    pub(super) async fn validate_data_resource_config(
        &self,
        request: proto::TypedRequest,
        told: &mut Diagnostics,
    ) -> Result<proto::Findings, Diagnostics> {
        let source = self.data_source(&request.type_name)?;
        let config = decode_present("configuration", request.config, source.value_type())?;
        rules::refuse_computed(&config, source.schema(), told);
        rules::refuse_missing(&config, source.schema(), told);
        source.validate(&self.context(None), config, told).await?;
        Ok(proto::Findings::default())
    }

    pub(super) async fn read_data_source(
        &self,
        request: proto::ReadDataSourceRequest,
        told: &mut Diagnostics,
    ) -> Result<proto::ReadDataSourceResponse, Diagnostics> {
        let source = self.data_source(&request.type_name)?;
        let ty = source.value_type();
        let config = decode_present("configuration", request.config, ty)?;
        let context = self.context(request.client_capabilities);
        let state = Value::Known(source.read(&context, config, told).await?);
        let mut unknown = Diagnostics::new();
        rules::refuse_unknowns("data that was read", &state, &mut unknown);
        if !unknown.is_empty() {
            return Err(unknown);
        }
        let state = Some(encode("data that was read", state, ty)?);
        Ok(proto::ReadDataSourceResponse { state, diagnostics: Vec::new() })
    }
}
