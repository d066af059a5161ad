//! Notes that a plan leaves for its apply, which the protocol gives nothing of the plan: files in a
//! folder of the temporary directory that only its owner may enter. What nobody comes for is removed
//! after a week. An apply on another machine finds none.

use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Once;
use std::time::Duration;

use super::fingerprint;
use super::kin::ground;

const FOLDER: &str = "k8sconnect-told-";

/// How long a plan that is saved is waited for.
const STALE: Duration = Duration::from_secs(7 * 24 * 60 * 60);

pub(super) fn write(name: &str, note: &[u8]) -> io::Result<()> {
    let path = path_of(name).ok_or(io::ErrorKind::InvalidInput)?;
    let folder = path.parent().ok_or(io::ErrorKind::InvalidInput)?;
    static SWEPT: Once = Once::new();
    SWEPT.call_once(|| sweep(folder));
    let mut file = ground::own_file(folder, &path)?;
    file.set_len(0)?;
    file.write_all(note)
}

pub(super) fn read(name: &str) -> Option<Vec<u8>> {
    path_of(name).and_then(|note| fs::read(note).ok())
}

pub(super) fn remove(name: &str) {
    if let Some(note) = path_of(name) {
        let _ = fs::remove_file(note);
    }
}

/// A name may be an id, which is made by us but comes from a state that anybody may have written.
fn path_of(name: &str) -> Option<PathBuf> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '-';
    let fits = !name.is_empty() && name.len() <= 64 && name.chars().all(is_plain);
    // A folder for each user of the machine; whose it is, is seen to where it is made.
    let user = fingerprint(&std::env::home_dir());
    fits.then(|| std::env::temp_dir().join(format!("{FOLDER}{user:016x}")).join(name))
}

fn sweep(folder: &Path) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let modified = entry.metadata().and_then(|it| it.modified()).ok();
        if modified.and_then(|at| at.elapsed().ok()).is_some_and(|age| age > STALE) {
            let _ = fs::remove_file(entry.path());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_leads_elsewhere_is_no_name_of_a_note() {
        for name in ["", "../x", "/etc/passwd", "a.b", &"a".repeat(65)] {
            assert_eq!(path_of(name), None, "{name}");
        }
    }
}
