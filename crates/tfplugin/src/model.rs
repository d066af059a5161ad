//! Typed views of object values.
//!
//! A provider writes a struct whose fields are all [`Value<T>`], inside [`model!`](crate::model!);
//! the field's name is the attribute's name. The macro writes both directions, so that resource
//! code never picks attributes out of a map by name. What types the attributes have on the wire
//! follows from the types of the fields. A field that says who sets it is an attribute of the schema
//! too ([`Schema::of`](crate::Schema::of)), described by its comment. Where model and schema disagree, a
//! [`Mismatch`] names the attribute.

use std::collections::BTreeMap;

use crate::mismatch::Mismatch;
use crate::path::Step;
use crate::schema::{Attribute, Nesting};
use crate::value::{Data, Number, Type, Value};

/// A type that known values can be turned into and made from.
pub trait FromData: Sized {
    /// Takes the value apart.
    fn from_data(data: Data) -> Result<Self, Mismatch>;

    /// Puts the value together again.
    fn into_data(self) -> Data;
}

/// A typed view of an object; implemented by [`model!`](crate::model!).
pub trait Model: FromData + Clone + Send + Sync + 'static {
    /// The fields that say who sets them, as attributes.
    fn attributes() -> Vec<(&'static str, Attribute)> {
        Vec::new()
    }
}

/// A type whose values have a type of their own on the wire.
pub trait AttributeType {
    /// The type of its values.
    fn value_type() -> Type;

    /// The attribute that holds one.
    fn attribute() -> Attribute {
        Attribute::of(Self::value_type())
    }

    /// The attribute that holds several, by key.
    fn attribute_by_key() -> Attribute {
        Attribute::map(Self::value_type())
    }
}

macro_rules! plain {
    ($($ty:ty => $value_type:expr),*) => { $(
        impl AttributeType for $ty {
            fn value_type() -> Type {
                $value_type
            }
        }
    )* };
}

plain!(String => Type::String, bool => Type::Bool, Number => Type::Number, i64 => Type::Number,
    Data => Type::Dynamic);

impl<T: AttributeType> AttributeType for Value<T> {
    fn value_type() -> Type {
        T::value_type()
    }

    fn attribute() -> Attribute {
        T::attribute()
    }
}

impl<T: AttributeType> AttributeType for Vec<Value<T>> {
    fn value_type() -> Type {
        Type::list(T::value_type())
    }
}

impl<T: AttributeType> AttributeType for BTreeMap<String, Value<T>> {
    fn value_type() -> Type {
        Type::map(T::value_type())
    }

    fn attribute() -> Attribute {
        T::attribute_by_key()
    }
}

/// The attribute of a model in a block. Part of [`model!`](crate::model!).
#[doc(hidden)]
pub fn nested<M: Model>(nesting: Nesting) -> Attribute {
    Attribute::nested(nesting, M::attributes())
}

/// The lines of a comment as one text. Part of [`model!`](crate::model!).
#[doc(hidden)]
pub fn description(lines: &[&'static str]) -> String {
    lines.iter().map(|line| line.trim()).collect::<Vec<_>>().join(" ")
}

impl FromData for Data {
    fn from_data(data: Data) -> Result<Self, Mismatch> {
        Ok(data)
    }

    fn into_data(self) -> Data {
        self
    }
}

impl Model for Data {}

impl FromData for String {
    fn from_data(data: Data) -> Result<Self, Mismatch> {
        match data {
            Data::String(text) => Ok(text),
            other => Err(Mismatch::new("a string", other.kind())),
        }
    }

    fn into_data(self) -> Data {
        Data::String(self)
    }
}

impl FromData for bool {
    fn from_data(data: Data) -> Result<Self, Mismatch> {
        match data {
            Data::Bool(truth) => Ok(truth),
            other => Err(Mismatch::new("a bool", other.kind())),
        }
    }

    fn into_data(self) -> Data {
        Data::Bool(self)
    }
}

impl FromData for Number {
    fn from_data(data: Data) -> Result<Self, Mismatch> {
        match data {
            Data::Number(number) => Ok(number),
            other => Err(Mismatch::new("a number", other.kind())),
        }
    }

    fn into_data(self) -> Data {
        Data::Number(self)
    }
}

impl FromData for i64 {
    fn from_data(data: Data) -> Result<Self, Mismatch> {
        let number = Number::from_data(data)?;
        number.as_i64().ok_or_else(|| {
            Mismatch::new("a whole number of at most 64 bits", "a fraction or a larger number")
        })
    }

    fn into_data(self) -> Data {
        Data::Number(self.into())
    }
}

impl<T: FromData> FromData for Vec<Value<T>> {
    fn from_data(data: Data) -> Result<Self, Mismatch> {
        match data {
            Data::List(items) | Data::Set(items) | Data::Tuple(items) => items
                .into_iter()
                .enumerate()
                .map(|(at, item)| {
                    item.try_map(T::from_data).map_err(|err| err.under(Step::Index(at as i64)))
                })
                .collect(),
            other => Err(Mismatch::new("a list or set", other.kind())),
        }
    }

    fn into_data(self) -> Data {
        Data::List(self.into_iter().map(|item| item.map(T::into_data)).collect())
    }
}

impl<T: FromData> FromData for BTreeMap<String, Value<T>> {
    fn from_data(data: Data) -> Result<Self, Mismatch> {
        match data {
            Data::Map(entries) | Data::Object(entries) => entries
                .into_iter()
                .map(|(key, entry)| match entry.try_map(T::from_data) {
                    Ok(entry) => Ok((key, entry)),
                    Err(err) => Err(err.under(Step::Key(key))),
                })
                .collect(),
            other => Err(Mismatch::new("a map", other.kind())),
        }
    }

    fn into_data(self) -> Data {
        Data::Map(self.into_iter().map(|(key, entry)| (key, entry.map(T::into_data))).collect())
    }
}

/// The attributes of an object while a model is taken out of them. Part of [`model!`](crate::model!).
#[doc(hidden)]
pub struct Fields(BTreeMap<String, Value>);

impl Fields {
    pub fn open(data: Data) -> Result<Self, Mismatch> {
        match data {
            Data::Object(attributes) => Ok(Self(attributes)),
            other => Err(Mismatch::new("an object", other.kind())),
        }
    }

    pub fn empty() -> Self {
        Self(BTreeMap::new())
    }

    pub fn take<T: FromData>(&mut self, field: &'static str) -> Result<Value<T>, Mismatch> {
        let name = attribute_name(field);
        let value = self.0.remove(name).unwrap_or_default();
        value.try_map(T::from_data).map_err(|err| err.under(Step::Attribute(name.to_owned())))
    }

    pub fn put<T: FromData>(&mut self, field: &'static str, value: Value<T>) {
        self.0.insert(attribute_name(field).to_owned(), value.map(T::into_data));
    }

    /// An attribute without a field would be lost on the way back, so it is refused.
    pub fn close(mut self) -> Result<(), Mismatch> {
        match self.0.pop_first() {
            None => Ok(()),
            Some((name, _)) => {
                Err(Mismatch::new("a field in the model", "an attribute without one")
                    .under(Step::Attribute(name)))
            }
        }
    }

    pub fn into_object(self) -> Data {
        Data::Object(self.0)
    }
}

/// `r#type` is the field for the attribute `type`.
#[doc(hidden)]
pub fn attribute_name(field: &'static str) -> &'static str {
    field.strip_prefix("r#").unwrap_or(field)
}

/// Declares a struct that is a typed view of an object value.
///
/// ```
/// use tfplugin::{Model, Value};
///
/// tfplugin::model! {
///     /// Where to connect to.
///     #[derive(Clone, Debug, PartialEq, Default)]
///     pub struct Endpoint {
///         pub host: Value<String>,
///         pub ports: Value<Vec<Value<i64>>>,
///     }
/// }
///
/// fn is_a_model<M: Model>() {}
/// is_a_model::<Endpoint>();
/// ```
///
/// A field with flags behind it is an attribute of the schema, which its comment describes:
///
/// ```
/// use tfplugin::{Schema, Value};
///
/// tfplugin::model! {
///     #[derive(Clone, Debug, PartialEq, Default)]
///     pub struct Greeting {
///         /// To whom.
///         pub name: Value<String> => required,
///         /// A secret between the two.
///         pub secret: Value<String> => optional sensitive,
///     }
/// }
///
/// let schema = Schema::of::<Greeting>(0);
/// assert!(schema.check().is_empty() && schema.attributes()["secret"].is_sensitive());
/// assert_eq!(schema.attributes()["name"].description(), "To whom.");
/// ```
#[macro_export]
macro_rules! model {
    (
        $(#[$meta:meta])*
        $vis:vis struct $name:ident {
            $(
                $(#[doc = $doc:literal])*
                $field_vis:vis $field:ident : $ty:ty $(=> $($flag:ident)+)?
            ),* $(,)?
        }
    ) => {
        $(#[$meta])*
        $vis struct $name {
            $( $(#[doc = $doc])* $field_vis $field: $ty, )*
        }

        impl $crate::FromData for $name {
            fn from_data(
                data: $crate::Data,
            ) -> ::std::result::Result<Self, $crate::Mismatch> {
                #[allow(unused_mut, reason = "a model may have no fields")]
                let mut fields = $crate::model::Fields::open(data)?;
                let model = Self { $( $field: fields.take(stringify!($field))?, )* };
                fields.close()?;
                ::std::result::Result::Ok(model)
            }

            fn into_data(self) -> $crate::Data {
                #[allow(unused_mut, reason = "a model may have no fields")]
                let mut fields = $crate::model::Fields::empty();
                $( fields.put(stringify!($field), self.$field); )*
                fields.into_object()
            }
        }

        impl $crate::Model for $name {
            fn attributes() -> ::std::vec::Vec<(&'static str, $crate::Attribute)> {
                #[allow(unused_mut, reason = "no field may be an attribute")]
                let mut attributes = ::std::vec::Vec::new();
                $(
                    let _description = $crate::model::description(&[$($doc),*]);
                    $(attributes.push((
                        $crate::model::attribute_name(stringify!($field)),
                        <$ty as $crate::model::AttributeType>::attribute()
                            $(.$flag())+
                            .describe(_description),
                    ));)?
                )*
                attributes
            }
        }

        impl $crate::model::AttributeType for $name {
            fn value_type() -> $crate::Type {
                $crate::Type::object::<&str>([$((
                    $crate::model::attribute_name(stringify!($field)),
                    <$ty as $crate::model::AttributeType>::value_type(),
                )),*])
            }

            fn attribute() -> $crate::Attribute {
                $crate::model::nested::<Self>($crate::Nesting::Single)
            }

            fn attribute_by_key() -> $crate::Attribute {
                $crate::model::nested::<Self>($crate::Nesting::Map)
            }
        }
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    crate::model! {
        #[derive(Clone, Debug, PartialEq, Default)]
        struct Inner { r#type: Value<String>, count: Value<i64> }
    }

    crate::model! {
        #[derive(Clone, Debug, PartialEq, Default)]
        struct Outer {
            inner: Value<Inner>,
            tags: Value<BTreeMap<String, Value<String>>>,
            many: Value<Vec<Value<Inner>>>,
            any: Value<Data>,
        }
    }

    fn outer() -> Outer {
        Outer {
            inner: Value::Known(Inner { r#type: "t".into(), count: Value::Unknown }),
            tags: Value::Known([("k".to_owned(), Value::Null)].into()),
            many: Value::Known(vec![Value::Known(Inner::default())]),
            any: Value::Known(Data::Bool(true)),
        }
    }

    #[test]
    fn comes_back_from_data_as_it_went_in() {
        assert_eq!(Outer::from_data(outer().into_data()), Ok(outer()));
    }

    #[test]
    fn writes_every_attribute_under_its_own_name() {
        let data = outer().into_data();
        assert_eq!(data.attribute("inner").unwrap().attribute("type"), Some(&Value::from("t")));
    }

    #[test]
    fn names_the_attribute_that_does_not_fit() {
        let inner =
            Data::object([("count", Value::Known(Data::Number(Number::parse("1.5").unwrap())))]);
        let data = Data::object([("many", Value::Known(Data::List(vec![Value::Known(inner)])))]);
        let problem = Outer::from_data(data).unwrap_err();
        assert_eq!(problem.path.to_string(), "many[0].count");
        assert!(!problem.to_string().contains("1.5"), "{problem}");
    }

    #[test]
    fn refuses_an_attribute_that_no_field_would_keep() {
        let problem = Inner::from_data(Data::object([("extra", Value::Null)])).unwrap_err();
        assert_eq!(problem.path.to_string(), "extra");
    }
}
