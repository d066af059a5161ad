//! JSON of the cluster as Terraform's values, and back, where a schema leaves the type open.
//!
//! Lists become tuples and maps become objects: items of one Kubernetes list often differ in shape,
//! and a list of Terraform's would force them into one, filling in nulls that nobody wrote. Text is
//! brought into the form in which Terraform keeps it, so that it compares equal later.

use k8sconnect_core::text::nfc;
use serde_json::{Map, Value as Json};
use tfplugin::{Data, Number, Value};

/// The value of any JSON.
pub(crate) fn from_json(json: Json) -> Value {
    Value::Known(match json {
        Json::Null => return Value::Null,
        Json::Bool(truth) => Data::Bool(truth),
        Json::Number(number) => match Number::parse(&number.to_string()) {
            Ok(number) => Data::Number(number),
            // JSON's numbers are all decimal, so this is out of reach; its text is the next best.
            Err(_) => Data::String(number.to_string()),
        },
        Json::String(text) => Data::String(nfc(&text)),
        Json::Array(items) => Data::Tuple(items.into_iter().map(from_json).collect()),
        Json::Object(fields) => {
            Data::Object(fields.into_iter().map(|(name, it)| (nfc(&name), from_json(it))).collect())
        }
    })
}

/// Why a value cannot be JSON of the cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unfit {
    /// Something in it is known only once something else is applied.
    Unknown,
    /// A number is larger than any that Kubernetes takes.
    Number,
}

/// The JSON of a value that is wholly known.
pub(crate) fn to_json(value: Value) -> Result<Json, Unfit> {
    let data = match value {
        Value::Known(data) => data,
        Value::Null => return Ok(Json::Null),
        Value::Unknown => return Err(Unfit::Unknown),
    };
    Ok(match data {
        Data::Bool(truth) => Json::Bool(truth),
        Data::Number(number) => number_to_json(&number)?,
        Data::String(text) => Json::String(text),
        Data::List(items) | Data::Set(items) | Data::Tuple(items) => {
            Json::Array(items.into_iter().map(to_json).collect::<Result<_, _>>()?)
        }
        Data::Map(fields) | Data::Object(fields) => {
            let fields = fields.into_iter().map(|(name, field)| Ok((name, to_json(field)?)));
            Json::Object(fields.collect::<Result<Map<_, _>, _>>()?)
        }
        Data::Dynamic(_, inner) => return to_json(*inner),
    })
}

fn number_to_json(number: &Number) -> Result<Json, Unfit> {
    if let Some(whole) = number.as_i64() {
        return Ok(whole.into());
    }
    if let Some(whole) = number.as_u64() {
        return Ok(whole.into());
    }
    serde_json::Number::from_f64(number.as_f64()).map(Json::Number).ok_or(Unfit::Number)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn json_comes_back_as_it_went_in() {
        let json = json!({
            "mixed": [1, "a", {"b": null}, [], {}, 1.5, true],
            "big": 18_446_744_073_709_551_615_u64,
            "app.kubernetes.io/name": "x",
        });
        assert_eq!(to_json(from_json(json.clone())), Ok(json));
    }

    #[test]
    fn text_is_in_the_form_that_terraform_keeps() {
        let value = from_json(json!({"e\u{301}": "e\u{301}"}));
        assert_eq!(value.attribute("\u{e9}"), Some(&Value::from("\u{e9}")));
    }

    #[test]
    fn what_json_cannot_hold_is_told() {
        let inner = Data::object([("a", Value::Unknown)]);
        assert_eq!(to_json(Value::Known(inner)), Err(Unfit::Unknown));
        let huge = Number::parse("1e999").unwrap();
        assert_eq!(to_json(Value::Known(Data::Number(huge))), Err(Unfit::Number));
    }
}
