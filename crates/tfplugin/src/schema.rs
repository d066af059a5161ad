//! Schemas: what attributes a provider, resource, data source or ephemeral resource has.
//!
//! A schema is built once, in one expression, and read often: Terraform is shown it, and the
//! codec is led by the [`Type`] that follows from it. There are no blocks. Nested attributes can
//! do what blocks do and can be null, unknown and computed besides.
//!
//! A builder cannot fail, so wrong combinations are found by [`Schema::check`], which a
//! provider calls in one test.

mod attribute;
mod check;
mod identity;
pub(crate) mod wire;

use std::collections::BTreeMap;

pub use attribute::{Attribute, Mode, Nesting, Shape};
pub use check::{Flaw, SchemaFlaw};
pub use identity::{IdentityAttribute, IdentityMode, IdentitySchema};

use crate::value::Type;

/// The attributes of one kind of thing, and the version of their stored form.
#[derive(Clone, Debug, PartialEq)]
pub struct Schema {
    version: i64,
    description: String,
    deprecation: Option<String>,
    attributes: BTreeMap<String, Attribute>,
    /// The builder's answer to a name that is used twice, kept for `check`.
    repeated: Vec<String>,
}

impl Schema {
    /// An empty schema. The version counts changes of the stored form.
    pub fn new(version: i64) -> Self {
        Self {
            version,
            description: String::new(),
            deprecation: None,
            attributes: BTreeMap::new(),
            repeated: Vec::new(),
        }
    }

    /// Describes the whole, in Markdown.
    pub fn describe(mut self, markdown: impl Into<String>) -> Self {
        self.description = markdown.into();
        self
    }

    /// Marks the whole as deprecated and says why.
    pub fn deprecated(mut self, why: impl Into<String>) -> Self {
        self.deprecation = Some(why.into());
        self
    }

    /// The attributes that a model describes.
    pub fn of<M: crate::Model>(version: i64) -> Self {
        let all = M::attributes().into_iter();
        all.fold(Self::new(version), |schema, (name, attribute)| schema.attribute(name, attribute))
    }

    /// Adds an attribute.
    pub fn attribute(mut self, name: impl Into<String>, attribute: Attribute) -> Self {
        let name = name.into();
        if self.attributes.contains_key(&name) {
            self.repeated.push(name.clone());
        }
        self.attributes.insert(name, attribute);
        self
    }

    /// The version of the stored form.
    pub fn version(&self) -> i64 {
        self.version
    }

    /// The description, in Markdown.
    pub fn description(&self) -> &str {
        &self.description
    }

    /// The attributes by name.
    pub fn attributes(&self) -> &BTreeMap<String, Attribute> {
        &self.attributes
    }

    /// The type of values with this schema: always an object.
    pub fn value_type(&self) -> Type {
        attribute::object_type(&self.attributes)
    }
}
