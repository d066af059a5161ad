//! What an operation left behind when it was carried out, by name.

use std::fmt;
use std::str::FromStr;

use super::operation::Operation;
use crate::field::FieldPath;
use crate::field::path::PathError;

/// What an operation touched.
#[derive(Clone, Debug, PartialEq)]
pub struct Footprint {
    pub operation: Operation,
    pub marks: Vec<Mark>,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Mark {
    /// A field that holds a value.
    Set(FieldPath),
    /// An item that was put into a list.
    Item(FieldPath),
    /// A field or an item that was taken away.
    Absent(FieldPath),
}

impl Mark {
    pub fn path(&self) -> &FieldPath {
        match self {
            Self::Set(path) | Self::Item(path) | Self::Absent(path) => path,
        }
    }
}

/// A sign and a path, for keeping.
impl fmt::Display for Mark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = match self {
            Self::Set(_) => '=',
            Self::Item(_) => '+',
            Self::Absent(_) => '-',
        };
        write!(f, "{sign}{}", self.path())
    }
}

impl FromStr for Mark {
    type Err = PathError;

    fn from_str(text: &str) -> Result<Self, PathError> {
        let (sign, path) = text.split_at(text.chars().next().map_or(0, char::len_utf8));
        let path = path.parse()?;
        match sign {
            "=" => Ok(Self::Set(path)),
            "+" => Ok(Self::Item(path)),
            "-" => Ok(Self::Absent(path)),
            _ => Err(PathError { text: text.to_owned(), at: 1 }),
        }
    }
}
