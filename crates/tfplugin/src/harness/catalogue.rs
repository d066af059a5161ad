//! What a provider offers, for tests that try all of it, and the two steps that every block goes
//! through whatever it is: it is validated, and then something is done with it.

use super::{Core, Failure, wire};
use crate::diagnostic::Diagnostics;
use crate::function::Signature;
use crate::proto::tfplugin6 as proto;
use crate::schema::Schema;
use crate::value::{Type, Value};

/// What a configuration is written for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sort {
    /// The provider block.
    Provider,
    /// A managed resource.
    Resource,
    /// A data source.
    DataSource,
    /// An ephemeral resource.
    Ephemeral,
}

/// One kind of block that the provider knows.
#[derive(Clone, Debug)]
pub struct Block {
    /// What it is for.
    pub sort: Sort,
    /// Its type; empty for the provider block.
    pub name: String,
    /// What may be written in it.
    pub schema: Schema,
}

impl Core {
    /// Every kind of block that the provider offers.
    pub fn blocks(&self) -> Vec<Block> {
        let inner = self.service.inner();
        let registry = &inner.registry;
        let block = |sort, name: &str, schema: &Schema| Block {
            sort,
            name: name.to_owned(),
            schema: schema.clone(),
        };
        let mut blocks = vec![block(Sort::Provider, "", inner.provider.schema())];
        blocks
            .extend(registry.resources.iter().map(|(n, it)| block(Sort::Resource, n, it.schema())));
        blocks.extend(
            registry.data_sources.iter().map(|(n, it)| block(Sort::DataSource, n, it.schema())),
        );
        blocks.extend(
            registry.ephemerals.iter().map(|(n, it)| block(Sort::Ephemeral, n, it.schema())),
        );
        blocks
    }

    /// Every function that the provider offers.
    pub fn functions(&self) -> Vec<(String, Signature)> {
        let functions = self.service.inner().registry.functions.iter();
        functions.map(|(name, it)| ((*name).to_owned(), it.signature().clone())).collect()
    }

    /// Validates a configuration, written as values of `ty`, which need not be what the schema says:
    /// core would never send such a thing, a damaged plan might.
    pub async fn examine(
        &self,
        block: &Block,
        config: &Value,
        ty: &Type,
    ) -> Result<Diagnostics, Failure> {
        let (config, mut client) = (Some(wire::encode(config, ty)?), self.client());
        let type_name = block.name.clone();
        let told = match block.sort {
            Sort::Provider => {
                let request = proto::ConfigRequest { config };
                wire::answered(client.validate_provider_config(request).await)?.diagnostics
            }
            Sort::Resource => {
                let client_capabilities = self.capabilities();
                let request = proto::TypedConfigRequest { type_name, config, client_capabilities };
                wire::answered(client.validate_resource_config(request).await)?.diagnostics
            }
            Sort::DataSource => {
                let request = proto::TypedRequest { type_name, config };
                wire::answered(client.validate_data_resource_config(request).await)?.diagnostics
            }
            Sort::Ephemeral => {
                let request = proto::TypedRequest { type_name, config };
                wire::answered(client.validate_ephemeral_resource_config(request).await)?
                    .diagnostics
            }
        };
        wire::accepted(told, None)
    }

    /// Validates a configuration and does what comes next: configures the provider, plans a
    /// resource, reads a data source, opens an ephemeral resource.
    pub async fn proceed(&self, block: &Block, config: &Value) -> Result<Diagnostics, Failure> {
        match block.sort {
            Sort::Provider => self.configure(config.clone()).await,
            Sort::Resource => Ok(self.plan(&block.name, config, None).await?.diagnostics),
            Sort::DataSource => Ok(self.read_data(&block.name, config).await?.1),
            Sort::Ephemeral => {
                let ty = block.schema.value_type();
                self.examine(block, config, &ty).await?;
                let request = proto::TypedConfigRequest {
                    type_name: block.name.clone(),
                    config: Some(wire::encode(config, &ty)?),
                    client_capabilities: self.capabilities(),
                };
                let answer = self.client().open_ephemeral_resource(request).await;
                wire::accepted(wire::answered(answer)?.diagnostics, None)
            }
        }
    }
}
