//! What the operating system has to say: which run this is, and a folder that only its owner may
//! enter. Where it says neither, every process is alone.

use std::fs::File;
use std::io;
use std::path::Path;

/// Names the run by its process and, where that can be had, by when it began: a number comes back, in
/// a container often at once.
#[cfg(unix)]
pub(in crate::memory) fn run() -> Option<String> {
    let parent = std::os::unix::process::parent_id();
    let status = std::fs::read_to_string(format!("/proc/{parent}/stat")).unwrap_or_default();
    // The name in the second field may hold anything; what counts is behind it.
    let began = status.rsplit(')').next().and_then(|rest| rest.split_whitespace().nth(19));
    Some(format!("{parent}-{}", began.unwrap_or("0")))
}

/// Makes a folder for its owner alone, unless it is there, and a file of its own in it.
#[cfg(unix)]
pub(in crate::memory) fn own_file(folder: &Path, path: &Path) -> io::Result<File> {
    use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _};
    match std::fs::DirBuilder::new().mode(0o700).create(folder) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
        _ => {}
    }
    let own = File::options().append(true).create(true).mode(0o600).open(path)?;
    let folder = std::fs::symlink_metadata(folder)?;
    if !folder.is_dir() || folder.mode() & 0o077 != 0 || folder.uid() != own.metadata()?.uid() {
        return Err(io::Error::other("the folder is not ours alone"));
    }
    Ok(own)
}

#[cfg(not(unix))]
pub(in crate::memory) fn run() -> Option<String> {
    None
}

#[cfg(not(unix))]
pub(in crate::memory) fn own_file(_folder: &Path, _path: &Path) -> io::Result<File> {
    Err(io::ErrorKind::Unsupported.into())
}
