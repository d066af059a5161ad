//! Where a description of a cluster stands, as seen by whoever is told about it.

use tfplugin::{AttributePath, Diagnostic, Step};

use crate::messages;

/// A diagnostic can only point into the block that was asked about. What stands in another one is
/// named in words.
#[derive(Clone, Debug)]
pub(crate) enum Place {
    /// In the block that is being asked about.
    Here(AttributePath),
    /// In the provider block, while a resource is being asked about.
    ProviderBlock(AttributePath),
}

impl Place {
    /// On into an attribute.
    pub(crate) fn attribute(&self, name: &str) -> Self {
        match self {
            Self::Here(path) => Self::Here(path.clone().attribute(name)),
            Self::ProviderBlock(path) => Self::ProviderBlock(path.clone().attribute(name)),
        }
    }

    /// Has a diagnostic say where.
    pub(crate) fn point(&self, diagnostic: Diagnostic) -> Diagnostic {
        match self {
            // Terraform shows the block and no more: deep inside, words must help.
            Self::Here(path) if is_deep(path) => {
                messages::connection::deep_inside(diagnostic, path).at(path.clone())
            }
            Self::Here(path) => diagnostic.at(path.clone()),
            Self::ProviderBlock(path) => messages::connection::in_provider_block(diagnostic, path),
        }
    }
}

/// Whether it is more than an attribute of the one `cluster` of a block.
fn is_deep(path: &AttributePath) -> bool {
    path.steps().len() > 2 || path.steps().iter().any(|step| !matches!(step, Step::Attribute(_)))
}
