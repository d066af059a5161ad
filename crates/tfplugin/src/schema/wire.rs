//! Schemas as Terraform is shown them.

use std::collections::BTreeMap;

use super::attribute::{Attribute, Mode, Nesting, Shape};
use super::{IdentityMode, IdentitySchema, Schema};
use crate::function::{Parameter, Signature, Tolerance};
use crate::proto::tfplugin6 as wire;

impl Schema {
    pub(crate) fn to_wire(&self) -> wire::Schema {
        wire::Schema {
            version: self.version,
            block: Some(wire::Block {
                version: self.version,
                attributes: attributes_to_wire(&self.attributes),
                description: self.description.clone(),
                description_kind: wire::StringKind::Markdown.into(),
                deprecated: self.deprecation.is_some(),
                deprecation_message: self.deprecation.clone().unwrap_or_default(),
            }),
        }
    }
}

fn attributes_to_wire(attributes: &BTreeMap<String, Attribute>) -> Vec<wire::Attribute> {
    attributes.iter().map(|(name, attribute)| attribute_to_wire(name, attribute)).collect()
}

fn attribute_to_wire(name: &str, attribute: &Attribute) -> wire::Attribute {
    // Exactly one of the two describes the value; core refuses a type beside nested attributes.
    let (ty, nested_type) = match &attribute.shape {
        Shape::Plain(ty) => (ty.to_json(), None),
        Shape::Nested(nesting, inner) => (Vec::new(), Some(nested_to_wire(*nesting, inner))),
    };
    wire::Attribute {
        name: name.to_owned(),
        r#type: ty,
        nested_type,
        description: attribute.description.clone(),
        description_kind: wire::StringKind::Markdown.into(),
        required: attribute.mode == Some(Mode::Required),
        optional: matches!(attribute.mode, Some(Mode::Optional | Mode::OptionalComputed)),
        computed: attribute.is_computed(),
        sensitive: attribute.sensitive,
        write_only: attribute.write_only,
        deprecated: attribute.deprecation.is_some(),
        deprecation_message: attribute.deprecation.clone().unwrap_or_default(),
    }
}

fn nested_to_wire(nesting: Nesting, inner: &BTreeMap<String, Attribute>) -> wire::NestedAttributes {
    let nesting = match nesting {
        Nesting::Single => wire::nested_attributes::Nesting::Single,
        Nesting::List => wire::nested_attributes::Nesting::List,
        Nesting::Set => wire::nested_attributes::Nesting::Set,
        Nesting::Map => wire::nested_attributes::Nesting::Map,
    };
    wire::NestedAttributes { attributes: attributes_to_wire(inner), nesting: nesting.into() }
}

impl IdentitySchema {
    pub(crate) fn to_wire(&self) -> wire::IdentitySchema {
        let attributes = self
            .attributes()
            .iter()
            .map(|(name, attribute)| wire::IdentityAttribute {
                name: name.clone(),
                r#type: attribute.ty.to_json(),
                required_for_import: attribute.mode == IdentityMode::RequiredForImport,
                optional_for_import: attribute.mode == IdentityMode::OptionalForImport,
                description: attribute.description.clone(),
            })
            .collect();
        wire::IdentitySchema { version: self.version(), attributes }
    }
}

impl Signature {
    pub(crate) fn to_wire(&self) -> wire::Function {
        wire::Function {
            parameters: self.parameters.iter().map(parameter_to_wire).collect(),
            variadic_parameter: self.variadic.as_ref().map(parameter_to_wire),
            r#return: Some(wire::Return { r#type: self.returns.to_json() }),
            summary: self.summary.clone(),
            description: self.description.clone(),
            description_kind: wire::StringKind::Markdown.into(),
            deprecation_message: self.deprecation.clone().unwrap_or_default(),
        }
    }
}

fn parameter_to_wire(parameter: &Parameter) -> wire::Parameter {
    let tolerance = parameter.tolerance;
    wire::Parameter {
        name: parameter.name.clone(),
        r#type: parameter.ty.to_json(),
        allow_null_value: matches!(tolerance, Tolerance::Null | Tolerance::NullAndUnknown),
        allow_unknown_values: matches!(tolerance, Tolerance::Unknown | Tolerance::NullAndUnknown),
        description: parameter.description.clone(),
        description_kind: wire::StringKind::Markdown.into(),
    }
}
