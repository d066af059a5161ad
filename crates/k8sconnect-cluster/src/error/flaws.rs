//! Several things that are wrong with one connection, to be told at once.

use std::fmt;

use super::ConnectionError;

/// All that is wrong with a connection.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Flaws(Vec<ConnectionError>);

impl Flaws {
    pub(crate) fn push(&mut self, flaw: ConnectionError) {
        self.0.push(flaw);
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn iter(&self) -> std::slice::Iter<'_, ConnectionError> {
        self.0.iter()
    }
}

impl Extend<ConnectionError> for Flaws {
    fn extend<I: IntoIterator<Item = ConnectionError>>(&mut self, flaws: I) {
        self.0.extend(flaws);
    }
}

impl From<ConnectionError> for Flaws {
    fn from(flaw: ConnectionError) -> Self {
        Self(vec![flaw])
    }
}

impl fmt::Display for Flaws {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let flaws = self.0.iter().map(ToString::to_string).collect::<Vec<_>>();
        f.write_str(&flaws.join("\n\n"))
    }
}

impl std::error::Error for Flaws {}
