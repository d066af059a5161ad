//! `yaml_split` and `yaml_scoped`.

use std::collections::BTreeMap;

use k8sconnect_core::documents::{self, Piece, Source, Stage};
use tfplugin::{Context, Data, Function, FunctionError, Parameter, Signature, Type, Value};

use crate::messages;

pub(crate) struct YamlSplit;
pub(crate) struct YamlScoped;

fn yaml() -> Parameter {
    Parameter::new("yaml", Type::String).describe("YAML with any number of documents.")
}

impl Function for YamlSplit {
    const NAME: &'static str = "yaml_split";

    fn signature(&self) -> Signature {
        Signature::returning(Type::map(Type::String))
            .parameter(yaml())
            .summary("Splits YAML into its documents, for `for_each`")
            .describe(
                "The documents by keys that do not change when documents are added, removed or \
                 moved: `[group.]kind[.namespace].name`. Each is given as it is written, comments \
                 included; the items of a `List` stand on their own.",
            )
    }

    async fn call(&self, _ctx: &Context, arguments: Vec<Value>) -> Result<Value, FunctionError> {
        let text = super::text(arguments.into_iter().next());
        Ok(Value::Known(Data::Map(split(&text)?.into_iter().map(as_value).collect())))
    }
}

impl Function for YamlScoped {
    const NAME: &'static str = "yaml_scoped";

    fn signature(&self) -> Signature {
        let group = || Type::map(Type::String);
        Signature::returning(Type::object([
            ("crds", group()),
            ("cluster_scoped", group()),
            ("namespaced", group()),
        ]))
        .parameter(yaml())
        .summary("Splits YAML into its documents, sorted by what must be there first")
        .describe(
            "As `yaml_split`, in three groups: `crds` (CustomResourceDefinitions), \
             `cluster_scoped` (whatever else lives in no namespace) and `namespaced` (the rest, \
             and custom kinds whose definition is not in the same text).",
        )
    }

    async fn call(&self, _ctx: &Context, arguments: Vec<Value>) -> Result<Value, FunctionError> {
        let text = super::text(arguments.into_iter().next());
        let mut groups: BTreeMap<Stage, BTreeMap<String, Value>> = BTreeMap::new();
        for (key, piece) in split(&text)? {
            groups.entry(piece.stage).or_default().extend([as_value((key, piece))]);
        }
        let mut of = |stage| Value::Known(Data::Map(groups.remove(&stage).unwrap_or_default()));
        Ok(Value::Known(Data::object([
            ("crds", of(Stage::Definition)),
            ("cluster_scoped", of(Stage::Cluster)),
            ("namespaced", of(Stage::Namespaced)),
        ])))
    }
}

fn split(text: &str) -> Result<BTreeMap<String, Piece<'_>>, FunctionError> {
    let pieces = documents::split([Source { name: None, text }]).map_err(|problems| {
        FunctionError::argument(0, messages::function::unsplittable(&problems))
    })?;
    if pieces.is_empty() {
        return Err(FunctionError::argument(0, messages::function::no_objects_in_it()));
    }
    Ok(pieces)
}

fn as_value((key, piece): (String, Piece<'_>)) -> (String, Value) {
    (key, piece.text.into_owned().into())
}
