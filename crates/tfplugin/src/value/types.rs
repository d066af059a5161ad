//! The types of Terraform's type system, and their JSON form.
//!
//! The JSON form stands in schemas, in front of dynamic values, and in the state file:
//! `"string"`, `["list","string"]`, `["object",{"a":"number"}]`. Optional attributes of
//! object types (a third element, used in module inputs only) are read and not kept.

use std::collections::BTreeMap;

use serde::de::Error as _;
use serde::ser::SerializeTuple as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The type of a value.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Type {
    /// True or false.
    Bool,
    /// A number of any size.
    Number,
    /// Text.
    String,
    /// Any type; the value says which.
    Dynamic,
    /// Elements in order.
    List(Box<Type>),
    /// Elements without order.
    Set(Box<Type>),
    /// Elements by key.
    Map(Box<Type>),
    /// Elements in order, each with its own type.
    Tuple(Vec<Type>),
    /// Attributes by name, each with its own type.
    Object(BTreeMap<String, Type>),
}

/// A type in JSON that cannot be read.
#[derive(Debug, thiserror::Error)]
#[error("the type is not written as Terraform writes types: {0}")]
pub struct TypeError(#[from] serde_json::Error);

impl Type {
    /// A list of elements of this type.
    pub fn list(element: Type) -> Self {
        Self::List(Box::new(element))
    }

    /// A set of elements of this type.
    pub fn set(element: Type) -> Self {
        Self::Set(Box::new(element))
    }

    /// A map to elements of this type.
    pub fn map(element: Type) -> Self {
        Self::Map(Box::new(element))
    }

    /// An object with these attributes.
    pub fn object<N: Into<String>>(attributes: impl IntoIterator<Item = (N, Type)>) -> Self {
        Self::Object(attributes.into_iter().map(|(name, ty)| (name.into(), ty)).collect())
    }

    /// The JSON form, as schemas carry it.
    pub fn to_json(&self) -> Vec<u8> {
        // Writing to memory cannot fail and every key is a string, so there is no error to show.
        serde_json::to_vec(self).unwrap_or_default()
    }

    /// Reads the JSON form.
    pub fn from_json(json: &[u8]) -> Result<Self, TypeError> {
        Ok(serde_json::from_slice(json)?)
    }

    /// What a value of this type is, in words for messages.
    pub(crate) fn kind(&self) -> &'static str {
        match self {
            Self::Bool => "a bool",
            Self::Number => "a number",
            Self::String => "a string",
            Self::Dynamic => "a dynamic value",
            Self::List(_) => "a list",
            Self::Set(_) => "a set",
            Self::Map(_) => "a map",
            Self::Tuple(_) => "a tuple",
            Self::Object(_) => "an object",
        }
    }
}

impl Serialize for Type {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        fn pair<S: Serializer>(
            serializer: S,
            word: &str,
            inner: &impl Serialize,
        ) -> Result<S::Ok, S::Error> {
            let mut pair = serializer.serialize_tuple(2)?;
            pair.serialize_element(word)?;
            pair.serialize_element(inner)?;
            pair.end()
        }
        match self {
            Self::Bool => serializer.serialize_str("bool"),
            Self::Number => serializer.serialize_str("number"),
            Self::String => serializer.serialize_str("string"),
            Self::Dynamic => serializer.serialize_str("dynamic"),
            Self::List(element) => pair(serializer, "list", element),
            Self::Set(element) => pair(serializer, "set", element),
            Self::Map(element) => pair(serializer, "map", element),
            Self::Tuple(elements) => pair(serializer, "tuple", elements),
            Self::Object(attributes) => pair(serializer, "object", attributes),
        }
    }
}

impl<'de> Deserialize<'de> for Type {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(TypeVisitor)
    }
}

struct TypeVisitor;

impl<'de> serde::de::Visitor<'de> for TypeVisitor {
    type Value = Type;

    fn expecting(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("a type name or a pair of a type constructor and its argument")
    }

    fn visit_str<E: serde::de::Error>(self, word: &str) -> Result<Type, E> {
        match word {
            "bool" => Ok(Type::Bool),
            "number" => Ok(Type::Number),
            "string" => Ok(Type::String),
            "dynamic" => Ok(Type::Dynamic),
            other => Err(E::custom(format_args!("there is no type `{other}`"))),
        }
    }

    fn visit_seq<A: serde::de::SeqAccess<'de>>(self, mut pair: A) -> Result<Type, A::Error> {
        let missing = || A::Error::custom("a type constructor lacks its argument");
        let word: String = pair.next_element()?.ok_or_else(missing)?;
        let ty = match word.as_str() {
            "list" => Type::List(pair.next_element()?.ok_or_else(missing)?),
            "set" => Type::Set(pair.next_element()?.ok_or_else(missing)?),
            "map" => Type::Map(pair.next_element()?.ok_or_else(missing)?),
            "tuple" => Type::Tuple(pair.next_element()?.ok_or_else(missing)?),
            "object" => Type::Object(pair.next_element()?.ok_or_else(missing)?),
            other => {
                let problem = format_args!("there is no type constructor `{other}`");
                return Err(A::Error::custom(problem));
            }
        };
        while pair.next_element::<serde::de::IgnoredAny>()?.is_some() {}
        Ok(ty)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn writes_types_as_terraform_does() {
        let ty = Type::object([
            ("b", Type::map(Type::Dynamic)),
            ("a", Type::Tuple(vec![Type::Number, Type::set(Type::Bool)])),
        ]);
        let json = r#"["object",{"a":["tuple",["number",["set","bool"]]],"b":["map","dynamic"]}]"#;
        assert_eq!(String::from_utf8(ty.to_json()).unwrap(), json);
        assert_eq!(Type::from_json(json.as_bytes()).unwrap(), ty);
    }

    #[test]
    fn reads_object_types_with_optional_attributes() {
        let ty = Type::from_json(br#"["object",{"a":"string"},["a"]]"#).unwrap();
        assert_eq!(ty, Type::object([("a", Type::String)]));
    }

    #[test]
    fn refuses_words_that_are_no_type() {
        for json in [&b"\"text\""[..], b"[\"list\"]", b"[\"array\",\"string\"]", b"3", b""] {
            assert!(Type::from_json(json).is_err());
        }
    }
}
