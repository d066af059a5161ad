//! How large and how deep operations may make an object.

use serde_json::Value;

use super::operation::{Operation, Trouble};
use super::script::{Problem, Writer};
use crate::yaml::NESTING_LIMIT;

/// What an API server copies for one patch at most.
const MOST_COPIED: usize = 3 << 20;

impl Writer<'_> {
    /// Refuses what would fill the memory, or the stack, before a server could refuse it: a copy of
    /// its own copies doubles with every line.
    pub(super) fn stays_in_bounds(
        &mut self,
        n: usize,
        operation: &Operation,
    ) -> Result<(), Problem> {
        let Some(value) = operation.brings(&self.object) else {
            return Ok(());
        };
        let Extent { weight, depth } = Extent::of(value);
        if matches!(operation, Operation::Copy { .. }) {
            self.copied += weight;
        }
        let at = operation.at();
        if self.copied > MOST_COPIED || at.0.len() + depth > NESTING_LIMIT {
            return Err(Problem::Cannot { n, trouble: Trouble::Overgrown(at.clone()) });
        }
        Ok(())
    }
}

/// How large a value is, about, and how deep.
struct Extent {
    weight: usize,
    depth: usize,
}

impl Extent {
    fn of(value: &Value) -> Self {
        let around = |below: &mut dyn Iterator<Item = (usize, &Value)>| {
            below.fold(Self { weight: 2, depth: 1 }, |all, (name, value)| {
                let Self { weight, depth } = Self::of(value);
                Self { weight: all.weight + name + weight, depth: all.depth.max(depth + 1) }
            })
        };
        match value {
            Value::Object(map) => around(&mut map.iter().map(|(name, it)| (name.len(), it))),
            Value::Array(items) => around(&mut items.iter().map(|it| (0, it))),
            Value::String(text) => Self { weight: 2 + text.len(), depth: 0 },
            _ => Self { weight: 2, depth: 0 },
        }
    }
}
