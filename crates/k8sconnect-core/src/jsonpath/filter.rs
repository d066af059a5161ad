//! The condition between `[?(` and `)]`.

use std::cmp::Ordering;

use serde_json::Value;

use super::{Step, find};
use crate::atom::{compare, same};

/// Alternatives, each a list of comparisons that must all hold.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Filter(pub(crate) Vec<Vec<Comparison>>);

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Comparison {
    /// The field is there.
    Exists(Vec<Step>),
    Compared(Operand, Operator, Operand),
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Operand {
    /// From the item on, as in `@.type`.
    Path(Vec<Step>),
    Literal(Value),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Operator {
    Equal,
    Unequal,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

impl Filter {
    pub(super) fn holds(&self, item: &Value) -> bool {
        self.0.iter().any(|all| all.iter().all(|one| one.holds(item)))
    }
}

impl Comparison {
    fn holds(&self, item: &Value) -> bool {
        match self {
            Self::Exists(path) => !find(path, item).is_empty(),
            Self::Compared(left, operator, right) => {
                let (left, right) = (left.values(item), right.values(item));
                left.iter().any(|left| right.iter().any(|right| operator.holds(left, right)))
            }
        }
    }
}

impl Operand {
    fn values<'a>(&'a self, item: &'a Value) -> Vec<&'a Value> {
        match self {
            Self::Literal(value) => vec![value],
            Self::Path(path) => find(path, item).into_iter().map(|found| found.value).collect(),
        }
    }
}

impl Operator {
    /// Only what is of one type has an order.
    fn holds(self, left: &Value, right: &Value) -> bool {
        let ordered = match (left, right) {
            (Value::Number(_), Value::Number(_)) | (Value::String(_), Value::String(_)) => {
                Some(compare(left, right))
            }
            _ => None,
        };
        match self {
            Self::Equal => same(left, right),
            Self::Unequal => !same(left, right),
            Self::Less => ordered == Some(Ordering::Less),
            Self::LessOrEqual => ordered.is_some_and(Ordering::is_le),
            Self::Greater => ordered == Some(Ordering::Greater),
            Self::GreaterOrEqual => ordered.is_some_and(Ordering::is_ge),
        }
    }
}
