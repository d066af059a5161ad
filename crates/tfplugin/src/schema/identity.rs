//! Identity schemas: what names a resource outside of its state.
//!
//! An identity is what an `import` block may give instead of an id. It is flat: plain types only.

use std::collections::BTreeMap;

use crate::value::Type;

/// Whether an import must give an identity attribute.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IdentityMode {
    /// An import must give it.
    RequiredForImport,
    /// An import may leave it out, and the provider fills it in.
    OptionalForImport,
}

/// One attribute of an identity.
#[derive(Clone, Debug, PartialEq)]
pub struct IdentityAttribute {
    pub(super) ty: Type,
    pub(super) mode: IdentityMode,
    pub(super) description: String,
}

/// The attributes that name a resource.
#[derive(Clone, Debug, PartialEq)]
pub struct IdentitySchema {
    version: i64,
    attributes: BTreeMap<String, IdentityAttribute>,
}

impl IdentitySchema {
    /// An empty identity. The version counts changes of the stored form.
    pub fn new(version: i64) -> Self {
        Self { version, attributes: BTreeMap::new() }
    }

    /// Adds an attribute.
    pub fn attribute(
        mut self,
        name: impl Into<String>,
        ty: Type,
        mode: IdentityMode,
        description: impl Into<String>,
    ) -> Self {
        let description = description.into();
        self.attributes.insert(name.into(), IdentityAttribute { ty, mode, description });
        self
    }

    /// The version of the stored form.
    pub fn version(&self) -> i64 {
        self.version
    }

    /// The attributes by name.
    pub fn attributes(&self) -> &BTreeMap<String, IdentityAttribute> {
        &self.attributes
    }

    /// The type of identities: always an object.
    pub fn value_type(&self) -> Type {
        Type::object(self.attributes.iter().map(|(name, attribute)| (name, attribute.ty.clone())))
    }
}
