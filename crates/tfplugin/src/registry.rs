//! What a provider offers, by name.
//!
//! The traits that providers implement have async functions and associated types, so they cannot
//! be put behind a pointer as they are. The modules below erase them: models become [`Data`],
//! futures are boxed, and a value that does not fit its model becomes a diagnostic.
//!
//! Schemas are built when first asked for: Terraform starts a provider several times a command
//! and mostly uses a few of its types.
//!
//! [`Data`]: crate::value::Data

pub(crate) mod data_source;
pub(crate) mod ephemeral;
pub(crate) mod function;
pub(crate) mod provider;
pub(crate) mod resource;

use std::collections::BTreeMap;
use std::pin::Pin;
use std::sync::Arc;

pub use provider::Provider;

use crate::data_source::DataSource;
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::ephemeral::Ephemeral;
use crate::function::Function;
use crate::model::FromData;
use crate::resource::Resource;
use crate::value::Data;

/// Where a provider says what it offers. A type that is registered twice is offered once, as
/// it was registered last.
#[derive(Default)]
pub struct Registry {
    pub(crate) resources: BTreeMap<&'static str, Arc<dyn resource::AnyResource>>,
    pub(crate) data_sources: BTreeMap<&'static str, Arc<dyn data_source::AnyDataSource>>,
    pub(crate) ephemerals: BTreeMap<&'static str, Arc<dyn ephemeral::AnyEphemeral>>,
    pub(crate) functions: BTreeMap<&'static str, Arc<dyn function::AnyFunction>>,
}

impl Registry {
    /// Offers a managed resource type.
    pub fn resource<R: Resource>(&mut self, resource: R) -> &mut Self {
        self.resources.insert(R::TYPE, Arc::new(resource::Erased::new(resource)));
        self
    }

    /// Offers a data source type.
    pub fn data_source<D: DataSource>(&mut self, data_source: D) -> &mut Self {
        self.data_sources.insert(D::TYPE, Arc::new(data_source::Erased::new(data_source)));
        self
    }

    /// Offers a function.
    pub fn function<F: Function>(&mut self, function: F) -> &mut Self {
        self.functions.insert(F::NAME, Arc::new(function::Erased::new(function)));
        self
    }

    /// Offers an ephemeral resource type.
    pub fn ephemeral<E: Ephemeral>(&mut self, ephemeral: E) -> &mut Self {
        self.ephemerals.insert(E::TYPE, Arc::new(ephemeral::Erased::new(ephemeral)));
        self
    }
}

pub(crate) type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// Gives a value its model. The schema was already laid over the value, so a mismatch means
/// that schema and model disagree.
fn typed<M: FromData>(data: Data) -> Result<M, Diagnostics> {
    M::from_data(data).map_err(|mismatch| {
        Diagnostic::mismatch("The provider's schema and model disagree", &mismatch).into()
    })
}
