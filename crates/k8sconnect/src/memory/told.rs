//! Whether a plan has told who would lose what, for the apply that follows.
//!
//! It is told by the plan and not said again by the apply, as long as state shows that the object is
//! still the one that the plan has read. There are plans that state says nothing of. A body that is
//! not known before the apply leaves the plan nothing to compare, and a plan without a refresh
//! compares with what no read put into state; and the protocol hands nothing of a plan to its
//! apply, neither private state nor what was planned. So such a plan leaves a note: the id of the
//! resource, and the version of its object. Nothing else is in it. An apply that does not find it goes
//! by state alone.

use super::{Memory, notes};

/// What the last plan of a resource came to for the others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Telling {
    /// Told, though nothing was refreshed.
    Told,
    /// Nothing could be told.
    Untold,
}

impl Memory {
    /// Notes how it was, for this version of the object.
    pub(crate) fn note_telling(&self, id: &str, version: Option<&str>, telling: Telling) {
        if let Err(error) = notes::write(id, telling.of(version).as_bytes()) {
            tracing::debug!(%error, "what the plan told cannot be noted for the apply");
        }
    }

    /// Whether it was so.
    pub(crate) fn was_telling(&self, id: &str, version: Option<&str>, telling: Telling) -> bool {
        notes::read(id).is_some_and(|noted| noted == telling.of(version).as_bytes())
    }

    /// Once the plan is carried out, the note is for nobody.
    pub(crate) fn end_telling(&self, id: &str) {
        notes::remove(id);
    }
}

impl Telling {
    fn of(self, version: Option<&str>) -> String {
        let word = match self {
            Self::Told => "told",
            Self::Untold => "untold",
        };
        format!("{word} {}", version.unwrap_or_default())
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn a_note_is_for_one_version_of_one_object_and_ends() {
        let id = uuid::Uuid::new_v4().to_string();
        let (plan, apply) = (Memory::default(), Memory::default());
        let untold = |version| apply.was_telling(&id, Some(version), Telling::Untold);
        assert!(!untold("7"));
        plan.note_telling(&id, Some("7"), Telling::Untold);
        assert!(untold("7") && !untold("8"));
        plan.note_telling(&id, Some("8"), Telling::Told);
        assert!(!untold("8"), "of two plans the later one counts");
        assert!(apply.was_telling(&id, Some("8"), Telling::Told));
        apply.end_telling(&id);
        assert!(!apply.was_telling(&id, Some("8"), Telling::Told));
    }
}
