//! Functions: what the data sources for YAML do, where the text is at hand in the configuration.
//!
//! They are pure: no file, no cluster, no child process. Their results are known while planning
//! wherever their arguments are, so that `for_each` can go over them.

mod manifest;
mod split;

pub(crate) use manifest::{ManifestDecode, ManifestEncode};
pub(crate) use split::{YamlScoped, YamlSplit};

use tfplugin::{Data, Value};

/// The text of an argument whose parameter takes known text only.
fn text(argument: Option<Value>) -> String {
    match argument {
        Some(Value::Known(Data::String(text))) => text,
        _ => String::new(),
    }
}
