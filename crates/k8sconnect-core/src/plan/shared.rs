//! Leaves that mean what others wrote, in other letters.
//!
//! Whoever sends `1000m` where another one sent `1` takes the field without changing it. Which two
//! spellings mean the same only the server knows, and its answer tells: the value is as it was
//! before, though not as it was written. What others hold of such leaves is sent as they stand.

use serde_json::Value;

use super::Planner;
use crate::atom::same;
use crate::field::FieldSet;
use crate::field::fields_v1::FieldsV1Error;
use crate::field::walk::{Items, at};
use crate::field::{FieldPath, PathElement};
use crate::owners::Owners;
use crate::projection::Texts;
use crate::text;

impl Planner<'_> {
    /// The leaves of a body that the answer has in another spelling, with that.
    pub fn respelt(self, content: &Value, answer: &Value) -> Result<Texts, FieldsV1Error> {
        let ours = self.our_fields(&Owners::of_object(answer)?, answer);
        let mut found = Texts::new();
        compare(&ours, content, answer, &mut FieldPath::default(), &mut found);
        Ok(found)
    }

    /// Those of them that stay as they are, and that somebody else holds.
    pub fn shared(self, mut respelt: Texts, live: &Value) -> Result<Texts, FieldsV1Error> {
        let owners = Owners::of_object(live)?;
        let others = |path: &FieldPath| {
            owners.holders(path).any(|manager| !manager.applies_as(self.manager))
        };
        respelt.retain(|path, spelt| {
            at(live, path).is_some_and(|value| text::shown(value) == *spelt) && others(path)
        });
        Ok(respelt)
    }
}

fn compare(
    fields: &FieldSet,
    written: &Value,
    answer: &Value,
    path: &mut FieldPath,
    found: &mut Texts,
) {
    let scalar = |value: &Value| !(value.is_object() || value.is_array() || value.is_null());
    if fields.is_member() && scalar(written) && scalar(answer) && !same(written, answer) {
        found.insert(path.clone(), text::shown(answer));
    }
    let (written, answer) = (Items::new(written, fields), Items::new(answer, fields));
    for (element, below) in fields.children() {
        if let (Some(written), Some(answer)) = (written.step_written(element), answer.step(element))
        {
            path.push(PathElement::clone(element));
            compare(below, written, answer, path, found);
            path.pop();
        }
    }
}
