//! A data source without its type.

use std::sync::OnceLock;

use super::{BoxFuture, typed};
use crate::context::Context;
use crate::data_source::DataSource;
use crate::diagnostic::Diagnostics;
use crate::model::FromData as _;
use crate::schema::Schema;
use crate::value::{Data, Type};

pub(crate) trait AnyDataSource: Send + Sync {
    fn schema(&self) -> &Schema;
    fn value_type(&self) -> &Type;

    fn validate<'a>(
        &'a self,
        ctx: &'a Context,
        config: Data,
        notices: &'a mut Diagnostics,
    ) -> BoxFuture<'a, Result<(), Diagnostics>>;

    fn read<'a>(
        &'a self,
        ctx: &'a Context,
        config: Data,
        notices: &'a mut Diagnostics,
    ) -> BoxFuture<'a, Result<Data, Diagnostics>>;
}

pub(crate) struct Erased<D> {
    data_source: D,
    schema: OnceLock<(Schema, Type)>,
}

impl<D: DataSource> Erased<D> {
    pub(super) fn new(data_source: D) -> Self {
        Self { data_source, schema: OnceLock::new() }
    }

    fn schema_and_type(&self) -> &(Schema, Type) {
        self.schema.get_or_init(|| {
            let schema = self.data_source.schema();
            let ty = schema.value_type();
            (schema, ty)
        })
    }
}

impl<D: DataSource> AnyDataSource for Erased<D> {
    fn schema(&self) -> &Schema {
        &self.schema_and_type().0
    }

    fn value_type(&self) -> &Type {
        &self.schema_and_type().1
    }

    fn validate<'a>(
        &'a self,
        ctx: &'a Context,
        config: Data,
        notices: &'a mut Diagnostics,
    ) -> BoxFuture<'a, Result<(), Diagnostics>> {
        Box::pin(async move {
            let config = typed(config)?;
            self.data_source.validate(ctx, config, notices).await
        })
    }

    fn read<'a>(
        &'a self,
        ctx: &'a Context,
        config: Data,
        notices: &'a mut Diagnostics,
    ) -> BoxFuture<'a, Result<Data, Diagnostics>> {
        Box::pin(async move {
            let config = typed(config)?;
            self.data_source.read(ctx, config, notices).await.map(|model| model.into_data())
        })
    }
}
