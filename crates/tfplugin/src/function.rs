//! Functions: pure computations that configurations can call as `provider::name::function(…)`.

use crate::context::Context;
use crate::value::{Type, Value};

/// Whether a parameter takes null, unknown, both or neither. Without permission Terraform
/// answers for the function: an error for null, unknown for unknown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Tolerance {
    /// Known values only.
    #[default]
    Known,
    /// Known values and null.
    Null,
    /// Known values and unknown.
    Unknown,
    /// Anything.
    NullAndUnknown,
}

/// One parameter of a function.
#[derive(Clone, Debug, PartialEq)]
pub struct Parameter {
    /// Its name, for documentation and messages.
    pub name: String,
    /// The type of its argument.
    pub ty: Type,
    /// What it takes besides known values.
    pub tolerance: Tolerance,
    /// What it is for, in Markdown.
    pub description: String,
}

impl Parameter {
    /// A parameter that takes known values.
    pub fn new(name: impl Into<String>, ty: Type) -> Self {
        let tolerance = Tolerance::default();
        Self { name: name.into(), ty, tolerance, description: String::new() }
    }

    /// Takes more than known values.
    pub fn tolerate(mut self, tolerance: Tolerance) -> Self {
        self.tolerance = tolerance;
        self
    }

    /// Describes it, in Markdown.
    pub fn describe(mut self, markdown: impl Into<String>) -> Self {
        self.description = markdown.into();
        self
    }
}

/// What a function takes and returns.
#[derive(Clone, Debug, PartialEq)]
pub struct Signature {
    /// The parameters, in order.
    pub parameters: Vec<Parameter>,
    /// The parameter for any number of further arguments.
    pub variadic: Option<Parameter>,
    /// The type of the result.
    pub returns: Type,
    /// What the function does, in one line.
    pub summary: String,
    /// What the function does, in Markdown.
    pub description: String,
    /// Why it should not be used any more.
    pub deprecation: Option<String>,
}

impl Signature {
    /// A function without parameters.
    pub fn returning(returns: Type) -> Self {
        Self {
            parameters: Vec::new(),
            variadic: None,
            returns,
            summary: String::new(),
            description: String::new(),
            deprecation: None,
        }
    }

    /// Adds a parameter.
    pub fn parameter(mut self, parameter: Parameter) -> Self {
        self.parameters.push(parameter);
        self
    }

    /// Takes any number of further arguments.
    pub fn variadic(mut self, parameter: Parameter) -> Self {
        self.variadic = Some(parameter);
        self
    }

    /// Says what it does, in one line.
    pub fn summary(mut self, line: impl Into<String>) -> Self {
        self.summary = line.into();
        self
    }

    /// Describes it, in Markdown.
    pub fn describe(mut self, markdown: impl Into<String>) -> Self {
        self.description = markdown.into();
        self
    }

    /// Marks it as deprecated and says why.
    pub fn deprecated(mut self, why: impl Into<String>) -> Self {
        self.deprecation = Some(why.into());
        self
    }
}

/// Why a call failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FunctionError {
    /// What the user is told.
    pub text: String,
    /// Which argument is at fault, counted from zero.
    pub argument: Option<i64>,
}

impl FunctionError {
    /// A failure of the whole call.
    pub fn new(text: impl Into<String>) -> Self {
        Self { text: text.into(), argument: None }
    }

    /// A failure because of one argument, counted from zero.
    pub fn argument(at: i64, text: impl Into<String>) -> Self {
        Self { text: text.into(), argument: Some(at) }
    }
}

/// A function.
pub trait Function: Send + Sync + 'static {
    /// Its name, without the provider's.
    const NAME: &'static str;

    /// What it takes and returns.
    fn signature(&self) -> Signature;

    /// Computes the result. Each argument has the type of its parameter.
    fn call(
        &self,
        ctx: &Context,
        arguments: Vec<Value>,
    ) -> impl Future<Output = Result<Value, FunctionError>> + Send;
}
