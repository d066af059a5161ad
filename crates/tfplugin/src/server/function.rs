//! The methods about functions.

use std::collections::BTreeMap;

use super::wire::decode;
use super::{Inner, proto};
use crate::diagnostic::{Diagnostics, legible};
use crate::dynamic;
use crate::function::{FunctionError, Signature};
use crate::value::{Type, Value};

impl Inner {
    pub(super) fn functions(&self) -> BTreeMap<String, proto::Function> {
        (self.registry.functions.iter())
            .map(|(name, function)| ((*name).to_owned(), function.signature().to_wire()))
            .collect()
    }

    pub(super) async fn get_functions(
        &self,
        _: proto::Nothing,
        _: &mut Diagnostics,
    ) -> Result<proto::Functions, Diagnostics> {
        Ok(proto::Functions { functions: self.functions(), diagnostics: Vec::new() })
    }

    /// Functions answer with errors of their own kind instead of diagnostics.
    pub(super) async fn call_function(
        &self,
        request: proto::CallFunctionRequest,
        _: &mut Diagnostics,
    ) -> Result<proto::CallFunctionResponse, Diagnostics> {
        Ok(match self.result_of(request).await {
            Ok(msgpack) => {
                let result = proto::DynamicValue { msgpack, json: Vec::new() };
                proto::CallFunctionResponse { result: Some(result), error: None }
            }
            Err(FunctionError { text, argument }) => {
                let text = legible(text);
                let error = proto::FunctionError { text, function_argument: argument };
                proto::CallFunctionResponse { result: None, error: Some(error) }
            }
        })
    }

    async fn result_of(
        &self,
        request: proto::CallFunctionRequest,
    ) -> Result<Vec<u8>, FunctionError> {
        let name = &request.name;
        let function = self.registry.functions.get(name.as_str()).ok_or_else(|| {
            FunctionError::new(format!(
                "The provider has no function `{name}`. Check the spelling, or install a release \
                 that offers it."
            ))
        })?;
        let signature = function.signature();
        let arguments = arguments(request.arguments, signature)?;
        let result = function.call(&self.context(None), arguments).await?;
        dynamic::to_msgpack(result, &signature.returns).map_err(|mismatch| {
            FunctionError::new(format!(
                "The result of `{name}` does not fit its type: {mismatch}. This is a bug in the \
                 provider; please report it."
            ))
        })
    }
}

fn arguments(
    given: Vec<proto::DynamicValue>,
    signature: &Signature,
) -> Result<Vec<Value>, FunctionError> {
    let needed = signature.parameters.len();
    if given.len() < needed || (given.len() > needed && signature.variadic.is_none()) {
        let text = format!("{needed} arguments are needed, {} were given.", given.len());
        return Err(FunctionError::new(text));
    }
    let types = signature.parameters.iter().chain(signature.variadic.iter().cycle());
    let read = |(at, (argument, ty)): (usize, (proto::DynamicValue, &Type))| {
        decode("argument", Some(argument), ty).map_err(|told| {
            let text = told.into_iter().map(|told| told.detail).collect::<Vec<_>>().join("\n");
            FunctionError::argument(at as i64, text)
        })
    };
    given.into_iter().zip(types.map(|parameter| &parameter.ty)).enumerate().map(read).collect()
}
