//! Where in a value: the path of an attribute.
//!
//! Paths point diagnostics at lines of the configuration and name what forces a replacement.
//! The elements of a set have no address; name the set itself.

use std::fmt;

/// One step down into a value.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Step {
    /// Into an attribute of an object.
    Attribute(String),
    /// Into an element of a map.
    Key(String),
    /// Into an element of a list or tuple.
    Index(i64),
}

/// The way from the top of a value to one of its parts.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AttributePath(Vec<Step>);

impl AttributePath {
    /// The path of a top-level attribute.
    pub fn root(name: impl Into<String>) -> Self {
        Self(vec![Step::Attribute(name.into())])
    }

    /// On into an attribute of an object.
    pub fn attribute(mut self, name: impl Into<String>) -> Self {
        self.0.push(Step::Attribute(name.into()));
        self
    }

    /// On into an element of a map.
    pub fn key(mut self, key: impl Into<String>) -> Self {
        self.0.push(Step::Key(key.into()));
        self
    }

    /// On into an element of a list.
    pub fn index(mut self, index: i64) -> Self {
        self.0.push(Step::Index(index));
        self
    }

    /// The steps from the top.
    pub fn steps(&self) -> &[Step] {
        &self.0
    }

    /// Whether this is the path of the whole value.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn push(&mut self, step: Step) {
        self.0.push(step);
    }

    pub(crate) fn pop(&mut self) {
        self.0.pop();
    }

    /// Mismatches are found from the inside out, so paths grow at the front.
    pub(crate) fn prepend(&mut self, step: Step) {
        self.0.insert(0, step);
    }
}

impl FromIterator<Step> for AttributePath {
    fn from_iter<I: IntoIterator<Item = Step>>(steps: I) -> Self {
        Self(steps.into_iter().collect())
    }
}

impl IntoIterator for AttributePath {
    type Item = Step;
    type IntoIter = std::vec::IntoIter<Step>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

impl fmt::Display for AttributePath {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, step) in self.0.iter().enumerate() {
            match step {
                Step::Attribute(name) if at == 0 => formatter.write_str(name)?,
                Step::Attribute(name) => write!(formatter, ".{name}")?,
                Step::Key(key) => write!(formatter, "[{key:?}]")?,
                Step::Index(index) => write!(formatter, "[{index}]")?,
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_as_it_would_be_written_in_a_configuration() {
        let path = AttributePath::root("login").attribute("command").key("a\"b").index(3);
        assert_eq!(path.to_string(), r#"login.command["a\"b"][3]"#);
    }
}
