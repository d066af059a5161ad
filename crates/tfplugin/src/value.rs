//! Values as Terraform knows them: known, null, or not known yet.
//!
//! [`Value`] is generic so that a model can say `Value<String>`; plain `Value` is the
//! untyped one that comes off the wire. [`Data`] says what a known value is made of.
//! Marks and refinements are not kept: a refined unknown is read as plainly unknown, and
//! what we send is never refined, which promises less and can therefore not be broken.
//! How values look as bytes is the business of `dynamic`, not of this module.

mod conform;
mod number;
mod types;

use std::collections::BTreeMap;

pub use number::{Number, NumberError};
pub use types::{Type, TypeError};

/// A value that is known, null, or not known until apply.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub enum Value<T = Data> {
    /// The value itself.
    Known(T),
    /// No value; what an attribute that was left out holds.
    #[default]
    Null,
    /// A value that will be known after apply.
    Unknown,
}

impl<T> Value<T> {
    /// Whether the value is null.
    pub fn is_null(&self) -> bool {
        matches!(self, Self::Null)
    }

    /// Whether the value is not known yet. Parts of a known collection may still be unknown:
    /// see [`Value::is_wholly_known`].
    pub fn is_unknown(&self) -> bool {
        matches!(self, Self::Unknown)
    }

    /// Whether the value is known and not null.
    pub fn is_known(&self) -> bool {
        matches!(self, Self::Known(_))
    }

    /// The known value, borrowed.
    pub fn known(&self) -> Option<&T> {
        match self {
            Self::Known(inner) => Some(inner),
            Self::Null | Self::Unknown => None,
        }
    }

    /// The known value.
    pub fn into_known(self) -> Option<T> {
        match self {
            Self::Known(inner) => Some(inner),
            Self::Null | Self::Unknown => None,
        }
    }

    /// Changes the known value and leaves null and unknown as they are.
    pub fn map<U>(self, change: impl FnOnce(T) -> U) -> Value<U> {
        match self {
            Self::Known(inner) => Value::Known(change(inner)),
            Self::Null => Value::Null,
            Self::Unknown => Value::Unknown,
        }
    }

    /// Changes the known value with a function that may fail.
    pub fn try_map<U, E>(self, change: impl FnOnce(T) -> Result<U, E>) -> Result<Value<U>, E> {
        Ok(match self {
            Self::Known(inner) => Value::Known(change(inner)?),
            Self::Null => Value::Null,
            Self::Unknown => Value::Unknown,
        })
    }

    /// The same value with its inside borrowed.
    pub fn as_ref(&self) -> Value<&T> {
        match self {
            Self::Known(inner) => Value::Known(inner),
            Self::Null => Value::Null,
            Self::Unknown => Value::Unknown,
        }
    }
}

impl Value<String> {
    /// The known text, borrowed.
    pub fn as_str(&self) -> Option<&str> {
        self.known().map(String::as_str)
    }
}

impl<T> From<Option<T>> for Value<T> {
    fn from(option: Option<T>) -> Self {
        option.map_or(Self::Null, Self::Known)
    }
}

impl From<&str> for Value<String> {
    fn from(text: &str) -> Self {
        Self::Known(text.to_owned())
    }
}

impl From<String> for Value<String> {
    fn from(text: String) -> Self {
        Self::Known(text)
    }
}

impl From<bool> for Value<bool> {
    fn from(truth: bool) -> Self {
        Self::Known(truth)
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Self::Known(Data::String(text.to_owned()))
    }
}

impl From<String> for Value {
    fn from(text: String) -> Self {
        Self::Known(Data::String(text))
    }
}

impl From<bool> for Value {
    fn from(truth: bool) -> Self {
        Self::Known(Data::Bool(truth))
    }
}

impl From<i64> for Value {
    fn from(number: i64) -> Self {
        Self::Known(Data::Number(number.into()))
    }
}

impl From<Data> for Value {
    fn from(data: Data) -> Self {
        Self::Known(data)
    }
}

impl Value {
    /// Whether nothing in the value, however deep, is unknown.
    pub fn is_wholly_known(&self) -> bool {
        match self {
            Self::Null => true,
            Self::Unknown => false,
            Self::Known(data) => match data {
                Data::Bool(_) | Data::Number(_) | Data::String(_) => true,
                Data::List(items) | Data::Set(items) | Data::Tuple(items) => {
                    items.iter().all(Self::is_wholly_known)
                }
                Data::Map(entries) | Data::Object(entries) => {
                    entries.values().all(Self::is_wholly_known)
                }
                Data::Dynamic(_, inner) => inner.is_wholly_known(),
            },
        }
    }

    /// The value of an attribute, if this is a known object that has it.
    pub fn attribute(&self, name: &str) -> Option<&Value> {
        self.known()?.attribute(name)
    }
}

/// What a known value is made of.
///
/// `List`, `Set` and `Tuple` are interchangeable when a value is written, and so are `Map`
/// and `Object`: the schema settles which one is meant. What is read always has the variant
/// that its schema names.
#[derive(Clone, Debug)]
pub enum Data {
    /// True or false.
    Bool(bool),
    /// A number of any size.
    Number(Number),
    /// Text.
    String(String),
    /// Elements in order, all of one type.
    List(Vec<Value>),
    /// Elements without order, all of one type; compared without order.
    Set(Vec<Value>),
    /// Elements in order, each with its own type.
    Tuple(Vec<Value>),
    /// Elements by key, all of one type.
    Map(BTreeMap<String, Value>),
    /// Attributes by name, each with its own type.
    Object(BTreeMap<String, Value>),
    /// A value that carries its type, where the schema says `dynamic`.
    Dynamic(Type, Box<Value>),
}

impl Data {
    /// An object of these attributes.
    pub fn object<N: Into<String>>(attributes: impl IntoIterator<Item = (N, Value)>) -> Self {
        Self::Object(attributes.into_iter().map(|(name, value)| (name.into(), value)).collect())
    }

    /// The value of an attribute, if this is an object that has it.
    pub fn attribute(&self, name: &str) -> Option<&Value> {
        match self {
            Self::Object(attributes) => attributes.get(name),
            _ => None,
        }
    }

    /// The text, if this is a string.
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Self::String(text) => Some(text),
            _ => None,
        }
    }

    /// What kind of value this is, in words for messages.
    pub(crate) fn kind(&self) -> &'static str {
        match self {
            Self::Bool(_) => "a bool",
            Self::Number(_) => "a number",
            Self::String(_) => "a string",
            Self::List(_) => "a list",
            Self::Set(_) => "a set",
            Self::Tuple(_) => "a tuple",
            Self::Map(_) => "a map",
            Self::Object(_) => "an object",
            Self::Dynamic(..) => "a dynamic value",
        }
    }
}

impl PartialEq for Data {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Bool(a), Self::Bool(b)) => a == b,
            (Self::Number(a), Self::Number(b)) => a == b,
            (Self::String(a), Self::String(b)) => a == b,
            (Self::List(a), Self::List(b)) | (Self::Tuple(a), Self::Tuple(b)) => a == b,
            (Self::Set(a), Self::Set(b)) => same_elements(a, b),
            (Self::Map(a), Self::Map(b)) | (Self::Object(a), Self::Object(b)) => a == b,
            (Self::Dynamic(type_a, a), Self::Dynamic(type_b, b)) => type_a == type_b && a == b,
            _ => false,
        }
    }
}

impl Eq for Data {}

/// Equality of multisets. Sets mostly come back in the order they were sent, so elements are
/// looked for where they were first.
fn same_elements(left: &[Value], right: &[Value]) -> bool {
    if left.len() != right.len() {
        return false;
    }
    if left == right {
        return true;
    }
    let mut unmatched: Vec<&Value> = right.iter().collect();
    left.iter().all(|wanted| match unmatched.iter().position(|candidate| *candidate == wanted) {
        Some(found) => {
            unmatched.swap_remove(found);
            true
        }
        None => false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn compares_sets_without_order_and_lists_with_it() {
        let forward = vec![Value::from("a"), Value::from("b")];
        let backward = vec![Value::from("b"), Value::from("a")];
        assert_eq!(Data::Set(forward.clone()), Data::Set(backward.clone()));
        assert_ne!(Data::List(forward), Data::List(backward));
    }

    #[test]
    fn counts_how_often_an_element_stands_in_a_set() {
        let twice_a = vec![Value::from("a"), Value::from("a"), Value::from("b")];
        let twice_b = vec![Value::from("a"), Value::from("b"), Value::from("b")];
        assert_ne!(Data::Set(twice_a), Data::Set(twice_b));
    }

    #[test]
    fn finds_an_unknown_deep_inside_a_known_value() {
        let inner = Data::object([("a", Value::Known(Data::List(vec![Value::Unknown])))]);
        assert!(!Value::Known(inner).is_wholly_known());
        assert!(Value::<Data>::Null.is_wholly_known());
    }
}
