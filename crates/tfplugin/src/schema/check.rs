//! What Terraform forbids in schemas, found before Terraform finds it.

use std::collections::BTreeMap;

use super::attribute::{Attribute, Mode, Nesting, Shape};
use super::{IdentitySchema, Schema};
use crate::path::AttributePath;
use crate::value::Type;

/// What is wrong with an attribute.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Flaw {
    /// The name has other letters than Terraform allows, or none.
    #[error("the name must begin with a letter or `_` and hold only `a`-`z`, `0`-`9` and `_`")]
    Name,
    /// The name stands for something else in a resource block.
    #[error("the name is reserved by Terraform")]
    Reserved,
    /// The name is used twice.
    #[error("the name is used more than once")]
    Repeated,
    /// Nobody sets it.
    #[error("it must be required, optional, computed, or optional and computed")]
    NoMode,
    /// A write-only value that the provider would set.
    #[error("a write-only attribute cannot be computed")]
    WriteOnlyComputed,
    /// A write-only value that could not be told from others.
    #[error("a set can hold no write-only attribute")]
    WriteOnlyInSet,
    /// A set of values of any type.
    #[error("a set can hold no dynamic attribute")]
    DynamicInSet,
    /// A collection of dynamic values, whose elements could not be of one type.
    #[error("a collection can hold no dynamic value")]
    DynamicInCollection,
    /// A write-only parent with a child that would be stored.
    #[error("every attribute inside a write-only one must be write-only")]
    StoredInWriteOnly,
    /// An object without attributes.
    #[error("a nested attribute needs attributes")]
    Empty,
    /// An identity attribute that cannot be written in an import block.
    #[error("an identity attribute must be a bool, a number, a string or a list of them")]
    IdentityType,
    /// An attribute without a word for the reader.
    #[error("it has no description")]
    Undescribed,
}

/// A flaw and its place.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{path}`: {flaw}")]
pub struct SchemaFlaw {
    /// Which attribute.
    pub path: AttributePath,
    /// What is wrong with it.
    pub flaw: Flaw,
}

/// Names that mean something else in every resource block.
const RESERVED: [&str; 7] =
    ["connection", "count", "depends_on", "for_each", "lifecycle", "provider", "provisioner"];

impl Schema {
    /// Everything that Terraform would refuse, or that a reader of the documentation would miss.
    pub fn check(&self) -> Vec<SchemaFlaw> {
        let mut flaws = Vec::new();
        for name in &self.repeated {
            flaws.push(SchemaFlaw { path: AttributePath::root(name), flaw: Flaw::Repeated });
        }
        for name in self.attributes.keys().filter(|name| RESERVED.contains(&name.as_str())) {
            flaws.push(SchemaFlaw { path: AttributePath::root(name), flaw: Flaw::Reserved });
        }
        check_attributes(&self.attributes, &AttributePath::default(), Inside::Nothing, &mut flaws);
        flaws
    }
}

impl IdentitySchema {
    /// Everything that Terraform would refuse.
    pub fn check(&self) -> Vec<SchemaFlaw> {
        let mut flaws = Vec::new();
        for (name, attribute) in self.attributes() {
            let path = AttributePath::root(name);
            if !is_name(name) {
                flaws.push(SchemaFlaw { path: path.clone(), flaw: Flaw::Name });
            }
            let primitive = |ty: &Type| matches!(ty, Type::Bool | Type::Number | Type::String);
            let fits = match &attribute.ty {
                Type::List(element) => primitive(element),
                other => primitive(other),
            };
            if !fits {
                flaws.push(SchemaFlaw { path, flaw: Flaw::IdentityType });
            }
        }
        flaws
    }
}

/// What an attribute stands in that bears on its rules.
#[derive(Clone, Copy, PartialEq)]
enum Inside {
    Nothing,
    Set,
    WriteOnly,
}

fn check_attributes(
    attributes: &BTreeMap<String, Attribute>,
    parent: &AttributePath,
    inside: Inside,
    flaws: &mut Vec<SchemaFlaw>,
) {
    for (name, attribute) in attributes {
        let path = parent.clone().attribute(name);
        let mut report = |flaw| flaws.push(SchemaFlaw { path: path.clone(), flaw });
        if !is_name(name) {
            report(Flaw::Name);
        }
        if attribute.description.is_empty() {
            report(Flaw::Undescribed);
        }
        match attribute.mode {
            None => report(Flaw::NoMode),
            Some(Mode::Computed | Mode::OptionalComputed) if attribute.write_only => {
                report(Flaw::WriteOnlyComputed);
            }
            Some(_) => {}
        }
        match inside {
            Inside::Set if attribute.write_only => report(Flaw::WriteOnlyInSet),
            Inside::WriteOnly if !attribute.write_only => report(Flaw::StoredInWriteOnly),
            _ => {}
        }
        match &attribute.shape {
            Shape::Plain(ty) => {
                if inside == Inside::Set && holds_dynamic(ty) {
                    report(Flaw::DynamicInSet);
                }
                if holds_dynamic_in_collection(ty) {
                    report(Flaw::DynamicInCollection);
                }
            }
            Shape::Nested(nesting, inner) => {
                if inner.is_empty() {
                    report(Flaw::Empty);
                }
                let within = match (inside, nesting) {
                    (Inside::Set, _) | (_, Nesting::Set) => Inside::Set,
                    _ if attribute.write_only => Inside::WriteOnly,
                    _ => Inside::Nothing,
                };
                check_attributes(inner, &path, within, flaws);
            }
        }
    }
}

fn is_name(name: &str) -> bool {
    let allowed = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_';
    name.bytes().all(allowed) && name.bytes().next().is_some_and(|first| !first.is_ascii_digit())
}

fn holds_dynamic(ty: &Type) -> bool {
    match ty {
        Type::Dynamic => true,
        Type::Bool | Type::Number | Type::String => false,
        Type::List(element) | Type::Set(element) | Type::Map(element) => holds_dynamic(element),
        Type::Tuple(elements) => elements.iter().any(holds_dynamic),
        Type::Object(attributes) => attributes.values().any(holds_dynamic),
    }
}

fn holds_dynamic_in_collection(ty: &Type) -> bool {
    match ty {
        Type::Dynamic | Type::Bool | Type::Number | Type::String => false,
        Type::List(element) | Type::Set(element) | Type::Map(element) => holds_dynamic(element),
        Type::Tuple(elements) => elements.iter().any(holds_dynamic_in_collection),
        Type::Object(attributes) => attributes.values().any(holds_dynamic_in_collection),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn flaws(schema: Schema) -> Vec<(String, Flaw)> {
        schema.check().into_iter().map(|found| (found.path.to_string(), found.flaw)).collect()
    }

    fn text() -> Attribute {
        Attribute::string().describe("Text.")
    }

    #[test]
    fn finds_nothing_in_a_sound_schema() {
        let secret = [("token", text().optional().sensitive().write_only())];
        let schema = Schema::new(0)
            .attribute("name", text().required())
            .attribute("id", text().computed())
            .attribute(
                "auth",
                Attribute::nested(Nesting::Single, secret).optional().describe("A."),
            );
        assert_eq!(flaws(schema), []);
    }

    #[test]
    fn finds_names_that_terraform_refuses() {
        let schema = Schema::new(0)
            .attribute("Name", text().required())
            .attribute("1st", text().required())
            .attribute("count", text().required());
        let expected = [("count", Flaw::Reserved), ("1st", Flaw::Name), ("Name", Flaw::Name)];
        assert_eq!(flaws(schema), expected.map(|(path, flaw)| (path.to_owned(), flaw)));
    }

    #[test]
    fn finds_attributes_that_nobody_sets_or_that_stand_twice() {
        let schema = Schema::new(0).attribute("a", text()).attribute("a", text());
        let expected = [("a", Flaw::Repeated), ("a", Flaw::NoMode)];
        assert_eq!(flaws(schema), expected.map(|(path, flaw)| (path.to_owned(), flaw)));
    }

    #[test]
    fn finds_write_only_attributes_where_they_cannot_stand() {
        let inner = [("token", text().optional().write_only())];
        let schema = Schema::new(0)
            .attribute("a", text().computed().write_only())
            .attribute("b", Attribute::nested(Nesting::Set, inner).optional().describe("B."));
        let expected = [("a", Flaw::WriteOnlyComputed), ("b.token", Flaw::WriteOnlyInSet)];
        assert_eq!(flaws(schema), expected.map(|(path, flaw)| (path.to_owned(), flaw)));
    }

    #[test]
    fn finds_dynamic_values_where_they_cannot_stand() {
        let inner = [("any", Attribute::dynamic().optional().describe("Any."))];
        let schema = Schema::new(0)
            .attribute("a", Attribute::list(Type::Dynamic).optional().describe("A."))
            .attribute("b", Attribute::nested(Nesting::Set, inner).optional().describe("B."));
        let expected = [("a", Flaw::DynamicInCollection), ("b.any", Flaw::DynamicInSet)];
        assert_eq!(flaws(schema), expected.map(|(path, flaw)| (path.to_owned(), flaw)));
    }
}
