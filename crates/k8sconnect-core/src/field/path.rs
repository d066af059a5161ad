//! The name of one field: a list of elements, and its rendering as text.
//!
//! The element list is the identity. Text is for people and for state: list items stand by their
//! merge key, never by index (`spec.containers[name=app].image`), odd names are quoted
//! (`data["app.conf"]`), a member of a set is `metadata.finalizers[="example.com/f"]`. Text reads
//! back to the same elements.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use serde_json::Value;
use smol_str::SmolStr;

use crate::atom::Atom;
use crate::text;

/// The key fields of an item in a keyed list, e.g. `containerPort` and `protocol`.
pub type KeyFields = BTreeMap<String, Atom>;

/// One step. Sets and paths of one object repeat it hundreds of times, so that it is made cheap to
/// copy.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum PathElement {
    /// A key of a map or a field of a struct.
    Field(SmolStr),
    /// An item of a keyed list.
    Key(Arc<KeyFields>),
    /// A member of a set.
    Value(Atom),
    /// A position. The server does not use it in practice, but may.
    Index(usize),
}

impl PathElement {
    pub fn field(name: impl AsRef<str>) -> Self {
        Self::Field(SmolStr::new(name))
    }

    pub fn key(fields: KeyFields) -> Self {
        Self::Key(Arc::new(fields))
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct FieldPath(Vec<PathElement>);

impl FieldPath {
    pub fn new(elements: impl IntoIterator<Item = PathElement>) -> Self {
        Self(elements.into_iter().collect())
    }

    /// A path of plain field names.
    pub fn fields<'a>(names: impl IntoIterator<Item = &'a str>) -> Self {
        Self(names.into_iter().map(PathElement::field).collect())
    }

    pub fn elements(&self) -> &[PathElement] {
        &self.0
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn push(&mut self, element: PathElement) {
        self.0.push(element);
    }

    pub fn pop(&mut self) -> Option<PathElement> {
        self.0.pop()
    }

    /// The path as state holds it, in Unicode normal form C.
    pub fn shown(&self) -> String {
        text::nfc(&self.to_string())
    }

    /// Whether the path ends in a key field of the item that it is in.
    pub fn names_its_item(&self) -> bool {
        match self.0.as_slice() {
            [.., PathElement::Key(keys), PathElement::Field(name)] => {
                keys.contains_key(name.as_str())
            }
            _ => false,
        }
    }

    pub fn starts_with(&self, prefix: &FieldPath) -> bool {
        self.0.starts_with(&prefix.0)
    }

    /// The names of fields in it, without the items of lists.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.iter().filter_map(|element| match element {
            PathElement::Field(name) => Some(name.as_str()),
            _ => None,
        })
    }
}

impl fmt::Display for FieldPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (position, element) in self.0.iter().enumerate() {
            match element {
                PathElement::Field(name) if is_plain_name(name) => {
                    if position > 0 {
                        f.write_str(".")?;
                    }
                    f.write_str(name)?;
                }
                PathElement::Field(name) => write!(f, "[{}]", text::quoted(name))?,
                PathElement::Key(fields) => {
                    f.write_str("[")?;
                    for (n, (name, value)) in fields.iter().enumerate() {
                        let comma = if n > 0 { "," } else { "" };
                        write!(f, "{comma}{}={}", key_name(name), key_value(&value.0))?;
                    }
                    f.write_str("]")?;
                }
                PathElement::Value(value) => write!(f, "[={}]", value.0)?,
                PathElement::Index(index) => write!(f, "[{index}]")?,
            }
        }
        Ok(())
    }
}

/// Names that stand in a path without quotes.
pub fn is_plain_name(name: &str) -> bool {
    !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-'))
}

fn key_name(name: &str) -> String {
    if is_plain_name(name) { name.to_owned() } else { text::quoted(name) }
}

fn key_value(value: &Value) -> String {
    match value {
        Value::String(s) if is_bare_key_value(s) => s.clone(),
        other => other.to_string(),
    }
}

/// A key value stands bare if nothing in it ends the bracket, and if it reads as no other type.
fn is_bare_key_value(value: &str) -> bool {
    !text::reads_as_another_type(value)
        && value.chars().all(|c| !matches!(c, ',' | ']' | '[' | '=' | '"') && !c.is_whitespace())
}

/// A text that is no path, and the character, counted from 1, up to which it could be one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PathError {
    pub text: String,
    pub at: usize,
}

impl FromStr for FieldPath {
    type Err = PathError;

    fn from_str(text: &str) -> Result<Self, PathError> {
        let mut reader = Reader { text, at: 0 };
        let mut path = FieldPath::default();
        while reader.at < text.len() {
            let element = match reader.peek() {
                Some('[') => reader.bracket()?,
                Some('.') if !path.is_empty() => {
                    reader.at += 1;
                    PathElement::field(reader.name()?)
                }
                _ if path.is_empty() => PathElement::field(reader.name()?),
                _ => return Err(reader.error()),
            };
            path.push(element);
        }
        Ok(path)
    }
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
}

impl Reader<'_> {
    fn peek(&self) -> Option<char> {
        self.text[self.at..].chars().next()
    }

    fn error(&self) -> PathError {
        let at = self.text[..self.at].chars().count() + 1;
        PathError { text: self.text.to_owned(), at }
    }

    fn expect(&mut self, wanted: char) -> Result<(), PathError> {
        if self.peek() != Some(wanted) {
            return Err(self.error());
        }
        self.at += wanted.len_utf8();
        Ok(())
    }

    fn name(&mut self) -> Result<String, PathError> {
        let rest = &self.text[self.at..];
        let end = rest.find(['.', '[']).unwrap_or(rest.len());
        if end == 0 {
            return Err(self.error());
        }
        self.at += end;
        Ok(rest[..end].to_owned())
    }

    fn bracket(&mut self) -> Result<PathElement, PathError> {
        self.expect('[')?;
        let element = match self.peek() {
            Some('=') => {
                self.at += 1;
                PathElement::Value(Atom(self.json()?))
            }
            Some(c) if c.is_ascii_digit() && self.digits_then_close() => {
                let digits = self.until(']')?;
                PathElement::Index(digits.parse().map_err(|_| self.error())?)
            }
            Some('"') => match self.json()? {
                Value::String(name) if self.peek() == Some('=') => {
                    PathElement::key(self.key_fields(name)?)
                }
                Value::String(name) => PathElement::field(name),
                _ => return Err(self.error()),
            },
            Some(_) => {
                let name = self.until('=')?;
                PathElement::key(self.key_fields(name)?)
            }
            None => return Err(self.error()),
        };
        self.expect(']')?;
        Ok(element)
    }

    fn digits_then_close(&self) -> bool {
        let rest = &self.text[self.at..];
        rest.find(|c: char| !c.is_ascii_digit()).is_some_and(|end| rest[end..].starts_with(']'))
    }

    fn key_fields(&mut self, first: String) -> Result<KeyFields, PathError> {
        let mut fields = KeyFields::new();
        let mut name = first;
        loop {
            self.expect('=')?;
            let value = match self.peek() {
                Some('"' | '{' | '[') => self.json()?,
                _ => bare_value(&self.until_any(&[',', ']'])),
            };
            fields.insert(name, Atom(value));
            if self.peek() != Some(',') {
                return Ok(fields);
            }
            self.at += 1;
            name = match self.peek() {
                Some('"') => match self.json()? {
                    Value::String(name) => name,
                    _ => return Err(self.error()),
                },
                _ => self.until('=')?,
            };
        }
    }

    fn until(&mut self, end: char) -> Result<String, PathError> {
        let rest = &self.text[self.at..];
        let length = rest.find(end).ok_or_else(|| self.error())?;
        self.at += length;
        Ok(rest[..length].to_owned())
    }

    fn until_any(&mut self, ends: &[char]) -> String {
        let rest = &self.text[self.at..];
        let length = rest.find(ends).unwrap_or(rest.len());
        self.at += length;
        rest[..length].to_owned()
    }

    fn json(&mut self) -> Result<Value, PathError> {
        let mut stream =
            serde_json::Deserializer::from_str(&self.text[self.at..]).into_iter::<Value>();
        match stream.next() {
            Some(Ok(value)) => {
                self.at += stream.byte_offset();
                Ok(value)
            }
            _ => Err(self.error()),
        }
    }
}

fn bare_value(text: &str) -> Value {
    match serde_json::from_str(text) {
        Ok(value @ (Value::Null | Value::Bool(_) | Value::Number(_))) => value,
        _ => Value::String(text.to_owned()),
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn key(fields: &[(&str, Value)]) -> PathElement {
        PathElement::key(fields.iter().map(|(n, v)| ((*n).to_owned(), Atom(v.clone()))).collect())
    }

    #[test]
    fn reads_as_people_write_paths() {
        let mut path = FieldPath::fields(["spec", "containers"]);
        path.push(key(&[("name", json!("app"))]));
        path.push(PathElement::field("image"));
        assert_eq!(path.to_string(), "spec.containers[name=app].image");
    }

    #[test]
    fn quotes_names_with_dots() {
        let path = FieldPath::fields(["data", "app.conf"]);
        assert_eq!(path.to_string(), r#"data["app.conf"]"#);
    }

    #[test]
    fn tells_a_number_from_the_same_digits_as_text() {
        let number = FieldPath::new([PathElement::field("ports"), key(&[("port", json!(80))])]);
        let text = FieldPath::new([PathElement::field("ports"), key(&[("port", json!("80"))])]);
        assert_eq!(number.to_string(), "ports[port=80]");
        assert_eq!(text.to_string(), r#"ports[port="80"]"#);
    }

    #[test]
    fn a_set_member_is_no_quoted_name() {
        let member = FieldPath::new([
            PathElement::field("finalizers"),
            PathElement::Value(Atom::text("a/b")),
        ]);
        assert_eq!(member.to_string(), r#"finalizers[="a/b"]"#);
        assert_eq!(member.to_string().parse(), Ok(member));
    }

    #[test]
    fn says_where_a_path_breaks() {
        let error = "spec.containers[name=app".parse::<FieldPath>().unwrap_err();
        assert_eq!(error.at, 25);
        assert!("spec..x".parse::<FieldPath>().is_err());
        assert!("spec[".parse::<FieldPath>().is_err());
    }

    pub(crate) fn any_atom() -> impl Strategy<Value = Atom> {
        prop_oneof![
            any::<bool>().prop_map(|b| Atom(json!(b))),
            any::<i64>().prop_map(|n| Atom(json!(n))),
            ".{0,8}".prop_map(Atom::text),
            "[a-z0-9./-]{1,8}".prop_map(Atom::text),
        ]
    }

    pub(crate) fn any_element() -> impl Strategy<Value = PathElement> {
        prop_oneof![
            4 => "[a-z]{1,6}".prop_map(PathElement::field),
            2 => ".{0,8}".prop_map(PathElement::field),
            2 => proptest::collection::btree_map(".{1,5}", any_atom(), 1..3)
                .prop_map(PathElement::key),
            1 => any_atom().prop_map(PathElement::Value),
            1 => (0usize..1000).prop_map(PathElement::Index),
        ]
    }

    pub(crate) fn any_path() -> impl Strategy<Value = FieldPath> {
        proptest::collection::vec(any_element(), 1..6).prop_map(FieldPath)
    }

    proptest! {
        #[test]
        fn text_reads_back_to_the_same_elements(path in any_path()) {
            prop_assert_eq!(path.to_string().parse::<FieldPath>(), Ok(path));
        }

        #[test]
        fn any_text_is_a_path_or_an_error_but_no_panic(text in ".{0,30}") {
            let _ = text.parse::<FieldPath>();
        }
    }
}
