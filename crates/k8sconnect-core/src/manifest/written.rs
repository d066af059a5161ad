//! A manifest as text, for a person to read.

use serde_json::{Map, Value};

use crate::yaml::to_yaml;

const FIRST: [&str; 3] = ["apiVersion", "kind", "metadata"];

/// An object as YAML in the order that people are used to: what it is before what is in it.
pub fn written(object: &Value) -> String {
    let Some(fields) = object.as_object().filter(|fields| !fields.is_empty()) else {
        return to_yaml(object);
    };
    let first = FIRST.iter().filter_map(|name| fields.get_key_value(*name));
    let rest = fields.iter().filter(|(name, _)| !FIRST.contains(&name.as_str()));
    first
        .chain(rest)
        .map(|(name, value)| {
            to_yaml(&Value::Object(Map::from_iter([(name.clone(), value.clone())])))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_it_is_comes_before_what_is_in_it() {
        let object = json!({"data": {"a": "on"}, "metadata": {"name": "x"}, "kind": "ConfigMap",
            "apiVersion": "v1", "binaryData": {}});
        assert_eq!(
            written(&object),
            "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: x\nbinaryData: {}\ndata:\n  a: \"on\"\n"
        );
        assert_eq!(written(&json!({})), "{}\n");
    }
}
