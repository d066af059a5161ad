//! Leaves that another manager co-owns in another spelling.
//!
//! Who sends `1000m` where another manager sent `1` takes the field without changing its value. Only
//! the server knows which two spellings mean the same. Its answer shows it: the value is as it was
//! before, though not as it was sent.

use serde_json::Value;

use super::{Planner, Prior};
use crate::atom::same;
use crate::field::FieldPath;
use crate::field::fields_v1::FieldsV1Error;
use crate::field::walk::at;
use crate::owners::Owners;
use crate::spelling::{self, Respelling, Respellings};

impl Planner<'_> {
    /// The leaves of a body that the answer has in another spelling.
    pub fn respelt(self, content: &Value, answer: &Value) -> Result<Respellings, FieldsV1Error> {
        let ours = self.our_fields(&Owners::of_object(answer)?, answer);
        Ok(spelling::respelt(&ours, content, answer))
    }

    /// Those of them that an object has in that spelling, and that another manager owns there.
    pub fn shared(
        self,
        mut respelt: Respellings,
        object: &Value,
    ) -> Result<Respellings, FieldsV1Error> {
        let owners = Owners::of_object(object)?;
        respelt.retain(|path, Respelling { answered, .. }| {
            at(object, path).is_some_and(|value| same(value, answered))
                && self.others_own(&owners, path)
        });
        Ok(respelt)
    }

    /// Those of them that another manager loses if the body is sent as written, and keeps if it is
    /// sent in the server's spelling. The two answers show it.
    pub fn shared_by_answers(
        self,
        respelt: Respellings,
        [as_written, respelled]: [&Value; 2],
    ) -> Result<Respellings, FieldsV1Error> {
        let mut shared = self.shared(respelt, respelled)?;
        let owners = Owners::of_object(as_written)?;
        shared.retain(|path, _| !self.others_own(&owners, path));
        Ok(shared)
    }

    fn others_own(self, owners: &Owners, path: &FieldPath) -> bool {
        owners.holders(path).any(|manager| !manager.applies_as(self.manager))
    }

    /// Whether the last answer had another spelling than the body, only in leaves that no other
    /// manager owned. The next answer is likely to be the same. What is sent does not depend on it.
    pub fn was_respelt_alone(self, prior: Prior<'_>) -> bool {
        let Some(kept) = prior.kept else {
            return false;
        };
        let respelt = spelling::spelt_otherwise(&prior.manifest.as_applied(), &kept.texts);
        !respelt.is_empty() && !respelt.iter().any(|path| self.others_own(&kept.owners, path))
    }
}
