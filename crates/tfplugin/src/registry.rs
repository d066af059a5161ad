//! What a provider offers, by name.
//!
//! The traits that providers implement have async functions and associated types, so they cannot
//! be put behind a pointer as they are. Each is written out once more by [`erased!`]: models become
//! [`Data`], futures are boxed, and a value that does not fit its model becomes a diagnostic.
//!
//! Schemas are built when first asked for: Terraform starts a provider several times a command
//! and mostly uses a few of its types.
//!
//! [`Data`]: crate::value::Data

pub(crate) mod function;
mod provider;
mod typed;

use std::collections::BTreeMap;
use std::pin::Pin;
use std::sync::{Arc, OnceLock};

pub use provider::Provider;

use crate::context::Context;
use crate::data_source::DataSource;
use crate::diagnostic::Diagnostics;
use crate::ephemeral::{Ephemeral, Opened, Renewed};
use crate::function::Function;
use crate::model::FromData as _;
use crate::private::Private;
use crate::raw::RawState;
use crate::resource::{
    Applied, ApplyFailure, Create, Delete, Import, Imported, MoveState, Moved, Plan, PlanDestroy,
    Planned, Read, ReadAnswer, Resource, Update,
};
use crate::schema::{IdentitySchema, Schema};
use crate::value::{Data, Type, Value};
use typed::{FromErased, IntoErased};

/// Where a provider says what it offers. A type that is registered twice is offered once, as
/// it was registered last.
#[derive(Default)]
pub struct Registry {
    pub(crate) resources: BTreeMap<&'static str, Arc<dyn AnyResource>>,
    pub(crate) data_sources: BTreeMap<&'static str, Arc<dyn AnyDataSource>>,
    pub(crate) ephemerals: BTreeMap<&'static str, Arc<dyn AnyEphemeral>>,
    pub(crate) functions: BTreeMap<&'static str, Arc<dyn function::AnyFunction>>,
}

impl Registry {
    /// Offers a managed resource type.
    pub fn resource<R: Resource>(&mut self, resource: R) -> &mut Self {
        self.resources.insert(R::TYPE, Arc::new(Erased::new(resource, R::schema)));
        self
    }

    /// Offers a data source type.
    pub fn data_source<D: DataSource>(&mut self, data_source: D) -> &mut Self {
        self.data_sources.insert(D::TYPE, Arc::new(Erased::new(data_source, D::schema)));
        self
    }

    /// Offers a function.
    pub fn function<F: Function>(&mut self, function: F) -> &mut Self {
        self.functions.insert(F::NAME, Arc::new(function::ErasedFunction::new(function)));
        self
    }

    /// Offers an ephemeral resource type.
    pub fn ephemeral<E: Ephemeral>(&mut self, ephemeral: E) -> &mut Self {
        self.ephemerals.insert(E::TYPE, Arc::new(Erased::new(ephemeral, E::schema)));
        self
    }
}

pub(crate) type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// A part of a provider without its type.
pub(crate) struct Erased<T> {
    inner: T,
    describe: fn(&T) -> Schema,
    schema: OnceLock<(Schema, Type)>,
    /// Only of a resource.
    identity: OnceLock<Option<(IdentitySchema, Type)>>,
}

impl<T> Erased<T> {
    pub(crate) fn new(inner: T, describe: fn(&T) -> Schema) -> Self {
        Self { inner, describe, schema: OnceLock::new(), identity: OnceLock::new() }
    }

    fn schema_and_type(&self) -> &(Schema, Type) {
        self.schema.get_or_init(|| {
            let schema = (self.describe)(&self.inner);
            let ty = schema.value_type();
            (schema, ty)
        })
    }
}

pub(crate) trait Described: Send + Sync {
    fn schema(&self) -> &Schema;
    fn value_type(&self) -> &Type;
}

impl<T: Send + Sync> Described for Erased<T> {
    fn schema(&self) -> &Schema {
        &self.schema_and_type().0
    }

    fn value_type(&self) -> &Type {
        &self.schema_and_type().1
    }
}

/// What a resource does without a cluster.
pub(crate) trait Upgrading: Described {
    /// The schema of the identity, and its type.
    fn identity(&self) -> Option<&(IdentitySchema, Type)>;
    fn upgrade(&self, from_version: i64, raw: RawState) -> Result<Data, Diagnostics>;
    fn upgrade_identity(&self, from_version: i64, raw: RawState) -> Result<Value, Diagnostics>;

    fn identity_type(&self) -> Option<&Type> {
        self.identity().map(|(_, ty)| ty)
    }
}

impl<R: Resource> Upgrading for Erased<R> {
    fn identity(&self) -> Option<&(IdentitySchema, Type)> {
        let described = || {
            let schema = self.inner.identity_schema()?;
            let ty = schema.value_type();
            Some((schema, ty))
        };
        self.identity.get_or_init(described).as_ref()
    }

    fn upgrade(&self, from_version: i64, raw: RawState) -> Result<Data, Diagnostics> {
        self.inner.upgrade(from_version, raw).map(|model| model.into_data())
    }

    fn upgrade_identity(&self, from_version: i64, raw: RawState) -> Result<Value, Diagnostics> {
        self.inner.upgrade_identity(from_version, raw)
    }
}

/// Writes a trait without models from a table of its methods, and implements it for everything that
/// implements the trait with models.
macro_rules! erased {
    ($any:ident: $base:ident for $trait:ident {
        $( $method:ident($request:ty) -> $answer:ty; )*
    }) => {
        pub(crate) trait $any: $base {
            $( fn $method<'a>(
                &'a self,
                ctx: &'a Context,
                request: $request,
                notices: &'a mut Diagnostics,
            ) -> BoxFuture<'a, $answer>; )*
        }

        impl<T: $trait> $any for Erased<T> {
            $( fn $method<'a>(
                &'a self,
                ctx: &'a Context,
                request: $request,
                notices: &'a mut Diagnostics,
            ) -> BoxFuture<'a, $answer> {
                Box::pin(async move {
                    let request = FromErased::from_erased(request)?;
                    self.inner.$method(ctx, request, notices).await.into_erased()
                })
            } )*
        }
    };
}

erased! { AnyProvider: Described for Provider {
    validate(Data) -> Result<(), Diagnostics>;
    configure(Data) -> Result<(), Diagnostics>;
} }

erased! { AnyResource: Upgrading for Resource {
    validate(Data) -> Result<(), Diagnostics>;
    read(Read<Data>) -> Result<ReadAnswer<Data>, Diagnostics>;
    plan(Plan<Data>) -> Result<Planned<Data>, Diagnostics>;
    plan_destroy(PlanDestroy<Data>) -> Result<Private, Diagnostics>;
    create(Create<Data>) -> Result<Applied<Data>, ApplyFailure<Data>>;
    update(Update<Data>) -> Result<Applied<Data>, ApplyFailure<Data>>;
    delete(Delete<Data>) -> Result<(), Diagnostics>;
    import(Import) -> Result<Imported<Data>, Diagnostics>;
    move_state(MoveState) -> Result<Moved<Data>, Diagnostics>;
} }

erased! { AnyDataSource: Described for DataSource {
    validate(Data) -> Result<(), Diagnostics>;
    read(Data) -> Result<Data, Diagnostics>;
} }

erased! { AnyEphemeral: Described for Ephemeral {
    validate(Data) -> Result<(), Diagnostics>;
    open(Data) -> Result<Opened<Data>, Diagnostics>;
    renew(Private) -> Result<Renewed, Diagnostics>;
    close(Private) -> Result<(), Diagnostics>;
} }
