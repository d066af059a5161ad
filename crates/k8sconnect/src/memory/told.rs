//! Whether a plan has told who would lose what, for the apply that follows.
//!
//! It is told by the plan and not said again by the apply, as long as state shows that the object is
//! still the one that the plan has read. There are plans that state says nothing of. A body that is
//! not known before the apply leaves the plan nothing to compare, and a plan without a refresh
//! compares with what no read put into state; and the protocol hands nothing of a plan to its
//! apply, neither private state nor what was planned. So such a plan leaves a note in a folder that
//! only its owner may enter: the id of the resource, and the version of its object. Nothing else is
//! in it. An apply on another machine does not find it, and goes by state alone.

use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::kin::ground;
use super::{Memory, fingerprint};

const FOLDER: &str = "k8sconnect-told-";

/// How long a plan that is saved is waited for.
const STALE: Duration = Duration::from_secs(7 * 24 * 60 * 60);

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
        if let Err(error) = write(id, &telling.of(version)) {
            tracing::debug!(%error, "what the plan told cannot be noted for the apply");
        }
    }

    /// Whether it was so.
    pub(crate) fn was_telling(&self, id: &str, version: Option<&str>, telling: Telling) -> bool {
        let noted = note_of(id).and_then(|note| fs::read_to_string(note).ok());
        noted.is_some_and(|noted| noted == telling.of(version))
    }

    /// Once the plan is carried out, the note is for nobody.
    pub(crate) fn end_telling(&self, id: &str) {
        if let Some(note) = note_of(id) {
            let _ = fs::remove_file(note);
        }
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

fn write(id: &str, note: &str) -> io::Result<()> {
    let path = note_of(id).ok_or(io::ErrorKind::InvalidInput)?;
    let folder = path.parent().ok_or(io::ErrorKind::InvalidInput)?;
    sweep(folder);
    let mut file = ground::own_file(folder, &path)?;
    file.set_len(0)?;
    file.write_all(note.as_bytes())
}

/// An id is made by us, but comes from a state that anybody may have written.
fn note_of(id: &str) -> Option<PathBuf> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '-';
    let fits = !id.is_empty() && id.len() <= 64 && id.chars().all(is_plain);
    // A name for each user of the machine; whose the folder is, is seen to where it is made.
    let user = fingerprint(&std::env::home_dir());
    fits.then(|| std::env::temp_dir().join(format!("{FOLDER}{user:016x}")).join(id))
}

fn sweep(folder: &Path) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let modified = entry.metadata().and_then(|it| it.modified()).ok();
        if modified.and_then(|at| at.elapsed().ok()).is_some_and(|age| age > STALE) {
            let _ = fs::remove_file(entry.path());
        }
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

    #[test]
    fn an_id_that_leads_elsewhere_is_no_name_of_a_note() {
        for id in ["", "../x", "/etc/passwd", "a.b", &"a".repeat(65)] {
            assert_eq!(note_of(id), None, "{id}");
        }
    }
}
