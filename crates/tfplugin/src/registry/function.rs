//! A function without its type.

use std::sync::OnceLock;

use super::BoxFuture;
use crate::context::Context;
use crate::function::{Function, FunctionError, Signature};
use crate::value::Value;

pub(crate) trait AnyFunction: Send + Sync {
    fn signature(&self) -> &Signature;

    fn call<'a>(
        &'a self,
        ctx: &'a Context,
        arguments: Vec<Value>,
    ) -> BoxFuture<'a, Result<Value, FunctionError>>;
}

pub(crate) struct ErasedFunction<F> {
    function: F,
    signature: OnceLock<Signature>,
}

impl<F: Function> ErasedFunction<F> {
    pub(super) fn new(function: F) -> Self {
        Self { function, signature: OnceLock::new() }
    }
}

impl<F: Function> AnyFunction for ErasedFunction<F> {
    fn signature(&self) -> &Signature {
        self.signature.get_or_init(|| self.function.signature())
    }

    fn call<'a>(
        &'a self,
        ctx: &'a Context,
        arguments: Vec<Value>,
    ) -> BoxFuture<'a, Result<Value, FunctionError>> {
        Box::pin(self.function.call(ctx, arguments))
    }
}
