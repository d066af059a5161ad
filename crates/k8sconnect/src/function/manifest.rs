//! `manifest_decode` and `manifest_encode`: one manifest as a value of Terraform's, and back.

use k8sconnect_core::{manifest, yaml};
use serde_json::Value as Json;
use tfplugin::{Context, Function, FunctionError, Parameter, Signature, Type, Value};

use crate::dynamic::{self, Unfit};
use crate::messages;

pub(crate) struct ManifestDecode;
pub(crate) struct ManifestEncode;

impl Function for ManifestDecode {
    const NAME: &'static str = "manifest_decode";

    fn signature(&self) -> Signature {
        let yaml = Parameter::new("yaml", Type::String).describe("YAML with one document.");
        Signature::returning(Type::Dynamic)
            .parameter(yaml)
            .summary("Reads a manifest from YAML, exactly as kubectl reads it")
            .describe(
                "The manifest as a value: `yes` and `on` are booleans, `0644` is 420, as kubectl \
                 has it and `yamldecode` does not. For many documents use `yaml_split` first.",
            )
    }

    async fn call(&self, _ctx: &Context, arguments: Vec<Value>) -> Result<Value, FunctionError> {
        let text = super::text(arguments.into_iter().next());
        let at_fault = |text: String| FunctionError::argument(0, text);
        let mut documents = yaml::parse_stream(&text)
            .map_err(|error| at_fault(messages::function::no_yaml(&error)))?;
        if documents.len() > 1 {
            let (count, second) = (documents.len(), documents[1].position.line);
            return Err(at_fault(messages::function::several_documents(count, second)));
        }
        match documents.pop().map(|document| document.value) {
            Some(object @ Json::Object(_)) => Ok(dynamic::from_json(object)),
            Some(_) => Err(at_fault(messages::function::no_mapping())),
            None => Err(at_fault(messages::function::nothing_in_it())),
        }
    }
}

impl Function for ManifestEncode {
    const NAME: &'static str = "manifest_encode";

    fn signature(&self) -> Signature {
        let manifest = Parameter::new("manifest", Type::Dynamic)
            .describe("An object with the fields of a manifest.");
        Signature::returning(Type::String)
            .parameter(manifest)
            .summary("Writes a manifest as YAML that kubectl reads back as the same")
            .describe(
                "The manifest as YAML, in the order in which people write it. Text \
                 that kubectl would take for something else, such as `on`, is quoted.",
            )
    }

    async fn call(&self, _ctx: &Context, arguments: Vec<Value>) -> Result<Value, FunctionError> {
        let manifest = arguments.into_iter().next().unwrap_or_default();
        match dynamic::to_json(manifest) {
            Ok(object @ Json::Object(_)) => Ok(manifest::written(&object).into()),
            Ok(_) => Err(FunctionError::argument(0, messages::function::no_manifest())),
            // What is in it is not known yet, so neither is its text.
            Err(Unfit::Unknown) => Ok(Value::Unknown),
            Err(Unfit::Number) => {
                Err(FunctionError::argument(0, messages::function::huge_number()))
            }
        }
    }
}
