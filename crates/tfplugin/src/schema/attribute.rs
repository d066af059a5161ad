//! One attribute of a schema.

use std::collections::BTreeMap;

use crate::value::Type;

/// Who sets an attribute.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// The user must.
    Required,
    /// The user may.
    Optional,
    /// Only the provider does.
    Computed,
    /// The user may; otherwise the provider does.
    OptionalComputed,
}

/// How nested attributes are grouped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Nesting {
    /// One object.
    Single,
    /// A list of objects.
    List,
    /// A set of objects.
    Set,
    /// Objects by key.
    Map,
}

/// What an attribute holds.
#[derive(Clone, Debug, PartialEq)]
pub enum Shape {
    /// A value of a type.
    Plain(Type),
    /// Objects whose attributes have schemas of their own.
    Nested(Nesting, BTreeMap<String, Attribute>),
}

/// One attribute: its shape, who sets it, and what users are told about it.
#[derive(Clone, Debug, PartialEq)]
pub struct Attribute {
    pub(super) shape: Shape,
    pub(super) mode: Option<Mode>,
    pub(super) sensitive: bool,
    pub(super) write_only: bool,
    pub(super) deprecation: Option<String>,
    pub(super) description: String,
}

impl Attribute {
    /// Holds a value of any type.
    pub fn of(ty: Type) -> Self {
        Self::shaped(Shape::Plain(ty))
    }

    /// Holds text.
    pub fn string() -> Self {
        Self::of(Type::String)
    }

    /// Holds true or false.
    pub fn bool() -> Self {
        Self::of(Type::Bool)
    }

    /// Holds a number.
    pub fn number() -> Self {
        Self::of(Type::Number)
    }

    /// Holds a list of elements of a type.
    pub fn list(element: Type) -> Self {
        Self::of(Type::list(element))
    }

    /// Holds a set of elements of a type.
    pub fn set(element: Type) -> Self {
        Self::of(Type::set(element))
    }

    /// Holds a map to elements of a type.
    pub fn map(element: Type) -> Self {
        Self::of(Type::map(element))
    }

    /// Holds an object of a plain type; see [`Type::object`].
    pub fn object_of(object: Type) -> Self {
        Self::of(object)
    }

    /// Holds a value whose type the user chooses.
    pub fn dynamic() -> Self {
        Self::of(Type::Dynamic)
    }

    /// Holds objects whose attributes have schemas of their own.
    pub fn nested<N: Into<String>>(
        nesting: Nesting,
        attributes: impl IntoIterator<Item = (N, Attribute)>,
    ) -> Self {
        let attributes = attributes.into_iter().map(|(name, inner)| (name.into(), inner)).collect();
        Self::shaped(Shape::Nested(nesting, attributes))
    }

    fn shaped(shape: Shape) -> Self {
        Self {
            shape,
            mode: None,
            sensitive: false,
            write_only: false,
            deprecation: None,
            description: String::new(),
        }
    }

    /// The user must set it.
    pub fn required(mut self) -> Self {
        self.mode = Some(Mode::Required);
        self
    }

    /// The user may set it.
    pub fn optional(mut self) -> Self {
        self.mode = Some(Mode::Optional);
        self
    }

    /// Only the provider sets it.
    pub fn computed(mut self) -> Self {
        self.mode = Some(Mode::Computed);
        self
    }

    /// The user may set it; otherwise the provider does.
    pub fn optional_computed(mut self) -> Self {
        self.mode = Some(Mode::OptionalComputed);
        self
    }

    /// Its value is hidden from the screen.
    pub fn sensitive(mut self) -> Self {
        self.sensitive = true;
        self
    }

    /// Its value is in the configuration only, never in plan or state.
    pub fn write_only(mut self) -> Self {
        self.write_only = true;
        self
    }

    /// Marks it as deprecated and says why.
    pub fn deprecated(mut self, why: impl Into<String>) -> Self {
        self.deprecation = Some(why.into());
        self
    }

    /// Describes it, in Markdown.
    pub fn describe(mut self, markdown: impl Into<String>) -> Self {
        self.description = markdown.into();
        self
    }

    /// What it holds.
    pub fn shape(&self) -> &Shape {
        &self.shape
    }

    /// Who sets it.
    pub fn mode(&self) -> Option<Mode> {
        self.mode
    }

    /// Whether the provider may set it.
    pub fn is_computed(&self) -> bool {
        matches!(self.mode, Some(Mode::Computed | Mode::OptionalComputed))
    }

    /// Whether its value is hidden from the screen.
    pub fn is_sensitive(&self) -> bool {
        self.sensitive
    }

    /// Whether its value stays out of plan and state.
    pub fn is_write_only(&self) -> bool {
        self.write_only
    }

    /// The description, in Markdown.
    pub fn description(&self) -> &str {
        &self.description
    }

    /// The type of its values.
    pub fn value_type(&self) -> Type {
        match &self.shape {
            Shape::Plain(ty) => ty.clone(),
            Shape::Nested(nesting, attributes) => {
                let object = object_type(attributes);
                match nesting {
                    Nesting::Single => object,
                    Nesting::List => Type::list(object),
                    Nesting::Set => Type::set(object),
                    Nesting::Map => Type::map(object),
                }
            }
        }
    }
}

pub(super) fn object_type(attributes: &BTreeMap<String, Attribute>) -> Type {
    Type::object(attributes.iter().map(|(name, attribute)| (name, attribute.value_type())))
}
