//! What is legal in a patch, but seldom meant.

use serde_json::Value;

use super::{Form, Patch};
use crate::yaml::{self, Position};

#[derive(Clone, Debug, PartialEq)]
pub enum Oddity {
    /// A key without quotes that is read as a boolean.
    BooleanKey { written: String, position: Position },
    /// Whoever owns an object takes it along when it goes.
    OwnerReferences,
}

impl Patch {
    /// What is odd about the text that this patch was read from.
    pub fn oddities(&self, text: &str) -> Vec<Oddity> {
        let documents = yaml::parse_stream(text).unwrap_or_default();
        let keys = documents.iter().flat_map(yaml::keys_read_as_booleans);
        let mut found: Vec<_> =
            keys.map(|(written, position)| Oddity::BooleanKey { written, position }).collect();
        found.extend(self.names_owners().then_some(Oddity::OwnerReferences));
        found
    }

    fn names_owners(&self) -> bool {
        let stands = |object: &Value| !object["metadata"]["ownerReferences"].is_null();
        match &self.form {
            Form::Apply(manifest) => stands(manifest.value()),
            Form::Merge(value) => stands(value),
            Form::Json(operations) => operations.iter().any(|operation| {
                operation.changes().iter().any(|at| at.0.starts_with(&OWNERS.map(String::from)))
            }),
        }
    }
}

const OWNERS: [&str; 2] = ["metadata", "ownerReferences"];
